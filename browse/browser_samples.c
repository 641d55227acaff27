// SPDX-License-Identifier: BSD-2-Clause
/* The samples that were kept of a row, one of which is chosen to see what happened around it. */
#include <inttypes.h>

#include "browse/internal.h"

/* Of the chosen row; a frame of its call chains is of all of them. NULL: none were kept. */
static const struct result_sum *row_of_samples(const struct browser *b)
{
	const struct browse_row *row = browser_row(b);
	const struct result_sum *sum =
		row ? &browser_result(b)->table.profile->rows[row->entry] : NULL;

	return sum && sum->n_samples ? sum : NULL;
}

static struct error *choose_sample(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct result_sum *sum = row_of_samples(b);
	const size_t i = arg / N_BROWSER_CONTEXTS;

	if (!sum || i >= sum->n_samples)
		return NULL;
	b->sample = (struct browser_sample){
		.sample = sum->samples[i],
		.event = b->event,
		.context = arg % N_BROWSER_CONTEXTS,
	};
	*wish = BROWSER_SAMPLE;
	return NULL;
}

static struct error *list_samples(struct browser *b, size_t context, enum browser_wish *wish)
{
	const struct result_sum *sum = row_of_samples(b);
	bool ok = true;

	if (!sum)
		return NULL;
	menu_reset(&b->menu, "Samples");
	for (size_t i = 0; i < sum->n_samples && ok; i++) {
		const struct result_sample *s = &sum->samples[i];

		ok = menu_add(&b->menu, choose_sample, i * N_BROWSER_CONTEXTS + context,
			      "%" PRIu64 ".%09" PRIu64 ": CPU %d tid %d", s->time / 1000000000,
			      s->time % 1000000000, s->cpu, s->tid);
	}
	b->mode = MODE_MENU;
	return ok && b->menu.title ? NULL : error_nomem();
}

bool browser_add_samples(struct browser *b)
{
	return !row_of_samples(b) ||
	       (menu_add(&b->menu, list_samples, BROWSER_CONTEXT,
			 "Show context for individual samples") &&
		menu_add(&b->menu, list_samples, BROWSER_CONTEXT_CODE,
			 "Show context for individual samples with assembler") &&
		menu_add(&b->menu, list_samples, BROWSER_CONTEXT_SOURCE,
			 "Show context for individual samples with source"));
}

struct browser_sample browser_sample(const struct browser *b)
{
	return b->sample;
}
