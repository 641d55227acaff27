#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Objects on the running kernel: compiled from tests/bpf, loaded by a program
# written for libbpf, and by libbpf itself where that is installed.
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/cmd/object_client

# object NAME [FLAG...]: ./NAME.o
object() {
	local name=$1
	shift
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	${CLANG:-clang} -O2 -g -target bpf -D__TARGET_ARCH_x86 -I"$SRC/include" -I"$BUILD/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" "$@" \
		-c "$SRC/tests/bpf/$name.bpf.c" -o "$name.o"
}

# value NAME: the bytes that the client printed for a map
value() {
	sed -n "s/^\(key [0-9]* \)*$1 //p" out | tr -d ' '
}

test_maps_data_and_subprograms() {
	object maps
	expect_status 0 "$CLIENT" run maps.o count
	assert_contains out "result 11" # 3 + 7 + 1
	assert_equal "$(value samples)" e1100000000000006300000000000000 # 4321, 'c'
	assert_equal "$(value client.data)" 0700000000000000
	assert_equal "$(value client.bss)" 01000000000000000300000000000000
	assert_equal "$(value client.rodata)" e110000000000000
	assert_equal "$(value .data.named)" 8877665544332211
}

# Opened, and made into the same skeleton, in either byte order; loaded only in the machine's.
test_objects_of_the_other_byte_order() {
	local other=eb own=el
	[ "$(printf '\1\0' | od -An -tu2)" -eq 1 ] || { other=el own=eb; }
	for order in $own $other; do
		object maps -target bpf$order
		expect_status 0 "$BUILD/perf-bpf" gen skeleton maps.o
		sed -n '/^struct maps/,/^};/p' out >$order
	done
	assert_contains $own "struct bpf_map *outer;"
	assert_contains $own "struct bpf_program *count;"
	diff $own $other || fail "they differ"
	expect_status 1 "$CLIENT" run maps.o count
	assert_contains err "endian and cannot be loaded on this"
	expect_status 1 "$BUILD/perf-bpf" record -o other.data -e maps.o -- true
	assert_contains err "hint: compile it with clang --target=bpf,"
	[ ! -e other.data ] || fail "a file was made"
}

test_callbacks() {
	object maps
	expect_status 0 "$CLIENT" run maps.o loop
	assert_contains out "result 8" # 1 + 7
	assert_equal "$(value .data.named)" 9277665544332211 # + 0 + 1 + 2 + 3 + 4
}

test_programs_of_sections_with_a_question_mark_wait_to_be_asked_for() {
	object maps
	expect_status 0 "$CLIENT" describe maps.o
	assert_contains out "program loop section raw_tp/sys_exit type raw_tracepoint autoload 0"
	assert_contains out "map outer type array_of_maps key 4 value 4 entries 4"
}

test_core_relocations_and_externs() {
	object core
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	expect_status 0 "$CLIENT" run core.o on_enter
	# comm is the client's own; exists, type_exists and symbol are 0, option too
	assert_contains out "result 0"
	bss=$(value client.bss)
	data=$(value client.data)
	case $bss in
	*6f626a6563745f636c69656e7400*) ;; # "object_client"
	*) fail ".bss holds no comm: $bss" ;;
	esac
	assert_equal "$data" 00000000000000000000000000000000
	want=$(pahole -C task_struct /sys/kernel/btf/vmlinux |
		sed -n 's/.* comm\[16\];.*\/\* *\([0-9]*\) *16 .*/\1/p')
	[ -n "$want" ] || fail "pahole does not tell where comm stands"
	offset=$(printf %08x "$want" | sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/')
	case $bss in
	*"$offset"*) ;;
	*) fail "comm stands at $want ($offset): $bss" ;;
	esac
}

