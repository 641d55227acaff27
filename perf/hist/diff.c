// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows are joined as sorted lists: the entries of each recording in the order of their names, those
 * with the same names added up, then one recording after the other merged into the baseline's.
 * What the baseline does not have gets a row of its own. Last, the rows are put in perf's order:
 * by the change that was asked for, then by the columns from left to right
 * (tools/perf/builtin-diff.c of Linux 6.1 and 7.2, and hists__match() and hists__link() of
 * util/hist.c).
 */
#include "perf/hist/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"
#include "perf/hist/internal.h"

enum {
	SHARE_WIDTH = 8,
	CHANGE_WIDTH = 7,
	NUMBER_WIDTH = 14,
	FORMULA_WIDTH = 70,
};

/* What one recording has of a row. */
struct diff_part {
	bool is_there;
	uint64_t period;
	double change; /* of this against the baseline, but that of DIFF_WEIGHTED */
	int64_t weighted;
};

struct diff_row {
	const struct hist_entry *he; /* whose keys are shown */
	const struct hist *of;	     /* that has it */
	struct diff_part *parts;     /* of each recording */
};

struct diff_rows {
	struct diff_row *v;
	size_t n, cap;
};

/* One event. */
struct differ {
	const struct diff_opts *opts;
	const struct hist_spec *spec;
	const struct hist **hists; /* of each recording; NULL: it does not have the event */
	struct arena *arena;
	struct diff_rows rows;
	uint64_t base_total; /* that shares of the baseline which are shown are of */
};

static void rows_deinit(struct diff_rows *rows)
{
	vec_deinit(rows);
}

struct error *diff_method_parse(const char *text, struct diff_opts *opts)
{
	static const char *const names[] = {
		[DIFF_DELTA_ABS] = "delta-abs",
		[DIFF_DELTA] = "delta",
		[DIFF_RATIO] = "ratio",
	};
	long long w1, w2;
	int end = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		opts->method = (enum diff_method)i;
		return NULL;
	}
	if (!strncmp(text, "wdiff", 5)) {
		if (sscanf(text, "wdiff:%9lld,%9lld%n", &w1, &w2, &end) != 2 || text[end] || !w1 ||
		    !w2)
			return error_hint(
				error_usage("--compute: '%s' has invalid weights", text),
				"write wdiff:W1,W2 with two whole numbers that are not 0");
		opts->method = DIFF_WEIGHTED;
		opts->weights[0] = w1;
		opts->weights[1] = w2;
		return NULL;
	}
	return error_hint(error_usage("--compute: unknown method '%s'", text),
			  "the methods are delta, delta-abs, ratio and wdiff:W1,W2");
}

/* ---- rows ---- */

/* By all keys, functions by their names: > 0, a comes first; 0: they are one row. */
static int64_t compare_names(const struct hist_spec *spec, const struct hist_entry *a,
			     const struct hist_entry *b)
{
	int64_t cmp = 0;

	for (size_t i = 0; i < spec->n_sort && !cmp; i++) {
		const char *x = a->frame->sym_name, *y = b->frame->sym_name;

		if (spec->sort[i] != HIST_SYMBOL)
			cmp = hist_fields_cmp(spec, &spec->sort[i], 1, a, b);
		else if (x && y)
			cmp = strcmp(y, x);
		else
			cmp = (y == NULL) - (x == NULL);
	}
	return cmp ? cmp : b->filtered - a->filtered;
}

struct listed_entry {
	const struct hist_entry *he;
	size_t number;
};

