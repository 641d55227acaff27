/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains from copies of the stack (perf record --call-graph dwarf): the frames of user space
 * are found by the call frame information of the files that were mapped.
 *
 *	TRY(unwinder_new(resolver, 127, false, &u));
 *	... for each sample:
 *	sample = unwinder_sample(u, sample, event, thread);
 *	... at the end:
 *	unwinder_warn(u, "perf.data", log);
 *
 * Several threads may unwind at once, each with its own unwinder, while no maps change.
 *
 * The addresses of callers are those of the call, one byte before the return address, as in perf:
 * a call may be a function's last instruction. A caller that a signal interrupted, and the signal's
 * trampoline, have their own address.
 */
#ifndef PB_PERF_UNWIND_UNWIND_H
#define PB_PERF_UNWIND_UNWIND_H

#include "lib/base/log.h"
#include "perf/resolve/resolve.h"

struct unwinder;

/* How a walk of the stack ended. */
enum unwind_end {
	UNWIND_COMPLETE, /* at a frame that has no caller */
	UNWIND_LIMIT,	 /* the limit of frames was reached */
	UNWIND_CUT,	 /* the copy of the stack is too short */
	UNWIND_NO_RULES, /* in code without unwind information */
	UNWIND_DAMAGED,	 /* the stack does not fit the unwind information */
	UNWIND_32_BIT,	 /* a process whose registers are not understood */
	UNWIND_ARCH,	 /* so are those of all processes of the recording */
	UNWIND_ENDS,
};

struct unwind_counts {
	uint64_t n; /* stacks that were copied */
	uint64_t ends[UNWIND_ENDS];
};

/*
 * max: the most frames of user space, and the most of the kernel; 0: 127, as in perf.
 * keeps_outermost: of more frames of the kernel the outermost are kept, as perf does where it
 * prints callers first. The resolver outlives the unwinder.
 */
struct error *unwinder_new(struct resolver *r, unsigned max, bool keeps_outermost,
			   struct unwinder **out);
void unwinder_free(struct unwinder *u);
DEFINE_FREEP(struct unwinder, unwinder_free)

/*
 * The sample with the frames of its stack behind those of its kernel chain; it lasts until the
 * next. A sample without a copy of its stack is given back as it is. NULL: no memory.
 */
const struct sample *unwinder_sample(struct unwinder *u, const struct sample *sample,
				     const struct session_event *event,
				     const struct thread *thread);

struct unwind_counts unwinder_counts(const struct unwinder *u);
/* What another one has counted as well. */
void unwinder_add_counts(struct unwinder *u, const struct unwinder *from);
/* Warns of stacks that are incomplete, and says why; name is the recording's. */
void unwinder_warn(const struct unwinder *u, const char *name, const struct log *log);

#endif