# Where the kernel has its bits, of which there is only one: beside zeros, then beside ones.
test_bitfields_are_written() {
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >bits.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		#include <bpf/bpf_core_read.h>
		struct task_struct {
			unsigned in_execve : 1;
			unsigned in_iowait : 1;
		} __attribute__((preserve_access_index));
		unsigned char space[4096] __attribute__((aligned(8)));
		SEC("raw_tp/sys_enter")
		int bits(void *ctx)
		{
			struct task_struct *t = (void *)space;
			unsigned char *at = space + bpf_core_field_offset(t->in_execve);
			int result = 0;

			BPF_CORE_WRITE_BITFIELD(t, in_execve, 3);
			if (BPF_CORE_READ_BITFIELD(t, in_execve) == 1)
				result += 1;
			if (BPF_CORE_READ_BITFIELD(t, in_iowait) == 0)
				result += 10;
			for (int i = 0; i < 4; i++)
				result += 100 * __builtin_popcount(at[i]);
			__builtin_memset(at, 0xff, 8);
			BPF_CORE_WRITE_BITFIELD(t, in_execve, 0);
			if (BPF_CORE_READ_BITFIELD(t, in_execve) == 0)
				result += 1000;
			if (BPF_CORE_READ_BITFIELD(t, in_iowait) == 1)
				result += 10000;
			return result;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile bits
	expect_status 0 "$CLIENT" run bits.o bits
	assert_contains out "result 11111"
}

# The function that bpf_throw() runs stands in the program that names it, though nothing calls it.
test_exception_callbacks() {
	cat >throws.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		int global;
		static __noinline int third(void) { return global + 3; }
		__noinline int second(__u64 cookie) { return third() + cookie; }
		static __noinline int first(void) { return global + 1; }
		SEC("tc")
		__attribute__((btf_decl_tag("exception_callback:" CALLBACK)))
		int throws(struct __sk_buff *skb) { return first(); }
		SEC("tc") int plain(struct __sk_buff *skb) { return first(); }
		char LICENSE[] SEC("license") = "GPL";
	END
	for callback in second none third; do
		compile_bpf throws.bpf.c $callback.o -mcpu=v3 -DCALLBACK="\"$callback\""
	done
	expect_status 0 "$CLIENT" describe second.o
	grep -A3 "^program throws" out >throws
	grep -A3 "^program plain" out >plain
	assert_contains throws "functions 4"
	assert_contains plain "functions 2"
	expect_status 1 "$CLIENT" load none.o throws
	assert_contains err "its exception callback 'none' does not exist"
	expect_status 1 "$CLIENT" load third.o throws
	assert_contains err "its exception callback 'third' is static"
	assert_contains err "hint: remove 'static'"
	expect_status 0 "$CLIENT" load third.o plain
}

# A kernel function is what it is declared as; or, where the declaration is weak, not there.
test_kernel_functions_of_another_type() {
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	grep -qw bpf_rcu_read_lock /proc/kallsyms || skip "this kernel has no bpf_rcu_read_lock"
	cat >flavours.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		extern void bpf_rcu_read_lock___two(void *a, int b) __ksym __weak;
		extern void bpf_rcu_read_lock___right(void) __ksym __weak;
		#ifdef STRONG
		extern void bpf_rcu_read_lock___bad(void *a) __ksym;
		#endif
		SEC("syscall") int asks(void *ctx)
		{
		#ifdef STRONG
			bpf_rcu_read_lock___bad(ctx);
		#endif
			return 10 * bpf_ksym_exists(bpf_rcu_read_lock___two) +
			       bpf_ksym_exists(bpf_rcu_read_lock___right);
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile flavours
	expect_status 0 "$CLIENT" run flavours.o asks
	assert_contains out "result 1"
	compile_bpf flavours.bpf.c strong.o -DSTRONG
	expect_status 1 "$CLIENT" load strong.o asks
	assert_contains err "the declaration of function 'bpf_rcu_read_lock___bad' does not match the kernel's"
}

# What the section says of a program is added when it is loaded; data that only the program
# knows by name is not mapped; a ring buffer is a power of two pages from the start.
test_what_opening_says() {
	cat >open.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, 5000);
		} ring SEC(".maps");
		static volatile int mine = 3;
		int everybodys SEC(".data.named");
		SEC("syscall") int sleeps(void *ctx) { return bpf_ringbuf_query(&ring, 0) + mine + everybodys; }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile open
	cat >says.c <<-'END'
		#include <bpf/libbpf.h>
		#include <bpf/bpf.h>
		#include <stdio.h>
		int main(void)
		{
			struct bpf_object *o = bpf_object__open("open.o");
			struct bpf_program *p = bpf_object__find_program_by_name(o, "sleeps");
			struct bpf_map *m;

			bpf_object__for_each_map(m, o)
				printf("%s %u %#x\n", bpf_map__name(m), bpf_map__max_entries(m),
				       bpf_map__map_flags(m));
			m = bpf_object__find_map_by_name(o, "ring");
			bpf_map__set_max_entries(m, 8193);
			printf("flags %#x set %u\n", bpf_program__flags(p), bpf_map__max_entries(m));
			bpf_program__set_flags(p, 4); /* BPF_F_TEST_RND_HI32 */
			printf("load %d flags %#x\n", bpf_object__load(o), bpf_program__flags(p));
			bpf_object__close(o);
			return 0;
		}
	END
	cc ${SANITIZED:+-fsanitize=address,undefined} -I"$SRC/include" says.c -o ours -L"$BUILD" -lperfbpf \
		-Wl,-rpath,"$BUILD" || fail "no client"
	cc says.c -o theirs -lbpf 2>/dev/null || skip "no libbpf to compare with"
	page=$(getconf PAGESIZE)
	[ "$page" = 4096 ] || skip "pages of $page bytes"
	expect_status 0 ./ours
	assert_contains out "ring 8192 0"
	assert_contains out "open.data 1 0"
	assert_contains out ".data.named 1 0x400"
	assert_contains out "flags 0 set 16384"
	assert_contains out "load 0 flags 0x4"
	mv out mine
	./theirs >their 2>&1
	diff mine their || fail "libbpf says otherwise"
}

