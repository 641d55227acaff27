// SPDX-License-Identifier: BSD-2-Clause
/* What perf-bpf run makes of bytes and texts, without a kernel. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf/event/encode.h"
#include "run/display.h"
#include "run/internal.h"
#include "run/sites.h"
#include "run/syscalls.h"

static void expect_refused(struct error *err, const char *part)
{
	assert_non_null(err);
	if (!strstr(err->msg, part))
		fail_msg("'%s' does not hold '%s'", err->msg, part);
	error_free(err);
}

TEST(test_display)
{
	struct display d = {0};

	assert_null(display_parse("heatmap,low=-5,step=0x10,unit=ns,title=a, b=c", &d));
	assert_int_equal(d.kind, DISPLAY_HEATMAP);
	assert_true(d.declared);
	assert_int_equal(d.low, -5);
	assert_int_equal(d.step, 16);
	assert_string_equal(d.unit, "ns");
	assert_string_equal(d.title, "a, b=c");
	display_deinit(&d);
	assert_null(display_parse("events,type=struct open", &d));
	assert_int_equal(d.kind, DISPLAY_EVENTS);
	assert_string_equal(d.type, "struct open");
	display_deinit(&d);
	assert_null(display_parse("stacks,stacks=traces", &d));
	assert_int_equal(d.kind, DISPLAY_STACKS);
	assert_string_equal(d.stacks, "traces");
	display_deinit(&d);
	expect_refused(display_parse("heatmaps", &d), "unknown view 'heatmaps'");
	expect_refused(display_parse("heatmap,step=0", &d), "at least 1");
	expect_refused(display_parse("events,typ=x", &d), "'typ='");
	display_deinit(&d);
}

/* A site as an object has it: 40 bytes of name, the counter. */
static void put_site(uint8_t *to, const char *name, uint64_t failed)
{
	memset(to, 0, 48);
	memcpy(to, name, strlen(name));
	memcpy(to + 40, &failed, 8);
}

TEST(test_sites)
{
	_cleanup_sites_ struct sites sites = {0};
	uint8_t data[48 * 5 + 47];

	memset(data, 0xff, sizeof(data)); /* and a part of one, which is none */
	put_site(data, "&opens", 3);
	put_site(data + 48, "opens", 4);
	put_site(data + 96, "reads", 0);
	put_site(data + 144, "openssl", 100);
	put_site(data + 192, "0123456789012345678901234567890123456789", 7);
	assert_null(sites_parse(data, sizeof(data), &sites));
	assert_int_equal(sites_failed(&sites, "opens"), 7);
	assert_int_equal(sites_failed(&sites, "reads"), 0);
	assert_int_equal(sites_failed(&sites, "openssl"), 100);
	assert_int_equal(sites_failed(&sites, "012345678901234567890123456789012345678"), 7);
	assert_int_equal(sites.n, 4);
}

/* ---- events ---- */

static void expect_duration(uint64_t ns, const char *want)
{
	_cleanup_(run_names_freep) struct run_names *names = run_names_new(NULL, false, NULL);
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct record_field f = {.kind = FIELD_UINT, .role = ROLE_NS, .size = 8};

	assert_true(run_name_add(names, NULL, &f, &ns, &out));
	assert_string_equal(strbuf_str(&out), want);
}

TEST(test_durations)
{
	expect_duration(0, "0ns");
	expect_duration(999, "999ns");
	expect_duration(1000, "1.00us");
	expect_duration(9994, "9.99us");
	expect_duration(9995, "10.0us");
	expect_duration(12345, "12.3us");
	expect_duration(99949, "99.9us");
	expect_duration(99950, "100us");
	expect_duration(999499, "999us");
	expect_duration(999500, "1.00ms");
	expect_duration(1000000000, "1.00s");
	expect_duration(59999999999, "60.0s");
	expect_duration(UINT64_MAX, "18446744074s");
}

