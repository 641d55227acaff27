#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace -e with other events besides system calls, against a workload that knows how many
# there are, and against perf trace.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# getppid; then a child that executes true and ends: three times
WORK="./pbe_work repeat 3 call getppid 1 + forks 1 exec /bin/true"

ready() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	workload_as pbe_work
}

trace() { # OPTION...: the lines are in ./lines
	expect_status 0 "$PERF_BPF" trace --log lines "$@"
}

lines_of() { grep -cE -- "$1" lines || true; }

test_events_are_among_the_calls_in_the_order_of_time() {
	ready
	trace -e sched:sched_process_exec,getppid -e sched:sched_process_exit -- $WORK
	local at='^ *[0-9]+\.[0-9]{3} \( {9}\): '
	assert_equal "$(lines_of "$at(true|pbe_work)/([0-9]+) sched:sched_process_exec\(filename: \"/bin/true\", pid: \2 \((true|pbe_work)\), old_pid: \2 ")" 3
	assert_equal "$(lines_of "${at}true/([0-9]+) sched:sched_process_exit\(comm: \"true\", pid: \1 \(true\), prio: [0-9]+")" 3
	assert_equal "$(lines_of 'ms\): pbe_work/[0-9]+ getppid\(\)')" 3
	# each call comes before its child's events
	assert_equal "$(grep -oE 'getppid|true.*_exec|true.*_exit' lines | sed 's/.*_//' | tr '\n' ' ')" \
		"getppid exec exit getppid exec exit getppid exec exit "
}

# A reader that is stopped: the ring is full when the workload ends, so no record tells what was lost
# then, but the kernel's counts do; older ones have none.
test_losses_are_counted_to_the_last_event() {
	ready
	[ -d /sys/kernel/tracing/events/syscalls ] || skip "this kernel has no tracepoints of system calls"
	printf 'kill -STOP $PPID\n%s 20000\nkill -CONT $PPID\n' "$BUILD/tests/cmd/counted" >lossy.sh
	if has perf.lost; then
		trace -m 16K -e syscalls:sys_enter_getpriority -- sh lossy.sh
		local lost
		lost=$(sed -n 's/^LOST \([0-9]*\) events that are not system calls; .*/\1/p' err)
		[ "${lost:-0}" -gt 10000 ] || fail "$lost are lost: $(cat err)"
		assert_equal $(($(lines_of sys_enter_getpriority) + lost)) 20000
		expect_status 0 "$PERF_BPF" trace -m 16K --record t.data -e syscalls:sys_enter_getpriority -- sh lossy.sh
		[[ $(cat err) =~ ([0-9]+)" events, "([0-9]+)" lost)" ]] || fail "$(cat err)"
		assert_equal $((BASH_REMATCH[1] + BASH_REMATCH[2])) 20000
	fi
	export LD_PRELOAD=$BUILD/tests/cmd/no_perf_lost.so ASAN_OPTIONS=verify_asan_link_order=0
	trace -m 16K -e syscalls:sys_enter_getpriority -- sh lossy.sh
	[[ $(cat err) =~ ^"LOST "([0-9]+)(" or more")?" events that are not system calls" ]] || fail "$(cat err)"
	[ "${BASH_REMATCH[2]}" ] || [ $(($(lines_of sys_enter_getpriority) + BASH_REMATCH[1])) -ge 20000 ] ||
		fail "what was lost last is neither counted nor told: $(cat err)"
}

test_events_alone_trace_no_calls() {
	ready
	trace -e 'sched:sched_process_ex*' -- $WORK
	! grep -q '(.*ms): ' lines || fail "there are calls: $(cat lines)"
	# as perf trace: no column for durations
	assert_equal "$(lines_of '^ *[0-9]+\.[0-9]{3} true/[0-9]+ sched:sched_process_exit\(')" 3
	expect_status 2 "$PERF_BPF" trace -e sched:sched_process_exec --dump-map calls true
	assert_contains err "-e selects no system calls"
}

