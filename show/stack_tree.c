// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child is looked for among its siblings in the order they came, which is
 * from the largest stack on: what is met often is found early. Only a node of
 * many different children, a label with a thousand outermost functions, say,
 * is searched for long.
 */
#include "show/stack_tree.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct stack_node *child_new(struct stack_node *parent, struct arena *arena)
{
	if (parent->n_children == parent->cap) {
		size_t cap = parent->cap ? parent->cap * 2 : 2;
		struct stack_node **children = arena_alloc(arena, cap * sizeof(*children));

		if (!children)
			return NULL;
		if (parent->n_children)
			memcpy(children, parent->children, parent->n_children * sizeof(*children));
		parent->children = children;
		parent->cap = cap;
	}
	struct stack_node *child = arena_alloc(arena, sizeof(*child));
	if (child)
		parent->children[parent->n_children++] = child;
	return child;
}

static struct stack_node *child_of(struct stack_node *parent, const struct result_frame *frame,
				   struct arena *arena)
{
	for (size_t i = 0; i < parent->n_children; i++) {
		struct stack_node *child = parent->children[i];

		if (same_text(child->frame->name, frame->name) &&
		    same_text(child->frame->module, frame->module))
			return child;
	}
	struct stack_node *child = child_new(parent, arena);
	if (child)
		child->frame = frame;
	return child;
}

static struct stack_node *label_of(struct stack_node *root, const char *label, struct arena *arena)
{
	for (size_t i = 0; i < root->n_children; i++)
		if (same_text(root->children[i]->label, label))
			return root->children[i];
	struct stack_node *child = child_new(root, arena);
	if (child)
		child->label = label;
	return child;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct stack_node *x = *(struct stack_node *const *)a;
	const struct stack_node *y = *(struct stack_node *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (!x->frame)
		return strcmp(x->label ? x->label : "", y->label ? y->label : "");
	return strcmp(x->frame->name, y->frame->name);
}

/* A tree is as deep as the deepest stack: a thousand frames or so. */
static void sort_nodes(struct stack_node *node)
{
	if (node->n_children)
		qsort(node->children, node->n_children, sizeof(*node->children), compare_nodes);
	for (size_t i = 0; i < node->n_children; i++)
		sort_nodes(node->children[i]);
}

struct stack_node *stack_tree(const struct result *r, enum stack_order order, struct arena *arena)
{
	struct stack_node *root = arena_alloc(arena, sizeof(*root));

	for (size_t i = 0; root && i < r->n_stacks; i++) {
		const struct result_stack *s = &r->stacks[i];
		struct stack_node *node = label_of(root, s->label, arena);

		if (!node)
			return NULL;
		root->count += s->count;
		node->count += s->count;
		for (size_t k = 0; k < s->n_frames; k++) {
			node = child_of(node,
					&s->frames[order == STACK_CALLER ? s->n_frames - 1 - k : k],
					arena);
			if (!node)
				return NULL;
			node->count += s->count;
		}
		node->self += s->count;
	}
	if (root)
		sort_nodes(root);
	return root;
}
