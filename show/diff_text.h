/* SPDX-License-Identifier: BSD-2-Clause */
/* How recordings differ, as perf diff prints it: for each event its name and a table. */
#ifndef PB_SHOW_DIFF_TEXT_H
#define PB_SHOW_DIFF_TEXT_H

#include "show/perf_text_opts.h"

struct diff_text_opts {
	struct perf_text_opts text;
	const char *const
		*files; /* the recordings, the baseline first; NULL: they are not listed */
	size_t n_files;
};

void diff_text(const struct results *results, const struct diff_text_opts *opts,
	       struct strbuf *out);

#endif
