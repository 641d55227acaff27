// SPDX-License-Identifier: BSD-2-Clause
#include "run/unwind_ranges.h"

static void test_given_back(void **state)
{
	struct unwind_ranges r;
	uint32_t first = 77;

	unwind_ranges_init(&r, 10);
	assert_true(unwind_ranges_take(&r, 4, &first));
	assert_int_equal(first, 0);
	assert_true(unwind_ranges_take(&r, 3, &first));
	assert_int_equal(first, 4);
	assert_false(unwind_ranges_take(&r, 4, &first));
	assert_int_equal(first, 4);
	unwind_ranges_give(&r, (struct unwind_range){0, 4});
	unwind_ranges_give(&r, (struct unwind_range){9, 0});
	/* The smallest that is large enough; what is left of it is taken later. */
	unwind_ranges_give(&r, (struct unwind_range){4, 3});
	assert_true(unwind_ranges_take(&r, 2, &first));
	assert_int_equal(first, 4);
	assert_true(unwind_ranges_take(&r, 4, &first));
	assert_int_equal(first, 0);
	assert_true(unwind_ranges_take(&r, 1, &first));
	assert_int_equal(first, 6);
	assert_true(unwind_ranges_take(&r, 3, &first));
	assert_int_equal(first, 7);
	assert_false(unwind_ranges_take(&r, 1, &first));
	unwind_ranges_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_given_back)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
