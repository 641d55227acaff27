/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events besides system calls that -e selects: tracepoints, probes, software events and the
 * programs of FILE.c, in the order of time.
 *
 *	TRY(other_events_new(&opts, loop, &events));
 *	TRY(other_events_start(events));
 *	… TRY(other_events_read(events));		// what the rings hold
 *	  TRY(other_events_until(events, time, fn, ctx)); …
 *	other_events_stop(events);			// then read once more
 *	other_events_free(events);
 */
#ifndef PB_TRACE_OTHER_EVENTS_H
#define PB_TRACE_OTHER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "perf/record/live_events.h"
#include "perf/select/select.h"
#include "trace/event_reader.h"
#include "work/loop.h"

struct compile_opts;
struct other_events;

/* The event that the program of trace puts out; no other has such a name. */
#define STACKS_EVENT "call-stacks"

/* What an augmenter puts out, and the entries of calls that it lets through: trace/augmenter.h. */
#define AUGMENTED_EVENT	  "__augmented_syscalls__"
#define UNAUGMENTED_EVENT "__unaugmented_syscalls__"

/* A record as it was in its ring, and of a sample its time, else 0. */
typedef struct error *other_record_fn(void *ctx, const void *record, size_t size, uint64_t time);

/* Everything is borrowed. */
struct other_events_opts {
	const struct log *log;
	const char *const *exprs; /* as of record's -e */
	size_t n_exprs;
	char *const *workload; /* the loop's; NULL: none, or everyone is recorded */
	const char *pids, *tids, *cpus;
	bool no_inherit;
	uint64_t delay_ms;
	const pid_t *exclude; /* excluded processes */
	size_t n_exclude;
	const struct compile_opts *compile; /* for FILE.c */
	confine_fn *confine_finder;	    /* as of struct trace_run_opts */
	enum select_callgraph callgraph;    /* of all events, and of system calls */
	uint32_t stack_size;		    /* of copies of the stack; 0: a default */
	unsigned max_stack;		    /* frames; more are left out */
	bool kernel_frames;		    /* in the call chains of system calls */
	bool major_faults, minor_faults;    /* page faults */
	bool runtime;			    /* how long threads run, between looks at the clock */
	/* What programs put out: see other_events_fill_map(). */
	bool call_stacks;  /* STACKS_EVENT */
	bool augmented;	   /* AUGMENTED_EVENT, and with it UNAUGMENTED_EVENT */
	size_t ring_pages; /* 0: a default */
	/*
	 * NULL: events are only handed on. Else all records go there first, except those of
	 * STACKS_EVENT, whose stacks are whole records, and those of augmenters; other events have
	 * no stack then.
	 */
	other_record_fn *record;
	/* With record: the same ids that the events get later; see live_events_follow_cpus(). */
	live_ids_fn *record_ids;
	void *record_ctx;
};

struct error *other_events_new(const struct other_events_opts *opts, struct loop *loop,
			       struct other_events **out);
void other_events_free(struct other_events *events);

struct error *other_events_start(struct other_events *events);
void other_events_stop(struct other_events *events);
struct error *other_events_read(struct other_events *events);

/* The events as they were opened. */
struct error *other_events_each(struct other_events *events, live_event_fn *fn, void *ctx);

/*
 * The map of a program, of that many entries, for what it puts out. STACKS_EVENT: what the program
 * of trace puts out for each call that it sends (trace_source_stacks()); each is an event without a
 * name.
 */
struct error *other_events_fill_map(struct other_events *events, const char *event, int map_fd,
				    uint32_t entries);
/* While the loop runs, fn is called when there is much to read. */
struct error *other_events_watch(struct other_events *events, loop_fn *fn, void *ctx);

/* Calls fn for the events that were read, in the order of time, of times up to `until`. */
typedef struct error *other_event_fn(void *ctx, struct other_event *event);
struct error *other_events_until(struct other_events *events, uint64_t until, other_event_fn *fn,
				 void *ctx);

/* The name of a thread, or NULL; until the next call. ctx is a struct other_events. */
const char *other_events_comm(void *ctx, uint32_t tid);

/* At the end: why stacks have no more frames. */
void other_events_warn_of_stacks(const struct other_events *events);

/* Whether events may be opened later, and the CPUs that were offline; NULL: they do not matter. */
bool other_events_open_later(const struct other_events *events);
struct cpu_watch *other_events_cpus(const struct other_events *events);

struct record_no_room other_events_lost(const struct other_events *events);

#endif
