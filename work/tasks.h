/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and threads that somebody named by -p and -t: that they are there, which threads they
 * have, and when all of them have ended.
 *
 *	struct tasks tasks = TASKS_INIT;
 *	TRY(tasks_add(&tasks, roots, "17,18", TASK_PROCESS));
 *	TRY(tasks_watch(&tasks, &fd));	// to poll for reading; then
 *	if (tasks_ended(&tasks)) …
 *	tasks_deinit(&tasks);
 */
#ifndef PB_WORK_TASKS_H
#define PB_WORK_TASKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/vec.h"
#include "lib/sys/proc.h"

enum task_kind {
	TASK_PROCESS, /* with all its threads: -p */
	TASK_THREAD,  /* -t */
};

struct task {
	enum task_kind kind;
	pid_t id;
	int fd; /* a pidfd, or of a thread its folder in procfs; -1: it has ended, or is not held */
};

struct tasks {
	VEC(struct task) list;
	int epoll_fd, timer_fd; /* -1: none */
};

#define TASKS_INIT                                                                                 \
	{                                                                                          \
		.epoll_fd = -1, .timer_fd = -1                                                     \
	}

void tasks_deinit(struct tasks *tasks);
#define _cleanup_tasks_ __attribute__((cleanup(tasks_deinit)))

/*
 * Adds those of a list "1,2,3"; NULL: none. EINVAL: it is not such a list; ESRCH: one of them is
 * not there, or has ended and nobody has waited for it yet.
 */
struct error *tasks_add(struct tasks *tasks, const struct sys_roots *roots, const char *list,
			enum task_kind kind);

/* Adds the processes that these users have now, without this one: names or ids, "alice,1000". */
struct error *tasks_add_users(struct tasks *tasks, const struct sys_roots *roots, const char *list);

/* Adds the ids of all their threads, each once. One that has ended by now has none. */
struct error *tasks_threads(const struct tasks *tasks, const struct sys_roots *roots,
			    struct sys_pids *tids);

/*
 * Warns of threads that they have by now and that are not among tids. Their events were not opened:
 * one that was started by a thread whose events were has inherited those, another one has none.
 */
void tasks_warn_of_new(const struct tasks *tasks, const struct sys_roots *roots,
		       const struct sys_pids *tids, const struct log *log);

/*
 * When their ids have been used to attach to them: ESRCH if one had ended, and its id is another's.
 * Only of the first 16 is that known.
 */
struct error *tasks_check(const struct tasks *tasks);

/* Watches for their end from now on. ESRCH: one has ended before. *fd is readable when
 * tasks_ended() is to be asked. */
struct error *tasks_watch(struct tasks *tasks, const struct sys_roots *roots, int *fd);

/* Whether all have ended: a process with its last thread. Not before tasks_watch(). */
bool tasks_ended(struct tasks *tasks);

#endif
