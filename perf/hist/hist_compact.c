// SPDX-License-Identifier: BSD-2-Clause
/*
 * Of a live session: the stacks that have weight are copied to a new arena, with the frames,
 * threads and names that they refer to, and the old one is freed: nothing else is.
 *
 * Results that are shown refer to the old one. If there may be some, it stays until
 * hist_unfinish(), which says that there are none any more.
 */
#include <stdlib.h>

#include "perf/hist/internal.h"

struct copying {
	struct hist *to;
	struct u64map frames; /* of the old hist, to those of the new one */
};

static const struct hist_frame *copy_frame(struct copying *c, const struct hist_frame *from)
{
	const struct hist_frame *known = u64map_get(&c->frames, (uintptr_t)from);
	struct hist *h = c->to;
	uint64_t key;

	if (known)
		return known;
	struct hist_frame *f = arena_alloc(&h->arena, sizeof(*f));
	if (!f)
		return NULL;
	*f = *from;
	f->dso = from->dso ? owned_dso(&h->owned, &h->arena, from->dso) : NULL;
	f->map = from->map ? owned_map(&h->arena, from->map, f->dso) : NULL;
	f->dso_name = from->dso_name ? hist_intern(h, from->dso_name) : NULL;
	f->sym_name = from->sym_name ? hist_intern(h, from->sym_name) : NULL;
	f->sym = from->sym && f->sym_name ? owned_symbol(&h->arena, from->sym, f->sym_name) : NULL;
	f->frame.name = f->sym ? f->sym_name : hist_intern(h, from->frame.name);
	f->frame.file = from->frame.file ? hist_intern(h, from->frame.file) : NULL;
	f->srcline = from->srcline ? hist_intern(h, from->srcline) : NULL;
	f->srcfile = from->srcfile ? hist_intern(h, from->srcfile) : NULL;
	f->frame.line_text = from->frame.line_text ? f->srcline : NULL;
	f->frame.module = f->dso ? f->dso->path : NULL;
	f->frame.rank = f->dso ? hist_dso_rank(h, f->dso) : 0;
	f->frame.mapping =
		from->frame.mapping ? result_mappings_get(&h->mappings, from->frame.mapping) : NULL;
	const bool ok = !f->dso == !from->dso && !f->map == !from->map &&
			!f->dso_name == !from->dso_name && !f->sym == !from->sym && f->frame.name &&
			!f->frame.file == !from->frame.file && !f->srcline == !from->srcline &&
			!f->srcfile == !from->srcfile && !f->frame.rank == !f->dso &&
			!f->frame.mapping == !from->frame.mapping;
	hist_frame_find(h, f, &key);
	return ok && u64map_put(&h->frames, key, f) && u64map_put(&c->frames, (uintptr_t)from, f)
		       ? f
		       : NULL;
}

static const struct hist_value *copy_value(struct hist *h, const struct hist_value *from)
{
	const char *name = from->text - 1; /* its name in h->values */
	struct hist_value *copy = strmap_get(&h->values, name);

	if (copy)
		return copy;
	char *text = arena_strdup(&h->arena, name);
	copy = arena_alloc(&h->arena, sizeof(*copy));
	if (!text || !copy)
		return NULL;
	*copy = *from;
	copy->text = text + 1;
	return strmap_put(&h->values, text, copy) ? copy : NULL;
}

static bool copy_chain(struct copying *c, const struct hist_stack *from, struct hist_stack *to)
{
	_cleanup_free_ const struct result_frame **frames = calloc(from->depth, sizeof(*frames));

	if (!from->chain)
		return true;
	if (!frames)
		return !from->depth;
	for (uint32_t i = 0; i < from->depth; i++) {
		const struct hist_frame *f =
			copy_frame(c, container_of(from->chain[i], const struct hist_frame, frame));

		if (!f)
			return false;
		frames[i] = &f->frame;
	}
	to->chain = hist_chain_intern(c->to, frames, from->depth);
	return to->chain;
}

static struct error *copy_stack(struct copying *c, const struct hist_stack *from)
{
	const struct hist_value *values[HIST_MAX_DYNAMIC] = {0};
	struct hist *h = c->to;
	struct hist_stack s = *from, *stack;
	bool ok = true;

	s.leaf = copy_frame(c, from->leaf);
	s.comm = hist_intern(h, from->comm);
	s.trace = from->trace ? hist_intern(h, from->trace) : NULL;
	s.thread = owned_thread(&h->owned, &h->arena, from->thread);
	s.values = from->values ? values : NULL;
	for (size_t i = 0; from->values && i < h->spec->n_dynamic && ok; i++) {
		values[i] = from->values[i] ? copy_value(h, from->values[i]) : NULL;
		ok = values[i] || !from->values[i];
	}
	if (!ok || !s.leaf || !s.comm || !s.thread || !s.trace != !from->trace ||
	    !copy_chain(c, from, &s))
		return error_nomem();
	const size_t n = h->stacks.n;
	TRY(hist_stack_add(h, &s, s.thread, &stack));
	if (h->stacks.n > n) /* else equal now: names of threads were, for example */
		h->stacks.v[n]->weight = from->weight;
	return NULL;
}

static struct error *copy_all(struct copying *c, const struct hist *from)
{
	for (size_t i = 0; i < from->stacks.n; i++)
		if (!hist_stack_has_faded(from->stacks.v[i]))
			TRY(copy_stack(c, from->stacks.v[i]));
	return NULL;
}

struct error *hist_compact(struct hist *h)
{
	_cleanup_(hist_freep) struct hist *fresh = NULL;
	struct copying c = {0};

	TRY(hist_new(h->spec, h->resolver, &fresh));
	c.to = fresh;
	struct error *err = copy_all(&c, h);
	u64map_deinit(&c.frames);
	TRY(err);
	fresh->generation = h->generation;
	fresh->n_thinned = h->n_thinned;
	fresh->shown_before = steal_ptr(h->shown_before);
	const struct hist old = *h;
	*h = *fresh;
	*fresh = old;
	if (fresh->entry_arena.blocks) {
		hist_index_free(fresh);
		h->shown_before = steal_ptr(fresh);
	}
	return NULL;
}
