#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace --call-graph, on a program that makes known calls from known functions.
. "$(dirname "$0")/../tap.sh"
# perf reads the build-id cache in the user's home, and so do we here.
BUILDID_CACHE_OF_PERF=yes

# close() of descriptors that are not open: 7000 from a, 7001 from b which a calls; N times.
ready() { # FLAGS
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbs_work.c <<-'END'
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <unistd.h>

		#define NEVER_INLINED __attribute__((noinline))
		NEVER_INLINED long pbs_b(long fd) { long r = syscall(SYS_close, fd); __asm__ volatile(""); return r; }
		NEVER_INLINED long pbs_a(long fd)
		{
			long r = syscall(SYS_close, fd) + pbs_b(fd + 1);
			__asm__ volatile("");
			return r;
		}
		int main(int argc, char **argv)
		{
			char go;

			if (argc > 2 && read(0, &go, 1) != 1) /* until the trace runs */
				return 1;
			for (int i = atoi(argv[1]); i > 0; i--)
				pbs_a(7000);
			return 0;
		}
	END
	gcc -O1 -g ${1--fomit-frame-pointer} -o pbs_work pbs_work.c || skip "cannot build the workload"
}

trace() { # OPTION...: the lines are in ./lines
	expect_status 0 "$PERF_BPF" trace --log lines -e close "$@"
}

# The functions below each close of these descriptors, one line per call: "7000 syscall pbs_a main".
functions() {
	awk '/^ *[0-9.]+ \(/ { if (have) print have; have = ""
		if (match($0, /fd: 700[01]/)) have = substr($0, RSTART + 4, 4); next }
	have && NF { have = have " " $1 }
	END { if (have) print have }' lines
}

# Up to main: how the C library calls that depends on it.
up_to_main() { functions | sed 's/ main .*/ main/' | sort | uniq -c | sed 's/^ *//'; }

test_dwarf_finds_the_callers_without_frame_pointers() {
	ready
	trace --call-graph dwarf -- ./pbs_work 50
	assert_equal "$(up_to_main)" "50 7000 syscall pbs_a main
50 7001 syscall pbs_b pbs_a main"
	# and on, to the start of the program
	functions | grep -q '_start$' || fail "no chain begins at _start: $(functions | head -2)"
	grep -qE "^ {39}pbs_a \($PWD/pbs_work\)\$" lines || fail "$(head -20 lines)"
}

test_fp_finds_the_callers_by_frame_pointers() {
	ready -fno-omit-frame-pointer
	trace -g -- ./pbs_work 50
	# syscall() of the C library has no frame: its caller is missing
	assert_equal "$(up_to_main)" "50 7000 syscall main
50 7001 syscall pbs_a main"
	mv lines short
	trace --call-graph fp -- ./pbs_work 50
	assert_equal "$(up_to_main)" "50 7000 syscall main
50 7001 syscall pbs_a main"
}

test_the_kernels_frames() {
	ready
	trace --call-graph dwarf --kernel-syscall-graph -- ./pbs_work 3
	# what traces the exit is not shown
	! grep -qE 'bpf_|__traceiter' lines || fail "$(grep -E 'bpf_|__traceiter' lines | head -3)"
	functions | grep -qE '^7000 [a-z_]*(exit|syscall)[a-z_0-9]* .*entry_SYSCALL_64.* syscall pbs_a main' ||
		[ "$(uname -m)" != x86_64 ] || fail "$(functions)"
	trace --call-graph dwarf -- ./pbs_work 3
	! grep -q 'kernel.kallsyms' lines || fail "$(grep kernel lines | head -3)"
	expect_status 2 "$PERF_BPF" trace --kernel-syscall-graph true
}

test_limits_of_the_frames() {
	ready
	trace --max-stack 2 -- ./pbs_work 3
	assert_equal "$(functions | sort | uniq -c | sed 's/^ *//')" "3 7000 syscall pbs_a
3 7001 syscall pbs_b"
	trace --call-graph dwarf -- ./pbs_work 3
	local shorter=$(functions | grep -m1 ^7000 | wc -w) # frames of the call from pbs_b
	trace --min-stack "$shorter" -- ./pbs_work 3
	assert_equal "$(up_to_main)" "3 7001 syscall pbs_b pbs_a main"
	expect_status 2 "$PERF_BPF" trace --max-stack 0 true
	expect_status 2 "$PERF_BPF" trace --call-graph fp -s true
	assert_contains err "use -S with --call-graph"
}

# Only calls that are shown have a chain: conditions are tested before it is taken.
test_only_for_calls_that_are_selected() {
	ready
	trace --call-graph dwarf --where 'fd == 7001' -- ./pbs_work 20
	assert_equal "$(up_to_main)" "20 7001 syscall pbs_b pbs_a main"
	assert_equal "$(grep -c 'close(fd' lines)" 20
}

