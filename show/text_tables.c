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

bool time_text(uint64_t number, const char *unit, struct strbuf *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	size_t from = 0, to = 0;

	while (from < ARRAY_SIZE(units) && (!unit || strcmp(unit, units[from].name) != 0))
		from++;
	if (from == ARRAY_SIZE(units))
		return false;
	const double ns = (double)number * units[from].ns;
	/* 999.5 us are 1 ms, as three digits have it */
	for (size_t i = 1; i < ARRAY_SIZE(units); i++)
		if (i != 2 && ns >= units[i].ns * 0.9995)
			to = i;
	const double v = ns / units[to].ns;
	const int digits = to == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
	strbuf_addf(out, "%.*f %s", digits, v, units[to].name);
	return true;
}

void more_text(uint64_t n, const struct text_opts *opts, struct strbuf *out)
{
	if (n)
		strbuf_addf(out, "(%" PRIu64 " more%s)\n", n,
			    opts->top ? "; --top 0 shows all" : "");
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

/* A cell of the column, and what the column is called. */
static void add_cell(const struct result_column *column, const struct result_cell *cell,
		     const struct text_opts *opts, struct strbuf *out)
{
	if (!opts->units || column->is_key || cell->text || cell->kind != CELL_UINT ||
	    !time_text(cell->u, column->unit, out))
		cell_text(cell, out);
}

static void add_column_name(const struct result_column *column, const struct text_opts *opts,
			    struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf ignored = STRBUF_INIT;

	if (opts->units && column->unit && !strcmp(column->name, column->unit) &&
	    time_text(0, column->unit, &ignored))
		strbuf_adds(out, "time");
	else
		plain_adds(out, column->name);
}

/* "pid 7  comm dd  calls 3": the names of the columns and a row's cells, on as many lines as it
 * takes. */
static void add_record(const struct result_table *t, const struct result_cell *cells,
		       const struct text_opts *opts, struct strbuf *out)
{
	const size_t width = text_width(opts);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t at = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		strbuf_reset(&text);
		add_column_name(&t->columns[c], opts, &text);
		size_t name = text.len;
		strbuf_addch(&text, ' ');
		add_cell(&t->columns[c], &cells[c], opts, &text);
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
static void end_table(const struct result_table *t, const struct text_opts *opts,
		      struct strbuf *out)
{
	if (!t->n_rows)
		strbuf_adds(out, "(no entries)\n");
	more_text(t->left_out, opts, out);
}

static void text_table(const struct result_table *whole, const struct text_opts *opts,
		       struct strbuf *out)
{
	struct result_table top = *whole;
	const struct result_table *t = &top;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ size_t *widths = calloc(max_of(t->n_columns, (size_t)1), sizeof(*widths));
	_cleanup_free_ bool *right = calloc(max_of(t->n_columns, (size_t)1), sizeof(*right));

	if (!widths || !right) {
		out->failed = true;
		return;
	}
	if (opts->top && top.n_rows > opts->top) {
		top.left_out += top.n_rows - opts->top;
		top.n_rows = opts->top;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		strbuf_reset(&text);
		add_column_name(&t->columns[c], opts, &text);
		widths[c] = plain_width(strbuf_str(&text), text.len);
		right[c] = t->n_rows > 0;
	}
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		strbuf_reset(&text);
		add_cell(&t->columns[c], &t->cells[i], opts, &text);
		widths[c] = max_of(widths[c], plain_width(strbuf_str(&text), text.len));
		right[c] &= text_is_number(&t->cells[i]);
	}
	if (opts->cut && !shrink(t, widths, right, text_width(opts)) && t->n_rows) {
		for (size_t i = 0; i < t->n_rows; i++)
			add_record(t, t->cells + i * t->n_columns, opts, out);
		end_table(t, opts, out);
		return;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		strbuf_reset(&text);
		add_column_name(&t->columns[c], opts, &text);
		add_column(&text, c, t->n_columns, widths[c], right[c], opts, out);
	}
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		strbuf_reset(&text);
		add_cell(&t->columns[c], &t->cells[i], opts, &text);
		add_column(&text, c, t->n_columns, widths[c], right[c], opts, out);
	}
	out->failed |= strbuf_failed(&text);
	end_table(t, opts, out);
}

