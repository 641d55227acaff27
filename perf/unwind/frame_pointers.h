/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether call chains that the kernel walked by frame pointers are broken off because code has
 * none: counted by the unwind information of the code that each chain leads through.
 *
 *	TRY(frame_pointers_new(resolver, &fp));
 *	... for each sample: if (frame_pointers_matter(event, sample))
 *		frame_pointers_see(fp, sample, thread);
 *	if (frame_pointers_missing(fp, &counts))
 *		... use --call-graph dwarf
 */
#ifndef PB_PERF_UNWIND_FRAME_POINTERS_H
#define PB_PERF_UNWIND_FRAME_POINTERS_H

#include "perf/resolve/resolve.h"

struct frame_pointers;

struct frame_pointers_counts {
	uint64_t n; /* user stacks that were examined: the first ones, and some of the others */
	uint64_t broken; /* that end, or leave the stack, at a function without frame pointer */
};

/* The resolver outlives it. */
struct error *frame_pointers_new(struct resolver *r, struct frame_pointers **out);
void frame_pointers_free(struct frame_pointers *fp);
DEFINE_FREEP(struct frame_pointers, frame_pointers_free)

/* Whether --call-graph dwarf could make the chain of a sample better. */
bool frame_pointers_matter(const struct session_event *event, const struct sample *sample);
void frame_pointers_see(struct frame_pointers *fp, const struct sample *sample,
			const struct thread *thread);
/* After the last stack: frees what only these need. */
void frame_pointers_end(struct frame_pointers *fp);
/* Whether stacks may not have been counted because there was no memory. fp NULL: no. */
bool frame_pointers_had_no_memory(const struct frame_pointers *fp);
/* Whether so many stacks are broken that a hint is worth it. fp NULL: none was seen. */
bool frame_pointers_missing(const struct frame_pointers *fp, struct frame_pointers_counts *out);

#endif
