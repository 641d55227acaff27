#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Probe definitions as sections: what the programs are handed, against what
# the probed process counted for itself. Probes of the kernel: tests/vm.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

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
		runs -v --attach $way
		compare
		grep -q "program steps: 4 probe points by $way\$" err || { cat err; fail "$way was not taken"; }
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
	grep -q 'program steps: 4 probe points, 2 program instances' err || { cat err; fail "they do not"; }
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
		"it takes 2 arguments, but the definition has 1: count"
	refuses "order_place note:string" "void *ctx, int err, long a" "" "note does not fit into a register" \
		"struct NAME { int err; char note[64]; }"
	refuses "order_place note:string" "void *ctx, struct a *a" "struct a { int err; char nota[9]; };" \
		"no such argument" "did you mean 'note'"
	refuses "order_place note:string count" "void *ctx, struct a *a" "struct a { char note[9]; };" \
		"struct a has no member for argument count"
	refuses "order_place note" "void *ctx, struct a *a" "struct a { int note; };" "its member has 4 bytes"
	refuses "order_place note:string" "void *ctx, struct a *a" "struct a { char note[600]; };" \
		"600 bytes, but only 480 fit on the stack"
	refuses "order_place item=order->items[1]" "void *ctx, struct a *a" \
		"struct a { char item[5]; };" "item has 32 bytes, but its member has 5"
	refuses "order_place count" "void *ctx, char *a" "" "does not point to a struct"
	refuses "order_place err=count" "void *ctx, struct a *a" "struct a { int err; };" \
		"argument err has the name of a reserved member" "as in error=err"
}

