// SPDX-License-Identifier: BSD-2-Clause
/*
 * BTF for the kernel at hand. A kind that it does not know becomes one that it
 * knows and whose record takes the same bytes, so that nothing moves and every
 * id keeps its meaning (kernel/bpf/btf.c, the *_check_meta() functions, say
 * what is accepted):
 *
 *	VAR		INT of a byte		both have one word behind them
 *	DATASEC		STRUCT			entries of three words
 *	FUNC_PROTO	ENUM			entries of two words
 *	FUNC		TYPEDEF			none
 *	FLOAT		STRUCT of no members	none
 *	DECL_TAG	INT of a byte		one word
 *	TYPE_TAG	CONST			none
 *	ENUM64		UNION			entries of three words
 *
 * Independent of the kernel's age, what is extern must become something that
 * the kernel takes: it knows only variables and functions that are there.
 */
#include "lib/btf/sanitize.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/btf/internal.h"

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))

/* VAR's and FUNC's linkage of what is defined elsewhere. */
#define LINKAGE_GLOBAL 1
#define LINKAGE_EXTERN 2

static bool is_extern_section(const char *name)
{
	return !strcmp(name, ".kconfig") || !strcmp(name, ".ksyms");
}

/* Whether the type must change for a kernel with these features. */
static bool must_change(const struct btf *btf, const struct btf_type *t, uint32_t features)
{
	const char *name = btf_name(btf, t);

	switch (btf_kind(t)) {
	case BTF_KIND_VAR:
		return !(features & BTF_FEAT_DATASEC) || btf_var(t)->linkage == LINKAGE_EXTERN;
	case BTF_KIND_DATASEC:
		return !(features & BTF_FEAT_DATASEC) || is_extern_section(name) || !t->size ||
		       (!(features & BTF_FEAT_QMARK_DATASEC) && strchr(name, '?'));
	case BTF_KIND_FUNC_PROTO:
		return !(features & BTF_FEAT_FUNC);
	case BTF_KIND_FUNC:
		return !(features & BTF_FEAT_FUNC) || btf_vlen(t) == LINKAGE_EXTERN ||
		       (!(features & BTF_FEAT_FUNC_GLOBAL) && btf_vlen(t));
	case BTF_KIND_FLOAT:
		return !(features & BTF_FEAT_FLOAT);
	case BTF_KIND_DECL_TAG:
		return !(features & BTF_FEAT_DECL_TAG);
	case BTF_KIND_TYPE_TAG:
		return !(features & BTF_FEAT_TYPE_TAG);
	case BTF_KIND_ENUM64:
		return !(features & BTF_FEAT_ENUM64);
	case BTF_KIND_ENUM:
		return !t->size || (!(features & BTF_FEAT_ENUM64) && btf_kflag(t));
	default:
		return false;
	}
}

static void make_byte(struct btf_type *t)
{
	t->info = INFO(BTF_KIND_INT, 0);
	t->size = 1;
	*(uint32_t *)(t + 1) = 8; /* bits */
}

/* A name that a struct may have; '.' and '?' are none of C's. */
static int c_name(struct btf *btf, const char *name)
{
	_cleanup_free_ char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	for (char *p = copy; *p; p++)
		if (*p == '.' || *p == '?')
			*p = '_';
	return btf__add_str(btf, copy);
}

/* *placeholder is a type of 8 bytes for members that only keep a place; 0: none yet. */
static struct error *need_placeholder(struct btf *btf, int *placeholder)
{
	if (!*placeholder)
		*placeholder = btf__add_int(btf, "placeholder", 8, 0);
	return *placeholder < 0 ? error_nomem() : NULL;
}

static struct error *change_datasec(struct btf *btf, uint32_t id, uint32_t features,
				    int *placeholder)
{
	const struct btf_type *old = btf_type_at(btf, id);
	const bool drop = is_extern_section(btf_name(btf, old)) || !old->size;
	const bool is_known = features & BTF_FEAT_DATASEC;
	const int name = c_name(btf, btf_name(btf, old));

	if (name < 0)
		return error_nomem();
	if (drop)
		TRY(need_placeholder(btf, placeholder));
	struct btf_type *t = btf_type_writable(btf, id);
	const uint32_t vlen = btf_vlen(t);
	t->name_off = (uint32_t)name;
	if (is_known && !drop)
		return NULL;

	/* A section may hold functions too, which are no members: only the place is kept. */
	struct btf_var_secinfo *vars = btf_var_secinfos(t);
	const uint32_t size = t->size;
	t->info = INFO(drop ? BTF_KIND_UNION : BTF_KIND_STRUCT, vlen);
	if (drop)
		t->size = 8;
	for (uint32_t i = 0; i < vlen; i++) {
		const struct btf_var_secinfo var = vars[i];
		const struct btf_type *v = btf__type_by_id(btf, var.type);
		struct btf_member *m = &btf_members(t)[i];

		m->name_off = drop || !v ? 0 : v->name_off;
		m->type = drop ? (uint32_t)*placeholder : var.type;
		m->offset = drop ? 0 : var.offset * 8;
		if (!drop && var.offset >= size)
			m->offset = 0;
	}
	return NULL;
}

