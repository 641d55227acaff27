/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler includes this before each test_NAME.c: it makes the main function of the file a
 * group of tests of the program that unit_main.c runs. UNIT_GROUP is NAME as a string.
 */
#ifndef PB_TESTS_UNIT_GROUP_H
#define PB_TESTS_UNIT_GROUP_H

struct unit_group {
	const char *name;
	int (*run)(void);
};

#ifdef UNIT_GROUP
static int group_main(void);
/* The linker makes an array of all groups of a program. */
static const struct unit_group unit_group
	__attribute__((section("unit_groups"), used)) = {UNIT_GROUP, group_main};
#define main group_main
#endif

#endif
