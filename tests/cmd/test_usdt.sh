#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# USDT probes, by a client that has some of its own: what the BPF program reads
# is compared with what the client passed on. tests/vm does the same on other
# kernels.
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/vm/usdt_client

# object NAME [OPTIONS...]
object() {
	local name=$1
	shift
	[ "$(id -u)" = 0 ] || skip "attaching takes root"
	[ -x "$CLIENT" ] || skip "built without <sys/sdt.h> (package systemtap-sdt-dev)"
	"$PERF_BPF" features attach.uprobe >/dev/null || skip "this kernel has no uprobes"
	compile_bpf "$SRC/tests/vm/usdt.bpf.c" "$name" "$@"
}

# The maps of <bpf/usdt.bpf.h> are of use for the program only.
test_run_shows_only_the_programs_own_maps() {
	[ "$(id -u)" = 0 ] || skip "attaching takes root"
	[ -x "$CLIENT" ] || skip "built without <sys/sdt.h> (package systemtap-sdt-dev)"
	"$PERF_BPF" features attach.uprobe >/dev/null || skip "this kernel has no uprobes"
	cat >shop.c <<-'END'
		#include <sys/sdt.h>
		int main(void)
		{
			for (int i = 0; i < 7; i++)
				DTRACE_PROBE1(shop, order, i);
			return 0;
		}
	END
	gcc -O1 -o shop shop.c
	cat >shop.bpf.c <<-END
		#include <linux/bpf.h>
		#include <linux/ptrace.h>
		#include <bpf/bpf_helpers.h>
		#include <bpf/usdt.bpf.h>

		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, __u64);
		} orders SEC(".maps");

		SEC("usdt/$PWD/shop:shop:order")
		int BPF_USDT(on_order, int number)
		{
			__u32 zero = 0;
			__u64 *n = bpf_map_lookup_elem(&orders, &zero);

			if (n)
				__sync_fetch_and_add(n, 1);
			return 0;
		}

		char LICENSE[] SEC("license") = "GPL";
	END
	expect_status 0 "$PERF_BPF" run shop.bpf.c --json -- ./shop
	assert_equal "$(jq -r '"\(.map) \(.count)"' out)" "orders 7"
}

test_every_form_of_argument() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o forms on_any
	# What the compiler made is what is meant to be tested; the sanitizers move it.
	[ -z "${SANITIZED:-}" ] || return 0
	readelf -n "$CLIENT" >notes 2>/dev/null
	grep -A 2 'Name: twelve' notes >twelve
	for form in '@\$-9' '[0-9]@%' '[0-9]@-*[0-9]*(%' '(%[a-z0-9]*,%[a-z0-9]*,8)' 'global_counter(%rip)'; do
		grep -q -- "$form" twelve || { cat twelve; fail "no argument is like $form"; }
	done
}

test_a_place_at_a_time() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o forms on_single
	tap "$CLIENT" usdt.bpf.o sites on_single
	tap "$CLIENT" usdt.bpf.o semaphore on_single
}

test_a_section() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o section
}

test_many_places_few_descriptions() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o sites on_any
}

test_a_semaphore() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o semaphore on_any
}

test_descriptions_are_given_back() {
	object usdt.bpf.o -DSPECS=8
	tap "$CLIENT" usdt.bpf.o again
	tap "$CLIENT" usdt.bpf.o disconnect
	tap "$CLIENT" usdt.bpf.o closed
}

test_processes() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o child
}