# compile NAME: NAME.bpf.c of the current folder
compile() {
	compile_bpf "$1.bpf.c" "$1.o" -mcpu=v3
}

test_options_of_the_kernel() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat "/boot/config-$(uname -r)" >config 2>/dev/null || zcat /proc/config.gz >config 2>/dev/null ||
		skip "this kernel does not show its configuration"
	grep -q '^CONFIG_LOCALVERSION="' config || skip "no CONFIG_LOCALVERSION"
	cat >options.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <stdbool.h>
		#include <bpf/bpf_helpers.h>
		extern bool CONFIG_BPF_SYSCALL __kconfig;
		extern enum libbpf_tristate CONFIG_BPF __kconfig;
		extern int CONFIG_LOG_BUF_SHIFT __kconfig;
		extern char CONFIG_LOCALVERSION[4] __kconfig;
		extern int CONFIG_NOT_THERE __kconfig __weak;
		#ifdef STRONG
		extern int CONFIG_NOT_THERE_EITHER __kconfig;
		#else
		#define CONFIG_NOT_THERE_EITHER 0
		#endif
		int all[5];
		SEC("raw_tp/sys_enter") int on_enter(void *ctx)
		{
			all[0] = CONFIG_BPF_SYSCALL;
			all[1] = CONFIG_BPF;
			all[2] = CONFIG_LOG_BUF_SHIFT;
			all[3] = CONFIG_LOCALVERSION[0];
			all[4] = CONFIG_NOT_THERE + CONFIG_NOT_THERE_EITHER;
			return CONFIG_LOCALVERSION[3];
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile options
	expect_status 0 "$CLIENT" run options.o on_enter
	assert_contains out "result 0"
	shift=$(sed -n 's/^CONFIG_LOG_BUF_SHIFT=//p' config)
	first=$(sed -n 's/^CONFIG_LOCALVERSION="\(.\{0,1\}\).*/\1/p' config | tr -d '\n' | od -An -tx1 | tr -d ' ')
	assert_equal "$(value client.bss)" \
		"0100000001000000$(printf %02x "$shift")000000${first:-00}00000000000000"
	sed -i '1i #define STRONG' options.bpf.c
	compile options
	expect_status 1 "$CLIENT" load options.o
	assert_contains err "the kernel's configuration has no 'CONFIG_NOT_THERE_EITHER'"
}

