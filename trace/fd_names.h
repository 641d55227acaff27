/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files behind the file descriptors of traced processes: "/etc/passwd", "socket:[3482690]".
 * A descriptor is looked up in /proc/PID/fd when its name is first wanted; then it is kept up to
 * date from the records, since by the time when a record is read the process may be elsewhere.
 * The memory is bounded: above it all is forgotten, and looked up again.
 */
#ifndef PB_TRACE_FD_NAMES_H
#define PB_TRACE_FD_NAMES_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/sys/sys.h"
#include "syscalls/call_table.h"

struct fd_names;

/*
 * calls is what is traced, TRACE_ABIS * TRACE_NRS; NULL: only some of each. Unless it has all calls
 * that open and close descriptors, names are not kept, and each is looked up again.
 * table and roots are borrowed; roots NULL: the running system.
 */
struct error *fd_names_new(const struct call_table *table, const struct trace_call *calls,
			   const struct sys_roots *roots, struct fd_names **out);
void fd_names_free(struct fd_names *names);
DEFINE_FREEP(struct fd_names, fd_names_free)

/* Lasts until the next call of either. NULL: not known. ctx is a struct fd_names. */
const char *fd_names_get(void *ctx, uint32_t pid, int fd);

/* What a call did to its process's descriptors; after its line was made, which shows the old ones.
 */
struct error *fd_names_note(struct fd_names *names, const struct trace_record *rec);

/*
 * A process that we have started runs its own program now: of our descriptors it has standard
 * input, output and error. When its records are read, it may have ended.
 */
struct error *fd_names_inherit(struct fd_names *names, uint32_t pid);

/* How many names came from records, and from procfs. */
void fd_names_counts(const struct fd_names *names, uint64_t *from_records, uint64_t *from_proc);

#endif
