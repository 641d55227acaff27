// SPDX-License-Identifier: BSD-2-Clause
/*
 * A probe that was made by a line written to tracefs stays until another line
 * takes it away: the kernel ties it to no descriptor, so a process that is
 * killed leaves it behind. Somebody must outlive the process, and the kernel
 * offers nothing but another process: the janitor. It waits at a pipe whose
 * writing end is in the process; when the last copy of that is closed, it
 * writes the line and ends. A copy goes wherever the probe's perf event goes
 * (both are close-on-exec descriptors that a fork copies), so it is closed when
 * nobody can be using the probe any more, or nearly so: while the kernel says
 * EBUSY the janitor tries again.
 *
 * The process that calls the library did not ask for a child and must not
 * notice one:
 *
 * - The janitor is the child of a child that ends at once, so init inherits it
 *   (or the nearest subreaper, whose business this is). Both are cloned without
 *   an exit signal: no SIGCHLD, and waitpid() does not see them, but with __WALL
 *   or __WCLONE, which is how the first of them is waited for here.
 * - clone(2) is called past the C library: no handler of pthread_atfork() runs,
 *   and no lock of another thread is waited for. The children make system
 *   calls and nothing else.
 * - All signals are blocked in it, it has a session of its own, stands in "/",
 *   and holds no descriptor but its two: it keeps no terminal, pipe, socket or
 *   mount of the caller's. Its memory is the caller's, copied on write.
 * - It has the credentials that the caller had when it made the probe.
 *
 * What it cannot outlive: being killed itself (a service manager that kills a
 * whole control group with SIGKILL), and the end of its PID namespace. For
 * these the names of probes say whose they were, and who makes the next probe
 * takes the dead ones away (probe_events.c).
 */
#include "lib/sys/janitor.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* 5.9 */
#endif

enum {
	MAX_FDS = 1 << 20, /* where the kernel does not close ranges */
};

/* A child without an exit signal. All of clone's other arguments are 0, in any order. */
static pid_t clone_quietly(void)
{
	return (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
}

static void close_between(unsigned from, unsigned to)
{
	if (from > to || !syscall(SYS_close_range, from, to, 0U))
		return;
	for (unsigned fd = from; fd <= to && fd < MAX_FDS; fd++)
		syscall(SYS_close, fd);
}

static void close_others(unsigned a, unsigned b)
{
	const unsigned low = min_of(a, b), high = max_of(a, b);

	if (low)
		close_between(0, low - 1);
	close_between(low + 1, high - 1);
	close_between(high + 1, ~0U);
}

/* In the janitor: system calls only. Does not return. */
static void attend(int pipe_end, int fd, const char *text, size_t size)
{
	struct timespec pause = {0, 1000000};
	char c;

	close_others((unsigned)pipe_end, (unsigned)fd);
	syscall(SYS_setsid);
	syscall(SYS_chdir, "/");
	syscall(SYS_prctl, PR_SET_NAME, "perf-bpf-probes", 0, 0, 0);
	while (syscall(SYS_read, pipe_end, &c, 1) < 0 && errno == EINTR)
		;
	while (syscall(SYS_write, fd, text, size) < 0) {
		if (errno != EBUSY && errno != EINTR && errno != EAGAIN && errno != ENOMEM)
			break; /* ENOENT: it is gone already */
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 500000000)
			pause.tv_nsec *= 2;
	}
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

struct error *sys_janitor_start(int fd, const char *text, int *keep)
{
	const size_t size = strlen(text);
	sigset_t all, before;
	int ends[2], status = -1;

	if (pipe2(ends, O_CLOEXEC))
		return error_errno(errno, "cannot create a pipe");
	_cleanup_close_ int reading = ends[0], writing = ends[1];
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	const pid_t child = clone_quietly();
	if (!child) {
		const pid_t janitor = clone_quietly();

		if (!janitor)
			attend(reading, fd, text, size);
		syscall(SYS_exit_group, janitor < 0 ? errno : 0);
		__builtin_unreachable();
	}
	const int failed = child < 0 ? errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		while (waitpid(child, &status, __WALL) < 0 && errno == EINTR)
			;
	if (failed || status) {
		const int code = failed					    ? failed
				 : WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status)
									    : EAGAIN;
		return error_errno(code, "cannot start the process that cleans up after this one");
	}
	*keep = steal_fd(&writing);
	return NULL;
}
