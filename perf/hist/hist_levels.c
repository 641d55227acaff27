// SPDX-License-Identifier: BSD-2-Clause
/*
 * report --hierarchy: from entries by all keys to a tree of entries. On its first level are
 * entries by the first key, each the sum of those with that key; below each of them those by the
 * second key, and so on. Keys in braces are one level ("{comm,dso},sym"). Call chains are kept at
 * the leaves only.
 *
 * An entry is a copy of the first one that is counted in it, and entries with equal numbers are
 * put in order by all keys, those of the levels below too: as in perf (tools/perf/util/hist.c of
 * Linux 6.1, hists__hierarchy_insert_entry). Other than there, samples that a filter hides are
 * counted in entries of their own on each level, which are not shown: in perf 6.1 an upper entry
 * has them too, and may be shown with a sum that is larger than all that is below it.
 */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"

struct level_entry {
	struct hist_entry he; /* first */
	struct rb_node in;    /* among those of its level; then, in the report's order */
	struct rb_tree below;
	bool is_linked; /* to an entry of its group's leader */
};

static struct level_entry *entry_of(struct rb_node *rb)
{
	return rb ? container_of(rb, struct level_entry, in) : NULL;
}

/* Events that do not have the field have no such level. */
static bool have_field(struct hist *const *hists, size_t n, enum hist_field field)
{
	if (field < HIST_DYNAMIC)
		return true;
	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < hists[i]->sorted.n; e++)
			if (hist_entry_value(hists[i]->sorted.v[e], field - HIST_DYNAMIC))
				return true;
	return false;
}

/* Of a group, all have the same. */
static void find_levels(struct hist *const *hists, size_t n)
{
	struct hist *h = hists[0];
	const struct hist_spec *spec = h->spec;

	for (size_t i = 0; i < spec->n_sort; i++) {
		const enum hist_field field = spec->sort[i];
		size_t l = 0;

		if (!have_field(hists, n, field))
			continue;
		while (l < h->n_levels && spec->level[h->levels[l].fields[0]] != spec->level[field])
			l++;
		struct hist_level *level = &h->levels[l];
		if (l == h->n_levels) {
			h->n_levels++;
		}
		level->fields[level->n++] = field;
	}
	for (size_t i = 1; i < n; i++) {
		memcpy(hists[i]->levels, h->levels, sizeof(h->levels));
		hists[i]->n_levels = h->n_levels;
	}
}

/* The entry with the keys of he; else NULL. Where it is, or belongs. */
static struct level_entry *find(const struct hist *h, const struct hist_level *level,
				const struct rb_tree *tree, const struct hist_entry *he,
				struct rb_node **parent, struct rb_node ***link)
{
	struct rb_node **at = (struct rb_node **)&tree->root;

	*parent = NULL;
	while (*at) {
		const int64_t cmp =
			hist_fields_cmp(h->spec, level->fields, level->n, &entry_of(*at)->he, he);

		if (!cmp)
			break;
		*parent = *at;
		at = cmp < 0 ? &(*at)->left : &(*at)->right;
	}
	*link = at;
	return entry_of(*at);
}

static struct level_entry *entry_add(struct hist *h, struct rb_tree *tree,
				     const struct hist_entry *he, uint8_t depth,
				     struct rb_node *parent, struct rb_node **link)
{
	struct level_entry *e = arena_alloc(&h->entry_arena, sizeof(*e));

	if (!e)
		return NULL;
	e->he = *he;
	e->he.depth = depth;
	e->he.chain = NULL;
	e->he.members = NULL;
	rb_insert(tree, &e->in, parent, link);
	return e;
}

static void stat_merge(struct hist_stat *stat, const struct hist_stat *other)
{
	sum_add(&stat->period, other->period);
	sum_add(&stat->sys, other->sys);
	sum_add(&stat->us, other->us);
	sum_add(&stat->guest_sys, other->guest_sys);
	sum_add(&stat->guest_us, other->guest_us);
	sum_add(&stat->latency, other->latency);
	stat->n += other->n;
}

static bool leaf_add_chain(struct hist *h, struct level_entry *leaf, const struct hist_entry *he)
{
	leaf->he.is_leaf = true;
	if (!hist_entry_keep(h, &leaf->he, hist_entry_samples(h, he)))
		return false;
	if (!leaf->he.chain) {
		leaf->he.chain = he->chain;
		return true;
	}
	return !he->chain ||
	       stack_tree_merge(leaf->he.chain, &h->entry_arena, h->spec->chain.order, he->chain);
}

