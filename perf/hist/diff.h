/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How recordings differ: the rows of each event of the first, the baseline, joined with those of
 * the same event of the others by the names in their keys, as perf diff does. Binaries may have
 * been built anew in between, so addresses tell nothing: functions with one name in one DSO are
 * one row, and so are all addresses of a DSO without a symbol.
 *
 *	... summary_new() with keys.diff, and summary_read() of each
 *	TRY(diff_results(&opts, &results));
 *	...				// the results borrow from the summaries
 */
#ifndef PB_PERF_HIST_DIFF_H
#define PB_PERF_HIST_DIFF_H

#include "perf/hist/summary.h"

enum diff_method {
	DIFF_DELTA_ABS, /* of the shares, in percentage points; sorted by its size */
	DIFF_DELTA,
	DIFF_RATIO,    /* of the periods: new / base */
	DIFF_WEIGHTED, /* new * weights[1] - base * weights[0] */
};

struct diff_opts {
	size_t sz;			 /* sizeof(struct diff_opts) */
	struct summary *const *recorded; /* the baseline first; they have been read */
	size_t n;			 /* at least 2 */
	enum diff_method method;
	int64_t weights[2];
	unsigned order; /* rows are sorted by the change of this recording; 0: by the baseline */
	bool baseline_only; /* only what the baseline and another have */
	bool show_period, show_formula;
	bool relative; /* shares are of what is shown */
	bool wide_dso; /* as hist_results_opts.wide_dso */
};

/* "delta", "delta-abs", "ratio", "wdiff:W1,W2": method and weights; else an error of usage. */
struct error *diff_method_parse(const char *text, struct diff_opts *opts);

/* Adds a table for each event of the baseline. */
struct error *diff_results(const struct diff_opts *opts, struct results *results);

/*
 * Adds the stacks of each event of the other recordings, with those of the event of that name in
 * the baseline. names: of the recordings. Other than the table, they are of all samples that no
 * filter hides.
 */
struct error *diff_stacks(const struct diff_opts *opts, const char *const *names,
			  struct results *results);

#endif
