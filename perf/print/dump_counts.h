/* SPDX-License-Identifier: BSD-2-Clause */
/* How many records of each type a recording has, as perf report --stats and -D print it. */
#ifndef PB_PERF_PRINT_DUMP_COUNTS_H
#define PB_PERF_PRINT_DUMP_COUNTS_H

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "perf/session/session.h"

/* Above the largest type that has a name. */
#define DUMP_N_TYPES 128

struct event_counts {
	uint64_t samples, lost;
};

struct dump_counts {
	bool of_lost; /* also lost samples by event, which perf has in --stats, but not in -D */
	uint64_t total;
	uint64_t types[DUMP_N_TYPES];
	VEC(struct event_counts) events; /* by the event's index */
};

/* event: of a sample that no filter left out; NULL: not counted for an event. */
struct error *dump_counts_add(struct dump_counts *counts, const struct record *rec,
			      const struct session_event *event);
/* empty: also the types and events of which there are none. */
void dump_counts_print(const struct dump_counts *counts, struct session *session, bool empty,
		       struct strbuf *out);
void dump_counts_deinit(struct dump_counts *counts);

#endif
