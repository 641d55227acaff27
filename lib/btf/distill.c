// SPDX-License-Identifier: BSD-2-Clause
/*
 * Split BTF without the base it was made on. A module's types refer to the
 * kernel's by id, and a kernel that is built again has other ids. So a module
 * may carry the little of the base that it refers to (its section .BTF.base):
 * numbers as they are, structs, unions and enumerations as a name and a size,
 * forward declarations. What has no name of its own (pointers, arrays,
 * prototypes, nameless structs) cannot be found again and becomes the split
 * BTF's own. Relocating looks each of these up in the base that there is.
 *
 * A struct that the split BTF has within its own, by value, must be of the same
 * size; behind a pointer its name is enough.
 */
#include "lib/btf/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a split BTF needs of its base ---- */

struct distill {
	const struct btf *src;
	uint32_t start;	     /* of src's own types */
	uint32_t *ids;	     /* per base type: 0: not needed; its new id; before that, 1: needed */
	uint32_t n_base;     /* types of the new base */
	uint32_t own_start;  /* of the new split's types */
	VEC(uint32_t) moved; /* base types that become the split's, in order */
	VEC(uint32_t) work;
};

/* Found again by its name: it stays in the base. */
static bool stays_in_base(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		return true;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return t->name_off;
	}
	return false;
}

static struct error *need(struct distill *d, uint32_t id)
{
	if (!id || id >= d->start || d->ids[id])
		return NULL;
	d->ids[id] = 1;
	const struct btf_type *t = btf_type_at(d->src, id);
	if (stays_in_base(t))
		return NULL;
	if (btf_is_func(t) || btf_is_var(t) || btf_is_datasec(t) ||
	    btf_kind(t) == BTF_KIND_DECL_TAG)
		return error_new(EINVAL, "it refers to type %u of its base, which is a %s", id,
				 btf_kind_name(btf_kind(t)));
	uint32_t *slot = vec_push(&d->work);
	if (!slot)
		return error_nomem();
	*slot = id;
	return NULL;
}

static struct error *need_all_of(struct distill *d, const struct btf_type *t)
{
	struct btf_fields ids = btf_ids_of((struct btf_type *)t); /* only read */

	for (uint32_t *id; (id = btf_fields_next(&ids));)
		TRY(need(d, *id));
	return NULL;
}

static struct error *collect(struct distill *d)
{
	for (uint32_t i = 0; i < d->src->n; i++)
		TRY(need_all_of(d, btf_type_at(d->src, d->start + i)));
	while (d->work.n)
		TRY(need_all_of(d, btf_type_at(d->src, d->work.v[--d->work.n])));
	for (uint32_t id = 1; id < d->start; id++) {
		if (!d->ids[id])
			continue;
		if (stays_in_base(btf_type_at(d->src, id))) {
			d->ids[id] = ++d->n_base;
			continue;
		}
		uint32_t *slot = vec_push(&d->moved);
		if (!slot)
			return error_nomem();
		*slot = id;
	}
	d->own_start = d->n_base + 1;
	for (uint32_t i = 0; i < d->moved.n; i++)
		d->ids[d->moved.v[i]] = d->own_start + d->src->n + i;
	return NULL;
}

static uint32_t distilled_id(const void *ctx, uint32_t id)
{
	const struct distill *d = ctx;

	return id < d->start ? d->ids[id] : id - d->start + d->own_start;
}

static struct error *added(int id)
{
	return id < 0 ? error_errno(-id, "cannot add a type") : NULL;
}

static struct error *add_to_base(struct distill *d, struct btf *base, uint32_t id)
{
	const struct btf_type *t = btf_type_at(d->src, id);
	const char *name = btf_name(d->src, t);

	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
		return added(btf__add_struct(base, name, t->size));
	case BTF_KIND_UNION:
		return added(btf__add_union(base, name, t->size));
	case BTF_KIND_ENUM:
		return added(btf__add_enum(base, name, t->size ? t->size : 4));
	case BTF_KIND_ENUM64:
		return added(btf__add_enum64(base, name, t->size, btf_kflag(t)));
	default:
		return added(btf_add_copy(base, d->src, t, distilled_id, d));
	}
}