static int compare_listed(const void *a, const void *b, void *spec)
{
	const struct listed_entry *x = a, *y = b;
	const int64_t cmp = compare_names(spec, x->he, y->he);

	if (cmp)
		return cmp > 0 ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static struct error *row_add(struct differ *d, struct diff_rows *rows, const struct hist_entry *he,
			     const struct hist *of, struct diff_part *parts)
{
	struct diff_row *row = vec_push(rows);

	if (!parts)
		parts = arena_alloc(d->arena, d->opts->n * sizeof(*parts));
	if (!row || !parts)
		return error_nomem();
	*row = (struct diff_row){he, of, parts};
	return NULL;
}

/* The rows of one recording; of those with the same names, the first is shown. */
static struct error *list_rows(struct differ *d, size_t recording, struct diff_rows *rows)
{
	const struct hist *h = d->hists[recording];
	const size_t n = h ? hist_size(h) : 0;
	_cleanup_free_ struct listed_entry *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		list[i] = (struct listed_entry){hist_at(h, i), i};
	qsort_r(list, n, sizeof(*list), compare_listed, (void *)d->spec);
	for (size_t i = 0; i < n; i++) {
		const struct hist_entry *he = list[i].he;

		if (!rows->n || compare_names(d->spec, vec_last(rows)->he, he))
			TRY(row_add(d, rows, he, h, NULL));
		struct diff_part *part = &vec_last(rows)->parts[recording];
		part->is_there = true;
		sum_add(&part->period, he->stat.period);
	}
	return NULL;
}

/* Joins the rows of a recording with those that there are. */
static struct error *merge_rows(struct differ *d, size_t recording)
{
	_cleanup_(rows_deinit) struct diff_rows more = {0}, old = d->rows;
	size_t i = 0, k = 0;

	d->rows = (struct diff_rows){0};
	TRY(list_rows(d, recording, &more));
	while (i < old.n || k < more.n) {
		const int64_t cmp = i == old.n ? -1
				    : k == more.n
					    ? 1
					    : compare_names(d->spec, old.v[i].he, more.v[k].he);

		if (cmp < 0) {
			if (!d->opts->baseline_only)
				TRY(row_add(d, &d->rows, more.v[k].he, more.v[k].of,
					    more.v[k].parts));
			k++;
			continue;
		}
		TRY(row_add(d, &d->rows, old.v[i].he, old.v[i].of, old.v[i].parts));
		if (!cmp)
			old.v[i].parts[recording] = more.v[k++].parts[recording];
		i++;
	}
	return NULL;
}

/* Whether another recording than the baseline has it. */
static bool is_paired(const struct differ *d, const struct diff_row *row)
{
	for (size_t i = 1; i < d->opts->n; i++)
		if (row->parts[i].is_there)
			return true;
	return false;
}

static void keep_paired(struct differ *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->rows.n; i++)
		if (is_paired(d, &d->rows.v[i]))
			d->rows.v[n++] = d->rows.v[i];
	d->rows.n = n;
}

/* ---- changes ---- */

static uint64_t total_of(const struct differ *d, size_t recording)
{
	const struct hist *h = d->hists[recording];

	if (!h)
		return 0;
	return d->opts->relative ? hist_shown_totals(h)->period : hist_totals(h)->period;
}

static double percent_of(uint64_t period, uint64_t total)
{
	return total ? (double)period * 100.0 / (double)total : 0;
}

static void compute_row(const struct differ *d, const struct diff_row *row)
{
	const struct diff_part *base = &row->parts[0];

	for (size_t i = 1; i < d->opts->n; i++) {
		struct diff_part *part = &row->parts[i];

		switch (d->opts->method) {
		case DIFF_DELTA:
		case DIFF_DELTA_ABS:
			part->change = percent_of(part->period, total_of(d, i)) -
				       percent_of(base->period, total_of(d, 0));
			break;
		case DIFF_RATIO:
			part->change =
				(double)part->period / (double)(base->period ? base->period : 1);
			break;
		case DIFF_WEIGHTED:
			part->weighted = (int64_t)(part->period * (uint64_t)d->opts->weights[1] -
						   base->period * (uint64_t)d->opts->weights[0]);
			break;
		}
	}
}

/* All that perf's columns need to know of the recordings, before rows are sorted. */
static void compute(struct differ *d)
{
	const struct diff_row *row;

	d->base_total = d->opts->baseline_only ? 0 : total_of(d, 0);
	vec_for_each (row, &d->rows) {
		compute_row(d, row);
		if (d->opts->baseline_only && (!d->opts->relative || !row->he->filtered))
			sum_add(&d->base_total, row->parts[0].period);
	}
}

static int cmp_double(double a, double b)
{
	return (a > b) - (a < b);
}

