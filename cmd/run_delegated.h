/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf run for a user who may not load programs: the service loads what root has approved. */
#ifndef PB_CMD_RUN_DELEGATED_H
#define PB_CMD_RUN_DELEGATED_H

#include "delegate/delegate_client.h"
#include "run/run_session.h"

enum {
	DETACHED = 3, /* the exit status when --max-overhead or the service detached a program */
};

struct run_delegated {
	struct delegate_client client;
	const char *name; /* of the program */
	const struct log *log;
	struct run *run;
	bool ended; /* by the service */
};

#define RUN_DELEGATED_INIT                                                                         \
	{                                                                                          \
		.client = DELEGATE_CLIENT_INIT                                                     \
	}

/* Whether err is a lack of privileges, and there is a service to ask. */
bool is_delegated(const struct error *err);
/* Where it listens. */
const char *delegated_socket(void);

/* As run_new(); the programs are attached when it returns. o is changed and borrowed, so is d. */
struct error *run_delegated_new(struct run_opts *o, struct run_delegated *d, struct run **run);
/* Ends the session. */
void run_delegated_deinit(struct run_delegated *d);

#endif
