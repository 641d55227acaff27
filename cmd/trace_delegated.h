/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf trace for a user who may not load programs: the service traces, if root has approved it.
 */
#ifndef PB_CMD_TRACE_DELEGATED_H
#define PB_CMD_TRACE_DELEGATED_H

#include "cmd/delegated.h"
#include "trace/trace_run.h"

struct trace_delegated {
	struct delegated session;
	struct trace_run *run;
};

/*
 * As trace_run_new(); system calls are traced when it returns. o is changed and borrowed, so is d.
 * EINVAL: an option needs privileges.
 */
struct error *trace_delegated_new(struct trace_run_opts *o, struct trace_delegated *d,
				  struct trace_run **run);

#endif
