// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tree of an entry's call chains. A node holds the frames up to the next
 * branch; a chain that leaves a node in its middle splits it. hit is the
 * period of the chains that end in a node, children_hit of those that go on.
 *
 * The order of children decides the order among equals in the report, so it
 * is perf's: by DSO, then by the symbol's address, and where one side has no
 * symbol, by the address itself (tools/perf/util/callchain.c of Linux 6.1,
 * match_chain). That mixture is no total order; since perf searches by it in a
 * red-black tree, so does this file.
 *
 * Frames are interned, so nearly all comparisons end at the pointers.
 */
#include "perf/hist/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vec.h"

static struct chain_node *node_of(const struct rb_node *rb)
{
	return rb ? container_of(rb, struct chain_node, in) : NULL;
}

/* 0: the same; < 0: the one in the tree comes after (perf's tree is descending). */
static int frame_cmp(const struct hist_frame *in_tree, const struct hist_frame *f, bool by_address)
{
	if (in_tree == f)
		return 0;
	if (in_tree->rank != f->rank)
		return in_tree->rank < f->rank ? -1 : 1;
	uint64_t a = in_tree->ip, b = f->ip;
	if (!by_address && in_tree->sym && f->sym) {
		a = in_tree->sym->start;
		b = f->sym->start;
	}
	return a == b ? 0 : a < b ? -1 : 1;
}

static struct chain_node *node_new(struct arena *arena, struct chain_node *parent)
{
	struct chain_node *node = arena_alloc(arena, sizeof(*node));

	if (!node)
		return NULL;
	node->parent = parent;
	return node;
}

static struct chain_node *node_new_leaf(struct arena *arena, struct chain_node *parent,
					const struct hist_frame *const *frames, size_t n,
					uint64_t period, uint64_t count)
{
	struct chain_node *node = node_new(arena, parent);

	if (!node)
		return NULL;
	node->frames = frames;
	node->n_frames = (uint32_t)n;
	node->hit = period;
	node->count = count;
	return node;
}

/* Cuts node after its first `at` frames; the rest becomes its only child. */
static struct chain_node *node_split(struct arena *arena, struct chain_node *node, size_t at)
{
	struct chain_node *rest = node_new(arena, node);

	if (!rest)
		return NULL;
	rest->children = node->children;
	for (struct rb_node *rb = rb_first(&rest->children); rb; rb = rb_next(rb))
		node_of(rb)->parent = rest;
	rest->frames = node->frames + at;
	rest->n_frames = node->n_frames - (uint32_t)at;
	rest->hit = node->hit;
	rest->count = node->count;
	rest->children_hit = node->children_hit;
	rest->children_count = node->children_count;

	node->n_frames = (uint32_t)at;
	node->children = (struct rb_tree){0};
	node->children_hit = rest->hit + rest->children_hit;
	node->children_count = rest->count + rest->children_count;
	node->hit = 0;
	node->count = 0;
	rb_insert(&node->children, &rest->in, NULL, &node->children.root);
	return rest;
}

bool chain_tree_add(struct chain_tree *tree, struct arena *arena, bool by_address,
		    const struct hist_frame *const *frames, size_t n, uint64_t period,
		    uint64_t count)
{
	struct chain_node *at = &tree->root;
	size_t pos = 0;

	if (!n)
		return true;
	tree->max_depth = max_of(tree->max_depth, (uint32_t)n);
	while (pos < n) {
		struct rb_node **link = &at->children.root, *parent = NULL;
		struct chain_node *child = NULL;

		while (*link) {
			child = node_of(*link);
			int cmp = frame_cmp(child->frames[0], frames[pos], by_address);

			if (!cmp)
				break;
			parent = *link;
			link = cmp < 0 ? &parent->left : &parent->right;
			child = NULL;
		}
		at->children_hit += period;
		at->children_count += count;
		if (!child) {
			child = node_new_leaf(arena, at, frames + pos, n - pos, period, count);
			if (!child)
				return false;
			rb_insert(&at->children, &child->in, parent, link);
			return true;
		}
		size_t same = 1;
		pos++;
		while (same < child->n_frames && pos < n &&
		       !frame_cmp(child->frames[same], frames[pos], by_address)) {
			same++;
			pos++;
		}
		if (same < child->n_frames && !node_split(arena, child, same))
			return false;
		at = child;
	}
	at->hit += period;
	at->count += count;
	return true;
}

size_t chain_node_frames(const struct chain_node *node, const struct hist_frame *const **frames)
{
	*frames = node->frames;
	return node->n_frames;
}

uint64_t chain_node_hits(const struct chain_node *node)
{
	return node->hit + node->children_hit;
}

uint64_t chain_node_count(const struct chain_node *node)
{
	return node->count + node->children_count;
}

uint64_t chain_node_self_hits(const struct chain_node *node)
{
	return node->hit;
}

uint64_t chain_node_self_count(const struct chain_node *node)
{
	return node->count;
}

uint64_t chain_node_children_hits(const struct chain_node *node)
{
	return node->children_hit;
}

uint64_t chain_node_children_count(const struct chain_node *node)
{
	return node->children_count;
}

const struct chain_node *chain_node_parent(const struct chain_node *node)
{
	return node->parent;
}

struct ranked {
	const struct chain_node *node;
	uint64_t key;
	size_t order;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *ra = a, *rb = b;

	if (ra->key != rb->key)
		return ra->key > rb->key ? -1 : 1;
	return ra->order < rb->order ? -1 : 1;
}

typedef VEC(struct ranked) ranked_vec;

static bool rank(ranked_vec *v, const struct chain_node *node, uint64_t key)
{
	struct ranked *r = vec_push(v);

	if (r)
		*r = (struct ranked){node, key, v->n};
	return r;
}

/*
 * All nodes where chains end, children before their parent, as perf walks
 * them. As deep as the chains are long, which max_stack bounds.
 */
static bool collect_flat(ranked_vec *v, const struct chain_node *node, uint64_t min_hits)
{
	for (const struct rb_node *rb = rb_first(&node->children); rb; rb = rb_next(rb))
		if (!collect_flat(v, node_of(rb), min_hits))
			return false;
	return !node->hit || node->hit < min_hits || rank(v, node, node->hit);
}

const struct chain_node **chain_node_sorted(const struct chain_node *node,
					    const struct chain_opts *opts, uint64_t min_hits,
					    size_t *n)
{
	ranked_vec v = {0};
	bool ok = true;

	if (opts->mode == CHAIN_FLAT || opts->mode == CHAIN_FOLDED) {
		ok = collect_flat(&v, node, min_hits);
	} else {
		if (opts->mode == CHAIN_FRACTAL)
			min_hits = (uint64_t)ceil((double)node->children_hit * opts->min_percent /
						  100.0);
		for (const struct rb_node *rb = rb_first(&node->children); rb && ok;
		     rb = rb_next(rb)) {
			const struct chain_node *child = node_of(rb);

			if (chain_node_hits(child) >= min_hits)
				ok = rank(&v, child, chain_node_hits(child));
		}
	}
	const struct chain_node **out = ok ? calloc(v.n + 1, sizeof(*out)) : NULL;
	if (out) {
		if (v.n > 1)
			qsort(v.v, v.n, sizeof(*v.v), ranked_compare);
		for (size_t i = 0; i < v.n; i++)
			out[i] = v.v[i].node;
		*n = v.n;
	}
	vec_deinit(&v);
	return out;
}
