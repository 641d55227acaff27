/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that share functions, joined to a tree: for text, and for whoever
 * draws flames. Functions are told apart by name and module, not by offset.
 */
#ifndef PB_SHOW_STACK_TREE_H
#define PB_SHOW_STACK_TREE_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "show/result.h"

/* What stands above a frame is its parent; children are ordered, the largest first. */
struct stack_node {
	const struct result_frame *frame; /* of the first stack here; NULL: the root, or a label */
	const char *label;		  /* of the nodes below the root; NULL: not known */
	uint64_t count;			  /* of all stacks through it */
	uint64_t self;			  /* of those that end here */
	struct stack_node **children;
	size_t n_children, cap;
};

enum stack_order {
	STACK_CALLER, /* from the outermost function inward */
	STACK_CALLEE, /* from the innermost outward */
};

/*
 * A tree of r's stacks: below the root a node for each label, below those the
 * functions. NULL: no memory. It lives as long as the arena and r.
 */
struct stack_node *stack_tree(const struct result *r, enum stack_order order, struct arena *arena);

#endif
