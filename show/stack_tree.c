// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf report's order of children decides the order among equals in its output: by DSO, then by
 * the symbol's address, and where one side has no symbol, by the address itself
 * (tools/perf/util/callchain.c of Linux 6.1, match_chain). That mixture is not a total order;
 * since perf searches by it in a red-black tree, so does this file.
 *
 * Frames of recordings are interned, so nearly all comparisons end at the pointers.
 */
#include "show/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"

static struct stack_node *node_of(const struct rb_node *rb)
{
	return rb ? container_of(rb, struct stack_node, in) : NULL;
}

static int compare_names(const struct result_frame *a, const struct result_frame *b)
{
	int cmp = strcmp(a->name, b->name);

	if (cmp || a->module == b->module)
		return cmp;
	return !a->module ? -1 : !b->module ? 1 : strcmp(a->module, b->module);
}

/* 0: the same; < 0: f comes before the one in the tree. */
static inline int frame_cmp(const struct result_frame *in_tree, const struct result_frame *f,
			    enum stack_order order)
{
	if (in_tree == f)
		return 0;
	if (order == STACK_BY_NAME)
		return compare_names(f, in_tree);
	if (order == STACK_BY_LINE && in_tree->line_text && f->line_text)
		return strcmp(in_tree->line_text, f->line_text);
	/* What is inlined has the addresses of what it is inlined in. */
	if (order != STACK_BY_ADDRESS && (in_tree->is_inlined || f->is_inlined) &&
	    in_tree->has_start && f->has_start)
		return strcmp(in_tree->name, f->name);
	/* perf's tree is descending */
	if (in_tree->rank != f->rank)
		return in_tree->rank < f->rank ? -1 : 1;
	uint64_t a = in_tree->addr, b = f->addr;
	if (order != STACK_BY_ADDRESS && in_tree->has_start && f->has_start) {
		a = in_tree->start;
		b = f->start;
	}
	return a == b ? 0 : a < b ? -1 : 1;
}

static struct stack_node *node_new(struct arena *arena, struct stack_node *parent,
				   const struct result_frame *const *frames, size_t n)
{
	struct stack_node *node = arena_alloc(arena, sizeof(*node));

	if (!node)
		return NULL;
	node->parent = parent;
	node->frames = frames;
	node->n_frames = (uint32_t)n;
	return node;
}

/* Cuts node after its first `at` frames; the rest becomes its only child. */
static struct stack_node *node_split(struct arena *arena, struct stack_node *node, size_t at)
{
	struct stack_node *rest = node_new(arena, node, node->frames + at, node->n_frames - at);

	if (!rest)
		return NULL;
	rest->children = node->children;
	for (struct rb_node *rb = rb_first(&rest->children); rb; rb = rb_next(rb))
		node_of(rb)->parent = rest;
	rest->self = node->self;
	rest->self_samples = node->self_samples;
	rest->below = node->below;
	rest->below_samples = node->below_samples;
	rest->branches = node->branches ? node->branches + at : NULL;

	node->n_frames = (uint32_t)at;
	node->children = (struct rb_tree){0};
	node->below = stack_node_total(rest);
	node->below_samples = stack_node_samples(rest);
	node->self = 0;
	node->self_samples = 0;
	rb_insert(&node->children, &rest->in, NULL, &node->children.root);
	return rest;
}

/* As in perf, what a frame was made with is not the end of a loop. */
static bool keep_branches(struct stack_node *node, struct arena *arena,
			  const struct branch_counts *branches)
{
	if (!branches)
		return true;
	node->branches = arena_alloc(arena, node->n_frames * sizeof(*branches));
	if (!node->branches)
		return false;
	memcpy(node->branches, branches, node->n_frames * sizeof(*branches));
	for (uint32_t i = 0; i < node->n_frames; i++)
		node->branches[i].froms -= !!branches[i].froms;
	return true;
}

static inline void add_branches(struct stack_node *node, size_t at,
				const struct branch_counts *branches)
{
	if (branches && node->branches)
		branch_counts_add(&node->branches[at], branches);
}

bool stack_tree_add(struct stack_tree *tree, struct arena *arena, enum stack_order order,
		    const struct result_frame *const *frames, size_t n, uint64_t count,
		    uint64_t samples)
{
	return stack_tree_add_branches(tree, arena, order, frames, NULL, n, count, samples);
}

bool stack_tree_add_branches(struct stack_tree *tree, struct arena *arena, enum stack_order order,
			     const struct result_frame *const *frames,
			     const struct branch_counts *branches, size_t n, uint64_t count,
			     uint64_t samples)
{
	struct stack_node *at = &tree->root;
	size_t pos = 0;

	tree->depth = max_of(tree->depth, (uint32_t)n);
	while (pos < n) {
		struct rb_node **link = &at->children.root, *parent = NULL;
		struct stack_node *child = NULL;

		while (*link) {
			child = node_of(*link);
			int cmp = frame_cmp(child->frames[0], frames[pos], order);

			if (!cmp)
				break;
			parent = *link;
			link = cmp < 0 ? &parent->left : &parent->right;
			child = NULL;
		}
		sum_add(&at->below, count);
		at->below_samples += samples;
		if (!child) {
			child = node_new(arena, at, frames + pos, n - pos);
			if (!child ||
			    !keep_branches(child, arena, branches ? branches + pos : NULL))
				return false;
			child->self = count;
			child->self_samples = samples;
			rb_insert(&at->children, &child->in, parent, link);
			return true;
		}
		size_t same = 0;
		do {
			add_branches(child, same++, branches ? branches + pos : NULL);
			pos++;
		} while (same < child->n_frames && pos < n &&
			 !frame_cmp(child->frames[same], frames[pos], order));
		if (same < child->n_frames && !node_split(arena, child, same))
			return false;
		at = child;
	}
	sum_add(&at->self, count);
	at->self_samples += samples;
	return true;
}

