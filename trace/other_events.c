// SPDX-License-Identifier: BSD-2-Clause
#include "trace/other_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vec.h"
#include "lib/sys/proc.h"
#include "perf/format/tracing.h"
#include "perf/record/live_events.h"
#include "perf/session/session.h"
#include "trace/call_stack.h"

enum {
	COMMS = 256,	/* of threads that are in the fields of events */
	OWN_EVENTS = 6, /* besides those of opts */
	ENDED = 4096,	/* threads that have ended are forgotten when there are so many */
};

struct comm_entry {
	uint32_t tid;
	char comm[16]; /* "": it has ended */
};

struct other_events {
	struct record_arg *args; /* of rec */
	struct recording *rec;
	struct session *session;
	struct event_reader reader;
	bool call_stacks, augmented;
	other_record_fn *record; /* NULL: events are not recorded */
	live_ids_fn *record_ids;
	void *record_ctx;
	const pid_t *exclude;
	size_t n_exclude;
	struct session_tool tool;
	struct comm_entry comms[COMMS]; /* by tid, as of the last time when events were read */
	other_event_fn *fn;		/* while events are handed on */
	void *ctx;
};

void other_events_free(struct other_events *events)
{
	if (!events)
		return;
	recording_free(events->rec);
	stack_reader_free(events->reader.stacks);
	tracing_free(events->reader.tracing);
	session_free(events->session);
	free(events->args);
	free(events);
}
DEFINE_FREEP(struct other_events, other_events_free)

const char *other_events_comm(void *ctx, uint32_t tid)
{
	struct other_events *events = ctx;
	struct comm_entry *entry = &events->comms[tid % COMMS];
	struct sys_proc_status status;

	if (!tid)
		return "swapper";
	if (entry->tid != tid) {
		*entry = (struct comm_entry){.tid = tid};
		struct error *err = sys_proc_status(NULL, 0, (pid_t)tid, &status);
		if (!err)
			memcpy(entry->comm, status.comm, sizeof(entry->comm));
		error_free(err);
	}
	return *entry->comm ? entry->comm : NULL;
}

/* No record has the name of a thread that was there before us. */
static void set_comm(struct other_events *events, struct other_event *event)
{
	const char *comm = other_events_comm(events, event->tid);

	if (comm)
		strncpy(event->comm, comm, sizeof(event->comm) - 1);
	else
		snprintf(event->comm, sizeof(event->comm), ":%u", event->tid);
}

/* A recording has all records that are read; the call chains of calls are in those of the calls. */
static struct error *hand_record(struct other_events *events, const struct record *rec,
				 struct other_event *event)
{
	if (event->augmented)
		return NULL;
	if (!event->name)
		return call_stack_of_record(rec->body.base, rec->body.size, &event->stack);
	return events->record(events->record_ctx, rec->body.base, rec->body.size, event->time);
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	struct other_events *events = tool->ctx;

	return events->record(events->record_ctx, rec->body.base, rec->body.size, 0);
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *ev, struct thread *thread)
{
	struct other_events *events = tool->ctx;
	struct page_fault fault;
	struct other_event event;

	for (size_t i = 0; i < events->n_exclude; i++)
		if (events->exclude[i] == sample->pid)
			return NULL;
	TRY(event_reader_read(&events->reader, sample, ev, thread, &event, &fault));
	event.augmented = events->augmented && (!strcmp(ev->name, AUGMENTED_EVENT) ||
						!strcmp(ev->name, UNAUGMENTED_EVENT));
	if (events->call_stacks && !strcmp(ev->name, STACKS_EVENT)) {
		event.name = NULL;
		if (event.stack)
			call_stack_drop_tracing(event.stack);
	} else if (!*event.comm) {
		set_comm(events, &event);
	}
	struct error *err = events->record ? hand_record(events, rec, &event) : NULL;
	if (!err)
		err = events->fn(events->ctx, &event);
	free(event.stack);
	return err;
}

static struct error *add_event(void *ctx, const struct live_event *event)
{
	struct other_events *events = ctx;

	TRY(session_add_event(events->session, &event->attr, event->name, event->ids,
			      event->n_ids));
	return event->format ? tracing_add_format(events->reader.tracing, event->system,
						  event->format, event->format_size)
			     : NULL;
}

static struct error *add_ids(void *ctx, size_t event, const uint64_t *ids, size_t n)
{
	struct other_events *events = ctx;

	TRY(session_add_ids(events->session, event, ids, n));
	return events->record ? events->record_ids(events->record_ctx, event, ids, n) : NULL;
}

static struct error *push_existing(void *ctx, const void *records, size_t size)
{
	struct other_events *events = ctx;
	const struct iovec iov = {.iov_base = (void *)records, .iov_len = size};

	return session_push(events->session, &events->tool, &iov, 1);
}

static struct error *open_stacks(struct other_events *events, const struct other_events_opts *opts)
{
	const struct stack_reader_opts stack_opts = {
		.sz = sizeof(stack_opts), .log = opts->log, .max = opts->max_stack};
	const bool kernel = opts->kernel_frames || opts->n_exprs || events->reader.faults;

	if (!opts->record)
		TRY(stack_reader_new(events->session, &stack_opts, &events->reader.stacks));
	return live_events_existing(events->rec, kernel, push_existing, events);
}

