// SPDX-License-Identifier: BSD-2-Clause
/* Results made by hand, as text and as JSON. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zlib.h>

#include "show/folded.h"
#include "show/pprof.h"
#include "show/result_json.h"
#include "show/stack_text.h"
#include "show/text_tables.h"

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
	/* the most is a light gray, but not as light as the white of a terminal; nothing is no
	 * escape */
	assert_non_null(strstr(strbuf_str(&out),
			       "01:00:00  |\033[48;5;237m      \033[0m\033[48;5;252m      "
			       "\033[0m      | 10\n"
			       "01:00:01  |                  | 0\n"));
	strbuf_reset(&out);
	opts.shades = SHADES_COLOUR;
	results_text(&results, &opts, &out);
	assert_non_null(strstr(strbuf_str(&out),
			       "01:00:00  |\033[48;5;19m      \033[0m\033[48;5;229m      "
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
		r->events.lost_counted = true;
		results.events = false;
		expect_text(&results, &opts, "opens: 4 events, 3 lost\n");
	}
	{ /* the same where losses are not counted */
		_cleanup_results_ struct results results = {0};
		add_events(&results, "opens", 0, 4);
		results.events = false;
		expect_text(&results, &opts, "opens: 4 events, losses not counted\n");
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
		    "\"time_ns\":3600000001000,\"time_of\":\"event\",\"event\":{\"pid\":3237,\"pid_"
		    "text\":\"dd(3237)\","
		    "\"comm\":\"dd\",\"bytes\":100}}\n");
	results.events = false;
	r->events.lost = 5;
	r->events.lost_counted = true;
	r->events.table.n_rows = 0;
	expect_json(&results, true,
		    "{\"schema\":\"perf-bpf-run/1\",\"map\":\"opens\",\"kind\":\"events\","
		    "\"time_ns\":0,\"span_ns\":0,\"last\":true,\"total\":2,\"lost\":5}\n");
	r->events.lost_counted = false;
	expect_json(&results, true,
		    "{\"schema\":\"perf-bpf-run/1\",\"map\":\"opens\",\"kind\":\"events\","
		    "\"time_ns\":0,\"span_ns\":0,\"last\":true,\"total\":2}\n");
}

/* ---- stacks ---- */

#define FRAME(name_)                                                                               \
	&(const struct result_frame)                                                               \
	{                                                                                          \
		.name = name_, .module = "/bin/x", .offset = 4                                     \
	}

static const struct result_frame *const left[] = {FRAME("leaf"), FRAME("left"), FRAME("main")};
static const struct result_frame *const right[] = {FRAME("leaf"), FRAME("right"), FRAME("main")};
static const struct result_frame *const itself[] = {FRAME("main")};
static const struct result_frame *const odd[] = {
	&(const struct result_frame){.name = "[unknown]", .module = "/bin/a;b", .offset = 0x1234},
	&(const struct result_frame){.name = "a;b\nc"},
};

static struct result *add_stacks(struct results *results)
{
	static struct result_stack stacks[] = {
		{.label = "x", .frames = left, .n_frames = 3, .count = 600},
		{.label = "x", .frames = right, .n_frames = 3, .count = 200},
		{.label = "x", .frames = itself, .n_frames = 1, .count = 100},
		{.label = NULL, .frames = odd, .n_frames = 2, .count = 97},
		{.label = "none", .frames = odd, .n_frames = 0, .count = 3},
	};
	struct result *r = results_add(results, RESULT_STACKS, "profile");

	r->unit = "samples";
	r->stacks = stacks;
	r->n_stacks = ARRAY_SIZE(stacks);
	r->total = 1000;
	return r;
}

static void test_stacks_text(void **state)
{
	_cleanup_results_ struct results results = {0};
	struct text_opts opts = {.width = 80};
	struct result *r = add_stacks(&results);

	expect_text(&results, &opts,
		    "profile (samples):\n"
		    "    90.00%  x  900 samples\n"
		    "            |\n"
		    "            ---main\n"
		    "               |          \n"
		    "               |--60.00%--left\n"
		    "               |          leaf\n"
		    "               |          \n"
		    "                --20.00%--right\n"
		    "                          leaf\n"
		    "\n"
		    "     9.70%  [unknown]  97 samples\n"
		    "            |\n"
		    "            ---a;b\\x0ac\n"
		    "               [unknown] (/bin/a;b)\n"
		    "\n"
		    "     0.30%  none  3 samples\n");
	opts.callee = true;
	r->n_stacks = 3;
	r->stacks_left_out = 2;
	expect_text(&results, &opts,
		    "profile (samples):\n"
		    "    90.00%  x  900 samples\n"
		    "            |          \n"
		    "            |--80.00%--leaf\n"
		    "            |          |          \n"
		    "            |          |--60.00%--left\n"
		    "            |          |          main\n"
		    "            |          |          \n"
		    "            |           --20.00%--right\n"
		    "            |                     main\n"
		    "            |          \n"
		    "             --10.00%--main\n"
		    "\n"
		    "(2 more)\n");
	r->n_stacks = r->stacks_left_out = 0;
	expect_text(&results, &opts, "profile (samples):\n(no stacks)\n");
}

