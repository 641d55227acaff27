/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as they happen, for a command that prints them: tracepoints, probes, counters and the
 * programs of objects, as the recorder opens them, without a file.
 *
 *	TRY(live_events_new(&opts, loop, &rec));	// opened, and not enabled
 *	TRY(live_events_each(rec, add_event, session));
 *	TRY(live_events_start(rec));
 *	… TRY(live_events_drain(rec, push, session)); …
 *	live_events_stop(rec);				// drain once more
 *	recording_free(rec);
 */
#ifndef PB_PERF_RECORD_LIVE_EVENTS_H
#define PB_PERF_RECORD_LIVE_EVENTS_H

#include <linux/perf_event.h>
#include <sys/uio.h>

#include "perf/record/record.h"
#include "work/cpu_watch.h"
#include "work/loop.h"

struct held_files;

/*
 * The loop is the caller's. If opts->workload is set, that is what loop_prepare() has prepared.
 * Of the options, those about files mean nothing.
 */
struct error *live_events_new(const struct record_opts *opts, struct loop *loop,
			      struct recording **out);
struct error *live_events_start(struct recording *rec);
void live_events_stop(struct recording *rec);

struct live_event {
	const char *name;
	struct perf_event_attr attr;
	const uint64_t *ids;
	size_t n_ids;
	const char *system; /* of the format */
	const char *format; /* a format file, of tracepoints and probes; NULL: none */
	size_t format_size;
	size_t n_members; /* of the group that it leads, with itself; 0: it leads none */
};

/* More ids of an event: the one with this number of live_events_each(), from 0. */
typedef struct error *live_ids_fn(void *ctx, size_t event, const uint64_t *ids, size_t n);
/*
 * Events of a CPU that goes offline are opened again when it is back, as by record. fn gets their
 * new ids before records with them are read. Called before privileges are dropped.
 */
struct error *live_events_follow_cpus(struct recording *rec, live_ids_fn *fn, void *ctx);
/* Events may be opened and attached while they are read, which needs privileges. */
bool live_events_open_later(const struct recording *rec);
/* Whether samples of other tasks are left out when rings are read, by a look into a BPF map. */
bool live_events_filter_tasks(const struct recording *rec);
/* The CPUs that were offline; NULL: they were not followed. */
struct cpu_watch *live_events_cpus(const struct recording *rec);

/* What it points to lasts until fn returns. */
typedef struct error *live_event_fn(void *ctx, const struct live_event *event);
struct error *live_events_each(struct recording *rec, live_event_fn *fn, void *ctx);

/*
 * The map of a program of the caller, a PERF_EVENT_ARRAY by CPU, gets the descriptors of the event
 * that a RECORD_OUTPUT names.
 */
struct error *live_events_fill_map(struct recording *rec, const char *name, int map_fd,
				   uint32_t entries);

/* The processes of the target as they are now, and with `kernel` its symbols, as records. */
struct error *live_events_existing(struct recording *rec, bool kernel,
				   struct error *(*fn)(void *ctx, const void *records, size_t size),
				   void *ctx);

/*
 * Files that only their process can reach are opened as soon as its mapping is seen: from
 * live_events_existing() on, and while the loop runs. *out: as long as the recording.
 */
struct error *live_events_hold_files(struct recording *rec, const struct held_files **out);

/* While the loop runs, fn is called when a ring has much to read. */
struct error *live_events_watch(struct recording *rec, loop_fn *fn, void *ctx);

/* Whole records, of one ring after the other. */
typedef struct error *live_records_fn(void *ctx, const struct iovec *iov, int n);
struct error *live_events_drain(struct recording *rec, live_records_fn *fn, void *ctx);
/*
 * What found no room in a ring until now, also after the last record that did: Linux counts it by
 * event since 6.0. Before, it is what LOST records told.
 */
struct record_no_room live_events_lost(const struct recording *rec);

#endif
