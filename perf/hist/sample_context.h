/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes on while a recording is read: how many threads run, by its context switches, and the
 * namespace of cgroups of each thread, by its NAMESPACES records. As in perf 7.2, one thread runs
 * at the start, a switch is the start or the end of a run, and a thread that ends was running.
 */
#ifndef PB_PERF_HIST_SAMPLE_CONTEXT_H
#define PB_PERF_HIST_SAMPLE_CONTEXT_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "perf/hist/hist.h"

struct sample_context {
	int64_t n_running;     /* one less: 0 is one */
	struct u64map cgroups; /* by thread id; struct cgroup_namespace * in arena */
	struct arena arena;
	VEC(int32_t) sockets; /* of each CPU */
	bool knows_sockets;
};

void sample_context_deinit(struct sample_context *c);

/* A record that is not a sample; others than those above change nothing. */
struct error *sample_context_add(struct sample_context *c, const struct record *rec);
struct error *sample_context_namespaces(struct sample_context *c,
					const struct record_namespaces *ns);

/* As of a sample that comes now. */
struct hist_context sample_context_now(struct sample_context *c, const struct data_header *header,
				       const struct sample *sample);

#endif
