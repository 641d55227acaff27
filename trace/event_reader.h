/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples, live or of a recording, as the events that trace prints among the calls. */
#ifndef PB_TRACE_EVENT_READER_H
#define PB_TRACE_EVENT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "perf/resolve/resolve.h"
#include "perf/session/session.h"
#include "trace/call_stack.h"

struct trace_event;
struct tracing;

/* What is known of a page fault. */
struct page_fault {
	bool major; /* it had to wait for a device */
	bool in_kernel;
	struct location code, data;
};

/* What it points to lasts as long as the sample. */
struct other_event {
	uint64_t time; /* CLOCK_MONOTONIC */
	uint32_t pid, tid, cpu;
	char comm[16];		    /* "": the name of the thread is not known */
	const char *name;	    /* "sched:sched_switch"; NULL: the call chain of a call */
	struct trace_event *format; /* of raw; NULL: there is none */
	const void *raw;
	uint32_t raw_size;
	const struct page_fault *fault; /* NULL: it is not a page fault, or not of interest */
	uint64_t runtime_ns;		/* how long the thread ran; 0: it is another event */
	bool augmented;			/* what an augmenter has of the entry of a call */
	struct call_stack *stack;	/* NULL: none; who gets the event may take it away */
};

#define RUNTIME_EVENT "sched:sched_stat_runtime"

/* Borrows all of it. */
struct event_reader {
	struct tracing *tracing;     /* NULL: no formats */
	struct stack_reader *stacks; /* NULL: no call chains, and no names of addresses */
	bool faults;		     /* page faults are events of their own, with their addresses */
	bool runtime;		     /* RUNTIME_EVENT says how long threads ran */
};

/* The caller frees event->stack; *fault is what event->fault points to, if that is not NULL. */
struct error *event_reader_read(const struct event_reader *reader, const struct sample *sample,
				const struct session_event *ev, const struct thread *thread,
				struct other_event *event, struct page_fault *fault);

#endif