/* A time since the boot is the one that the clock showed. */
TEST(test_times)
{
	_cleanup_(run_names_freep) struct run_names *names = run_names_new(NULL, false, NULL);
	struct record_field f = {.kind = FIELD_UINT, .role = ROLE_TIME, .size = 8};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	bool shown = false;
	char want[32];

	const uint64_t before = clock_ns(CLOCK_REALTIME);
	const uint64_t v = clock_ns(CLOCK_MONOTONIC);
	const uint64_t after = clock_ns(CLOCK_REALTIME);
	assert_true(run_name_add(names, NULL, &f, &v, &out));
	assert_int_equal(out.len, strlen("12:03:07.000250"));
	/* a second may have begun in between */
	for (uint64_t s = before / 1000000000; s <= after / 1000000000; s++) {
		strftime(want, sizeof(want), "%T.", localtime(&(time_t){(time_t)s}));
		shown |= !strncmp(strbuf_str(&out), want, strlen(want));
	}
	assert_true(shown);
}

/* After so many readings of clocks this process does not run for two seconds; -1: it runs. */
static int readings_left = -1;
static time_t paused;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	const int ret = (int)syscall(SYS_clock_gettime, clock, ts);

	if (readings_left >= 0 && !readings_left--)
		paused += 2;
	ts->tv_sec += paused;
	return ret;
}

/* Between the readings of two clocks a process may have to wait for a CPU. */
TEST(test_times_of_a_process_that_waits)
{
	_cleanup_(run_names_freep) struct run_names *names = run_names_new(NULL, false, NULL);
	struct record_field f = {.kind = FIELD_UINT, .role = ROLE_TIME, .size = 8};
	const int64_t ahead = clock_ahead(CLOCK_REALTIME, CLOCK_MONOTONIC);
	/* the middle of a hundredth of a second */
	const uint64_t at = clock_ns(CLOCK_REALTIME) / 1000000000 * 1000000000 + 555000000;
	const uint64_t v = at - (uint64_t)ahead;
	char want[32];

	strftime(want, sizeof(want), "%T.55", localtime(&(time_t){(time_t)(at / 1000000000)}));
	for (int i = 0; i < 4; i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		readings_left = i;
		assert_true(run_name_add(names, NULL, &f, &v, &out));
		readings_left = -1;
		assert_int_equal(strncmp(strbuf_str(&out), want, strlen(want)), 0);
	}
}

/* What is no time, or none yet. */
TEST(test_no_times)
{
	_cleanup_(run_names_freep) struct run_names *names = run_names_new(NULL, false, NULL);
	struct record_field f = {.kind = FIELD_UINT, .role = ROLE_TIME, .size = 8};
	_cleanup_strbuf_ struct strbuf none = STRBUF_INIT;
	uint64_t v = 0;

	assert_false(run_name_add(names, NULL, &f, &v, &none));
	v = clock_ns(CLOCK_MONOTONIC) * 2 + UINT64_C(86400) * 2000000000;
	assert_false(run_name_add(names, NULL, &f, &v, &none));
	assert_int_equal(none.len, 0);
}

TEST(test_numbers)
{
	static const uint8_t bytes[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1};
	struct record_field f = {.kind = FIELD_INT};

	for (f.size = 1; f.size <= 4; f.size *= 2) {
		f.kind = FIELD_INT;
		assert_int_equal((int64_t)field_number(&f, bytes), -2);
		f.kind = FIELD_UINT;
		assert_int_equal(field_number(&f, bytes), (1ull << (8 * f.size)) - 2);
	}
	f.size = 8;
	assert_int_equal(field_number(&f, bytes), INT64_MAX - 1);
	/* bit fields, one of them over nine bytes */
	f = (struct record_field){.kind = FIELD_UINT, .size = 1, .bit = 1, .bits = 3};
	assert_int_equal(field_number(&f, bytes), 7);
	f.kind = FIELD_INT;
	assert_int_equal((int64_t)field_number(&f, bytes), -1);
	f = (struct record_field){.kind = FIELD_UINT, .size = 9, .bit = 4, .bits = 64};
	assert_int_equal(field_number(&f, bytes), 0x17ffffffffffffffull);
}

