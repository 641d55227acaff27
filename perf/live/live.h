/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The running system as a session: who runs, and what they have mapped. The
 * kernel's records of mmap, comm, fork, exit and ksymbol (a dummy event on
 * every CPU) are read while the work goes on; what was there before comes from
 * /proc, kallsyms and the loaded BPF programs.
 *
 *	TRY(live_source_new(&opts, &live));
 *	… wait for live_source_fd() …
 *	TRY(live_source_update(live));
 *	map = session_find_map_at(live_source_session(live), pid, time, …);
 *	live_source_free(live);
 *
 * Times are those of CLOCK_MONOTONIC, which bpf_ktime_get_ns() reads too.
 */
#ifndef PB_PERF_LIVE_LIVE_H
#define PB_PERF_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "perf/session/session.h"

struct live_source;

struct live_source_opts {
	size_t sz; /* sizeof(struct live_source_opts) */
	const struct log *log;
	bool processes; /* listen, and read /proc; else there is the kernel alone */
	/*
	 * Listen for BPF programs that are loaded and unloaded, from now on, and not for the maps
	 * of processes; the descriptor becomes readable at once. Without the right to listen
	 * live_source_new() fails.
	 */
	bool programs;
	bool names;		   /* with programs: listen for the names of processes, too */
	bool prompt;		   /* the descriptor becomes readable at each record */
	struct session_tool *tool; /* gets the records; NULL: the session's books alone */
};

/*
 * Listens first and then reads /proc, so that nothing is missed in between.
 * Where the kernel does not let us listen, a warning says so, and what /proc
 * shows now is all there is.
 */
struct error *live_source_new(const struct live_source_opts *opts, struct live_source **out);
void live_source_free(struct live_source *live);
DEFINE_FREEP(struct live_source, live_source_free)

struct session *live_source_session(struct live_source *live);

/* A descriptor that becomes readable when the rings should be read; -1: there are none. */
int live_source_fd(const struct live_source *live);

/* A CPU is back that was offline: its event is opened again. The old ring is read until its end. */
struct error *live_source_cpu_returned(struct live_source *live, unsigned cpu);

/* Reads what the rings hold. */
struct error *live_source_update(struct live_source *live);

/*
 * The kernel's text, modules and BPF programs, once: it takes some 20 ms, so
 * who needs no kernel address does without.
 */
struct error *live_source_read_kernel(struct live_source *live);

/*
 * The number of records that did not fit into the rings. With opts.programs it is exact on Linux
 * 6.0 and later. Before, the last ones to be lost are not counted: the kernel reports a loss only
 * when it writes the next record.
 */
uint64_t live_source_lost(const struct live_source *live);

/* Whether so many threads have ended that live_source_forget() is worth its time. */
bool live_source_is_full(const struct live_source *live);
/* Forgets those that have ended and that refers() is not true for; NULL: all of them. */
void live_source_forget(struct live_source *live,
			bool (*refers)(void *ctx, int32_t pid, uint64_t ended), void *ctx);

#endif
