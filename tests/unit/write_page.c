// SPDX-License-Identifier: BSD-2-Clause
/*
 * Not a test, but what tests/cmd/test_html.sh opens in a browser: every kind of
 * result as a page in the named file, and the same as JSON to stdout. "empty":
 * results of which nothing came; "nice": without hostile names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/html.h"
#include "show/result_json.h"
#include "tests/unit/results.h"

enum {
	ROWS = 500,
	TIMES = 90,
	RANGES = 24,
	STACKS = 400,
	MANY = 3000,
};

/* Numerical Recipes' generator: the page is the same each time. */
static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void put_rows(struct results *results)
{
	static const struct result_column columns[] = {{"pid", NULL, true},
						       {"file", NULL, true},
						       {"opens", "calls", false},
						       {"bytes", "bytes", false}};
	struct result *r = results_add(results, RESULT_TABLE, "by_file");
	struct result_cell *cells = arena_alloc(&results->arena, ROWS * 4 * sizeof(*cells));
	uint32_t state = 7;
	char text[64];

	r->title = "files opened";
	r->note = "full: 12 updates failed";
	for (int i = 0; i < ROWS; i++) {
		snprintf(text, sizeof(text), "worker%d(%d)", i % 7, 1000 + i % 7);
		cells[i * 4] = (struct result_cell){CELL_UINT,
						    .text = arena_strdup(&results->arena, text),
						    {.u = 1000 + i % 7}};
		snprintf(text, sizeof(text), "/usr/share/%x/%d", next(&state) % 4096, i);
		cells[i * 4 + 1] = (struct result_cell){
			CELL_TEXT, .text = arena_strdup(&results->arena, text), {0}};
		cells[i * 4 + 2] =
			(struct result_cell){CELL_UINT, .text = NULL, {.u = 40000 / (i + 3)}};
		cells[i * 4 + 3] =
			(struct result_cell){CELL_UINT, .text = NULL, {.u = next(&state) % 100000}};
	}
	r->table = (struct result_table){columns, 4, cells, ROWS, 0};
}

/* More columns than a screen has room for, and a long word among them. */
static void put_wide(struct results *results)
{
	enum { COLUMNS = 20 };
	struct result *r = results_add(results, RESULT_TABLE, "wide");
	struct result_column *columns = arena_alloc(&results->arena, COLUMNS * sizeof(*columns));
	struct result_cell *cells = arena_alloc(&results->arena, COLUMNS * sizeof(*cells));
	char name[16];

	for (int i = 0; i < COLUMNS; i++) {
		snprintf(name, sizeof(name), "counter%d", i);
		columns[i].name = arena_strdup(&results->arena, name);
		columns[i].is_key = !i;
		cells[i] =
			(struct result_cell){CELL_UINT, .text = NULL, {.u = (uint64_t)i * 1000000}};
	}
	cells[0] =
		(struct result_cell){CELL_TEXT, .text = "0x10000000000000000000000000000007", {0}};
	r->table = (struct result_table){columns, COLUMNS, cells, 1, 0};
}

/* A histogram of ranges of equal width, from below 0 on. */
static void put_linear(struct results *results)
{
	static struct result_bucket buckets[] = {
		{(uint64_t)INT64_MIN, -21, 3}, {-20, -11, 12}, {-10, -1, 1}, {0, INT64_MAX, 4}};
	static struct result_hist hist = {.buckets = buckets, .n_buckets = 4, .total = 20};
	struct result *r = results_add(results, RESULT_HIST, "linear");

	r->hists = &hist;
	r->n_hists = 1;
	r->unit = "C";
}

