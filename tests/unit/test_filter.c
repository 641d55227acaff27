// SPDX-License-Identifier: BSD-2-Clause
/* Selection of samples: lists, spans of time, and conditions, with what is wrong in them. */
#include "perf/filter/event_switch.h"
#include "perf/filter/filter.h"
#include "perf/filter/internal.h"

#define S 1000000000ull

static void assert_usage(struct error *err, const char *text, const char *of)
{
	if (!err)
		fail_msg("'%s' was taken", of);
	if (!err->usage || !strstr(err->msg, text))
		fail_msg("'%s': %s", of, err->msg);
	error_free(err);
}

TEST(cpus)
{
	static const char *const wrong[] = {"",	    ",",     "a",  "1,",  ",1",
					    "1,,2", "3-1",   "1-", "-1",  "1-2-3",
					    " 1",   "65536", "1 ", "0x1", "99999999999999999999"};
	uint64_t *bits = NULL;

	assert_null(cpus_parse("--cpu", "0,2-3,64,65535", &bits));
	assert_int_equal(bits[0], 0xd);
	assert_int_equal(bits[1], 1);
	assert_true(bits[1023] == 1ull << 63);
	free(bits);
	bits = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_usage(cpus_parse("--cpu", wrong[i], &bits), "--cpu: ", wrong[i]);
		assert_null(bits);
	}
	struct error *err = cpus_parse("--cpu", "3-1", &bits);
	assert_string_equal(err->msg, "--cpu: '3-1' ends before it starts");
	assert_string_equal(err->hint, "write 3-1 as 1-3");
	error_free(err);
}

TEST(numbers)
{
	static const char *const wrong[] = {"",		  "foo", "1,",	 "1,,2", "-1",
					    "2147483648", "1-3", "0x10", "1 2"};
	struct filter_numbers list = {0};

	assert_null(numbers_parse("--pid", "17,0,2147483647,3", &list));
	assert_true(numbers_have(&list, 0) && numbers_have(&list, 3) && numbers_have(&list, 17) &&
		    numbers_have(&list, INT32_MAX));
	assert_false(numbers_have(&list, 1) || numbers_have(&list, -1));
	vec_deinit(&list);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_usage(numbers_parse("--pid", wrong[i], &list), "--pid: ", wrong[i]);
		vec_deinit(&list);
	}
}

TEST(names)
{
	static const char *const wrong[] = {"", ",", "a,", ",a", "a,,b"};
	struct names list = {0};

	assert_null(names_parse("--comms", "bash,a b,-", &list));
	assert_true(names_have(&list, "bash") && names_have(&list, "a b") &&
		    names_have(&list, "-"));
	assert_false(names_have(&list, "bas") || names_have(&list, ""));
	names_deinit(&list);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_usage(names_parse("--comms", wrong[i], &list), "--comms: ", wrong[i]);
		names_deinit(&list);
	}
}

TEST(spans_of_seconds)
{
	static const char *const wrong[] = {
		"",    ",", "5",    "a,b",   "5,4",   "1,2x",	"1,2,3", "1.1234567891,2",
		"1;2", " ", "-1,2", "1,2 5", "1, 2x", "1.,2.,", "1e3,",	 ".5,1",
	};
	static const struct {
		const char *text;
		uint64_t in, out;
	} cases[] = {
		{"1.5,2", 1500000000, 1499999999},
		{"1.5,2", 2 * S, 2 * S + 1},
		{",2", 0, 2 * S + 1},
		{"2,", UINT64_MAX, 2 * S - 1},
		{"0,1 5,6 7,", 5 * S + 1, 3 * S},
		{"0,1 5,6 7,", 8 * S, 6 * S + 1},
		{"1.000000001,1.000000001", S + 1, S},
		/* perf reads them like this */
		{"1, 2", 2 * S, 2 * S + 1},
		{"1, 2 4,5", 4 * S, 3 * S},
		{"1, 2,3", 5 * S, S - 1},
		/* the sums of record --off-cpu have times behind all others */
		{"99999999999,", UINT64_MAX << 32, (UINT64_MAX << 32) - 2},
		{"0, 18446744069414584", 1, UINT64_MAX << 32},
		{",0", 0, 1}, /* ends at 0: not "is open" */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct time_spans spans = {0};

		assert_null(time_spans_parse("--time", cases[i].text, &spans));
		assert_false(spans.is_share);
		if (!time_spans_have(&spans, cases[i].in) || time_spans_have(&spans, cases[i].out))
			fail_msg("%s (case %zu)", cases[i].text, i);
		vec_deinit(&spans);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct time_spans spans = {0};

		assert_usage(time_spans_parse("--time", wrong[i], &spans), "--time: ", wrong[i]);
		vec_deinit(&spans);
	}
}

