/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a table as perf report --stdio has them, and each cell as its text. How rows are
 * made of cells is in perf_text.c (rows below each other) and perf_hierarchy.c (a tree).
 */
#ifndef PB_SHOW_PERF_CELLS_H
#define PB_SHOW_PERF_CELLS_H

#include "show/perf_text_opts.h"
#include "show/table.h"

enum { PERF_MAX_COLUMNS = 64 };

struct table_printer {
	const struct perf_text_opts *opts;
	const struct result_table *t;
	struct show_column columns[PERF_MAX_COLUMNS];
	size_t from[PERF_MAX_COLUMNS];	 /* which column of the table it is, of a group the leader's
					  */
	unsigned user[PERF_MAX_COLUMNS]; /* the width that was asked for; 0: none */
	size_t n;
	struct strbuf cells[PERF_MAX_COLUMNS]; /* of one row */
};

/* The columns of t, which opts says how to print. */
void table_printer_init(struct table_printer *p, const struct result_table *t,
			const struct perf_text_opts *opts);
/* Of a screen: widens columns for texts that are longer when what is not plain is escaped. */
void table_printer_fit(struct table_printer *p);
void table_printer_deinit(struct table_printer *p);

/* The c-th cell of a row as it is printed, in memory that the next row uses. */
const char *table_printer_cell(struct table_printer *p, size_t row, size_t c);

/* A line of all cells. */
void table_printer_row(struct table_printer *p, const struct show_table *table, size_t row,
		       struct strbuf *out);

#endif