test_symbols_of_the_kernel() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	address=$(awk '$3 == "schedule" {print $1; exit}' /proc/kallsyms)
	[ "${address:-0000000000000000}" != 0000000000000000 ] || skip "kallsyms shows no addresses"
	bpftool btf dump file /sys/kernel/btf/vmlinux 2>/dev/null |
		grep -q "FUNC 'bpf_iter_num_new'" || skip "this kernel has no bpf_iter_num_new (6.4)"
	cat >symbols.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct bpf_iter_num {
			__u64 state;
		} __attribute__((aligned(8)));
		extern const void schedule __ksym;
		extern const int no_such_variable __ksym __weak;
		extern void no_such_function(void) __ksym __weak;
		#ifdef STRONG
		extern void bpf_iter_num_nev(void) __ksym;
		#else
		static void bpf_iter_num_nev(void) {}
		#endif
		unsigned long address, sum = 100, none = 100;
		SEC("raw_tp/sys_enter") int on_enter(void *ctx)
		{
			int i, n = 0;

			bpf_iter_num_nev();
			address = (unsigned long)&schedule;
			none = !!&no_such_variable;
			if (no_such_function) {
				no_such_function();
				none = 2;
			}
			bpf_for(i, 0, 5)
				n += i;
			sum = n;
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile symbols
	expect_status 0 "$CLIENT" run symbols.o on_enter
	assert_contains out "result 0"
	assert_equal "$(value client.bss)" "$(echo "$address" | fold -w2 | tac | tr -d '\n')"
	# none is 0 and sum 10, in the order that clang gives them.
	case $(value client.data) in
	0a0000000000000000*00 | 00000000000000000a00000000000000) ;;
	*) fail "$(value client.data)" ;;
	esac
	sed -i '1i #define STRONG' symbols.bpf.c
	compile symbols
	expect_status 1 "$CLIENT" load symbols.o
	assert_contains err "the kernel has no function 'bpf_iter_num_nev'"
	assert_contains err "did you mean 'bpf_iter_num_new'"
}

test_hidden_functions_are_verified_with_their_callers() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >hidden.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		#ifdef OPEN
		#undef __hidden
		#define __hidden
		#endif
		__noinline __hidden int get(int *at) { return *at; }
		SEC("raw_tp/sys_enter") int on_enter(void *ctx)
		{
			int n = 3;

			barrier_var(n);
			return get(&n);
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile hidden
	expect_status 0 "$CLIENT" run hidden.o on_enter
	assert_contains out "result 3"
	# A global one may be called by anyone with NULL.
	sed -i '1i #define OPEN' hidden.bpf.c
	compile hidden
	expect_status 1 "$CLIENT" load hidden.o
	assert_contains err "mem_or_null"
}

test_values_that_maps_hold_from_the_start() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >values.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct inner {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, int);
			__type(value, int);
		} first SEC(".maps"), second SEC(".maps");
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
			__uint(max_entries, 3);
			__type(key, int);
			__array(values, struct inner);
		} outer SEC(".maps") = {.values = {[0] = &first, [2] = &second}};
		int tail(void *ctx);
		struct {
			__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
			__uint(max_entries, 2);
			__uint(key_size, sizeof(int));
			__array(values, int(void *));
		} jumps SEC(".maps") = {.values = {[1] = (void *)&tail}};
		SEC("raw_tp/sys_enter") int tail(void *ctx) { return 7; }
		SEC("raw_tp/sys_enter") int on_enter(void *ctx)
		{
			int found = 0;

			for (int i = 0; i < 3; i++) {
				int key = i;

				if (bpf_map_lookup_elem(&outer, &key))
					found |= 1 << i;
			}
			if (found != 5)
				return 100 + found;
			bpf_tail_call(ctx, &jumps, 1);
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile values
	expect_status 0 "$CLIENT" run values.o on_enter
	assert_contains out "result 0" # the program in slot 1 is switched off
	expect_status 0 "$CLIENT" runall values.o on_enter
	assert_contains out "result 7"
	sed -i 's/(void \*)&tail/(void *)\&first/' values.bpf.c
	compile values
	expect_status 1 "$CLIENT" load values.o
	assert_contains err "map 'jumps': value 1 ('first') is not a program"
}

