/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler includes this before each test_NAME.c. What the file tests is a group of tests of
 *the program that unit_main.c runs; UNIT_GROUP is NAME as a string. A test is
 *
 *	TEST(NAME)
 *	{
 *		assert_...
 *	}
 *
 * or TEST_WITH(NAME, SETUP, TEARDOWN), with cmocka's functions for one test; its argument is
 * void **state. A group whose tests have one setup together has a main function that calls cmocka.
 */
#ifndef PB_TESTS_UNIT_GROUP_H
#define PB_TESTS_UNIT_GROUP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct unit_group {
	const char *name;
	int (*run)(void); /* NULL: its tests are in the other array */
};

struct unit_test {
	const char *group;
	struct CMUnitTest test;
};

#ifdef UNIT_GROUP
/* The linker makes arrays of all groups and tests of a program. */
int UNIT_MAIN(void) __attribute__((weak));
static const struct unit_group unit_group
	__attribute__((section("unit_groups"), used)) = {UNIT_GROUP, UNIT_MAIN};
#define main UNIT_MAIN

#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                           \
	static void name(void **state);                                                            \
	static const struct unit_test unit_##name = {UNIT_GROUP,                                   \
						     {#name, name, setup, teardown, NULL}};        \
	static const struct unit_test *const listed_##name                                         \
		__attribute__((section("unit_tests"), used)) = &unit_##name;                       \
	static void name(void **state)
#endif

#endif
