// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording of an approved object. The events and programs are opened and stay here; the user
 * gets the rings, and writes the file. All events are those of programs, which select the tasks;
 * the records of what is mapped and started are of the user's perf-bpf and its children alone.
 */
#include <unistd.h>

#include "delegate/internal.h"
#include "lib/base/clock.h"
#include "perf/record/live_events.h"
#include "perf/record/passed_events.h"
#include "run/cost.h"
#include "work/loop.h"

static struct error *on_socket(void *ctx, uint32_t events)
{
	struct delegate_session *s = ctx;

	s->closed = true;
	loop_end(s->loop);
	return NULL;
}

static struct error *on_removal(void *ctx, uint32_t events)
{
	struct delegate_session *s = ctx;

	if (approval_is_gone(s->revoked_fd, s->approval)) {
		s->revoked = true;
		loop_end(s->loop);
	}
	return NULL;
}

static struct error *add_cost(void *ctx, const struct bpf_program *prog)
{
	return cost_add(ctx, prog, NULL);
}

struct cost_timer {
	struct delegate_session *session;
	struct cost *cost;
};

static struct error *on_cost(void *ctx, uint32_t events)
{
	struct cost_timer *timer = ctx;
	struct delegate_session *s = timer->session;
	struct bpf_link *link;

	TRY(cost_check(timer->cost));
	if (cost_take_excess(timer->cost, s->opts->log, &link)) {
		s->costly = true;
		loop_end(s->loop);
	}
	return NULL;
}

static struct error *watch(struct delegate_session *s, struct cost_timer *cost)
{
	int timer;

	TRY(loop_watch(s->loop, s->fd, on_socket, s));
	TRY(loop_watch(s->loop, s->revoked_fd, on_removal, s));
	TRY(loop_timer(s->loop, on_cost, cost, &timer));
	TRY(loop_timer_set(timer, cost_interval_ms(cost->cost) * UINT64_C(1000000), true));
	return loop_duration(s->loop, s->approval->max_ms);
}

static struct error *pass_rings(const struct delegate_session *s, struct recording *rec)
{
	int fds[DELEGATE_FDS];
	size_t n = 0;

	TRY(passed_events_give(rec, fds, DELEGATE_FDS, &n));
	session_pass(s, fds, n);
	return NULL;
}

static struct error *hold(struct delegate_session *s, struct recording *rec)
{
	const struct cost_opts limit = {.max_share = s->approval->max_share};
	_cleanup_(cost_freep) struct cost *cost = NULL;
	struct cost_timer timer = {.session = s};

	TRY(cost_new(&limit, &cost));
	timer.cost = cost;
	TRY(passed_events_each_program(rec, add_cost, cost));
	const uint64_t began = clock_ns(CLOCK_MONOTONIC); /* before the timer does */
	TRY(watch(s, &timer));
	if (!session_peer_lives(s))
		return error_new(ESRCH, "the process that asked cannot be identified");
	session_say_runs(s);
	TRY(live_events_start(rec));
	TRY(pass_rings(s, rec));
	TRY(s->opts->confine(s->opts->ctx, false));
	while (!loop_ended(s->loop))
		TRY(loop_turn(s->loop, -1));
	live_events_stop(rec);
	session_end(s, began);
	return NULL;
}

struct error *session_record(struct delegate_session *s, const char *path, const char *uids,
			     const char *cgroup)
{
	const struct record_arg arg = {RECORD_OBJECT, path};
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_(recording_freep) struct recording *rec = NULL;
	const struct record_opts opts = {
		.sz = sizeof(opts),
		.args = &arg,
		.n_args = 1,
		.all_cpus = true,
		.track = s->peer.pid,
		.uids = uids,
		.cgroups.cgroups = cgroup,
		.sets = (const char *const *)s->approval->sets.v,
		.n_sets = s->approval->sets.n,
		.with_ids = true,
		.no_bpf_events = true,
		.log = s->opts->log,
	};

	TRY(loop_new(&loop));
	s->loop = loop;
	TRY(live_events_new(&opts, loop, &rec));
	return hold(s, rec);
}
