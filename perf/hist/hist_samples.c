// SPDX-License-Identifier: BSD-2-Clause
/*
 * A reservoir of samples. The first ones are kept; the k-th one then goes to the place of another
 * one with the probability most / k, so that all are equally likely to be among those that are
 * kept. perf puts each later sample somewhere, and so shows nearly always the last ones. Which are
 * kept depends on the samples alone: the same recording shows the same ones again.
 */
#include "perf/hist/hist_samples.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/util.h"
#include "perf/hist/internal.h"

static bool make_room(struct hist_samples *s, struct arena *arena, uint32_t most)
{
	if (s->n < s->room)
		return true;
	const uint32_t room = min_of(max_of(s->room * 2, 1u), most);
	struct result_sample *v = arena_alloc(arena, room * sizeof(*v));

	if (!v)
		return false;
	if (s->n)
		memcpy(v, s->v, s->n * sizeof(*v));
	s->v = v;
	s->room = room;
	return true;
}

bool hist_samples_add(struct hist_samples **to, struct arena *arena, uint32_t most,
		      const struct result_sample *sample, uint64_t weight)
{
	if (!*to)
		*to = arena_alloc(arena, sizeof(**to));
	struct hist_samples *s = *to;
	if (!s)
		return false;
	s->seen += weight;
	if (s->n < most) {
		if (!make_room(s, arena, most))
			return false;
		s->v[s->n++] = *sample;
		return true;
	}
	const uint64_t random = hash_u64(s->seen ^ hash_u64(sample->time));
	if (random % s->seen < (uint64_t)most * weight)
		s->v[hash_u64(random) % most] = *sample;
	return true;
}

bool hist_samples_merge(struct hist_samples **to, struct arena *arena, uint32_t most,
			const struct hist_samples *from)
{
	for (uint32_t i = 0; from && i < from->n; i++)
		if (!hist_samples_add(to, arena, most, &from->v[i], from->seen / from->n))
			return false;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct result_sample *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->cpu != y->cpu ? (x->cpu < y->cpu ? -1 : 1)
				: (x->tid > y->tid) - (x->tid < y->tid);
}

const struct result_sample *hist_samples_sorted(const struct hist_samples *samples,
						struct arena *arena, size_t *n)
{
	struct result_sample *v = arena_alloc(arena, samples->n * sizeof(*v));

	if (!v)
		return NULL;
	memcpy(v, samples->v, samples->n * sizeof(*v));
	qsort(v, samples->n, sizeof(*v), by_time);
	*n = samples->n;
	return v;
}

/* *to is that of the key after it was changed. */
static bool put(struct u64map *map, const void *key, const void *before, struct hist_samples *to)
{
	return before == to || u64map_put(map, (uintptr_t)key, to);
}

struct error *hist_stack_keep(struct hist *h, const struct hist_stack *s,
			      const struct sample *sample)
{
	const struct result_sample kept = {
		.time = sample->time, .cpu = sample->cpu, .tid = sample->tid};

	if (!h->spec->n_samples)
		return NULL;
	struct hist_samples *before = u64map_get(&h->samples, (uintptr_t)s), *to = before;
	return hist_samples_add(&to, &h->arena, h->spec->n_samples, &kept, 1) &&
			       put(&h->samples, s, before, to)
		       ? NULL
		       : error_nomem();
}

bool hist_entry_keep(struct hist *h, const struct hist_entry *he, const struct hist_samples *from)
{
	if (!from)
		return true;
	struct hist_samples *before = u64map_get(&h->entry_samples, (uintptr_t)he), *to = before;
	return hist_samples_merge(&to, &h->entry_arena, h->spec->n_samples, from) &&
	       put(&h->entry_samples, he, before, to);
}

const struct hist_samples *hist_entry_samples(const struct hist *h, const struct hist_entry *he)
{
	return u64map_get(&h->entry_samples, (uintptr_t)he);
}
