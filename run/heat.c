// SPDX-License-Identifier: BSD-2-Clause
/*
 * A heat map is a histogram looked at again and again: what it gained from one
 * look to the next belongs to the slot of time in between. The kernel knows no
 * slots; nothing is lost when a look comes late, it only counts in the slot
 * where the middle of its time lies.
 *
 * Slots are as short as asked for at first. When there are MAX_SLOTS of them,
 * two make one, and slots are twice as long from then on: memory is bounded,
 * and a run of any length has between half of MAX_SLOTS and all of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

enum {
	MAX_SLOTS = 120, /* even */
	MAX_RANGES = 4096,
};

struct heat {
	size_t n_ranges, n_slots;
	uint64_t step;	  /* ns; 0: not begun */
	uint64_t first;	  /* monotonic: of the first slot's start */
	uint64_t last;	  /* monotonic: of the last sample */
	uint64_t start;	  /* ns since 1970, of `first` */
	uint64_t *totals; /* of the sample at work */
	uint64_t *before; /* the ranges' counts at the last sample */
	uint64_t *counts; /* MAX_SLOTS of n_ranges */
	bool too_large;	  /* some of them are larger than they can be */
};

struct error *heat_new(size_t n_ranges, struct heat **out)
{
	struct heat *heat;

	if (n_ranges > MAX_RANGES)
		return error_new(
			E2BIG, "a heat map with %zu ranges is too large: at most %d are supported",
			n_ranges, MAX_RANGES);
	heat = calloc(1, sizeof(*heat));
	if (!heat)
		return error_nomem();
	heat->n_ranges = n_ranges;
	heat->totals = calloc(n_ranges, sizeof(*heat->totals));
	heat->before = calloc(n_ranges, sizeof(*heat->before));
	heat->counts = calloc(MAX_SLOTS * n_ranges, sizeof(*heat->counts));
	if (!heat->totals || !heat->before || !heat->counts) {
		heat_free(heat);
		return error_nomem();
	}
	*out = heat;
	return NULL;
}

void heat_free(struct heat *heat)
{
	if (!heat)
		return;
	free(heat->totals);
	free(heat->before);
	free(heat->counts);
	free(heat);
}

void heat_begin(struct heat *heat, uint64_t step, uint64_t now, uint64_t real)
{
	heat->step = step;
	heat->first = heat->last = now;
	heat->start = real;
}

void collector_begin(struct collector *c, uint64_t step, uint64_t now)
{
	struct heat *heat = c->heat;

	if (!heat)
		return;
	heat_begin(heat, step, now, clock_ns(CLOCK_REALTIME));
}

uint64_t collector_step(const struct collector *c)
{
	return c->heat ? c->heat->step : 0;
}

static uint64_t two_slots(struct heat *heat, uint64_t a, uint64_t b)
{
	heat->too_large |= !sum_add(&a, b);
	return a;
}

/* Two slots become one, until there is room for this one. */
static void make_room(struct heat *heat, size_t slot)
{
	size_t n = heat->n_ranges;

	while (slot >= MAX_SLOTS) {
		for (size_t i = 0; i < MAX_SLOTS / 2; i++)
			for (size_t r = 0; r < n; r++)
				heat->counts[i * n + r] =
					two_slots(heat, heat->counts[2 * i * n + r],
						  heat->counts[(2 * i + 1) * n + r]);
		memset(heat->counts + MAX_SLOTS / 2 * n, 0,
		       MAX_SLOTS / 2 * n * sizeof(*heat->counts));
		heat->n_slots = (heat->n_slots + 1) / 2;
		heat->step *= 2;
		slot /= 2;
	}
}

void heat_add(struct heat *heat, uint64_t now, const uint64_t *totals)
{
	/* how many slots there are by now; one that has hardly begun is none */
	size_t n = (now - heat->first + heat->step - heat->step / 8) / heat->step;
	make_room(heat, max_of(n, (size_t)1) - 1);
	n = (now - heat->first + heat->step - heat->step / 8) / heat->step;
	n = min_of(max_of(n, (size_t)1), (size_t)MAX_SLOTS);
	uint64_t middle = heat->last + (now - heat->last) / 2;
	size_t slot = min_of((middle - heat->first) / heat->step, n - 1);
	uint64_t *counts = heat->counts + slot * heat->n_ranges;
	for (size_t i = 0; i < heat->n_ranges; i++) {
		/* a program may set its counts to 0 */
		const uint64_t more =
			totals[i] < heat->before[i] ? totals[i] : totals[i] - heat->before[i];

		counts[i] = two_slots(heat, counts[i], more);
		heat->before[i] = totals[i];
	}
	heat->n_slots = max_of(heat->n_slots, n);
	heat->last = now;
}

struct error *collector_sample(struct collector *c, uint64_t now)
{
	struct heat *heat = c->heat;

	if (!heat)
		return NULL;
	TRY(collector_look(c, false));
	memset(heat->totals, 0, heat->n_ranges * sizeof(*heat->totals));
	for (size_t i = 0; i < c->now.n; i++) {
		const uint8_t *row = row_at(c, &c->now, i);
		uint32_t range;

		memcpy(&range, row_key(c, row), sizeof(range));
		if (range < heat->n_ranges)
			heat->totals[range] = field_number(&c->value.v[0], row_value(c, row));
	}
	heat_add(heat, now, heat->totals);
	return NULL;
}

struct error *make_heat(struct making *m, const struct collect_opts *opts, struct result *r)
{
	struct heat *heat = m->c->heat;
	struct result_heat *h = &r->heat;
	size_t n = heat->n_slots * heat->n_ranges;

	m->too_large |= heat->too_large;
	h->start = heat->start;
	h->step = heat->step;
	h->n_times = heat->n_slots;
	h->n_ranges = heat->n_ranges;
	h->ranges = arena_alloc(m->arena, (heat->n_ranges + 1) * sizeof(*h->ranges));
	h->counts = arena_alloc(m->arena, (n + 1) * sizeof(*h->counts));
	if (!h->ranges || !h->counts)
		return error_nomem();
	memcpy(h->counts, heat->counts, n * sizeof(*h->counts));
	for (size_t i = 0; i < heat->n_ranges; i++)
		slot_range(m->c->display, i, heat->n_ranges, &h->ranges[i]);
	for (size_t i = 0; i < n; i++) {
		making_add(m, &h->ranges[i % heat->n_ranges].count, h->counts[i]);
		h->max = max_of(h->max, h->counts[i]);
	}
	for (size_t i = 0; opts->totals && i < heat->n_ranges; i++)
		h->ranges[i].count = heat->before[i];
	if (!opts->delta)
		return NULL;
	/* the next look begins with a slot of its own */
	memset(heat->counts, 0, n * sizeof(*heat->counts));
	heat->n_slots = 0;
	heat->start += heat->last - heat->first;
	heat->first = heat->last;
	return NULL;
}
