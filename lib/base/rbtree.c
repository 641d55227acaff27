// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/rbtree.h"

#include <stddef.h>

/* Turns the edge between node and its right child; mirrored with left set. */
static void rotate(struct rb_tree *tree, struct rb_node *node, bool left)
{
	struct rb_node *child = left ? node->right : node->left;
	struct rb_node *inner = left ? child->left : child->right;
	struct rb_node *parent = node->parent;

	if (left)
		node->right = inner;
	else
		node->left = inner;
	if (inner)
		inner->parent = node;
	child->parent = parent;
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
	node->parent = child;
}

void rb_insert(struct rb_tree *tree, struct rb_node *node, struct rb_node *parent,
	       struct rb_node **link)
{
	*node = (struct rb_node){.parent = parent, .red = true};
	*link = node;

	while ((parent = node->parent) && parent->red) {
		struct rb_node *grand = parent->parent;
		bool on_left = parent == grand->left;
		struct rb_node *uncle = on_left ? grand->right : grand->left;

		if (uncle && uncle->red) {
			parent->red = uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		if (node == (on_left ? parent->right : parent->left)) {
			rotate(tree, parent, on_left);
			parent = node;
		}
		parent->red = false;
		grand->red = true;
		rotate(tree, grand, !on_left);
		break;
	}
	tree->root->red = false;
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
	while (node->parent && node == node->parent->right)
		node = node->parent;
	return node->parent;
}
