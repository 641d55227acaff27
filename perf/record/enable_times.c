// SPDX-License-Identifier: BSD-2-Clause
/*
 * When events are enabled: after a delay (-D MS), or in spans of time (-D 10-20,30-40). Times count
 * from the start of the workload. Between the spans, mappings and forks are still recorded: the
 * samples of the next one need them.
 */
#include "perf/record/internal.h"

#include <stdio.h>

static uint64_t span_edge(const struct recording *rec, size_t i)
{
	const struct record_span *span = &rec->opts.spans[i / 2];

	return i % 2 ? span->end_ms : span->start_ms;
}

static struct error *wait_for_edge(struct recording *rec, uint64_t since_ms)
{
	if (rec->next_edge == rec->opts.n_spans * 2)
		return NULL;
	return loop_timer_set(rec->edge_timer,
			      (span_edge(rec, rec->next_edge) - since_ms) * 1000000, false);
}

/* A span begins or ends. */
static struct error *on_edge(void *ctx, uint32_t events)
{
	struct recording *rec = ctx;
	const size_t i = rec->next_edge++;

	if (i % 2)
		TRY(events_pause(rec));
	else
		TRY(events_enable(rec));
	log_info(rec->log, "-D: events %s", i % 2 ? "disabled" : "enabled");
	return wait_for_edge(rec, span_edge(rec, i));
}

static struct error *on_delay(void *ctx, uint32_t events)
{
	return events_enable(ctx);
}

bool enable_times_start_at_once(const struct recording *rec)
{
	return rec->opts.n_spans ? !rec->opts.spans[0].start_ms : !rec->opts.delay_ms;
}

struct error *enable_times_begin(struct recording *rec)
{
	int timer;

	if (rec->opts.n_spans) {
		TRY(loop_timer(rec->loop, on_edge, rec, &rec->edge_timer));
		rec->next_edge = enable_times_start_at_once(rec);
		return wait_for_edge(rec, 0);
	}
	if (rec->opts.delay_ms <= 0)
		return NULL;
	TRY(loop_timer(rec->loop, on_delay, rec, &timer));
	return loop_timer_set(timer, rec->opts.delay_ms * 1000000ull, false);
}

struct error *record_spans_parse(const char *text, struct record_span *spans, size_t max, size_t *n)
{
	size_t found = 0;

	for (const char *p = text; *p || p == text; found++) {
		unsigned start, end;
		int used = 0;

		/* nine digits: milliseconds of 11 days */
		if (found == max)
			return error_usage("--delay: '%s' has more than %zu spans", text, max);
		if (sscanf(p, found ? " , %9u - %9u %n" : "%9u - %9u %n", &start, &end, &used) !=
			    2 ||
		    !used || end <= start || (found && start <= spans[found - 1].end_ms))
			return error_hint(error_usage("--delay: '%s' is not a list of spans", text),
					  "write START-END in milliseconds, one after the other: "
					  "10-20,30-40");
		spans[found] = (struct record_span){start, end};
		p += used;
	}
	*n = found;
	return NULL;
}
