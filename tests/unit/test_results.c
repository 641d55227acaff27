// SPDX-License-Identifier: BSD-2-Clause
/* Results made by hand, as text and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "show/result_json.h"
#include "show/text.h"

#define SECOND 1000000000ull

static void expect_text(const struct results *results, const struct text_opts *opts,
			const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	results_text(results, opts, &out);
	assert_false(strbuf_failed(&out));
	assert_string_equal(strbuf_str(&out), want);
}

static void expect_json(const struct results *results, bool last, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	results_json(results, last, &out);
	assert_false(strbuf_failed(&out));
	assert_string_equal(strbuf_str(&out), want);
}

/* Ranges 0, 1, 2-3, … as a log2 histogram has them. */
static struct result *add_heat(struct results *results, size_t n_times, size_t n_ranges,
			       const uint64_t *counts)
{
	struct result *r = results_add(results, RESULT_HEAT, "latency");
	struct result_heat *h = &r->heat;

	r->unit = "ns";
	r->log2 = true;
	h->start = 3600 * SECOND;
	h->step = SECOND;
	h->n_times = n_times;
	h->n_ranges = n_ranges;
	h->counts = arena_alloc(&results->arena, n_times * n_ranges * sizeof(*counts));
	memcpy(h->counts, counts, n_times * n_ranges * sizeof(*counts));
	h->ranges = arena_alloc(&results->arena, n_ranges * sizeof(*h->ranges));
	for (size_t i = 0; i < n_ranges; i++) {
		h->ranges[i].low = i ? 1ull << (i - 1) : 0;
		h->ranges[i].high = i ? (1ull << i) - 1 : 0;
		for (size_t t = 0; t < n_times; t++) {
			h->ranges[i].count += counts[t * n_ranges + i];
			h->max = h->max > counts[t * n_ranges + i] ? h->max
								   : counts[t * n_ranges + i];
		}
	}
	return r;
}

static const uint64_t small_map[] = {
	0, 0, 1, 9, 0, 0, /* */
	0, 0, 0, 0, 0, 0, /* */
	0, 0, 4, 0, 1, 0,
};

static void test_heat_text(void **state)
{
	_cleanup_results_ struct results results = {0};
	struct text_opts opts = {.width = 80};

	add_heat(&results, 3, 6, small_map);
	expect_text(&results, &opts,
		    "latency (ns):\n"
		    "           2     4     8\n"
		    "01:00:00  |......@@@@@@      | 10\n"
		    "01:00:01  |                  | 0\n"
		    "01:00:02  |======      ......| 5\n"
		    "           1 .:-=+*#%@ 9\n");
}

static void test_heat_shades(void **state)
{
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct text_opts opts = {.width = 80, .shades = SHADES_GRAY};

	add_heat(&results, 3, 6, small_map);
	results_text(&results, &opts, &out);
	/* the most is the lightest gray; nothing is no escape */
	assert_non_null(strstr(strbuf_str(&out),
			       "01:00:00  |\033[48;5;235m      \033[0m\033[48;5;255m      "
			       "\033[0m      | 10\n"
			       "01:00:01  |                  | 0\n"));
	strbuf_reset(&out);
	opts.shades = SHADES_COLOUR;
	results_text(&results, &opts, &out);
	assert_non_null(strstr(strbuf_str(&out),
			       "01:00:00  |\033[48;5;19m      \033[0m\033[48;5;231m      "
			       "\033[0m      | 10\n"));
}

/* Forty ranges on twenty columns: neighbours share a cell, and no count is gone. */
static void test_heat_narrow(void **state)
{
	_cleanup_results_ struct results results = {0};
	struct text_opts opts = {.width = 20};
	uint64_t counts[40];

	for (size_t i = 0; i < 40; i++)
		counts[i] = 1;
	struct result *r = add_heat(&results, 1, 40, counts);
	r->heat.step = SECOND / 4;
	expect_text(&results, &opts,
		    "latency (ns):\n"
		    "              0 512K\n"
		    "01:00:00.00  |@@@@| 40\n"
		    "              1 .:-=+*#%@ 10\n");
}

static void test_heat_empty(void **state)
{
	_cleanup_results_ struct results results = {0};
	struct text_opts opts = {0};
	uint64_t none[3] = {0};

	add_heat(&results, 1, 3, none);
	add_heat(&results, 0, 0, none);
	expect_text(&results, &opts, "latency (ns):\n(no values)\n\nlatency (ns):\n(no values)\n");
}

