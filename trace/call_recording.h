/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes system calls to a perf.data file, as "perf trace record" does: each call is a sample of
 * raw_syscalls:sys_enter and one of raw_syscalls:sys_exit, which perf script, perf trace -i and
 * perf-bpf script and report read. What arguments point to is behind the fields of the tracepoint
 * (trace/kept_record.h), for perf-bpf trace -i.
 *
 * Other events are in the file as the kernel wrote them, with the mappings and names of processes.
 * The call chain of a call is in the sample of its exit.
 *
 * A call is written when it ends, so its start is later in the file than newer samples. The file
 * therefore is one round, and readers sort all of it. If perf-bpf is killed, the file ends with
 * what was saved last.
 */
#ifndef PB_TRACE_CALL_RECORDING_H
#define PB_TRACE_CALL_RECORDING_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "lib/sys/sys.h"
#include "perf/record/live_events.h"
#include "syscalls/call_record.h"

struct call_recording;
struct call_stack;

/* path "-": standard output. roots NULL: the system. */
struct error *call_recording_new(const char *path, const struct sys_roots *roots,
				 struct call_recording **out);
/*
 * The tracepoints' formats, which a file has, as the text of one file in tracefs after the other,
 * each with a NUL; and such a text for a recording, before its start, where tracefs cannot be read.
 * EBADMSG: it is not one.
 */
struct error *call_recording_formats(const struct sys_roots *roots, struct strbuf *out);
struct error *call_recording_use_formats(struct call_recording *recording, const char *text,
					 size_t size);
/* Without call_recording_finish() the file is not complete. */
void call_recording_free(struct call_recording *recording);
DEFINE_FREEP(struct call_recording, call_recording_free)

/*
 * Before the start: an event whose records call_recording_add_record() adds, and with what attr the
 * call chains of calls are sampled (call_recording_add()).
 */
struct error *call_recording_add_event(struct call_recording *recording,
				       const struct live_event *event);
/* After the start: more ids of the n-th event that was added, from 0. */
struct error *call_recording_add_ids(struct call_recording *recording, size_t event,
				     const uint64_t *ids, size_t n);
void call_recording_add_stacks(struct call_recording *recording,
			       const struct perf_event_attr *attr);

/* argv: the command line, for the header. */
struct error *call_recording_start(struct call_recording *recording, int argc,
				   const char *const *argv);

/* stack: a whole record (trace/call_stack.h); NULL: none. */
struct error *call_recording_add(struct call_recording *recording, const struct trace_record *rec,
				 const struct call_stack *stack);

/* A record of another event, and of a sample its time, else 0. */
struct error *call_recording_add_record(struct call_recording *recording, const void *record,
					size_t size, uint64_t time);

/* What was added so far is now in the file, also if the process is killed. */
struct error *call_recording_save(struct call_recording *recording);

/* lost: calls that are not in the file. */
struct error *call_recording_finish(struct call_recording *recording, uint64_t lost);

uint64_t call_recording_bytes(const struct call_recording *recording);

#endif
