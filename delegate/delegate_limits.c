// SPDX-License-Identifier: BSD-2-Clause
/* What ends a session that has a loop of its own. */
#include "delegate/internal.h"
#include "lib/base/clock.h"
#include "run/cost.h"
#include "work/loop.h"

static struct error *on_socket(void *ctx, uint32_t events)
{
	struct delegate_session *s = ctx;

	/* closed, or something was sent */
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

static struct error *on_cost(void *ctx, uint32_t events)
{
	struct session_limits *limits = ctx;
	struct delegate_session *s = limits->session;
	struct bpf_link *link;

	TRY(cost_check(limits->cost));
	if (cost_take_excess(limits->cost, s->opts->log, &link)) {
		s->costly = true;
		loop_end(s->loop);
	}
	return NULL;
}

struct error *session_count_program(void *ctx, const struct bpf_program *prog)
{
	struct session_limits *limits = ctx;

	return cost_add(limits->cost, prog, NULL);
}

struct error *session_limit(struct delegate_session *s, struct session_limits *limits)
{
	const struct cost_opts share = {.max_share = s->approval->max_share};
	int timer;

	limits->session = s;
	TRY(cost_new(&share, &limits->cost));
	limits->began = clock_ns(CLOCK_MONOTONIC); /* before the timer does */
	TRY(loop_watch(s->loop, s->fd, on_socket, s));
	TRY(loop_watch(s->loop, s->revoked_fd, on_removal, s));
	TRY(loop_timer(s->loop, on_cost, limits, &timer));
	TRY(loop_timer_set(timer, cost_interval_ms(limits->cost) * UINT64_C(1000000), true));
	return loop_duration(s->loop, s->approval->max_ms);
}

void session_limits_deinit(struct session_limits *limits)
{
	cost_free(limits->cost);
}