test_struct_ops_programs_are_for_the_kernels_member() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	bpftool btf dump file /sys/kernel/btf/vmlinux 2>/dev/null >btf || skip "this kernel has no BTF"
	grep -q "STRUCT 'bpf_struct_ops_tcp_congestion_ops'" btf || skip "no struct_ops for tcp"
	# The members stand in another order than the kernel's.
	cat >ops.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct sock;
		#ifndef MEMBER
		#define MEMBER undo_cwnd
		#endif
		struct tcp_congestion_ops {
			unsigned (*MEMBER)(struct sock *sk);
			unsigned (*ssthresh)(struct sock *sk);
		};
		SEC("struct_ops/on_undo") unsigned on_undo(unsigned long long *ctx) { return 2; }
		SEC("struct_ops") unsigned on_ssthresh(unsigned long long *ctx) { return 3; }
		SEC(".struct_ops") struct tcp_congestion_ops mine = {
			.MEMBER = (void *)on_undo,
			.ssthresh = (void *)on_ssthresh,
		};
		char LICENSE[] SEC("license") = "GPL";
	END
	compile ops
	expect_status 0 "$CLIENT" load ops.o on_undo
	expect_status 0 "$CLIENT" load ops.o on_ssthresh
	sed -i '1i #define MEMBER undo_cvnd' ops.bpf.c
	compile ops
	expect_status 1 "$CLIENT" load ops.o on_undo
	assert_contains err "the kernel's struct tcp_congestion_ops has no member 'undo_cvnd'"
	assert_contains err "did you mean 'undo_cwnd'"
}

test_pointers_in_global_data_are_told_of() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >pointers.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		static int called(int i, void *ctx) { return i; }
		int number = 3;
		int *where = &number;
		struct { int n; int *first, *second; } both = {1, &number, &number};
		int (*const table[2])(int, void *) = {called, called};
		SEC("raw_tp/sys_enter") int on_enter(void *ctx)
		{
			return (where != 0) + (both.first != 0) + (table[number & 1] != 0);
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile pointers
	expect_status 0 "$CLIENT" load pointers.o
	assert_contains err "section .data: 'where', 'both': pointers in global data are not filled in"
	assert_contains err "section .rodata: 'table': pointers in global data"
}

# The address of a function as an argument, of every kind of function and of helper.
test_functions_as_callbacks() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >callbacks.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct element {
			struct bpf_timer timer;
			int value;
		};
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 3);
			__type(key, int);
			__type(value, struct element);
		} elements SEC(".maps");
		int sum;
		static int helper(int n) { return n * 2; }
		__attribute__((noinline)) int global_helper(int n) { return helper(n) + 1; }
		static long count(void *map, int *key, struct element *e, void *ctx)
		{
			sum += global_helper(*key);
			return 0;
		}
		static int on_timer(void *map, int *key, struct element *e)
		{
			e->value = global_helper(1);
			return 0;
		}
		static long step(unsigned int i, void *ctx)
		{
			sum += helper(i);
			return 0;
		}
		__attribute__((noinline)) int with_callback(int n)
		{
			bpf_loop(n, step, 0, 0);
			return n;
		}
		SEC("syscall") int start(void *ctx)
		{
			int key = 0;
			struct element *e = bpf_map_lookup_elem(&elements, &key);

			if (!e || bpf_timer_init(&e->timer, &elements, 1) ||
			    bpf_timer_set_callback(&e->timer, on_timer))
				return 1;
			bpf_for_each_map_elem(&elements, count, 0, 0); /* 1 + 3 + 5 */
			bpf_loop(4, step, 0, 0); /* 12 */
			with_callback(3); /* 6 */
			return sum;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	compile callbacks
	expect_status 0 "$CLIENT" runall callbacks.o start
	assert_contains out "result 27"
}

test_an_enum_that_is_only_declared() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >enum.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		enum nowhere;
		enum nowhere *at;
		SEC("raw_tp/sys_enter") int on_enter(void *ctx) { return at != 0; }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile enum
	expect_status 0 "$CLIENT" describe enum.o
	# The kernel got the BTF.
	grep -q "program on_enter .* functions 1 .* btf 1" out || { cat out err; fail "no BTF"; }
	[ ! -s err ] || fail "$(cat err)"
}

test_legacy_maps_with_markers() {
	object legacy
	expect_status 0 "$CLIENT" describe legacy.o
	assert_contains out "map entries type hash key 4 value 20 entries 32 flags 0 internal 0 kernel 'entries' btf 1"
	assert_contains out "map __bpf_stdout__ type perf_event_array"
	assert_contains out "program syscall_enter_write section syscalls:sys_enter_write type tracepoint"
	assert_contains out "program on_switch section events/sched/sched_switch type tracepoint"
}