/* The kernel wants parameters of functions to have names. */
static struct error *name_params(struct btf *btf, uint32_t proto)
{
	const int name = btf__add_str(btf, "arg");
	const struct btf_type *t = btf__type_by_id(btf, proto);

	if (name < 0)
		return error_nomem();
	if (!t || !btf_is_func_proto(t) || proto < btf->start_id)
		return NULL;
	struct btf_param *params = btf_params(btf_type_writable(btf, proto));
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (!params[i].name_off && params[i].type)
			params[i].name_off = (uint32_t)name;
	return NULL;
}

static struct error *change_func(struct btf *btf, uint32_t id, uint32_t features)
{
	struct btf_type *t = btf_type_writable(btf, id);

	if (!(features & BTF_FEAT_FUNC)) {
		t->info = INFO(BTF_KIND_TYPEDEF, 0);
		return NULL;
	}
	const bool is_extern = btf_vlen(t) == LINKAGE_EXTERN;
	t->info = INFO(BTF_KIND_FUNC, features & BTF_FEAT_FUNC_GLOBAL ? LINKAGE_GLOBAL : 0);
	return is_extern ? name_params(btf, t->type) : NULL;
}

static struct error *change_enum64(struct btf *btf, uint32_t id, int *placeholder)
{
	TRY(need_placeholder(btf, placeholder));
	struct btf_type *t = btf_type_writable(btf, id);
	const uint32_t vlen = btf_vlen(t);

	t->info = INFO(BTF_KIND_UNION, vlen);
	t->size = 8;
	for (uint32_t i = 0; i < vlen; i++) {
		btf_members(t)[i].type = (uint32_t)*placeholder;
		btf_members(t)[i].offset = 0;
	}
	return NULL;
}

static struct error *change(struct btf *btf, uint32_t id, uint32_t features, int *placeholder)
{
	struct btf_type *t = btf_type_writable(btf, id);

	switch (btf_kind(t)) {
	case BTF_KIND_VAR:
		/* An extern one may be of no size, which a variable here may not. */
		make_byte(t);
		return NULL;
	case BTF_KIND_DATASEC:
		return change_datasec(btf, id, features, placeholder);
	case BTF_KIND_FUNC_PROTO: {
		/* Parameters are pairs of name and type, as an enumeration's of name and value. */
		t->info = INFO(BTF_KIND_ENUM, btf_vlen(t));
		t->size = sizeof(uint32_t);
		return NULL;
	}
	case BTF_KIND_FUNC:
		return change_func(btf, id, features);
	case BTF_KIND_FLOAT:
		t->info = INFO(BTF_KIND_STRUCT, 0);
		return NULL;
	case BTF_KIND_DECL_TAG:
		make_byte(t);
		return NULL;
	case BTF_KIND_TYPE_TAG:
		t->name_off = 0;
		t->info = INFO(BTF_KIND_CONST, 0);
		return NULL;
	case BTF_KIND_ENUM64:
		return change_enum64(btf, id, placeholder);
	case BTF_KIND_ENUM:
		/* No kernel takes one that is only declared. */
		if (!t->size)
			t->size = 4;
		if (!(features & BTF_FEAT_ENUM64))
			t->info = INFO(BTF_KIND_ENUM, btf_vlen(t));
		return NULL;
	default:
		return NULL;
	}
}

struct error *btf_sanitize(const struct btf *obj, uint32_t features, struct btf **out)
{
	_cleanup_(btf__freep) struct btf *copy = NULL;
	int placeholder = 0;

