// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables as wide as their contents, numbers to the right; histograms as wide
 * as the terminal. In a file text stays whole; on a terminal it is cut (opts,
 * cut): in tables the widest columns of text first, since the numbers are what
 * is looked for. Where even those have no room side by side, each row is some
 * lines of names and values; then what a line has too much is cut.
 */
#include "show/text_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/internal.h"
#include "show/plain.h"

enum {
	MAX_BAR = 52,
	MIN_BAR = 4,
	NARROW = 6, /* columns of text do not get narrower */
};

void cell_text(const struct result_cell *cell, struct strbuf *out)
{
	if (cell->text) {
		plain_add(out, cell->text, strlen(cell->text));
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
	case CELL_SYMBOL:
		cell_add_symbol(cell, out);
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
	bound_add(out, v, log2);
	if (unit >= 0)
		strbuf_addch(out, units[unit]);
}

static void add_range(const struct result_bucket *b, bool log2, struct strbuf *out)
{
	if (b->low == b->high) {
		strbuf_addch(out, '[');
		text_bound(b->low, log2, out);
		strbuf_addch(out, ']');
		return;
	}
	if (bucket_has_low(b, log2)) {
		strbuf_addch(out, '[');
		text_bound(b->low, log2, out);
	} else {
		strbuf_adds(out, "(...");
	}
	strbuf_adds(out, ", ");
	if (bucket_has_high(b, log2))
		text_bound(b->high + 1, log2, out);
	else
		strbuf_adds(out, "...");
	strbuf_addch(out, ')');
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
	size_t bar = width > used ? min_of(width - used, (size_t)MAX_BAR) : 0;
	if (bar < MIN_BAR) /* no room: the numbers alone */
		bar = 0;
	for (size_t i = first; i < n; i++) {
		const struct result_bucket *b = &hist->buckets[i];
		size_t at = text.len;

		strbuf_reset(&text);
		add_range(b, log2, &text);
		at = text.len;
		strbuf_add(out, text.str, at);
		text_fill(out, ' ', range - at + 2);
		strbuf_addf(out, "%*" PRIu64, (int)number, b->count);
		if (!bar) {
			strbuf_addch(out, '\n');
			continue;
		}
		strbuf_adds(out, " |");
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

/* Takes from the widest columns of text until the table fits; false: it does not. */
static bool shrink(const struct result_table *t, size_t *widths, const bool *right, size_t width)
{
	size_t total = t->n_columns ? 2 * (t->n_columns - 1) : 0;

	for (size_t c = 0; c < t->n_columns; c++)
		total += widths[c];
	while (total > width) {
		size_t widest = SIZE_MAX;

		for (size_t c = 0; c < t->n_columns; c++)
			if (!right[c] && widths[c] > NARROW &&
			    (widest == SIZE_MAX || widths[c] > widths[widest]))
				widest = c;
		if (widest == SIZE_MAX)
			return false;
		widths[widest]--;
		total--;
	}
	return true;
}

/* A cell's text in its column, with the blanks before it and, but in the last, behind it. */
static void add_column(const struct strbuf *text, size_t c, size_t n_columns, size_t width,
		       bool right, const struct text_opts *opts, struct strbuf *out)
{
	size_t wide = plain_width(strbuf_str(text), text->len);

	if (c)
		strbuf_adds(out, "  ");
	if (right && wide < width)
		text_fill(out, ' ', width - wide);
	if (opts->cut)
		wide = plain_add_cut(out, strbuf_str(text), text->len, width, opts->ascii);
	else
		strbuf_add(out, strbuf_str(text), text->len);
	if (!right && c + 1 < n_columns && wide < width)
		text_fill(out, ' ', width - wide);
	if (c + 1 == n_columns)
		strbuf_addch(out, '\n');
}

/* A word on the line at work, or on one of its own where it has no room. */
static void add_word(const char *word, size_t len, size_t indent, size_t width, size_t *at,
		     struct strbuf *out)
{
	size_t wide = plain_width(word, len);

	if (*at && *at + 2 + wide > width) {
		strbuf_addch(out, '\n');
		text_fill(out, ' ', indent);
		*at = indent;
	} else if (*at) {
		strbuf_adds(out, "  ");
		*at += 2;
	}
	strbuf_add(out, word, len);
	*at += wide;
}

/* "pid 7  comm dd  calls 3": the names of the columns and a row's cells, on as many lines as it
 * takes. */
static void add_record(const struct result_table *t, const struct result_cell *cells, size_t width,
		       struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t at = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		strbuf_reset(&text);
		plain_add(&text, t->columns[c].name, strlen(t->columns[c].name));
		size_t name = text.len;
		strbuf_addch(&text, ' ');
		cell_text(&cells[c], &text);
		if (strbuf_failed(&text))
			break;
		if (plain_width(strbuf_str(&text), text.len) + 2 <= width) {
			add_word(strbuf_str(&text), text.len, 2, width, &at, out);
			continue;
		}
		/* not even alone: what it is called, and what it is */
		add_word(strbuf_str(&text), name, 2, width, &at, out);
		add_word(strbuf_str(&text) + name + 1, text.len - name - 1, 4, width, &at, out);
	}
	out->failed |= strbuf_failed(&text);
	strbuf_addch(out, '\n');
}

/* What stands below the rows. */
static void end_table(const struct result_table *t, struct strbuf *out)
{
	if (!t->n_rows)
		strbuf_adds(out, "(no entries)\n");
	if (t->left_out)
		strbuf_addf(out, "(%" PRIu64 " more)\n", t->left_out);
}

static void text_table(const struct result_table *t, const struct text_opts *opts,
		       struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ size_t *widths = calloc(max_of(t->n_columns, (size_t)1), sizeof(*widths));
	_cleanup_free_ bool *right = calloc(max_of(t->n_columns, (size_t)1), sizeof(*right));

	if (!widths || !right) {
		out->failed = true;
		return;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		strbuf_reset(&text);
		plain_add(&text, t->columns[c].name, strlen(t->columns[c].name));
		widths[c] = plain_width(strbuf_str(&text), text.len);
		right[c] = t->n_rows > 0;
	}
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		strbuf_reset(&text);
		cell_text(&t->cells[i], &text);
		widths[c] = max_of(widths[c], plain_width(strbuf_str(&text), text.len));
		right[c] &= text_is_number(&t->cells[i]);
	}
	if (opts->cut && !shrink(t, widths, right, text_width(opts)) && t->n_rows) {
		for (size_t i = 0; i < t->n_rows; i++)
			add_record(t, t->cells + i * t->n_columns, text_width(opts), out);
		end_table(t, out);
		return;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		strbuf_reset(&text);
		plain_add(&text, t->columns[c].name, strlen(t->columns[c].name));
		add_column(&text, c, t->n_columns, widths[c], right[c], opts, out);
	}
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		strbuf_reset(&text);
		cell_text(&t->cells[i], &text);
		add_column(&text, c, t->n_columns, widths[c], right[c], opts, out);
	}
	out->failed |= strbuf_failed(&text);
	end_table(t, out);
}

