// SPDX-License-Identifier: BSD-2-Clause
/* Results as CSV, and text that a terminal may have. */
#include <string.h>

#include "show/csv.h"
#include "show/plain.h"
#include "tests/unit/results.h"

static void check(struct csv *csv, const struct results *results, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	results_csv(csv, results, &out);
	assert_false(strbuf_failed(&out));
	assert_string_equal(strbuf_str(&out), want);
}

TEST(test_every_kind)
{
	_cleanup_results_ struct results results = {0};
	struct csv csv = {0};

	results_put(&results, RESULT_COUNT, "calls");
	results_put(&results, RESULT_COUNT, "other, \"one\"");
	results_put(&results, RESULT_TABLE, "by_pid");
	results_put(&results, RESULT_HIST, "sizes");
	results_put(&results, RESULT_STACKS, "where");
	results_put(&results, RESULT_HEAT, "heat");
	results_put(&results, RESULT_EVENTS, "ring");
	check(&csv, &results,
	      "map,count\r\n"
	      "calls,18446744073709551615\r\n"
	      "\"other, \"\"one\"\"\",18446744073709551615\r\n"
	      "\r\n"
	      "map,pid,pid_text,comm,calls,change,mean,ok\r\n"
	      "by_pid,7,dd(7),\"</script><b>\"\"x\"\",\\x1b[31m\\x0a\\xff é\","
	      "18446744073709551615,-9223372036854775808,0.5,true\r\n"
	      "by_pid,8,,,2,3,,false\r\n"
	      "\r\n"
	      "map,key,low,high,count\r\n"
	      "sizes,,0,0,2\r\n"
	      "sizes,,2,3,5\r\n"
	      "sizes,,9223372036854775808,18446744073709551615,18446744073709551608\r\n"
	      "sizes,\"</script><b>\"\"x\"\",\\x1b[31m\\x0a\\xff é\",0,0,2\r\n"
	      "sizes,\"</script><b>\"\"x\"\",\\x1b[31m\\x0a\\xff é\",2,3,5\r\n"
	      "\r\n"
	      "map,count,label,frames\r\n"
	      "where,41,dd,\"main;</script><b>\"\"x\"\",\\x1b[31m\\x0a\\xff é;inner:Lname\"\r\n"
	      "where,1,,main\r\n"
	      "where,9,none,\r\n"
	      "\r\n"
	      "map,time,low,high,count\r\n"
	      "heat,2023-11-14T22:13:20.000000000Z,1,1,5\r\n"
	      "heat,2023-11-14T22:13:22.000000000Z,2,3,7\r\n"
	      "\r\n"
	      "map,total,lost\r\n"
	      "ring,2,1\r\n");
	csv_deinit(&csv);
}

TEST(test_looks)
{
	struct csv csv = {.looks = true};

	for (int i = 0; i < 2; i++) {
		_cleanup_results_ struct results results = {.time = 1700000000123456789ull +
								    i * 1000000000ull};

		results_put(&results, RESULT_COUNT, "calls");
		check(&csv, &results,
		      i ? "2023-11-14T22:13:21.123456789Z,calls,18446744073709551615\r\n"
			: "look,map,count\r\n"
			  "2023-11-14T22:13:20.123456789Z,calls,18446744073709551615\r\n");
	}
	csv_deinit(&csv);
}

TEST(test_events)
{
	struct csv csv = {0};

	for (int i = 0; i < 2; i++) {
		_cleanup_results_ struct results results = {.events = true};
		_cleanup_strbuf_ struct strbuf want = STRBUF_INIT;

		results_put(&results, RESULT_EVENTS, "ring");
		strbuf_addf(
			&want,
			"%sring,2023-11-14T22:13:20.000000001Z,"
			"\"</script><b>\"\"x\"\",\\x1b[31m\\x0a\\xff é\",18446744073709551615\r\n"
			"ring,2023-11-14T22:13:20.250000000Z,short,\r\n",
			i ? "" : "map,time,name,size\r\n");
		check(&csv, &results, strbuf_str(&want));
	}
	csv_deinit(&csv);
}