TEST(shares_of_a_recording)
{
	static const char *const wrong[] = {
		"%",
		"10%/0",
		"10%/11",
		"30%/4",
		"101%",
		"20%-10%",
		"10%-",
		"10%/",
		"10%-20",
		"1,2%",
		"10%,",
		"10",
		"10%/1x",
		"nan%",
		"1e1%",
		"0x1%",
		"10%/99999999999",
		"-1%",
	};
	/* Of 1000 to 2000: which is in, and which is not. */
	static const struct {
		const char *text;
		uint64_t in, out;
	} cases[] = {
		{"10%", 1000, 1100},	     {"10%", 1099, 1100},
		{"10%/2", 1100, 1200},	     {"10%/2", 1199, 1099},
		{"10%/10", 2000, 1899},	     {"10%-20%,30%-40%", 1300, 1250},
		{"10%/1,10%/3", 1200, 1150}, {"10%/1 10%/3", 1299, 1300},
		{"0%-100%", 2000, 2001},     {"12.5%/2", 1125, 1250},
		{"50%-50%", 1500, 1501},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct time_spans spans = {0};

		assert_null(time_spans_parse("--time", cases[i].text, &spans));
		assert_true(spans.is_share);
		time_spans_set_bounds(&spans, 1000, 2000);
		if (!time_spans_have(&spans, cases[i].in) || time_spans_have(&spans, cases[i].out))
			fail_msg("%s (case %zu)", cases[i].text, i);
		vec_deinit(&spans);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct time_spans spans = {0};

		assert_usage(time_spans_parse("--time", wrong[i], &spans), "--time: ", wrong[i]);
		vec_deinit(&spans);
	}
}

/* ---- conditions ---- */

/* The fields of one sample, by name. */
static const struct {
	const char *name;
	long index;
	struct where_value v;
} fields[] = {
#define NUMBER(n, s)                                                                               \
	{                                                                                          \
		.type = WHERE_NUMBER, .number = (uint64_t)(n), .is_signed = s                      \
	}
#define STRING(s)                                                                                  \
	{                                                                                          \
		.type = WHERE_STRING, .str = s, .len = sizeof(s) - 1                               \
	}
	{"count", -1, NUMBER(4097, false)},
	{"ret", -1, NUMBER(-2, true)},
	{"big", -1, NUMBER(UINT64_MAX, false)},
	{"zero", -1, NUMBER(0, false)},
	{"args", 0, NUMBER(7, false)},
	{"args", 5, NUMBER(0x40, false)},
	{"comm", -1, STRING("dd")},
	{"path", -1, STRING("/lib/libc.so.6")},
	{"star", -1, STRING("a*b")},
	{"nothing", -1, STRING("")},
	{"half", -1, {.type = WHERE_NUMBER, .is_float = true, .real = 0.5}},
	{"nan", -1, {.type = WHERE_NUMBER, .is_float = true, .real = __builtin_nan("")}},
};

static struct where_value value_of(void *ctx, size_t i)
{
	const struct where_field *want = where_field(ctx, i);

	for (size_t k = 0; k < ARRAY_SIZE(fields); k++)
		if (!strcmp(fields[k].name, want->name) && fields[k].index == want->index)
			return fields[k].v;
	return (struct where_value){.type = WHERE_NOTHING};
}

static bool is_true(const char *text)
{
	_cleanup_(where_freep) struct where *w = NULL;
	struct error *err = where_parse(text, &w);

	if (err)
		fail_msg("%s: %s", text, err->msg);
	return where_is_true(w, value_of, w);
}

/* The value of a side of a comparison. */
static struct where_value side_of(struct where *w, const struct where_part *parts, size_t n)
{
	struct where_value v = {.type = WHERE_NOTHING};

	for (size_t i = 0; i < n; i++) {
		const struct where_value part =
			parts[i].is_field ? value_of(w, parts[i].field) : parts[i].value;

		if (n > 1 && (part.type != WHERE_NUMBER || part.is_float))
			return (struct where_value){.type = WHERE_NOTHING};
		if (!i)
			v = part;
		else
			v = (struct where_value){.type = WHERE_NUMBER,
						 .number = v.number & part.number};
	}
	return v;
}

