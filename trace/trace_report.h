/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace reports at its end besides the calls: its sums, its losses, and what it did. */
#ifndef PB_TRACE_TRACE_REPORT_H
#define PB_TRACE_TRACE_REPORT_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "trace/trace_run.h"

enum summary_format {
	SUMMARY_TEXT, /* perf trace's tables, then the histograms */
	SUMMARY_JSON, /* one line */
	SUMMARY_CSV,
};

struct summary_opts {
	enum summary_format format;
	bool errors, histograms; /* as of call_sums_results() */
};

/* Adds nothing for a run without a summary. */
struct error *trace_report_sums(const struct trace_run *run, const struct summary_opts *opts,
				struct strbuf *out);

/* A line for each kind of loss: "LOST 12 events: 10 openat, 2 read; …", or as JSON, also by CPU.
 * Nothing was lost: adds nothing. */
void trace_report_losses(const struct trace_stats *stats, struct strbuf *out);
void trace_report_losses_json(const struct trace_stats *stats, struct strbuf *out);

/* perf trace's --tool_stats, and the numbers of records and lines. */
void trace_report_stats(const struct trace_stats *stats, struct strbuf *out);

#endif
