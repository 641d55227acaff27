#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace of calls that a signal without a handler interrupts, and that the kernel goes on with
# by restart_syscall: a stopped thread in poll and nanosleep.
. "$(dirname "$0")/../tap.sh"

# A child is stopped and continued twice inside of its call. Then poll finds what it waited for, and
# nanosleep ends by a signal with a handler.
ready() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbr_work.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <poll.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>

		static void on_signal(int sig) {}

		/* until it sleeps in this call: the file says "running" while it does not sleep */
		static void wait_for_call(int pid, long nr)
		{
			char path[64], text[64];

			snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
			for (;;) {
				int fd = open(path, O_RDONLY);
				ssize_t n = read(fd, text, sizeof(text) - 1);

				close(fd);
				if (n <= 0)
					exit(1);
				text[n] = 0;
				if (text[0] != 'r' && atol(text) == nr)
					return;
				usleep(1000);
			}
		}

		int main(int argc, char **argv)
		{
			const int polls = !strcmp(argv[1], "poll");
			int fds[2], status;

			if (pipe(fds))
				return 1;
			const int parent = getpid(), pid = fork();
			if (!pid) {
				struct pollfd p = {.fd = fds[0], .events = POLLIN};
				struct timespec t = {.tv_sec = 600};

				prctl(PR_SET_PDEATHSIG, SIGKILL);
				if (getppid() != parent)
					return 1;
				signal(SIGUSR1, on_signal);
				return polls ? syscall(SYS_poll, &p, 1, 600000) != 1
					     : syscall(SYS_nanosleep, &t, &t) != -1;
			}
			for (int i = 0; i < 2; i++) {
				wait_for_call(pid, i ? SYS_restart_syscall : polls ? SYS_poll : SYS_nanosleep);
				kill(pid, SIGSTOP);
				if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
					return 1;
				kill(pid, SIGCONT);
			}
			wait_for_call(pid, SYS_restart_syscall);
			if (polls ? write(fds[1], "x", 1) != 1 : kill(pid, SIGUSR1))
				return 1;
			return waitpid(pid, &status, 0) != pid || status;
		}
	END
	gcc -O1 -o pbr_work pbr_work.c || skip "cannot build the workload: this machine has no poll(2)"
}

trace() { # CALL OPTION...: the lines are in ./lines
	expect_status 0 "$PERF_BPF" trace --log lines -e "$1,restart_syscall" "${@:2}" -- ./pbr_work "$1"
}

# The calls and their results, without what depends on the time.
results() { sed -E 's/^.*[:] [a-z_]+\/[0-9]+ //; s/^\[pid +[0-9]+\] //; s/\(.*\) += /() = /' lines | cut -d' ' -f1-4; }

test_poll() {
	ready
	trace poll
	assert_equal "$(results)" "poll() = ? ERESTART_RESTARTBLOCK
restart_syscall() = ? ERESTART_RESTARTBLOCK
restart_syscall() = 1"
}

test_nanosleep() {
	ready
	trace nanosleep
	assert_equal "$(results)" "nanosleep() = ? ERESTART_RESTARTBLOCK
restart_syscall() = ? ERESTART_RESTARTBLOCK
restart_syscall() = ? ERESTART_RESTARTBLOCK"
	# what is left of the 600 s was written when it was interrupted
	assert_equal "$(grep -cE 'nanosleep\(rqtp: \{ \.tv_sec: 600, .*rmtp: \{ \.tv_sec: [0-9]+, ' lines)" 1
}

test_as_strace() {
	ready
	command -v strace >/dev/null || skip "strace is not installed"
	trace poll --strace
	# A file for each process (-ff): in a common one strace breaks a call in two where another process
	# has a line meanwhile. That of the child alone: the SIGCHLD of a process that is traced interrupts
	# the naps of the parent, if it comes so late. Without the lines of signals, and how the columns are
	# filled.
	strace -ff -o theirs -e trace=poll,restart_syscall ./pbr_work poll || skip "strace: $(head -1 theirs.*)"
	sed -E 's/ += / = /' "$(grep -l '^poll' theirs.*)" | grep -E '^(poll|restart)' >theirs.calls
	sed -E 's/^\[pid +[0-9]+\] //; s/ += / = /' lines | grep -E '^(poll|restart)' >ours.calls
	diff -u theirs.calls ours.calls || fail "strace (-) and we (+) differ"
}

test_sums() {
	ready
	trace poll -s
	assert_equal "$(sed -nE 's/^ +(poll|restart_syscall) +([0-9]+) +([0-9]+) .*/\1 \2 \3/p' lines | sort)" "poll 1 1
restart_syscall 2 1"
}

test_json() {
	ready
	expect_status 0 "$PERF_BPF" trace --json -e poll,restart_syscall -- ./pbr_work poll
	assert_equal "$(grep -c '"restarted":true' out)" 2
	assert_equal "$(grep '"syscall":"poll"' out | grep -c restarted || true)" 0
}

run_tests