/* struct value { u32 low : 4; u32 high : 28; union { u8 tag; u64 all; }; u128 wide; s16 last; } */
static uint32_t add_value(struct btf *btf)
{
	int u8 = btf__add_int(btf, "u8", 1, 0), u32 = btf__add_int(btf, "u32", 4, 0);
	int u64 = btf__add_int(btf, "u64", 8, 0), wide = btf__add_int(btf, "u128", 16, 0);
	int s16 = btf__add_int(btf, "s16", 2, BTF_INT_SIGNED);
	int either = btf__add_union(btf, NULL, 8);

	btf__add_field(btf, "tag", u8, 0, 0);
	btf__add_field(btf, "all", u64, 0, 0);
	int value = btf__add_struct(btf, "value", 48);
	btf__add_field(btf, "low", u32, 0, 4);
	btf__add_field(btf, "high", u32, 4, 28);
	btf__add_field(btf, "", either, 64, 0);
	btf__add_field(btf, "wide", wide, 128, 0);
	assert_int_equal(btf__add_field(btf, "last", s16, 256, 0), 0);
	return value;
}

/* What a field has no room for is its nearest number, and the field is marked. */
TEST(test_sums_that_are_too_large)
{
	struct numbers {
		uint32_t small;
		int16_t sign;
		uint64_t large;
		int64_t less;
		__attribute__((aligned(16))) unsigned __int128 wide;
		__attribute__((aligned(16))) __int128 wide_sign;
	};
	const __int128 low = (__int128)((unsigned __int128)1 << 127); /* the least number */
	const struct numbers one = {3000000000, -20000, 1ull << 63, INT64_MAX, ~(__int128)0, low};
	struct numbers sum = {0};
	struct record_field v[] = {
		{.kind = FIELD_UINT, .off = offsetof(struct numbers, small), .size = 4},
		{.kind = FIELD_INT, .off = offsetof(struct numbers, sign), .size = 2},
		{.kind = FIELD_UINT, .off = offsetof(struct numbers, large), .size = 8},
		{.kind = FIELD_INT, .off = offsetof(struct numbers, less), .size = 8},
		{.kind = FIELD_WIDE, .off = offsetof(struct numbers, wide), .size = 16},
		{.kind = FIELD_WIDE,
		 .off = offsetof(struct numbers, wide_sign),
		 .size = 16,
		 .is_signed = true},
	};
	struct fields fields = {.v = v, .n = ARRAY_SIZE(v), .size = sizeof(sum)};

	fields_add(&fields, &sum, &one);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		assert_false(v[i].too_large);
	assert_memory_equal(&sum.large, &one.large, 8);
	fields_add(&fields, &sum, &one);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		assert_true(v[i].too_large);
	assert_int_equal(sum.small, UINT32_MAX);
	assert_int_equal(sum.sign, INT16_MIN);
	assert_true(sum.large == UINT64_MAX);
	assert_true(sum.less == INT64_MAX);
	assert_true(sum.wide == ~(unsigned __int128)0);
	assert_true(sum.wide_sign == low);
	/* differences: unsigned ones end at 0, signed ones go below it */
	fields_begin_sums(&fields);
	fields_set_additive(&fields);
	sum = (struct numbers){.small = 1, .sign = 1, .large = 1, .less = -5, .wide = 1};
	fields_subtract(&fields, &sum, &one);
	assert_int_equal(sum.small, 0);
	assert_int_equal(sum.sign, 20001);
	assert_true(sum.large == 0);
	assert_true(sum.less == INT64_MIN);
	assert_true(sum.wide == 0);
	assert_true(sum.wide_sign == ~low);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		assert_int_equal(v[i].too_large, i != 1);
}

