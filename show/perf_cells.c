// SPDX-License-Identifier: BSD-2-Clause
/*
 * The widths of columns come from all rows, those below the least share too. Where perf's columns
 * have their quirks (a comm column as wide as the threads' last names, numbers that are filled up
 * behind when a separator is given), so has this.
 */
#include "show/perf_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/plain_text.h"
#include "show/plain.h"

enum { ADDRESS_DIGITS = 16 };

void table_printer_deinit(struct table_printer *p)
{
	for (size_t i = 0; i < p->n; i++)
		strbuf_deinit(&p->cells[i]);
}

static bool is_measure(enum column_style style)
{
	return style == COLUMN_SHARE || style == COLUMN_NUMBER;
}

/* How wide a symbol is asked to be: as long as its name, even where more is shown. */
static size_t symbol_width(const struct table_printer *p, const struct result_cell *cell)
{
	const char *plus = cell->has_offset && cell->text ? strrchr(cell->text, '+') : NULL;

	if (!cell->text)
		return ADDRESS_DIGITS + 4 + 2;
	size_t len = plus ? (size_t)(plus - cell->text) : strlen(cell->text);
	return len + 4 + (p->opts->verbose ? ADDRESS_DIGITS + 2 + 3 : 0);
}

static unsigned widest_cell(const struct table_printer *p, size_t column)
{
	const struct result_table *t = p->t;
	size_t width = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct result_cell *cell = &t->cells[i * t->n_columns + column];

		if (cell->kind == CELL_SYMBOL)
			width = max_of(width, symbol_width(p, cell));
		else if (cell->text)
			width = max_of(width, strlen(cell->text));
	}
	return (unsigned)min_of(width, (size_t)UINT16_MAX);
}

static unsigned number_width(const struct result_column *column)
{
	const unsigned title = (unsigned)strlen(column->title);

	return max_of(column->narrow ? 0 : column->style == COLUMN_SHARE ? 8u : 12u, title);
}

/* The column's width as perf has it; user: as asked for, or 0. 0: there is no such column. */
static unsigned column_width(const struct table_printer *p, size_t i, unsigned user)
{
	const struct result_column *column = &p->t->columns[i];
	unsigned title = (unsigned)strlen(column->title), width = column->width;

	if (is_measure(column->style)) {
		width = number_width(column);
		return max_of(max_of(user ? user : width,
				     width * (unsigned)p->t->profile->n_members),
			      title);
	}
	if (!column->fixed)
		width = max_of(width, widest_cell(p, i));
	if (column->style == COLUMN_RIGHT && !width)
		return 0;
	return user ? user : max_of(width, title);
}

void table_printer_init(struct table_printer *p, const struct result_table *t,
			const struct perf_text_opts *opts)
{
	/* A hierarchy has columns of its own, which perf leaves as they are. */
	const char *widths = t->profile && t->profile->n_levels ? NULL : opts->widths;

	*p = (struct table_printer){.opts = opts, .t = t};
	for (size_t i = 0; i < p->t->n_columns && p->n < PERF_MAX_COLUMNS; i++) {
		const struct result_column *column = &p->t->columns[i];
		unsigned user = 0;

		if (column->member) /* in the column of the leader */
			continue;
		if (widths) {
			char *end;

			user = (unsigned)strtoul(widths, &end, 10);
			widths = *end == ',' ? end + 1 : NULL;
		}
		unsigned width = column->hidden ? 0 : column_width(p, i, user);
		if (!width)
			continue;
		p->from[p->n] = i;
		p->user[p->n] = user;
		p->columns[p->n++] = (struct show_column){
			.title = column->title,
			.width = width,
			.right = is_measure(column->style) || column->style == COLUMN_RIGHT ||
				 column->style >= COLUMN_PERCENT,
		};
	}
}

/* How wide a text is as it is printed. */
static size_t escaped_width(const char *text)
{
	_cleanup_strbuf_ struct strbuf escaped = STRBUF_INIT;

	plain_adds(&escaped, text);
	return plain_width(strbuf_str(&escaped), escaped.len);
}

void table_printer_fit(struct table_printer *p)
{
	const struct result_table *t = p->t;

	for (size_t c = 0; c < p->n; c++) {
		for (size_t i = 0; i < t->n_rows; i++) {
			const struct result_cell *cell = &t->cells[i * t->n_columns + p->from[c]];
			const size_t n = cell->text ? strlen(cell->text) : 0;

			if (!n || text_is_plain(cell->text, n))
				continue;
			const size_t width = max_of(escaped_width(cell->text), n) +
					     (cell->kind == CELL_SYMBOL ? strlen("[.] ") : 0);
			p->columns[c].width = (unsigned)max_of((size_t)p->columns[c].width,
							       min_of(width, (size_t)UINT16_MAX));
		}
	}
}

/* Text from the recording must not look like a separator. */
static void replace_separator(const struct table_printer *p, struct strbuf *cell)
{
	if (!p->opts->separator)
		return;
	for (size_t i = 0; i < cell->len; i++)
		if (cell->str[i] == p->opts->separator[0])
			cell->str[i] = '.';
}

static void measure_cell(const struct table_printer *p, const struct result_column *column,
			 unsigned width, const struct result_cell *cell, struct strbuf *out)
{
	const bool separated = p->opts->separator;

	if (cell->kind == CELL_EMPTY)
		strbuf_addf(out, " %*s", (int)width - 1, "N/A");
	else if (column->style == COLUMN_SHARE)
		strbuf_addf(out, " %*.2f%%", separated ? 1 : (int)width - 2,
			    result_percent(p->t->profile, column, cell->u));
	else
		strbuf_addf(out, " %*" PRIu64, separated ? 1 : (int)width - 1, cell->u);
}

