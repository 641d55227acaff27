// SPDX-License-Identifier: BSD-2-Clause
/*
 * The recorder without a file: the same events, programs and rings, whose records go to who asked
 * for them. Times are those of CLOCK_MONOTONIC, which bpf_ktime_get_ns() reads too.
 */
#include "perf/record/live_events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/sys/tracefs.h"
#include "perf/record/internal.h"

struct error *live_events_new(const struct record_opts *opts, struct loop *loop,
			      struct recording **out)
{
	_cleanup_(recording_freep) struct recording *rec = NULL;

	TRY(recording_new(opts, &rec));
	rec->loop = loop;
	rec->is_live = true;
	TRY(events_select(rec));
	TRY(target_init(rec));
	TRY(probe_gates_set(rec));
	TRY(task_filter_choose(rec));
	rec->drop_self = rec->target.system_wide;
	TRY(objects_load(rec));
	TRY(events_configure(rec));
	struct event *event;
	vec_for_each (event, &rec->events) {
		event->attr.use_clockid = 1;
		event->attr.clockid = CLOCK_MONOTONIC;
	}
	TRY(events_open(rec));
	TRY(rings_open(rec));
	TRY(events_attach(rec));
	TRY(tasks_check(&rec->target.tasks));
	events_warn_of_several(rec);
	*out = steal_ptr(rec);
	return NULL;
}

struct error *live_events_start(struct recording *rec)
{
	TRY(become_realtime(rec));
	TRY(objects_attach(rec));
	return events_enable(rec);
}

void live_events_stop(struct recording *rec)
{
	events_disable(rec);
}

struct record_no_room live_events_lost(const struct recording *rec)
{
	return ledger_no_room(rec);
}

static struct error *describe(struct recording *rec, const struct event *event, live_event_fn *fn,
			      void *ctx)
{
	_cleanup_free_ uint64_t *ids = calloc(event->fds.n + 1, sizeof(*ids));
	_cleanup_free_ char *format = NULL;
	size_t size = event->format ? strlen(event->format) : 0;
	struct live_event live = {
		.name = event->name, .system = event->system, .ids = ids, .n_ids = event->fds.n};

	if (!ids)
		return error_nomem();
	if (is_group_leader(rec, (size_t)(event - rec->events.v)))
		live.n_members = event->n_members;
	for (size_t i = 0; i < event->fds.n; i++)
		ids[i] = event->fds.v[i].id;
	event_file_attr(event, &live.attr);
	if (!event->format && event->tracepoint)
		TRY(sys_tracepoint_format(rec->roots, event->system, event->tracepoint, &format,
					  &size));
	live.format = event->format ? event->format : format;
	live.format_size = size;
	return fn(ctx, &live);
}

struct error *live_events_each(struct recording *rec, live_event_fn *fn, void *ctx)
{
	const struct event *event;

	vec_for_each (event, &rec->events)
		TRY(describe(rec, event, fn, ctx));
	return NULL;
}

struct error *live_events_fill_map(struct recording *rec, const char *name, int map_fd,
				   uint32_t entries)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		if (event->kind == EVENT_OUTPUT && !strcmp(event->name, name)) {
			/* what is opened later, too */
			event->map_fd = map_fd;
			event->map_entries = entries;
			return event_fill_map(event, map_fd, entries);
		}
	return error_new(ENOENT, "event '%s' does not exist", name);
}

struct existing {
	struct recording *rec;
	struct error *(*fn)(void *ctx, const void *records, size_t size);
	void *ctx;
};

static struct error *take_existing(void *ctx, const void *records, size_t size)
{
	const struct existing *existing = ctx;

	mapped_files_see_records(existing->rec, records, size);
	return existing->fn(existing->ctx, records, size);
}

struct error *live_events_existing(struct recording *rec, bool kernel,
				   struct error *(*fn)(void *ctx, const void *records, size_t size),
				   void *ctx)
{
	struct existing existing = {.rec = rec, .fn = fn, .ctx = ctx};

	return synthesize_target(rec, kernel, take_existing, &existing);
}

struct error *live_events_follow_cpus(struct recording *rec, live_ids_fn *fn, void *ctx)
{
	rec->on_ids = fn;
	rec->on_ids_ctx = ctx;
	return cpu_return_begin(rec);
}

bool live_events_open_later(const struct recording *rec)
{
	return rec->cpu_watch;
}

bool live_events_filter_tasks(const struct recording *rec)
{
	return rec->wanted != NULL;
}

struct cpu_watch *live_events_cpus(const struct recording *rec)
{
	return rec->cpu_watch;
}

struct error *live_events_watch(struct recording *rec, loop_fn *fn, void *ctx)
{
	struct cpu_ring *ring;

	rec->on_ready = fn;
	rec->on_ready_ctx = ctx;
	vec_for_each (ring, &rec->rings)
		TRY(ring_watch(rec, ring, 0));
	return mapped_files_begin(rec);
}

struct error *live_events_hold_files(struct recording *rec, const struct held_files **out)
{
	TRY(mapped_files_new(rec));
	*out = mapped_files_held(rec);
	return NULL;
}

struct error *live_events_drain(struct recording *rec, live_records_fn *fn, void *ctx)
{
	bool any;

	rec->on_records = fn;
	rec->on_records_ctx = ctx;
	return rings_drain(rec, &any);
}
