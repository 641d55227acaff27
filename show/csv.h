/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as CSV (RFC 4180): a header and rows for each of them, an empty line
 * between two. Lines end with CR LF. The first column is always "map", so that
 * a reader of one map need not change when another is added.
 *
 *	count		map,count
 *	table		map, its columns; NAME_text behind NAME where people read another text
 *	histogram	map,key,low,high,count	 (low and high are both within)
 *	heat map	map,time,low,high,count
 *	stacks		map,count,label,frames	 (the outermost first, joined by ';')
 *	events		map, its columns; the first is the time
 *	a look at them	map,total,lost
 *
 * Results of a recording have "event" in place of "map", and stacks there a column "samples"
 * behind "count". Rows of a table below its least share are left out.
 *
 * Where results come again and again, "look" stands before "map": when they
 * were looked at. Times are ISO 8601 in UTC with nanoseconds. Numbers are
 * whole, never rounded. What names itself stands as plain text (show/plain.h).
 */
#ifndef PB_SHOW_CSV_H
#define PB_SHOW_CSV_H

#include "lib/base/strbuf.h"
#include "show/result.h"

/* What was written already. All zero at first, or with looks set. */
struct csv {
	bool looks;	      /* a column "look" */
	struct strbuf header; /* the last one written */
	bool began;
};

void csv_deinit(struct csv *csv);

/* A look without a new header where it would be the one that stands above already. */
void results_csv(struct csv *csv, const struct results *results, struct strbuf *out);

#endif
