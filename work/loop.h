/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command that goes on until something ends it has in common with the others: one place
 * where it waits, for descriptors, timers, signals and its workload. Nothing runs in a signal
 * handler.
 *
 *	struct loop *loop;
 *	TRY(loop_new(&loop));		// signals are ours from here on
 *	TRY(loop_prepare(loop, argv));	// the workload has a pid, and waits
 *	TRY(loop_watch(loop, fd, on_ready, ctx));
 *	TRY(loop_start(loop, "run"));
 *	while (!loop_ended(loop))
 *		TRY(loop_turn(loop, -1));
 *	loop_free(loop);
 *
 * It is ended by SIGINT, SIGTERM and SIGHUP, by the workload's end, by the end of tasks, by a
 * duration, and by loop_end().
 */
#ifndef PB_WORK_LOOP_H
#define PB_WORK_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

struct loop;
struct tasks;

/* An error ends the turn. events: EPOLLIN, EPOLLHUP, EPOLLERR. */
typedef struct error *loop_fn(void *ctx, uint32_t events);

/*
 * Blocks SIGINT, SIGTERM, SIGHUP (unless it is ignored) and SIGCHLD, and ignores SIGPIPE, until
 * loop_free() restores all of it; signals that have come by then are dropped. One at a time.
 */
struct error *loop_new(struct loop **out);
/* Also ends a workload that still runs, by SIGTERM. */
void loop_free(struct loop *loop);
/*
 * From now on a signal ends the process if it does not end the loop within a second, since that is
 * busy: see work/patience.h. The workload gets SIGTERM. For commands that lose nothing by it.
 */
struct error *loop_end_if_busy(struct loop *loop);
/* Not any more. */
void loop_stay_busy(struct loop *loop);
DEFINE_FREEP(struct loop, loop_free)

/*
 * A descriptor that is the caller's. Of several that are ready fn is called in the order in which
 * they were added. It may be taken out by any fn, and must be before it is closed.
 */
struct error *loop_watch(struct loop *loop, int fd, loop_fn *fn, void *ctx);
void loop_unwatch(struct loop *loop, int fd);

/* A timer, which is not set yet. *timer names it; the loop frees it. */
struct error *loop_timer(struct loop *loop, loop_fn *fn, void *ctx, int *timer);
/* fn is called in so many ns, and each time again if `again`; 0: never. */
struct error *loop_timer_set(int timer, uint64_t ns, bool again);

/*
 * fn is called when this signal has come, once for several that come at the same time. It is
 * ignored when the loop is freed, so that one that comes late does not end the process.
 */
struct error *loop_on_signal(struct loop *loop, int sig, loop_fn *fn, void *ctx);

/* Ends after so long; 0: does nothing. */
struct error *loop_duration(struct loop *loop, uint64_t ms);
/* Ends when all of them have ended. They are borrowed. */
struct error *loop_tasks(struct loop *loop, struct tasks *tasks);

/* The workload's standard output is standard error: ours has the results. Before loop_prepare(). */
void loop_keep_stdout(struct loop *loop);
/* Forks a workload; argv as for execvp(3), borrowed. */
struct error *loop_prepare(struct loop *loop, char *const *argv);
/* 0: there is none. */
pid_t loop_workload(const struct loop *loop);
/* Begins it; see workload_start(). Without one nothing happens. */
struct error *loop_start(struct loop *loop, const char *doing);
/* Called once, when it has ended but can still be looked at in procfs. */
void loop_before_reap(struct loop *loop, void (*fn)(void *ctx, pid_t pid), void *ctx);
/* Its status, as waitpid(2) gives it; false: it did not end by itself. */
bool loop_workload_status(const struct loop *loop, int *status);
/* Ends it by SIGTERM, if it runs. */
void loop_kill(struct loop *loop);

void loop_end(struct loop *loop);
bool loop_ended(const struct loop *loop);
/* The first signal that ended it; 0: none. */
int loop_signal(const struct loop *loop);

/*
 * Waits until something is ready or timeout_ms are over (-1: as long as it takes), and calls what
 * is to be called. Once something has ended the loop, nothing else is called in that turn.
 */
struct error *loop_turn(struct loop *loop, int timeout_ms);

#endif