test_legacy_maps_short_and_long() {
	object short
	expect_status 0 "$CLIENT" describe short.o
	assert_contains out "map others type hash key 8 value 4 entries 5 flags 0 "
	object short -DLONG
	expect_status 0 "$CLIENT" describe short.o
	assert_contains out "map others type hash key 8 value 4 entries 5 flags 0x1 "
	object short -DLONG -DTAIL=1
	expect_status 1 "$CLIENT" describe short.o
	assert_contains err "short.o: section maps: map 'counts': byte 24 of its definition is not zero"
}

test_clang_of_every_age_makes_objects_that_load() {
	tried=
	for clang in clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21; do
		command -v $clang >/dev/null || continue
		for name in maps legacy short core newer; do
			CLANG=$clang object $name
			expect_status 0 "$CLIENT" describe $name.o
			! grep -q "rejects its BTF" err || fail "$clang $name: $(cat err)"
		done
		tried=1
	done
	[ -n "$tried" ] || skip "no clang has its version in its name"
}

test_a_map_that_the_kernel_lacks_is_named_with_its_type() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >map.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, 250);
			__uint(max_entries, 2);
			__type(key, int);
			__type(value, int);
		} strange SEC(".maps");
	END
	compile_bpf map.bpf.c map.o
	expect_status 1 "$CLIENT" load map.o
	assert_contains err "map.o: map 'strange' (type 250, key 4, value 4, 2 entries): cannot create it"
	assert_contains err "hint: unknown map type 250"
}

# As BCC's tools have it: a per-CPU array is only needed where there is no ring buffer.
test_a_map_that_is_not_created_may_be_used_where_nothing_gets() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >absent.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, int);
			__type(value, int);
		} absent SEC(".maps");
		const volatile int never = 0;
		static __noinline int look(void)
		{
			int key = 0, *value = bpf_map_lookup_elem(&absent, &key);
			return value ? *value : 0;
		}
		SEC("raw_tp/sys_enter") int without(void *ctx) { return never ? look() : 7; }
		SEC("raw_tp/sys_enter") int with(void *ctx) { return never ? 7 : look(); }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile absent
	expect_status 0 "$CLIENT" run absent.o without
	assert_contains out "result 7"
	expect_status 1 "$CLIENT" load absent.o with
	assert_contains err "program with (section raw_tp/sys_enter): it uses map 'absent', which is not created"
	assert_contains err "hint: enable autocreate for the map"
}

test_undefined_names_and_misspelt_sections() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >names.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		#ifdef CALL
		extern int no_such_function(int n);
		#else
		#define no_such_function(n) n
		#endif
		SEC("tracepoints/sched/sched_switch") int on_switch(void *ctx)
		{
			return no_such_function(3);
		}
	END
	compile_bpf names.bpf.c names.o -DCALL
	expect_status 1 "$CLIENT" load names.o
	assert_contains err "function on_switch"
	assert_contains err "'no_such_function' is declared but not defined"
	compile_bpf names.bpf.c names.o
	expect_status 1 "$CLIENT" load names.o
	assert_contains err "section 'tracepoints/sched/sched_switch' does not give a program type"
	assert_contains err "did you mean 'tracepoint'?"
}

test_a_program_for_libbpf_compiles_unchanged_and_sees_the_same() {
	object maps
	echo '#include <bpf/libbpf.h>' | cc -E -x c - -o /dev/null 2>/dev/null &&
		echo 'int main(void){return 0;}' | cc -x c - -o has -lbpf 2>/dev/null ||
		skip "libbpf-dev is not installed"
	cc "$SRC/tests/cmd/object_client.c" -o with-libbpf -lbpf
	"$CLIENT" describe maps.o | sort >ours
	./with-libbpf describe maps.o | sort >theirs
	[ "$(wc -l <ours)" -ge 12 ] || fail "only $(wc -l <ours) lines"
	diff theirs ours || fail "libbpf sees another object"
}

test_shared_library_too() {
	object maps
	[ -z "${SANITIZED:-}" ] || skip "a program without the sanitizers cannot use the library with"
	cc -I"$SRC/include" "$SRC/tests/cmd/object_client.c" -o shared -L"$BUILD" -lperfbpf
	LD_LIBRARY_PATH=$BUILD expect_status 0 ./shared run maps.o count
	assert_contains out "result 11"
}

run_tests
