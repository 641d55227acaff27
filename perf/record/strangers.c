// SPDX-License-Identifier: BSD-2-Clause
/*
 * A BPF program that another process attaches to a tracepoint filters that
 * tracepoint for all (perf_open.c says why), and the kernel tells nobody. So
 * the recorder asks which programs are attached: at the start, once a second,
 * when a BPF_EVENT record says that a program was loaded, and at the end.
 * One that was loaded earlier, and is attached for less than a second, can
 * stay unseen.
 */
#include "perf/record/internal.h"

#include "lib/base/clock.h"

#define INTERVAL_MS 1000

/* Programs at the tracepoint that are not ours; 0 also when the kernel does not tell. */
static uint32_t count(const struct event *event)
{
	uint32_t ids[64];
	size_t n = 0;
	_cleanup_error_ struct error *err =
		sys_perf_query_bpf(event->fds.v[0].fd, ids, ARRAY_SIZE(ids), &n);

	return err || n <= event->progs.n ? 0 : (uint32_t)(n - event->progs.n);
}

static void warn(struct recording *rec, const struct event *event)
{
	const uint32_t n = event->strangers;

	log_warn(rec->log,
		 "%u BPF program%s of other processes %s attached to %s%s: %sonly events that %s "
		 "let%s pass are recorded",
		 n, n > 1 ? "s" : "", n > 1 ? "are" : "is", event->name,
		 rec->result.started ? " since the recording started" : "",
		 rec->result.started ? "from then on " : "", n > 1 ? "they" : "it",
		 n > 1 ? "" : "s");
}

void strangers_find(struct recording *rec)
{
	struct event *event;

	rec->programs_changed = false;
	rec->strangers_due = clock_ms(CLOCK_MONOTONIC) + INTERVAL_MS;
	vec_for_each (event, &rec->events) {
		const uint32_t n = event->tracepoint ? count(event) : 0;

		if (n <= event->strangers)
			continue;
		event->strangers = n;
		warn(rec, event);
	}
}

void strangers_find_if_due(struct recording *rec)
{
	if (rec->programs_changed || clock_ms(CLOCK_MONOTONIC) >= rec->strangers_due)
		strangers_find(rec);
}
