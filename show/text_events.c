// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events as they come: a table whose end is not known. The columns are as wide
 * as the first rows need, and grow where a later one needs more; numbers stand
 * at the right, everything else at the left.
 *
 * There may be a million of them a second, so a row is formatted once, into
 * the output itself, and the blanks before a number are put in afterwards.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "show/internal.h"

enum {
	MEASURED = 64,	/* rows that decide how wide the columns are at first */
	MAX_AHEAD = 40, /* no column begins wider than this */
	TIME_DIGITS = 6,
};

void text_events_deinit(struct text_events *events)
{
	free(events->name);
	free(events->widths);
	*events = (struct text_events){0};
}

void text_time(uint64_t ns, unsigned digits, struct strbuf *out)
{
	time_t when = ns / 1000000000;
	uint64_t rest = ns % 1000000000;
	struct tm tm;
	char text[32];

	localtime_r(&when, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	strbuf_adds(out, text);
	if (!digits)
		return;
	for (unsigned i = digits; i < 9; i++)
		rest /= 10;
	for (unsigned i = 0; i < digits; i++) {
		text[digits - 1 - i] = (char)('0' + rest % 10);
		rest /= 10;
	}
	strbuf_addch(out, '.');
	strbuf_add(out, text, digits);
}

/* The text of a second is made once for all events in it. */
struct clock_text {
	uint64_t second;
	char text[8];
};

static void add_time(struct clock_text *clock, uint64_t ns, struct strbuf *out)
{
	char text[9 + TIME_DIGITS];
	uint64_t rest = ns % 1000000000 / 1000;

	if (ns / 1000000000 != clock->second) {
		_cleanup_strbuf_ struct strbuf now = STRBUF_INIT;

		text_time(ns, 0, &now);
		if (now.len != sizeof(clock->text)) {
			out->failed |= strbuf_failed(&now);
			return;
		}
		memcpy(clock->text, now.str, sizeof(clock->text));
		clock->second = ns / 1000000000;
	}
	memcpy(text, clock->text, 8);
	text[8] = '.';
	for (int i = TIME_DIGITS - 1; i >= 0; i--, rest /= 10)
		text[9 + i] = (char)('0' + rest % 10);
	strbuf_add(out, text, sizeof(text));
}

static void add_cell(struct clock_text *clock, const struct result_column *column,
		     const struct result_cell *cell, struct strbuf *out)
{
	if (!cell->text && cell->kind == CELL_UINT && column->unit && !strcmp(column->unit, "time"))
		add_time(clock, cell->u, out);
	else
		cell_text(cell, out);
}

static void measure(const struct result_table *t, struct clock_text *clock, size_t *widths,
		    struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t n = min_of(t->n_rows, (size_t)MEASURED) * t->n_columns;

	for (size_t c = 0; c < t->n_columns; c++)
		widths[c] = strlen(t->columns[c].name);
	for (size_t i = 0; i < n; i++) {
		size_t c = i % t->n_columns;

		strbuf_reset(&text);
		add_cell(clock, &t->columns[c], &t->cells[i], &text);
		widths[c] = max_of(widths[c], min_of(text.len, (size_t)MAX_AHEAD));
	}
	out->failed |= strbuf_failed(&text);
}

static void add_head(const struct result_table *t, const size_t *widths, struct strbuf *out)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		size_t blanks = widths[c] - strlen(t->columns[c].name);
		bool right = c && t->n_rows && text_is_number(&t->cells[c]);

		if (c)
			strbuf_adds(out, "  ");
		if (right)
			text_fill(out, ' ', blanks);
		strbuf_adds(out, t->columns[c].name);
		if (!right && c + 1 < t->n_columns)
			text_fill(out, ' ', blanks);
	}
	strbuf_addch(out, '\n');
}

static void add_row(const struct result_table *t, size_t row, struct clock_text *clock,
		    size_t *widths, struct strbuf *out)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		const struct result_cell *cell = &t->cells[row * t->n_columns + c];
		size_t begin, len, blanks;

		if (c)
			strbuf_adds(out, "  ");
		begin = out->len;
		add_cell(clock, &t->columns[c], cell, out);
		len = out->len - begin;
		widths[c] = max_of(widths[c], min_of(len, (size_t)MAX_AHEAD));
		blanks = len < widths[c] ? widths[c] - len : 0;
		if (c && text_is_number(cell)) {
			if (!blanks || !strbuf_reserve(out, blanks))
				continue;
			memmove(out->str + begin + blanks, out->str + begin, len);
			memset(out->str + begin, ' ', blanks);
			out->len += blanks;
			out->str[out->len] = 0;
		} else if (c + 1 < t->n_columns) {
			text_fill(out, ' ', blanks);
		}
	}
	strbuf_addch(out, '\n');
}

void text_events_add(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	const struct result_table *t = &r->events.table;
	_cleanup_text_events_ struct text_events alone = {0};
	struct text_events *events = opts->events ? opts->events : &alone;
	struct clock_text clock = {0};

	if (!t->n_rows)
		return;
	if (r->events.format && t->n_columns) {
		for (size_t i = 0; i < t->n_rows; i++)
			/* the first column is the time */
			text_line_add(r->events.format, &t->cells[i * t->n_columns + 1],
				      t->n_columns - 1, out);
		return;
	}
	if (!events->name || strcmp(events->name, r->name) || events->n != t->n_columns) {
		text_events_deinit(events);
		events->name = strdup(r->name);
		events->widths = calloc(t->n_columns + 1, sizeof(*events->widths));
		events->n = t->n_columns;
		if (!events->name || !events->widths) {
			out->failed = true;
			return;
		}
		measure(t, &clock, events->widths, out);
		if (r->title)
			strbuf_addf(out, "%s:\n", r->title);
		add_head(t, events->widths, out);
	}
	for (size_t i = 0; i < t->n_rows; i++)
		add_row(t, i, &clock, events->widths, out);
}

void text_events_total(const struct result *r, struct strbuf *out)
{
	const struct result_events *e = &r->events;

	strbuf_addf(out, " %" PRIu64 " %s, ", e->total, e->total == 1 ? "event" : "events");
	if (e->lost_counted)
		strbuf_addf(out, "%" PRIu64 " lost\n", e->lost);
	else
		strbuf_adds(out, "losses not counted\n");
}
