/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs of a run cost: how often each ran, the time that it took,
 * and the runs that the kernel left out.
 *
 * The kernel counts time only while somebody asks for it (BPF_ENABLE_STATS,
 * 5.8; or sysctl kernel.bpf_stats_enabled): the clock is read twice for each
 * run of every program on the machine. Runs that were left out it counts
 * always: a program that is running on a CPU is not run there once more
 * (recursion_misses), and probes within a probe are skipped (what a link's
 * info calls missed, 6.7).
 */
#ifndef PB_RUN_COST_H
#define PB_RUN_COST_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "show/result.h"

struct cost_opts {
	bool show;	  /* the result "(cost)" is wanted */
	double max_share; /* of all CPUs' time, 0.02 for 2 %; 0: no limit */
};

struct cost;
struct run_probes;

/*
 * From now on time is counted, if opts ask for any. ENOTSUP, EPERM: it cannot
 * be. Programs attached before are counted in part.
 */
struct error *cost_new(const struct cost_opts *opts, struct cost **out);
void cost_free(struct cost *cost);
DEFINE_FREEP(struct cost, cost_free)

/*
 * A program was attached by link; both are borrowed, link until it was taken or cost_stop().
 * NULL: by links that do not count the runs that they left out.
 */
struct error *cost_add(struct cost *cost, const struct bpf_program *prog, struct bpf_link *link);
/* The same for a program of probes, which has as many links as they see fit. */
struct error *cost_add_probe(struct cost *cost, const struct bpf_program *prog,
			     const struct run_probes *probes);

/* Milliseconds between calls of cost_check(); 0: it is not needed. */
unsigned cost_interval_ms(const struct cost *cost);

/* Measures the time since the last call. */
struct error *cost_check(struct cost *cost);
/*
 * Returns a program that took more than its share in that time, and logs it. The caller detaches
 * it by *link, which is NULL for programs of probes and of samples. Returns NULL if there is no
 * (further) such program.
 */
const struct bpf_program *cost_take_excess(struct cost *cost, const struct log *log,
					   struct bpf_link **link);

/* The programs that were taken, and those that are still attached. */
size_t cost_n_taken(const struct cost *cost);
size_t cost_n_attached(const struct cost *cost);

/* The links are destroyed next: what they count is read now. */
void cost_stop(struct cost *cost);

/*
 * Adds a table "(cost)" where it is wanted, and where it is not, one "(missed)"
 * if runs were left out. delta: of the time since the last ones with delta.
 */
struct error *cost_add_results(struct cost *cost, bool delta, struct results *results);

#endif