static void add_plain(struct strbuf *out, const char *before, const char *text, const char *after)
{
	strbuf_adds(out, before);
	plain_add(out, text, strlen(text));
	strbuf_adds(out, after);
}

/* "write sizes (bytes):", or the name where there is no title. */
static void head_text(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf ignored = STRBUF_INIT;
	const bool in_rows =
		opts->units && r->kind == RESULT_STACKS && time_text(0, r->unit, &ignored);

	add_plain(out, "", r->title ? r->title : r->name, "");
	if (r->unit && r->kind != RESULT_COUNT && r->kind != RESULT_EVENTS && !in_rows)
		add_plain(out, " (", r->unit, ")");
	strbuf_addch(out, ':');
}

static void add_count(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	strbuf_addch(out, ' ');
	if (!opts->units || !time_text(r->count, r->unit, out)) {
		strbuf_add_u64(out, r->count);
		add_plain(out, r->unit ? " " : "", r->unit ? r->unit : "", "");
	}
	strbuf_addch(out, '\n');
}

static void add_hists(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	const size_t n = opts->top ? min_of(r->n_hists, opts->top) : r->n_hists;

	strbuf_addch(out, '\n');
	for (size_t h = 0; h < n; h++) {
		if (r->hists[h].label)
			add_plain(out, h ? "\n" : "", r->hists[h].label, "\n");
		hist_text(&r->hists[h], r->log2, opts, out);
	}
	if (!r->n_hists)
		strbuf_adds(out, "(no values)\n");
	if (n < r->n_hists)
		strbuf_addch(out, '\n');
	more_text(r->n_hists - n, opts, out);
}

static void add_result(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	head_text(r, opts, out);
	switch (r->kind) {
	case RESULT_COUNT:
		add_count(r, opts, out);
		break;
	case RESULT_TABLE:
		strbuf_addch(out, '\n');
		text_table(&r->table, opts, out);
		break;
	case RESULT_HIST:
		add_hists(r, opts, out);
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

/* What is one number, or one histogram: the last of its program, above the prompt. */
static bool is_summary(const struct result *r)
{
	return r->kind == RESULT_COUNT || r->kind == RESULT_EVENTS || r->kind == RESULT_HEAT ||
	       (r->kind == RESULT_HIST && !r->n_keys);
}

static bool same_program(const struct result *a, const struct result *b)
{
	return a->program == b->program ||
	       (a->program && b->program && !strcmp(a->program, b->program));
}

/* The results in the order in which they are shown; as many as there are. */
static void order_results(const struct results *results, const struct text_opts *opts,
			  const struct result **order)
{
	size_t n = 0;

	for (size_t i = 0, end; i < results->n; i = end) {
		for (end = i + 1; end < results->n; end++)
			if (!same_program(&results->v[i], &results->v[end]))
				break;
		for (int last = 0; last < 2; last++)
			for (size_t k = i; k < end; k++)
				if (opts->top ? is_summary(&results->v[k]) == last : !last)
					order[n++] = &results->v[k];
	}
}

static void add_results(const struct results *results, const struct text_opts *opts,
			struct strbuf *out)
{
	_cleanup_free_ const struct result **order = calloc(results->n + 1, sizeof(*order));
	bool was_count = false;

	for (size_t i = 0; results->events && i < results->n; i++)
		text_events_add(&results->v[i], opts, out);
	if (results->events)
		return;
	if (opts->events)
		text_events_deinit(opts->events); /* the next ones need a head again */
	if (!order) {
		out->failed = true;
		return;
	}
	order_results(results, opts, order);
	for (size_t i = 0; i < results->n; i++) {
		/* counts stand together */
		if (i && !(was_count && order[i]->kind == RESULT_COUNT))
			strbuf_addch(out, '\n');
		was_count = order[i]->kind == RESULT_COUNT;
		add_result(order[i], opts, out);
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