static struct error *distill(struct distill *d, struct btf **new_base, struct btf **new_split)
{
	d->ids = calloc(d->start, sizeof(*d->ids));
	if (!d->ids)
		return error_nomem();
	TRY(collect(d));
	_cleanup_(btf__freep) struct btf *base = btf__new_empty();
	if (!base)
		return error_nomem();
	for (uint32_t id = 1; id < d->start; id++)
		if (d->ids[id] && stays_in_base(btf_type_at(d->src, id)))
			TRY(add_to_base(d, base, id));
	base->swap = d->src->swap;
	_cleanup_(btf__freep) struct btf *split = btf__new_empty_split(base);
	if (!split)
		return error_nomem();
	for (uint32_t i = 0; i < d->src->n; i++)
		TRY(added(btf_add_copy(split, d->src, btf_type_at(d->src, d->start + i),
				       distilled_id, d)));
	for (uint32_t i = 0; i < d->moved.n; i++)
		TRY(added(btf_add_copy(split, d->src, btf_type_at(d->src, d->moved.v[i]),
				       distilled_id, d)));
	*new_base = steal_ptr(base);
	*new_split = steal_ptr(split);
	return NULL;
}

int btf__distill_base(const struct btf *src_btf, struct btf **new_base_btf,
		      struct btf **new_split_btf)
{
	if (!src_btf || !new_base_btf || !new_split_btf || !src_btf->base)
		return edge_errno(EINVAL);
	struct distill d = {.src = src_btf, .start = src_btf->start_id};
	struct error *err = distill(&d, new_base_btf, new_split_btf);
	free(d.ids);
	vec_deinit(&d.moved);
	vec_deinit(&d.work);
	return edge_int(err);
}

/* ---- upon another base ---- */

struct relocation {
	const struct btf *btf, *to;
	uint32_t old_start, new_start;
	uint32_t *ids; /* per type of the old base: its id in the new one */
	bool *within;  /* per type of the old base: a struct of the split holds it by value */
};

/* A chain of arrays, typedefs and modifiers from a member on, within the split BTF. */
static void mark_within(struct relocation *r, uint32_t id)
{
	for (int i = 0; i < BTF_MAX_CHAIN && id >= r->old_start; i++) {
		const struct btf_type *t = btf_type_at(r->btf, id);

		if (!btf_is_mod(t) && !btf_is_typedef(t) && !btf_is_array(t))
			return;
		id = btf_is_array(t) ? btf_array(t)->type : t->type;
	}
	if (id < r->old_start)
		r->within[id] = true;
}

static bool fits_kind(const struct btf_type *want, const struct btf_type *t)
{
	if (btf_is_fwd(want))
		return btf_kflag(want) ? btf_is_union(t) || (btf_is_fwd(t) && btf_kflag(t))
				       : btf_is_struct(t) || (btf_is_fwd(t) && !btf_kflag(t));
	if (btf_is_any_enum(want))
		return btf_is_any_enum(t) && want->size == t->size;
	if (btf_kind(want) != btf_kind(t))
		return false;
	if (btf_is_int(want))
		return want->size == t->size &&
		       *(const uint32_t *)(want + 1) == *(const uint32_t *)(t + 1);
	return !btf_is_float(want) || want->size == t->size;
}

struct found {
	uint32_t id;	   /* of the right size, else of any */
	uint32_t n, n_any; /* of the right size; of any */
};

