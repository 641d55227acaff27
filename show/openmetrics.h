/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as Prometheus reads them: the text format of OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/), or Prometheus's own
 * before that, 0.0.4.
 *
 *	count		a counter; unknown where its author did not say that it counts
 *	table		for each column of numbers a family: a counter where the author
 *			made a table of counts, unknown otherwise, a gauge for signed
 *			numbers. The columns of the key are labels: what people read, or the
 *			number if that may change or is not known; in a table without a key all
 *			columns that are not numbers are
 *	histogram	a histogram; le is the upper bound, which is within; by powers
 *			of two at most 40 bounds, of times none above some two minutes
 *	heat map	the same, over all times
 *	stacks		a counter, labelled with the frames, the outermost first
 *	events		counters of those that came, and of those that were lost
 *
 * Names begin with "perf_bpf_" and the program's name, and end with the unit; nanoseconds,
 * microseconds and milliseconds become seconds, exactly. There is no _sum: a histogram's values are
 * not known one by one, and without it OpenMetrics wants no _count.
 */
#ifndef PB_SHOW_OPENMETRICS_H
#define PB_SHOW_OPENMETRICS_H

#include "lib/base/hash.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "show/result.h"

enum openmetrics_format {
	OPENMETRICS_1_0,
	PROMETHEUS_0_0_4,
};

/* Which series were served by the last scrape, so that the next one serves them again. */
struct openmetrics_series {
	size_t max; /* of a map; 0: all */
	struct strmap served;
	struct names keys;
};

void openmetrics_series_deinit(struct openmetrics_series *series);

struct openmetrics_opts {
	enum openmetrics_format format;
	const char *version;		   /* of perf-bpf; NULL: not served */
	struct openmetrics_series *series; /* NULL: no limit */
};

void results_openmetrics(const struct results *results, const struct openmetrics_opts *opts,
			 struct strbuf *out);

/* The MIME type of an answer. */
const char *openmetrics_type(enum openmetrics_format format);

#endif