static void test_stacks_folded(void **state)
{
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	results_add(&results, RESULT_COUNT, "calls");
	add_stacks(&results);
	results_folded(&results, &out);
	assert_false(strbuf_failed(&out));
	assert_string_equal(strbuf_str(&out), "x;main 100\n"
					      "x;main;left;leaf 600\n"
					      "x;main;right;leaf 200\n"
					      "[unknown];a:b:c;[unknown] 97\n"
					      "none 3\n");
}

static void test_chain_opts(void **state)
{
	static const char *const wrong[] = {"x", "graph,nan", "-1", "0.5,-nan", "1x"};
	struct chain_opts chain = {0};
	bool order_given = false;

	assert_null(chain_opts_parse("fractal,0.5,7,callee,addr,count", &chain, &order_given));
	assert_true(chain.mode == CHAIN_FRACTAL && chain.min_percent == 0.5 &&
		    chain.print_limit == 7 && !chain.caller && chain.order == STACK_BY_ADDRESS &&
		    chain.value == CHAIN_COUNT && order_given);
	assert_null(chain_opts_parse("flat,,1e300,1e300", &chain, &order_given));
	assert_true(chain.mode == CHAIN_FLAT && chain.print_limit == UINT32_MAX);
	assert_true(count_of_share(0x1p64 * chain.min_percent / 100) == UINT64_MAX);
	assert_true(count_of_share(0x1p64) == UINT64_MAX && count_of_share(7.9) == 7);
	assert_null(chain_opts_parse("none", &chain, &order_given));
	assert_int_equal(chain.mode, CHAIN_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct error *err = chain_opts_parse(wrong[i], &chain, &order_given);

		if (!err || !err->usage)
			fail_msg("-g %s was taken", wrong[i]);
		error_free(err);
	}
}

/* A file may hold any name; none of them acts on a terminal. */
static void test_names_folded(void **state)
{
	const struct result_frame *const frames[] = {FRAME("a\033[2J;b"), FRAME("\r\xff")};
	struct result_stack stack = {
		.label = "x\033]0;y\a", .frames = frames, .n_frames = 2, .count = 7};
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct result *r = results_add(&results, RESULT_STACKS, "profile");

	r->stacks = &stack;
	r->n_stacks = 1;
	results_folded(&results, &out);
	assert_string_equal(strbuf_str(&out), "x\\x1b]0:y\\x07;:\\xff;a\\x1b[2J:b 7\n");
}

/* The message, which is one gzip member; its size. */
static size_t pprof_of(const struct results *results, uint8_t plain[4096])
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_null(results_pprof(results, &out));
	z_stream z = {.next_in = (Bytef *)out.str,
		      .avail_in = out.len,
		      .next_out = plain,
		      .avail_out = 4096};
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return z.total_out;
}

