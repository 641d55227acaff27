/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of the branches that lead to a frame of a stack, or from it: perf report
 * --branch-history. As text: " (COND_BWD predicted:75.0%)", " (cycles:3 iter:4 avg_cycles:9)".
 */
#ifndef PB_SHOW_BRANCH_COUNTS_H
#define PB_SHOW_BRANCH_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/branch_types.h"
#include "lib/base/strbuf.h"

/* Of branch_counts.types: in perf's order. */
#define BRANCH_FORWARD	  (1ull << 0)
#define BRANCH_BACKWARD	  (1ull << 1)
#define BRANCH_OF_TYPE(t) (1ull << (2 + (t)))
#define BRANCH_OF_NEW(t)  (1ull << (2 + N_BRANCH_TYPES + (t)))
#define BRANCH_TO_PAGE	  (1ull << 62)
#define BRANCH_TO_2M	  (1ull << 63)

/* All zero: it is a frame of a call chain. */
struct branch_counts {
	uint64_t branches; /* that go to the frame, or from it */
	bool is_to;	   /* else from */
	/* To it: */
	uint64_t predicted, aborts;
	uint64_t types; /* a set */
	/* From it: */
	uint64_t cycles;
	uint64_t iterations, iteration_cycles; /* of loops that were left out behind it */
	uint64_t froms;
};

void branch_counts_add(struct branch_counts *to, const struct branch_counts *other);
void branch_counts_text(const struct branch_counts *counts, struct strbuf *out);

#endif