# Times, ids and names that depend on when the name is looked up are left out.
normal() {
	sed -E 's/^ *[0-9.]+ //; s/[0-9]+ \([^)]*\)/N/g; s/\/[0-9]+ /\/N /; s/prio: [0-9]+/prio: N/; s/pid: [0-9]+/pid: N/g'
}
test_as_perf_trace() {
	ready
	command -v perf >/dev/null || skip "perf is not installed"
	# On one CPU: perf reads one ring after the other. Of a process that moves between CPUs it may show
	# what it does before it has read its name and what it has mapped.
	taskset -c 0 perf trace -e 'sched:sched_process_exec' -- $WORK >theirs 2>&1 || skip "perf trace: $(head -1 theirs)"
	grep -q sched_process_exec theirs || skip "perf trace prints no events here"
	trace -e sched:sched_process_exec -- $WORK
	normal <theirs >theirs.normal
	normal <lines >ours.normal
	diff -u theirs.normal ours.normal || fail "perf trace (-) and we (+) differ"
}

test_json() {
	ready
	trace --json -e sched:sched_process_exec,getppid -- $WORK
	python3 - <<-'END' || fail "$(cat lines)"
		import json
		lines = [json.loads(l) for l in open("lines")]
		execs = [l for l in lines if l["type"] == "event" and l["fields"]["filename"] == "/bin/true"]
		assert len(execs) == 3 and all(e["event"] == "sched:sched_process_exec" for e in execs)
		assert all(e["fields"]["pid"] == e["pid"] for e in execs)
		assert len([l for l in lines if l["type"] == "call"]) == 3
		ends = [l["time_ns"] + l.get("duration_ns", 0) for l in lines]
		assert ends == sorted(ends), ends
	END
}

# A program of the user filters its tracepoint.
test_a_file_in_c() {
	ready
	command -v clang >/dev/null || skip "clang is not installed"
	cat >filter.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		char LICENSE[] SEC("license") = "GPL";

		SEC("tracepoint/sched/sched_process_exec")
		int of_true(void *ctx)
		{
			char comm[16];

			bpf_get_current_comm(comm, sizeof(comm));
			return comm[0] == 't';
		}
	END
	trace -e filter.bpf.c,getppid -- $WORK
	# not of pbe_work itself
	assert_equal "$(lines_of 'sched:sched_process_exec\(')" 3
	assert_equal "$(lines_of 'sched:sched_process_exec\(filename: "/bin/true"')" 3
	assert_equal "$(lines_of ' getppid\(\)')" 3
	expect_status 0 "$PERF_BPF" trace -e filter.bpf.c,getppid --record t.data -- $WORK
	trace -i t.data
	assert_equal "$(lines_of 'sched:sched_process_exec\(')" 3
	assert_equal "$(lines_of 'true/[0-9]+ sched:sched_process_exec\(filename: "/bin/true"')" 3
	assert_equal "$(lines_of ' getppid\(\)')" 3
}

