// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process is watched by a pidfd, which becomes readable at its end, even as a zombie. A thread
 * has one since 6.9 only; its folder in procfs is held open instead and looked at a few times a
 * second: of a thread that has ended nothing can be read there, whoever has its id by then. The
 * first ones are held from the moment they are named, so that it is noticed if an id has become
 * another's before anything was attached.
 */
#include "work/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "work/user_ids.h"

#ifndef __NR_pidfd_send_signal
#define __NR_pidfd_send_signal 424
#endif

enum {
	LOOK_NS = 200000000, /* so often: whether threads have ended */
	OPEN_AT_ONCE = 16,   /* so many are held from the beginning; descriptors are limited */
};

void tasks_deinit(struct tasks *tasks)
{
	struct task *task;

	vec_for_each (task, &tasks->list)
		closep(&task->fd);
	vec_deinit(&tasks->list);
	closep(&tasks->epoll_fd);
	closep(&tasks->timer_fd);
	tasks->epoll_fd = tasks->timer_fd = -1;
}

static const char *noun(enum task_kind kind)
{
	return kind == TASK_PROCESS ? "process" : "thread";
}

static struct error *not_there(enum task_kind kind, pid_t id)
{
	return error_hint(error_new(ESRCH, "%s %d does not exist", noun(kind), id),
			  "it may have ended; 'ps -eLf' shows processes and threads");
}

/* Of a task's states: it does nothing any more, though nobody has waited for it. */
static bool is_end(char state)
{
	return state == 'Z' || state == 'X';
}

static struct error *task_open(const struct sys_roots *roots, struct task *task)
{
	if (task->kind == TASK_PROCESS) {
		task->fd = (int)syscall(SYS_pidfd_open, task->id, 0);
	} else {
		_cleanup_free_ char *path = text_format(
			"%s/%d", roots ? roots->proc : sys_roots_default.proc, (int)task->id);

		if (!path)
			return error_nomem();
		task->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (task->fd >= 0)
		return NULL;
	if (errno == ESRCH || errno == ENOENT)
		return not_there(task->kind, task->id);
	return error_errno(errno, "cannot watch %s %d", noun(task->kind), task->id);
}

static struct error *task_add(struct tasks *tasks, const struct sys_roots *roots, pid_t id,
			      enum task_kind kind)
{
	_cleanup_pids_ struct sys_pids tids = {0};
	struct sys_proc_status status;
	struct task *task;
	struct error *err = sys_proc_status(roots, 0, id, &status);

