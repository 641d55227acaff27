/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/hist/ share. */
#ifndef PB_PERF_HIST_INTERNAL_H
#define PB_PERF_HIST_INTERNAL_H

#include "lib/base/arena.h"
#include "perf/hist/hist.h"
#include "perf/hist/rbtree.h"

struct chain_node {
	struct rb_node in; /* among the parent's children, by frame */
	struct rb_tree children;
	struct chain_node *parent;
	const struct hist_frame *const *frames; /* within the chain that made the node */
	uint32_t n_frames;
	uint64_t hit, children_hit;
	uint64_t count, children_count;
};

struct chain_tree {
	struct chain_node root; /* no frames */
	uint32_t max_depth;
};

/*
 * Adds count samples with together period along frames[0 … n). The frames
 * outlive the tree. false: no memory.
 */
bool chain_tree_add(struct chain_tree *tree, struct arena *arena, bool by_address,
		    const struct hist_frame *const *frames, size_t n, uint64_t period,
		    uint64_t count);

/* Entries in the order in which perf keeps them while it collects: > 0, a comes first. */
int64_t hist_entry_cmp(const struct hist_spec *spec, const struct hist_entry *a,
		       const struct hist_entry *b);
/* In the order of the report: > 0, a comes first. */
int64_t hist_entry_sort(const struct hist_spec *spec, const struct hist_entry *a,
			const struct hist_entry *b);

#endif
