/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary of a trace: how often and for how long each system call ran, by thread, by cgroup, or
 * in total.
 * Its numbers are those that the kernel counted (trace_source_sums()). As perf trace prints them,
 * or as results for the other formats.
 */
#ifndef PB_TRACE_CALL_SUMS_H
#define PB_TRACE_CALL_SUMS_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "show/result.h"
#include "syscalls/call_table.h"
#include "trace/source.h"
#include "trace/thread_counts.h"

struct call_sums;

struct error *call_sums_new(const struct call_table *table, enum trace_sums_by by,
			    struct call_sums **out);
void call_sums_free(struct call_sums *sums);
DEFINE_FREEP(struct call_sums, call_sums_free)

/* For trace_source_sums(); ctx is the struct call_sums. */
struct error *call_sums_add(void *ctx, const struct trace_sum *sum);
struct error *call_sums_add_errno(void *ctx, const struct trace_sum *sum, int err, uint64_t n);

/*
 * perf trace's tables: of each thread by its number, of each cgroup by its path, or "total". Of
 * threads, also what else was counted.
 */
struct error *call_sums_text(struct call_sums *sums, bool errors,
			     const struct thread_counts *counts, struct strbuf *out);

/*
 * The tables "calls" and "errors" and the histograms "durations", with columns for the threads or
 * cgroups; and "threads", if anything else was counted.
 */
struct error *call_sums_results(struct call_sums *sums, bool errors, bool histograms,
				const struct thread_counts *counts, struct results *results);

#endif
