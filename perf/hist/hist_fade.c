// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples that lose weight, so that what is shown live is what happens now. perf top multiplies the
 * period of each row by 7/8 with every new table (tools/perf/util/hist.c of Linux 6.1,
 * he_stat__decay). Here rows are made of stacks anew each time, so stacks fade. There are more of
 * them than rows, and a stack of one sample must not vanish by rounding at once: weights are
 * fractions, and what is cut off one stack's whole number is carried to the next one.
 */
#include <stdlib.h>

#include "perf/hist/internal.h"

enum { MIN_DEAD = 1024 }; /* stacks: fewer are not worth the copying */

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

struct error *hist_forget(struct hist *h)
{
	size_t dead = 0;

	for (size_t i = 0; i < h->stacks.n; i++)
		dead += hist_stack_has_faded(h->stacks.v[i]);
	return dead > MIN_DEAD && dead > h->stacks.n / 2 ? hist_compact(h) : NULL;
}
