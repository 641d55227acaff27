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
#include "run/names.h"
#include "show/result.h"

/* A map that is looked at again and again. */
struct collector;

struct collect_opts {
	bool delta;	  /* only what was added since the last look */
	bool per_cpu;	  /* the CPUs' parts apart */
	size_t top;	  /* rows of a table, histograms by key, stacks; 0: all */
	const char *sort; /* a column to sort by, descending; NULL: the first that counts */
};

/*
 * A collector for a loaded map. map and btf (the object's, may be NULL) and
 * display outlive it. What cannot be shown as declared fails with EINVAL and
 * says why.
 */
struct error *collector_new(const struct bpf_map *map, const struct btf *btf,
			    const struct display *display, struct collector **out);
void collector_free(struct collector *c);
DEFINE_FREEP(struct collector, collector_free)

const char *collector_name(const struct collector *c);

/* Looks at the map and adds a result. ENOENT, with near names: no such column to sort by. */
struct error *collector_collect(struct collector *c, const struct collect_opts *opts,
				struct run_names *names, struct results *results);

#endif
