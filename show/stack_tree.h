/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that share functions, joined to a tree. A node holds the frames up to the next branch;
 * a stack that leaves a node in its middle splits it.
 *
 * The tree knows no direction: frames are added in the order in which they are to be shown, from
 * the caller down or from the callee up.
 */
#ifndef PB_SHOW_STACK_TREE_H
#define PB_SHOW_STACK_TREE_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/base/rbtree.h"
#include "show/branch_counts.h"
#include "show/result.h"

/*
 * Which frames are the same, and the order of a node's children. Frames with one address in
 * memory are always the same.
 */
enum stack_order {
	/* perf's: rank, start; addr where one of the two has no start; inlined ones by name */
	STACK_BY_FUNCTION,
	STACK_BY_ADDRESS, /* perf's: rank, addr */
	STACK_BY_LINE,	  /* the text of the line; by function where it is not known */
	STACK_BY_NAME,	  /* name and module */
};

struct stack_node {
	struct rb_node in; /* among the parent's children */
	struct rb_tree children;
	struct stack_node *parent;		  /* NULL: the root */
	const struct result_frame *const *frames; /* within the stack that made the node */
	uint32_t n_frames;			  /* 0: the root */
	uint64_t self, below;			  /* of the stacks that end here; that go on */
	uint64_t self_samples, below_samples;
	struct branch_counts *branches; /* of each frame; NULL: not of stacks with branches */
};

/* All zero is an empty one. */
struct stack_tree {
	struct stack_node root;
	uint32_t depth; /* frames of the longest stack */
};

/*
 * Adds count along frames[0 … n), which outlive the tree, as do what they point to and the
 * arena. A tree is always given the same order. false: no memory.
 */
bool stack_tree_add(struct stack_tree *tree, struct arena *arena, enum stack_order order,
		    const struct result_frame *const *frames, size_t n, uint64_t count,
		    uint64_t samples);

/* The same with what is known of the branches at each frame, which is copied; NULL: nothing. */
bool stack_tree_add_branches(struct stack_tree *tree, struct arena *arena, enum stack_order order,
			     const struct result_frame *const *frames,
			     const struct branch_counts *branches, size_t n, uint64_t count,
			     uint64_t samples);

/* Adds the stacks of another tree of the same order, and of the same arena; without branches. */
bool stack_tree_merge(struct stack_tree *tree, struct arena *arena, enum stack_order order,
		      const struct stack_tree *other);

static inline uint64_t stack_node_total(const struct stack_node *node)
{
	return node->self + node->below;
}

static inline uint64_t stack_node_samples(const struct stack_node *node)
{
	return node->self_samples + node->below_samples;
}

/*
 * The children whose total is at least `least`, the largest first, among equals in the tree's
 * order; they stand in memory of the arena. *n: how many. NULL: no memory.
 */
const struct stack_node **stack_node_children(const struct stack_node *node, uint64_t least,
					      struct arena *arena, size_t *n);

/* The same of all nodes at and below this one where stacks end, by what ends there. */
const struct stack_node **stack_node_ends(const struct stack_node *node, uint64_t least,
					  struct arena *arena, size_t *n);

/* The stacks of a result that have one label. */
struct stack_group {
	const char *label; /* NULL: not known */
	uint64_t count;
	struct stack_tree tree; /* by names */
};

/*
 * The groups of a result's stacks, the largest first, with trees from the outermost frame inward,
 * or, with callee, from the innermost outward. They are in memory of the arena. NULL: no memory.
 */
struct stack_group **stack_groups(const struct result *r, bool callee, struct arena *arena,
				  size_t *n);

#endif
