// SPDX-License-Identifier: BSD-2-Clause
/* Results as text on terminals of any width: no line is wider, and nothing acts on the terminal. */
#include <string.h>

#include "show/plain.h"
#include "show/text_tables.h"
#include "tests/unit/results.h"

static void add_all(struct results *results)
{
	for (enum result_kind kind = RESULT_COUNT; kind <= RESULT_EVENTS; kind++) {
		struct result *r = results_put(results, kind, HOSTILE);

		r->title = r->unit = r->note = HOSTILE;
	}
}

/* Columns that a line takes, without its colours. */
static size_t columns_of(const char *line, size_t n)
{
	_cleanup_strbuf_ struct strbuf bare = STRBUF_INIT;

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '\033') {
			assert_int_equal(line[i + 1], '[');
			i += strcspn(line + i, "m");
			continue;
		}
		assert_true((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
		strbuf_addch(&bare, line[i]);
	}
	return plain_width(strbuf_str(&bare), bare.len);
}

TEST(test_no_line_is_wider)
{
	static const unsigned widths[] = {20, 21, 33, 80, 200};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		for (enum text_shades shades = SHADES_CHARS; shades <= SHADES_COLOUR; shades++) {
			for (int ascii = 0; ascii < 2; ascii++) {
				_cleanup_results_ struct results results = {0};
				_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
				const struct text_opts opts = {.width = widths[i],
							       .cut = true,
							       .ascii = ascii,
							       .shades = shades};
				size_t lines = 0;

				add_all(&results);
				results_text(&results, &opts, &out);
				assert_false(strbuf_failed(&out));
				for (const char *p = strbuf_str(&out); *p; lines++) {
					size_t n = strcspn(p, "\n");

					assert_true(columns_of(p, n) <= widths[i]);
					p += n + !!p[n];
				}
				assert_true(lines > 30);
				if (ascii || widths[i] <= 80)
					assert_int_equal(!!strstr(strbuf_str(&out), "…"), !ascii);
			}
		}
	}
}

TEST(test_a_file_gets_all)
{
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct text_opts opts = {.width = 20};

	results_put(&results, RESULT_TABLE, "t");
	results_text(&results, &opts, &out);
	assert_string_equal(strbuf_str(&out),
			    "t:\n"
			    "pid    comm                                               calls       "
			    "         change  "
			    "mean  ok\n"
			    "dd(7)  </script><b>\"x\",\\x1b[31m\\x0a\\xff é  18446744073709551615  "
			    "-9223372036854775808  0.5   true\n"
			    "8                                                             2       "
			    "              3  "
			    "      false\n"
			    "(3 more)\n");
}

/* Columns of text give way to the numbers; then what is left over is cut. */
TEST(test_tables)
{
	static const struct result_column columns[] = {
		{"file", NULL, true}, {"comm", NULL, true}, {"calls", NULL, false}};
	struct result_cell cells[] = {{CELL_TEXT, .text = "/usr/share/dict/words", {0}},
				      {CELL_TEXT, .text = "cat", {0}},
				      {CELL_UINT, .text = NULL, {.u = 12345678}},
				      {CELL_TEXT, .text = "漢字漢字漢字", {0}},
				      {CELL_TEXT, .text = "wc", {0}},
				      {CELL_UINT, .text = NULL, {.u = 7}}};
	_cleanup_results_ struct results results = {0};
	struct result *r = results_add(&results, RESULT_TABLE, "t");
	static const struct {
		unsigned width;
		const char *want;
	} cases[] = {
		{80, "t:\nfile                   comm     calls\n"
		     "/usr/share/dict/words  cat   12345678\n"
		     "漢字漢字漢字           wc           7\n"},
		{26, "t:\nfile        comm     calls\n"
		     "/usr/shar…  cat   12345678\n"
		     "漢字漢字…   wc           7\n"},
		/* no room side by side */
		{20, "t:\nfile\n    /usr/share/dict…\n  comm cat\n  calls 12345678\n"
		     "file 漢字漢字漢字\n  comm wc  calls 7\n"},
	};

	r->table = (struct result_table){columns, 3, cells, 2, 0};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		const struct text_opts opts = {.width = cases[i].width, .cut = true};

		results_text(&results, &opts, &out);
		assert_string_equal(strbuf_str(&out), cases[i].want);
	}
}

