/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains for events that were recorded without (record -e EVENT/call-graph=no/): those of
 * another event, as its samples are often beside theirs. perf report --show-ref-call-graph.
 */
#ifndef PB_PERF_HIST_REF_CHAINS_H
#define PB_PERF_HIST_REF_CHAINS_H

#include "lib/base/hash.h"
#include "perf/session/session.h"

/* All zero: no chain is known yet. */
struct ref_chains {
	struct u64map threads; /* the last chain of each: struct ref_chain */
	struct sample sample;  /* with the chain of another */
};

void ref_chains_deinit(struct ref_chains *chains);

/*
 * A sample of any event, in the order of time. What it returns lasts until the next one: the sample
 * itself, or it with the last chain of its thread. NULL: no memory.
 */
const struct sample *ref_chains_use(struct ref_chains *chains, const struct session_event *event,
				    const struct sample *sample);

static inline bool event_has_chains(const struct session_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
}

#endif
