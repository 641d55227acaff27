/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes have mapped as code, also those that have ended: the kernel's
 * records of mmap, fork and exec (a dummy event on every CPU) tell of changes,
 * and /proc of what was there before. So the addresses of a user's stack can be
 * resolved when nobody is left to be asked.
 */
#ifndef PB_RUN_PROCS_H
#define PB_RUN_PROCS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/base/log.h"

struct procs;

struct proc_map {
	uint64_t start, end, pgoff;
	uint64_t time;	  /* of the record; 0: from /proc */
	const char *path; /* "//anon", "[vdso]", or a file */
};

/*
 * Begins to listen, then reads /proc. Where the kernel does not let us listen,
 * that is said to the log, and /proc is all there is.
 */
struct error *procs_new(const struct log *log, struct procs **out);
void procs_free(struct procs *procs);
DEFINE_FREEP(struct procs, procs_free)

/* A descriptor that becomes readable when the records should be read; -1: none. */
int procs_fd(const struct procs *procs);

/* Reads what records there are. */
struct error *procs_update(struct procs *procs);

/*
 * The map that an address of the process lies in: of several the newest one,
 * and where it has none, that of the process it was forked from. NULL: none.
 */
const struct proc_map *procs_find(struct procs *procs, uint32_t pid, uint64_t addr);

/* How many records the kernel had no room for. */
uint64_t procs_lost(const struct procs *procs);

/* ---- without a system call, for tests ---- */

struct procs *procs_new_empty(void);
/* Takes in records as they stand in a ring; what is none of ours is left out. */
struct error *procs_add_records(struct procs *procs, struct cursor c);

#endif
