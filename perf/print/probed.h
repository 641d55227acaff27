/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of perf-bpf record's probes (-e probe:DEFINITION), as their probe
 * has them. The kernel says of a sample where the code ran that put it out;
 * which of a definition's points was hit stands in a field of its own.
 */
#ifndef PB_PERF_PRINT_PROBED_H
#define PB_PERF_PRINT_PROBED_H

#include "lib/base/vec.h"
#include "perf/format/tracing.h"
#include "perf/resolve/resolve.h"

/* All zero at first. */
struct probed {
	struct sample sample;
	VEC(uint64_t) chain;
};

void probed_deinit(struct probed *p);

/* Whether a sample is one of these; trace may be NULL. */
bool probed_is_one(const struct trace_event *trace, const struct sample *sample);

/*
 * The sample with the point's address for its own, and a call chain that begins
 * in the function that was probed, not in the BPF program: in p, which lasts
 * until the next. Any other sample is given back as it is; trace may be NULL.
 */
const struct sample *probed_sample(struct probed *p, const struct trace_event *trace,
				   struct resolver *resolver, const struct thread *thread,
				   const struct sample *sample);

#endif