/* What tags of members say counts, whatever programs do. */
TEST(test_declared_members)
{
	_cleanup_fields_ struct fields fields = {0};
	struct btf *btf = btf__new_empty();
	const uint32_t value = add_value(btf);

	assert_true(btf__add_decl_tag(btf, "perf-bpf:level", (int)value, 2) > 0); /* the union */
	assert_true(btf__add_decl_tag(btf, "perf-bpf:sum", (int)value, 4) > 0);	  /* last */
	assert_true(btf__add_decl_tag(btf, "perf-bpf:sum", (int)value, -1) > 0);
	assert_null(fields_of(btf, value, 48, &fields));
	assert_int_equal(fields.v[2].change, CHANGE_SET);
	assert_int_equal(fields.v[3].change, CHANGE_UNKNOWN);
	assert_int_equal(fields.v[4].change, CHANGE_ADDED);
	fields_see_store(&fields, 8, 8, false, true);
	fields_see_store(&fields, 32, 2, false, false);
	assert_int_equal(fields.v[2].change, CHANGE_SET);
	assert_int_equal(fields.v[4].change, CHANGE_ADDED);
	btf__free(btf);
}

TEST(test_fields)
{
	static const char *const names[] = {"low", "high", "all", "wide", "last"};
	struct counted {
		uint32_t low : 4, high : 28;
		uint64_t all;
		__attribute__((aligned(16))) unsigned __int128 wide;
		int16_t last;
	} one = {.low = 5, .high = 0xabcdef1, .all = 1ull << 40, .wide = UINT64_MAX, .last = -1},
	  sum = {0}, zero = {0};
	_cleanup_fields_ struct fields fields = {0};
	struct btf *btf = btf__new_empty();

	assert_int_equal(sizeof(one), 48);
	assert_null(fields_of(btf, add_value(btf), sizeof(one), &fields));
	assert_int_equal(fields.n, ARRAY_SIZE(names));
	for (size_t i = 0; i < fields.n; i++)
		assert_string_equal(fields.v[i].name, names[i]);
	assert_true(fields_count(&fields));
	assert_false(fields_any(&fields, &zero));
	/* the parts of two CPUs, and a third that has nothing: counters are summed */
	fields_add(&fields, &sum, &zero);
	fields_add(&fields, &sum, &one);
	fields_add(&fields, &sum, &one);
	assert_int_equal(sum.low, 5);
	assert_int_equal(sum.high, 0xabcdef1);
	assert_int_equal(sum.all, 2ull << 40);
	assert_true(sum.wide == (unsigned __int128)UINT64_MAX * 2);
	assert_int_equal(sum.last, -2);
	/* nothing is subtracted before it is known that programs add to it */
	assert_false(fields_any_additive(&fields));
	fields_subtract(&fields, &sum, &one);
	assert_int_equal(sum.all, 2ull << 40);
	fields_see_store(&fields, offsetof(struct counted, all), 8, false, true);
	fields_see_store(&fields, offsetof(struct counted, wide), 16, false, true);
	fields_see_store(&fields, offsetof(struct counted, last), 2, false, true);
	assert_false(fields_any_set(&fields));
	fields_see_store(&fields, offsetof(struct counted, last), 2, false, false);
	assert_true(fields_any_set(&fields));
	fields_subtract(&fields, &sum, &one);
	assert_true(sum.wide == UINT64_MAX);
	assert_int_equal(sum.low, 5);
	assert_int_equal(sum.last, -2);
	fields_subtract(&fields, &sum, &one);
	assert_false(fields_any_added(&fields, &sum));
	assert_true(fields_any(&fields, &sum));
	btf__free(btf);
}

