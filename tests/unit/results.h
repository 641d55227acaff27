/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as tests want them: every kind, with what a hostile process may call itself. */
#ifndef PB_TESTS_RESULTS_H
#define PB_TESTS_RESULTS_H

#include "lib/base/util.h"
#include "show/result.h"

/* Quotes, a comma, markup, an escape sequence, a line end, and bytes that are no UTF-8. */
#define HOSTILE	      "</script><b>\"x\",\x1b[31m\n\xff é"
#define HOSTILE_PLAIN "</script><b>\"x\",\\x1b[31m\\x0a\\xff é"

static const struct result_column result_columns[] = {
	{"pid", NULL, true},	 {"comm", NULL, true},	{"calls", "calls", false},
	{"change", NULL, false}, {"mean", NULL, false}, {"ok", NULL, false},
};

static struct result_cell result_cells[] = {
	{CELL_UINT, .text = "dd(7)", {.u = 7}},
	{CELL_TEXT, .text = HOSTILE, {0}},
	{CELL_UINT, .text = NULL, {.u = UINT64_MAX}},
	{CELL_INT, .text = NULL, {.i = INT64_MIN}},
	{CELL_FLOAT, .text = NULL, {.f = 0.5}},
	{CELL_BOOL, .text = NULL, {.u = 1}},
	{CELL_UINT, .text = NULL, {.u = 8}},
	{CELL_TEXT, .text = "", {0}},
	{CELL_UINT, .text = NULL, {.u = 2}},
	{CELL_INT, .text = NULL, {.i = 3}},
	{CELL_EMPTY, .text = NULL, {0}},
	{CELL_BOOL, .text = NULL, {0}},
};

static struct result_bucket result_buckets[] = {
	{0, 0, 2},
	{1, 1, 0},
	{2, 3, 5},
	{1ull << 63, UINT64_MAX, UINT64_MAX - 7},
};

static struct result_hist result_hists[] = {
	{.buckets = result_buckets, .n_buckets = 4, .total = UINT64_MAX},
	{.label = HOSTILE, .buckets = result_buckets, .n_buckets = 3, .total = 7},
};

static const struct result_frame result_frames[] = {
	{"inner;Lname", "[kernel]", 0x10},
	{HOSTILE, NULL, 0},
	{"main", "/usr/bin/dd", 4},
};

static const struct result_frame *const result_frame_list[] = {
	&result_frames[0],
	&result_frames[1],
	&result_frames[2],
};

static struct result_stack result_stack_list[] = {
	{"dd", result_frame_list, 3, 41},
	{NULL, result_frame_list + 2, 1, 1},
	{"none", NULL, 0, 9},
};

static struct result_bucket result_ranges[] = {{0, 0, 0}, {1, 1, 5}, {2, 3, 7}};
static uint64_t result_heat_counts[] = {0, 5, 0, 0, 0, 0, 0, 0, 7};

static const struct result_column result_event_columns[] = {
	{"time", "time", false},
	{"name", NULL, false},
	{"size", "bytes", false},
};

static struct result_cell result_event_cells[] = {
	{CELL_UINT, .text = NULL, {.u = 1700000000000000001ull}},
	{CELL_TEXT, .text = HOSTILE, {0}},
	{CELL_UINT, .text = NULL, {.u = UINT64_MAX}},
	{CELL_UINT, .text = NULL, {.u = 1700000000250000000ull}},
	{CELL_TEXT, .text = "short", {0}},
	{CELL_EMPTY, .text = NULL, {0}},
};

static inline struct result *results_put(struct results *results, enum result_kind kind,
					 const char *name)
{
	struct result *r = results_add(results, kind, name);

	if (kind == RESULT_COUNT)
		r->count = UINT64_MAX;
	if (kind == RESULT_TABLE)
		r->table = (struct result_table){
			.columns = result_columns,
			.n_columns = ARRAY_SIZE(result_columns),
			.cells = result_cells,
			.n_rows = 2,
			.left_out = 3,
		};
	if (kind == RESULT_HIST) {
		r->hists = result_hists;
		r->n_hists = 2;
		r->log2 = true;
	}
	if (kind == RESULT_STACKS) {
		r->stacks = result_stack_list;
		r->n_stacks = 3;
	}
	if (kind == RESULT_HEAT) {
		r->log2 = true;
		r->heat = (struct result_heat){
			.start = 1700000000000000000ull,
			.step = 1000000000,
			.n_times = 3,
			.ranges = result_ranges,
			.n_ranges = 3,
			.counts = result_heat_counts,
			.max = 7,
		};
	}
	if (kind == RESULT_EVENTS)
		r->events = (struct result_events){
			.table = {.columns = result_event_columns,
				  .n_columns = 3,
				  .cells = result_event_cells,
				  .n_rows = results->events ? 2 : 0},
			.total = 2,
			.lost = 1,
			.lost_counted = true,
		};
	return r;
}

#endif