/* The c-th column: of a group, the numbers of all members. What is narrow is filled up behind. */
static void measure_cells(const struct table_printer *p, size_t c, const struct result_cell *cell,
			  struct strbuf *out)
{
	const struct result_column *column = &p->t->columns[p->from[c]];
	const unsigned each = number_width(column);
	const size_t n = cell->kind == CELL_EMPTY ? 1 : max_of(p->t->profile->n_members, (size_t)1);

	for (size_t i = 0; i < n; i++)
		measure_cell(p, column + i, p->user[c] ? p->user[c] : each, cell + i, out);
}

static void symbol_cell(const struct table_printer *p, unsigned width,
			const struct result_cell *cell, struct strbuf *out)
{
	if (p->opts->verbose)
		strbuf_addf(out, "%-#*" PRIx64 " %c ", ADDRESS_DIGITS + 2, cell->u, cell->origin);
	strbuf_addf(out, "[%c] ", cell->level);
	size_t room = width > out->len ? width - out->len : 0;
	if (!cell->text)
		strbuf_addf(out, "%-#.*" PRIx64, ADDRESS_DIGITS, cell->u);
	else if (cell->has_offset)
		strbuf_adds(out, cell->text);
	else
		strbuf_add(out, cell->text, min_of(strlen(cell->text), room));
	strbuf_adds(out, cell->is_inlined ? " (inlined)" : "");
}

/*
 * A cell of a diff. perf prints it by other functions where there is a separator: the cell is not
 * filled up then, and what is 0 is left out. A difference has 14 digits, however wide its column
 * is.
 */
static void diff_cell(const struct table_printer *p, enum column_style style, unsigned width,
		      const struct result_cell *cell, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const bool separated = p->opts->separator;
	int filled = separated ? 0 : (int)width;

	if (cell->text)
		strbuf_add(&text, cell->text, min_of(strlen(cell->text), (size_t)width));
	else if (cell->kind == CELL_EMPTY)
		;
	else if (style == COLUMN_PERCENT)
		strbuf_addf(&text, separated ? "%.2f" : "%.2f%%", cell->f);
	else if (style == COLUMN_CHANGE)
		strbuf_addf(&text, "%+.2f%%", cell->f);
	else if (style == COLUMN_RATIO && (cell->f > 0 || !separated))
		strbuf_addf(&text, "%14.6f", cell->f);
	else if (style == COLUMN_DIFFERENCE && (cell->i || !separated))
		strbuf_addf(&text, "%14" PRId64, cell->i);
	else if (style == COLUMN_VALUE)
		strbuf_addf(&text, "%" PRIu64, cell->u);
	if (style == COLUMN_DIFFERENCE && cell->kind != CELL_EMPTY)
		filled = 0;
	strbuf_addf(out, "%*s", filled, strbuf_str(&text));
	out->failed |= strbuf_failed(&text);
}

static void key_cell(const struct table_printer *p, enum column_style style, unsigned width,
		     const struct result_cell *cell, struct strbuf *out)
{
	const char *text = cell->text ? cell->text : "N/A";
	int w = (int)width;

	switch (style) {
	case COLUMN_THREAD:
		w = max_of(w, 7) - 8;
		strbuf_addf(out, "%7d:%-*.*s", (int)cell->i, w, w, text);
		break;
	case COLUMN_NAME:
		strbuf_addf(out, "%-*.*s", w, w, text);
		break;
	case COLUMN_LOOSE:
		strbuf_addf(out, "%-.*s", w, text);
		break;
	case COLUMN_RIGHT:
		strbuf_addf(out, "%*.*s", w, w, text);
		break;
	case COLUMN_FILLER:
		strbuf_addf(out, "%-*s", w, "-      -");
		break;
	case COLUMN_PERCENT:
	case COLUMN_CHANGE:
	case COLUMN_RATIO:
	case COLUMN_DIFFERENCE:
	case COLUMN_VALUE:
		diff_cell(p, style, width, cell, out);
		break;
	default:
		if (cell->kind == CELL_SYMBOL)
			symbol_cell(p, width, cell, out);
		else
			strbuf_addf(out, "%*.*d", w, w, (int)cell->i);
		break;
	}
	plain_whole_since(out, 0);
	replace_separator(p, out);
}

const char *table_printer_cell(struct table_printer *p, size_t row, size_t c)
{
	enum column_style style = p->t->columns[p->from[c]].style;
	const struct result_cell *cell = &p->t->cells[row * p->t->n_columns + p->from[c]];

	strbuf_reset(&p->cells[c]);
	if (is_measure(style))
		measure_cells(p, c, cell, &p->cells[c]);
	else
		key_cell(p, style, p->columns[c].width, cell, &p->cells[c]);
	return strbuf_str(&p->cells[c]);
}

void table_printer_row(struct table_printer *p, const struct show_table *table, size_t row,
		       struct strbuf *out)
{
	const char *texts[PERF_MAX_COLUMNS];

	for (size_t c = 0; c < p->n; c++) {
		texts[c] = table_printer_cell(p, row, c);
		out->failed |= strbuf_failed(&p->cells[c]);
	}
	show_table_row(table, texts, out);
}
