/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf record for a user who may not load programs: the service opens the events of an object
 * that root has approved. */
#ifndef PB_CMD_RECORD_DELEGATED_H
#define PB_CMD_RECORD_DELEGATED_H

#include "cmd/delegated.h"
#include "perf/record/record.h"

struct record_delegated {
	struct delegated session;
	const struct record_opts *opts;
	struct recording *rec;
};

/* Whether a BPF program is among what is recorded: all else is not the service's. */
bool record_has_object(const struct record_opts *o);

/* As recording_new(), for recording_run(); o is changed and borrowed, so is d. */
struct error *record_delegated_new(struct record_opts *o, struct record_delegated *d,
				   struct recording **rec);

#endif
