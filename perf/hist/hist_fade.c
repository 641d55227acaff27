// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples that lose weight, so that what is shown live is what happens now. perf top multiplies the
 * period of each row by 7/8 with every new table (tools/perf/util/hist.c of Linux 6.1,
 * he_stat__decay). Here rows are made of stacks anew each time, so stacks fade. There are more of
 * them than rows, and a stack of one sample must not vanish by rounding at once: weights are
 * fractions, and what is cut off one stack's whole number is carried to the next one.
 *
 * What has no weight left is left out when the others are copied to new memory (hist_compact.c).
 * That alone sets no bound: where every process ends soon, or frames have addresses without
 * symbols, each sample is a stack of its own, and 35 intervals of them are too many. Then stacks
 * are thinned out: of those that are lighter than a threshold, one in so many stays, and gets the
 * weight of the threshold. So sums stay what they are, also those of each function and process that
 * has many samples; a row of few samples may stand for others that were there at that time.
 */
#include <stdlib.h>

#include "perf/hist/internal.h"

enum {
	MIN_DEAD = 1024,  /* stacks: fewer are not worth the copying */
	MIN_STACKS = 64,  /* are always kept, whatever room they take */
	MAX_ROUNDS = 100, /* of the search for a threshold; a few are enough */
};

/* Below, it has faded: a single sample has after 35 times. */
static const double least_n = 0.01, least_period = 0.5;

bool hist_stack_has_faded(const struct hist_stack *s)
{
	return s->weight.n < least_n || s->weight.period < least_period;
}

/* What is cut off the weights of the stacks before. */
struct carried {
	double period, n;
};

static void set_whole(struct hist_stack *s, struct carried *carried)
{
	if (hist_stack_has_faded(s)) {
		s->weight.period = s->weight.n = 0;
		s->period = s->n = 0;
		return;
	}
	carried->period += s->weight.period;
	carried->n += s->weight.n;
	s->period = (uint64_t)carried->period;
	s->n = (uint64_t)carried->n;
	carried->period -= (double)s->period;
	carried->n -= (double)s->n;
}

void hist_fade(struct hist *h, bool all)
{
	struct carried carried = {0};

	for (size_t i = 0; i < h->stacks.n; i++) {
		struct hist_stack *s = h->stacks.v[i];

		s->weight.period = all ? 0 : s->weight.period * 7 / 8;
		s->weight.n = all ? 0 : s->weight.n * 7 / 8;
		set_whole(s, &carried);
	}
}

/*
 * The weight t by which at most `target` stacks stay: those that are heavier, and of the others
 * their sum / t. A first guess takes all for light ones; those that turn out to be heavier are
 * then left out of the sum, which lowers t, and so on until no more are.
 */
static double threshold(const struct hist *h, size_t target)
{
	double t = 0;
	size_t n_heavy = 0, before;
	int rounds = 0;

	do {
		double light = 0;
		size_t n = 0;

		before = n_heavy;
		for (size_t i = 0; i < h->stacks.n; i++) {
			const double w = h->stacks.v[i]->weight.period;

			if (rounds && w >= t)
				n++;
			else
				light += w;
		}
		if (rounds && n >= target)
			break;
		n_heavy = n;
		t = light / (double)(target - n);
	} while ((!rounds++ || n_heavy != before) && rounds < MAX_ROUNDS);
	return t;
}

/* About `target` stacks stay; the sum of their weights stays what it is. */
static void thin(struct hist *h, size_t target)
{
	const double t = threshold(h, target);
	struct carried carried = {0};
	double sum = t / 2; /* of light ones since one of them has stayed */

	for (size_t i = 0; i < h->stacks.n; i++) {
		struct hist_stack *s = h->stacks.v[i];
		const double w = s->weight.period;

		if (hist_stack_has_faded(s))
			continue;
		if (w < t) {
			sum += w;
			const bool stays = sum >= t;

			if (stays)
				sum -= t;
			else
				h->n_thinned++;
			s->weight.n = stays ? s->weight.n * t / w : 0;
			s->weight.period = stays ? t : 0;
		}
		set_whole(s, &carried);
	}
}

static size_t n_bytes(const struct hist *h)
{
	return h->arena.total + h->mappings.arena.total;
}

bool hist_can_halve(const struct hist *h)
{
	return h->stacks.n > MIN_STACKS;
}

struct error *hist_halve(struct hist *h)
{
	thin(h, h->stacks.n / 2);
	return hist_compact(h);
}

struct error *hist_make_room(struct hist *h)
{
	if (!h->spec->room || n_bytes(h) <= h->spec->room)
		return NULL;
	TRY(hist_compact(h));
	while (n_bytes(h) > h->spec->room / 2 && hist_can_halve(h))
		TRY(hist_halve(h));
	return NULL;
}

struct error *hist_forget(struct hist *h)
{
	size_t dead = 0;

	for (size_t i = 0; i < h->stacks.n; i++)
		dead += hist_stack_has_faded(h->stacks.v[i]);
	return dead > MIN_DEAD && dead > h->stacks.n / 2 ? hist_compact(h) : NULL;
}

struct hist_kept hist_kept(const struct hist *h)
{
	struct hist_kept kept = {
		.stacks = h->stacks.n,
		.bytes = n_bytes(h) + h->entry_arena.total,
		.thinned = h->n_thinned,
	};

	if (h->shown_before)
		kept.bytes += n_bytes(h->shown_before) + h->shown_before->entry_arena.total;
	return kept;
}