static void test_heat_json(void **state)
{
	_cleanup_results_ struct results results = {.time = 7, .span = 5};

	add_heat(&results, 3, 6, small_map);
	expect_json(&results, true,
		    "{\"schema\":\"perf-bpf-run/1\",\"map\":\"latency\",\"kind\":\"heatmap\","
		    "\"time_ns\":7,\"span_ns\":5,\"unit\":\"ns\",\"last\":true,"
		    "\"scale\":\"log2\",\"start_ns\":3600000000000,\"step_ns\":1000000000,"
		    "\"ranges\":[{\"low\":2,\"high\":3,\"count\":5},"
		    "{\"low\":4,\"high\":7,\"count\":9},{\"low\":8,\"high\":15,\"count\":1}],"
		    "\"counts\":[[1,9,0],[0,0,0],[4,0,1]]}\n");
}

static const struct result_column event_columns[] = {
	{.name = "time", .unit = "time"},
	{.name = "pid"},
	{.name = "comm"},
	{.name = "bytes", .unit = "bytes"},
};

static struct result *add_events(struct results *results, const char *name, size_t n, uint64_t from)
{
	struct result *r = results_add(results, RESULT_EVENTS, name);
	struct result_table *t = &r->events.table;

	results->events = true;
	t->columns = event_columns;
	t->n_columns = 4;
	t->n_rows = n;
	t->cells = arena_alloc(&results->arena, n * 4 * sizeof(*t->cells));
	for (size_t i = 0; i < n; i++) {
		struct result_cell *cells = t->cells + i * 4;

		cells[0] = (struct result_cell){.kind = CELL_UINT,
						.u = 3600 * SECOND + (from + i) * 1000};
		cells[1] = (struct result_cell){.kind = CELL_UINT, .u = 3237, .text = "dd(3237)"};
		cells[2] = (struct result_cell){.kind = CELL_TEXT, .text = "dd"};
		cells[3] = (struct result_cell){.kind = CELL_UINT, .u = (from + i) * 100};
	}
	r->events.total = from + n;
	return r;
}

/* One table over many results, as long as nothing else stands between. */
static void test_events_text(void **state)
{
	_cleanup_text_events_ struct text_events events = {0};
	struct text_opts opts = {.events = &events};

	{
		_cleanup_results_ struct results results = {0};
		add_events(&results, "opens", 2, 0);
		expect_text(&results, &opts,
			    "time             pid       comm  bytes\n"
			    "01:00:00.000000  dd(3237)  dd        0\n"
			    "01:00:00.000001  dd(3237)  dd      100\n");
	}
	{
		_cleanup_results_ struct results results = {0};
		add_events(&results, "opens", 1, 12345678);
		expect_text(&results, &opts, "01:00:12.345678  dd(3237)  dd    1234567800\n");
	}
	{
		_cleanup_results_ struct results results = {0};
		add_events(&results, "opens", 1, 2);
		expect_text(&results, &opts, "01:00:00.000002  dd(3237)  dd           200\n");
	}
	{ /* a look */
		_cleanup_results_ struct results results = {0};
		struct result *r = add_events(&results, "opens", 0, 4);
		r->events.lost = 3;
		results.events = false;
		expect_text(&results, &opts, "opens: 4 events, 3 lost\n");
	}
	{
		_cleanup_results_ struct results results = {0};
		struct result *r = add_events(&results, "opens", 1, 3);
		r->title = "files opened";
		expect_text(&results, &opts,
			    "files opened:\n"
			    "time             pid       comm  bytes\n"
			    "01:00:00.000003  dd(3237)  dd      300\n");
	}
}

static void test_events_json(void **state)
{
	_cleanup_results_ struct results results = {0};
	struct result *r = add_events(&results, "opens", 1, 1);

	expect_json(&results, false,
		    "{\"schema\":\"perf-bpf-run/1\",\"map\":\"opens\",\"kind\":\"event\","
		    "\"time_ns\":3600000001000,\"event\":{\"pid\":3237,\"pid_text\":\"dd(3237)\","
		    "\"comm\":\"dd\",\"bytes\":100}}\n");
	results.events = false;
	r->events.lost = 5;
	r->events.table.n_rows = 0;
	expect_json(&results, true,
		    "{\"schema\":\"perf-bpf-run/1\",\"map\":\"opens\",\"kind\":\"events\","
		    "\"time_ns\":0,\"span_ns\":0,\"last\":true,\"total\":2,\"lost\":5}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heat_text),   cmocka_unit_test(test_heat_shades),
		cmocka_unit_test(test_heat_narrow), cmocka_unit_test(test_heat_empty),
		cmocka_unit_test(test_heat_json),   cmocka_unit_test(test_events_text),
		cmocka_unit_test(test_events_json),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