static long double real_of(const struct where_value *v)
{
	return v->is_float    ? v->real
	       : v->is_signed ? (long double)(int64_t)v->number
			      : (long double)v->number;
}

static bool test_is_true(struct where *w, const struct where_test *t)
{
	const struct where_value a = side_of(w, t->left, t->n_left),
				 b = side_of(w, t->right, t->n_right);

	if (a.type == WHERE_NOTHING || a.type != b.type)
		return false;
	if (a.type == WHERE_STRING) {
		const bool equal = a.len == b.len && !memcmp(a.str, b.str, a.len);
		const bool matches = t->right->pattern && glob_match(t->right->pattern, a.str);

		return t->op == WHERE_EQ      ? equal
		       : t->op == WHERE_NE    ? !equal
		       : t->op == WHERE_MATCH ? matches
					      : t->op == WHERE_NO_MATCH && !matches;
	}
	const long double x = real_of(&a), y = real_of(&b);
	switch (t->op) {
	case WHERE_EQ:
		return x == y;
	case WHERE_NE:
		return x != y;
	case WHERE_LT:
		return x < y;
	case WHERE_LE:
		return x <= y;
	case WHERE_GT:
		return x > y;
	case WHERE_GE:
		return x >= y;
	default:
		return false;
	}
}

/* The same condition as a list of comparisons. */
static bool is_true_as_list(const char *text)
{
	_cleanup_(where_freep) struct where *w = NULL;
	struct where_tests tests;
	size_t i = 0;

	assert_null(where_parse(text, &w));
	assert_null(where_tests_of(w, &tests));
	while (i < tests.n) {
		const size_t next = test_is_true(w, &tests.v[i]) ? tests.v[i].yes : tests.v[i].no;

		assert_true(next > i);
		i = next;
	}
	assert_true(i == WHERE_SELECT || i == WHERE_REJECT);
	where_tests_deinit(&tests);
	return i == WHERE_SELECT;
}

/* Times that a damaged or hostile recording may have. */
TEST(shares_of_any_times)
{
	struct time_spans all = {0};

	assert_null(time_spans_parse("--time", "50%-100%", &all));
	time_spans_set_bounds(&all, 1, UINT64_MAX);
	assert_true(time_spans_have(&all, UINT64_MAX) && !time_spans_have(&all, 5));
	time_spans_set_bounds(&all, 10, 5);
	assert_true(time_spans_have(&all, 10) && !time_spans_have(&all, 5));
	vec_deinit(&all);
}

