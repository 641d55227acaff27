/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of calls that come as records, from a recording: the same that the BPF program keeps
 * while it traces (trace/source.h, trace_source_sums()).
 */
#ifndef PB_TRACE_RECORD_SUMS_H
#define PB_TRACE_RECORD_SUMS_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "trace/source.h"

struct record_sums;

/* by_thread: a sum for each thread and call, else for each call. */
struct error *record_sums_new(bool by_thread, struct record_sums **out);
void record_sums_free(struct record_sums *sums);
DEFINE_FREEP(struct record_sums, record_sums_free)

/* E2BIG: more different threads and calls than are kept. */
struct error *record_sums_add(struct record_sums *sums, const struct trace_record *rec);

/* Calls fn for each sum, and errno_fn for each errno of it. */
struct error *record_sums_read(const struct record_sums *sums, trace_sum_fn *fn,
			       trace_errno_fn *errno_fn, void *ctx);

#endif
