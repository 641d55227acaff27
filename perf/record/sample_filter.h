/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of --filter for events that are not tracepoints, as tests of a sample. */
#ifndef PB_PERF_RECORD_SAMPLE_FILTER_H
#define PB_PERF_RECORD_SAMPLE_FILTER_H

#include "lib/base/error.h"
#include "lib/base/vec.h"
#include "lib/sys/sys.h"
#include "perf/record/sample_filter_shared.h"

struct sample_tests {
	struct sample_filter_test *v;
	size_t n, cap;
};

/* Adds the tests of the text to those before it, all of which a sample must pass. */
struct error *sample_filter_parse(const struct sys_roots *roots, const char *text,
				  struct sample_tests *out);
/*
 * Whether samples of this sample_type have all that the tests ask for; the error names the option
 * that adds it.
 */
struct error *sample_filter_check(const struct sample_tests *tests, uint64_t sample_type);

#endif
