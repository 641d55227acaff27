/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls of a recording that has raw_syscalls:sys_enter and sys_exit, as "trace -o" and
 * perf trace record write it: pairs of samples, as the records that the BPF program makes of them.
 * Those of perf trace record have no pieces: what arguments point to is not in them.
 */
#ifndef PB_TRACE_CALL_REPLAY_H
#define PB_TRACE_CALL_REPLAY_H

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "trace/source.h"

struct call_replay_opts {
	const struct log *log;
	const char *path;		/* "-": standard input */
	bool force;			/* read a file of another user */
	const struct trace_call *calls; /* TRACE_ABIS * TRACE_NRS: which calls are wanted */
};

/*
 * Calls fn in the order in which the calls ended, then for those that did not end. If fn returns
 * SESSION_STOP, that ends it without an error. Fails with EBADMSG for a damaged or truncated
 * recording, after the calls before the damage; with ENOENT if there are no system calls in it.
 */
struct error *call_replay(const struct call_replay_opts *opts, trace_record_fn *fn, void *ctx);

#endif
