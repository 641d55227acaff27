/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a map in the kernel to a result that can be shown: its entries are
 * read, the CPUs' parts summed by BTF, what was there at the last look is
 * taken away if only the difference is wanted, and the numbers get names.
 */
#ifndef PB_RUN_COLLECT_H
#define PB_RUN_COLLECT_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "run/display.h"
#include "run/group_labels.h"
#include "run/value_names.h"
#include "show/result.h"

/* A map that is looked at again and again. */
struct collector;

struct collect_opts {
	struct group_labels labels;
	bool delta;	  /* only what was added since the last look */
	bool totals;	  /* a heat map's ranges count all since the start, whatever was shown */
	bool per_cpu;	  /* the CPUs' parts apart */
	size_t top;	  /* rows of a table, histograms by key, stacks; 0: all */
	const char *sort; /* a column to sort by, descending; NULL: the first that counts */
	bool sort_if_any; /* a map that has no such column is sorted as without it */
};

/*
 * A collector for a loaded map of obj. All are borrowed; display may be changed
 * where the map's types say more than its declaration. What cannot be shown as declared fails with
 * EINVAL and says why.
 */
struct error *collector_new(const struct bpf_object *obj, const struct bpf_map *map,
			    struct display *display, struct collector **out);
void collector_free(struct collector *c);
DEFINE_FREEP(struct collector, collector_free)

/* Whether its result has stacks or addresses of processes, which names must follow. */
bool collector_needs_frames(const struct collector *c);
/* Calls fn for each process that a stack or an address in the map belongs to. */
struct error *collector_each_process(struct collector *c, void (*fn)(void *ctx, uint32_t pid),
				     void *ctx);
/* Whether it is a map of maps, whose inner maps are opened by their ids at each look. */
bool collector_reads_inner(const struct collector *c);
/* Whether its results are stacks (RESULT_STACKS). */
bool collector_has_stacks(const struct collector *c);
/* The map that holds its stacks, and that of stacks with few frames; NULL: it has none. */
const struct bpf_map *collector_stacks(const struct collector *c);
const struct bpf_map *collector_short_stacks(const struct collector *c);

/* The map, and its name. */
const struct bpf_map *collector_map(const struct collector *c);
const char *collector_name(const struct collector *c);

/*
 * Heat maps want to be looked at in between, once for each slot of time. begin:
 * slots of `step` ns from now (monotonic) on; sample: what came since belongs
 * to the slot that ends now; step: how long slots are by now. They do nothing
 * for other collectors, whose step is 0.
 */
void collector_begin(struct collector *c, uint64_t step, uint64_t now);
struct error *collector_sample(struct collector *c, uint64_t now);
uint64_t collector_step(const struct collector *c);

/*
 * Events: a descriptor to wait for (EPOLLIN), -1 where the map has none; what
 * has come, up to a batch of it, as a result that is added if there is any; n:
 * how many. 0: the ring is empty.
 */
int collector_fd(const struct collector *c);
/* Whether the map's events go through a ring for each CPU. */
bool collector_is_by_cpu(const struct collector *c);
/* A CPU is back that was offline; fd: one more to wait for, or -1. */
struct error *collector_cpu_returned(struct collector *c, unsigned cpu, int *fd);
struct error *collector_drain(struct collector *c, struct run_names *names, struct results *results,
			      size_t *n);

/*
 * Looks at the map and adds a result. ENOENT, with near names: no such column to
 * sort by.
 */
struct error *collector_collect(struct collector *c, const struct collect_opts *opts,
				struct run_names *names, struct results *results);

#endif
