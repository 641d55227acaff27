/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_event programs: they run at the samples of an event, which their
 * section names (SEC("perf_event/page-faults"), in the words of perf record's
 * -e), or else the caller.
 */
#ifndef PB_RUN_SAMPLING_H
#define PB_RUN_SAMPLING_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/vec.h"
#include "work/bpf_file.h"
#include "work/tasks.h"

struct sampling_opts {
	const char *events;	   /* for sections that name none; NULL: cycles, or cpu-clock */
	uint64_t freq;		   /* samples a second; 0: 99 */
	uint64_t period;	   /* a sample every so many events; 0: by freq */
	const struct tasks *tasks; /* only these; empty: all on all CPUs */
	const unsigned *cpu;	   /* on this CPU only, but not tasks; NULL: all */
	const struct log *log;
};

/* A program that is attached to events, and its links. */
struct sampled_program {
	const struct bpf_program *prog;
	struct links *links; /* of its file */
	size_t first, n;     /* which of them */
};

/*
 * Attaches a loaded program of SEC("perf_event") to its events on all CPUs, or
 * on the threads asked for and those that they start. Links are added.
 */
struct error *sampling_attach(const struct bpf_program *prog, const struct sampling_opts *opts,
			      struct links *links, struct sampled_program *out);
/* Destroys the links of the program; the others of the file keep their places. */
void sampling_detach(const struct sampled_program *sampled);

#endif