/* What a spreadsheet would calculate becomes text; numbers stay numbers. */
TEST(test_formulas)
{
	static const struct result_column columns[] = {{.name = "comm", .is_key = true}};
	static const char *const texts[] = {"=1+1", "@SUM(1)", "-bash", "+a",
					    "-1.5", "a=b",     "@plt"};
	struct result_cell cells[ARRAY_SIZE(texts)];
	_cleanup_results_ struct results results = {0};
	struct csv csv = {0};
	struct result *r = results_add(&results, RESULT_TABLE, "=m");

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		cells[i] = (struct result_cell){.kind = CELL_TEXT, .text = texts[i]};
	r->table = (struct result_table){
		.columns = columns,
		.n_columns = 1,
		.cells = cells,
		.n_rows = ARRAY_SIZE(texts),
	};
	check(&csv, &results,
	      "map,comm\r\n'=m,'=1+1\r\n'=m,'@SUM(1)\r\n'=m,'-bash\r\n'=m,'+a\r\n'=m,-1.5\r\n"
	      "'=m,a=b\r\n'=m,@plt\r\n");
	csv_deinit(&csv);
}

TEST(test_nothing)
{
	_cleanup_results_ struct results results = {0};
	struct csv csv = {0};

	check(&csv, &results, "");
	results_put(&results, RESULT_TABLE, "t")->table.n_rows = 0;
	results_put(&results, RESULT_HIST, "h")->n_hists = 0;
	results_put(&results, RESULT_STACKS, "s")->n_stacks = 0;
	check(&csv, &results,
	      "map,pid,comm,calls,change,mean,ok\r\n"
	      "\r\nmap,key,low,high,count\r\n"
	      "\r\nmap,count,label,frames\r\n");
	csv_deinit(&csv);
}

/* A reader that makes an object of each row would lose one of two columns with one name. */
TEST(test_names_twice)
{
	static const struct result_column columns[] = {
		{.name = "map", .is_key = true},
		{.name = "pid", .is_key = true, .has_text = true},
		{.name = "pid"},
		{.name = "pid"},
		{.name = "pid_text"},
		{.name = "look"},
	};
	_cleanup_results_ struct results results = {0};
	struct csv csv = {.looks = true};
	struct result *r = results_add(&results, RESULT_TABLE, "m");

	r->table = (struct result_table){.columns = columns, .n_columns = ARRAY_SIZE(columns)};
	check(&csv, &results,
	      "look,map,key.map,pid,pid_text,value.pid,value.pid_2,value.pid_text,value.look\r\n");
	csv_deinit(&csv);
}

static void check_plain(const char *from, const char *want, size_t width)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	plain_add(&out, from, strlen(from));
	assert_string_equal(strbuf_str(&out), want);
	assert_int_equal(plain_width(strbuf_str(&out), out.len), width);
}

TEST(test_plain)
{
	check_plain("", "", 0);
	check_plain("dd é", "dd é", 4);
	check_plain(HOSTILE, HOSTILE_PLAIN, strlen(HOSTILE_PLAIN) - 1);
	check_plain("漢字", "漢字", 4);
	check_plain("e\xcc\x81", "e\xcc\x81", 1);		   /* e and a mark above it */
	check_plain("a\xe2\x80\xae\x62", "a\\xe2\\x80\\xaeb", 14); /* right-to-left override */
	check_plain("\xc2\x9b\x7f\t", "\\xc2\\x9b\\x7f\\x09", 16);
	check_plain("\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
		    "\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82", 44);
}

static void check_cut(const char *from, size_t columns, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	size_t taken = plain_add_cut(&out, from, strlen(from), columns, false);

	assert_string_equal(strbuf_str(&out), want);
	assert_int_equal(taken, plain_width(want, strlen(want)));
}

TEST(test_cut)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	check_cut("abcdef", 6, "abcdef");
	check_cut("abcdef", 5, "abcd…");
	check_cut("abcdef", 1, "…");
	check_cut("abcdef", 0, "");
	check_cut("漢字漢", 5, "漢字…");
	check_cut("漢字漢", 4, "漢…"); /* half a character is none */
	check_cut("", 0, "");
	plain_add_cut(&out, "abcdef", 6, 3, true);
	assert_string_equal(strbuf_str(&out), "ab~");
}
