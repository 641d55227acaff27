// SPDX-License-Identifier: BSD-2-Clause
#include "perf/annotate/address_counts.h"

#include "lib/base/sum.h"

void function_counts_deinit(struct function_counts *counts)
{
	struct counted_function **f;
	struct address_counts *event;

	vec_for_each (f, &counts->functions) {
		vec_for_each (event, &(*f)->events)
			u64map_deinit(&event->by_offset);
		vec_deinit(&(*f)->events);
	}
	vec_deinit(&counts->functions);
	vec_deinit(&counts->events);
	u64map_deinit(&counts->by_symbol);
	arena_deinit(&counts->arena);
}

void annotation_count_add(struct annotation_count *count, uint64_t period)
{
	count->samples++;
	sum_add(&count->period, period);
}

struct counted_function *function_counts_find(struct function_counts *counts,
					      const struct location *at)
{
	const uint64_t key = (uintptr_t)at->sym;
	struct counted_function *f = u64map_get(&counts->by_symbol, key), **slot;

	if (f)
		return f;
	f = arena_alloc(&counts->arena, sizeof(*f));
	if (!f || !u64map_put(&counts->by_symbol, key, f))
		return NULL;
	slot = vec_push(&counts->functions);
	if (!slot)
		return NULL;
	f->sym = at->sym;
	f->map = at->map;
	f->index = counts->functions.n - 1;
	return *slot = f;
}

struct error *address_counts_add(struct address_counts *event, struct arena *arena, uint64_t offset,
				 uint64_t period)
{
	struct annotation_count *count = u64map_get(&event->by_offset, offset);

	if (!count) {
		count = arena_alloc(arena, sizeof(*count));
		if (!count || !u64map_put(&event->by_offset, offset, count))
			return error_nomem();
	}
	annotation_count_add(&event->sum, period);
	annotation_count_add(count, period);
	return NULL;
}

struct error *function_counts_add(struct function_counts *counts, size_t event,
				  const struct location *at, uint64_t period)
{
	while (counts->events.n <= event)
		if (!vec_push(&counts->events))
			return error_nomem();
	annotation_count_add(&counts->events.v[event], period);
	if (!at->sym)
		return NULL;
	struct counted_function *f = function_counts_find(counts, at);
	if (!f)
		return error_nomem();
	while (f->events.n <= event)
		if (!vec_push(&f->events))
			return error_nomem();
	return address_counts_add(&f->events.v[event], &counts->arena, at->offset, period);
}

const struct address_counts *counted_event(const struct counted_function *f, size_t event)
{
	return event < f->events.n && f->events.v[event].sum.samples ? &f->events.v[event] : NULL;
}
