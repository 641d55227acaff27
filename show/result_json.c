// SPDX-License-Identifier: BSD-2-Clause
#include "show/result_json.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/json.h"

#define SCHEMA "perf-bpf-run/1"

static void add_string(struct strbuf *out, const char *s)
{
	json_add_string(out, s, strlen(s));
}

static void add_key(struct strbuf *out, const char *key)
{
	strbuf_adds(out, ",\"");
	strbuf_adds(out, key);
	strbuf_adds(out, "\":");
}

static void add_text(struct strbuf *out, const char *key, const char *text)
{
	if (!text)
		return;
	add_key(out, key);
	add_string(out, text);
}

static void add_u64(struct strbuf *out, const char *key, uint64_t v)
{
	add_key(out, key);
	strbuf_add_u64(out, v);
}

static void add_number(struct strbuf *out, const struct result_cell *cell)
{
	switch (cell->kind) {
	case CELL_EMPTY:
		strbuf_adds(out, "null");
		break;
	case CELL_TEXT:
		add_string(out, cell->text ? cell->text : "");
		break;
	case CELL_UINT:
		strbuf_add_u64(out, cell->u);
		break;
	case CELL_INT:
		json_add_i64(out, cell->i);
		break;
	case CELL_BOOL:
		strbuf_adds(out, cell->u ? "true" : "false");
		break;
	case CELL_FLOAT:
		if (isfinite(cell->f))
			strbuf_add_double(out, cell->f);
		else
			strbuf_adds(out, "null");
		break;
	}
}

/* The columns' names as members: each is escaped once, and there may be millions of rows. */
struct row_keys {
	struct strbuf text;
	size_t *ends; /* of "pid":, of "pid_text":, of the next one's … */
};

static void row_keys_init(struct row_keys *keys, const struct result_column *columns, size_t n)
{
	*keys = (struct row_keys){0};
	keys->ends = calloc(2 * n + 1, sizeof(*keys->ends));
	keys->text.failed = !keys->ends;
	for (size_t i = 0; keys->ends && i < n; i++) {
		size_t from = keys->text.len;

		add_string(&keys->text, columns[i].name);
		strbuf_addch(&keys->text, ':');
		keys->ends[2 * i] = keys->text.len;
		strbuf_addch(&keys->text, ',');
		if (strbuf_failed(&keys->text))
			return;
		/* without the quote and the colon behind the name */
		strbuf_reserve(&keys->text, keys->text.len);
		strbuf_add(&keys->text, keys->text.str + from, keys->ends[2 * i] - 2 - from);
		strbuf_adds(&keys->text, "_text\":");
		keys->ends[2 * i + 1] = keys->text.len;
	}
}

static void row_keys_deinit(struct row_keys *keys)
{
	strbuf_deinit(&keys->text);
	free(keys->ends);
}

static void add_row_key(struct strbuf *out, const struct row_keys *keys, size_t i)
{
	size_t from = i ? keys->ends[i - 1] : 0;

	strbuf_add(out, keys->text.str + from, keys->ends[i] - from);
}

/* {"pid":3237,"pid_text":"dd(3237)","calls":5} */
static void add_row(struct strbuf *out, const struct row_keys *keys,
		    const struct result_cell *cells, size_t n)
{
	if (strbuf_failed(&keys->text)) {
		out->failed = true;
		return;
	}
	strbuf_addch(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_addch(out, ',');
		add_row_key(out, keys, 2 * i);
		add_number(out, &cells[i]);
		if (cells[i].kind == CELL_TEXT || !cells[i].text)
			continue;
		add_row_key(out, keys, 2 * i + 1);
		add_string(out, cells[i].text);
	}
	strbuf_addch(out, '}');
}

static void add_table(struct strbuf *out, const struct result_table *t)
{
	struct row_keys keys;

	add_key(out, "columns");
	strbuf_addch(out, '[');
	for (size_t i = 0; i < t->n_columns; i++) {
		strbuf_adds(out, i ? ",{\"name\":" : "{\"name\":");
		add_string(out, t->columns[i].name);
		add_text(out, "unit", t->columns[i].unit);
		strbuf_adds(out, t->columns[i].is_key ? ",\"key\":true}" : "}");
	}
	strbuf_addch(out, ']');
	add_key(out, "rows");
	strbuf_addch(out, '[');
	row_keys_init(&keys, t->columns, t->n_columns);
	for (size_t i = 0; i < t->n_rows; i++) {
		if (i)
			strbuf_addch(out, ',');
		add_row(out, &keys, t->cells + i * t->n_columns, t->n_columns);
	}
	row_keys_deinit(&keys);
	strbuf_addch(out, ']');
	if (t->left_out)
		add_u64(out, "left_out", t->left_out);
}

static void add_hists(struct strbuf *out, const struct result *r, bool whole)
{
	struct row_keys keys;

	row_keys_init(&keys, r->keys, r->n_keys);
	add_key(out, "hists");
	strbuf_addch(out, '[');
	for (size_t i = 0; i < r->n_hists; i++) {
		const struct result_hist *h = &r->hists[i];
		bool first = true;

		strbuf_addf(out, "%s{\"total\":", i ? "," : "");
		strbuf_add_u64(out, h->total);
		if (h->keys) {
			add_key(out, "key");
			add_row(out, &keys, h->keys, r->n_keys);
		}
		add_text(out, "label", h->label);
		add_key(out, "buckets");
		strbuf_addch(out, '[');
		for (size_t b = 0; b < h->n_buckets; b++) {
			if (!whole && !h->buckets[b].count)
				continue;
			strbuf_adds(out, first ? "{\"low\":" : ",{\"low\":");
			bound_add(out, h->buckets[b].low, r->log2);
			add_key(out, "high");
			bound_add(out, h->buckets[b].high, r->log2);
			add_u64(out, "count", h->buckets[b].count);
			strbuf_addch(out, '}');
			first = false;
		}
		strbuf_adds(out, "]}");
	}
	strbuf_addch(out, ']');
	row_keys_deinit(&keys);
}