struct error *other_events_new(const struct other_events_opts *opts, struct loop *loop,
			       struct other_events **out)
{
	const struct session_opts session_opts = {.sz = sizeof(session_opts), .log = opts->log};
	_cleanup_(other_events_freep) struct other_events *events = calloc(1, sizeof(*events));

	if (!events)
		return error_nomem();
	struct record_arg *args = events->args = calloc(opts->n_exprs + OWN_EVENTS, sizeof(*args));
	if (!args)
		return error_nomem();
	for (size_t i = 0; i < opts->n_exprs; i++)
		args[i] = (struct record_arg){RECORD_EVENTS, opts->exprs[i]};
	size_t n = opts->n_exprs;
	if (opts->call_stacks)
		args[n++] = (struct record_arg){RECORD_OUTPUT, STACKS_EVENT};
	if (opts->augmented) {
		args[n++] = (struct record_arg){RECORD_OUTPUT, AUGMENTED_EVENT};
		args[n++] = (struct record_arg){
			RECORD_EVENTS, "raw_syscalls:sys_enter/name=" UNAUGMENTED_EVENT "/"};
	}
	if (opts->major_faults)
		args[n++] = (struct record_arg){RECORD_EVENTS, "major-faults/period=1/"};
	if (opts->minor_faults)
		args[n++] = (struct record_arg){RECORD_EVENTS, "minor-faults/period=1/"};
	if (opts->runtime)
		args[n++] = (struct record_arg){RECORD_EVENTS, RUNTIME_EVENT};
	events->call_stacks = opts->call_stacks;
	events->augmented = opts->augmented;
	events->reader.faults = opts->major_faults || opts->minor_faults;
	events->reader.runtime = opts->runtime;
	events->record = opts->record;
	events->record_ids = opts->record_ids;
	events->record_ctx = opts->record_ctx;
	const struct record_opts record_opts = {
		.sz = sizeof(record_opts),
		.args = args,
		.n_args = n,
		.pids = opts->pids,
		.tids = opts->tids,
		.cpus = opts->cpus,
		.workload = opts->workload,
		.no_inherit = opts->no_inherit,
		.delay_ms = (int)opts->delay_ms,
		.compile = opts->compile,
		.callgraph = opts->callgraph,
		.stack_size = opts->stack_size,
		.user_chains = !opts->kernel_frames,
		.mmap_pages = opts->ring_pages,
		.data_addresses = events->reader.faults,
		.with_ids = opts->record != NULL,
		.confine_finder = opts->confine_finder,
		.log = opts->log,
	};
	events->exclude = opts->exclude;
	events->n_exclude = opts->n_exclude;
	events->tool = (struct session_tool){.ctx = events, .sample = on_sample};
	if (events->record)
		events->tool.other = on_other;
	TRY(live_events_new(&record_opts, loop, &events->rec));
	TRY(session_new_live(&session_opts, &events->session));
	TRY(tracing_new_empty(&events->reader.tracing));
	TRY(live_events_each(events->rec, add_event, events));
	TRY(live_events_follow_cpus(events->rec, add_ids, events));
	/* a recording needs the names of the threads, too */
	if (events->record || events->reader.faults || opts->callgraph == SELECT_CALLGRAPH_FP ||
	    opts->callgraph == SELECT_CALLGRAPH_DWARF)
		TRY(open_stacks(events, opts));
	*out = steal_ptr(events);
	return NULL;
}

struct error *other_events_each(struct other_events *events, live_event_fn *fn, void *ctx)
{
	return live_events_each(events->rec, fn, ctx);
}

struct error *other_events_fill_map(struct other_events *events, const char *event, int map_fd,
				    uint32_t entries)
{
	return live_events_fill_map(events->rec, event, map_fd, entries);
}

struct error *other_events_watch(struct other_events *events, loop_fn *fn, void *ctx)
{
	return live_events_watch(events->rec, fn, ctx);
}

struct error *other_events_start(struct other_events *events)
{
	return live_events_start(events->rec);
}

void other_events_stop(struct other_events *events)
{
	live_events_stop(events->rec);
}

static struct error *push(void *ctx, const struct iovec *iov, int n)
{
	struct other_events *events = ctx;

	return session_push(events->session, &events->tool, iov, n);
}

struct error *other_events_read(struct other_events *events)
{
	memset(events->comms, 0, sizeof(events->comms));
	if (session_n_ended(events->session) > ENDED)
		session_forget(events->session, NULL, NULL);
	return live_events_drain(events->rec, push, events);
}

struct error *other_events_until(struct other_events *events, uint64_t until, other_event_fn *fn,
				 void *ctx)
{
	events->fn = fn;
	events->ctx = ctx;
	return session_advance(events->session, &events->tool, until);
}

bool other_events_open_later(const struct other_events *events)
{
	return live_events_open_later(events->rec);
}

struct cpu_watch *other_events_cpus(const struct other_events *events)
{
	return live_events_cpus(events->rec);
}

struct record_no_room other_events_lost(const struct other_events *events)
{
	return live_events_lost(events->rec);
}

void other_events_warn_of_stacks(const struct other_events *events)
{
	if (events->reader.stacks)
		stack_reader_warn(events->reader.stacks);
}
