// SPDX-License-Identifier: BSD-2-Clause
#include "show/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/json.h"
#include "show/columns.h"
#include "show/plain.h"

void csv_deinit(struct csv *csv)
{
	strbuf_deinit(&csv->header);
}

/* A line that is being written. */
struct line {
	struct strbuf *out;
	bool any;
};

/* What RFC 4180 wants quoted, and blanks at the ends, which readers like to strip. */
static void add_field(struct line *line, const char *s, size_t n)
{
	bool quoted = n && (s[0] == ' ' || s[n - 1] == ' ');

	if (line->any)
		strbuf_addch(line->out, ',');
	line->any = true;
	for (size_t i = 0; i < n && !quoted; i++)
		quoted = s[i] == '"' || s[i] == ',';
	if (!quoted) {
		strbuf_add(line->out, s, n);
		return;
	}
	strbuf_addch(line->out, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			strbuf_addch(line->out, '"');
		strbuf_addch(line->out, s[i]);
	}
	strbuf_addch(line->out, '"');
}

/*
 * Spreadsheets calculate cells that begin with one of these, also by running programs; a process
 * names itself. With a quote before it, a cell is text.
 */
static bool is_formula(const char *s)
{
	char *end;

	if (*s == '@') /* "@plt" is a name, "@SUM(1)" is not */
		return strchr(s, '(');
	if (!*s || !strchr("=+-", *s))
		return false;
	strtod(s, &end);
	return end == s || *end;
}

static void add_text(struct line *line, const char *s)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (s && is_formula(s))
		strbuf_addch(&text, '\'');
	if (s)
		plain_add(&text, s, strlen(s));
	line->out->failed |= strbuf_failed(&text);
	add_field(line, strbuf_str(&text), text.len);
}

static void add_u64(struct line *line, uint64_t v)
{
	if (line->any)
		strbuf_addch(line->out, ',');
	line->any = true;
	strbuf_add_u64(line->out, v);
}

static void add_bound(struct line *line, uint64_t v, bool log2)
{
	if (line->any)
		strbuf_addch(line->out, ',');
	line->any = true;
	bound_add(line->out, v, log2);
}

/* 2026-11-21T23:14:41.123456789Z */
static void add_time(struct line *line, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[48];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	n += (size_t)snprintf(text + n, sizeof(text) - n, ".%09" PRIu64 "Z", ns % 1000000000);
	add_field(line, text, n);
}

static void end_line(struct line *line)
{
	strbuf_adds(line->out, "\r\n");
	line->any = false;
}

static void begin_row(struct csv *csv, const struct results *results, const struct result *r,
		      struct line *line)
{
	if (csv->looks)
		add_time(line, results->time);
	add_text(line, r->name);
}

/* The number; what is only text is that. */
static void add_cell(struct line *line, const struct result_column *column,
		     const struct result_cell *cell)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	switch (cell->kind) {
	case CELL_EMPTY:
		add_text(line, cell->text);
		return;
	case CELL_TEXT:
		add_text(line, cell->text);
		return;
	case CELL_UINT:
		if (column->unit && !strcmp(column->unit, "time"))
			add_time(line, cell->u);
		else
			add_u64(line, cell->u);
		return;
	case CELL_BOOL:
		add_text(line, cell->u ? "true" : "false");
		return;
	case CELL_INT:
		json_add_i64(&text, cell->i);
		break;
	case CELL_FLOAT:
		if (isfinite(cell->f))
			strbuf_add_double(&text, cell->f);
		break;
	case CELL_SYMBOL:
		cell_add_symbol(cell, &text);
		add_text(line, strbuf_str(&text));
		line->out->failed |= strbuf_failed(&text);
		return;
	}
	line->out->failed |= strbuf_failed(&text);
	add_field(line, strbuf_str(&text), text.len);
}

