/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of the elements of an array, which processes get and give back. They are not joined:
 * when there is no room any more, the array is given up as a whole.
 */
#ifndef PB_RUN_UNWIND_RANGES_H
#define PB_RUN_UNWIND_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vec.h"

struct unwind_range {
	uint32_t first, n;
};

struct unwind_ranges {
	VEC(struct unwind_range) given; /* back */
	uint32_t end;			/* the elements from there on were never taken */
	uint32_t max;
};

void unwind_ranges_init(struct unwind_ranges *r, uint32_t max);
void unwind_ranges_deinit(struct unwind_ranges *r);

/* n elements next to each other; false: there is no room. */
bool unwind_ranges_take(struct unwind_ranges *r, uint32_t n, uint32_t *first);
/* Of no elements: nothing. Without memory, they are not taken again. */
void unwind_ranges_give(struct unwind_ranges *r, struct unwind_range range);

#endif