static void look_in(const struct btf *btf, const struct btf_type *want, const char *name,
		    struct found *found)
{
	for (uint32_t id = btf_find_first(btf, name); id; id = btf_find_next(btf, id)) {
		const struct btf_type *t = btf_type_at(btf, id);
		const bool sized = btf_is_fwd(want) || t->size == want->size;

		if (!fits_kind(want, t) || strcmp(btf_name(btf, t), name))
			continue;
		/* A definition is meant rather than a declaration. */
		if (btf_is_fwd(want) && btf_is_fwd(t) && found->n)
			continue;
		if (sized && !found->n++)
			found->id = id;
		if (!found->n_any++ && !sized)
			found->id = id;
	}
}

static struct error *find_in_new_base(struct relocation *r, uint32_t id)
{
	const struct btf_type *want = btf_type_at(r->btf->base, id);
	const char *name = btf_name(r->btf->base, want);
	const char *kind = btf_kind_name(btf_kind(want));
	struct found found = {0};

	if (!stays_in_base(want) || !*name)
		return error_new(EINVAL,
				 "type %u of the old base (a %s) has no name, so it cannot be "
				 "found in the new one",
				 id, kind);
	for (const struct btf *btf = r->to; btf; btf = btf->base)
		look_in(btf, want, name, &found);
	if (!found.n_any || (!found.n && r->within[id]))
		return error_new(EINVAL,
				 found.n_any ? "'%s' has another size in the base"
					     : "the base has no %s",
				 name);
	if (found.n > 1 || (!found.n && found.n_any > 1)) {
		/* Equal numbers are as good as each other. */
		if (!btf_is_int(want) && !btf_is_float(want))
			return error_new(EINVAL, "the base has several types %s '%s'", kind, name);
	}
	r->ids[id] = found.id;
	return NULL;
}

static uint32_t relocated_id(const void *ctx, uint32_t id)
{
	const struct relocation *r = ctx;

	return id < r->old_start ? r->ids[id] : id - r->old_start + r->new_start;
}

static struct error *relocate(struct relocation *r, struct btf **out)
{
	const struct btf *btf = r->btf;

	r->ids = calloc(r->old_start, sizeof(*r->ids));
	r->within = calloc(r->old_start, sizeof(*r->within));
	if (!r->ids || !r->within)
		return error_nomem();
	for (const struct btf *b = r->to; b; b = b->base)
		TRY(btf_index_build(b));
	for (uint32_t i = 0; i < btf->n; i++) {
		const struct btf_type *t = btf_type_at(btf, r->old_start + i);

		for (uint32_t k = 0; btf_is_composite(t) && k < btf_vlen(t); k++)
			mark_within(r, btf_members(t)[k].type);
	}
	for (uint32_t id = 1; id < r->old_start; id++)
		TRY(find_in_new_base(r, id));

	_cleanup_(btf__freep) struct btf *made = btf__new_empty_split((struct btf *)r->to);
	if (!made)
		return error_nomem();
	for (uint32_t i = 0; i < btf->n; i++)
		TRY(added(btf_add_copy(made, btf, btf_type_at(btf, r->old_start + i), relocated_id,
				       r)));
	*out = steal_ptr(made);
	return NULL;
}

int btf__relocate(struct btf *btf, const struct btf *base_btf)
{
	struct btf *made = NULL;

	if (!btf || !base_btf || !btf->base || base_btf == btf)
		return edge_errno(EINVAL);
	struct relocation r = {.btf = btf,
			       .to = base_btf,
			       .old_start = btf->start_id,
			       .new_start = btf__type_cnt(base_btf)};
	struct error *err = relocate(&r, &made);
	free(r.ids);
	free(r.within);
	if (err)
		return edge_int(err);

	/* What is the caller's own stays; all else changes places. */
	made->swap = btf->swap;
	made->ptr_size = btf->ptr_size;
	made->ptr_size_set = btf->ptr_size_set;
	made->fd = btf->fd;
	btf->fd = -1;
	const struct btf old = *btf;
	*btf = *made;
	*made = old;
	btf__free(made);
	return 0;
}