	*out = NULL;
	for (uint32_t id = btf_start_id(obj); id < btf__type_cnt(obj); id++) {
		if (!must_change(obj, btf_type_at(obj, id), features))
			continue;
		if (!copy) {
			uint32_t size;
			const void *raw = btf__raw_data(obj, &size);

			copy = raw ? btf__new_split(raw, size, (struct btf *)obj->base) : NULL;
			if (!copy)
				return error_nomem();
			TRY(btf_make_writable(copy));
		}
		TRY(change(copy, id, features, &placeholder));
	}
	if (copy)
		btf_forget_derived(copy);
	*out = steal_ptr(copy);
	return NULL;
}

static int var_order(const void *a_, const void *b_)
{
	const struct btf_var_secinfo *a = a_, *b = b_;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static struct error *fix_datasec(struct btf *btf, uint32_t id, const struct btf_layout *layout)
{
	const char *section = btf_name(btf, btf_type_at(btf, id));
	uint32_t size;

	if (is_extern_section(section) || btf_type_at(btf, id)->size ||
	    !layout->section_size(layout->ctx, section, &size))
		return NULL;
	TRY(btf_make_types_writable(btf));
	struct btf_type *t = btf_type_writable(btf, id);
	struct btf_var_secinfo *vars = btf_var_secinfos(t);

	section = btf_name(btf, t);
	t->size = size;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *var = btf__type_by_id(btf, vars[i].type);
		uint32_t offset;

		if (var && btf_is_var(var) &&
		    layout->symbol_offset(layout->ctx, section, btf_name(btf, var), &offset))
			vars[i].offset = offset;
	}
	qsort(vars, btf_vlen(t), sizeof(*vars), var_order);
	return NULL;
}

/* ---- places of extern variables ---- */

struct extern_place {
	struct btf_var_secinfo info;
	const char *name;
	uint32_t align;
};

static int extern_order(const void *a_, const void *b_)
{
	const struct extern_place *a = a_, *b = b_;

	if (a->align != b->align)
		return a->align > b->align ? -1 : 1;
	if (a->info.size != b->info.size)
		return a->info.size < b->info.size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static struct error *place_externs(struct btf *btf, uint32_t id)
{
	TRY(btf_make_writable(btf));
	struct btf_type *t = btf_type_writable(btf, id);
	const uint32_t n = btf_vlen(t);
	_cleanup_free_ struct extern_place *places = calloc(n ? n : 1, sizeof(*places));

	if (!places)
		return error_nomem();
	for (uint32_t i = 0; i < n; i++) {
		struct extern_place *place = &places[i];
		const struct btf_type *var = btf__type_by_id(btf, btf_var_secinfos(t)[i].type);

		if (!var || !btf_is_var(var))
			return error_new(EBADMSG,
					 "BTF: section %s contains an entry that is not a variable",
					 btf_name(btf, t));
		const int64_t size = btf__resolve_size(btf, var->type);
		const int align = btf__align_of(btf, var->type);

		place->info.type = btf_var_secinfos(t)[i].type;
		place->name = btf_name(btf, var);
		if (size <= 0 || size > 4096)
			return error_new(EBADMSG, "extern '%s' has no usable size", place->name);
		place->info.size = (uint32_t)size;
		place->align = align > 0 && !(align & (align - 1)) ? (uint32_t)align : 8;
	}
	qsort(places, n, sizeof(*places), extern_order);
	t->size = 0;
	for (uint32_t i = 0; i < n; i++) {
		places[i].info.offset = (uint32_t)round_up(t->size, places[i].align);
		t->size = places[i].info.offset + places[i].info.size;
		btf_var_secinfos(t)[i] = places[i].info;
	}
	return NULL;
}

struct error *btf_fix_datasecs(struct btf *btf, const struct btf_layout *layout)
{
	for (uint32_t id = btf_start_id(btf); id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf_type_at(btf, id);

		if (btf_kind(t) != BTF_KIND_DATASEC)
			continue;
		TRY(strcmp(btf_name(btf, t), ".kconfig") ? fix_datasec(btf, id, layout)
							 : place_externs(btf, id));
	}
	return NULL;
}

struct error *btf_hide_funcs(struct btf *btf, bool (*is_hidden)(void *ctx, const char *name),
			     void *ctx)
{
	for (uint32_t id = btf_start_id(btf); id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf_type_at(btf, id);

		if (btf_kind(t) != BTF_KIND_FUNC || btf_vlen(t) != BTF_FUNC_GLOBAL ||
		    !is_hidden(ctx, btf_name(btf, t)))
			continue;
		TRY(btf_make_types_writable(btf));
		btf_type_writable(btf, id)->info = INFO(BTF_KIND_FUNC, BTF_FUNC_STATIC);
	}
	return NULL;
}
