/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of processes that see other files than this one at the same path: in a container, below
 * another root directory, or where a new file has replaced the mapped one. When such a process has
 * ended, nothing leads to its files any more. So a live session opens them when the mapping is
 * first seen, and keeps them open for their symbols.
 */
#ifndef PB_PERF_RESOLVE_HELD_FILES_H
#define PB_PERF_RESOLVE_HELD_FILES_H

#include "lib/base/hash.h"
#include "perf/event/event.h"
#include "perf/session/session.h"

struct held_files {
	struct u64map files; /* hash of device and inode, or of the build id -> struct held_file */
	size_t n, max;	     /* that are open; max 0: not known yet */
};

void held_files_deinit(struct held_files *held);

/*
 * Opens the file of a mapping, unless this process finds it at its path. What cannot be opened is
 * looked for later, as all other files. ENOMEM.
 */
struct error *held_files_add(struct held_files *held, const struct record *rec,
			     const struct record_mmap *mmap);

/* The open file of the DSO, not the caller's; -1: it is not held. */
int held_files_fd(const struct held_files *held, const struct dso *dso);
/* A path that leads to the open file of the DSO; the caller's. NULL: it is not held, or ENOMEM. */
char *held_files_path(const struct held_files *held, const struct dso *dso);

#endif