/* Which columns need a second one for what people read; NULL: no memory. */
static bool *find_texts(const struct result_table *t)
{
	bool *texts = calloc(t->n_columns + 1, sizeof(*texts));

	for (size_t i = 0; texts && i < t->n_columns; i++)
		texts[i] = t->columns[i].has_text;
	for (size_t i = 0; texts && i < t->n_rows * t->n_columns; i++)
		texts[i % t->n_columns] |= cell_has_text(&t->cells[i]);
	return texts;
}

/* The names of the columns, behind "look" and "map"; none of them comes twice. */
static void table_header(const struct csv *csv, const char *subject, const struct result_table *t,
			 const bool *texts, struct line *line)
{
	_cleanup_names_ struct names taken = {0};

	if ((csv->looks && !names_add(&taken, "look")) || !names_add(&taken, subject)) {
		line->out->failed = true;
		return;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		struct result_column column = t->columns[c];

		if (column.style == COLUMN_FILLER)
			continue;
		column.has_text = texts[c];
		const char *name = column_take_name(&taken, &column);
		if (!name) {
			line->out->failed = true;
			return;
		}
		add_text(line, name);
		if (!texts[c])
			continue;
		strbuf_addf(&text, "%s_text", name);
		add_text(line, strbuf_str(&text));
	}
}

static void table_rows(struct csv *csv, const struct results *results, const struct result *r,
		       const struct result_table *t, const bool *texts, struct line *line)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		if (!result_row_shown(t, i))
			continue;
		begin_row(csv, results, r, line);
		for (size_t c = 0; c < t->n_columns; c++) {
			const struct result_cell *cell = &t->cells[i * t->n_columns + c];

			if (t->columns[c].style == COLUMN_FILLER)
				continue;
			add_cell(line, &t->columns[c], cell);
			if (texts[c])
				add_text(line, cell_has_text(cell) ? cell->text : NULL);
		}
		end_line(line);
	}
}

static void hist_rows(struct csv *csv, const struct results *results, const struct result *r,
		      struct line *line)
{
	for (size_t h = 0; h < r->n_hists; h++) {
		const struct result_hist *hist = &r->hists[h];

		for (size_t b = 0; b < hist->n_buckets; b++) {
			if (!hist->buckets[b].count)
				continue;
			begin_row(csv, results, r, line);
			add_text(line, hist->label);
			add_bound(line, hist->buckets[b].low, r->log2);
			add_bound(line, hist->buckets[b].high, r->log2);
			add_u64(line, hist->buckets[b].count);
			end_line(line);
		}
	}
}

static void heat_rows(struct csv *csv, const struct results *results, const struct result *r,
		      struct line *line)
{
	const struct result_heat *h = &r->heat;

	for (size_t i = 0; i < h->n_times * h->n_ranges; i++) {
		const struct result_bucket *range = &h->ranges[i % h->n_ranges];

		if (!h->counts[i])
			continue;
		begin_row(csv, results, r, line);
		add_time(line, h->start + i / h->n_ranges * h->step);
		add_bound(line, range->low, r->log2);
		add_bound(line, range->high, r->log2);
		add_u64(line, h->counts[i]);
		end_line(line);
	}
}

/* "main;read_input;memchr": what a name has of ';' would make two of it. */
static void add_frames(struct line *line, const struct result_stack *s)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (size_t i = s->n_frames; i-- > 0;) {
		const char *name = s->frames[i]->name;

		for (size_t k = 0; name[k]; k++)
			strbuf_addch(&text, name[k] == ';' ? ':' : name[k]);
		if (i)
			strbuf_addch(&text, ';');
	}
	line->out->failed |= strbuf_failed(&text);
	add_text(line, strbuf_str(&text));
}

