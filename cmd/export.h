/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats in which run and report give their results to other programs: options and output. */
#ifndef PB_CMD_EXPORT_H
#define PB_CMD_EXPORT_H

#include <argp.h>
#include <stdbool.h>

#include "cmd/export_process.h"
#include "lib/base/error.h"
#include "perf/filter/filter.h"
#include "show/csv.h"
#include "show/html.h"
#include "show/result.h"

struct export_opts {
	bool json, csv, folded; /* printed in place of text; the command checks: one at most */
	const char *pprof;	/* the profile's file; NULL: none */
	const char *html;	/* the page's file; NULL: none */
};

/* The options, for a child of the command's argp; the input is a struct export_opts. */
extern const struct argp export_argp;

/* Whether the files can be written, before the work is done. */
struct error *export_check(const struct export_opts *opts);

/* What is printed in place of text; false: text is wanted. csv: all zero at first. */
bool export_print(const struct export_opts *opts, const struct results *results, bool last,
		  struct csv *csv, struct strbuf *out);

/* The files that are written of a recording: the page, whose head is of its machine; the profile.
 */
struct error *export_recording(const struct export_opts *opts, const struct opened_recording *r,
			       const struct results *results);
/* process: writes the file; NULL: it is written here. */
struct error *export_pprof(const struct export_opts *opts, struct export_process *process,
			   const struct results *results);
struct error *export_html(const struct export_opts *opts, struct export_process *process,
			  const struct results *results, const struct html_about *about,
			  const struct html_events *events);

#endif
