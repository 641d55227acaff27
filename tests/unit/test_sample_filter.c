// SPDX-License-Identifier: BSD-2-Clause
/* record/sample_filter: --filter of events that are not tracepoints: the text, as tests of a
 * sample. */
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"
#include "perf/record/sample_filter.h"

static void parse(const char *text, struct sample_tests *tests)
{
	struct error *err = sample_filter_parse(NULL, text, tests);

	if (err)
		fail_msg("%s: %s", text, err->msg);
}

static void is_test(const struct sample_filter_test *test, int term, int op, uint64_t value,
		    bool last)
{
	assert_int_equal(test->term, term);
	assert_int_equal(test->op, op);
	assert_int_equal(test->value, value);
	assert_int_equal(test->is_last, last);
}

TEST(test_conditions)
{
	struct sample_tests tests = {0};

	parse("period > 1000, cpu==1||ip  <=0xffffffff00000000 ||\ttid!=7,uid >= 0 , weight2<3, "
	      "gid&4",
	      &tests);
	assert_int_equal(tests.n, 7);
	is_test(&tests.v[0], SAMPLE_PERIOD, SAMPLE_ABOVE, 1000, true);
	is_test(&tests.v[1], SAMPLE_CPU, SAMPLE_EQUAL, 1, false);
	is_test(&tests.v[2], SAMPLE_IP, SAMPLE_AT_MOST, 0xffffffff00000000, false);
	is_test(&tests.v[3], SAMPLE_TID, SAMPLE_DIFFERS, 7, true);
	is_test(&tests.v[4], SAMPLE_UID, SAMPLE_AT_LEAST, 0, true);
	is_test(&tests.v[5], SAMPLE_WEIGHT2, SAMPLE_BELOW, 3, true);
	is_test(&tests.v[6], SAMPLE_GID, SAMPLE_HAS_BITS, 4, true);
	/* one more text: all must be true */
	parse("ip > 1", &tests);
	assert_int_equal(tests.n, 8);
	is_test(&tests.v[7], SAMPLE_IP, SAMPLE_ABOVE, 1, true);
	vec_deinit(&tests);
}

/* The value of mem_op and its like in a sample, as the program reads it. */
static uint64_t memory(const struct sample_filter_test *test, uint64_t src)
{
	assert_int_equal(test->term, SAMPLE_MEMORY);
	return src >> test->shift & ((1ull << test->bits) - 1);
}

TEST(test_memory)
{
	/* PERF_MEM_S() of OP_STORE, LVLNUM_PMEM, REMOTE_REMOTE, LOCK_LOCKED, TLB_L2 and TLB_MISS,
	 * BLK_ADDR, HOPS_3 */
	const uint64_t src = 4ull << 0 | 0xeull << 33 | 1ull << 37 | 2ull << 24 | 0x14ull << 26 |
			     4ull << 40 | 4ull << 43;
	struct sample_tests tests = {0};

	parse("mem_op == store, mem_lvl == pmem, mem_remote == remote, mem_lock == locked, "
	      "mem_dtlb == l2_miss, mem_blk == by_addr, mem_hops == hops3",
	      &tests);
	assert_int_equal(tests.n, 7);
	for (size_t i = 0; i < tests.n; i++)
		assert_int_equal(memory(&tests.v[i], src), tests.v[i].value);
	parse("mem_snoop == hitm || mem_snoop == peer", &tests);
	is_test(&tests.v[7], SAMPLE_SNOOP, SAMPLE_EQUAL, 0x10, false);
	is_test(&tests.v[8], SAMPLE_SNOOP, SAMPLE_EQUAL, 2 << 5, true);
	vec_deinit(&tests);
}

TEST(test_wrong)
{
	static const char *const wrong[] = {
		"",
		"  ",
		"period",
		"period >",
		"period > ,",
		"period = 1",
		"period > -1",
		"period > 1x",
		"period > 0x",
		"Period > 1",
		"ip > 1 ||",
		"|| ip > 1",
		"ip > 1 ip > 2",
		"ip > 1,, ip > 2",
		"mem_op == l1",
		"ip == load",
		"period > 18446744073709551616",
		"ip > 1 && ip > 2",
		"cgroup == a",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct sample_tests tests = {0};
		_cleanup_error_ struct error *err = sample_filter_parse(NULL, wrong[i], &tests);

		if (!err)
			fail_msg("'%s' is accepted", wrong[i]);
		vec_deinit(&tests);
	}
}

TEST(test_too_many)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct sample_tests tests = {0};

	for (int i = 0; i < SAMPLE_FILTER_TESTS; i++)
		strbuf_addf(&text, "%sip != %d", i ? "," : "", i);
	parse(strbuf_str(&text), &tests);
	_cleanup_error_ struct error *err = sample_filter_parse(NULL, "ip > 1", &tests);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "more than 64 conditions"));
	vec_deinit(&tests);
}

TEST(test_what_samples_have)
{
	struct sample_tests tests = {0};

	parse("ip > 1, period > 1, uid == 0, weight1 > 3, id > 0", &tests);
	assert_null(sample_filter_check(&tests, PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT_STRUCT |
							PERF_SAMPLE_IDENTIFIER));
	_cleanup_error_ struct error *err =
		sample_filter_check(&tests, PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER);
	assert_non_null(strstr(err->msg, "PERF_SAMPLE_WEIGHT"));
	assert_string_equal(err->hint, "add the option -W");
	vec_deinit(&tests);
}
