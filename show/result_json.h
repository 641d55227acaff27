/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as lines of JSON, one a result; the schema stands in doc/run-json.md. */
#ifndef PB_SHOW_RESULT_JSON_H
#define PB_SHOW_RESULT_JSON_H

#include "lib/base/strbuf.h"
#include "show/result.h"

/* last: no more will come. */
void results_json(const struct results *results, bool last, struct strbuf *out);

/* The last ones, with the empty buckets of histograms, too: for what draws them. */
void results_json_whole(const struct results *results, struct strbuf *out);

#endif