/* The stacks that end at a node and below it. */
static bool merge_node(struct stack_tree *tree, struct arena *arena, enum stack_order order,
		       const struct stack_node *node, uint32_t depth)
{
	depth += node->n_frames;
	if (node->self_samples || node->self) {
		const struct result_frame **frames =
			arena_alloc(arena, depth * sizeof(*frames) + !depth);
		size_t at = depth;

		if (!frames)
			return false;
		for (const struct stack_node *up = node; up; up = up->parent) {
			at -= up->n_frames;
			for (size_t i = 0; i < up->n_frames; i++)
				frames[at + i] = up->frames[i];
		}
		if (!stack_tree_add(tree, arena, order, frames, depth, node->self,
				    node->self_samples))
			return false;
	}
	for (const struct rb_node *rb = rb_first(&node->children); rb; rb = rb_next(rb))
		if (!merge_node(tree, arena, order, node_of(rb), depth))
			return false;
	return true;
}

bool stack_tree_merge(struct stack_tree *tree, struct arena *arena, enum stack_order order,
		      const struct stack_tree *other)
{
	return merge_node(tree, arena, order, &other->root, 0);
}

struct ranked {
	const struct stack_node *node;
	uint64_t key;
	size_t order;
};

typedef VEC(struct ranked) ranked_vec;

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *ra = a, *rb = b;

	if (ra->key != rb->key)
		return ra->key > rb->key ? -1 : 1;
	return ra->order < rb->order ? -1 : 1;
}

static bool rank(ranked_vec *v, const struct stack_node *node, uint64_t key)
{
	struct ranked *r = vec_push(v);

	if (r)
		*r = (struct ranked){node, key, v->n};
	return r;
}

/* Largest first, in the arena's memory; empties v. */
static const struct stack_node **ranked_sort(ranked_vec *v, bool ok, struct arena *arena, size_t *n)
{
	const struct stack_node **out = NULL;

	if (ok)
		out = arena_alloc(arena, (v->n + 1) * sizeof(*out));
	if (out) {
		if (v->n > 1)
			qsort(v->v, v->n, sizeof(*v->v), compare_ranked);
		for (size_t i = 0; i < v->n; i++)
			out[i] = v->v[i].node;
		*n = v->n;
	}
	vec_deinit(v);
	return out;
}

const struct stack_node **stack_node_children(const struct stack_node *node, uint64_t least,
					      struct arena *arena, size_t *n)
{
	ranked_vec v = {0};
	bool ok = true;

	for (const struct rb_node *rb = rb_first(&node->children); rb && ok; rb = rb_next(rb)) {
		const struct stack_node *child = node_of(rb);

		if (stack_node_total(child) >= least)
			ok = rank(&v, child, stack_node_total(child));
	}
	return ranked_sort(&v, ok, arena, n);
}

/* Children before their parent, as perf walks them; as deep as the stacks are long. */
static bool collect_ends(ranked_vec *v, const struct stack_node *node, uint64_t least)
{
	for (const struct rb_node *rb = rb_first(&node->children); rb; rb = rb_next(rb))
		if (!collect_ends(v, node_of(rb), least))
			return false;
	return !node->self || node->self < least || rank(v, node, node->self);
}

const struct stack_node **stack_node_ends(const struct stack_node *node, uint64_t least,
					  struct arena *arena, size_t *n)
{
	ranked_vec v = {0};
	bool ok = collect_ends(&v, node, least);

	return ranked_sort(&v, ok, arena, n);
}

static int compare_groups(const void *a, const void *b)
{
	const struct stack_group *x = *(struct stack_group *const *)a;
	const struct stack_group *y = *(struct stack_group *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->label ? x->label : "", y->label ? y->label : "");
}

static const struct result_frame *const *reversed(const struct result_stack *s, struct arena *arena)
{
	const struct result_frame **frames = arena_alloc(arena, s->n_frames * sizeof(*frames));

	for (size_t i = 0; frames && i < s->n_frames; i++)
		frames[i] = s->frames[s->n_frames - 1 - i];
	return frames;
}

static bool group_add(struct stack_group *group, const struct result_stack *s, bool callee,
		      struct arena *arena)
{
	const struct result_frame *const *frames = callee ? s->frames : reversed(s, arena);

	group->label = s->label;
	sum_add(&group->count, s->count);
	return (callee || frames) && stack_tree_add(&group->tree, arena, STACK_BY_NAME, frames,
						    s->n_frames, s->count, s->samples);
}

struct stack_group **stack_groups(const struct result *r, bool callee, struct arena *arena,
				  size_t *n)
{
	VEC(struct stack_group *) groups = {0};
	struct strmap labels = {0};
	struct stack_group **out = NULL;
	bool ok = true;

	for (size_t i = 0; i < r->n_stacks && ok; i++) {
		const struct result_stack *s = &r->stacks[i];
		const char *label = s->label ? s->label : "";
		struct stack_group *group = strmap_get(&labels, label), **slot;

		if (!group) {
			group = arena_alloc(arena, sizeof(*group));
			slot = group ? vec_push(&groups) : NULL;
			ok = slot && strmap_put(&labels, label, group);
			if (slot)
				*slot = group;
		}
		ok = ok && group_add(group, s, callee, arena);
	}
	if (ok)
		out = arena_alloc(arena, (groups.n + 1) * sizeof(*out));
	if (out && groups.n) {
		memcpy(out, groups.v, groups.n * sizeof(*out));
		qsort(out, groups.n, sizeof(*out), compare_groups);
	}
	*n = groups.n;
	strmap_deinit(&labels);
	vec_deinit(&groups);
	return out;
}