# What a program puts out, of all processes. It has the form that perf trace compiled.
test_output_of_a_file_in_c() {
	ready
	command -v clang >/dev/null || skip "clang is not installed"
	cat >hello.c <<-'END'
		#include <stdio.h>

		SEC("tracepoint/sched/sched_process_exec")
		int of_true(void *args)
		{
			char comm[16];

			bpf_get_current_comm(comm, sizeof(comm));
			if (comm[0] == 't' && comm[1] == 'r' && comm[2] == 'u')
				puts("Hello\033");
			return 0;
		}

		license(GPL);
	END
	trace -e hello.c,getppid -- $WORK
	[ "$(lines_of ' true/[0-9]+ __bpf_stdout__\("Hello\\x1[bB]"\)$')" -ge 3 ] || fail "$(cat lines)"
	assert_equal "$(lines_of ' getppid\(\)')" 3
	trace --json -e hello.c -- $WORK
	[ "$(lines_of '"event":"__bpf_stdout__","output":"48656c6c6f1b00')" -ge 3 ] || fail "$(cat lines)"
}

test_probes_between_the_calls_of_their_function() {
	ready
	cat >pbe_probed.c <<-'END'
		#define _GNU_SOURCE
		#include <sys/syscall.h>
		#include <unistd.h>

		__attribute__((noinline)) int work(int n)
		{
			return syscall(SYS_getppid) + n;
		}

		int main(void)
		{
			int sum = 0;

			for (int i = 1; i < 4; i++)
				sum += work(i * 10);
			return sum == 0;
		}
	END
	gcc -g -O1 -o pbe_probed pbe_probed.c
	local between="work(n: 10 getppid work(n: 20 getppid work(n: 30 getppid "
	trace -e getppid -e "probe:exec=$PWD/pbe_probed;work n" -- ./pbe_probed
	assert_equal "$(grep -oE 'work\(n: [0-9]+|getppid' lines | tr '\n' ' ')" "$between"
	expect_status 0 "$PERF_BPF" trace -e getppid -e "probe:exec=$PWD/pbe_probed;work n" --record t.data -- ./pbe_probed
	trace -i t.data
	assert_equal "$(grep -oE 'work\(n: [0-9]+|getppid' lines | tr '\n' ' ')" "$between"
	trace -i t.data -e 'probe_pbe_probed:*'
	assert_equal "$(grep -oE 'work\(n: [0-9]+|getppid' lines | tr '\n' ' ')" "${between//getppid /}"
	"$PERF_BPF" script -i t.data >lines
	assert_equal "$(grep -oE 'work: n=[0-9]+$|sys_exit' lines | tr '\n' ' ')" \
		"work: n=10 sys_exit work: n=20 sys_exit work: n=30 sys_exit "
}

test_a_recording_has_events_and_calls() {
	ready
	expect_status 0 "$PERF_BPF" trace -e sched:sched_process_exec,getppid -e sched:sched_process_exit \
		--record t.data -- $WORK
	assert_contains err "(3 calls, 0 lost; " # the workload itself executes and ends, too
	trace -i t.data
	local at='^ *[0-9]+\.[0-9]{3} \( {9}\): '
	assert_equal "$(lines_of "${at}true/([0-9]+) sched:sched_process_exec\(filename: \"/bin/true\", pid: \1 ")" 3
	assert_equal "$(lines_of "${at}true/([0-9]+) sched:sched_process_exit\(comm: \"true\", pid: \1 \(true\), prio: [0-9]+")" 3
	assert_equal "$(lines_of 'ms\): pbe_work/[0-9]+ getppid\(\)')" 3
	assert_equal "$(grep -oE 'getppid|true.*_exec|true.*_exit' lines | sed 's/.*_//' | tr '\n' ' ')" \
		"getppid exec exit getppid exec exit getppid exec exit "
	# -e selects of the recording
	trace -i t.data -e 'sched:*_exit'
	assert_equal "$(lines_of 'sched_process_exit\(comm: "true"')" 3
	assert_equal "$(lines_of 'getppid|_exec')" 0
	trace -i t.data -e getppid
	assert_equal "$(lines_of .)" 3
	trace -i t.data -s
	assert_equal "$(awk '$1 == "getppid" { print $2 }' lines)" 3
	assert_equal "$(lines_of 'sched_')" 0
	expect_status 1 "$PERF_BPF" trace -i t.data -e sched:sched_switch
	assert_contains err "has no event 'sched:sched_switch'"
	# for perf it is a recording as any other
	"$PERF_BPF" script -i t.data >lines
	assert_equal "$(lines_of 'sched:sched_process_exec: filename=/bin/true ')" 3
	assert_equal "$(lines_of 'raw_syscalls:sys_exit: NR 110 ')" 3
	command -v perf >/dev/null || return 0
	perf script -i t.data >lines 2>err || fail "perf script: $(cat err)"
	assert_equal "$(lines_of 'sched:sched_process_exec: filename=/bin/true ')" 3
	assert_equal "$(lines_of 'raw_syscalls:sys_exit: NR 110 ')" 3
}

test_a_recording_of_events_alone() {
	ready
	expect_status 0 "$PERF_BPF" trace -e sched:sched_process_exec --record t.data -- $WORK
	trace -i t.data
	assert_equal "$(lines_of 'true/[0-9]+ sched:sched_process_exec\(filename: "/bin/true"')" 3
	assert_equal "$(lines_of 'ms\)')" 0
}

test_what_cannot_be_together() {
	ready
	expect_status 2 "$PERF_BPF" trace -e sched:sched_process_exec -s true
	assert_contains err "-S also prints the other events"
	expect_status 2 "$PERF_BPF" trace -e sched:sched_process_exec --where 'ret < 0' true
	expect_status 2 "$PERF_BPF" trace -e sched:sched_process_exec,openat -u root true
	expect_status 1 "$PERF_BPF" trace -e sched:sched_process_exek true
	assert_contains err "sched_process_exec"
}

run_tests
