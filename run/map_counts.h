/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of stacks, as programs count it: a map of type BPF_MAP_TYPE_PERCPU_ARRAY has a number
 * for each end. The first one is the good one.
 */
#ifndef PB_RUN_MAP_COUNTS_H
#define PB_RUN_MAP_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

struct map_counts {
	int fd;
	const char *name;
	const char *const *why; /* n; NULL: it has no reason */
	uint32_t n;
};

/* The sums over the CPUs: n numbers. */
struct error *map_counts_read(const struct map_counts *counts, uint64_t *out);

/*
 * "97.1 % of 1034 user stacks are complete: 30 ..."; what: "user stacks are complete". With
 * delta (n numbers), of what was counted since they were read, and they are read again. Nothing if
 * nothing was counted. *all becomes false if some have another end than the first.
 */
struct error *map_counts_describe(const struct map_counts *counts, const char *what,
				  uint64_t *delta, struct strbuf *out, bool *all);

#endif