/* The ranges of a linear histogram are those of perf_bpf_linear_add(). */
TEST(test_ranges)
{
	static const struct {
		int64_t low;
		uint64_t step;
		int64_t bounds[4]; /* of slots 1 to 4; the last one goes on */
	} cases[] = {
		{0, 10, {0, 10, 20, 30}},
		{-20, 15, {-20, -5, 10, 25}},
		{100, 1, {100, 101, 102, 103}},
		{INT64_MIN, 1, {INT64_MIN, INT64_MIN + 1, INT64_MIN + 2, INT64_MIN + 3}},
		{0, 1ull << 62, {0, 1ll << 62, INT64_MAX, INT64_MAX}},
	};
	struct result_bucket b;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct display d = {.kind = DISPLAY_LINEAR};

		d.low = cases[i].low;
		d.step = cases[i].step;
		slot_range(&d, 0, 5, &b);
		assert_int_equal((int64_t)b.low, INT64_MIN);
		assert_int_equal((int64_t)b.high,
				 d.low > INT64_MIN ? cases[i].bounds[0] - 1 : INT64_MIN);
		for (size_t k = 1; k < 5; k++) {
			slot_range(&d, k, 5, &b);
			assert_int_equal((int64_t)b.low, cases[i].bounds[k - 1]);
			if (k < 4 && cases[i].bounds[k] < INT64_MAX)
				assert_int_equal((int64_t)b.high, cases[i].bounds[k] - 1);
			else
				assert_int_equal((int64_t)b.high, INT64_MAX);
		}
	}
}

