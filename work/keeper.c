// SPDX-License-Identifier: BSD-2-Clause
#include "work/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/vec.h"
#include "lib/sys/descriptors.h"

struct kept_process {
	struct late_process opts;
	int other; /* of the two sockets, that of the process; -1: closed */
	pid_t pid; /* 0: it does not run */
};

struct keeper {
	pid_t pid; /* 0: it was not forked */
	VEC(struct kept_process) v;
};

static void close_end(int *fd)
{
	closep(fd);
	*fd = -1;
}

/* ---- in the keeper ---- */

static void on_child(int number)
{
}

/* Does not return. */
static void become(const struct kept_process *process)
{
	const int keep[] = {process->other, process->opts.keep};

	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, process->opts.name, 0, 0, 0);
	descriptors_close_others(keep, ARRAY_SIZE(keep));
	process->opts.serve(process->opts.ctx, process->other);
	_exit(0);
}

static void start(struct kept_process *process)
{
	const pid_t pid = fork();

	if (!pid)
		become(process);
	if (pid < 0)
		close_end(&process->other);
	process->pid = pid < 0 ? 0 : pid;
}

/* Those that have ended. */
static void reap(struct keeper *keeper)
{
	struct kept_process *process;
	int status;

	vec_for_each (process, &keeper->v) {
		if (!process->pid || waitpid(process->pid, &status, WNOHANG) != process->pid)
			continue;
		process->pid = 0;
		if (!process->opts.ended ||
		    !process->opts.ended(process->opts.ctx, process->other, status))
			close_end(&process->other);
	}
}

/* The sockets of processes that do not run; false: none is left, and no process. */
static bool wait_for_messages(struct keeper *keeper, struct pollfd *fds, const sigset_t *mask)
{
	bool any = false;

	for (size_t i = 0; i < keeper->v.n; i++) {
		const struct kept_process *process = &keeper->v.v[i];

		fds[i] =
			(struct pollfd){.fd = process->pid ? -1 : process->other, .events = POLLIN};
		any |= process->other >= 0;
	}
	if (any && ppoll(fds, keeper->v.n, NULL, mask) < 0)
		for (size_t i = 0; i < keeper->v.n; i++)
			fds[i].revents = 0; /* a process has ended */
	return any;
}

/* Does not return. */
static void keep(struct keeper *keeper, struct pollfd *fds, int *needed)
{
	const struct sigaction action = {.sa_handler = on_child};
	sigset_t all, but_child;

	sigfillset(&all);
	but_child = all;
	sigdelset(&but_child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(SIGCHLD, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "perf-bpf-keeper", 0, 0, 0);
	for (size_t i = 0; i < keeper->v.n; i++) {
		needed[2 * i] = keeper->v.v[i].other;
		needed[2 * i + 1] = keeper->v.v[i].opts.keep;
	}
	/* Others wait for the end of the command at sockets of theirs. */
	descriptors_close_others(needed, 2 * keeper->v.n);
	while (wait_for_messages(keeper, fds, &but_child)) {
		reap(keeper);
		for (size_t i = 0; i < keeper->v.n; i++) {
			if (fds[i].revents & (POLLHUP | POLLERR))
				close_end(&keeper->v.v[i].other);
			else if (fds[i].revents & POLLIN)
				start(&keeper->v.v[i]);
		}
	}
	_exit(0);
}

/* ---- in the command ---- */

struct error *keeper_new(struct keeper **out)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return error_nomem();
	*out = keeper;
	return NULL;
}

struct error *keeper_add(struct keeper *keeper, const struct late_process *process, int *socket)
{
	struct kept_process *kept = vec_push(&keeper->v);
	int pair[2];

	if (!kept)
		return error_nomem();
	*kept = (struct kept_process){.opts = *process, .other = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error_errno(errno, "cannot create sockets");
	*socket = pair[0];
	kept->other = pair[1];
	return NULL;
}

struct error *keeper_start(struct keeper *keeper)
{
	_cleanup_free_ struct pollfd *fds = calloc(keeper->v.n + 1, sizeof(*fds));
	_cleanup_free_ int *needed = calloc(2 * keeper->v.n + 1, sizeof(*needed));
	struct kept_process *process;

	if (!fds || !needed)
		return error_nomem();
	if (!keeper->v.n)
		return NULL;
	keeper->pid = fork();
	if (!keeper->pid)
		keep(keeper, fds, needed);
	const int code = errno;
	vec_for_each (process, &keeper->v)
		close_end(&process->other);
	if (keeper->pid < 0) {
		keeper->pid = 0;
		return error_errno(code, "cannot fork the process that starts others");
	}
	return NULL;
}

void keeper_free(struct keeper *keeper)
{
	struct kept_process *process;

	if (!keeper)
		return;
	vec_for_each (process, &keeper->v)
		close_end(&process->other);
	vec_deinit(&keeper->v);
	if (keeper->pid)
		while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(keeper);
}
