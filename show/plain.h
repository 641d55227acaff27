/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from outside (names of processes, files, functions) as a terminal and a
 * line-oriented reader may have it. A process names itself: what it writes
 * there must not move the cursor, end a line, or turn the writing direction.
 */
#ifndef PB_SHOW_PLAIN_H
#define PB_SHOW_PLAIN_H

#include <stddef.h>

#include "lib/base/strbuf.h"

/*
 * Adds n bytes of s. Control characters (C0, DEL, C1), those that turn the
 * direction of writing, and bytes that are not UTF-8 stand as "\xHH".
 */
void plain_add(struct strbuf *out, const char *s, size_t n);

/* How many columns of a terminal n bytes of plain text take. */
size_t plain_width(const char *s, size_t n);

/*
 * Adds as much of s as fits into columns; what is cut ends with an ellipsis
 * ("…", or with ascii "~"). Returns the columns that were taken.
 */
size_t plain_add_cut(struct strbuf *out, const char *s, size_t n, size_t columns, bool ascii);

/* Each line of n bytes of text, which may have colours (ESC [ … m), cut as by plain_add_cut(). */
void plain_cut_lines(struct strbuf *out, const char *text, size_t n, size_t columns, bool ascii);

#endif
