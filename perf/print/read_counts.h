/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread counted, by the READ records that the kernel writes at the end of threads for
 * record --stat, as perf report --threads prints it.
 *
 *	struct read_counts counts = {0};
 *	TRY(read_counts_add(&counts, rec));	// each READ record
 *	TRY(read_counts_print(&counts, raw, &out));
 *	read_counts_deinit(&counts);
 */
#ifndef PB_PERF_PRINT_READ_COUNTS_H
#define PB_PERF_PRINT_READ_COUNTS_H

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "perf/session/session.h"

struct read_counts {
	VEC(struct read_count) counts;
	struct u64map threads, events; /* → row, column, from 1 */
	VEC(const struct session_event *) columns;
};

/* A damaged record is left out. */
struct error *read_counts_add(struct read_counts *counts, const struct record *rec);

/*
 * A line for each thread with a column for each event, both in the order of their first record;
 * raw: a line for each thread and event. E2BIG: there are too many threads and events for a table.
 */
struct error *read_counts_print(struct read_counts *counts, bool raw, struct strbuf *out);
void read_counts_deinit(struct read_counts *counts);

#endif
