// SPDX-License-Identifier: BSD-2-Clause
#include "show/result_json.h"

#include <math.h>

#include "lib/base/json_writer.h"
#include "lib/base/names.h"

static const char *const schemas[] = {
	[RESULTS_OF_MAPS] = "perf-bpf-run/1",
	[RESULTS_OF_EVENTS] = "perf-bpf-report/1",
	[RESULTS_OF_CALLS] = "perf-bpf-trace/1",
};

static void add_cell(struct json_writer *w, const char *key, const struct result_cell *cell)
{
	switch (cell->kind) {
	case CELL_EMPTY:
		jw_null(w, key);
		break;
	case CELL_TEXT:
		jw_text(w, key, cell->text ? cell->text : "");
		break;
	case CELL_UINT:
		jw_u64(w, key, cell->u);
		break;
	case CELL_INT:
		jw_i64(w, key, cell->i);
		break;
	case CELL_BOOL:
		jw_bool(w, key, cell->u);
		break;
	case CELL_FLOAT:
		jw_double(w, key, cell->f);
		break;
	case CELL_SYMBOL:
		if (cell->text)
			jw_text(w, key, cell->text);
		else
			jw_address(w, key, cell->u);
		break;
	}
}

/*
 * The columns' names with what is behind them, "_text" or "_percent", made once: there may be
 * millions of rows.
 */
static bool text_keys(struct names *keys, const struct result_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *key =
			text_format("%s_%s", columns[i].name,
				    columns[i].style == COLUMN_SHARE ? "percent" : "text");

		if (!key || !names_add(keys, key))
			return false;
	}
	return true;
}

/* {"pid":3237,"pid_text":"dd(3237)","calls":5} */
static void add_row(struct json_writer *w, const char *key, const struct result_column *columns,
		    const struct names *texts, const struct result_cell *cells,
		    const struct result_profile *profile)
{
	jw_object(w, key);
	for (size_t i = 0; i < texts->n; i++) {
		if (columns[i].style == COLUMN_FILLER)
			continue;
		add_cell(w, columns[i].name, &cells[i]);
		if (cells[i].kind != CELL_TEXT && cells[i].kind != CELL_SYMBOL)
			jw_text_if(w, texts->v[i], cells[i].text);
		if (cells[i].is_inlined)
			jw_bool(w, "inlined", true);
		if (columns[i].style == COLUMN_SHARE && profile && cells[i].kind == CELL_UINT)
			jw_double(w, texts->v[i],
				  round(result_percent(profile, &columns[i], cells[i].u) * 1e4) /
					  1e4);
	}
	jw_end(w);
}

static void add_totals(struct json_writer *w, const struct result_totals *all,
		       const struct result_totals *shown)
{
	jw_u64(w, "samples", all->samples);
	jw_u64(w, "period", all->period);
	jw_u64(w, "shown_samples", shown->samples);
	jw_u64(w, "shown_period", shown->period);
}

/* Periods of different events have no sum. */
static void add_members(struct json_writer *w, const struct result_profile *profile)
{
	jw_array(w, "events");
	for (size_t i = 0; i < profile->n_members; i++) {
		jw_object(w, NULL);
		jw_text(w, "event", profile->members[i].event);
		add_totals(w, &profile->members[i].all, &profile->members[i].shown);
		jw_end(w);
	}
	jw_end(w);
}

static void add_table(struct json_writer *w, const struct result_table *t)
{
	_cleanup_names_ struct names texts = {0};
	uint64_t left_out = t->left_out;

	if (t->profile && t->profile->n_members)
		add_members(w, t->profile);
	else if (t->profile)
		add_totals(w, &t->profile->all, &t->profile->shown);
	jw_array(w, "columns");
	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].style == COLUMN_FILLER)
			continue;
		jw_object(w, NULL);
		jw_text(w, "name", t->columns[i].name);
		jw_text_if(w, "event", t->columns[i].event);
		jw_text_if(w, "unit", t->columns[i].unit);
		if (t->columns[i].is_key)
			jw_bool(w, "key", true);
		if (t->columns[i].style == COLUMN_SHARE)
			jw_bool(w, "share", true);
		jw_end(w);
	}
	jw_end(w);
	jw_array(w, "rows");
	w->out->failed |= !text_keys(&texts, t->columns, t->n_columns);
	for (size_t i = 0; i < t->n_rows; i++) {
		if (result_row_shown(t, i))
			add_row(w, NULL, t->columns, &texts, t->cells + i * t->n_columns,
				t->profile);
		else
			left_out++;
	}
	jw_end(w);
	if (left_out)
		jw_u64(w, "left_out", left_out);
}