static void stack_rows(struct csv *csv, const struct results *results, const struct result *r,
		       struct line *line)
{
	for (size_t i = 0; i < r->n_stacks; i++) {
		begin_row(csv, results, r, line);
		add_u64(line, r->stacks[i].count);
		if (results->subject == RESULTS_OF_EVENTS)
			add_u64(line, r->stacks[i].samples);
		add_text(line, r->stacks[i].label);
		add_frames(line, &r->stacks[i]);
		end_line(line);
	}
}

/* The header, unless it is the one above; an empty line where another table ended. */
static void add_header(struct csv *csv, struct strbuf *header, struct strbuf *out)
{
	if (csv->began && !strcmp(strbuf_str(header), strbuf_str(&csv->header)))
		return;
	if (csv->began)
		strbuf_adds(out, "\r\n");
	csv->began = true;
	strbuf_add(out, strbuf_str(header), header->len);
	strbuf_deinit(&csv->header);
	csv->header = *header;
	*header = (struct strbuf)STRBUF_INIT;
}

static void add_names(struct line *line, const char *const *names)
{
	for (; *names; names++)
		add_text(line, *names);
}

/* The rows of a table, or of the events that came; NULL: there are none to show. */
static const struct result_table *rows_of(const struct results *results, const struct result *r)
{
	if (r->kind == RESULT_EVENTS && results->events)
		return &r->events.table;
	return r->kind == RESULT_TABLE ? &r->table : NULL;
}

void results_csv(struct csv *csv, const struct results *results, struct strbuf *out)
{
	static const char *const count_names[] = {"count", NULL};
	static const char *const hist_names[] = {"key", "low", "high", "count", NULL};
	static const char *const stack_names[] = {"count", "label", "frames", NULL};
	static const char *const sample_names[] = {"count", "samples", "label", "frames", NULL};
	static const char *const heat_names[] = {"time", "low", "high", "count", NULL};
	static const char *const total_names[] = {"total", "lost", NULL};

	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];
		const struct result_table *t = rows_of(results, r);
		_cleanup_free_ bool *texts = t ? find_texts(t) : NULL;
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		struct line header = {.out = &text}, line = {.out = out};

		if (t && !texts) {
			out->failed = true;
			return;
		}
		if (csv->looks)
			add_text(&header, "look");
		add_text(&header, results_subject_name(results));
		switch (r->kind) {
		case RESULT_COUNT:
			add_names(&header, count_names);
			break;
		case RESULT_TABLE:
			table_header(csv, results_subject_name(results), t, texts, &header);
			break;
		case RESULT_HIST:
			add_names(&header, hist_names);
			break;
		case RESULT_STACKS:
			add_names(&header, results->subject == RESULTS_OF_EVENTS ? sample_names
										 : stack_names);
			break;
		case RESULT_HEAT:
			add_names(&header, heat_names);
			break;
		case RESULT_EVENTS:
			if (t)
				table_header(csv, results_subject_name(results), t, texts, &header);
			else
				add_names(&header, total_names);
			break;
		}
		end_line(&header);
		out->failed |= strbuf_failed(&text);
		/* two maps with the same header are one table, told apart by "map" */
		add_header(csv, &text, out);
		switch (r->kind) {
		case RESULT_COUNT:
			begin_row(csv, results, r, &line);
			add_u64(&line, r->count);
			end_line(&line);
			break;
		case RESULT_TABLE:
			table_rows(csv, results, r, t, texts, &line);
			break;
		case RESULT_HIST:
			hist_rows(csv, results, r, &line);
			break;
		case RESULT_STACKS:
			stack_rows(csv, results, r, &line);
			break;
		case RESULT_HEAT:
			heat_rows(csv, results, r, &line);
			break;
		case RESULT_EVENTS:
			if (t) {
				table_rows(csv, results, r, t, texts, &line);
				break;
			}
			begin_row(csv, results, r, &line);
			add_u64(&line, r->events.total);
			if (r->events.lost_counted)
				add_u64(&line, r->events.lost);
			else
				add_text(&line, "");
			end_line(&line);
			break;
		}
	}
}
