/* SPDX-License-Identifier: BSD-2-Clause */
/* What threads did besides system calls, for the summary: page faults, and how long they ran. */
#ifndef PB_TRACE_THREAD_COUNTS_H
#define PB_TRACE_THREAD_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hash.h"

struct other_event;

struct thread_count {
	uint32_t pid, tid;
	char comm[16]; /* the last one */
	uint64_t major_faults, minor_faults;
	uint64_t runtime_ns;
};

/* All zero is empty. */
struct thread_counts {
	bool faults, runtime; /* which of them are counted */
	struct u64map threads;
};

void thread_counts_deinit(struct thread_counts *counts);

/* Other events are not counted. */
struct error *thread_counts_add(struct thread_counts *counts, const struct other_event *event);

/* NULL: it had none of the events. */
const struct thread_count *thread_counts_get(const struct thread_counts *counts, uint32_t tid);

/* By thread; the caller frees *out, an array of *n. */
struct error *thread_counts_list(const struct thread_counts *counts, struct thread_count **out,
				 size_t *n);

#endif
