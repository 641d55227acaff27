#!/usr/bin/env bash
# perf-bpf record -e 'EVENT { return CONDITION; }'
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/oneline.sh"

# record TEXT OPTION... -- COMMAND...: script's lines go to ./lines.
record() {
	"$PERF_BPF" record -o perf.data -e "$@" >log 2>&1 || { cat log; fail "'$1' is not recorded"; }
	# A host whose own programs are at the tracepoint filters ours, as record says.
	! grep "programs\? of other processes" log >others || skip "$(head -n 1 others)"
	"$PERF_BPF" script -i perf.data >lines 2>log || { cat log; fail "script fails"; }
}

test_what_a_body_returns_filters() {
	make_workload
	record 'syscalls:sys_enter_umask { return args->mask > 4 && comm == "pbt_line"; }' -- \
		./pbt_line call umask 3 3 , call umask 5 9
	assert_equal "$(grep -c 'syscalls:sys_enter_umask' lines)" 5
	assert_equal "$(grep -c 'mask: 0x00000009' lines)" 5
}

test_other_events_and_groups_are_as_before() {
	make_workload
	record 'syscalls:sys_enter_umask { if (args->mask != 3) return 1; }' -e '{cpu-clock,page-faults}' -- \
		./pbt_line call umask 3 3 , call umask 2 7 , burn 50
	assert_equal "$(grep -c 'syscalls:sys_enter_umask' lines)" 2
	grep -q 'cpu-clock' lines || fail "no sample of cpu-clock"
}

test_mistakes_name_the_column() {
	make_workload
	expect_status 2 "$PERF_BPF" record -e 'syscalls:sys_enter_umask { return args->mosk; }' -- true
	assert_contains err 'program, column 41:'
	assert_contains err "did you mean 'mask'?"
}

run_tests