# A program has one type for an argument; the bits of a float are not those of a double.
test_one_member_is_not_two_types() {
	make_ready
	cat >kinds.c <<-'END'
		#define NI __attribute__((noinline, noclone))
		struct single { float v; };
		struct wide { double v; };
		struct number { int v; };
		struct text { char v[12]; };
		struct longer { char v[20]; };
		NI void k_a(struct single *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void k_b(struct wide *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void k_c(struct number *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void n_a(int v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void n_b(unsigned v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void t_a(struct single *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void t_b(struct text *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		int main(void)
		{
			k_a(&(struct single){1.5f});
			k_b(&(struct wide){2.5});
			k_c(&(struct number){3});
			n_a(-7);
			n_b(4000000000u);
			t_a(&(struct single){1});
			t_b(&(struct text){"text"});
			return 0;
		}
	END
	gcc -O1 -g -fno-ipa-icf -fno-ipa-ra -o probed kinds.c
	refuses "k_[ab] p->v" "void *ctx, struct a *a" "struct a { unsigned long v; };" \
		"argument v is float in k_a but double in k_b"
	refuses "k_[bc] p->v" "void *ctx, int err, long v" "" "argument v is double in k_b but int in k_c"
	refuses "t_* p->v" "void *ctx, int err, long v" "" "v does not fit into a register"
	refuses "t_* p->v" "void *ctx, struct a *a" "struct a { char v[12]; };" "its member has 12"
	cat >numbers.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(max_entries, 8);
			__type(key, long);
			__type(value, long);
		} sums SEC(".maps");
		struct a { long v; };
		SEC("exec=./probed;n_* v")
		int numbers(void *ctx, struct a *args)
		{
			long one = 1, key = args->v;
			bpf_map_update_elem(&sums, &key, &one, BPF_ANY);
			return 0;
		}
		char _license[] SEC("license") = "GPL";
	END
	compile_bpf numbers.bpf.c numbers.bpf.o
	"$PERF_BPF" run --json numbers.bpf.o -- ./probed >out
	assert_contains out '"key":-7'
	assert_contains out '"key":4000000000'
}

test_a_way_that_does_not_fit_is_told() {
	make_ready
	expect_status 1 "$PERF_BPF" run --attach kprobe probed.bpf.o -- true
	assert_contains err "attach method kprobe does not work for a process"
	assert_contains err "hint: use uprobe.multi or uprobe"
	expect_status 1 "$PERF_BPF" run --attach uprob probed.bpf.o -- true
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

# rows FILE CODE: points has the table's rows by program and point.
rows() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		m = {}
		for line in open(sys.argv[1]):
		    if line.startswith("{"):
		        l = json.loads(line)
		        m[l["map"]] = l
		points = {(r["program"], r["point"]): r for r in m["(probes)"]["rows"]}
		exec(sys.argv[2])
	END
}

test_points_are_shown_as_a_table() {
	make_ready
	for way in any uprobe; do
		runs --probes --cost --json --attach $way
		rows out '
for name in "first", "second", "third", "other":
    r = points["steps", "step_" + name]
    assert r["hits"] == 120 and r["misses"] == 0 and r["way"].startswith("uprobe"), r
assert points["at_return", "order_place%return"]["hits"] == 120, points
assert points["steps", "step_first"]["instance"] == points["steps", "step_third"]["instance"]
assert all(r.get("refused") is None for r in points.values()), points
assert len(points) == 7, points
# what the programs cost is that of all their instances
cost = {r["program"]: r for r in m["(cost)"]["rows"]}
assert cost["steps"]["runs"] == 480 and cost["steps"]["time_ns"] > 0, cost
assert cost["at_return"]["runs"] == 120, cost'
	done
	runs --probes --top 2
	grep -q '^Probe points' out || { cat out; fail "no table"; }
	runs
	! grep -q 'Probe points' out || fail "it was not asked for"
}

# A glob of many: the ways, the most hits, and a sum; all of them with -vv.
test_many_points_are_told_in_short() {
	make_ready
	{
		for i in $(seq 40); do
			echo "__attribute__((noinline)) void many_$i(int n) { __asm__ volatile(\"\" : : \"r\"(n) : \"memory\"); }"
		done
		# without the parameter: left out
		for i in $(seq 9); do
			echo "__attribute__((noinline)) void many_less_$i(void) { __asm__ volatile(\"\" : : : \"memory\"); }"
		done
		echo 'int main(void) {'
		for i in $(seq 20); do
			echo "for (int i = 0; i < $i; i++) many_$i(i);"
		done
		for i in $(seq 9); do
			echo "many_less_$i();"
		done
		echo 'return 0; }'
	} >many.c
	gcc -O2 -g -fno-ipa-icf -fno-ipa-ra many.c -o many
	cat >many.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		SEC("exec=./many;many_* n")
		int many(void *ctx, int err, unsigned long n) { return 0; }
	END
	compile_bpf many.bpf.c many.bpf.o
	"$PERF_BPF" run -v many.bpf.o -- ./many >out 2>err || { cat err; fail "run ended with $?"; }
	cat err
	grep -qE 'program many: 40 probe points by uprobe(.multi)?$' err || fail "not how many by which way"
	grep -qE '^perf-bpf: 9 probe points are skipped: many_less_1: .*; … \(-vv shows each\)' err ||
		fail "not how many are left out"
	assert_equal "$(grep -c 'program many: many_[0-9]*: ' err)" 16
	grep -qE 'program many: many_20: .*, 20 hits$' err || fail "not the one with the most hits"
	grep -q 'program many: 20 of 40 probe points were hit, 210 times in total, 0 misses' err || fail "no sum"
	[ "$(wc -l <err)" -lt 40 ] || fail "too much is said"
	"$PERF_BPF" run -vv many.bpf.o -- ./many >out 2>err
	assert_equal "$(grep -c 'program many: many_[0-9]*: .* hits$' err)" 40
	assert_equal "$(grep -c 'many_less_[0-9] is skipped' err)" 9
}

# is_waits PID: it is that program by now
is_waits() {
	[ "$(cat "/proc/$1/comm")" = waits ]
}

# -p is seen to by the kernel; the program does not ask.
test_a_process_is_chosen_where_it_is_attached() {
	make_ready
	workload_as waits
	cat >waits.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		SEC("exec=./waits;work_step n")
		int waits(void *ctx, int err, unsigned long n) { return 0; }
	END
	compile_bpf waits.bpf.c waits.bpf.o
	for way in uprobe $(! has attach.uprobe_multi || echo any); do
		mkfifo one two
		./waits wait one , steps 50 &
		local one=$!
		./waits wait two , steps 50 &
		local two=$!
		soon is_waits $one
		"$PERF_BPF" run --probes --json --attach $way -p $one waits.bpf.o -- \
			sh -c "echo >two; echo >one; while [ -e /proc/$one/exe ] || [ -e /proc/$two/exe ]; do sleep 0.02; done" \
			>out 2>err || fail "$way: run ended with $?: $(cat err)"
		wait $one $two
		rm one two
		rows out 'assert points["waits", "work_step"]["hits"] == 50, points'
	done
	expect_status 1 "$PERF_BPF" run -p $one waits.bpf.o -- true
	assert_contains err "$one"
	# of several it is the program that must ask
	expect_status 1 "$PERF_BPF" run -p 1,2 waits.bpf.o -- true
	assert_contains err "perf_bpf_wanted()"
}

test_a_probe_that_costs_too_much_is_detached() {
	make_ready
	# until it is detached, however long that takes
	workload_as busy
	cat >busy.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		SEC("exec=./busy;work_ste* n")
		int busy(void *ctx, int err, unsigned long n)
		{
			unsigned long long x = 0;
			for (int i = 0; i < 2000; i++)
				x ^= bpf_get_prandom_u32();
			return x == 1;
		}
	END
	compile_bpf busy.bpf.c busy.bpf.o
	"$PERF_BPF" run --probes --json --max-overhead 0.01% busy.bpf.o -- ./busy until detached steps 1000 >out 2>err &
	trap 'touch detached' EXIT # also if it never is
	soon grep -q 'program busy is detached: it used' err
	touch detached
	local status=0
	wait $! || status=$?
	assert_equal "$status" 3
	rows out '
(cost,) = m["(cost)"]["rows"]
assert cost["program"] == "busy" and cost["runs"] == points["busy", "work_step"]["hits"] > 0, m
assert "busy was detached" in m["(cost)"]["note"], m'
}

test_kill_leaves_nothing() {
	make_ready
	local name=at_$BASHPID # of this test's program alone
	sed "s/in_registers/$name/" "$SRC/tests/cmd/probed.bpf.c" >own.bpf.c
	compile_bpf own.bpf.c probed.bpf.o
	for way in uprobe $(! has attach.uprobe_multi || echo uprobe.multi); do
		"$PERF_BPF" run --attach $way probed.bpf.o -- sh -c 'echo $$ >pid; exec sleep 600' >log 2>&1 &
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
