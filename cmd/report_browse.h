/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf report on a terminal: its results in a browser, until the user quits. */
#ifndef PB_CMD_REPORT_BROWSE_H
#define PB_CMD_REPORT_BROWSE_H

#include "cmd/tty.h"
#include "perf/annotate/annotate.h"
#include "perf/hist/summary.h"
#include "show/perf_text_opts.h"

struct report_browse_opts {
	struct tty *tty;
	struct log *log; /* says what it has to say in the browser meanwhile */
	const struct opened_recording *recording;
	struct annotator *annotator; /* of the same samples */
	struct summary *summary;     /* all was read, with summary_opts.keeps */
	const struct summary_opts *sums;
	const struct perf_text_opts *text;
	struct chain_opts *chain; /* of text; its min_percent is set */
};

struct error *report_browse(const struct report_browse_opts *opts);

#endif
