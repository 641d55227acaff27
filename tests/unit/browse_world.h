/* SPDX-License-Identifier: BSD-2-Clause */
/* A browser of made-up results, the keys that are pressed, and what is then on its screen. */
#ifndef PB_TESTS_UNIT_BROWSE_WORLD_H
#define PB_TESTS_UNIT_BROWSE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/browser.h"
#include "lib/base/vec.h"
#include "show/stack_tree.h"

static inline void check_text(const struct canvas *canvas, const char *text)
{
	struct strbuf sb = STRBUF_INIT;

	canvas_text(canvas, &sb);
	assert_string_equal(strbuf_str(&sb), text);
	strbuf_deinit(&sb);
}

static const struct chain_opts chain = {.mode = CHAIN_GRAPH, .min_percent = 0.5, .caller = true};
static const struct perf_text_opts text_opts = {.chain = &chain};

static const struct result_column columns[] = {
	{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
	{.name = "comm", .is_key = true, .style = COLUMN_NAME, .title = "Command", .width = 5},
	{.name = "symbol", .is_key = true, .style = COLUMN_PLAIN, .title = "Symbol"},
};

static struct result_frame frames[] = {
	{.name = "main", .has_start = true, .start = 1, .module = "/bin/x"},
	{.name = "work", .has_start = true, .start = 2, .module = "/bin/x"},
	{.name = "left", .has_start = true, .start = 3, .module = "/bin/x"},
	{.name = "right\033]0;x\a", .has_start = true, .start = 4, .module = "/bin/y"},
};

static inline void add_stack(struct results *results, struct stack_tree *tree, uint64_t count,
			     size_t last)
{
	const struct result_frame **v = arena_alloc(&results->arena, 3 * sizeof(*v));

	v[0] = &frames[0];
	v[1] = &frames[1];
	v[2] = &frames[last];
	assert_true(stack_tree_add(tree, &results->arena, STACK_BY_FUNCTION, v, 3, count, 1));
}

/* n rows of halves: 50.00%, 25.00%, … The first one has call chains. */
static inline void add_event(struct results *results, const char *name, size_t n)
{
	struct result *r = results_add(results, RESULT_TABLE, name);
	struct result_profile *p = arena_alloc(&results->arena, sizeof(*p));
	uint64_t period = 1024;

	*p = (struct result_profile){.all = {.samples = 40, .period = 2048, .chain_period = 2048}};
	p->shown = p->all;
	p->rows = arena_alloc(&results->arena, n * sizeof(*p->rows));
	r->table = (struct result_table){.columns = columns, .n_columns = 3, .n_rows = n};
	r->table.cells = arena_alloc(&results->arena, n * 3 * sizeof(*r->table.cells));
	r->table.profile = p;
	for (size_t i = 0; i<n; i++, period = period> 1 ? period / 2 : 1) {
		struct result_cell *cells = &r->table.cells[i * 3];
		char *symbol = arena_alloc(&results->arena, 32);

		snprintf(symbol, 32, "f%zu", i);
		cells[0] = cell_of_number(period);
		cells[1] = cell_of_text(i ? "beta" : "alpha");
		cells[2] = (struct result_cell){
			.kind = CELL_SYMBOL, .level = '.', .origin = '!', .text = symbol, .u = i};
		p->rows[i] = (struct result_sum){.period = period,
						 .tid = (int32_t)i + 1,
						 .comm = cells[1].text,
						 .module = "/bin/x",
						 .function = symbol};
	}
	if (!n)
		return;
	struct stack_tree *tree = arena_alloc(&results->arena, sizeof(*tree));
	add_stack(results, tree, 768, 2);
	add_stack(results, tree, 256, 3);
	p->rows[0].tree = tree;
}

struct world {
	struct browser *b;
	struct results results;
	enum browser_wish wish;
};

static inline void world_make(struct world *w, size_t n_events, size_t n_rows, bool live)
{
	const struct browser_opts opts = {.sz = sizeof(opts),
					  .text = &text_opts,
					  .live = live,
					  .annotates = true,
					  .has_header = true,
					  .command = "report"};

	*w = (struct world){0};
	assert_null(browser_new(&opts, &w->b));
	for (size_t i = 0; i < n_events; i++)
		add_event(&w->results, i ? "faults" : "cycles", n_rows);
	assert_null(browser_set_results(w->b, &w->results));
}

static inline void world_free(struct world *w)
{
	browser_free(w->b);
	results_deinit(&w->results);
}

static inline void press(struct world *w, uint32_t key)
{
	assert_null(browser_press(w->b, key, &w->wish));
}

static inline void type(struct world *w, const char *keys)
{
	while (*keys)
		press(w, (unsigned char)*keys++);
}

static inline void shows(struct world *w, size_t rows, size_t width, const char *text)
{
	struct canvas canvas = {0};

	assert_true(canvas_init(&canvas, rows, width, true));
	assert_null(browser_draw(w->b, &canvas));
	check_text(&canvas, text);
	canvas_deinit(&canvas);
}

/* Whether a text is on the screen. */
static inline bool seen(struct world *w, const char *text)
{
	struct strbuf sb = STRBUF_INIT;
	struct canvas canvas = {0};

	assert_true(canvas_init(&canvas, 24, 80, true));
	assert_null(browser_draw(w->b, &canvas));
	canvas_text(&canvas, &sb);
	const bool is = strstr(strbuf_str(&sb), text);
	canvas_deinit(&canvas);
	strbuf_deinit(&sb);
	return is;
}

#endif
