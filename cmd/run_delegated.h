/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf run for a user who may not load programs: the service loads what root has approved. */
#ifndef PB_CMD_RUN_DELEGATED_H
#define PB_CMD_RUN_DELEGATED_H

#include "cmd/delegated.h"
#include "run/run_session.h"

struct run_delegated {
	struct delegated session;
	struct run *run;
};

/* As run_new(); the programs are attached when it returns. o is changed and borrowed, so is d. */
struct error *run_delegated_new(struct run_opts *o, struct run_delegated *d, struct run **run);

#endif
