/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A red-black tree that only grows (Cormen et al., Introduction to
 * Algorithms, chapter 13): the caller walks down and says where the new node
 * hangs, the tree keeps itself balanced.
 */
#ifndef PB_BASE_RBTREE_H
#define PB_BASE_RBTREE_H

#include <stdbool.h>
#include <stdint.h>

/* Trees have a million nodes: the colour is kept in the parent's lowest bit. */
struct rb_node {
	struct rb_node *left, *right;
	uintptr_t parent_and_red;
};

static inline struct rb_node *rb_parent(const struct rb_node *node)
{
	return (struct rb_node *)(node->parent_and_red & ~(uintptr_t)1);
}

static inline bool rb_is_red(const struct rb_node *node)
{
	return node && node->parent_and_red & 1;
}

struct rb_tree {
	struct rb_node *root;
};

/* Hangs node at *link, a NULL link of parent (or the root, parent NULL). */
void rb_insert(struct rb_tree *tree, struct rb_node *node, struct rb_node *parent,
	       struct rb_node **link);

/* In order; NULL: none. */
struct rb_node *rb_first(const struct rb_tree *tree);
struct rb_node *rb_next(const struct rb_node *node);

#endif
