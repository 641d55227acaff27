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

static void add_to(struct annotation_count *count, uint64_t period)
{
	count->samples++;
	sum_add(&count->period, period);
}

static struct counted_function *function_of(struct function_counts *counts,
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

static struct annotation_count *count_at(struct function_counts *counts,
					 struct address_counts *event, uint64_t offset)
{
	struct annotation_count *count = u64map_get(&event->by_offset, offset);

	if (count)
		return count;
	count = arena_alloc(&counts->arena, sizeof(*count));
	return count && u64map_put(&event->by_offset, offset, count) ? count : NULL;
}

struct error *function_counts_add(struct function_counts *counts, size_t event,
				  const struct location *at, uint64_t period)
{
	while (counts->events.n <= event)
		if (!vec_push(&counts->events))
			return error_nomem();
	add_to(&counts->events.v[event], period);
	if (!at->sym)
		return NULL;
	struct counted_function *f = function_of(counts, at);
	if (!f)
		return error_nomem();
	while (f->events.n <= event)
		if (!vec_push(&f->events))
			return error_nomem();
	struct annotation_count *count = count_at(counts, &f->events.v[event], at->offset);
	if (!count)
		return error_nomem();
	add_to(&f->events.v[event].sum, period);
	add_to(count, period);
	return NULL;
}

const struct address_counts *counted_event(const struct counted_function *f, size_t event)
{
	return event < f->events.n && f->events.v[event].sum.samples ? &f->events.v[event] : NULL;
}