/* > 0: a comes first. Rows that the recording does not have come last. */
static int compare_change(const struct differ *d, size_t recording, const struct diff_row *a,
			  const struct diff_row *b)
{
	const struct diff_part *x = &a->parts[recording], *y = &b->parts[recording];

	if (!x->is_there || !y->is_there)
		return x->is_there - y->is_there;
	switch (d->opts->method) {
	case DIFF_DELTA_ABS:
		return cmp_double(fabs(x->change), fabs(y->change));
	case DIFF_WEIGHTED:
		return (x->weighted > y->weighted) - (x->weighted < y->weighted);
	default:
		return cmp_double(x->change, y->change);
	}
}

/* By the recording of --order: what has nothing to compare with comes last. */
static int compare_order(const struct differ *d, const struct diff_row *a, const struct diff_row *b)
{
	const unsigned at = d->opts->order;
	const bool needs_base = d->opts->method == DIFF_RATIO || d->opts->method == DIFF_WEIGHTED;

	if (!at)
		return 0;
	if (needs_base && a->parts[at].is_there && b->parts[at].is_there &&
	    (!a->parts[0].is_there || !b->parts[0].is_there))
		return a->parts[0].is_there - b->parts[0].is_there;
	return compare_change(d, at, a, b);
}

struct ordered_row {
	struct diff_row row;
	size_t number;
};

static int compare_rows(const void *left, const void *right, void *ctx)
{
	const struct ordered_row *x = left, *y = right;
	const struct diff_row *a = &x->row, *b = &y->row;
	const struct differ *d = ctx;
	int64_t cmp = compare_order(d, a, b);

	if (!cmp)
		cmp = (a->parts[0].period > b->parts[0].period) -
		      (a->parts[0].period < b->parts[0].period);
	for (size_t i = 1; i < d->opts->n && !cmp; i++) {
		cmp = is_paired(d, a) - is_paired(d, b);
		if (!cmp)
			cmp = compare_change(d, i, a, b);
	}
	if (!cmp)
		cmp = hist_entry_sort(d->spec, a->he, b->he);
	if (cmp)
		return cmp > 0 ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static struct error *sort_rows(struct differ *d)
{
	_cleanup_free_ struct ordered_row *list = calloc(d->rows.n + 1, sizeof(*list));

	if (!list)
		return error_nomem();
	for (size_t i = 0; i < d->rows.n; i++)
		list[i] = (struct ordered_row){d->rows.v[i], i};
	qsort_r(list, d->rows.n, sizeof(*list), compare_rows, d);
	for (size_t i = 0; i < d->rows.n; i++)
		d->rows.v[i] = list[i].row;
	return NULL;
}

/* ---- the table ---- */

/* A column of the table that is not a key; the name is for programs, the title for people. */
static void value_column(struct results_maker *m, const struct differ *d, size_t recording,
			 const char *name, const char *title, enum column_style style,
			 unsigned width)
{
	const bool many = d->opts->n > 2;
	const size_t i = m->table->n_columns++;

	m->fields[i] = RESULTS_NO_FIELD;
	m->columns[i] = (struct result_column){
		.name = many ? results_format(m, "%s_%zu", name, recording) : name,
		.title = many ? results_format(m, "%s/%zu", title, recording) : title,
		.style = style,
		.width = width,
		.fixed = true,
		.unit = style == COLUMN_PERCENT || style == COLUMN_CHANGE ? "%" : NULL,
	};
}

static void change_column(struct results_maker *m, const struct differ *d, size_t recording)
{
	switch (d->opts->method) {
	case DIFF_DELTA:
		value_column(m, d, recording, "delta", "Delta", COLUMN_CHANGE, CHANGE_WIDTH);
		break;
	case DIFF_DELTA_ABS:
		value_column(m, d, recording, "delta", "Delta Abs", COLUMN_CHANGE, CHANGE_WIDTH);
		break;
	case DIFF_RATIO:
		value_column(m, d, recording, "ratio", "Ratio", COLUMN_RATIO, NUMBER_WIDTH);
		break;
	case DIFF_WEIGHTED:
		value_column(m, d, recording, "weighted", "Weighted diff", COLUMN_DIFFERENCE,
			     NUMBER_WIDTH);
		break;
	}
}

static void columns_make(struct results_maker *m, const struct differ *d)
{
	const size_t most = d->opts->n * 3 + m->spec->n_out;

	m->table->columns = m->columns = arena_alloc(m->arena, most * sizeof(*m->columns));
	m->fields = arena_alloc(m->arena, most * sizeof(*m->fields));
	m->failed |= !m->columns || !m->fields;
	if (m->failed)
		return;
	for (size_t i = 0; i < d->opts->n; i++) {
		if (i)
			change_column(m, d, i);
		else
			value_column(m, d, i, "baseline", "Baseline", COLUMN_PERCENT, SHARE_WIDTH);
		if (i && d->opts->show_formula)
			value_column(m, d, i, "formula", "Formula", COLUMN_VALUE, FORMULA_WIDTH);
		if (d->opts->show_period)
			value_column(m, d, i, i ? "period" : "base_period",
				     i ? "Period" : "Base period", COLUMN_VALUE, NUMBER_WIDTH);
	}
	for (size_t i = 0; i < m->spec->n_out; i++)
		results_add_column(m, m->spec->out[i], 0);
}

static struct result_cell float_cell(double f)
{
	return (struct result_cell){.kind = CELL_FLOAT, .f = f};
}

static struct result_cell change_cell(const struct differ *d, const struct diff_row *row, size_t i)
{
	const bool needs_base = d->opts->method == DIFF_RATIO || d->opts->method == DIFF_WEIGHTED;
	const struct diff_part *part = &row->parts[i];

	if (!part->is_there)
		return (struct result_cell){.kind = CELL_EMPTY};
	if (needs_base && !row->parts[0].is_there)
		return (struct result_cell){.kind = CELL_EMPTY, .text = "N/A"};
	if (d->opts->method == DIFF_WEIGHTED)
		return (struct result_cell){.kind = CELL_INT, .i = part->weighted};
	return float_cell(part->change);
}

static const char *formula_text(struct results_maker *m, const struct differ *d,
				const struct diff_row *row, size_t i)
{
	const uint64_t period = row->parts[i].period, base = row->parts[0].period;

	switch (d->opts->method) {
	case DIFF_RATIO:
		return results_format(m, "%.0f / %.0f", (double)period, (double)base);
	case DIFF_WEIGHTED:
		return results_format(m,
				      "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")",
				      period, d->opts->weights[1], base, d->opts->weights[0]);
	default:
		return results_format(m,
				      "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64
				      " * 100 / %" PRIu64 ")",
				      period, total_of(d, i), base, d->base_total);
	}
}