	/* a process whose first thread has ended may have others */
	if (!err && kind == TASK_PROCESS && is_end(status.state))
		err = sys_proc_tids(roots, id, &tids);
	if (err) {
		const int code = err->code;

		error_free(err);
		if (code != ESRCH && code != ENOENT)
			return error_errno(code, "cannot read the status of %s %d", noun(kind), id);
		return not_there(kind, id);
	}
	if (is_end(status.state) && tids.n <= 1)
		return not_there(kind, id);
	if (kind == TASK_PROCESS)
		id = status.tgid;
	vec_for_each (task, &tasks->list)
		if (task->kind == kind && task->id == id)
			return NULL;
	task = vec_push(&tasks->list);
	if (!task)
		return error_nomem();
	*task = (struct task){.kind = kind, .id = id, .fd = -1};
	if (tasks->list.n > OPEN_AT_ONCE)
		return NULL;
	/* what fails now is tried again by tasks_watch() */
	err = task_open(roots, task);
	if (!err || err->code != ESRCH) {
		error_free(err);
		return NULL;
	}
	tasks->list.n--;
	return err;
}

struct error *tasks_add(struct tasks *tasks, const struct sys_roots *roots, const char *list,
			enum task_kind kind)
{
	if (list)
		TRY(sys_proc_check_ns(roots));
	for (const char *p = list; p;) {
		char *end;

		errno = 0;
		const long id = strtol(p, &end, 10);
		if (end == p || *p < '0' || *p > '9' || errno || id <= 0 || id > INT_MAX ||
		    (*end && *end != ','))
			return error_hint(error_new(EINVAL, "-%c: '%s' is not a list of %s ids",
						    kind == TASK_PROCESS ? 'p' : 't', list,
						    noun(kind)),
					  "separate numbers by commas: 17,18");
		TRY(task_add(tasks, roots, (pid_t)id, kind));
		p = *end ? end + 1 : NULL;
	}
	return NULL;
}

static bool is_among(const struct user_ids *users, uid_t uid)
{
	const uint32_t *user;

	vec_for_each (user, users)
		if (*user == uid)
			return true;
	return false;
}

static struct error *add_users(struct tasks *tasks, const struct sys_roots *roots,
			       const struct user_ids *users)
{
	_cleanup_pids_ struct sys_pids pids = {0};
	char path[PATH_MAX];
	const pid_t *pid;
	struct stat st;

	TRY(sys_proc_pids(roots, &pids));
	vec_for_each (pid, &pids) {
		if (*pid == getpid())
			continue;
		snprintf(path, sizeof(path), "%s/%d", (roots ? roots : &sys_roots_default)->proc,
			 *pid);
		/* it may have ended since */
		if (stat(path, &st) || !is_among(users, st.st_uid))
			continue;
		struct error *err = task_add(tasks, roots, *pid, TASK_PROCESS);
		if (err && err->code != ESRCH)
			return err;
		error_free(err);
	}
	return NULL;
}

struct error *tasks_add_users(struct tasks *tasks, const struct sys_roots *roots, const char *list)
{
	struct user_ids users = {0};
	struct error *err;

	if (!list)
		return NULL;
	err = sys_proc_check_ns(roots);
	if (!err)
		err = error_prefix(user_ids_parse(list, &users), "-u");
	if (!err)
		err = add_users(tasks, roots, &users);
	vec_deinit(&users);
	return err;
}

/* seen: those that are in it. */
static struct error *tid_add(struct sys_pids *tids, struct u64map *seen, pid_t tid)
{
	if (u64map_get(seen, (uint64_t)tid))
		return NULL;
	pid_t *it = vec_push(tids);
	if (!it || !u64map_put(seen, (uint64_t)tid, seen))
		return error_nomem();
	*it = tid;
	return NULL;
}

static struct error *task_threads(const struct task *task, const struct sys_roots *roots,
				  struct sys_pids *tids, struct u64map *seen)
{
	_cleanup_pids_ struct sys_pids all = {0};

	if (task->kind == TASK_THREAD)
		return tid_add(tids, seen, task->id);
	struct error *err = sys_proc_tids(roots, task->id, &all);
	if (err && err->code != ESRCH)
		return err;
	error_free(err);
	for (size_t i = 0; i < all.n; i++)
		TRY(tid_add(tids, seen, all.v[i]));
	return NULL;
}

struct error *tasks_threads(const struct tasks *tasks, const struct sys_roots *roots,
			    struct sys_pids *tids)
{
	struct u64map seen = {0};
	const struct task *task;
	struct error *err = NULL;

	vec_for_each (task, &tasks->list)
		if (!err)
			err = task_threads(task, roots, tids, &seen);
	u64map_deinit(&seen);
	return err;
}

/* How many of all are not among those that are known. */
static struct error *count_new(const struct sys_pids *all, const struct sys_pids *known, size_t *n)
{
	struct u64map seen = {0};
	bool ok = true;
	const pid_t *tid;

