// SPDX-License-Identifier: BSD-2-Clause
/* Values by their BTF: as JSON, and from what the user writes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "inspect/value_input.h"
#include "show/show_entry.h"
#include "lib/btf/value.h"
#include "show/value_text.h"

struct pair {
	int16_t a, b;
};

struct sample {
	uint64_t n;
	char name[8];
	int32_t state;
	bool ok;
	uint8_t mac[3];
	uint32_t low : 3, wide : 20;
	int32_t minus : 4;
	struct pair pairs[2];
	void *p;
	union {
		int32_t inner;
		uint8_t bytes[4];
	};
	float f;
	double d;
	unsigned __int128 huge;
};

enum {
	U64 = 1,
	CHAR,
	U32,
	I32,
	BOOL,
	U8,
	I16,
	PTR,
	FLOAT,
	DOUBLE,
	HUGE,
	NAME,
	MAC,
	BYTES,
	STATE,
	PAIR,
	PAIRS,
	NAMELESS,
	SAMPLE,
	VAR,
	DATA,
};

static struct btf *types(void)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "unsigned long", 8, 0);
	btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	btf__add_int(b, "unsigned int", 4, 0);
	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_int(b, "_Bool", 1, BTF_INT_BOOL);
	btf__add_int(b, "unsigned char", 1, 0);
	btf__add_int(b, "short", 2, BTF_INT_SIGNED);
	btf__add_ptr(b, 0);
	btf__add_float(b, "float", 4);
	btf__add_float(b, "double", 8);
	btf__add_int(b, "unsigned __int128", 16, 0);
	btf__add_array(b, U32, CHAR, 8);
	btf__add_array(b, U32, U8, 3);
	btf__add_array(b, U32, U8, 4);
	btf__add_enum(b, "state", 4);
	btf__add_enum_value(b, "RUNNING", 1);
	btf__add_enum_value(b, "GONE", -1);
	btf__add_struct(b, "pair", 4);
	btf__add_field(b, "a", I16, 0, 0);
	btf__add_field(b, "b", I16, 16, 0);
	btf__add_array(b, U32, PAIR, 2);
	btf__add_union(b, NULL, 4);
	btf__add_field(b, "inner", I32, 0, 0);
	btf__add_field(b, "bytes", BYTES, 0, 0);
	assert_int_equal(btf__add_struct(b, "sample", sizeof(struct sample)), SAMPLE);
#define FIELD(name, type) btf__add_field(b, #name, type, offsetof(struct sample, name) * 8, 0)
	const uint32_t bits = (offsetof(struct sample, mac) + 3) * 8;
	FIELD(n, U64);
	FIELD(name, NAME);
	FIELD(state, STATE);
	FIELD(ok, BOOL);
	FIELD(mac, MAC);
	btf__add_field(b, "low", U32, bits, 3);
	btf__add_field(b, "wide", U32, bits + 3, 20);
	btf__add_field(b, "minus", I32, bits + 23, 4);
	FIELD(pairs, PAIRS);
	FIELD(p, PTR);
	btf__add_field(b, NULL, NAMELESS, offsetof(struct sample, inner) * 8, 0);
	FIELD(f, FLOAT);
	FIELD(d, DOUBLE);
	FIELD(huge, HUGE);
	assert_int_equal(btf__add_var(b, "limit", BTF_VAR_GLOBAL_ALLOCATED, U32), VAR);
	btf__add_datasec(b, ".data", 8);
	btf__add_datasec_var_info(b, VAR, 4, 4);
	return b;
}

static const struct sample full = {
	.n = UINT64_MAX,
	.name = "d\"d",
	.state = -1,
	.ok = true,
	.mac = {1, 2, 255},
	.low = 5,
	.wide = 1000000,
	.minus = -3,
	.pairs = {{1, -2}, {3, 4}},
	.p = (void *)0xffff888012345678,
	.inner = -1,
	.f = 0.1f,
	.d = 1e300,
	.huge = (unsigned __int128)1 << 64 | 7,
};

#define FULL_JSON                                                                                  \
	"{\"n\":18446744073709551615,\"name\":\"d\\\"d\",\"state\":\"GONE\",\"ok\":true,"          \
	"\"mac\":[1,2,255],\"low\":5,\"wide\":1000000,\"minus\":-3,"                               \
	"\"pairs\":[{\"a\":1,\"b\":-2},{\"a\":3,\"b\":4}],\"p\":\"0xffff888012345678\","           \
	"\"inner\":-1,\"bytes\":[255,255,255,255],\"f\":0.1,\"d\":1e+300,"                         \
	"\"huge\":\"0x10000000000000007\"}"

static void expect(const struct btf *b, uint32_t type, const void *data, const char *want)
{
	struct value_plan *plan;
	struct strbuf sb = STRBUF_INIT;

	assert_null(value_plan_new(b, type, VALUE_COMPACT, 0, &plan));
	value_plan_json(plan, data, &sb);
	assert_string_equal(strbuf_str(&sb), want);
	value_plan_free(plan);
	strbuf_deinit(&sb);
}

TEST(test_every_kind)
{
	struct btf *b = types();
	const uint32_t data[2] = {0, 42};
	const float nan = __builtin_nanf("");
	const char cut[8] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
	const int32_t unknown = 7;

	expect(b, SAMPLE, &full, FULL_JSON);
	expect(b, DATA, data, "{\"limit\":42}");
	expect(b, VAR, &data[1], "42");
	expect(b, FLOAT, &nan, "\"nan\"");
	expect(b, NAME, cut, "\"abcdefgh\"");
	expect(b, STATE, &unknown, "7");
	btf__free(b);
}

/* Values of enums of flags, and of lists that look a little like them. */
TEST(test_flags)
{
	static const struct {
		int64_t values[8];
		uint32_t n, size;
		bool is_signed, flags;
		struct {
			int64_t v;
			const char *text;
		} shown[6];
	} cases[] = {
		{{1, 2, 4},
		 3,
		 4,
		 false,
		 true,
		 {{3, "\"A|B\""}, {4, "\"C\""}, {0, "0"}, {13, "\"A|C|0x8\""}, {8, "8"}}},
		/* with names of 0 and of combinations */
		{{0, 4, 8, 12, 1},
		 5,
		 1,
		 false,
		 true,
		 {{0, "\"A\""}, {12, "\"D\""}, {13, "\"B|C|E\""}, {0x41, "\"E|0x40\""}}},
		/* the sign is a flag, too */
		{{1, 2, INT32_MIN},
		 3,
		 4,
		 true,
		 true,
		 {{INT32_MIN + 1, "\"A|C\""}, {INT32_MIN, "\"C\""}, {7, "\"A|B|0x4\""}}},
		{{1, 1ll << 40, INT64_MIN}, 3, 8, false, true, {{INT64_MIN + 1, "\"A|C\""}}},
		/* lists */
		{{0, 1, 2, 3}, 4, 4, false, false, {{5, "5"}, {3, "\"D\""}}},
		{{1, 2, 3, 4}, 4, 4, false, false, {{5, "5"}}},
		{{1, 2}, 2, 4, false, false, {{3, "3"}}},
		{{1, -1}, 2, 4, true, false, {{3, "3"}, {-1, "\"B\""}}},
		{{1, 2, 8, 5}, 4, 4, false, false, {{3, "3"}}},
		{{4}, 1, 4, false, false, {{5, "5"}}},
		{{0}, 0, 4, false, false, {{5, "5"}}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct btf *b = btf__new_empty();
		const int id = cases[i].size == 8 ? btf__add_enum64(b, "e", 8, cases[i].is_signed)
						  : btf__add_enum(b, "e", cases[i].size);

		for (uint32_t k = 0; k < cases[i].n; k++) {
			const char name[2] = {(char)('A' + k)};

			if (cases[i].size == 8)
				btf__add_enum64_value(b, name, (uint64_t)cases[i].values[k]);
			else
				btf__add_enum_value(b, name, cases[i].values[k]);
		}
		const struct btf_type *t = btf__type_by_id(b, (uint32_t)id);
		if (value_enum_is_flags(b, t) != cases[i].flags)
			fail_msg("case %zu", i);
		for (size_t k = 0; k < 6 && cases[i].shown[k].text; k++) {
			const int64_t v = cases[i].shown[k].v;
			_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
			uint64_t back = 0, bytes = 0;
			const char *wanted = cases[i].shown[k].text;

			memcpy(&bytes, &v, cases[i].size);
			expect(b, (uint32_t)id, &v, wanted);
			/* as a table shows it, and as it is read in again */
			strbuf_addch(&text, '"');
			assert_int_equal(value_enum_add(b, t, (uint64_t)v, &text), *wanted == '"');
			strbuf_addch(&text, '"');
			if (*wanted == '"')
				assert_string_equal(strbuf_str(&text), wanted);
			strbuf_reset(&text);
			strbuf_add(&text, wanted + (*wanted == '"'),
				   strlen(wanted) - 2 * (*wanted == '"'));
			assert_null(value_input(b, (uint32_t)id, strbuf_str(&text), &back,
						cases[i].size));
			assert_int_equal(back, bytes);
		}
		btf__free(b);
	}
}

/* A long double of a map's value can be given, as it is shown. */
TEST(test_long_double)
{
	struct btf *b = btf__new_empty();
	const int id = btf__add_float(b, "long double", sizeof(long double));
	long double got;

	memset(&got, 0xff, sizeof(got));
	assert_null(value_input(b, (uint32_t)id, "0.1", &got, sizeof(got)));
	assert_true(got == 0.1L);
	assert_null(value_input(b, (uint32_t)id, "-1e4000", &got, sizeof(got)));
	assert_true(got == -1e4000L);
	btf__free(b);
}

TEST(test_pretty)
{
	struct btf *b = types();
	struct value_plan *plan;
	struct strbuf sb = STRBUF_INIT;

	assert_null(value_plan_new(b, PAIRS, VALUE_PRETTY, 1, &plan));
	value_plan_json(plan, full.pairs, &sb);
	assert_string_equal(strbuf_str(&sb), "[{\n"
					     "            \"a\": 1,\n"
					     "            \"b\": -2\n"
					     "        },{\n"
					     "            \"a\": 3,\n"
					     "            \"b\": 4\n"
					     "        }\n"
					     "    ]");
	value_plan_free(plan);
	strbuf_deinit(&sb);
	btf__free(b);
}

static void expect_refused(const struct btf *b, uint32_t type, int code, const char *message)
{
	struct value_plan *plan = NULL;
	struct error *err = value_plan_new(b, type, VALUE_COMPACT, 0, &plan);

	assert_non_null(err);
	assert_null(plan);
	assert_int_equal(err->code, code);
	assert_non_null(strstr(err->msg, message));
	error_free(err);
}

TEST(test_types_that_lie)
{
	struct btf *b = types();
	uint32_t array, type = U32;

	/* a member past the end of its struct, and a struct that doubles 32 times */
	int beyond = btf__add_struct(b, "beyond", 4);
	btf__add_field(b, "far", U64, 0, 0);
	expect_refused(b, beyond, EINVAL, "far: a member at byte 0 is outside");
	expect_refused(b, 0, EINVAL, "void");
	for (int i = 0; i < 20; i++) {
		int id = btf__add_struct(b, "twice", 4u << (i + 1));

		btf__add_field(b, "x", type, 0, 0);
		btf__add_field(b, "y", type, 8 * (4u << i), 0);
		type = id;
	}
	expect_refused(b, type, E2BIG, "too many members");
	/* the same without any bytes, which needs no steps, and without names */
	for (int named = 0; named < 2; named++) {
		type = (uint32_t)btf__add_struct(b, "nothing", 0);
		for (int i = 0; i < 24; i++) {
			int id = btf__add_struct(b, "none_twice", 0);

			btf__add_field(b, named ? "x" : "", type, 0, 0);
			btf__add_field(b, named ? "y" : "", type, 0, 0);
			type = id;
		}
		expect_refused(b, type, E2BIG, "too many members");
	}
	array = btf__add_array(b, U32, btf__add_struct(b, "empty", 0), 1u << 30);
	expect(b, array, NULL, "[]");
	btf__free(b);
}

/* What was written out and read in again is the same bytes. */
TEST(test_input_of_every_kind)
{
	struct btf *b = types();
	struct sample got;

	assert_null(value_input(
		b, SAMPLE,
		"{\"n\":\"18446744073709551615\",\"name\":\"d\\\"d\",\"state\":\"GONE\","
		"\"ok\":true,\"mac\":[1,2,255],\"low\":5,\"wide\":1000000,\"minus\":-3,"
		"\"pairs\":[{\"a\":1,\"b\":-2},{\"a\":3,\"b\":4}],\"p\":\"0xffff888012345678\","
		"\"inner\":-1,\"f\":0.1,\"d\":1e300}",
		&got, sizeof(got)));
	got.huge = full.huge; /* 128 bits cannot be given */
	expect(b, SAMPLE, &got, FULL_JSON);

	uint32_t u;
	int16_t s;
	uint8_t c;
	assert_null(value_input(b, U32, "0x1f", &u, sizeof(u)));
	assert_int_equal(u, 0x1f);
	assert_null(value_input(b, I16, "-32768", &s, sizeof(s)));
	assert_int_equal(s, -32768);
	assert_null(value_input(b, U8, "'x'", &c, sizeof(c)));
	assert_int_equal(c, 'x');
	char name[8];
	assert_null(value_input(b, NAME, "lo", name, sizeof(name)));
	assert_string_equal(name, "lo");
	uint32_t data[2];
	assert_null(value_input(b, DATA, "{\"limit\": 7}", data, sizeof(data)));
	assert_int_equal(data[1], 7);
	btf__free(b);
}

TEST(test_input_that_is_wrong)
{
	static const struct {
		uint32_t type;
		const char *text;
		int code;
		const char *message, *hint;
	} cases[] = {
		{U32, "4294967296", ERANGE, "does not fit into 32 unsigned bits", NULL},
		{U32, "-1", ERANGE, "is negative", NULL},
		{I16, "-32769", ERANGE, "does not fit into 16 signed bits", NULL},
		{U64, "18446744073709551616", ERANGE, "does not fit into 64 unsigned bits", NULL},
		{U32, "12x", EINVAL, "'12x' is not a number", NULL},
		{U32, "", EINVAL, "'' is not a number", NULL},
		{BOOL, "2", EINVAL, "neither true nor false", NULL},
		{STATE, "RUNING", ENOENT, "enum state has no value 'RUNING'",
		 "did you mean 'RUNNING'?"},
		{NAME, "much too long", ERANGE, "longer than 8 bytes", NULL},
		{MAC, "[1,2,3,4]", ERANGE, "4 elements do not fit an array of 3", NULL},
		{MAC, "[1,256]", ERANGE, "element 1: 256 does not fit into 8", NULL},
		{PAIR, "{\"c\":1}", ENOENT, "struct pair has no member 'c'", NULL},
		{PAIR, "{\"a\":1,}", EINVAL, "is not JSON: column 8", NULL},
		{PAIR, "1", EINVAL, "expected a value of struct pair", "write it as JSON"},
		{SAMPLE, "{\"pairs\":[{\"a\":70000}]}", ERANGE,
		 "member pairs: element 0: member a: 70000 does not fit", NULL},
		{DATA, "{\"limi\":1}", ENOENT, "unknown variable 'limi'", "did you mean 'limit'?"},
		{HUGE, "340282366920938463463374607431768211456", ERANGE,
		 "does not fit into 128 bits", NULL},
		{SAMPLE, "{\"pairs\":[{\"a\":18446744073709551616}]}", ERANGE,
		 "member a: 18446744073709551616 does not fit", NULL},
		{SAMPLE, "{\"low\":8}", ERANGE, "member low: 8 does not fit into 3", NULL},
	};
	struct btf *b = types();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sample room;
		struct error *err = value_input(b, cases[i].type, cases[i].text, &room,
						btf__resolve_size(b, cases[i].type) > 0
							? btf__resolve_size(b, cases[i].type)
							: 8);

		if (!err)
			fail_msg("'%s' was taken", cases[i].text);
		if (err->code != cases[i].code || !strstr(err->msg, cases[i].message) ||
		    (cases[i].hint && (!err->hint || !strstr(err->hint, cases[i].hint))))
			fail_msg("'%s': %d %s (%s)", cases[i].text, err->code, err->msg,
				 err->hint ? err->hint : "no hint");
		error_free(err);
	}
	btf__free(b);
}

