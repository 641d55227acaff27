// SPDX-License-Identifier: BSD-2-Clause
/* Results as Prometheus reads them, and the requests for them. */
#include <string.h>

#include "serve/http.h"
#include "show/openmetrics.h"
#include "tests/unit/results.h"

#define ESCAPED "</script><b>\\\"x\\\",\\\\x1b[31m\\\\x0a\\\\xff é"

static void check(const struct results *results, enum openmetrics_format format, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	results_openmetrics(results, &(struct openmetrics_opts){format}, &out);
	assert_false(strbuf_failed(&out));
	assert_string_equal(strbuf_str(&out), want);
}

TEST(test_counts)
{
	_cleanup_results_ struct results results = {0};
	struct result *r = results_put(&results, RESULT_COUNT, "calls");

	r->unit = "calls";
	r->declared = true;
	r->title = HOSTILE;
	results_put(&results, RESULT_COUNT, "calls")->unit = "calls"; /* another object's */
	r = results_put(&results, RESULT_COUNT, "waited_total");
	r->unit = "ns";
	r->declared = true;
	r->count = 1234567890;
	results_put(&results, RESULT_COUNT, "9.odd-name")->count = 0;
	check(&results, OPENMETRICS_1_0,
	      "# HELP perf_bpf_calls " ESCAPED "\n"
	      "# TYPE perf_bpf_calls counter\n"
	      "# UNIT perf_bpf_calls calls\n"
	      "perf_bpf_calls_total 18446744073709551615\n"
	      "# HELP perf_bpf_2_calls calls\n"
	      "# TYPE perf_bpf_2_calls unknown\n"
	      "# UNIT perf_bpf_2_calls calls\n"
	      "perf_bpf_2_calls 18446744073709551615\n"
	      "# HELP perf_bpf_waited_seconds waited_total\n"
	      "# TYPE perf_bpf_waited_seconds counter\n"
	      "# UNIT perf_bpf_waited_seconds seconds\n"
	      "perf_bpf_waited_seconds_total 1.23456789\n"
	      "# HELP perf_bpf_9_odd_name 9.odd-name\n"
	      "# TYPE perf_bpf_9_odd_name unknown\n"
	      "perf_bpf_9_odd_name 0\n"
	      "# EOF\n");
	check(&results, PROMETHEUS_0_0_4,
	      "# HELP perf_bpf_calls_total </script><b>\"x\",\\\\x1b[31m\\\\x0a\\\\xff é\n"
	      "# TYPE perf_bpf_calls_total counter\n"
	      "perf_bpf_calls_total 18446744073709551615\n"
	      "# HELP perf_bpf_2_calls calls\n"
	      "# TYPE perf_bpf_2_calls untyped\n"
	      "perf_bpf_2_calls 18446744073709551615\n"
	      "# HELP perf_bpf_waited_seconds_total waited_total\n"
	      "# TYPE perf_bpf_waited_seconds_total counter\n"
	      "perf_bpf_waited_seconds_total 1.23456789\n"
	      "# HELP perf_bpf_9_odd_name 9.odd-name\n"
	      "# TYPE perf_bpf_9_odd_name untyped\n"
	      "perf_bpf_9_odd_name 0\n");
}

TEST(test_table)
{
	_cleanup_results_ struct results results = {0};
	struct result *r = results_put(&results, RESULT_TABLE, "by_pid");

	r->declared = true;
	check(&results, OPENMETRICS_1_0,
	      "# HELP perf_bpf_by_pid_calls by_pid\n"
	      "# TYPE perf_bpf_by_pid_calls counter\n"
	      "# UNIT perf_bpf_by_pid_calls calls\n"
	      "perf_bpf_by_pid_calls_total{pid=\"8\",comm=\"\"} 2\n"
	      "perf_bpf_by_pid_calls_total{pid=\"dd(7)\",comm=\"" ESCAPED "\"} "
	      "18446744073709551615\n"
	      "# HELP perf_bpf_by_pid_change by_pid\n"
	      "# TYPE perf_bpf_by_pid_change gauge\n"
	      "perf_bpf_by_pid_change{pid=\"8\",comm=\"\"} 3\n"
	      "perf_bpf_by_pid_change{pid=\"dd(7)\",comm=\"" ESCAPED "\"} "
	      "-9223372036854775808\n"
	      "# HELP perf_bpf_by_pid_mean by_pid\n"
	      "# TYPE perf_bpf_by_pid_mean gauge\n"
	      "perf_bpf_by_pid_mean{pid=\"8\",comm=\"\"} 0\n"
	      "perf_bpf_by_pid_mean{pid=\"dd(7)\",comm=\"" ESCAPED "\"} 0.5\n"
	      "# HELP perf_bpf_by_pid_ok by_pid\n"
	      "# TYPE perf_bpf_by_pid_ok gauge\n"
	      "perf_bpf_by_pid_ok{pid=\"8\",comm=\"\"} 0\n"
	      "perf_bpf_by_pid_ok{pid=\"dd(7)\",comm=\"" ESCAPED "\"} 1\n"
	      "# HELP perf_bpf_rows_left_out Rows of a map that are not served.\n"
	      "# TYPE perf_bpf_rows_left_out gauge\n"
	      "perf_bpf_rows_left_out{map=\"by_pid\"} 3\n"
	      "# EOF\n");
}

