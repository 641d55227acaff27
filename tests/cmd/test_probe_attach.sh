#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Probe definitions as sections: what the programs are handed, against what
# the probed process counted for itself. Probes of the kernel: tests/vm.
. "$(dirname "$0")/../tap.sh"

make_ready() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	has attach.uprobe || skip "this kernel has no uprobes"
	gcc -O2 -g -fno-ipa-icf -fno-ipa-ra "$@" "$SRC/tests/cmd/probed.c" -o probed
	compile_bpf "$SRC/tests/cmd/probed.bpf.c" probed.bpf.o
}

# The map's row of a name.
sum() {
	sed -n "/^sums:/,\$s/^ *$1  *\(-\{0,1\}[0-9]*\)$/\1/p" out
}

# Each line that the process printed is a row.
compare() {
	local name value
	while read -r name value; do
		assert_equal "$name $(sum "$name")" "$name $value"
	done < <(sed '/^sums:/,$d' out | grep -E '^[a-z]+ -?[0-9]+$')
	assert_equal "$(sum labels)" "$(sum calls)"
	assert_equal "$(sum errors)" 0
	# -8 after the first call, and one less each time
	local n
	n=$(sum calls)
	assert_equal "$(sum discounts)" $((-7 * n - n * (n - 1) / 2))
}

runs() { # OPTIONS...
	"$PERF_BPF" run "$@" probed.bpf.o -- ./probed 120 >out 2>err || { cat err; fail "run ended with $?"; }
}

test_arguments_are_what_the_process_had() {
	make_ready
	runs
	compare
}

test_each_way_gives_the_same() {
	make_ready
	for way in uprobe uprobe.multi; do
		if [ $way = uprobe.multi ] && ! has attach.uprobe_multi; then
			continue
		fi
		runs -v --probe-way $way
		compare
		grep -q "program steps: 4 points by $way\$" err || { cat err; fail "$way was not taken"; }
	done
}

test_without_pie_too() {
	make_ready -no-pie -fno-pie
	runs
	compare
}

instance() {
	sed -n "s/.*program steps: $1: .*instance \([0-9]*\),.*/\1/p" err
}

test_equal_arguments_share_an_instance() {
	make_ready
	runs -v
	grep -q 'program steps: 4 points, 2 instances' err || { cat err; fail "they do not"; }
	assert_equal "$(grep -c 'program steps: step_[a-z]*: .*, 120 hits$' err)" 4
	assert_equal "$(instance step_first)" "$(instance step_second)"
	assert_equal "$(instance step_first)" "$(instance step_third)"
	[ "$(instance step_first)" != "$(instance step_other)" ] || fail "step_other has it elsewhere"
}

# The last words of a refusal, and its hint.
refuses() { # SECTION PARAMETERS DECLARATION TEXT...
	cat >bad.bpf.c <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		$3
		SEC("exec=./probed;$1")
		int prog($2) { return 0; }
	END
	compile_bpf bad.bpf.c bad.bpf.o
	expect_status 1 "$PERF_BPF" run bad.bpf.o -- true
	shift 3
	for text; do
		assert_contains err "$text"
	done
}

test_a_program_that_does_not_fit_is_told() {
	make_ready
	refuses "order_plac count" "void *ctx, int err, long a" "" 'no function "order_plac"' "did you mean 'order_place'"
	refuses "order_place cuont" "void *ctx, int err, long a" "" "did you mean 'count'"
	refuses "order_place count" "void *ctx, int err, long a, long b" "" \
		"it takes 2 arguments, and the definition has 1: count"
	refuses "order_place note:string" "void *ctx, int err, long a" "" "note does not fit into a register" \
		"struct NAME { int err; char note[64]; }"
	refuses "order_place note:string" "void *ctx, struct a *a" "struct a { int err; char nota[9]; };" \
		"no such argument" "did you mean 'note'"
	refuses "order_place note:string count" "void *ctx, struct a *a" "struct a { char note[9]; };" \
		"struct a has no member for the argument count"
	refuses "order_place note" "void *ctx, struct a *a" "struct a { int note; };" "its member has 4 bytes"
	refuses "order_place note:string" "void *ctx, struct a *a" "struct a { char note[600]; };" \
		"600 bytes, and 480 fit on the stack"
	refuses "order_place item=order->items[1]" "void *ctx, struct a *a" \
		"struct a { char item[5]; };" "item has 32 bytes, its member 5"
	refuses "order_place count" "void *ctx, char *a" "" "points to no struct"
}

test_a_way_that_does_not_fit_is_told() {
	make_ready
	expect_status 1 "$PERF_BPF" run --probe-way kprobe probed.bpf.o -- true
	assert_contains err "kprobe is no way to attach to a process"
	assert_contains err "hint: there are uprobe.multi and uprobe"
	expect_status 1 "$PERF_BPF" run --probe-way uprob probed.bpf.o -- true
	assert_contains err "did you mean 'uprobe'"
}

# A program that is refused by the verifier is told with its own line, behind the code before it.
test_a_refusal_names_the_line() {
	make_ready
	cat >bad.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		SEC("exec=./probed;order_place count")
		int prog(void *ctx, int err, unsigned long count)
		{
			return *(volatile int *)count;
		}
	END
	compile_bpf bad.bpf.c bad.bpf.o
	expect_status 1 "$PERF_BPF" run bad.bpf.o -- true
	assert_contains err "bad.bpf.c:7"
}

no_program_of() {
	"$PERF_BPF" prog list >progs
	! grep -q "$1" progs
}

test_kill_leaves_nothing() {
	make_ready
	local name=at_$BASHPID # of this test's program alone
	sed "s/in_registers/$name/" "$SRC/tests/cmd/probed.bpf.c" >own.bpf.c
	compile_bpf own.bpf.c probed.bpf.o
	for way in uprobe $(! has attach.uprobe_multi || echo uprobe.multi); do
		"$PERF_BPF" run --probe-way $way probed.bpf.o -- sh -c 'echo $$ >pid; exec sleep 600' >log 2>&1 &
		local run=$!
		soon test -s pid
		local there=no
		"$PERF_BPF" prog list >progs && grep -q "$name" progs && there=yes
		kill -9 $run
		wait $run 2>/dev/null || :
		[ -s pid ] || { cat log; fail "it did not run"; }
		kill -9 "$(cat pid)"
		rm pid
		assert_equal "$way $there" "$way yes"
		soon no_program_of "$name"
	done
}

run_tests
