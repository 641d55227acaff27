/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs whose sections are probe definitions, in a run: a set for each
 * object, one finder for all, which reads the kernel's and the binaries'
 * descriptions once.
 */
#ifndef PB_RUN_PROBES_H
#define PB_RUN_PROBES_H

#include <bpf/libbpf.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/vec.h"
#include "probe/attach/probe.h"

struct run_probes {
	struct probe_finder *finder; /* NULL until the first definition */
	VEC(struct probe_set *) sets;
};

/* Destroys the sets, which the objects must outlive. */
void probes_deinit(struct run_probes *probes);

/* Before load; opts->log tells how each program is attached. */
struct error *probes_prepare(struct run_probes *probes, struct bpf_object *obj,
			     const struct probe_opts *opts);
/* Whether the program is in one of the sets. */
bool probes_have(const struct run_probes *probes, const struct bpf_program *prog);
/* Those that the kernel refused are a warning: how many, and why. */
struct error *probes_attach(const struct run_probes *probes, const struct log *log);
void probes_detach(const struct run_probes *probes);
/* Tells the log of each point: its way, its hits, what was missed. */
struct error *probes_tell(const struct run_probes *probes, const struct log *log);

#endif
