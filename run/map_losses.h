/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a map had no room for: as the loader counts it for any program
 * (object_count_losses()), and as the program counts it itself
 * (perf_bpf_failed() of <bpf/perf_bpf_prog.h>). Both count the same failures, so
 * the larger number is the one to show.
 */
#ifndef PB_RUN_MAP_LOSSES_H
#define PB_RUN_MAP_LOSSES_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "run/collect.h"
#include "run/sites.h"

struct map_losses {
	uint64_t n;
	bool counted; /* all of them: else n is the least that it can be */
};

struct map_losses map_losses_of(const struct bpf_object *obj, const struct bpf_map *map,
				const struct sites *sites);

/* Adds those of the collector's map, and of its stacks, to the last of the results. */
struct error *map_losses_add(const struct bpf_object *obj, const struct collector *collector,
			     struct results *results);

#endif
