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
#include "show/result.h"

struct run_probes {
	struct probe_finder *finder; /* NULL until the first definition */
	confine_fn *confine;	     /* its process's; NULL: it has none */
	VEC(struct probe_set *) sets;
};

/* Destroys the sets, which the objects must outlive. */
void probes_deinit(struct run_probes *probes);

/* Before load; opts->log tells how each program is attached. */
struct error *probes_prepare(struct run_probes *probes, struct bpf_object *obj,
			     const struct probe_opts *opts);
/*
 * EILSEQ: a program in a section uprobe/FILE:FUNCTION+OFFSET would be attached in the middle of an
 * instruction, which would change what the process does.
 */
struct error *probes_check_offsets(struct run_probes *probes, const struct bpf_object *obj,
				   const struct log *log);
/* Whether its section is a definition of points in a binary. */
bool probes_of_user(const struct bpf_program *prog);
/* Whether the program is in one of the sets. */
bool probes_have(const struct run_probes *probes, const struct bpf_program *prog);
/* Those that the kernel refused are a warning: how many, and why. */
struct error *probes_attach(const struct run_probes *probes);
void probes_detach(const struct run_probes *probes);
/* The same of one program. */
void probes_detach_program(const struct run_probes *probes, const struct bpf_program *prog);
/* What a program that they have cost. */
struct error *probes_cost(const struct run_probes *probes, const struct bpf_program *prog,
			  struct probe_cost *cost);
/* Tells the log of points: their ways, their hits, what was missed. */
struct error *probes_tell(const struct run_probes *probes);
/* Adds a table "(probes)" with a row for each point, if there are any; at most top, 0: all. */
struct error *probes_add_results(const struct run_probes *probes, size_t top,
				 struct results *results);

#endif