static void add_plain(struct strbuf *out, const char *before, const char *text, const char *after)
{
	strbuf_adds(out, before);
	plain_add(out, text, strlen(text));
	strbuf_adds(out, after);
}

/* "write sizes (bytes):", or the name where there is no title. */
static void head_text(const struct result *r, struct strbuf *out)
{
	add_plain(out, "", r->title ? r->title : r->name, "");
	if (r->unit && r->kind != RESULT_COUNT && r->kind != RESULT_EVENTS)
		add_plain(out, " (", r->unit, ")");
	strbuf_addch(out, ':');
}

static void add_results(const struct results *results, const struct text_opts *opts,
			struct strbuf *out)
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
			strbuf_addf(out, " %" PRIu64, r->count);
			add_plain(out, r->unit ? " " : "", r->unit ? r->unit : "", "\n");
			break;
		case RESULT_TABLE:
			strbuf_addch(out, '\n');
			text_table(&r->table, opts, out);
			break;
		case RESULT_HIST:
			strbuf_addch(out, '\n');
			for (size_t h = 0; h < r->n_hists; h++) {
				if (r->hists[h].label)
					add_plain(out, h ? "\n" : "", r->hists[h].label, "\n");
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
			add_plain(out, "note: ", r->note, "\n");
	}
}

void results_text(const struct results *results, const struct text_opts *opts, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT;

	if (!opts->cut) {
		add_results(results, opts, out);
		return;
	}
	add_results(results, opts, &whole);
	out->failed |= strbuf_failed(&whole);
	plain_cut_lines(out, strbuf_str(&whole), whole.len, text_width(opts), opts->ascii);
}
