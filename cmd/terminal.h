/* SPDX-License-Identifier: BSD-2-Clause */
/* What a terminal can do, by terminfo(5). Apart, since <term.h> makes macros of usual words. */
#ifndef PB_CMD_TERMINAL_H
#define PB_CMD_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strbuf.h"

/* NULL: it cannot. */
struct terminal {
	const char *enter, *leave; /* the second screen */
	const char *hide, *show;   /* the cursor */
	const char *place, *erase_line;
	const char *reverse, *bold, *normal; /* how text looks */
	const char *colour;		     /* of text, by a number */
	bool has_mouse;			     /* of the protocol that browse/keys.h reads */
};

/* false: fd is no terminal, or one on which the cursor cannot be placed. */
bool terminal_find(int fd, struct terminal *terminal);
void terminal_free(struct terminal *terminal);

/* Adds what is to be written; NULL: nothing. */
void terminal_add(struct strbuf *out, const char *capability);
/* To the first column of a row, from 0. */
void terminal_place(const struct terminal *terminal, size_t row, struct strbuf *out);

/* Buttons of the mouse are keys from now on, or are not; nothing on a terminal without. */
void terminal_mouse(const struct terminal *terminal, bool on, struct strbuf *out);

/* One of the colours 0 to 7; nothing on a terminal without. */
void terminal_colour(const struct terminal *terminal, int colour, struct strbuf *out);

#endif
