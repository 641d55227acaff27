// SPDX-License-Identifier: BSD-2-Clause
/*
 * A heat map: a line for each slot of time, a cell for each range of values,
 * the darker the fewer.
 *
 *	          1K        32K        1M
 *	12:03:07  |...::--==++**##%%@@..      |  1730
 *	12:03:08  |    ..::--==             |   412
 *
 * A cell's shade is its count's share of the largest one, and what is not
 * empty never looks as if it was. A cell is as many characters wide as fit;
 * where there are more ranges than characters, neighbours share one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/sum.h"
#include "show/internal.h"

/* Neither the darkest nor the lightest: terminals are black or white. */
enum {
	MAX_CELL = 6,	  /* characters of a cell */
	FIRST_GRAY = 236, /* of the 256 colours: #303030 */
	N_GRAYS = 17,	  /* up to #d0d0d0 */
};

static const char chars[] = " .:-=+*#%@";

/* Colours of the 256: blue, violet, red, orange, yellow. */
static const uint8_t colours[] = {17,  18,  19,	 20,  56,  92,	128, 164, 161, 160,
				  196, 202, 208, 214, 220, 226, 227, 228, 229};

struct heat_layout {
	const struct result_heat *heat;
	enum text_shades shades;
	size_t first, last; /* ranges that are shown: the others are empty at all times */
	size_t merge;	    /* ranges to a cell */
	size_t cells;
	size_t wide; /* characters of a cell */
	uint64_t max;
	unsigned time_digits;
};

static uint64_t cell_count(const struct heat_layout *l, size_t t, size_t cell)
{
	size_t from = l->first + cell * l->merge;
	uint64_t sum = 0;

	for (size_t r = from; r < from + l->merge && r <= l->last; r++)
		sum_add(&sum, l->heat->counts[t * l->heat->n_ranges + r]);
	return sum;
}

/* 0: nothing; up to n - 1: the most. */
static size_t shade_of(uint64_t count, uint64_t max, size_t n)
{
	return (size_t)(((unsigned __int128)count * (n - 1) + max - 1) / max);
}

static void add_cell(const struct heat_layout *l, uint64_t count, struct strbuf *out)
{
	size_t shade;

	switch (l->shades) {
	case SHADES_CHARS:
		text_fill(out, chars[shade_of(count, l->max, sizeof(chars) - 1)], l->wide);
		return;
	case SHADES_GRAY:
		/* none at all stays as the terminal is */
		shade = shade_of(count, l->max, N_GRAYS + 1);
		if (shade)
			strbuf_addf(out, "\033[48;5;%zum", FIRST_GRAY + shade - 1);
		break;
	case SHADES_COLOUR:
		shade = shade_of(count, l->max, ARRAY_SIZE(colours) + 1);
		if (shade)
			strbuf_addf(out, "\033[48;5;%um", colours[shade - 1]);
		break;
	}
	text_fill(out, ' ', l->wide);
	if (count)
		strbuf_adds(out, "\033[0m");
}

/* The ranges' lower bounds, as many as have room. */
static void add_axis(const struct result *r, const struct heat_layout *l, size_t indent,
		     struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t at = 0, free_from = 0;

	text_fill(out, ' ', indent);
	for (size_t i = 0; i < l->cells; i++) {
		const struct result_bucket *range = &l->heat->ranges[l->first + i * l->merge];

		strbuf_reset(&text);
		if (bucket_has_low(range, r->log2))
			text_bound(range->low, r->log2, &text);
		else
			strbuf_adds(&text, "...");
		if (i * l->wide < free_from)
			continue;
		text_fill(out, ' ', i * l->wide - at);
		strbuf_adds(out, strbuf_str(&text));
		at = i * l->wide + text.len;
		free_from = at + 1;
	}
	strbuf_addch(out, '\n');
}

static void add_legend(const struct heat_layout *l, size_t indent, struct strbuf *out)
{
	size_t n = l->shades == SHADES_CHARS  ? sizeof(chars) - 2
		   : l->shades == SHADES_GRAY ? N_GRAYS
					      : ARRAY_SIZE(colours);
	struct heat_layout legend = *l;

	legend.max = n;
	legend.wide = 1;
	text_fill(out, ' ', indent);
	strbuf_adds(out, "1 ");
	for (size_t i = 1; i <= n; i++)
		add_cell(&legend, i, out);
	strbuf_addf(out, " %" PRIu64 "\n", l->max);
}

void text_heat(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	const struct result_heat *h = &r->heat;
	struct heat_layout l = {.heat = h, .shades = opts->shades, .last = h->n_ranges - 1};
	uint64_t most = 0;

	while (l.first < h->n_ranges && !h->ranges[l.first].count)
		l.first++;
	if (l.first == h->n_ranges) {
		strbuf_adds(out, "(no values)\n");
		return;
	}
	while (!h->ranges[l.last].count)
		l.last--;
	for (size_t t = 0; t < h->n_times; t++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < h->n_ranges; i++)
			sum_add(&sum, h->counts[t * h->n_ranges + i]);
		most = max_of(most, sum);
	}
	for (uint64_t step = h->step; l.time_digits < 6 && step % 1000000000; step *= 10)
		l.time_digits++;
	size_t time = 8 + (l.time_digits ? 1 + l.time_digits : 0);
	size_t used = time + 3 + 2 + snprintf(NULL, 0, "%" PRIu64, most);
	size_t room = text_width(opts) > used + 4 ? text_width(opts) - used : 4;
	size_t n = l.last - l.first + 1;
	l.merge = (n + room - 1) / room;
	l.cells = (n + l.merge - 1) / l.merge;
	l.wide = min_of(room / l.cells, (size_t)MAX_CELL);
	for (size_t t = 0; t < h->n_times; t++)
		for (size_t i = 0; i < l.cells; i++)
			l.max = max_of(l.max, cell_count(&l, t, i));
	add_axis(r, &l, time + 3, out);
	for (size_t t = 0; t < h->n_times; t++) {
		uint64_t sum = 0;

		text_time(h->start + t * h->step, l.time_digits, out);
		strbuf_adds(out, "  |");
		for (size_t i = 0; i < l.cells; i++) {
			uint64_t count = cell_count(&l, t, i);

			add_cell(&l, count, out);
			sum_add(&sum, count);
		}
		strbuf_addf(out, "| %" PRIu64 "\n", sum);
	}
	add_legend(&l, time + 3, out);
}
