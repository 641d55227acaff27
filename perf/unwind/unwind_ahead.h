/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of a recording, unwound by other threads ahead of who sums up or prints the samples. The
 * tool gets its samples in the same order, with the frames of their stacks (sample.is_unwound).
 *
 *	TRY(unwind_ahead_new(&opts, &ahead));
 *	err = session_process(session, unwind_ahead_tool(ahead));
 *	unwind_ahead_end(ahead, unwinder);	// for unwinder_warn()
 */
#ifndef PB_PERF_UNWIND_UNWIND_AHEAD_H
#define PB_PERF_UNWIND_UNWIND_AHEAD_H

#include "perf/unwind/unwind.h"

struct unwind_ahead;

struct unwind_ahead_opts {
	size_t sz;		   /* sizeof(struct unwind_ahead_opts) */
	struct resolver *resolver; /* outlives it */
	unsigned max;		   /* unwinder_new() */
	bool keeps_outermost;
	const struct session_tool *tool; /* copied; its settle is not used */
};

/*
 * Whether it would help: there is more than one CPU, and events have copies of the stack. Not if
 * source lines are looked up, for which the resolver changes what it knows of files.
 */
bool unwind_ahead_helps(struct resolver *r);

struct error *unwind_ahead_new(const struct unwind_ahead_opts *opts, struct unwind_ahead **out);
/* Waits until its threads have ended; the tool gets nothing more. */
void unwind_ahead_free(struct unwind_ahead *ahead);
DEFINE_FREEP(struct unwind_ahead, unwind_ahead_free)

struct session_tool *unwind_ahead_tool(struct unwind_ahead *ahead);

/*
 * After session_process(): waits until the threads have ended, and adds what was counted to counts.
 */
void unwind_ahead_end(struct unwind_ahead *ahead, struct unwinder *counts);
/* How many threads were started. */
unsigned unwind_ahead_n_threads(const struct unwind_ahead *ahead);

#endif
