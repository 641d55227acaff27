// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables as wide as their contents, numbers to the right; histograms as wide
 * as the terminal. Lines are not cut: text that is too wide for the terminal
 * wraps there, and stays whole in a file.
 */
#include "show/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/internal.h"

enum {
	MAX_BAR = 52,
	MIN_BAR = 4,
};

void cell_text(const struct result_cell *cell, struct strbuf *out)
{
	if (cell->text) {
		strbuf_adds(out, cell->text);
		return;
	}
	switch (cell->kind) {
	case CELL_EMPTY:
	case CELL_TEXT:
		break;
	case CELL_UINT:
		strbuf_add_u64(out, cell->u);
		break;
	case CELL_INT:
		strbuf_addf(out, "%" PRId64, cell->i);
		break;
	case CELL_FLOAT:
		strbuf_addf(out, "%g", cell->f);
		break;
	case CELL_BOOL:
		strbuf_adds(out, cell->u ? "true" : "false");
		break;
	}
}

/* ---- histograms ---- */

void text_bound(uint64_t v, bool log2, struct strbuf *out)
{
	static const char units[] = "KMGTPE";
	int unit = -1;

	while (log2 && v >= 1024 && v % 1024 == 0 && unit < 5) {
		v /= 1024;
		unit++;
	}
	strbuf_add_u64(out, v);
	if (unit >= 0)
		strbuf_addch(out, units[unit]);
}

static void add_range(const struct result_bucket *b, bool log2, struct strbuf *out)
{
	strbuf_addch(out, '[');
	text_bound(b->low, log2, out);
	if (b->low != b->high) {
		strbuf_adds(out, ", ");
		if (b->high == UINT64_MAX)
			strbuf_adds(out, "...");
		else
			text_bound(b->high + 1, log2, out);
		strbuf_addch(out, ')');
	} else {
		strbuf_addch(out, ']');
	}
}

void hist_text(const struct result_hist *hist, bool log2, const struct text_opts *opts,
	       struct strbuf *out)
{
	size_t range = 0, number = 0, n = hist->n_buckets, first = 0;
	unsigned width = text_width(opts);
	uint64_t most = 0;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	/* what is empty at both ends tells nothing */
	while (n && !hist->buckets[n - 1].count)
		n--;
	while (first < n && !hist->buckets[first].count)
		first++;
	for (size_t i = first; i < n; i++) {
		strbuf_reset(&text);
		add_range(&hist->buckets[i], log2, &text);
		range = max_of(range, text.len);
		most = max_of(most, hist->buckets[i].count);
	}
	number = (size_t)snprintf(NULL, 0, "%" PRIu64, most);
	size_t used = range + 2 + number + 3;
	size_t bar = width > used + MIN_BAR ? min_of(width - used, (size_t)MAX_BAR) : MIN_BAR;
	for (size_t i = first; i < n; i++) {
		const struct result_bucket *b = &hist->buckets[i];
		size_t at = text.len;

		strbuf_reset(&text);
		add_range(b, log2, &text);
		at = text.len;
		strbuf_add(out, text.str, at);
		text_fill(out, ' ', range - at + 2);
		strbuf_addf(out, "%*" PRIu64 " |", (int)number, b->count);
		size_t full = most ? (size_t)((long double)b->count * bar / most + 0.5L) : 0;
		if (b->count && !full)
			full = 1; /* what is there must be seen */
		text_fill(out, '@', full);
		text_fill(out, ' ', bar - full);
		strbuf_adds(out, "|\n");
	}
	if (first == n)
		strbuf_adds(out, "(no values)\n");
}

/* ---- tables ---- */

bool text_is_number(const struct result_cell *cell)
{
	return !cell->text &&
	       (cell->kind == CELL_UINT || cell->kind == CELL_INT || cell->kind == CELL_FLOAT);
}

void text_table(const struct result_table *t, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ size_t *widths = calloc(max_of(t->n_columns, (size_t)1), sizeof(*widths));
	_cleanup_free_ bool *right = calloc(max_of(t->n_columns, (size_t)1), sizeof(*right));

	if (!widths || !right) {
		out->failed = true;
		return;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		widths[c] = strlen(t->columns[c].name);
		right[c] = t->n_rows > 0;
	}
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		strbuf_reset(&text);
		cell_text(&t->cells[i], &text);
		widths[i % t->n_columns] = max_of(widths[i % t->n_columns], text.len);
		right[i % t->n_columns] &= text_is_number(&t->cells[i]);
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		size_t len = strlen(t->columns[c].name);

		if (c)
			strbuf_adds(out, "  ");
		if (right[c])
			text_fill(out, ' ', widths[c] - len);
		strbuf_adds(out, t->columns[c].name);
		if (!right[c] && c + 1 < t->n_columns)
			text_fill(out, ' ', widths[c] - len);
	}
	strbuf_addch(out, '\n');
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		strbuf_reset(&text);
		cell_text(&t->cells[i], &text);
		if (c)
			strbuf_adds(out, "  ");
		if (right[c])
			text_fill(out, ' ', widths[c] - text.len);
		strbuf_adds(out, strbuf_str(&text));
		if (!right[c] && c + 1 < t->n_columns)
			text_fill(out, ' ', widths[c] - text.len);
		if (c + 1 == t->n_columns)
			strbuf_addch(out, '\n');
	}
	if (!t->n_rows)
		strbuf_adds(out, "(no entries)\n");
	if (t->left_out)
		strbuf_addf(out, "(%" PRIu64 " more)\n", t->left_out);
}

/* "write sizes (bytes):", or the name where there is no title. */
static void head_text(const struct result *r, struct strbuf *out)
{
	strbuf_adds(out, r->title ? r->title : r->name);
	if (r->unit && r->kind != RESULT_COUNT && r->kind != RESULT_EVENTS)
		strbuf_addf(out, " (%s)", r->unit);
	strbuf_addch(out, ':');
}

void results_text(const struct results *results, const struct text_opts *opts, struct strbuf *out)
{
	bool was_count = false;

	for (size_t i = 0; results->events && i < results->n; i++)
		text_events_add(&results->v[i], opts, out);
	if (results->events)
		return;
	if (opts->events)
		text_events_deinit(opts->events); /* the next ones need a head again */
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		/* counts stand together */
		if (i && !(was_count && r->kind == RESULT_COUNT))
			strbuf_addch(out, '\n');
		was_count = r->kind == RESULT_COUNT;
		head_text(r, out);
		switch (r->kind) {
		case RESULT_COUNT:
			strbuf_addf(out, " %" PRIu64 "%s%s\n", r->count, r->unit ? " " : "",
				    r->unit ? r->unit : "");
			break;
		case RESULT_TABLE:
			strbuf_addch(out, '\n');
			text_table(&r->table, out);
			break;
		case RESULT_HIST:
			strbuf_addch(out, '\n');
			for (size_t h = 0; h < r->n_hists; h++) {
				if (r->hists[h].label)
					strbuf_addf(out, "%s%s\n", h ? "\n" : "",
						    r->hists[h].label);
				hist_text(&r->hists[h], r->log2, opts, out);
			}
			if (!r->n_hists)
				strbuf_adds(out, "(no values)\n");
			break;
		case RESULT_STACKS:
			strbuf_addch(out, '\n');
			text_stacks(r, opts, out);
			break;
		case RESULT_HEAT:
			strbuf_addch(out, '\n');
			text_heat(r, opts, out);
			break;
		case RESULT_EVENTS:
			text_events_total(r, out);
			break;
		}
		if (r->note)
			strbuf_addf(out, "note: %s\n", r->note);
	}
}