test_in_the_other_layouts() {
	ready
	trace --call-graph dwarf --strace -- ./pbs_work 1
	grep -A3 '^close(7001)' lines | grep -qE "^ > $PWD/pbs_work\(pbs_b\+0x[0-9a-f]+\) \[0x[0-9a-f]+\]\$" ||
		fail "$(cat lines)"
	expect_status 0 "$PERF_BPF" trace --json --call-graph dwarf -e close -- ./pbs_work 2
	python3 - "$PWD/pbs_work" <<-'END' || fail "$(tail -3 out)"
		import json, sys
		calls = [c for c in map(json.loads, open('out')) if c['type'] == 'call' and c['args']['fd'] == 7001]
		assert len(calls) == 2
		assert all([f['sym'] for f in c['chain'][:4]] == ['syscall', 'pbs_b', 'pbs_a', 'main'] for c in calls)
		assert all(c['chain'][1]['dso'] == sys.argv[1] for c in calls)
		assert all(f['ip'].startswith('0x') for c in calls for f in c['chain'])
	END
}

# with_frame PATTERN: the events of ./lines, as script prints them, that have such a frame
with_frame() {
	awk -v pattern="$1" 'match($0, /raw_syscalls:sys_[a-z]*:/) { e = substr($0, RSTART, RLENGTH); next }
		e && $0 ~ pattern { print e; e = "" }' lines | sort | uniq -c | sed 's/^ *//'
}

test_a_recording_has_the_chains() {
	ready
	expect_status 0 "$PERF_BPF" trace -e close --call-graph dwarf --record t.data -- ./pbs_work 20
	expect_status 0 "$PERF_BPF" trace -i t.data --log lines
	assert_equal "$(up_to_main)" "20 7000 syscall pbs_a main
20 7001 syscall pbs_b pbs_a main"
	expect_status 0 "$PERF_BPF" trace -i t.data --log lines --max-stack 2
	assert_equal "$(functions | sort | uniq -c | sed 's/^ *//')" "20 7000 syscall pbs_a
20 7001 syscall pbs_b"
	# the chain is that of the exit of the call
	"$PERF_BPF" script -i t.data >lines
	assert_equal "$(with_frame " pbs_b[+]")" "20 raw_syscalls:sys_exit:"
	ready -fno-omit-frame-pointer
	expect_status 0 "$PERF_BPF" trace -e close,sched:sched_process_exit -g --record t.data -- ./pbs_work 20
	expect_status 0 "$PERF_BPF" trace -i t.data --log lines
	assert_equal "$(up_to_main)" "20 7000 syscall main
20 7001 syscall pbs_a main"
	grep -A9 sched_process_exit lines | grep -q do_exit || fail "the event has no chain: $(tail lines)"
	command -v perf >/dev/null || return 0
	perf script -i t.data >lines 2>err || fail "perf script: $(cat err)"
	# it takes a path that begins with /tmp/perf- for that of a list of symbols
	assert_equal "$(with_frame "pbs_work[)]")" "40 raw_syscalls:sys_exit:"
	expect_status 2 "$PERF_BPF" trace --min-stack 3 --record t.data true
	assert_contains err "use them with -i"
}

# What was mapped before the trace began is known, too.
test_of_a_process_that_runs() {
	ready
	mkfifo go
	./pbs_work 10 wait <go &
	local pid=$!
	exec 9>go # its end is the end of the workload
	"$PERF_BPF" trace -v --log lines -e close --call-graph dwarf -p $pid 2>err 9>&- &
	local tracer=$!
	soon grep -q 'tracing has started' err # with all programs, not only the first one
	echo >&9
	exec 9>&-
	wait $pid || fail "the workload failed"
	wait $tracer || fail "$(cat err)"
	assert_equal "$(up_to_main)" "10 7000 syscall pbs_a main
10 7001 syscall pbs_b pbs_a main"
}
test_as_perf_trace() {
	ready -fno-omit-frame-pointer
	command -v perf >/dev/null || skip "perf is not installed"
	# perf takes a file whose path begins with /tmp/perf- for a list of symbols of a JIT compiler
	local dir=$(mktemp -d /tmp/pbs.XXXXXX)
	mv pbs_work "$dir"
	# On one CPU: perf reads one ring after the other. Of a process that moves between CPUs it may show
	# what it does before it has read its name and what it has mapped.
	taskset -c 0 perf trace -e close --call-graph fp -- "$dir/pbs_work" 10 2>lines
	functions >theirs
	"$PERF_BPF" trace --log lines -e close --call-graph fp -- "$dir/pbs_work" 10 2>err
	functions >ours
	rm -r "$dir"
	[ "$(grep -c . theirs)" = 20 ] || skip "perf trace printed $(grep -c . theirs) of 20 calls"
	diff -u theirs ours || fail "perf trace (-) and we (+) differ"
}

run_tests