static void put_latency(struct results *results)
{
	struct result *r = results_add(results, RESULT_HIST, "latency");
	struct result_hist *hist = arena_alloc(&results->arena, sizeof(*hist));
	struct result_bucket *b = arena_alloc(&results->arena, 40 * sizeof(*b));
	static const uint16_t shape[] = {0,   3,   12, 60, 340, 1900, 4200, 3100,
					 900, 210, 0,  0,  44,	130,  95,   8};

	r->title = "read latency";
	r->unit = "ns";
	r->log2 = true;
	for (size_t i = 0; i < ARRAY_SIZE(shape); i++) {
		b[i] = (struct result_bucket){1ull << (i + 8), (2ull << (i + 8)) - 1, shape[i]};
		hist->total += shape[i];
	}
	hist->buckets = b;
	hist->n_buckets = ARRAY_SIZE(shape);
	r->hists = hist;
	r->n_hists = 1;
}

static void put_heat(struct results *results)
{
	struct result *r = results_add(results, RESULT_HEAT, "io_latency");
	struct result_bucket *ranges = arena_alloc(&results->arena, RANGES * sizeof(*ranges));
	uint64_t *counts = arena_alloc(&results->arena, TIMES * RANGES * sizeof(*counts)), max = 0;
	uint32_t state = 3;

	r->title = "block I/O latency";
	r->unit = "µs";
	r->log2 = true;
	for (int i = 0; i < RANGES; i++)
		ranges[i] =
			(struct result_bucket){i ? 1ull << (i - 1) : 0, i ? (1ull << i) - 1 : 0, 0};
	for (int t = 0; t < TIMES; t++) {
		for (int k = 0; k < 300; k++) {
			int at = 7 + (next(&state) % 4 + next(&state) % 4 + next(&state) % 3) / 2 +
				 (t > 30 && t < 48 ? 4 : 0) + (next(&state) % 40 == 0) * 6;

			counts[t * RANGES + at]++;
			ranges[at].count++;
		}
		if (t % 11 == 5)
			memset(&counts[t * RANGES], 0, RANGES * sizeof(*counts));
	}
	for (int i = 0; i < RANGES; i++) {
		ranges[i].count = 0;
		for (int t = 0; t < TIMES; t++) {
			ranges[i].count += counts[t * RANGES + i];
			max = max_of(max, counts[t * RANGES + i]);
		}
	}
	r->heat = (struct result_heat){
		1700000000000000000ull, 1000000000, TIMES, ranges, RANGES, counts, max};
}

/* More slots of time than a screen has pixels. */
static void put_long_heat(struct results *results)
{
	struct result *r = results_add(results, RESULT_HEAT, "long");
	struct result_bucket *ranges = arena_alloc(&results->arena, 2 * sizeof(*ranges));
	uint64_t *counts = arena_alloc(&results->arena, MANY * 2 * sizeof(*counts));

	ranges[0] = (struct result_bucket){0, 9, 0};
	ranges[1] = (struct result_bucket){10, 19, 0};
	for (int t = 0; t < MANY; t++) {
		counts[t * 2] = t % 17;
		counts[t * 2 + 1] = 1;
		ranges[0].count += t % 17;
		ranges[1].count++;
	}
	r->heat =
		(struct result_heat){1700000000000000000ull, 1000000, MANY, ranges, 2, counts, 16};
}

static void put_stacks(struct results *results)
{
	static const char *const names[] = {"read_input",   "parse",	    "memchr",
					    "sort_lines",   "compare",	    "strcoll_l",
					    "write_output", "malloc",	    "free",
					    "hash_insert",  "flush_buffer", "utf8_decode"};
	static const char *const kernel[] = {
		"vfs_read",	     "vfs_write",    "ext4_file_read_iter",
		"copy_page_to_iter", "filemap_read", "page_cache_ra_order"};
	struct result *r = results_add(results, RESULT_STACKS, "on_cpu");
	uint32_t state = 11;

	r->title = "on CPU";
	r->unit = "samples";
	r->n_stacks = STACKS;
	r->stacks = arena_alloc(&results->arena, STACKS * sizeof(*r->stacks));
	for (int i = 0; i < STACKS; i++) {
		struct result_frame *frames = arena_alloc(&results->arena, 24 * sizeof(*frames));
		const struct result_frame **list = arena_alloc(&results->arena, 24 * sizeof(*list));
		int user = 2 + next(&state) % 7,
		    in_kernel = next(&state) % 3 ? 0 : 2 + next(&state) % 4;
		int n = 0;

		for (int k = in_kernel - 1; k >= 0; k--)
			frames[n++] = (struct result_frame){kernel[(k ? next(&state) % 2 : 0) + k],
							    "[kernel.kallsyms]", 16, true};
		if (in_kernel)
			frames[n++] = (struct result_frame){"entry_SYSCALL_64", "[kernel.kallsyms]",
							    16, true};
		for (int k = user - 1; k >= 0; k--)
			frames[n++] = (struct result_frame){names[(k * 2 + next(&state) % 3) % 12],
							    "/usr/bin/sort", 8, false};
		frames[n++] = (struct result_frame){"main", "/usr/bin/sort", 4, false};
		frames[n++] = (struct result_frame){"_start", "/usr/bin/sort", 4, false};
		for (int k = 0; k < n; k++)
			list[k] = &frames[k];
		r->stacks[i] = (struct result_stack){i % 5 ? "sort" : "cat", list, n,
						     1 + next(&state) % 40};
	}
}