static void cells_make(struct results_maker *m, const struct differ *d, const struct diff_row *row,
		       struct result_cell *cells)
{
	const struct result_cell empty = {.kind = CELL_EMPTY};
	size_t c = 0;

	for (size_t i = 0; i < d->opts->n; i++) {
		const struct diff_part *part = &row->parts[i];

		if (i)
			cells[c++] = change_cell(d, row, i);
		else
			cells[c++] = part->is_there
					     ? float_cell(percent_of(part->period, d->base_total))
					     : empty;
		if (i && d->opts->show_formula)
			cells[c++] =
				part->is_there ? cell_of_text(formula_text(m, d, row, i)) : empty;
		if (d->opts->show_period)
			cells[c++] = part->is_there || !i ? cell_of_number(part->period) : empty;
	}
	m->h = row->of;
	for (; c < m->table->n_columns; c++) {
		const size_t width = results_width(m, m->fields[c], row->he);

		cells[c] = results_cell(m, c, row->he);
		m->columns[c].width =
			(unsigned)min_of(max_of(m->columns[c].width, width), (size_t)UINT16_MAX);
	}
}

static struct error *table_make(const struct differ *d, const struct session_event *event,
				struct results *results)
{
	struct result *r = results_add(results, RESULT_TABLE, event->name);
	const struct hist_results_opts opts = {
		.name = event->name,
		.unit = summary_unit(event),
		.origins = d->spec->long_dso,
		.wide_dso = d->opts->wide_dso,
	};
	struct results_maker m = {
		.spec = d->spec, .opts = &opts, .arena = &results->arena, .h = d->hists[0]};
	const struct diff_row *row;
	size_t n = 0;

