/* SPDX-License-Identifier: BSD-2-Clause */
/* How many branches are of which type, where record -j save_type has kept the types. */
#ifndef PB_PERF_HIST_BRANCH_STATS_H
#define PB_PERF_HIST_BRANCH_STATS_H

#include "lib/base/strbuf.h"
#include "perf/print/sample_access.h"
#include "show/branch_counts.h"

struct branch_stats {
	uint64_t types[16], new_types[16]; /* as of struct branch */
	uint64_t forward, backward;	   /* conditional ones */
	uint64_t cross_4k, cross_2m;	   /* to another page, to another large page */
};

void branch_stats_add(struct branch_stats *stats, const struct branch *branch);
/* The same of one branch: branch_counts.types. */
uint64_t branch_types(const struct branch *branch);
void branch_stats_sum(struct branch_stats *stats, const struct branch_stats *other);
/* As perf report prints them after its tables; nothing if no type is known. */
void branch_stats_print(const struct branch_stats *stats, struct strbuf *out);

#endif
