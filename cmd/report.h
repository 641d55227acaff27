/* SPDX-License-Identifier: BSD-2-Clause */
/* Between report.c, which fills histograms, and report_print.c, which shows them. */
#ifndef PB_CMD_REPORT_H
#define PB_CMD_REPORT_H

#include "perf/hist/hist.h"

struct report_view {
	const struct hist_spec *spec;
	const char *separator;	   /* -t; NULL: columns are filled with blanks */
	const char *widths;	   /* -w; NULL */
	double percent_limit;	   /* entries below are left out */
	bool relative;		   /* --percentage relative: of what is shown */
	bool quiet;		   /* no head */
	bool show_chain;	   /* below each entry */
	bool first_frame_is_known; /* sorted by symbol: the chain's first line would repeat it */
	bool dso_filter;	   /* -d was given: an unknown DSO needs no room */
	bool verbose;		   /* -v: addresses and where symbols came from */
	struct resolver *resolver;
};

/* Table and trees of one event's histogram. */
struct error *report_print(const struct report_view *view, const struct hist *h, bool has_chain,
			   struct strbuf *out);

#endif