	if (!r)
		return error_nomem();
	r->unit = opts.unit;
	m.table = &r->table;
	columns_make(&m, d);
	if (m.failed)
		return error_nomem();
	m.table->cells =
		arena_alloc(m.arena, d->rows.n * m.table->n_columns * sizeof(*m.table->cells));
	if (!m.table->cells)
		return error_nomem();
	vec_for_each (row, &d->rows)
		if (!row->he->filtered)
			cells_make(&m, d, row, &m.table->cells[n++ * m.table->n_columns]);
	m.table->n_rows = n;
	return m.failed ? error_nomem() : NULL;
}

/* ---- events ---- */

/* The histogram of the same event; NULL: the recording does not have it. */
static const struct hist *hist_of_event(const struct summary *s, const struct session_event *event)
{
	struct session *session = summary_session(s);

	for (size_t i = 0; i < session_n_events(session); i++) {
		const struct session_event *other = session_event(session, i);

		if (other->attr.type == event->attr.type &&
		    other->attr.config == event->attr.config)
			return summary_hist(s, i);
	}
	return NULL;
}

static struct error *diff_event(struct differ *d, size_t event, struct results *results)
{
	const struct diff_opts *opts = d->opts;
	const struct session_event *ev = session_event(summary_session(opts->recorded[0]), event);

	d->hists[0] = summary_hist(opts->recorded[0], event);
	for (size_t i = 1; i < opts->n; i++)
		d->hists[i] = hist_of_event(opts->recorded[i], ev);
	d->rows.n = 0;
	TRY(list_rows(d, 0, &d->rows));
	for (size_t i = 1; i < opts->n; i++)
		TRY(merge_rows(d, i));
	if (opts->baseline_only)
		keep_paired(d);
	compute(d);
	TRY(sort_rows(d));
	return table_make(d, ev, results);
}

struct error *diff_results(const struct diff_opts *given, struct results *results)
{
	struct diff_opts opts = {0};
	_cleanup_free_ const struct hist **hists = NULL;
	struct error *err = NULL;

	memcpy(&opts, given, min_of(given->sz, sizeof(opts)));
	hists = calloc(opts.n, sizeof(*hists));
	if (!hists)
		return error_nomem();
	struct differ d = {
		.opts = &opts,
		.spec = summary_spec(opts.recorded[0]),
		.hists = hists,
		.arena = &results->arena,
	};
	const size_t n = session_n_events(summary_session(opts.recorded[0]));

	results->subject = RESULTS_OF_EVENTS;
	for (size_t i = 0; i < n && !err; i++)
		err = diff_event(&d, i, results);
	vec_deinit(&d.rows);
	return err;
}

/* The event of a recording that has this name; NULL: there is none. */
static const struct session_event *event_of_name(const struct summary *summary, const char *name)
{
	struct session *session = summary_session(summary);

	for (size_t i = 0; i < session_n_events(session); i++)
		if (!strcmp(session_event(session, i)->name, name))
			return session_event(session, i);
	return NULL;
}

static struct error *stacks_of(const struct summary *base, const struct summary *other,
			       const char *title, struct results *results)
{
	struct session *session = summary_session(other);

	for (size_t i = 0; i < session_n_events(session); i++) {
		const struct session_event *event = session_event(session, i);
		const struct session_event *same = event_of_name(base, event->name);
		const struct hist_member of = {summary_hist(other, i), event->name,
					       summary_unit(event)};

		if (!hist_totals(of.hist)->samples)
			continue;
		TRY(hist_stacks_against(&of, same ? summary_hist(base, (size_t)same->index) : NULL,
					title, results));
	}
	return NULL;
}

struct error *diff_stacks(const struct diff_opts *opts, const char *const *names,
			  struct results *results)
{
	for (size_t i = 1; i < opts->n; i++) {
		_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;

		strbuf_addf(&title, "%s against %s", names[i], names[0]);
		if (strbuf_failed(&title))
			return error_nomem();
		TRY(stacks_of(opts->recorded[0], opts->recorded[i], strbuf_str(&title), results));
	}
	return NULL;
}
