// SPDX-License-Identifier: BSD-2-Clause
/*
 * A CPU that goes offline takes the events that were opened on it out of use, for good
 * (kernel/events/core.c, perf_event_exit_cpu). When it is back, they are opened again. The new file
 * descriptors write to the same ring, and their event ids are added to the file, or told to who
 * reads live events. The old file
 * descriptors stay open, because their counts of lost samples are read at the end. Events of
 * threads do not need this.
 */
#include "perf/record/internal.h"

#include <stdlib.h>

static struct error *write_ids(struct recording *rec, size_t index, const struct event *event,
			       size_t first)
{
	const size_t n = event->fds.n - first;
	_cleanup_free_ uint64_t *ids = calloc(n + 1, sizeof(*ids));

	if (!ids)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		ids[i] = event->fds.v[first + i].id;
	if (rec->is_live)
		return n ? rec->on_ids(rec->on_ids_ctx, index, ids, n) : NULL;
	return n ? data_writer_add_ids(rec->writer, event->unlisted ? 0 : index, ids, n) : NULL;
}

struct error *new_ids_write(struct recording *rec, const size_t *first)
{
	for (size_t i = 0; i < rec->events.n; i++)
		TRY(write_ids(rec, i, &rec->events.v[i], first[i]));
	return NULL;
}

static struct error *on_return(void *ctx, unsigned cpu)
{
	struct recording *rec = ctx;
	_cleanup_free_ size_t *first = calloc(rec->events.n, sizeof(*first));
	struct cpu_ring *ring;

	if (!first)
		return error_nomem();
	for (size_t i = 0; i < rec->events.n; i++)
		first[i] = rec->events.v[i].fds.n;
	threads_hold(rec);
	struct error *err = events_open_again(rec, (int)cpu);
	if (!err)
		err = new_ids_write(rec, first);
	vec_for_each (ring, &rec->rings)
		if (!err && ring->is_threads && ring->cpu == (int)cpu && ring->fds.n) {
			ring->polled_fd = ring->fds.n - 1;
			ring->polled = true;
		}
	threads_release(rec);
	TRY(err);
	vec_for_each (ring, &rec->rings)
		if (ring->cpu == (int)cpu && ring->fds.n && !ring->overwritten &&
		    !ring->is_threads && (!rec->is_live || rec->on_ready))
			TRY(ring_watch(rec, ring, ring->fds.n - 1));
	return NULL;
}

struct error *cpu_return_begin(struct recording *rec)
{
	const struct cpu_watch_opts opts = {
		.loop = rec->loop,
		.roots = rec->roots,
		.log = rec->log,
		.only = rec->opts.cpus ? &rec->target.cpus : NULL,
		.fn = on_return,
		.ctx = rec,
	};
	const struct event *event;
	bool any = rec->target.system_wide;

	vec_for_each (event, &rec->events)
		any |= event->kind == EVENT_OUTPUT || event->kind == EVENT_PROBE;
	return any ? cpu_watch_new(&opts, &rec->cpu_watch) : NULL;
}
