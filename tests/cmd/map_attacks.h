/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client of the service must not do to a map that it was given. */
#ifndef PB_TESTS_MAP_ATTACKS_H
#define PB_TESTS_MAP_ATTACKS_H

#include <stdbool.h>

/* Prints a line for an attack; one that did not fail counts in attacks_succeeded(). */
void expect(bool failed, const char *attack);
int attacks_succeeded(void);

/* Changes a map in all ways that there are; those of rings only that their readers do not need. */
void write_map(int fd);

#endif
