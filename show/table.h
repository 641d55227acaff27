/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table as text: columns with two blanks (or a separator) between them,
 * under a head of comment lines:
 *
 *	# Overhead  Command  Symbol
 *	# ........  .......  ..........
 *	#
 *	    12.50%  dd       [k] memset
 *
 * Cells come as finished text; what is shorter than its column is filled up,
 * except in the last one.
 */
#ifndef PB_SHOW_TABLE_H
#define PB_SHOW_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strbuf.h"

struct show_column {
	const char *title;
	unsigned width;
	bool right; /* the title stands at the right, as the numbers below it */
};

struct show_table {
	const struct show_column *columns;
	size_t n;
	const char *separator; /* NULL: two blanks */
};

/* The head. With a separator it is the titles' line alone. */
void show_table_head(const struct show_table *t, struct strbuf *out);

/* One row of t->n cells. */
void show_table_row(const struct show_table *t, const char *const *cells, struct strbuf *out);

#endif
