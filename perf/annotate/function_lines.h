/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of an annotation: instructions, and the source lines that they are of. */
#ifndef PB_PERF_ANNOTATE_FUNCTION_LINES_H
#define PB_PERF_ANNOTATE_FUNCTION_LINES_H

#include "perf/annotate/function_code.h"
#include "perf/resolve/source_text.h"

struct function_lines_opts {
	struct resolver *resolver;
	struct source_texts *texts;
	bool source, places, raw, intel; /* of struct annotator_opts */
	/* Of which events, as many as the annotation has, the counts are. */
	size_t first_event;
};

struct error *function_lines_add(const struct function_lines_opts *opts,
				 const struct counted_function *f, const struct function_code *code,
				 struct annotation *out);

/*
 * What is counted by now, in place of the counts of lines that were made: the counts are in the
 * arena.
 */
struct error *function_lines_count(const struct counted_function *f, size_t first_event,
				   struct arena *arena, struct annotation *a);

#endif