/* No two series may have the same labels, and no series two labels of a name. */
TEST(test_labels)
{
	static const struct result_column columns[] = {{"le", NULL, true},  {"a.b", NULL, true},
						       {"a-b", NULL, true}, {"__x", NULL, true},
						       {"1st", NULL, true}, {"ns", "ns", false}};
	struct result_cell cells[] = {
		{CELL_TEXT, .text = "z", {0}},	     {CELL_TEXT, .text = "1", {0}},
		{CELL_TEXT, .text = "2", {0}},	     {CELL_TEXT, .text = "", {0}},
		{CELL_BOOL, .text = NULL, {.u = 1}}, {CELL_UINT, .text = NULL, {.u = 1000000001}},
		{CELL_TEXT, .text = "a", {0}},	     {CELL_TEXT, .text = "1", {0}},
		{CELL_TEXT, .text = "2", {0}},	     {CELL_TEXT, .text = "", {0}},
		{CELL_BOOL, .text = NULL, {.u = 1}}, {CELL_UINT, .text = NULL, {.u = 5}},
		{CELL_TEXT, .text = "z", {0}},	     {CELL_TEXT, .text = "1", {0}},
		{CELL_TEXT, .text = "2", {0}},	     {CELL_TEXT, .text = "", {0}},
		{CELL_BOOL, .text = NULL, {.u = 1}}, {CELL_UINT, .text = NULL, {.u = 1000000002}},
	};
	_cleanup_results_ struct results results = {0};
	struct result *r = results_add(&results, RESULT_TABLE, "t");

	r->table = (struct result_table){columns, 6, cells, 3, 0};
	check(&results, OPENMETRICS_1_0,
	      "# HELP perf_bpf_t_ns_seconds t\n"
	      "# TYPE perf_bpf_t_ns_seconds unknown\n"
	      "# UNIT perf_bpf_t_ns_seconds seconds\n"
	      "perf_bpf_t_ns_seconds{le_=\"a\",a_b=\"1\",a_b_2=\"2\",_x=\"\",_1st=\"true\"} "
	      "0.000000005\n"
	      "perf_bpf_t_ns_seconds{le_=\"z\",a_b=\"1\",a_b_2=\"2\",_x=\"\",_1st=\"true\"} "
	      "2.000000003\n"
	      "# EOF\n");
}

/*
 * A name says which program and map it is, whatever else runs; the labels of a process are the
 * same before and after exec.
 */
TEST(test_series_last)
{
	static const struct result_column columns[] = {
		{.name = "pid", .is_key = true, .text_changes = true},
		{.name = "nr", .is_key = true},
		{.name = "comm"},
		{.name = "calls"},
	};
	static const char *const names[] = {"sh(7)", "dd(7)"}, *const comms[] = {"sh", "dd"};

	for (size_t i = 0; i < 2; i++) {
		struct result_cell cells[] = {
			{CELL_UINT, .text = names[i], {.u = 7}},
			{CELL_UINT, .text = "write", {.u = 1}},
			{CELL_TEXT, .text = comms[i], {0}},
			{CELL_UINT, .text = NULL, {.u = 5}},
		};
		struct result_stack stack = {.label = names[i], .key = "7", .count = 3};
		_cleanup_results_ struct results results = {0};

		for (size_t k = 0; k < 2; k++) {
			struct result *r = results_add(&results, RESULT_COUNT, "latency");

			r->program = k == i ? "runqlat" : "biolatency";
			r->count = k == i;
		}
		struct result *r = results_add(&results, RESULT_TABLE, "syscalls");
		r->program = "syscount";
		r->declared = true;
		r->table = (struct result_table){columns, 4, cells, 1, 2};
		r = results_add(&results, RESULT_STACKS, "profile");
		r->program = "profile";
		r->stacks = &stack;
		r->n_stacks = 1;
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		results_openmetrics(&results, &(struct openmetrics_opts){PROMETHEUS_0_0_4}, &out);
		static const char *const lines[] = {
			"\nperf_bpf_runqlat_latency 1\n",
			"\nperf_bpf_biolatency_latency 0\n",
			"\nperf_bpf_syscount_syscalls_calls_total{pid=\"7\",nr=\"write\"} 5\n",
			"\nperf_bpf_profile_total{label=\"7\",stack=\"\"} 3\n",
			"\nperf_bpf_rows_left_out{program=\"syscount\",map=\"syscalls\"} 2\n",
		};
		for (size_t k = 0; k < ARRAY_SIZE(lines); k++)
			if (!strstr(strbuf_str(&out), lines[k]))
				fail_msg("missing:%s%s", lines[k], strbuf_str(&out));
	}
}

