// SPDX-License-Identifier: BSD-2-Clause
/* perf/print: the choice of fields, times and strings of JSON. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "perf/print/print.h"

static void parse(struct field_choice *c, const char *arg)
{
	struct error *err = field_choice_parse(c, arg, NULL);

	if (err)
		fail_msg("-F %s: %s", arg, err->msg);
}

static void refuse(const char *arg, const char *message, const char *hint)
{
	struct field_choice c;

	field_choice_init(&c);
	struct error *err = field_choice_parse(&c, arg, NULL);
	if (!err)
		fail_msg("-F %s is taken", arg);
	if (!strstr(err->msg, message))
		fail_msg("-F %s: '%s' lacks '%s'", arg, err->msg, message);
	if (hint && (!err->hint || !strstr(err->hint, hint)))
		fail_msg("-F %s: hint '%s' lacks '%s'", arg, err->hint ? err->hint : "", hint);
	error_free(err);
}

TEST(test_fields)
{
	struct field_choice c;

	field_choice_init(&c);
	assert_true(c.type[FIELD_TYPE_TRACEPOINT].fields & FIELD_TRACE);
	assert_false(c.type[FIELD_TYPE_TRACEPOINT].fields & FIELD_IP);
	assert_true(c.type[FIELD_TYPE_SOFTWARE].fields & FIELD_BPF_OUTPUT);

	/* Names without a sign replace, for all types that can have them. */
	parse(&c, "comm,trace,ip");
	assert_int_equal(c.type[FIELD_TYPE_TRACEPOINT].fields, FIELD_COMM | FIELD_TRACE | FIELD_IP);
	assert_int_equal(c.type[FIELD_TYPE_SOFTWARE].fields, FIELD_COMM | FIELD_IP);

	/* Signs change. */
	field_choice_init(&c);
	parse(&c, "+addr,-dso");
	assert_true(c.type[FIELD_TYPE_SOFTWARE].fields & FIELD_ADDR);
	assert_false(c.type[FIELD_TYPE_SOFTWARE].fields & FIELD_DSO);
	assert_true(c.type[FIELD_TYPE_SOFTWARE].fields & FIELD_COMM);
	assert_true(c.type[FIELD_TYPE_SOFTWARE].wanted & FIELD_ADDR);

	/* One type alone. */
	field_choice_init(&c);
	parse(&c, "sw:comm,ip");
	parse(&c, "trace:time");
	assert_int_equal(c.type[FIELD_TYPE_SOFTWARE].fields, FIELD_COMM | FIELD_IP);
	assert_int_equal(c.type[FIELD_TYPE_TRACEPOINT].fields, FIELD_TIME);
	assert_true(c.type[FIELD_TYPE_HARDWARE].fields & FIELD_SYM);

	parse(&c, "+flags");
	assert_true(c.flags);
	parse(&c, "-flags");
	assert_false(c.flags);
}

TEST(test_bad_fields)
{
	refuse("comm,tiem", "unknown field 'tiem'", "'time'");
	refuse("xyzzyxyzzy", "unknown field 'xyzzyxyzzy'", "comm, tid, pid");
	refuse("callindent", "does not support field 'callindent'", "perf script");
	refuse("sw:trace", "field 'trace' is not available for software events", NULL);
	refuse("what:comm", "unknown event type 'what'", "hw, sw");
	refuse("comm,+ip", "", NULL);
	refuse("-ip,comm", "without a sign", NULL);
	refuse("", "at least one field", NULL);
}

static const char *time_text(struct strbuf *sb, uint64_t ns, bool nine)
{
	strbuf_reset(sb);
	print_time(sb, ns, nine);
	return strbuf_str(sb);
}

/* Cut, not rounded, as perf does. */
TEST(test_time)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	assert_string_equal(time_text(&sb, 0, false), "0.000000");
	assert_string_equal(time_text(&sb, 1999, false), "0.000001");
	assert_string_equal(time_text(&sb, 12345678901234999ull, false), "12345678.901234");
	assert_string_equal(time_text(&sb, 12345678901234999ull, true), "12345678.901234999");
	assert_string_equal(time_text(&sb, UINT64_MAX, true), "18446744073.709551615");
}

static const char *json_text(struct strbuf *sb, const char *s, size_t len)
{
	strbuf_reset(sb);
	json_add_string(sb, s, len);
	return strbuf_str(sb);
}

TEST(test_json_strings)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", "\"\""},
		{"plain text, longer than eight", "\"plain text, longer than eight\""},
		{"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"12345678\"", "\"12345678\\\"\""},
		{"tab\tnl\n\x01\x7f", "\"tab\\tnl\\n\\u0001\\u007f\""},
		{"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
		{"\xe2\x82\xac \xf0\x9f\x90\x9d", "\"\xe2\x82\xac \xf0\x9f\x90\x9d\""},
		{"\xff", "\"\\udcff\""},
		{"a\xc3", "\"a\\udcc3\""},	    /* cut */
		{"\xc0\xaf", "\"\\udcc0\\udcaf\""}, /* overlong */
		{"\xc2\x9b"
		 "2J\xe2\x80\xae",
		 "\"\\u009b2J\\u202e\""},				    /* C1, direction */
		{"\xf3\xa0\x80\x81\xc3\xa4", "\"\\udb40\\udc01\xc3\xa4\""}, /* U+E0001, a tag */
		{"\xed\xa0\x80", "\"\\udced\\udca0\\udc80\""},		    /* a surrogate */
		{"\xf4\x90\x80\x80", "\"\\udcf4\\udc90\\udc80\\udc80\""},   /* past U+10FFFF */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(json_text(&sb, cases[i].from, strlen(cases[i].from)),
				    cases[i].to);
	assert_string_equal(json_text(&sb, "a\0b", 3), "\"a\\u0000b\"");
	/* Every byte at every place within a word. */
	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < 20; at++) {
			char text[20], want[40];

			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			json_text(&sb, text, sizeof(text));
			bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
			size_t n = plain					     ? 1
				   : c == '"' || c == '\\' || c == '\t' || c == '\n' ? 2
										     : 6;
			assert_int_equal(sb.len, 2 + 19 + n);
			memset(want, 'x', sizeof(want));
			assert_memory_equal(sb.str + 1, want, at);
			assert_memory_equal(sb.str + 1 + at + n, want, 19 - at);
		}
}