static void add_stacks(struct strbuf *out, const struct result *r)
{
	add_key(out, "stacks");
	strbuf_addch(out, '[');
	for (size_t i = 0; i < r->n_stacks; i++) {
		const struct result_stack *s = &r->stacks[i];

		strbuf_addf(out, "%s{\"count\":", i ? "," : "");
		strbuf_add_u64(out, s->count);
		add_text(out, "label", s->label);
		add_key(out, "frames");
		strbuf_addch(out, '[');
		for (size_t f = 0; f < s->n_frames; f++) {
			strbuf_adds(out, f ? ",{\"name\":" : "{\"name\":");
			add_string(out, s->frames[f].name);
			add_u64(out, "offset", s->frames[f].offset);
			add_text(out, "module", s->frames[f].module);
			if (s->frames[f].is_kernel)
				strbuf_adds(out, ",\"kernel\":true");
			strbuf_addch(out, '}');
		}
		strbuf_adds(out, "]}");
	}
	strbuf_addch(out, ']');
	add_u64(out, "total", r->total);
	if (r->stacks_left_out)
		add_u64(out, "left_out", r->stacks_left_out);
}

/* Ranges that were met, and for each slot of time the counts in them. */
static void add_heat(struct strbuf *out, const struct result *r)
{
	const struct result_heat *h = &r->heat;
	size_t first = 0, n = h->n_ranges;

	while (n && !h->ranges[n - 1].count)
		n--;
	while (first < n && !h->ranges[first].count)
		first++;
	add_u64(out, "start_ns", h->start);
	add_u64(out, "step_ns", h->step);
	add_key(out, "ranges");
	strbuf_addch(out, '[');
	for (size_t i = first; i < n; i++) {
		strbuf_adds(out, i > first ? ",{\"low\":" : "{\"low\":");
		bound_add(out, h->ranges[i].low, r->log2);
		add_key(out, "high");
		bound_add(out, h->ranges[i].high, r->log2);
		add_u64(out, "count", h->ranges[i].count);
		strbuf_addch(out, '}');
	}
	strbuf_addch(out, ']');
	add_key(out, "counts");
	strbuf_addch(out, '[');
	for (size_t t = 0; t < h->n_times; t++) {
		strbuf_adds(out, t ? ",[" : "[");
		for (size_t i = first; i < n; i++) {
			if (i > first)
				strbuf_addch(out, ',');
			strbuf_add_u64(out, h->counts[t * h->n_ranges + i]);
		}
		strbuf_addch(out, ']');
	}
	strbuf_addch(out, ']');
}

/* A line for each event. */
static void add_events(struct strbuf *out, const struct result *r)
{
	const struct result_table *t = &r->events.table;

	_cleanup_strbuf_ struct strbuf begin = STRBUF_INIT;
	struct row_keys keys;

	if (!t->n_rows)
		return;
	strbuf_adds(&begin, "{\"schema\":\"" SCHEMA "\"");
	add_text(&begin, "map", r->name);
	strbuf_adds(&begin, ",\"kind\":\"event\",\"time_ns\":");
	out->failed |= strbuf_failed(&begin);
	row_keys_init(&keys, t->columns + 1, t->n_columns - 1);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct result_cell *cells = t->cells + i * t->n_columns;

		strbuf_add(out, begin.str, begin.len);
		strbuf_add_u64(out, cells[0].u);
		strbuf_adds(out, ",\"event\":");
		add_row(out, &keys, cells + 1, t->n_columns - 1);
		strbuf_adds(out, "}\n");
	}
	row_keys_deinit(&keys);
}

static void add_results(const struct results *results, bool last, bool whole, struct strbuf *out)
{
	static const char *const kinds[] = {
		[RESULT_COUNT] = "count",   [RESULT_TABLE] = "table",  [RESULT_HIST] = "histogram",
		[RESULT_STACKS] = "stacks", [RESULT_HEAT] = "heatmap", [RESULT_EVENTS] = "events",
	};

	for (size_t i = 0; results->events && i < results->n; i++)
		add_events(out, &results->v[i]);
	if (results->events)
		return;
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		strbuf_adds(out, "{\"schema\":\"" SCHEMA "\"");
		add_text(out, "map", r->name);
		add_text(out, "kind", kinds[r->kind]);
		add_u64(out, "time_ns", results->time);
		add_u64(out, "span_ns", results->span);
		add_text(out, "title", r->title);
		add_text(out, "unit", r->unit);
		add_text(out, "note", r->note);
		add_key(out, "last");
		strbuf_adds(out, last ? "true" : "false");
		switch (r->kind) {
		case RESULT_COUNT:
			add_u64(out, "count", r->count);
			break;
		case RESULT_TABLE:
			add_table(out, &r->table);
			break;
		case RESULT_HIST:
			add_key(out, "scale");
			strbuf_adds(out, r->log2 ? "\"log2\"" : "\"linear\"");
			add_hists(out, r, whole);
			break;
		case RESULT_STACKS:
			add_stacks(out, r);
			break;
		case RESULT_HEAT:
			add_key(out, "scale");
			strbuf_adds(out, r->log2 ? "\"log2\"" : "\"linear\"");
			add_heat(out, r);
			break;
		case RESULT_EVENTS:
			add_u64(out, "total", r->events.total);
			add_u64(out, "lost", r->events.lost);
			break;
		}
		strbuf_adds(out, "}\n");
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
