/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as text for people. */
#ifndef PB_SHOW_TEXT_H
#define PB_SHOW_TEXT_H

#include "lib/base/strbuf.h"
#include "show/result.h"

struct text_opts {
	unsigned width; /* columns of the terminal; 0: 80; at least 20 are used */
};

/* Adds all of them, an empty line between. */
void results_text(const struct results *results, const struct text_opts *opts, struct strbuf *out);

/* One histogram: "[1K, 2K)  12 |@@@@    |" a bucket. */
void hist_text(const struct result_hist *hist, bool log2, const struct text_opts *opts,
	       struct strbuf *out);

/* A cell as it stands in a table. */
void cell_text(const struct result_cell *cell, struct strbuf *out);

#endif
