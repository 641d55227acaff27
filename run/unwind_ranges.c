// SPDX-License-Identifier: BSD-2-Clause
#include "run/unwind_ranges.h"

#include <stddef.h>

void unwind_ranges_init(struct unwind_ranges *r, uint32_t max)
{
	*r = (struct unwind_ranges){.max = max};
}

void unwind_ranges_deinit(struct unwind_ranges *r)
{
	vec_deinit(&r->given);
}

bool unwind_ranges_take(struct unwind_ranges *r, uint32_t n, uint32_t *first)
{
	struct unwind_range *best = NULL, *range;

	vec_for_each (range, &r->given)
		if (range->n >= n && (!best || range->n < best->n))
			best = range;
	if (best) {
		*first = best->first;
		best->first += n;
		best->n -= n;
		if (!best->n)
			*best = r->given.v[--r->given.n];
		return true;
	}
	if (n > r->max - r->end)
		return false;
	*first = r->end;
	r->end += n;
	return true;
}

void unwind_ranges_give(struct unwind_ranges *r, struct unwind_range range)
{
	struct unwind_range *slot = range.n ? vec_push(&r->given) : NULL;

	if (slot)
		*slot = range;
}
