/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf record for a user who may not load programs: the service opens the events of an object
 * that root has approved. */
#ifndef PB_CMD_RECORD_DELEGATED_H
#define PB_CMD_RECORD_DELEGATED_H

#include "delegate/delegate_client.h"
#include "perf/record/record.h"

struct record_delegated {
	struct delegate_client client;
	const struct record_opts *opts;
	const char *name; /* of the program */
	struct recording *rec;
	bool ended; /* by the service */
};

#define RECORD_DELEGATED_INIT                                                                      \
	{                                                                                          \
		.client = DELEGATE_CLIENT_INIT                                                     \
	}

/* As recording_new(), for recording_run(); o is changed and borrowed, so is d. */
struct error *record_delegated_new(struct record_opts *o, struct record_delegated *d,
				   struct recording **rec);
/* Ends the session. */
void record_delegated_deinit(struct record_delegated *d);

#endif