/* A process has its name beside it, by the names of the members. */
TEST(test_names_of_processes)
{
	static const struct {
		const char *pid, *comm;
		bool has;
	} cases[] = {
		{"pid", "comm", true},
		{"tgid", "comm", true},
		{"tid", "comm", true},
		{"parent", "parent_comm", true},
		{"child_pid", "child_comm", true},
		{"parent", "comm", false},
		{"pid", "parent_comm", false},
		{"pid", "name", false},
		{"pid", "pid_comm", true},
		{"child_pid", "comm", false},
		{"pid", "om", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct btf *btf = btf__new_empty();
		_cleanup_fields_ struct fields fields = {0};
		const int u32 = btf__add_int(btf, "unsigned int", 4, 0);
		const int pid = btf__add_typedef(btf, "perf_bpf_pid", u32);
		const int letter = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
		const int text = btf__add_array(btf, u32, letter, 16);
		const int type = btf__add_struct(btf, "event", 20);

		assert_int_equal(btf__add_field(btf, cases[i].pid, pid, 0, 0), 0);
		assert_int_equal(btf__add_field(btf, cases[i].comm, text, 32, 0), 0);
		assert_null(fields_of(btf, type, 20, &fields));
		assert_int_equal(fields.n, 2);
		assert_int_equal(fields.v[0].has_comm, cases[i].has);
		assert_int_equal(field_has_text(&fields.v[0]), !cases[i].has);
		btf__free(btf);
	}
}

TEST(test_system_calls)
{
	static const struct {
		uint32_t nr;
		const char *name; /* NULL: none */
	} cases[] = {
		{SYS_getpid, "getpid"},
		{UINT32_MAX, NULL},
		{9999, NULL},
		{0x80000000u | 9999, "32-bit 9999"},
		{0x40000000u | 9999, "x32 9999"},
#ifdef __x86_64__
		{0x40000000u | SYS_getpid, "x32 getpid"},
		{0x80000000u | 20, "32-bit getpid"},
		{0x80000000u | 0, "32-bit restart_syscall"},
		{0x80000000u | 437, "32-bit openat2"},
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		assert_int_equal(syscall_add_name(cases[i].nr, &text), cases[i].name != NULL);
		assert_string_equal(strbuf_str(&text), cases[i].name ? cases[i].name : "");
	}
}

/* Slots as other tools count them: slot 0 has 0 and 1. */
TEST(test_floor_slots)
{
	const struct display d = {.kind = DISPLAY_LOG2, .floor = true};
	struct result_bucket b;

	slot_range(&d, 0, 64, &b);
	assert_true(b.low == 0 && b.high == 1);
	slot_range(&d, 1, 64, &b);
	assert_true(b.low == 2 && b.high == 3);
	slot_range(&d, 62, 64, &b);
	assert_true(b.low == 1ull << 62 && b.high == (1ull << 63) - 1);
	slot_range(&d, 63, 64, &b);
	assert_true(b.low == 1ull << 63 && b.high == UINT64_MAX);
}

TEST(test_short_events)
{
	struct record_field v[] = {
		{.kind = FIELD_UINT, .size = 4},
		{.kind = FIELD_CHARS, .off = 4, .size = 8},
		{.kind = FIELD_UINT, .off = UINT32_MAX - 1, .size = 4},
	};
	struct fields fields = {.v = v, .n = 3};
	_cleanup_arena_ struct arena arena = {0};
	struct collector c = {0};
	struct making m = {.c = &c, .names = run_names_new(NULL, false, NULL), .arena = &arena};
	struct result_cell cells[3] = {0};

	assert_null(make_event(&m, &fields, "\5\0\0\0abcdefgh", 12, cells));
	assert_int_equal(cells[0].u, 5);
	assert_string_equal(cells[1].text, "abcdefgh");
	assert_int_equal(cells[2].kind, CELL_EMPTY);
	memset(cells, 0, sizeof(cells));
	assert_null(make_event(&m, &fields, "\5\0\0\0abcdefg", 11, cells));
	assert_int_equal(cells[0].u, 5);
	assert_int_equal(cells[1].kind, CELL_EMPTY);
	memset(cells, 0, sizeof(cells));
	fields.n = 2; /* a text at the end is as long as the event */
	assert_null(make_event(&m, &fields, "\5\0\0\0abcdefg", 11, cells));
	assert_string_equal(cells[1].text, "abcdefg");
	assert_null(make_event(&m, &fields, "\5\0\0\0a\0cd", 8, cells));
	assert_string_equal(cells[1].text, "a");
	memset(cells, 0, sizeof(cells));
	assert_null(make_event(&m, &fields, "\5\0\0\0", 4, cells));
	assert_int_equal(cells[1].kind, CELL_EMPTY);
	memset(cells, 0, sizeof(cells));
	fields.n = 0;
	assert_null(make_event(&m, &fields, "\1\2\xff", 3, cells));
	assert_string_equal(cells[0].text, "0102ff");
	strbuf_deinit(&m.text);
	run_names_free(m.names);
}

/* A field of the key and one of the value may have one name. */
TEST(test_one_name_twice)
{
	struct record_field key[] = {
		{.name = "pid", .kind = FIELD_UINT, .size = 4, .role = ROLE_PID}};
	struct record_field value[] = {
		{.name = "pid", .kind = FIELD_UINT, .size = 4},
		{.name = "pid_text", .kind = FIELD_UINT, .size = 4},
		{.name = "n", .kind = FIELD_UINT, .size = 4},
	};
	static const char *const names[] = {"pid", "value.pid", "value.pid_text", "n"};
	const struct display display = {0};
	_cleanup_arena_ struct arena arena = {0};
	struct collector c = {
		.key = {.v = key, .n = 1}, .value = {.v = value, .n = 3}, .display = &display};
	struct making m = {.c = &c, .arena = &arena};
	struct result_column *columns;
	size_t n;

	assert_null(make_columns(&m, true, &columns, &n));
	assert_int_equal(n, ARRAY_SIZE(names));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(columns[i].name, names[i]);
}

/* ---- heat maps ---- */

#define MS 1000000ull

static uint64_t sum_of(const struct result_heat *h, size_t from, size_t to, size_t range)
{
	uint64_t sum = 0;

	for (size_t t = from; t < to; t++)
		sum += h->counts[t * h->n_ranges + range];
	return sum;
}

/* A slot for each sample, as long as there is room; then two make one. */
TEST(test_heat)
{
	_cleanup_arena_ struct arena arena = {0};
	struct display display = {.kind = DISPLAY_HEATMAP};
	struct collector c = {.display = &display};
	struct making m = {.c = &c, .arena = &arena};
	struct collect_opts opts = {0};
	struct result r = {0};
	uint64_t totals[3] = {0};

	assert_null(heat_new(3, &c.heat));
	heat_begin(c.heat, 10 * MS, 1000 * MS, 5000 * MS);
	/* one in range 1 each 10 ms, a little late each time; in range 2 in the first half only */
	for (unsigned i = 1; i <= 100; i++) {
		totals[1]++;
		totals[2] += i <= 50;
		heat_add(c.heat, (1000 + 10 * i) * MS + MS / 2, totals);
	}
	r = (struct result){0};
	assert_null(make_heat(&m, &opts, &r));
	assert_int_equal(r.heat.step, 10 * MS);
	assert_int_equal(r.heat.start, 5000 * MS);
	assert_int_equal(r.heat.n_times, 100);
	assert_int_equal(r.heat.max, 1);
	assert_int_equal(sum_of(&r.heat, 0, 50, 2), 50);
	assert_int_equal(sum_of(&r.heat, 50, 100, 2), 0);
	assert_int_equal(r.heat.ranges[1].count, 100);
	assert_int_equal(r.heat.ranges[1].low, 1);
	/* 1000 samples: slots of 100 ms are needed, 160 it is */
	for (unsigned i = 101; i <= 1000; i++) {
		totals[1]++;
		heat_add(c.heat, (1000 + 10 * i) * MS + MS / 2, totals);
	}
	r = (struct result){0};
	assert_null(make_heat(&m, &opts, &r));
	assert_int_equal(r.heat.step, 160 * MS);
	assert_int_equal(r.heat.n_times, 63);
	/* the first look into a slot counts for the one before, where it has hardly begun */
	assert_true(r.heat.max >= 16 && r.heat.max <= 17);
	assert_int_equal(sum_of(&r.heat, 0, 63, 1), 1000);
	assert_int_equal(sum_of(&r.heat, 0, 4, 2), 50);
	assert_true(sum_of(&r.heat, 0, 3, 2) >= 48 && sum_of(&r.heat, 0, 3, 2) <= 49);
	/* a day later: nothing meanwhile, and still no more slots than there is room for */
	totals[0] = 7;
	heat_add(c.heat, 86400ull * 1000 * MS, totals);
	opts.delta = true;
	r = (struct result){0};
	assert_null(make_heat(&m, &opts, &r));
	assert_true(r.heat.n_times >= 60 && r.heat.n_times <= 120);
	assert_int_equal(r.heat.ranges[0].count + r.heat.ranges[1].count, 1007);
	assert_true(r.heat.step * r.heat.n_times >= 86399ull * 1000 * MS);
	/* the next look begins with a slot of its own, where the last one ended */
	heat_add(c.heat, 86401ull * 1000 * MS, totals);
	r = (struct result){0};
	assert_null(make_heat(&m, &opts, &r));
	assert_int_equal(r.heat.n_times, 1);
	assert_int_equal(r.heat.max, 0);
	assert_int_equal(r.heat.start, 5000 * MS + 86399ull * 1000 * MS);
	heat_free(c.heat);
	/* counts that a program set to 0 count from there on */
	assert_null(heat_new(1, &c.heat));
	heat_begin(c.heat, 10 * MS, 0, 0);
	heat_add(c.heat, 10 * MS, &(uint64_t){100});
	heat_add(c.heat, 20 * MS, &(uint64_t){3});
	r = (struct result){0};
	assert_null(make_heat(&m, &opts, &r));
	assert_int_equal(r.heat.ranges[0].count, 103);
	heat_free(c.heat);
	struct heat *none = NULL;
	expect_refused(heat_new(4097, &none), "at most 4096");
}