	vec_for_each (tid, known)
		ok = ok && u64map_put(&seen, (uint64_t)*tid, &seen);
	vec_for_each (tid, all)
		*n += !u64map_get(&seen, (uint64_t)*tid);
	u64map_deinit(&seen);
	return ok ? NULL : error_nomem();
}

void tasks_warn_of_new(const struct tasks *tasks, const struct sys_roots *roots,
		       const struct sys_pids *tids, const struct log *log)
{
	_cleanup_pids_ struct sys_pids now = {0};
	size_t n = 0;
	struct error *err = tasks_threads(tasks, roots, &now);

	if (!err)
		err = count_new(&now, tids, &n);
	if (err)
		log_warn(log, "cannot tell whether threads were started meanwhile: %s", err->msg);
	else if (n)
		log_warn(log,
			 "%zu threads were started while events were being opened: some of them "
			 "may be missing",
			 n);
	error_free(err);
}

static struct error *timer_begin(struct tasks *tasks)
{
	const struct itimerspec spec = {.it_value.tv_nsec = LOOK_NS,
					.it_interval.tv_nsec = LOOK_NS};
	struct epoll_event event = {.events = EPOLLIN};

	tasks->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (tasks->timer_fd < 0 || timerfd_settime(tasks->timer_fd, 0, &spec, NULL) ||
	    epoll_ctl(tasks->epoll_fd, EPOLL_CTL_ADD, tasks->timer_fd, &event))
		return error_errno(errno, "cannot set a timer");
	return NULL;
}

/* "17 (comm) S …": the state, which is behind whatever the name holds; 0: it is not there. */
static char thread_state(int folder)
{
	_cleanup_close_ int fd = openat(folder, "stat", O_RDONLY | O_CLOEXEC);
	char text[128];
	const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = 0;
	const char *paren = strrchr(text, ')');
	return paren && paren[1] ? paren[2] : 0;
}

static bool has_ended(const struct task *task)
{
	struct pollfd end = {.fd = task->fd, .events = POLLIN};

	if (task->kind == TASK_PROCESS)
		return poll(&end, 1, 0) == 1;
	const char state = thread_state(task->fd);
	return !state || is_end(state);
}

/* Somebody has waited for it, so its id may be another's by now. */
static bool has_gone(const struct task *task)
{
	if (task->kind == TASK_THREAD)
		return !thread_state(task->fd);
	return syscall(__NR_pidfd_send_signal, task->fd, 0, NULL, 0) && errno == ESRCH;
}

struct error *tasks_check(const struct tasks *tasks)
{
	const struct task *task;

	vec_for_each (task, &tasks->list)
		if (task->fd >= 0 && has_gone(task) && !kill(task->id, 0))
			return error_new(ESRCH, "%s %d has ended, and its id is another one's now",
					 noun(task->kind), task->id);
	return NULL;
}

struct error *tasks_watch(struct tasks *tasks, const struct sys_roots *roots, int *fd)
{
	struct task *task;

	tasks->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (tasks->epoll_fd < 0)
		return error_errno(errno, "cannot wait for the end of processes");
	vec_for_each (task, &tasks->list) {
		struct epoll_event event = {.events = EPOLLIN};

		if (task->fd < 0)
			TRY(task_open(roots, task));
		else if (has_gone(task))
			return not_there(task->kind, task->id);
		if (task->kind == TASK_THREAD) {
			if (tasks->timer_fd < 0)
				TRY(timer_begin(tasks));
		} else if (epoll_ctl(tasks->epoll_fd, EPOLL_CTL_ADD, task->fd, &event)) {
			return error_errno(errno, "cannot watch process %d", task->id);
		}
	}
	*fd = tasks->epoll_fd;
	return NULL;
}

bool tasks_ended(struct tasks *tasks)
{
	struct task *task;
	bool any = false;
	uint64_t ticks;

	if (tasks->timer_fd >= 0 && read(tasks->timer_fd, &ticks, sizeof(ticks)) < 0)
		errno = 0; /* it was looked at before its time */
	vec_for_each (task, &tasks->list) {
		if (task->fd >= 0 && has_ended(task)) {
			if (task->kind == TASK_PROCESS)
				epoll_ctl(tasks->epoll_fd, EPOLL_CTL_DEL, task->fd, NULL);
			closep(&task->fd);
			task->fd = -1;
		}
		any |= task->fd >= 0;
	}
	return !any;
}