TEST(test_histograms)
{
	struct result_bucket buckets[] = {{1 << 19, (1 << 20) - 1, 12},
					  {1 << 20, (1 << 21) - 1, 123456}};
	const struct result_hist hist = {.buckets = buckets, .n_buckets = 2};
	static const struct {
		unsigned width;
		const char *want;
	} cases[] = {
		{20, "[512K, 1M)      12\n"
		     "[1M, 2M)    123456\n"},
		{27, "[512K, 1M)      12 |@     |\n"
		     "[1M, 2M)    123456 |@@@@@@|\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		const struct text_opts opts = {.width = cases[i].width};

		hist_text(&hist, true, &opts, &out);
		assert_string_equal(strbuf_str(&out), cases[i].want);
	}
}

TEST(test_times)
{
	static const struct {
		uint64_t number;
		const char *unit, *want;
	} cases[] = {
		{0, "ns", "0 ns"},
		{999, "ns", "999 ns"},
		{1000, "ns", "1.00 us"},
		{1239600, "ns", "1.24 ms"},
		{12396000, "ns", "12.4 ms"},
		{123960000, "ns", "124 ms"},
		{999499999, "ns", "999 ms"},
		{999999999, "ns", "1.00 s"},
		{9994, "us", "9.99 ms"},
		{9995, "us", "10.0 ms"},
		{99960, "us", "100 ms"},
		{1500, "ms", "1.50 s"},
		{7, "s", "7.00 s"},
		{90000, "s", "90000 s"},
		{UINT64_MAX, "ns", "18446744074 s"},
		{5, "bytes", ""},
		{5, NULL, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		assert_int_equal(time_text(cases[i].number, cases[i].unit, &out),
				 *cases[i].want != 0);
		assert_string_equal(strbuf_str(&out), cases[i].want);
	}
}

/* For a terminal: the largest rows, how many more there are, and single numbers last. */
TEST(test_top)
{
	static const struct result_column columns[] = {{"comm", NULL, true}, {"ns", "ns", false}};
	struct result_cell cells[] = {
		{CELL_TEXT, .text = "cat", {0}},  {CELL_UINT, .text = NULL, {.u = 1239600}},
		{CELL_TEXT, .text = "wc", {0}},	  {CELL_UINT, .text = NULL, {.u = 900}},
		{CELL_TEXT, .text = "last", {0}}, {CELL_UINT, .text = NULL, {.u = 7}}};
	struct result_bucket buckets[] = {{1, 1, 12}};
	struct result_hist hists[] = {{.label = "comm a", .buckets = buckets, .n_buckets = 1},
				      {.label = "comm b", .buckets = buckets, .n_buckets = 1},
				      {.label = "comm c", .buckets = buckets, .n_buckets = 1}};
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, whole = STRBUF_INIT;
	struct text_opts opts = {.width = 20, .top = 2, .units = true};
	struct result *r = results_add(&results, RESULT_COUNT, "all");

	r->program = "one";
	r->unit = "us";
	r->count = 1500;
	r = results_add(&results, RESULT_TABLE, "t");
	r->program = "one";
	r->note = "full";
	r->table = (struct result_table){columns, 2, cells, 3, 4};
	r = results_add(&results, RESULT_HIST, "h");
	r->program = "two";
	r->hists = hists;
	r->n_hists = 3;
	r->n_keys = 1;
	r->log2 = true;
	results_text(&results, &opts, &out);
	assert_string_equal(strbuf_str(&out), "t:\ncomm     time\ncat   1.24 ms\nwc     900 ns\n"
					      "(5 more; --top 0 shows all)\nnote: full\n\n"
					      "all: 1.50 ms\n\n"
					      "h:\ncomm a\n[1]  12 |@@@@@@@@@@|\n\n"
					      "comm b\n[1]  12 |@@@@@@@@@@|\n\n"
					      "(1 more; --top 0 shows all)\n");
	opts.top = 0;
	opts.units = false;
	results_text(&results, &opts, &whole);
	assert_string_equal(strbuf_str(&whole),
			    "all: 1500 us\n\n"
			    "t:\ncomm       ns\ncat   1239600\nwc        900\nlast        7\n"
			    "(4 more)\nnote: full\n\n"
			    "h:\ncomm a\n[1]  12 |@@@@@@@@@@|\n\ncomm b\n[1]  12 |@@@@@@@@@@|\n\n"
			    "comm c\n[1]  12 |@@@@@@@@@@|\n");
}

/* The first and the last range of a linear histogram have no end. */
TEST(test_linear)
{
	struct result_bucket buckets[] = {
		{(uint64_t)INT64_MIN, -21, 3}, {-20, -11, 12}, {-10, -1, 1}, {0, INT64_MAX, 7}};
	const struct result_hist hist = {.buckets = buckets, .n_buckets = 4};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct text_opts opts = {.width = 21};

	hist_text(&hist, false, &opts, &out);
	assert_string_equal(strbuf_str(&out), "(..., -20)   3 |@   |\n"
					      "[-20, -10)  12 |@@@@|\n"
					      "[-10, 0)     1 |@   |\n"
					      "[0, ...)     7 |@@  |\n");
}

static void check_lines(const char *from, size_t columns, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	plain_cut_lines(&out, from, strlen(from), columns, false);
	assert_string_equal(strbuf_str(&out), want);
}

TEST(test_lines)
{
	check_lines("abc\n\nabcdef\nabcd", 4, "abc\n\nabc…\nabcd");
	/* colours take no room, and end where the line is cut */
	check_lines("\033[48;5;17m  \033[0m|\n", 3, "\033[48;5;17m  \033[0m|\n");
	check_lines("\033[48;5;17m    \033[0m|\n", 3, "\033[48;5;17m  \033[0m…\n");
	check_lines("\033[0mabcd", 3, "\033[0mab…");
	check_lines("\033[Xabc", 9, "\033[Xabc"); /* not one of ours: counted as it is */
}

/* Wherever the hostile bytes are, also beyond the eight that are looked at together. */
TEST(test_plain_since)
{
	static const struct {
		const char *text, *lines, *line;
	} cases[] = {
		{"abc\n", "abc\n", "abc\n"},
		{"a\nb\tc\n", "a\nb\tc\n", "a\\x0ab\tc\n"},
		{"\033[31mred", "\\x1b[31mred", "\\x1b[31mred"},
		{"seventeen letters\x7f!\n", "seventeen letters\\x7f!\n",
		 "seventeen letters\\x7f!\n"},
		{"fünf \xff \xc2\x9b \n\n", "fünf \\xff \\xc2\\x9b \n\n",
		 "fünf \\xff \\xc2\\x9b \\x0a\n"},
		{"", "", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int lines = 0; lines < 2; lines++) {
			_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

			strbuf_adds(&out, "\033kept ");
			strbuf_adds(&out, cases[i].text);
			plain_since(&out, 6, lines);
			assert_false(strbuf_failed(&out));
			assert_string_equal(strbuf_str(&out) + 6,
					    lines ? cases[i].lines : cases[i].line);
			assert_true(out.str[0] == '\033');
		}
	}
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	strbuf_adds(&out, "\tkept a\tb\n");
	plain_whole_since(&out, 6);
	assert_string_equal(strbuf_str(&out), "\tkept a\\x09b\\x0a");
	for (unsigned c = 0; c < 256; c++) {
		const char text[] = {'1', '2', '3', (char)c, '5', '6', '7', '8', '9'};

		assert_int_equal(text_is_plain(text, sizeof(text)), c >= ' ' && c < 0x7f);
	}
}
