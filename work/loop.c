// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signals are read from a signalfd, which is the first descriptor that is watched: what ends the
 * loop is seen before anything else is done.
 *
 * A function may take out any descriptor while others of the same turn are still to be called, so
 * that what is taken out is only marked, and freed when the turn is over.
 */
#include "work/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/vec.h"
#include "work/patience.h"
#include "work/tasks.h"
#include "work/workload.h"

enum {
	EVENTS = 64, /* of one wait; more come with the next */
};

enum watch_kind {
	WATCH_FD,     /* of the caller */
	WATCH_TIMER,  /* ours, as the next */
	WATCH_SIGNAL, /* a signalfd */
};

struct watch {
	int fd; /* -1: taken out */
	enum watch_kind kind;
	uint32_t ready;
	loop_fn *fn;
	void *ctx;
};

struct loop {
	int epoll_fd, signal_fd;
	VEC(struct watch *) watches;
	bool any_out;
	sigset_t old_mask, own_signals; /* loop_on_signal() */
	struct sigaction old_pipe, old_child;
	bool signals_changed;
	struct workload workload;
	const char *name; /* of the workload */
	void (*before_reap)(void *ctx, pid_t pid);
	void *reap_ctx;
	struct tasks *tasks;
	bool workload_ended, ended, keeps_stdout, has_patience;
	int status, signal;
};

static void reap(struct loop *loop)
{
	struct workload *w = &loop->workload;
	siginfo_t info = {0};

	if (!w->pid || w->reaped ||
	    waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return;
	if (loop->before_reap)
		loop->before_reap(loop->reap_ctx, w->pid);
	if (waitpid(w->pid, &loop->status, WNOHANG) == w->pid)
		w->reaped = loop->workload_ended = loop->ended = true;
}

static struct error *on_signals(void *ctx, uint32_t events)
{
	struct loop *loop = ctx;
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap(loop);
			continue;
		}
		if (!loop->signal)
			loop->signal = (int)info.ssi_signo;
		loop->ended = true;
	}
	return NULL;
}

static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

/*
 * A blocked signal reaches the signalfd even if it is ignored. So SIGHUP is left alone for
 * nohup(1). SIGINT is not: a shell without job control ignores it for "command &", and scripts
 * send it there to end us, as they end perf. SIGCHLD must not be ignored: the kernel would reap
 * the workload itself, and nothing would report its end.
 */
static struct error *begin_signals(struct loop *loop)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &mask, &loop->old_mask))
		return error_errno(errno, "cannot block signals");
	sigaction(SIGPIPE, &ignore, &loop->old_pipe);
	sigaction(SIGCHLD, &by_default, &loop->old_child);
	loop->signals_changed = true;
	loop->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signal_fd < 0)
		return error_errno(errno, "cannot create a signalfd");
	return loop_watch(loop, loop->signal_fd, on_signals, loop);
}

static void end_signals(struct loop *loop)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct signalfd_siginfo info;

	if (!loop->signals_changed)
		return;
	/* Those that asked us to end were answered. */
	while (loop->signal_fd >= 0 && read(loop->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	sigaction(SIGPIPE, &loop->old_pipe, NULL);
	sigaction(SIGCHLD, &loop->old_child, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&loop->own_signals, sig) == 1)
			sigaction(sig, &ignore, NULL);
	sigprocmask(SIG_SETMASK, &loop->old_mask, NULL);
}

struct error *loop_new(struct loop **out)
{
	_cleanup_(loop_freep) struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return error_nomem();
	loop->signal_fd = -1;
	sigemptyset(&loop->own_signals);
	loop->workload = (struct workload)WORKLOAD_INIT;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return error_errno(errno, "cannot wait for events");
	TRY(begin_signals(loop));
	*out = steal_ptr(loop);
	return NULL;
}

void loop_free(struct loop *loop)
{
	struct watch **watch;

	if (!loop)
		return;
	loop_kill(loop);
	loop_stay_busy(loop);
	vec_for_each (watch, &loop->watches) {
		if ((*watch)->kind != WATCH_FD)
			closep(&(*watch)->fd);
		free(*watch);
	}
	vec_deinit(&loop->watches);
	end_signals(loop);
	closep(&loop->signal_fd);
	closep(&loop->epoll_fd);
	free(loop);
}

struct error *loop_end_if_busy(struct loop *loop)
{
	TRY(patience_begin());
	loop->has_patience = true;
	patience_watch(true);
	return NULL;
}

void loop_stay_busy(struct loop *loop)
{
	if (loop->has_patience)
		patience_end();
	loop->has_patience = false;
}

/* ---- descriptors and timers ---- */

static struct error *add(struct loop *loop, int fd, loop_fn *fn, void *ctx, enum watch_kind kind)
{
	_cleanup_free_ struct watch *watch = calloc(1, sizeof(*watch));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	if (!watch || !vec_reserve(&loop->watches, loop->watches.n + 1))
		return error_nomem();
	*watch = (struct watch){.fd = fd, .kind = kind, .fn = fn, .ctx = ctx};
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(errno, "cannot wait for events");
	loop->watches.v[loop->watches.n++] = steal_ptr(watch);
	return NULL;
}

struct error *loop_watch(struct loop *loop, int fd, loop_fn *fn, void *ctx)
{
	return add(loop, fd, fn, ctx, WATCH_FD);
}

