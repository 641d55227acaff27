/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of a recording as perf report --stdio prints them: for each event a head, a table, and
 * below each row its call chains.
 */
#ifndef PB_SHOW_PERF_TEXT_H
#define PB_SHOW_PERF_TEXT_H

#include "show/perf_text_opts.h"

/* What a filter leaves one value; it comes before all else, and also where there are no results. */
void perf_text_only(const struct results *results, struct strbuf *out);

/*
 * The tables with a profile, each below its head. What out has so far goes to write() when it is
 * long, and out is empty then; with NULL all stays in out. An error is that of write().
 */
struct error *perf_text(const struct results *results, const struct perf_text_opts *opts,
			struct error *(*write)(const struct strbuf *out), struct strbuf *out);

/* What the head of a table says; perf adds up the periods of a group, whatever they are of. */
struct perf_text_totals {
	uint64_t samples; /* in units of `unit` */
	char unit;	  /* ' ', 'K', 'M' or 'G' */
	uint64_t period;  /* UINT64_MAX: at least so much */
};
struct perf_text_totals perf_text_totals(const struct result_profile *profile);

/* How a row's call chains are shown; opts outlives it. */
struct stack_text_opts perf_text_chains(const struct result_profile *profile,
					const struct result_sum *sum,
					const struct perf_text_opts *opts);

/* What is wrong with widths, as an option of the command line has them; NULL: nothing. */
struct error *perf_text_check_widths(const char *widths);

#endif
