#!/usr/bin/env bash
# Processes in containers: in other PID and mount namespaces, seen from inside and from outside.
. "$(dirname "$0")/../tap.sh"

needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "cannot make namespaces"
}

# build COLOUR: a program that spends its time in COLOUR_work(), and calls getppid() and openat()
build() {
	cat >work.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		volatile unsigned long n;
		__attribute__((noinline)) void WORK(void)
		{
			for (int i = 0; i < 1000000; i++)
				n += i;
		}
		int main(void)
		{
			printf("%d\n", getpid());
			fflush(stdout);
			for (;;) {
				WORK();
				getppid();
				open("/nonexistent", O_RDONLY);
			}
		}
	END
	gcc -g -O1 -fno-omit-frame-pointer -DWORK="$1_work" -o "$1" work.c
}

# in_pid_ns: runs standard input as a script with functions of this file, in a PID namespace.
# Processes there have low ids, which on the host belong to the kernel's threads.
in_pid_ns() {
	{
		echo '. "$SRC/tests/tap.sh"; set -eu'
		cat
	} >inside.sh
	SRC=$SRC PERF_BPF=$PERF_BPF unshare --pid --fork --kill-child --mount-proc bash inside.sh
}

test_run_in_a_pid_namespace() {
	needs
	build blue
	in_pid_ns <<-'END'
		./blue >pid &
		soon test -s pid
		pid=$(cat pid)
		[ $pid -lt 100 ] || fail "this is not a new PID namespace"
		expect_status 0 "$PERF_BPF" run profile --folded -p $pid --duration 1
		assert_contains out 'blue_work'
		expect_status 0 "$PERF_BPF" run syscount --json -p $pid --duration 0.5
		python3 - $pid <<-'PYTHON'
			import json, sys
			tables = [json.loads(l) for l in open("out") if l.startswith("{")]
			table, = [t for t in tables if t["map"] == "by_process"]
			pids = {row["pid"] for row in table["rows"]}
			assert pids == {int(sys.argv[1])}, table
		PYTHON
		# all tasks: those outside of the namespace have no id in it
		expect_status 0 "$PERF_BPF" run syscount --json --duration 0.5
		grep -q "\"pid\":$pid\\b" out || fail "the process is missing"
	END
}

test_a_nested_pid_namespace() {
	needs
	build red
	in_pid_ns <<-'END'
		unshare --pid --fork --kill-child --mount-proc ./red >pid &
		soon test -s pid
		assert_equal "$(cat pid)" 1
		pid=$(pgrep -x red)
		[ $pid != 1 ] || fail "this is not the outer namespace"
		expect_status 0 "$PERF_BPF" run profile --folded -p $pid --duration 1
		assert_contains out 'red_work'
		"$PERF_BPF" trace -p $pid 2>calls &
		trace=$!
		soon grep -q "red/$pid getppid" calls
		kill -INT $trace
	END
}

test_trace_in_a_pid_namespace() {
	needs
	build blue
	in_pid_ns <<-'END'
		./blue >pid &
		soon test -s pid
		pid=$(cat pid)
		"$PERF_BPF" trace -p $pid 2>calls &
		trace=$!
		soon grep -q "blue/$pid getppid" calls
		kill -INT $trace
		wait $trace || true
		! grep -v "blue/$pid " calls || fail "another process was traced"
	END
}

test_another_namespaces_proc() {
	needs
	echo 'expect_status 1 "$PERF_BPF" run profile -p 1 --duration 1
	assert_contains err "shows the processes of another PID namespace"
	assert_contains err "mount -t proc"' >inside
	{ echo '. "$SRC/tests/tap.sh"; set -eu'; cat inside; } >inside.sh
	SRC=$SRC PERF_BPF=$PERF_BPF unshare --pid --fork --kill-child bash inside.sh
}

run_tests
