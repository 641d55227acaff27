/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording in two processes: one has the right to open events and to load programs, the other
 * reads the rings and writes the file.
 *
 *	TRY(live_events_new(&opts, loop, &rec));	// the first, with opts.track
 *	TRY(passed_events_give(rec, fds, max, &n));
 *	TRY(live_events_start(rec));
 *	…
 *	opts.adopt = …;					// the second: the fds, in this order
 *	err = recording_run(rec);
 *
 * What is passed is a file in memory that says what the events are, and for each CPU the descriptor
 * of an event that counts nothing and owns the ring. The events that are recorded, and the
 * programs, stay with the first process: they end with it, whoever has the ring. The event of the
 * ring also writes what opts.track maps and forks, and nothing of other processes.
 *
 * The description is trusted no more than other bytes: it is read through the bounded cursor.
 */
#ifndef PB_PERF_RECORD_PASSED_EVENTS_H
#define PB_PERF_RECORD_PASSED_EVENTS_H

#include <linux/perf_event.h>

#include "lib/base/strbuf.h"
#include "perf/record/record.h"

enum {
	PASSED_FDS_MAX = 250, /* SCM_RIGHTS passes 253 */
	PASSED_EVENTS_MAX = 1024,
	PASSED_BYTES_MAX = 16 << 20,
};

/* The descriptors are the caller's. E2BIG: there are more CPUs than max - 1. */
struct error *passed_events_give(struct recording *rec, int *fds, size_t max, size_t *n);

/* What the recording of the first process loaded, to measure what it costs. */
struct error *passed_events_each_program(const struct recording *rec,
					 struct error *(*fn)(void *ctx,
							     const struct bpf_program *prog),
					 void *ctx);

/* ---- the description ---- */

struct passed_event {
	char *name, *system, *format; /* system, format: ""; of no tracepoint */
	struct perf_event_attr attr;
	VEC(uint64_t) ids;
};

struct passed_events {
	uint32_t pages;			  /* of data of each ring, a power of two */
	char *header_page, *header_event; /* files of tracefs; "": no event is a tracepoint */
	VEC(uint32_t) cpus;
	struct {
		struct passed_event *v;
		size_t n, cap;
	} events; /* the last one is that of the rings */
};

void passed_events_deinit(struct passed_events *passed);
void passed_events_write(const struct passed_events *passed, struct strbuf *out);
/* EBADMSG: it is not a description. */
struct error *passed_events_parse(const void *data, size_t size, struct passed_events *out);

#endif
