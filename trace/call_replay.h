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
#include "trace/other_events.h"
#include "trace/source.h"

struct call_replay_opts {
	const struct log *log;
	const char *path;		/* "-": standard input */
	bool force;			/* read a file of another user */
	const struct trace_call *calls; /* TRACE_ABIS * TRACE_NRS: which calls are wanted */
	unsigned max_stack;		/* frames of call chains; more are left out */
	/* The chain is NULL if there is none. SESSION_STOP ends the replay without an error. */
	struct error *(*call)(void *ctx, const struct trace_record *rec, struct call_stack *stack);
	/* Of the events that `wants` names, which is asked again and again; NULL: of none. */
	other_event_fn *event;
	bool (*wants)(void *ctx, const char *event);
	void *ctx;
};

/*
 * Calls opts->call in the order in which the calls ended, then for those that did not end, and
 * opts->event in the order of time. `wants` was called for all events of the recording at the end.
 * Fails with EBADMSG for a damaged or truncated recording, after what is before the damage; with
 * ENOENT if there is nothing in it that trace prints.
 */
struct error *call_replay(const struct call_replay_opts *opts);

#endif
