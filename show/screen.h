/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands on a terminal's screen of so many rows and columns: a line on
 * top, one at the bottom, and in between as much of a text as there is room
 * for. Pure: how it gets onto a terminal is cmd/run_live.c's.
 */
#ifndef PB_SHOW_SCREEN_H
#define PB_SHOW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strbuf.h"

struct screenful {
	size_t rows, columns;
	bool ascii;	  /* what is cut ends with "~" */
	const char *head; /* the first line */
	const char *body; /* lines; may have colours */
	const char *tail; /* lines; the last of them stand below the body */
	const char
		*foot; /* the last line; where lines are hidden, which are seen is put before it */
	size_t first;  /* the body's first line that is seen */
};

/* How many lines of the body are not seen when first is 0: the largest first of use. */
size_t screen_hidden(const struct screenful *screen);

/* Adds exactly `rows` lines, each with its end, none wider than the screen. */
void screen_add(const struct screenful *screen, struct strbuf *out);

#endif
