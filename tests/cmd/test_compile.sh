#!/usr/bin/env bash
# From a C file to an object: clang, the cache, vmlinux.h, the headers.
. "$(dirname "$0")/../tap.sh"
COMPILE=$BUILD/tests/cmd/compile_file

# A clang that can be switched off with `touch broken`, and a cache of our own.
set_up() {
	local real
	real=$(command -v clang)
	export PERF_BPF_CACHE_DIR=$TMP/cache PERF_CONFIG=$TMP/config HOME=$TMP
	printf '#!/bin/sh\nif [ -e %s/broken ]; then echo "clang was run" >&2; exit 1; fi\nexec %s "$@"\n' \
		"$TMP" "$real" >clang
	chmod +x clang
	printf '[llvm]\n\tclang-path = %s/clang\n' "$TMP" >config
	cat >prog.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		#include "own.h"
		SEC("tracepoint/syscalls/sys_enter_write")
		int prog(void *ctx)
		{
			return OWN;
		}
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
	END
	echo '#define OWN 1' >own.h
}

# compiles WORD [ARG...]: it works, and was "compiled" or "cached"
compiles() {
	local how=$1
	shift
	"$COMPILE" "$@" prog.bpf.c >out 2>err || { cat out err; fail "did not compile"; }
	grep -q "^prog $how " out || { cat out; fail "was not $how"; }
}

test_a_second_start_runs_no_clang() {
	set_up
	compiles compiled -o first.o
	touch broken
	compiles cached -o second.o
	cmp first.o second.o
	[ ! -s err ] || fail "stderr is not empty"
}

test_a_change_of_anything_runs_clang() {
	set_up
	compiles compiled
	sed -i 's/OWN 1/OWN 2/' own.h
	compiles compiled -o two.o
	compiles cached
	echo '/* more */' >>prog.bpf.c
	compiles compiled
	printf '\tclang-opt = -DEXTRA\n' >>config
	compiles compiled
	CPATH=/nowhere compiles compiled
	compiles cached
	printf '# another\n' >>clang
	compiles compiled
	sed -i 's/OWN 2/OWN 3/' own.h
	touch broken
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains err "clang was run"
	rm broken
	compiles compiled -o three.o
	! cmp -s two.o three.o || fail "the header's change is not in the object"
}

test_a_header_that_comes_to_stand_before_another_is_noticed() {
	set_up
	compiles compiled
	compiles cached
	mkdir bpf
	echo '#error shadowed' >bpf/bpf_helpers.h
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains err "shadowed"
	rm -r bpf
	compiles cached
	mkdir linux
	echo '#error shadowed too' >linux/bpf.h
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains err "shadowed too"
}

