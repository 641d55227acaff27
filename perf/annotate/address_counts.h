/* SPDX-License-Identifier: BSD-2-Clause */
/* How many samples there are at each address of each function, by event. */
#ifndef PB_PERF_ANNOTATE_ADDRESS_COUNTS_H
#define PB_PERF_ANNOTATE_ADDRESS_COUNTS_H

#include "lib/base/hash.h"
#include "perf/resolve/resolve.h"
#include "show/annotation.h"

/* Of one event. */
struct address_counts {
	struct u64map by_offset; /* from the function's start, to struct annotation_count */
	struct annotation_count sum;
};

struct counted_function {
	const struct symbol *sym;
	const struct map *map; /* where it was first seen */
	size_t index;	       /* in the order of their first samples */
	VEC(struct address_counts) events;
};

struct function_counts {
	struct arena arena;
	struct u64map by_symbol; /* struct symbol * to struct counted_function * */
	VEC(struct counted_function *) functions;
	VEC(struct annotation_count) events; /* of all samples */
};

void function_counts_deinit(struct function_counts *counts);

void annotation_count_add(struct annotation_count *count, uint64_t period);
/* A sample at an offset from the start of a function; the arena has the counts. */
struct error *address_counts_add(struct address_counts *event, struct arena *arena, uint64_t offset,
				 uint64_t period);

/* at: where the sample's address is. Without a symbol, it counts for the event only. */
struct error *function_counts_add(struct function_counts *counts, size_t event,
				  const struct location *at, uint64_t period);

/* The function at a location, without samples if it has none yet; NULL: no memory. */
struct counted_function *function_counts_find(struct function_counts *counts,
					      const struct location *at);

/* NULL: the function has no samples of the event. */
const struct address_counts *counted_event(const struct counted_function *f, size_t event);

#endif