TEST(test_entries)
{
	struct btf *b = types();
	const uint32_t key = 3237;
	const uint64_t values[2] = {7, 8};
	struct entry_layout typed = {
		.btf = b,
		.key_type = U32,
		.value_type = U64,
		.key_size = 4,
		.value_size = 8,
		.cpus = 2,
		.stride = 8,
	};
	struct entry_layout bare = {.key_size = 4, .value_size = 8};
	struct entry_layout wrong = {.btf = b, .value_type = U32, .key_size = 4, .value_size = 8};
	struct {
		const struct entry_layout *layout;
		enum value_style style;
		const char *want;
		bool note;
	} cases[] = {
		{&typed, VALUE_COMPACT,
		 "[{\"key\":3237,\"values\":[{\"cpu\":0,\"value\":7},{\"cpu\":1,\"value\":8}]}]\n"},
		{&bare, VALUE_PRETTY,
		 "key: a5 0c 00 00  value: 07 00 00 00 00 00 00 00\nFound 1 element\n"},
		{&bare, VALUE_COMPACT,
		 "[{\"key\":[\"0xa5\",\"0x0c\",\"0x00\",\"0x00\"],\"value\":[\"0x07\",\"0x00\","
		 "\"0x00\",\"0x00\",\"0x00\",\"0x00\",\"0x00\",\"0x00\"]}]\n"},
		{&wrong, VALUE_PRETTY,
		 "key: a5 0c 00 00  value: 07 00 00 00 00 00 00 00\nFound 1 element\n", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct entry_format *f;
		struct strbuf sb = STRBUF_INIT;
		char *note;

		assert_null(entry_format_new(cases[i].layout, cases[i].style, ENTRY_IN_DUMP, &f,
					     &note));
		assert_int_equal(note != NULL, cases[i].note);
		entry_dump_begin(f, &sb);
		entry_dump_add(f, &key, values, &sb);
		entry_dump_end(f, &sb);
		assert_string_equal(strbuf_str(&sb), cases[i].want);
		entry_format_free(f);
		strbuf_deinit(&sb);
		free(note);
	}
	btf__free(b);
}