static void add_bucket(struct json_writer *w, const struct result_bucket *b, bool log2)
{
	jw_object(w, NULL);
	bound_add(jw_value(w, "low"), b->low, log2);
	bound_add(jw_value(w, "high"), b->high, log2);
	jw_u64(w, "count", b->count);
	jw_end(w);
}

static void add_hists(struct json_writer *w, const struct result *r, bool whole)
{
	_cleanup_names_ struct names texts = {0};

	jw_text(w, "scale", r->log2 ? "log2" : "linear");
	jw_array(w, "hists");
	w->out->failed |= !text_keys(&texts, r->keys, r->n_keys);
	for (size_t i = 0; i < r->n_hists; i++) {
		const struct result_hist *h = &r->hists[i];

		jw_object(w, NULL);
		jw_u64(w, "total", h->total);
		if (h->keys)
			add_row(w, "key", r->keys, &texts, h->keys, NULL);
		jw_text_if(w, "label", h->label);
		jw_array(w, "buckets");
		for (size_t b = 0; b < h->n_buckets; b++)
			if (whole || h->buckets[b].count)
				add_bucket(w, &h->buckets[b], r->log2);
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

static void add_stack_list(struct json_writer *w, const char *key,
			   const struct result_stack *stacks, size_t n)
{
	jw_array(w, key);
	for (size_t i = 0; i < n; i++) {
		const struct result_stack *s = &stacks[i];

		jw_object(w, NULL);
		jw_u64(w, "count", s->count);
		if (s->samples)
			jw_u64(w, "samples", s->samples);
		jw_text_if(w, "label", s->label);
		jw_array(w, "frames");
		for (size_t f = 0; f < s->n_frames; f++) {
			const struct result_frame *frame = s->frames[f];

			jw_object(w, NULL);
			jw_text(w, "name", frame->name);
			if (!frame->is_function)
				jw_u64(w, "offset", frame->offset);
			jw_text_if(w, "module", frame->module);
			if (frame->is_kernel)
				jw_bool(w, "kernel", true);
			if (frame->is_inlined)
				jw_bool(w, "inlined", true);
			jw_end(w);
		}
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

static void add_stacks(struct json_writer *w, const struct result *r)
{
	add_stack_list(w, "stacks", r->stacks, r->n_stacks);
	if (r->base_stacks)
		add_stack_list(w, "base_stacks", r->base_stacks, r->n_base_stacks);
	jw_u64(w, "total", r->total);
	if (r->lost)
		jw_u64(w, "lost", r->lost);
	if (r->stacks_left_out)
		jw_u64(w, "left_out", r->stacks_left_out);
}

/* Ranges that were met, and for each slot of time the counts in them. */
static void add_heat(struct json_writer *w, const struct result *r)
{
	const struct result_heat *h = &r->heat;
	size_t first = 0, n = h->n_ranges;

	while (n && !h->ranges[n - 1].count)
		n--;
	while (first < n && !h->ranges[first].count)
		first++;
	jw_text(w, "scale", r->log2 ? "log2" : "linear");
	jw_u64(w, "start_ns", h->start);
	jw_u64(w, "step_ns", h->step);
	jw_array(w, "ranges");
	for (size_t i = first; i < n; i++)
		add_bucket(w, &h->ranges[i], r->log2);
	jw_end(w);
	jw_array(w, "counts");
	for (size_t t = 0; t < h->n_times; t++) {
		jw_array(w, NULL);
		for (size_t i = first; i < n; i++)
			jw_u64(w, NULL, h->counts[t * h->n_ranges + i]);
		jw_end(w);
	}
	jw_end(w);
}

/* A line for each event. */
static void add_events(struct strbuf *out, const struct result *r)
{
	const struct result_table *t = &r->events.table;
	_cleanup_names_ struct names texts = {0};

	if (!t->n_rows)
		return;
	out->failed |= !text_keys(&texts, t->columns + 1, t->n_columns - 1);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct result_cell *cells = t->cells + i * t->n_columns;
		struct json_writer w = json_writer_make(out);

		jw_object(&w, NULL);
		jw_text(&w, "schema", schemas[RESULTS_OF_MAPS]);
		jw_text_if(&w, "map", r->name);
		jw_text(&w, "kind", "event");
		if (cells[0].kind == CELL_UINT)
			jw_u64(&w, "time_ns", cells[0].u);
		jw_text(&w, "time_of", strcmp(t->columns[0].name, "time") ? "reading" : "event");
		add_row(&w, "event", t->columns + 1, &texts, cells + 1, NULL);
		jw_end(&w);
		json_writer_finish(&w);
		strbuf_addch(out, '\n');
	}
}

static void add_result(struct json_writer *w, const struct result *r, const struct results *results,
		       bool last, bool whole)
{
	static const char *const kinds[] = {
		[RESULT_COUNT] = "count",   [RESULT_TABLE] = "table",  [RESULT_HIST] = "histogram",
		[RESULT_STACKS] = "stacks", [RESULT_HEAT] = "heatmap", [RESULT_EVENTS] = "events",
	};

	jw_object(w, NULL);
	jw_text(w, "schema", schemas[results->subject]);
	jw_text_if(w, results_subject_name(results), r->name);
	jw_text(w, "kind", kinds[r->kind]);
	if (results->time || results->subject != RESULTS_OF_EVENTS) {
		jw_u64(w, "time_ns", results->time);
		jw_u64(w, "span_ns", results->span);
	}
	jw_text_if(w, "title", r->title);
	jw_text_if(w, "unit", r->unit);
	jw_text_if(w, "note", r->note);
	if (r->note && r->note_is_good)
		jw_bool(w, "note_good", true);
	if (results->subject == RESULTS_OF_EVENTS && !results->lost_unknown)
		jw_u64(w, "lost_samples", results->lost);
	else if (results->subject != RESULTS_OF_EVENTS)
		jw_bool(w, "last", last);
	if (r->updates.counted)
		jw_u64(w, "failed_updates", r->updates.n);
	if (r->lost_stacks.counted)
		jw_u64(w, "lost_stacks", r->lost_stacks.n);
	switch (r->kind) {
	case RESULT_COUNT:
		jw_u64(w, "count", r->count);
		break;
	case RESULT_TABLE:
		add_table(w, &r->table);
		break;
	case RESULT_HIST:
		add_hists(w, r, whole);
		break;
	case RESULT_STACKS:
		add_stacks(w, r);
		break;
	case RESULT_HEAT:
		add_heat(w, r);
		break;
	case RESULT_EVENTS:
		jw_u64(w, "total", r->events.total);
		if (r->events.lost_counted)
			jw_u64(w, "lost", r->events.lost);
		break;
	}
	jw_end(w);
}

static void add_results(const struct results *results, bool last, bool whole, struct strbuf *out)
{
	for (size_t i = 0; i < results->n; i++) {
		struct json_writer w = json_writer_make(out);

		if (results->events) {
			add_events(out, &results->v[i]);
			continue;
		}
		add_result(&w, &results->v[i], results, last, whole);
		json_writer_finish(&w);
		strbuf_addch(out, '\n');
	}
}

void results_json(const struct results *results, bool last, struct strbuf *out)
{
	add_results(results, last, false, out);
}

void results_json_whole(const struct results *results, struct strbuf *out)
{
	add_results(results, true, true, out);
}
