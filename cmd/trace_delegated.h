/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf trace for a user who may not load programs: the service traces, if root has approved it.
 */
#ifndef PB_CMD_TRACE_DELEGATED_H
#define PB_CMD_TRACE_DELEGATED_H

#include "delegate/delegate_client.h"
#include "trace/trace_run.h"

struct trace_delegated {
	struct delegate_client client;
	const struct log *log;
	struct trace_run *run;
	bool ended; /* by the service */
};

#define TRACE_DELEGATED_INIT                                                                       \
	{                                                                                          \
		.client = DELEGATE_CLIENT_INIT                                                     \
	}

/*
 * As trace_run_new(); system calls are traced when it returns. o is changed and borrowed, so is d.
 * EINVAL: an option needs privileges.
 */
struct error *trace_delegated_new(struct trace_run_opts *o, struct trace_delegated *d,
				  struct trace_run **run);
/* Ends the session. */
void trace_delegated_deinit(struct trace_delegated *d);

#endif
