/* SPDX-License-Identifier: BSD-2-Clause */
/* How much room plain text takes on a terminal, and text that is cut to fit. */
#ifndef PB_SHOW_PLAIN_H
#define PB_SHOW_PLAIN_H

#include <stddef.h>

#include "lib/base/plain_text.h"

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
