/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of a hierarchy as perf report --hierarchy prints it: numbers to the left, and keys to
 * the right of them, both indented by their level.
 *
 *	#    Overhead  Command / Shared Object
 *	# ...........  .......................
 *	#
 *	    97.50%     sh
 *	       48.75%     libc.so.6
 */
#ifndef PB_SHOW_PERF_HIERARCHY_H
#define PB_SHOW_PERF_HIERARCHY_H

#include "show/perf_cells.h"

void perf_hierarchy_head(const struct table_printer *p, struct strbuf *out);

/* A row, which is shown. */
void perf_hierarchy_row(struct table_printer *p, size_t row, struct strbuf *out);

/* What is said below a row if the least share hides all that is below it. */
void perf_hierarchy_note(const struct table_printer *p, size_t row, struct strbuf *out);

#endif
