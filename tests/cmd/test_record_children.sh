#!/usr/bin/env bash
# record -e FILE.c: programs at probes see the calls of all threads and children, once each, and
# nobody else's.
. "$(dirname "$0")/../tap.sh"

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	command -v clang >/dev/null || skip "clang is not installed"
}

# "pbt_calls [FIFO]" waits for a line of FIFO and makes the calls that are given to it in order:
# main, threads, forked child, child after exec.
CALLS_MAIN=1 CALLS_THREADS=20 CALLS_FORKED=3 CALLS_EXEC=5
CALLS=$((CALLS_MAIN + CALLS_THREADS + CALLS_FORKED + CALLS_EXEC))
build_calls() {
	cat >pbt_calls.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#ifdef WITH_USDT
		#include <sys/sdt.h>
		#else
		#define DTRACE_PROBE1(provider, name, arg)
		#endif

		__attribute__((noinline)) void pbt_call(long number)
		{
			DTRACE_PROBE1(pbt, call, number);
			getsid(0);
			__asm__ volatile("" ::: "memory");
		}

		static void *thread(void *arg)
		{
			for (long i = 0; i < 10; i++)
				pbt_call(i);
			return arg;
		}

		static void child(char **argv)
		{
			const pid_t pid = fork();

			if (!pid) {
				for (long i = 0; i < 3; i++)
					pbt_call(i);
				execl(argv[0], argv[0], "leaf", NULL);
				_exit(1);
			}
			waitpid(pid, NULL, 0);
		}

		int main(int argc, char **argv)
		{
			pthread_t threads[2];
			char line;

			if (argc > 1 && !strcmp(argv[1], "leaf")) {
				for (long i = 0; i < 5; i++)
					pbt_call(i);
				return 0;
			}
			if (argc > 1 && !strcmp(argv[1], "forever"))
				for (;;)
					pbt_call(0);
			if (argc > 1 && read(open(argv[1], O_RDONLY), &line, 1) != 1)
				return 1;
			pbt_call(0);
			for (int i = 0; i < 2; i++)
				if (pthread_create(&threads[i], NULL, thread, NULL))
					return 1;
			for (int i = 0; i < 2; i++)
				pthread_join(threads[i], NULL);
			child(argv);
			return 0;
		}
	END
	gcc -g -O1 -pthread "$@" -o pbt_calls pbt_calls.c
}

# program NAME SECTION: NAME.bpf.c, which lets every call through
program() {
	cat >"$1.bpf.c" <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		SEC("$2")
		int pbt_child(void *ctx)
		{
			return 1;
		}

		char LICENSE[] SEC("license") = "GPL";
	END
}

# every_other NAME SECTION: the program lets the second of two runs through
every_other() {
	cat >"$1.bpf.c" <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		int runs;

		SEC("$2")
		int pbt_other(void *ctx)
		{
			return __sync_fetch_and_add(&runs, 1) & 1;
		}

		char LICENSE[] SEC("license") = "GPL";
	END
}

# while others make the same calls
record() {
	"$PERF_BPF" record -o t.data "$@" 2>log || fail "$(cat log)"
}

samples() {
	"$PERF_BPF" script -i t.data -F comm,tid,event >out
	wc -l <out
}

with_a_stranger() {
	./pbt_calls forever &
	stranger=$!
	soon grep -q pbt_calls "/proc/$stranger/comm"
}

test_threads_and_children() {
	need
	build_calls
	with_a_stranger
	program uprobe "uprobe/$PWD/pbt_calls:pbt_call"
	program definition "exec=$PWD/pbt_calls;pbt_call"
	program tracepoint "tracepoint/syscalls/sys_enter_getsid"
	for section in uprobe definition tracepoint; do
		record -e $section.bpf.c -- ./pbt_calls
		assert_equal "$section $(samples)" "$section $CALLS"
		! grep inherited log || fail "$(cat log)"
	done
	kill "$stranger"
}

test_usdt() {
	need
	[ -e /usr/include/sys/sdt.h ] || [ -e "/usr/include/$(uname -m)-linux-gnu/sys/sdt.h" ] ||
		skip "no <sys/sdt.h> (package systemtap-sdt-dev)"
	has bpf.cookie || skip "this kernel has no BPF cookies"
	build_calls -DWITH_USDT
	with_a_stranger
	cat >usdt.bpf.c <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/bpf_tracing.h>
		#include <bpf/usdt.bpf.h>

		SEC("usdt/$PWD/pbt_calls:pbt:call")
		int BPF_USDT(pbt_usdt, long number)
		{
			return number == 0;
		}

		char LICENSE[] SEC("license") = "GPL";
	END
	record -e usdt.bpf.c -- ./pbt_calls
	# the first of main, of both threads, and of the child before and after its exec
	assert_equal "$(samples)" 5
	kill "$stranger"
}

test_processes_that_run_already() {
	need
	build_calls
	with_a_stranger
	program uprobe "uprobe/$PWD/pbt_calls:pbt_call"
	for option in -p -t; do
		rm -f go
		mkfifo go
		./pbt_calls go &
		local pid=$!
		soon grep -q pbt_calls "/proc/$pid/comm"
		"$PERF_BPF" record -o t.data -e uprobe.bpf.c $option $pid 2>log &
		local recorder=$!
		soon waits_for_events "$recorder"
		echo >go
		wait "$pid"
		wait "$recorder" || fail "$(cat log)"
		assert_equal "$option $(samples)" "$option $CALLS"
	done
	kill "$stranger"
}

test_without_children() {
	need
	build_calls
	program uprobe "uprobe/$PWD/pbt_calls:pbt_call"
	record --no-inherit -e uprobe.bpf.c -- ./pbt_calls
	assert_equal "$(samples)" $CALLS_MAIN
	record --per-thread -e uprobe.bpf.c -- ./pbt_calls
	assert_equal "$(samples)" $CALLS_MAIN
}

# The events of a probe on all CPUs are as many probes for the kernel, which runs the program of
# each of them at every hit.
test_one_run_for_each_call() {
	need
	has bpf.cookie || skip "this kernel has no BPF cookies"
	build_calls
	every_other uprobe "uprobe/$PWD/pbt_calls:pbt_call"
	every_other definition "exec=$PWD/pbt_calls;pbt_call"
	for section in uprobe definition; do
		record -e $section.bpf.c -- ./pbt_calls
		assert_equal "$section $(samples)" "$section $((CALLS / 2))"
		record -a -e $section.bpf.c -- ./pbt_calls
		assert_equal "$section $(samples)" "$section $((CALLS / 2))"
	done
}

run_tests