void loop_unwatch(struct loop *loop, int fd)
{
	struct watch **watch;

	vec_for_each (watch, &loop->watches) {
		if ((*watch)->fd != fd)
			continue;
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		(*watch)->fd = -1;
		loop->any_out = true;
		return;
	}
}

static void sweep(struct loop *loop)
{
	size_t n = 0;

	for (size_t i = 0; loop->any_out && i < loop->watches.n; i++) {
		if (loop->watches.v[i]->fd < 0)
			free(loop->watches.v[i]);
		else
			loop->watches.v[n++] = loop->watches.v[i];
	}
	if (loop->any_out)
		loop->watches.n = n;
	loop->any_out = false;
}

struct error *loop_timer(struct loop *loop, loop_fn *fn, void *ctx, int *timer)
{
	_cleanup_close_ int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return error_errno(errno, "cannot create a timer");
	TRY(add(loop, fd, fn, ctx, WATCH_TIMER));
	*timer = fd;
	fd = -1;
	return NULL;
}

struct error *loop_timer_set(int timer, uint64_t ns, bool again)
{
	struct itimerspec spec = {
		.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000},
	};

	if (again)
		spec.it_interval = spec.it_value;
	return timerfd_settime(timer, 0, &spec, NULL) ? error_errno(errno, "cannot set a timer")
						      : NULL;
}

struct error *loop_on_signal(struct loop *loop, int sig, loop_fn *fn, void *ctx)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, sig);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return error_errno(errno, "cannot block signals");
	_cleanup_close_ int fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_errno(errno, "cannot create a signalfd");
	TRY(add(loop, fd, fn, ctx, WATCH_SIGNAL));
	sigaddset(&loop->own_signals, sig);
	fd = -1;
	return NULL;
}

/* ---- what ends it ---- */

static struct error *on_end(void *ctx, uint32_t events)
{
	loop_end(ctx);
	return NULL;
}

struct error *loop_duration(struct loop *loop, uint64_t ms)
{
	int timer;

	if (!ms)
		return NULL;
	TRY(loop_timer(loop, on_end, loop, &timer));
	return loop_timer_set(timer, ms * 1000000, false);
}

static struct error *on_tasks(void *ctx, uint32_t events)
{
	struct loop *loop = ctx;

	loop->ended |= tasks_ended(loop->tasks);
	return NULL;
}

struct error *loop_tasks(struct loop *loop, struct tasks *tasks)
{
	int fd;

	TRY(tasks_watch(tasks, NULL, &fd));
	loop->tasks = tasks;
	return loop_watch(loop, fd, on_tasks, loop);
}

void loop_end(struct loop *loop)
{
	loop->ended = true;
}

bool loop_ended(const struct loop *loop)
{
	return loop->ended;
}

int loop_signal(const struct loop *loop)
{
	return loop->signal;
}

/* ---- the workload ---- */

void loop_keep_stdout(struct loop *loop)
{
	loop->keeps_stdout = true;
}

struct error *loop_prepare(struct loop *loop, char *const *argv)
{
	loop->name = argv[0];
	return workload_prepare(&loop->workload, argv, &loop->old_mask,
				loop->keeps_stdout ? STDERR_FILENO : STDOUT_FILENO);
}

pid_t loop_workload(const struct loop *loop)
{
	return loop->workload.pid;
}

struct error *loop_start(struct loop *loop, const char *doing)
{
	return loop->workload.pid ? workload_start(&loop->workload, loop->name, doing) : NULL;
}

void loop_before_reap(struct loop *loop, void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	loop->before_reap = fn;
	loop->reap_ctx = ctx;
}

bool loop_workload_status(const struct loop *loop, int *status)
{
	*status = loop->status;
	return loop->workload_ended;
}

void loop_kill(struct loop *loop)
{
	int status; /* what we end ourselves says nothing of the workload */

	workload_end(&loop->workload, &status);
}

/* ---- waiting ---- */

static struct error *call(struct loop *loop, struct watch *watch)
{
	const uint32_t ready = watch->ready;
	struct signalfd_siginfo info; /* a timer's ticks need less */
	const size_t size = watch->kind == WATCH_TIMER ? sizeof(uint64_t) : sizeof(info);

	watch->ready = 0;
	if (watch->fd < 0 || !ready || loop->ended)
		return NULL;
	if (watch->kind != WATCH_FD && read(watch->fd, &info, size) < 0)
		return errno == EAGAIN ? NULL : error_errno(errno, "cannot read a timer");
	return watch->fn(watch->ctx, ready);
}

struct error *loop_turn(struct loop *loop, int timeout_ms)
{
	struct epoll_event events[EVENTS];
	struct error *err = NULL;

	if (loop->has_patience)
		patience_watch(false);
	const int n = epoll_wait(loop->epoll_fd, events, EVENTS, timeout_ms);
	const int code = errno;
	if (loop->has_patience) {
		patience_set_workload(loop->workload.reaped ? 0 : loop->workload.pid);
		patience_watch(true);
	}
	errno = code;
	if (n < 0 && errno != EINTR)
		return error_errno(errno, "cannot wait for events");
	for (int i = 0; i < n; i++)
		((struct watch *)events[i].data.ptr)->ready = events[i].events;
	/* by number: fn may add some, which moves them */
	for (size_t i = 0; n > 0 && !err && i < loop->watches.n; i++)
		err = call(loop, loop->watches.v[i]);
	sweep(loop);
	return err;
}