TEST(conditions)
{
	static const char *const yes[] = {
		"count > 4096 && comm == \"dd\"",
		"count>4096&&comm=='dd'",
		"  ( count >= 4097 ) ",
		"count == 0x1001",
		"count == 010001",
		"count != 4096",
		"count",
		"!zero",
		"!(count < 5)",
		"ret < 0",
		"ret == -2",
		"ret < zero",
		"ret < big",
		"big > 0",
		"big == 18446744073709551615",
		"big != -1",
		"-1 != big",
		"ret >= -9223372036854775808",
		"args[5] & 0x40",
		"args[0] & 3 == 3",
		"(args[0] & 4) && args[ 0 ] == 7",
		"count & 0xf000 & 0x1000",
		"path ~ \"*.so*\"",
		"path !~ \"*.c\"",
		"star ~ 'a\\*b'",
		"star == 'a\\*b'",
		"star == 'a*b'",
		"nothing == ''",
		"nothing ~ '*'",
		"comm != path",
		"half < 1 && half > 0.25 && half == 0.5",
		"half > ret",
		"nan != nan",
		"!(nan < 1) && !(nan >= 1)",
		"zero == 1 || count == 4097",
		"zero || zero || count",
		/* what is not there is neither true nor false */
		"other == 1 || count",
		"count || other",
		"!(other && zero)",
		"comm == \"dd\" && !(zero && other)",
	};
	static const char *const no[] = {
		"count > 4097",
		"zero",
		"ret >= 0",
		"ret == big",
		"ret == 18446744073709551614",
		"big == -1",
		"comm == \"d\"",
		"comm == \"ddd\"",
		"comm ~ \"d\"",
		"star ~ 'a\\*c'",
		"nothing ~ '?'",
		"other == 1",
		"!(other == 1)",
		"other != 1",
		"other",
		"!other",
		"other && count",
		"count && other",
		"other || zero",
		"args[1] == 0",
		"args[0] & 8",
		"nan == nan",
		"nan > 1 || nan <= 1",
		"sample.other == 1",
		"half == 1",
		"comm == count",
		"comm < path",
		"count ~ '4*'",
		"half & 1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		/* a list cannot have NaN */
		if (!is_true(yes[i]) || (!strstr(yes[i], "nan") && !is_true_as_list(yes[i])))
			fail_msg("%s is not true", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (is_true(no[i]) || is_true_as_list(no[i]))
			fail_msg("%s is true", no[i]);
}

TEST(wrong_conditions_have_a_mark)
{
	static const struct {
		const char *text;
		size_t column;
		const char *what;
	} cases[] = {
		{"", 1, "is empty"},
		{"  ", 3, "is empty"},
		{"count >", 8, "expected a value here"},
		{"&& a", 1, "expected a value here"},
		{"a &&", 5, "expected a value here"},
		{"a & & b", 5, "expected a value here"},
		{"count = 3", 7, "write '=='"},
		{"(a == 1", 8, "is missing for the '(' in column 1"},
		{"a == 1)", 7, "unexpected ')'"},
		{"a b", 3, "unexpected 'b'"},
		{"a == \"dd", 6, "not closed"},
		{"a == 'x\\", 6, "not closed"},
		{"a == 1x", 7, "in a number"},
		{"a == 08", 7, "in a number"},
		{"a == 0x", 8, "expected digits"},
		{"a == 1.2.3", 6, "not a number"},
		{"a == 18446744073709551616", 6, "64 bits"},
		{"a == -9223372036854775809", 7, "64 bits"},
		{"a[", 3, "expected a number"},
		{"a[x]", 3, "expected a number"},
		{"a[1", 4, "is missing for the '[' in column 2"},
		{"a[65536]", 3, "index is too large"},
		{"sample. == 1", 8, "expected a field name"},
		{"'a'", 1, "neither true nor false"},
		{"a && 'b'", 6, "neither true nor false"},
		{"!'a'", 2, "neither true nor false"},
		{"'a' == 1", 5, "with a number"},
		{"a < 'b'", 3, "have no order"},
		{"a ~ b", 5, "a pattern in quotes"},
		{"1 ~ 'b'", 1, "takes a string"},
		{"a == 1 == 1", 8, "unexpected '='"},
		{"(a == 1) == 1", 10, "can be compared"},
		{"(a == 1) & 1", 10, "use '&&'"},
		{"'a' & 1", 5, "use '&&'"},
		{"a\nb", 3, "unexpected 'b'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct where *w = NULL;
		struct error *err = where_parse(cases[i].text, &w);
		char place[64];

		if (!err)
			fail_msg("'%s' was taken", cases[i].text);
		assert_null(w);
		assert_true(err->usage);
		snprintf(place, sizeof(place), "column %zu:", cases[i].column);
		if (!strstr(err->msg, place) || !strstr(err->msg, cases[i].what))
			fail_msg("'%s': %s", cases[i].text, err->msg);
		/* The mark is below its place, whatever the text holds. */
		const char *mark = strstr(err->msg, "\\___");
		const char *line = mark;
		while (line > err->msg && line[-1] != '\n')
			line--;
		assert_int_equal(mark - line, cases[i].column + 2);
		error_free(err);
	}
}

TEST(conditions_are_bounded)
{
	static char text[5000];
	struct where *w = NULL;

	for (size_t n = 1; n < sizeof(text) - 2; n *= 3) {
		memset(text, '(', n);
		text[n] = 0;
		assert_usage(where_parse(text, &w), "", text);
		memset(text, '!', n);
		assert_usage(where_parse(text, &w), "", text);
	}
	memset(text, 'a', sizeof(text) - 1);
	assert_usage(where_parse(text, &w), "at most", "a text of 5000");
	text[0] = 0;
	for (size_t i = 0; i < 600; i++)
		strcat(text, "a||a||");
	text[3600] = 'a';
	text[3601] = 0;
	assert_usage(where_parse(text, &w), "too long", "1200 operands");
	/* As deep as it gets, evaluated. */
	text[6 * 200] = 'a';
	text[6 * 200 + 1] = 0;
	assert_null(where_parse(text, &w));
	assert_false(where_is_true(w, value_of, w));
	where_free(w);
}

TEST(types_are_checked)
{
	static const struct {
		const char *text;
		enum where_type types[2];
		int misfit; /* -1: it fits */
	} cases[] = {
		{"a == 1", {WHERE_NUMBER}, -1},
		{"a == 1", {WHERE_NOTHING}, -1},
		{"a == 1", {WHERE_STRING}, 0},
		{"1 == a", {WHERE_STRING}, 0},
		{"a == 'x'", {WHERE_NUMBER}, 0},
		{"a ~ 'x'", {WHERE_NUMBER}, 0},
		{"a < b", {WHERE_NUMBER, WHERE_STRING}, 1},
		{"a < b", {WHERE_STRING, WHERE_STRING}, 0},
		{"a == b", {WHERE_STRING, WHERE_STRING}, -1},
		{"a == b", {WHERE_STRING, WHERE_NUMBER}, 1},
		{"a == b", {WHERE_NOTHING, WHERE_NUMBER}, -1},
		{"a & 1", {WHERE_STRING}, 0},
		{"a", {WHERE_STRING}, 0},
		{"!a", {WHERE_STRING}, 0},
		{"a == 1 && b", {WHERE_NUMBER, WHERE_STRING}, 1},
		{"a == 1 || !b", {WHERE_NUMBER, WHERE_NUMBER}, -1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(where_freep) struct where *w = NULL;
		size_t misfit = 99;

		assert_null(where_parse(cases[i].text, &w));
		struct error *err = where_check(w, cases[i].types, &misfit);
		if (!err != (cases[i].misfit < 0) || (err && misfit != (size_t)cases[i].misfit))
			fail_msg("%s (case %zu)", cases[i].text, i);
		error_free(err);
	}
}

/* The options by their long names, so that the user finds them again. */
TEST(options_are_named)
{
	static const struct {
		struct filter_opts opts;
		const char *name;
	} cases[] = {
		{{.cpus = "x"}, "--cpu: "},   {{.comms = ""}, "--comms: "},
		{{.pids = "foo"}, "--pid: "}, {{.tids = "1,"}, "--tid: "},
		{{.dsos = ""}, "--dsos: "},   {{.symbols = "0x1g"}, "--symbols: "},
		{{.time = "9"}, "--time: "},  {{.where = "("}, "--where: "},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter *f = NULL;
		struct filter_opts opts = cases[i].opts;

		opts.sz = sizeof(opts);
		assert_usage(filter_new(&opts, &f), cases[i].name, cases[i].name);
		assert_null(f);
	}
}

static bool needs_location(const char *where)
{
	const struct filter_opts opts = {.sz = sizeof(opts), .where = where};
	_cleanup_(filter_freep) struct filter *f = NULL;

	assert_null(filter_new(&opts, &f));
	return filter_needs_location(f);
}

/* The address of a probe's sample is that of the probe, once it has been looked at. */
TEST(locations_are_asked_for)
{
	assert_true(needs_location("ip == 0x1000"));
	assert_true(needs_location("pid == 1 || sample.sym == 'main'"));
	assert_true(needs_location("dso == 'libc.so.6'"));
	assert_false(needs_location("pid == 1 && comm == 'dd'"));
}

/* Which of the samples of events, by their first letters, are selected. */
static void assert_switched(const char *on, const char *off, bool shows_both, const char *samples,
			    const char *selected)
{
	static const char *const names[] = {"on", "off", "x", "on"};
	struct event_switch s = {
		.on_name = on, .off_name = off, .shows_both = shows_both, .is_off = on};
	char got[64] = "";

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		event_switch_learn(&s, &(struct session_event){.index = i, .name = names[i]});
	for (const char *c = samples; *c; c++) {
		/* '2' is the second event that is named "on" */
		const int i = *c == '2' ? 3 : *c == 'o' ? 0 : *c == 'f' ? 1 : 2;

		if (event_switch_selects(&s, &(struct session_event){.index = i}))
			strncat(got, c, 1);
	}
	assert_string_equal(got, selected);
}

TEST(events_switch)
{
	assert_switched(NULL, NULL, false, "xofx", "xofx");
	assert_switched("on", NULL, false, "xfxoxxofx", "xxofx");
	assert_switched("on", NULL, true, "xfxoxxofx", "oxxofx");
	assert_switched("on", "off", false, "xoxxfxfxox", "xxx");
	assert_switched("on", "off", true, "xoxxfxfxox", "oxxfox");
	assert_switched(NULL, "off", false, "xfxfx", "xxfx");
	assert_switched(NULL, "off", true, "xfxfx", "xfxfx");
	assert_switched("on", "on", false, "xoxoxox", "xx");
	assert_switched("on", NULL, false, "2xox2", "x2");
	assert_switched("nothing", NULL, true, "xof", "");
}
