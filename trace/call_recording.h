/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes system calls to a perf.data file, as "perf trace record" does: each call is a sample of
 * raw_syscalls:sys_enter and one of raw_syscalls:sys_exit, which perf script, perf trace -i and
 * perf-bpf script and report read. What arguments point to is behind the fields of the tracepoint
 * (trace/kept_record.h), for perf-bpf trace -i.
 *
 * A call is written when it ends, so its start is later in the file than newer samples. The file
 * therefore is one round, and readers sort all of it.
 */
#ifndef PB_TRACE_CALL_RECORDING_H
#define PB_TRACE_CALL_RECORDING_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/sys/sys.h"
#include "syscalls/call_record.h"

struct call_recording;

/* argv: the command line, for the header; path "-": standard output. roots NULL: the system. */
struct error *call_recording_new(const char *path, int argc, const char *const *argv,
				 const struct sys_roots *roots, struct call_recording **out);
/* Without call_recording_finish() the file is not complete. */
void call_recording_free(struct call_recording *recording);
DEFINE_FREEP(struct call_recording, call_recording_free)

struct error *call_recording_add(struct call_recording *recording, const struct trace_record *rec);

/* lost: calls that are not in the file. */
struct error *call_recording_finish(struct call_recording *recording, uint64_t lost);

uint64_t call_recording_bytes(const struct call_recording *recording);

#endif
