// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/rbtree.h"

#include <stddef.h>

static void set_parent(struct rb_node *node, struct rb_node *parent)
{
	node->parent_and_red = (uintptr_t)parent | (node->parent_and_red & 1);
}

static void set_red(struct rb_node *node, bool red)
{
	node->parent_and_red = (node->parent_and_red & ~(uintptr_t)1) | red;
}

/* Turns the edge between node and its right child; mirrored with left set. */
static void rotate(struct rb_tree *tree, struct rb_node *node, bool left)
{
	struct rb_node *child = left ? node->right : node->left;
	struct rb_node *inner = left ? child->left : child->right;
	struct rb_node *parent = rb_parent(node);

	if (left)
		node->right = inner;
	else
		node->left = inner;
	if (inner)
		set_parent(inner, node);
	set_parent(child, parent);
	if (!parent)
		tree->root = child;
	else if (parent->left == node)
		parent->left = child;
	else
		parent->right = child;
	if (left)
		child->left = node;
	else
		child->right = node;
	set_parent(node, child);
}

void rb_insert(struct rb_tree *tree, struct rb_node *node, struct rb_node *parent,
	       struct rb_node **link)
{
	*node = (struct rb_node){.parent_and_red = (uintptr_t)parent | 1};
	*link = node;

	while (rb_is_red(parent = rb_parent(node))) {
		struct rb_node *grand = rb_parent(parent);
		bool on_left = parent == grand->left;
		struct rb_node *uncle = on_left ? grand->right : grand->left;

		if (rb_is_red(uncle)) {
			set_red(parent, false);
			set_red(uncle, false);
			set_red(grand, true);
			node = grand;
			continue;
		}
		if (node == (on_left ? parent->right : parent->left)) {
			rotate(tree, parent, on_left);
			parent = node;
		}
		set_red(parent, false);
		set_red(grand, true);
		rotate(tree, grand, !on_left);
		break;
	}
	set_red(tree->root, false);
}

struct rb_node *rb_first(const struct rb_tree *tree)
{
	struct rb_node *node = tree->root;

	while (node && node->left)
		node = node->left;
	return node;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->right) {
		node = node->right;
		while (node->left)
			node = node->left;
		return (struct rb_node *)node;
	}
	while (rb_parent(node) && node == rb_parent(node)->right)
		node = rb_parent(node);
	return rb_parent(node);
}
