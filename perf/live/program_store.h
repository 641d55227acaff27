/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs that are loaded during a recording, with their code and BTF, also those that
 * live for milliseconds. A thread of its own waits for the kernel's announcements and reads each
 * program at once: whoever writes the recording may be busy for longer than a program lives.
 *
 *	TRY(program_store_new(log, &store));	// loads are announced from here on
 *	TRY(program_store_start(store));
 *	…
 *	TRY(program_store_stop(store));
 *	programs = program_store_programs(store, &n);
 *	program_store_free(store);
 *
 * The thread inherits the capabilities and the filter of system calls of who starts it. It uses
 * nothing but the store.
 */
#ifndef PB_PERF_LIVE_PROGRAM_STORE_H
#define PB_PERF_LIVE_PROGRAM_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/prog_info.h"
#include "perf/data/features.h"

struct program_store;

/* Fails without CAP_PERFMON, and before Linux 5.1. */
struct error *program_store_new(const struct log *log, struct program_store **out);
/* Also ends the thread. */
void program_store_free(struct program_store *store);
DEFINE_FREEP(struct program_store, program_store_free)

/* Reads the programs that are there, and then those that come. */
struct error *program_store_start(struct program_store *store);
/* Ends the thread; an error that it met is returned, and what it has read until then stays. */
struct error *program_store_stop(struct program_store *store);

/* After program_store_stop(): what was read. It can be started again. */
void program_store_forget(struct program_store *store);

/* After program_store_stop(): sorted by id. */
const struct sys_prog_info *const *program_store_programs(const struct program_store *store,
							  size_t *n);
/* The types that the programs refer to. */
const struct feature_btf *program_store_btfs(const struct program_store *store, size_t *n);

struct program_store_counts {
	uint64_t gone;	   /* programs that were unloaded before they could be read */
	uint64_t left_out; /* programs that could not be read, or did not fit into 256 MiB */
	uint64_t lost;	   /* records that had no room in the ring: of programs or processes */
};
struct program_store_counts program_store_counts(const struct program_store *store);

#endif
