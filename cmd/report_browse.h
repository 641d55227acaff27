/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf-bpf report and annotate on a terminal: their results in a browser, until the user quits.
 *
 *	TRY(report_browse_terminal(&tty));	// first of all; NULL: text is to be printed
 *	…					// all samples are read
 *	TRY(report_browse(&opts));
 */
#ifndef PB_CMD_REPORT_BROWSE_H
#define PB_CMD_REPORT_BROWSE_H

#include "browse/code.h"
#include "cmd/sample_context.h"
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
	const char *command;	  /* "report", for the help */
	struct code_look look;	  /* how code is shown */
	/* Of what happened around a sample, whose log is not used; NULL: no samples are kept. */
	const struct sample_context_opts *context;
	/* Of annotate: */
	bool opens_code;    /* struct browser_opts.opens_code */
	const char *symbol; /* show the code of this function; NULL: the table */
};

/* NULL: there is no terminal for a browser, or the command is not in its foreground. */
struct error *report_browse_terminal(struct tty **out);

struct error *report_browse(const struct report_browse_opts *opts);

#endif