/* What was counted in microseconds is not "count". */
static void test_units_pprof(void **state)
{
	static const struct {
		const char *unit, *shown;
	} cases[] = {
		{"us", "microseconds"}, {"µs", "microseconds"}, {"ms", "milliseconds"},
		{"ns", "nanoseconds"},	{"s", "seconds"},	{"bytes", "bytes"},
		{"B", "bytes"},		{"samples", "count"},	{NULL, "count"},
		{"pages", "pages"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_results_ struct results results = {0};
		uint8_t plain[4096];
		char wanted[64];

		add_stacks(&results)->unit = cases[i].unit;
		const size_t size = pprof_of(&results, plain);
		/* a field of the string table, with its length */
		const int n = snprintf(wanted, sizeof(wanted), "\x32%c%s",
				       (char)strlen(cases[i].shown), cases[i].shown);
		if (!memmem(plain, size, wanted, (size_t)n))
			fail_msg("unit %s is not shown as %s", cases[i].unit, cases[i].shown);
	}
}

/* Addresses, and the place and build-id of the file that they are in. */
static void test_addresses_pprof(void **state)
{
	static const struct result_mapping mapping = {.start = 0x1000,
						      .end = 0x3000,
						      .offset = 0x2000,
						      .build_id = {0xab, 0xcd},
						      .build_id_size = 2};
	const struct result_frame one = {
		.name = "f", .module = "m", .ip = 0x1010, .mapping = &mapping};
	const struct result_frame two = {
		.name = "f", .module = "m", .ip = 0x1020, .mapping = &mapping};
	const struct result_frame *const frames[] = {&one, &two, &one};
	struct result_stack stack = {.frames = frames, .n_frames = 3, .count = 1};
	/* a mapping: start, limit, offset, and the strings of its file and build-id */
	static const char mapped[] = "\x1a\x11\x08\x01\x10\x80\x20\x18\x80\x60\x20\x80\x40\x28";
	static const char *const locations[] = {
		"\x22\x0b\x08\x01\x10\x01\x18\x90\x20\x22\x02\x08\x01",
		"\x22\x0b\x08\x02\x10\x01\x18\xa0\x20\x22\x02\x08\x01",
	};
	_cleanup_results_ struct results results = {0};
	struct result *r = results_add(&results, RESULT_STACKS, "profile");
	uint8_t plain[4096];

	r->stacks = &stack;
	r->n_stacks = 1;
	const size_t size = pprof_of(&results, plain);
	assert_non_null(memmem(plain, size, mapped, sizeof(mapped) - 1));
	assert_non_null(memmem(plain, size,
			       "\x32\x04"
			       "abcd",
			       6));
	for (size_t i = 0; i < 2; i++)
		assert_non_null(memmem(plain, size, locations[i], 13));
	/* a function that was met at two addresses is two locations of one function */
	assert_non_null(memmem(plain, size, "\x0a\x03\x01\x02\x01", 5));
}

/* A function has one file; the lines of a header that were inlined into it have their own. */
static void test_lines_pprof(void **state)
{
	static const struct result_frame one = {
		.name = "f", .module = "m", .ip = 0x10, .file = "a.c", .line = 7};
	static const struct result_frame two = {
		.name = "f", .module = "m", .ip = 0x11, .file = "b.h", .line = 9};
	static const struct result_frame *const frames[] = {&one, &two};
	struct result_stack stack = {.frames = frames, .n_frames = 2, .count = 1};
	/* of each location: its function and line */
	static const char *const lines[] = {"\x22\x04\x08\x01\x10\x07", "\x22\x04\x08\x02\x10\x09"};
	_cleanup_results_ struct results results = {0};
	struct result *r = results_add(&results, RESULT_STACKS, "profile");
	uint8_t plain[4096];

	r->stacks = &stack;
	r->n_stacks = 1;
	const size_t size = pprof_of(&results, plain);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(memmem(plain, size, lines[i], 6));
	assert_non_null(memmem(plain, size,
			       "\x32\x03"
			       "a.c",
			       5));
	assert_non_null(memmem(plain, size,
			       "\x32\x03"
			       "b.h",
			       5));
}

/* The message consists of whole fields. */
static void test_stacks_pprof(void **state)
{
	_cleanup_results_ struct results results = {.time = 5000, .span = 300};
	uint8_t plain[4096];
	unsigned seen[16] = {0};

	add_stacks(&results);
	const size_t size = pprof_of(&results, plain);
	for (size_t i = 0; i < size;) {
		unsigned field = plain[i] >> 3, type = plain[i] & 7;
		uint64_t v = 0;
		int shift = 0;

		assert_true(field < 16);
		seen[field]++;
		do {
			assert_true(++i < size);
			v |= (uint64_t)(plain[i] & 0x7f) << shift;
			shift += 7;
		} while (plain[i] & 0x80);
		i++;
		if (field == 9)
			assert_int_equal(v, 4700);
		if (field == 10)
			assert_int_equal(v, 300);
		if (type == 2)
			i += v;
		assert_true(i <= size);
	}
	assert_int_equal(seen[1], 1); /* sample type */
	assert_int_equal(seen[2], 5); /* samples */
	assert_int_equal(seen[3], 2); /* mappings */
	assert_int_equal(seen[4], 6); /* locations: leaf left right main, and two odd ones */
	assert_int_equal(seen[5], 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heat_text),	cmocka_unit_test(test_heat_shades),
		cmocka_unit_test(test_heat_narrow),	cmocka_unit_test(test_heat_empty),
		cmocka_unit_test(test_heat_json),	cmocka_unit_test(test_events_text),
		cmocka_unit_test(test_events_json),	cmocka_unit_test(test_stacks_text),
		cmocka_unit_test(test_stacks_folded),	cmocka_unit_test(test_names_folded),
		cmocka_unit_test(test_stacks_pprof),	cmocka_unit_test(test_units_pprof),
		cmocka_unit_test(test_addresses_pprof), cmocka_unit_test(test_lines_pprof),
		cmocka_unit_test(test_chain_opts),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