int main(int argc, char **argv)
{
	_cleanup_results_ struct results results = {.time = 1700000000123456789ull,
						    .span = 90000000000ull};
	_cleanup_results_ struct results came = {.time = 1700000000000000000ull, .events = true};
	const bool empty = argc > 2 && !strcmp(argv[2], "empty"),
		   nice = argc > 2 && !strcmp(argv[2], "nice");
	struct html_events events = {0};
	_cleanup_strbuf_ struct strbuf page = STRBUF_INIT, json = STRBUF_INIT;
	const struct html_about about = {
		.title = nice ? "sort.bpf.c" : HOSTILE,
		.command = nice ? "sort -S 8M /usr/share/dict/words" : HOSTILE,
		.host = "build-7",
		.kernel = "6.18.0",
		.version = "perf-bpf 0.1.0",
	};

	if (!nice) {
		results_put(&results, RESULT_COUNT, "calls");
		results_put(&results, RESULT_TABLE, "hostile")->title = HOSTILE;
		results_put(&results, RESULT_HIST, "hists")->unit = HOSTILE;
		results_put(&results, RESULT_STACKS, "stacks")->note = HOSTILE;
		results_put(&results, RESULT_HEAT, "heat");
		results_put(&results, RESULT_EVENTS, "ring");
		if (!empty)
			results_put(&came, RESULT_EVENTS, "ring");
	} else {
		struct result *r = results_add(&results, RESULT_COUNT, "calls");

		r->count = 1284210;
		r->unit = "calls";
		r->title = "reads";
		r = results_add(&results, RESULT_COUNT, "failed");
		r->count = 3;
		r->title = "reads that failed";
	}
	for (size_t i = 0; empty && i < results.n; i++) {
		struct result *r = &results.v[i];

		r->count = r->kind == RESULT_COUNT ? 0 : r->count;
		r->table.n_rows = r->kind == RESULT_TABLE ? 0 : r->table.n_rows;
		r->n_hists = r->kind == RESULT_HIST ? 0 : r->n_hists;
		r->n_stacks = r->kind == RESULT_STACKS ? 0 : r->n_stacks;
		r->heat.n_times = r->kind == RESULT_HEAT ? 0 : r->heat.n_times;
		r->events.total = r->kind == RESULT_EVENTS ? 0 : r->events.total;
	}
	if (!empty) {
		put_latency(&results);
		put_heat(&results);
		put_stacks(&results);
		put_rows(&results);
		put_long_heat(&results);
		put_wide(&results);
		put_linear(&results);
	}
	html_events_add(&events, &came);
	results_html(&results, &about, &events, &page);
	results_json(&results, true, &json);
	FILE *file = fopen(argv[1], "w");
	if (!file || strbuf_failed(&page) || fwrite(page.str, 1, page.len, file) != page.len ||
	    fclose(file))
		return 1;
	fwrite(json.str, 1, json.len, stdout);
	html_events_deinit(&events);
	return 0;
}