/* An entry by all keys: to the one that has its keys on each level. */
static bool insert(struct hist *h, struct rb_tree *tree, const struct hist_entry *he)
{
	struct level_entry *e = NULL;

	for (size_t l = 1; l < h->n_levels; l++) {
		struct rb_node *parent, **link;

		e = find(h, &h->levels[l], tree, he, &parent, &link);
		if (e) {
			stat_merge(&e->he.stat, &he->stat);
			sum_add(&e->he.acc, he->acc);
			sum_add(&e->he.acc_latency, he->acc_latency);
		} else {
			e = entry_add(h, tree, he, (uint8_t)(l - 1), parent, link);
		}
		if (!e)
			return false;
		tree = &e->below;
	}
	return !e || leaf_add_chain(h, e, he);
}

static bool make_leaders(struct hist *h, const struct rb_tree *tree, size_t n)
{
	for (struct rb_node *rb = rb_first(tree); rb; rb = rb_next(rb))
		if (!hist_entry_lead(h, &entry_of(rb)->he, n) ||
		    !make_leaders(h, &entry_of(rb)->below, n))
			return false;
	return true;
}

/* What both have, at the same place in their trees. */
static void match(struct hist *leader, const struct rb_tree *tree, const struct rb_tree *other,
		  size_t i)
{
	for (struct rb_node *rb = rb_first(tree); rb; rb = rb_next(rb)) {
		struct level_entry *e = entry_of(rb);
		struct rb_node *parent, **link;
		struct level_entry *same = find(leader, &leader->levels[e->he.depth + 1], other,
						&e->he, &parent, &link);

		if (!same)
			continue;
		e->he.members[i] = &same->he;
		same->is_linked = true;
		match(leader, &e->below, &same->below, i);
	}
}

/* What only the i-th of the n members has gets an empty entry of the leader. */
static bool add_missing(struct hist *leader, struct rb_tree *tree, const struct rb_tree *other,
			size_t i, size_t n)
{
	for (struct rb_node *rb = rb_first(other); rb; rb = rb_next(rb)) {
		struct level_entry *of = entry_of(rb);
		struct rb_node *parent, **link;
		struct level_entry *e = find(leader, &leader->levels[of->he.depth + 1], tree,
					     &of->he, &parent, &link);

		if (!e) {
			e = entry_add(leader, tree, &of->he, of->he.depth, parent, link);
			if (!e || !hist_entry_lead(leader, &e->he, n))
				return false;
			e->he.stat = (struct hist_stat){0};
			e->he.acc = e->he.acc_latency = 0;
		}
		if (!of->is_linked)
			e->he.members[i] = &of->he;
		if (!add_missing(leader, &e->below, &of->below, i, n))
			return false;
	}
	return true;
}

static void insert_out(struct hist *h, struct rb_tree *out, struct level_entry *e)
{
	struct rb_node **link = &out->root, *parent = NULL;

	while (*link) {
		parent = *link;
		link = hist_entry_sort(h->spec, &e->he, &entry_of(parent)->he) > 0 ? &parent->left
										   : &parent->right;
	}
	rb_insert(out, &e->in, parent, link);
}

/* To h->sorted in the report's order, each with those below it behind it. */
static bool put_in_order(struct hist *h, const struct rb_tree *tree)
{
	VEC(struct level_entry *) all = {0};
	struct rb_tree out = {0};
	struct rb_node *rb;
	bool ok = true;

	for (rb = rb_first(tree); rb && ok; rb = rb_next(rb)) {
		struct level_entry **slot = vec_push(&all);

		ok = slot;
		if (slot)
			*slot = entry_of(rb);
	}
	for (size_t i = 0; i < all.n && ok; i++)
		insert_out(h, &out, all.v[i]);
	vec_deinit(&all);
	for (rb = rb_first(&out); rb && ok; rb = rb_next(rb)) {
		const struct hist_entry **slot = vec_push(&h->sorted);

		ok = slot;
		if (slot)
			*slot = &entry_of(rb)->he;
		ok = ok && put_in_order(h, &entry_of(rb)->below);
	}
	return ok;
}

struct error *hist_make_levels(struct hist *const *hists, size_t n)
{
	_cleanup_free_ struct rb_tree *trees = calloc(n, sizeof(*trees));
	struct hist *leader = hists[0];
	bool ok = trees;

	find_levels(hists, n);
	for (size_t i = 0; i < n && ok; i++) {
		for (size_t e = 0; e < hists[i]->sorted.n && ok; e++)
			ok = insert(hists[i], &trees[i], hists[i]->sorted.v[e]);
		hists[i]->sorted.n = 0;
	}
	if (n > 1)
		ok = ok && make_leaders(leader, &trees[0], n);
	for (size_t i = 1; i < n && ok; i++) {
		match(leader, &trees[0], &trees[i], i);
		ok = add_missing(leader, &trees[0], &trees[i], i, n);
	}
	for (size_t i = 0; i < n && ok; i++)
		ok = put_in_order(hists[i], &trees[i]);
	return ok ? NULL : error_nomem();
}