# Objects compiled with the header of libbpf 1.1, and with one that packs as that of 1.7 does.
test_other_headers() {
	object usdt.bpf.o
	[ -e /usr/include/bpf/usdt.bpf.h ] || skip "no header of libbpf's (package libbpf-dev)"
	clang -O2 -g -target bpf -D__TARGET_ARCH_x86 -Dbool=_Bool '-Dbpf_usdt_arg_size(ctx, n)=0' \
		-I"/usr/include/$(uname -m)-linux-gnu" -c "$SRC/tests/vm/usdt.bpf.c" -o old.bpf.o
	tap "$CLIENT" old.bpf.o sites on_any
	status=0
	"$CLIENT" old.bpf.o forms on_any >old 2>&1 || status=$?
	assert_contains old "an argument uses an index register, which the program's usdt.bpf.h does not support"

	mkdir -p new/bpf
	cp "$SRC"/include/bpf/*.h new/bpf/
	sed -i '/^#if __BYTE_ORDER__/,/^#endif/{
		/__u8 arg_type;/c enum __bpf_usdt_arg_type arg_type : 8; __u16 idx_reg_off : 12;
		/__u8 scale_bitshift;/c __u16 scale_bitshift : 4;
		/__u16 idx_reg_off;/c __u8 reserved : 8;
	}' new/bpf/usdt.bpf.h
	HEADERS=new compile_bpf "$SRC/tests/vm/usdt.bpf.c" new.bpf.o
	bpftool btf dump file new.bpf.o | grep -A 8 "STRUCT '__bpf_usdt_arg_spec'" >layout
	assert_contains layout "size=24"
	grep -q "'idx_reg_off' .*bits_offset=80 bitfield_size=12" layout || { cat layout; fail "layout"; }
	tap "$CLIENT" new.bpf.o forms on_any
}

test_what_is_missing_is_named() {
	object usdt.bpf.o
	tap "$CLIENT" usdt.bpf.o refuse perfbpf twelf "did you mean 'perfbpf:twelve'"
	tap "$CLIENT" usdt.bpf.o refuse no such "it has perfbpf:many, perfbpf:none, perfbpf:twelve"
	tap "$CLIENT" usdt.bpf.o refuse no such "exe has no USDT probe no:such"
	status=0
	"$CLIENT" usdt.bpf.o pid -1 "$PERF_BPF" a b >none || status=$?
	assert_equal $status 1
	assert_contains none "has no USDT probes (no section .note.stapsdt)"
	printf '#include <linux/bpf.h>\n#include <linux/ptrace.h>\n#include <bpf/bpf_helpers.h>\n%s\n%s\n' \
		'SEC("usdt") int on_any(struct pt_regs *ctx) { return 0; }' \
		'int pad; char LICENSE[] SEC("license") = "GPL";' >bare.bpf.c
	compile_bpf bare.bpf.c bare.bpf.o
	"$CLIENT" bare.bpf.o refuse a b "no map __bpf_usdt_specs" >bare || :
	grep -q "^ok" bare || { cat bare; fail "an object without the maps"; }
}

# The maps and functions of several files are one when they are linked.
test_objects_of_several_files() {
	object usdt.bpf.o
	cat >second.bpf.c <<-'E'
		#include <linux/bpf.h>
		#include <linux/ptrace.h>
		#include <bpf/bpf_helpers.h>
		#include <bpf/usdt.bpf.h>
		__u64 arguments;
		SEC("usdt") int second(struct pt_regs *ctx) { arguments += bpf_usdt_arg_cnt(ctx); return 0; }
	E
	compile_bpf second.bpf.c second.bpf.o
	bpftool gen object linked.bpf.o usdt.bpf.o second.bpf.o
	tap "$CLIENT" linked.bpf.o forms on_any
	status=0
	"$CLIENT" linked.bpf.o forms second >out 2>&1 || status=$?
	assert_contains out "# calls 0, not 500" # it loads, and counts in its own way
}

# A library, in a process that runs.
test_a_library_in_a_process() {
	object usdt.bpf.o
	cat >library.c <<-'E'
		#include <sys/sdt.h>
		void library_step(long n, const char *text);
		void library_step(long n, const char *text) { STAP_PROBE2(perfbpf_library, step, n, text); }
	E
	cat >steps.c <<-'E'
		#include <unistd.h>
		void library_step(long n, const char *text);
		int main(void) { for (;;) { library_step(-3, "x"); usleep(1000); } }
	E
	gcc -O2 -shared -fPIC -o libsteps.so library.c
	gcc -O2 -o steps steps.c -L. -lsteps -Wl,-rpath,"$PWD"
	./steps &
	pid=$!
	./steps &
	other=$!
	trap 'kill $pid $other' EXIT
	soon grep -q libsteps.so "/proc/$pid/maps" # it is that program by now
	"$CLIENT" usdt.bpf.o pid $pid "$PWD/libsteps.so" perfbpf_library step >out 2>&1
	calls=$(sed -n 's/^calls \([1-9][0-9]*\) errors 0 count 2 .*/\1/p' out)
	[ -n "$calls" ] || { cat out; fail "no calls are counted"; }
	assert_contains out "count 2 $((calls * -3)) "
	# Found as the loader does.
	LD_LIBRARY_PATH=$PWD "$CLIENT" usdt.bpf.o pid -1 libsteps.so perfbpf_library step >out 2>&1
	grep -q '^calls [1-9][0-9]* errors 0 count 2 ' out || { cat out; fail "no calls of all are counted"; }
}

# A recording keeps what the program lets through, of each place by its arguments.
test_record() {
	object usdt.bpf.o
	"$PERF_BPF" features bpf.cookie >/dev/null || skip "this kernel has no cookies"
	cat >marks.c <<-'E'
		#include <sys/sdt.h>
		#define MARK(n) STAP_PROBE2(perfbpf_marks, mark, n, i)
		int main(void)
		{
			for (volatile int i = 0; i < 10; i++) {
				MARK(1);
				MARK(2);
				MARK(-3);
			}
			return 0;
		}
	E
	gcc -O2 -o marks marks.c
	cat >filter.bpf.c <<-E
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/usdt.bpf.h>
		SEC("usdt/$PWD/marks:perfbpf_marks:mark")
		int BPF_USDT(filter, int which, int i) { return which == -3 ? i >= 4 : which == 2; }
		char LICENSE[] SEC("license") = "GPL";
	E
	"$PERF_BPF" record -o perf.data -e filter.bpf.c -- ./marks >log 2>&1 || { cat log; fail "record"; }
	"$PERF_BPF" script -i perf.data >lines
	assert_equal "$(grep -c 'marks .*sdt_perfbpf_marks:mark:' lines)" 16 # 10 and 6
	assert_equal "$(wc -l <lines)" 16
	assert_equal "$(sed 's/.*mark: *\([0-9a-f]*\) .*/\1/' lines | sort | uniq -c | awk '{ print $1 }' | sort -n | xargs)" "6 10"
	sed 's/perfbpf_marks:mark/perfbpf_marks:marc/' filter.bpf.c >typo.bpf.c
	! "$PERF_BPF" record -o perf.data -e typo.bpf.c -- ./marks >log 2>&1 || fail "a typo is taken"
	assert_contains log "has no USDT probe perfbpf_marks:marc"
	assert_contains log "did you mean 'perfbpf_marks:mark'?"
}

run_tests