test_a_damaged_entry_is_compiled_again() {
	set_up
	compiles compiled
	local entry
	entry=$(ls cache/objects/*)
	truncate -s -1 "$entry"
	compiles compiled
	printf 'X' | dd of="$entry" bs=1 seek=100 conv=notrunc status=none
	compiles compiled
	compiles cached
}

# In CPU time, compared with that of the compilation: neither the speed of the machine nor what else
# it does matters.
test_a_cached_object_takes_a_fiftieth_of_the_time() {
	set_up
	sed -i 's,<linux/bpf.h>,"vmlinux.h",' prog.bpf.c
	compiles compiled # writes vmlinux.h
	rm -r cache/objects
	compiles compiled
	local whole share=50
	whole=$(cut -d ' ' -f 3 out)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		compiles cached
		cut -d ' ' -f 3 out
	done | sort -n | head -n 1 >best
	[ -z "${SANITIZED:-}" ] || share=3
	awk -v whole="$whole" -v share=$share '{ exit !($1 < whole / share) }' best ||
		fail "took $(cat best) of $whole ms"
}

test_vmlinux_h_is_the_running_kernels() {
	set_up
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >prog.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		SEC("tracepoint/sched/sched_switch")
		int prog(void *ctx)
		{
			struct task_struct *task = (void *)bpf_get_current_task();
			int pid = 0;
			bpf_probe_read_kernel(&pid, sizeof(pid), &task->tgid);
			return pid;
		}
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
	END
	compiles compiled -v
	assert_contains out "wrote vmlinux.h from /sys/kernel/btf/vmlinux"
	grep -q 'struct task_struct {' cache/vmlinux/*/vmlinux.h
	echo '/* again */' >>prog.bpf.c
	compiles compiled -v
	! grep -q "wrote vmlinux.h" out || fail "vmlinux.h was written twice"
}

test_a_kernel_without_btf_matters_to_who_includes_vmlinux_h() {
	set_up
	compiles compiled -b /no/such/btf
	sed -i 's,<linux/bpf.h>,"vmlinux.h",' prog.bpf.c
	expect_status 1 "$COMPILE" -b /no/such/btf prog.bpf.c
	assert_contains err "no vmlinux.h: /no/such/btf"
	assert_contains err "CONFIG_DEBUG_INFO_BTF"
	assert_contains err "prog.bpf.c:1:"
	echo rubbish >btf
	expect_status 1 "$COMPILE" -b "$TMP/btf" prog.bpf.c
	assert_contains err "no vmlinux.h: $TMP/btf"
}

test_the_programs_own_headers_are_found() {
	set_up
	printf '\tclang-opt = -H\n' >>config
	compiles compiled
	assert_contains err "$TMP/cache/headers/"
	! grep -q '/usr/include/bpf/' err || fail "libbpf-dev's headers were taken"
	for header in "$SRC"/include/bpf/bpf_{helpers,tracing,core_read,endian}.h; do
		cmp "$header" cache/headers/*/bpf/"$(basename "$header")"
	done
}

test_clangs_errors_are_clangs_own() {
	set_up
	echo 'int broken( {' >>prog.bpf.c
	expect_status 1 "$COMPILE" prog.bpf.c
	cp err ours
	"$COMPILE" -v prog.bpf.c 2>/dev/null | sed -n 's/^.*version [^:]*: //p' >command
	sed -i 's/ -MD -MF [^ ]* -o [^ ]*/ -o \/dev\/null/' command
	sh command 2>theirs || true
	cmp ours theirs
	grep -q "prog.bpf.c:$(wc -l <prog.bpf.c):13: error: " ours
	assert_contains out "prog.bpf.c: clang could not compile it"
	rmdir cache/tmp # nothing left in it
}

test_warnings_reach_the_user_too() {
	set_up
	echo '#warning look here' >>prog.bpf.c
	compiles compiled
	assert_contains err "look here"
}

test_a_clang_that_dies_is_no_object() {
	set_up
	printf '#!/bin/sh\ncase $1 in --version|-print-targets) exec %s $1;; esac\nkill -9 $$\n' \
		"$(command -v clang)" >clang
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains out "ended by signal 9"
	rmdir cache/tmp
}

test_without_clang_the_package_is_named() {
	set_up
	rm config
	mkdir empty
	export COMPILE
	cat >hidden.sh <<-'END'
		for dir in /usr/lib/llvm-*/bin; do
			[ ! -d "$dir" ] || mount --bind empty "$dir" || exit 77
		done
		PATH=$PWD/empty "$COMPILE" prog.bpf.c
	END
	unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
	expect_status 1 unshare -m sh hidden.sh
	assert_contains out "clang is not installed"
	assert_contains out "hint: install one: apt install clang"
}

test_a_wrong_clang_path_is_named() {
	set_up
	printf '[llvm]\nclang-path = /no/such/clang\n' >config
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains out "/no/such/clang: cannot be run: No such file or directory"
	assert_contains out "clang-path"
	printf '[llvm]\nclang-path = /bin/true\n' >config
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains out "/bin/true: does not print its version"
}

test_bad_sources_are_named() {
	set_up
	mkdir dir.c
	expect_status 1 "$COMPILE" prog.c
	assert_contains out "prog.c: cannot be read: No such file"
	assert_contains out "did you mean 'prog.bpf.c'?"
	expect_status 1 "$COMPILE" dir.c
	assert_contains out "dir.c: cannot be read: Is a directory"
	expect_status 1 "$COMPILE" own.h
	assert_contains out "own.h: is not a C file"
	[ "$(id -u)" = 0 ] || skip "only root can become nobody"
	# A place that nobody may enter, for a program that nobody may run.
	local open
	open=$(mktemp -d /tmp/perf-bpf-open.XXXXXX)
	cp prog.bpf.c "$open/secret.c"
	cp "$COMPILE" "$open/compile"
	chmod 755 "$open"
	chmod 600 "$open/secret.c"
	expect_status 1 env HOME="$open" PERF_CONFIG=/dev/null PERF_BPF_CACHE_DIR="$open/none" \
		setpriv --reuid 65534 --clear-groups "$open/compile" "$open/secret.c"
	rm -r "$open"
	assert_contains out "secret.c: cannot be read: Permission denied"
}

# The file names the clang that root runs.
test_configuration_that_others_can_write() {
	set_up
	unset PERF_CONFIG
	printf '[llvm]\n\tclang-path = %s/evil\n' "$TMP" >.perfconfig
	printf '#!/bin/sh\ntouch %s/evil-ran\nexit 1\n' "$TMP" >evil
	chmod +x evil
	chmod 666 .perfconfig
	"$PERF_BPF" gen skeleton prog.bpf.c >out 2>err || fail "$(cat err)"
	assert_contains err ".perfconfig is ignored: others can write to it (chmod go-w "
	[ ! -e evil-ran ] || fail "its clang was run"
	chmod 644 .perfconfig
	expect_status 1 "$PERF_BPF" gen skeleton prog.bpf.c
	[ -e evil-ran ] || fail "the file is not read at all"
	rm .perfconfig
	mkfifo .perfconfig
	expect_status 1 "$PERF_BPF" gen skeleton prog.bpf.c
	assert_contains err ".perfconfig: not a regular file"
}

test_dump_obj_writes_the_object_beside() {
	set_up
	printf '\tdump-obj = true\n' >>config
	echo precious >target
	ln -s target prog.bpf.o
	compiles compiled -v -o object
	assert_contains out "LLVM: dumping $TMP/prog.bpf.o"
	cmp object prog.bpf.o
	[ ! -L prog.bpf.o ] || fail "the link was followed"
	assert_equal "$(cat target)" precious
	rm prog.bpf.o
	compiles cached
	cmp object prog.bpf.o
}

test_clang_opt_is_split_like_a_shell_does() {
	set_up
	printf '%s\n' '	clang-opt = "-DTEXT=\"\\\"a b\\\"\" -Winvalid '"'"'-DMORE=1 + 1'"'"'"' >>config
	echo '_Static_assert(sizeof(TEXT) == 4 && MORE == 2, "options");' >>prog.bpf.c
	compiles compiled
	printf '[llvm]\nclang-opt = "-DX='"'"'open"\n' >config
	expect_status 1 "$COMPILE" prog.bpf.c
	assert_contains out "the quote ' in"
}

test_many_at_once_agree() {
	set_up
	local pids=
	for i in 1 2 3 4 5 6; do
		"$COMPILE" -o "object.$i" prog.bpf.c >"out.$i" 2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || { cat out.*; fail "one of them failed"; }
	done
	for i in 2 3 4 5 6; do
		cmp object.1 "object.$i"
	done
	rmdir cache/tmp
	assert_equal "$(ls cache/objects | wc -l)" 1
	[ -z "$(find cache -name '.perf-bpf.*')" ] || fail "a temporary file was left"
}

test_a_cache_that_others_can_write_to_is_not_used() {
	set_up
	mkdir theirs own-tmp
	export TMPDIR=$TMP/own-tmp
	ln -s theirs cache
	compiles compiled
	compiles compiled
	[ -z "$(ls theirs)" ] || fail "the link was followed"
	rm cache
	mkdir -m 777 cache
	compiles compiled -v
	assert_contains out "others may write to it"
	[ -z "$(ls cache)" ] || fail "it was written to"
	[ -z "$(find own-tmp -name 'perf-bpf.??????' -empty)" ]
}

test_headers_take_what_programs_write() {
	set_up
	cat >prog.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_core_read.h>
		#include <bpf/bpf_endian.h>
		#include <bpf/bpf_helpers.h>
		#include <bpf/bpf_tracing.h>
		struct pair { long a, b; };
		struct node { struct node *next; int value; };
		static const __u16 port = bpf_htons(80) | __bpf_constant_htons(1) | __bpf_htons(2);
		int word;
		SEC("fentry/f")
		int BPF_PROG2(structs, struct pair, p, int, c, char, d)
		{
			return p.a + p.b + c + d;
		}
		SEC("fentry/f")
		int BPF_PROG2(nothing)
		{
			return port;
		}
		SEC("fexit/f")
		int BPF_PROG2(many, __u64, a, void *, b, short, c, int, d, void *, e, struct pair, f,
			      int, ret)
		{
			return likely(f.b) ? ret : 0;
		}
		__noinline int taking(int *p __arg_nullable, int *q __arg_untrusted)
		{
			return p && q;
		}
		SEC("iter/task")
		int iter(struct bpf_iter_meta **ctx)
		{
			struct node head = {.next = &head};

			BPF_SEQ_PRINTF((struct seq_file *)(void *)ctx, "no argument\n");
			bpf_stream_printk(1, "two %d %d\n", word, port);
			return BPF_CORE_READ(&head, next, value) +
			       BPF_CORE_READ((struct node *)(void *)ctx, value) +
			       BPF_PROBE_READ((struct node *)(void *)ctx, next, next, value);
		}
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
	END
	compiles compiled -o prog.o
	llvm-objdump -d prog.o >dump
	# The words of p, c and d: the context is read at 0, 8, 16 and 24.
	for at in 0 8 16 24; do
		sed -n '/<structs>/,/exit/p' dump | grep -q "u64 \*)(r[0-9] + $at)" ||
			{ cat dump; fail "does not read word $at"; }
	done
	for at in 48 56; do # f.b and ret
		sed -n '/<many>/,/exit/p' dump | grep -q "u64 \*)(r[0-9] + $at)" ||
			{ cat dump; fail "does not read word $at"; }
	done
}

run_tests
