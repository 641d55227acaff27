/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/hist/ share. */
#ifndef PB_PERF_HIST_INTERNAL_H
#define PB_PERF_HIST_INTERNAL_H

#include "lib/base/arena.h"
#include "perf/hist/hist.h"
#include "lib/base/rbtree.h"

/* Entries in the order in which perf keeps them while it collects: > 0, a comes first. */
int64_t hist_entry_cmp(const struct hist_spec *spec, const struct hist_entry *a,
		       const struct hist_entry *b);
/* In the order of the report: > 0, a comes first. */
int64_t hist_entry_sort(const struct hist_spec *spec, const struct hist_entry *a,
			const struct hist_entry *b);

#endif
