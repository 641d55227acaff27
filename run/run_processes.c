// SPDX-License-Identifier: BSD-2-Clause
/*
 * Following processes: what they map names the addresses of stacks, and is taken in while they
 * run. What nothing refers to any more is forgotten.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/hash.h"
#include "perf/live/live.h"
#include "run/run_state.h"
#include "work/loop.h"

enum {
	FOLLOW_MS = 50, /* a process must still be there when its files are opened */
};

/* The last time that the command can be found. */
static void see_workload(void *ctx, pid_t pid)
{
	struct run *run = ctx;

	run_names_see(run->names, pid);
}

struct error *run_begin_following(struct run *run)
{
	for (size_t i = 0; i < run->maps.n && !run->live; i++)
		if (collector_needs_frames(run->maps.v[i]->collector)) {
			TRY(run_names_follow(run->names, run->opts.log));
			run->live = run_names_live(run->names);
		}
	return NULL;
}

struct referred {
	struct u64map pids; /* in the keys of maps */
	uint64_t drained;
};

static void refer(void *ctx, uint32_t pid)
{
	struct referred *r = ctx;

	/* no memory: it may be forgotten too early, and its addresses stay numbers */
	u64map_put(&r->pids, pid, r);
}

static bool refers(void *ctx, int32_t pid, uint64_t ended)
{
	const struct referred *r = ctx;

	return ended > r->drained || u64map_get(&r->pids, (uint32_t)pid);
}

/* Forgets the processes that have ended and that nothing yet to be shown refers to. */
static struct error *forget_processes(struct run *run)
{
	struct referred r = {.drained = UINT64_MAX};
	struct error *err = NULL;

	if (run->rings_fd >= 0) {
		TRY(run_drain(run, false));
		r.drained = run->drained;
	}
	for (size_t i = 0; i < run->maps.n && !err; i++)
		err = collector_each_process(run->maps.v[i]->collector, refer, &r);
	if (!err)
		live_source_forget(run->live, refers, &r);
	u64map_deinit(&r.pids);
	return err;
}

/* Takes in what processes do, and sees to it that they do not take ever more memory. */
static struct error *follow_processes(void *ctx, uint32_t events)
{
	struct run *run = ctx;

	TRY(run_names_update(run->names));
	TRY(run_update_unwinding(run));
	return live_source_is_full(run->live) ? forget_processes(run) : NULL;
}

void run_warn_of_lost_records(const struct run *run)
{
	uint64_t lost = run->live ? session_losses(live_source_session(run->live)).lost : 0;

	if (lost)
		log_warn(run->opts.log,
			 "%" PRIu64 " records of mapped files were lost: stacks may lack symbols",
			 lost);
}

struct error *run_watch_processes(struct run *run)
{
	int timer;

	loop_before_reap(run->loop, see_workload, run);
	if (!run->live || live_source_fd(run->live) < 0)
		return NULL;
	TRY(loop_watch(run->loop, live_source_fd(run->live), follow_processes, run));
	TRY(loop_timer(run->loop, follow_processes, run, &timer));
	return loop_timer_set(timer, (uint64_t)FOLLOW_MS * 1000000, true);
}