/* A renamed label may not take the name of another one. */
TEST(test_labels_that_clash)
{
	static const struct result_column columns[] = {
		{.name = "a.b", .is_key = true}, {.name = "a_b_2", .is_key = true},
		{.name = "a-b", .is_key = true}, {.name = "le", .is_key = true},
		{.name = "le_", .is_key = true}, {.name = "n"},
	};
	struct result_cell cells[6];
	_cleanup_results_ struct results results = {0};
	struct result *r = results_add(&results, RESULT_TABLE, "t");

	for (size_t i = 0; i < 6; i++)
		cells[i] = (struct result_cell){.kind = CELL_UINT, .u = i};
	r->table = (struct result_table){columns, 6, cells, 1, 0};
	check(&results, PROMETHEUS_0_0_4,
	      "# HELP perf_bpf_t_n t\n"
	      "# TYPE perf_bpf_t_n untyped\n"
	      "perf_bpf_t_n{a_b=\"0\",a_b_2=\"1\",a_b_3=\"2\",le_=\"3\",le__2=\"4\"} 5\n");
}

TEST(test_histograms)
{
	_cleanup_results_ struct results results = {0};
	struct result *r = results_put(&results, RESULT_HIST, "sizes");

	r->unit = "us";
	results_put(&results, RESULT_HEAT, "heat");
	check(&results, OPENMETRICS_1_0,
	      "# HELP perf_bpf_sizes_seconds sizes\n"
	      "# TYPE perf_bpf_sizes_seconds histogram\n"
	      "# UNIT perf_bpf_sizes_seconds seconds\n"
	      "perf_bpf_sizes_seconds_bucket{le=\"0.0\"} 2\n"
	      "perf_bpf_sizes_seconds_bucket{le=\"0.000001\"} 2\n"
	      "perf_bpf_sizes_seconds_bucket{le=\"0.000003\"} 7\n"
	      "perf_bpf_sizes_seconds_bucket{le=\"+Inf\"} 18446744073709551615\n"
	      "perf_bpf_sizes_seconds_bucket{key=\"" ESCAPED "\",le=\"0.0\"} 2\n"
	      "perf_bpf_sizes_seconds_bucket{key=\"" ESCAPED "\",le=\"0.000001\"} 2\n"
	      "perf_bpf_sizes_seconds_bucket{key=\"" ESCAPED "\",le=\"0.000003\"} 7\n"
	      "perf_bpf_sizes_seconds_bucket{key=\"" ESCAPED "\",le=\"+Inf\"} 7\n"
	      "# HELP perf_bpf_heat heat\n"
	      "# TYPE perf_bpf_heat histogram\n"
	      "perf_bpf_heat_bucket{le=\"0.0\"} 0\n"
	      "perf_bpf_heat_bucket{le=\"1.0\"} 5\n"
	      "perf_bpf_heat_bucket{le=\"3.0\"} 12\n"
	      "perf_bpf_heat_bucket{le=\"+Inf\"} 12\n"
	      "# EOF\n");
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* As many bounds as a scraper can keep; what they count stays the same. */
TEST(test_bounds)
{
	struct result_bucket buckets[64];
	struct result_hist hist = {.buckets = buckets, .n_buckets = 64, .total = 64};
	static const struct {
		const char *unit;
		size_t bounds; /* and +Inf */
		const char *last;
	} cases[] = {
		/* 2^27 us are the first that are not below 128 s */
		{"us", 28, "le=\"134.217727\"} 28\n"},
		{"bytes", 40, "le=\"549755813887.0\"} 40\n"},
	};

	for (size_t b = 0; b < 64; b++) {
		const uint64_t low = b ? 1ULL << (b - 1) : 0;

		buckets[b] = (struct result_bucket){low, b ? low * 2 - 1 : 0, 1};
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_results_ struct results results = {0};
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct result *r = results_add(&results, RESULT_HIST, "h");

		r->hists = &hist;
		r->n_hists = 1;
		r->log2 = true;
		r->unit = cases[i].unit;
		results_openmetrics(&results, &(struct openmetrics_opts){OPENMETRICS_1_0}, &out);
		assert_non_null(strstr(strbuf_str(&out), "le=\"+Inf\"} 64\n"));
		assert_int_equal(count(strbuf_str(&out), "_bucket{"), cases[i].bounds + 1);
		if (!strstr(strbuf_str(&out), cases[i].last))
			fail_msg("missing: %s\n%s", cases[i].last, strbuf_str(&out));
	}
}

/* A table of the keys from first on; with the limit of series. */
static char *scrape(struct openmetrics_series *series, unsigned first, unsigned n)
{
	static const struct result_column columns[] = {{.name = "key", .is_key = true},
						       {.name = "n"}};
	struct result_cell cells[20];
	_cleanup_results_ struct results results = {0};
	struct strbuf out = STRBUF_INIT;
	struct result *r = results_add(&results, RESULT_TABLE, "t");

	for (unsigned i = 0; i < n; i++) {
		cells[2 * i] = (struct result_cell){.kind = CELL_UINT, .u = first + i};
		cells[2 * i + 1] = (struct result_cell){.kind = CELL_UINT, .u = 1};
	}
	r->table = (struct result_table){columns, 2, cells, n, 0};
	results_openmetrics(&results, &(struct openmetrics_opts){OPENMETRICS_1_0, "1.2\"3", series},
			    &out);
	assert_false(strbuf_failed(&out));
	return strbuf_steal(&out);
}

TEST(test_limit)
{
	struct openmetrics_series series = {.max = 3};
	_cleanup_free_ char *one = scrape(&series, 5, 3), *two = scrape(&series, 3, 6),
			    *three = scrape(&series, 0, 4), *all = NULL;

	assert_int_equal(count(one, "perf_bpf_t_n{"), 3);
	assert_int_equal(count(one, "series_left_out"), 0);
	assert_non_null(strstr(one, "# TYPE perf_bpf_build info\n"
				    "perf_bpf_build_info{version=\"1.2\\\"3\"} 1\n# EOF\n"));
	/* those of the last scrape stay, in whatever order the others come */
	for (unsigned key = 5; key < 8; key++) {
		char text[32];

		snprintf(text, sizeof(text), "perf_bpf_t_n{key=\"%u\"} 1\n", key);
		assert_non_null(strstr(one, text));
		assert_non_null(strstr(two, text));
	}
	assert_int_equal(count(two, "perf_bpf_t_n{"), 3);
	assert_non_null(strstr(two, "\nperf_bpf_series_left_out{map=\"t\"} 3\n"));
	/* room that is given up is taken */
	assert_int_equal(count(three, "perf_bpf_t_n{"), 3);
	assert_non_null(strstr(three, "\nperf_bpf_series_left_out{map=\"t\"} 1\n"));
	series.max = 0;
	all = scrape(&series, 0, 10);
	assert_int_equal(count(all, "perf_bpf_t_n{"), 10);
	openmetrics_series_deinit(&series);
}

/* Bounds below 0, in another unit. */
TEST(test_linear)
{
	struct result_bucket buckets[] = {
		{(uint64_t)INT64_MIN, -21, 3}, {-20, -1, 12}, {0, INT64_MAX, 7}};
	struct result_hist hist = {.buckets = buckets, .n_buckets = 3, .total = 22};
	_cleanup_results_ struct results results = {0};
	struct result *r = results_add(&results, RESULT_HIST, "skew");

	r->hists = &hist;
	r->n_hists = 1;
	r->unit = "ms";
	check(&results, OPENMETRICS_1_0,
	      "# HELP perf_bpf_skew_seconds skew\n"
	      "# TYPE perf_bpf_skew_seconds histogram\n"
	      "# UNIT perf_bpf_skew_seconds seconds\n"
	      "perf_bpf_skew_seconds_bucket{le=\"-0.021\"} 3\n"
	      "perf_bpf_skew_seconds_bucket{le=\"-0.001\"} 15\n"
	      "perf_bpf_skew_seconds_bucket{le=\"+Inf\"} 22\n"
	      "# EOF\n");
}

TEST(test_stacks_and_events)
{
	_cleanup_results_ struct results results = {0};

	results_put(&results, RESULT_STACKS, "where")->unit = "samples";
	results_put(&results, RESULT_EVENTS, "ring");
	check(&results, PROMETHEUS_0_0_4,
	      "# HELP perf_bpf_where_samples_total where\n"
	      "# TYPE perf_bpf_where_samples_total counter\n"
	      "perf_bpf_where_samples_total{label=\"dd\",stack=\"main;" ESCAPED
	      ";inner;Lname\"} 41\n"
	      "perf_bpf_where_samples_total{label=\"none\",stack=\"\"} 9\n"
	      "perf_bpf_where_samples_total{stack=\"main\"} 1\n"
	      "# HELP perf_bpf_ring_events_total ring\n"
	      "# TYPE perf_bpf_ring_events_total counter\n"
	      "perf_bpf_ring_events_total 2\n"
	      "# HELP perf_bpf_ring_lost_total ring\n"
	      "# TYPE perf_bpf_ring_lost_total counter\n"
	      "perf_bpf_ring_lost_total 1\n");
}

TEST(test_nothing)
{
	_cleanup_results_ struct results results = {0};

	check(&results, OPENMETRICS_1_0, "# EOF\n");
	results_put(&results, RESULT_TABLE, "t")->table = (struct result_table){0};
	results_put(&results, RESULT_HIST, "h")->n_hists = 0;
	check(&results, PROMETHEUS_0_0_4, "# HELP perf_bpf_h h\n# TYPE perf_bpf_h histogram\n");
}

/* ---- requests ---- */

static enum http_state parse(const char *text, struct http_request *request)
{
	return http_parse(text, strlen(text), request);
}

TEST(test_requests)
{
	struct http_request r;
	char large[HTTP_MAX_HEAD + 16];

	assert_int_equal(parse("GET /metrics?x=1 HTTP/1.1\r\nHost: h\r\nACCEPT: \t a/b \r\n\r\n",
			       &r),
			 HTTP_DONE);
	assert_false(r.head);
	assert_int_equal(r.path_len, 8);
	assert_memory_equal(r.path, "/metrics", 8);
	assert_int_equal(r.accept_len, 3);
	assert_memory_equal(r.accept, "a/b", 3);
	assert_int_equal(parse("HEAD / HTTP/1.0\n\n", &r), HTTP_DONE);
	assert_true(r.head);
	assert_null(r.accept);
	assert_int_equal(parse("", &r), HTTP_MORE);
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost: h\r\n", &r), HTTP_MORE);
	assert_int_equal(parse("POST / HTTP/1.1\r\n", &r), HTTP_METHOD);
	assert_int_equal(parse("GET / HTTP/2.0\r\n\r\n", &r), HTTP_VERSION);
	assert_int_equal(parse("GET /\r\n\r\n", &r), HTTP_BAD);
	assert_int_equal(parse("GET http://h/ HTTP/1.1\r\n\r\n", &r), HTTP_BAD);
	assert_int_equal(parse("GET /a b HTTP/1.1\r\n\r\n", &r), HTTP_BAD);
	assert_int_equal(parse("GET / HTTP/1.1\r\nAccept : x\r\n\r\n", &r), HTTP_BAD);
	assert_int_equal(parse("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", &r), HTTP_BAD);
	assert_int_equal(parse("GET / HTTP/1.1\r\nnothing\r\n\r\n", &r), HTTP_BAD);
	assert_int_equal(http_parse("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 23, &r), HTTP_BAD);
	memset(large, 'a', sizeof(large));
	memcpy(large, "GET /", 5);
	assert_int_equal(http_parse(large, HTTP_MAX_HEAD - 1, &r), HTTP_MORE);
	assert_int_equal(http_parse(large, HTTP_MAX_HEAD, &r), HTTP_TOO_LARGE);
}

static void check_wants(const char *accept, const char *type, unsigned want, bool named)
{
	struct http_request r = {.accept = accept, .accept_len = accept ? strlen(accept) : 0};
	bool is_named;

	assert_int_equal(http_wants(&r, type, &is_named), want);
	assert_int_equal(is_named, named);
}

TEST(test_accept)
{
	static const char prometheus[] =
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		"version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

	check_wants(NULL, "text/plain", 1000, false);
	check_wants("", "text/plain", 0, false);
	check_wants("*/*", "text/plain", 1000, false);
	check_wants("text/*;q=0.25 , */*;q=0.9", "text/plain", 250, false);
	check_wants("TEXT/Plain; Q=0.125", "text/plain", 125, true);
	check_wants("text/plain;q=0", "text/plain", 0, true);
	check_wants("text/plain;q=x", "text/plain", 0, true);
	check_wants("text/plainer, ;;;,,q=1", "text/plain", 0, false);
	check_wants(prometheus, "application/openmetrics-text", 1000, true);
	check_wants(prometheus, "text/plain", 500, true);
	check_wants(prometheus, "text/html", 100, false);
}
