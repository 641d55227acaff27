// SPDX-License-Identifier: BSD-2-Clause
/*
 * One type instead of many that are the same. A linker puts the types of many
 * compilation units one behind the other; each unit has its own copy of every
 * header's structs, and a unit that saw only "struct task;" has a forward
 * declaration of it instead.
 *
 * Two types are the same when no walk along their references can tell them
 * apart. Structs may refer to themselves, so that is not found from the leaves
 * up but by supposing it: a list of pairs that have to be the same begins with
 * the two; each pair that is taken from it must agree in what it is itself
 * (kind, name, size, members' names and places), and puts the pairs it refers
 * to on the list, unless they were there before. When the list is empty without
 * a contradiction, all pairs seen are the same; at the first contradiction none
 * is. A forward declaration agrees with a struct of its name, which then stands
 * for it.
 *
 *	1  strings: each is kept once, those that nobody refers to go
 *	2  numbers, enumerations, forward declarations: by their content
 *	3  structs and unions: candidates by a hash of what they are themselves,
 *	   then the walk
 *	4  forward declarations that are left: by their name, where one struct has it
 *	5  all that refers: from the leaves up, by content with references
 *	   replaced; structs are leaves now. Variables and sections stay as they are.
 *	6  what stands for itself is moved together
 *
 * What it must never do: recurse (references may go on for as long as the file
 * is), change the BTF before all memory is there, or take time beyond a multiple
 * of the types: walks have a budget, and when that is used up the remaining
 * structs are taken for different. Types of a base are stood for, never changed.
 */
#include "lib/btf/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/btf/rewrite.h"

/* Steps of walks: some for each type, and enough for what is small. */
#define STEPS_PER_TYPE 200
#define STEPS_FREE     (1 << 20)

struct pair {
	uint32_t a, b;
};

struct dedup {
	const struct btf *btf;
	uint32_t start, cnt; /* own types: start … cnt - 1 */
	uint8_t *types;	     /* own, with the names' new offsets; references are replaced in it */
	uint32_t *map;	     /* per own type: what stands for it, maybe by steps */
	uint64_t budget;
	bool force_collisions;

	/* Types by hash: chains through next, both by id + 1. */
	uint32_t *heads;
	uint32_t mask;
	uint32_t *next;

	/* Of the walk that is going on. */
	VEC(struct pair) work;
	VEC(struct pair) seen;
	uint64_t *slots; /* hash set of seen: a << 32 | b; 0: empty */
	size_t slots_mask;
	uint32_t *bound; /* per own type: the struct that a FWD is taken for; 0: none */
#define BOUND_TO_SEVERAL UINT32_MAX
};

static struct btf_type *own_type(const struct dedup *d, uint32_t id)
{
	return (struct btf_type *)(d->types + d->btf->offs[id - d->start]);
}

static const struct btf_type *type_at(const struct dedup *d, uint32_t id)
{
	return id < d->start ? btf_type_at(d->btf, id) : own_type(d, id);
}

/* What stands for a type. */
static uint32_t resolve(const struct dedup *d, uint32_t id)
{
	while (id >= d->start && d->map[id - d->start] != id) {
		uint32_t *up = &d->map[id - d->start];

		/* Shorten the way for the next one. */
		if (*up >= d->start)
			*up = d->map[*up - d->start];
		id = *up;
	}
	return id;
}

/* A step; false: no more are to be made, and what is left is taken for different. */
static bool spend(struct dedup *d)
{
	if (!d->budget)
		return false;
	d->budget--;
	return true;
}

/* ---- types by hash ---- */

static void table_clear(struct dedup *d)
{
	memset(d->heads, 0, ((size_t)d->mask + 1) * sizeof(*d->heads));
}

static uint32_t *table_head(struct dedup *d, uint64_t hash)
{
	return &d->heads[d->force_collisions ? 0 : hash_u64(hash) & d->mask];
}

static void table_add(struct dedup *d, uint64_t hash, uint32_t id)
{
	uint32_t *head = table_head(d, hash);

	d->next[id] = *head;
	*head = id + 1;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static uint64_t hash_words(uint64_t hash, const void *data, size_t bytes)
{
	const uint32_t *words = data;

	for (size_t i = 0; i < bytes / 4; i++)
		hash = mix(hash, words[i]);
	return hash;
}

static size_t extra_of(const struct btf_type *t)
{
	const int extra = btf_extra_size(btf_kind(t), btf_vlen(t));

	return extra > 0 ? (size_t)extra : 0;
}

static bool same_bytes(const struct btf_type *a, const struct btf_type *b)
{
	return a->name_off == b->name_off && a->info == b->info && a->size == b->size &&
	       !memcmp(a + 1, b + 1, extra_of(a));
}

/* ---- numbers, enumerations, forward declarations ---- */

static bool is_plain(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD:
		return true;
	}
	return false;
}

/* "enum e;" as BTF has it: without values. */
static bool is_enum_fwd(const struct btf_type *t)
{
	return btf_is_any_enum(t) && !btf_vlen(t) && t->name_off;
}

static uint64_t plain_hash(const struct btf_type *t)
{
	if (btf_is_any_enum(t) && t->name_off) /* one without values has to find the others */
		return mix(BTF_KIND_ENUM, t->name_off);
	return hash_words(mix(t->name_off, t->info), &t->size, sizeof(t->size) + extra_of(t));
}

/* Whether b may stand for a. */
static bool plain_same(const struct btf_type *a, const struct btf_type *b)
{
	if (btf_is_fwd(a) && btf_is_fwd(b)) /* its third word means nothing */
		return a->name_off == b->name_off && btf_kflag(a) == btf_kflag(b);
	if (btf_is_any_enum(a) && btf_is_any_enum(b) && a->name_off == b->name_off &&
	    (is_enum_fwd(a) || is_enum_fwd(b)))
		return !a->size || !b->size || a->size == b->size;
	return same_bytes(a, b);
}

static void dedup_plain(struct dedup *d)
{
	table_clear(d);
	for (uint32_t id = 1; id < d->cnt; id++) {
		const struct btf_type *t = type_at(d, id);
		uint32_t other = 0;

		if (!is_plain(t))
			continue;
		const uint64_t hash = btf_is_fwd(t) ? mix(t->name_off, t->info) : plain_hash(t);
		for (uint32_t at = id >= d->start ? *table_head(d, hash) : 0;
		     at && !other && spend(d); at = d->next[at - 1])
			if (plain_same(t, type_at(d, at - 1)))
				other = at - 1;
		if (other && is_enum_fwd(type_at(d, other)) && !is_enum_fwd(t)) {
			/* The one with values stands for the other. */
			if (other >= d->start)
				d->map[other - d->start] = id;
			other = 0;
		}
		if (other)
			d->map[id - d->start] = resolve(d, other);
		else
			table_add(d, hash, id);
	}
}

/* ---- structs and unions ---- */

static bool is_composite(const struct btf_type *t)
{
	return btf_is_struct(t) || btf_is_union(t);
}

static uint64_t shape_hash(const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);
	uint64_t hash = mix(mix(t->name_off, t->info), t->size);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		hash = mix(hash, (uint64_t)m[i].name_off << 32 | m[i].offset);
	return hash;
}

static bool same_shape(const struct btf_type *a, const struct btf_type *b)
{
	const struct btf_member *x = btf_members(a), *y = btf_members(b);

	if (a->name_off != b->name_off || a->info != b->info || a->size != b->size)
		return false;
	for (uint32_t i = 0; i < btf_vlen(a); i++)
		if (x[i].name_off != y[i].name_off || x[i].offset != y[i].offset)
			return false;
	return true;
}

static void walk_forget(struct dedup *d)
{
	struct pair *p;

	/* A short walk over a long table is forgotten pair by pair. */
	vec_for_each (p, &d->seen) {
		const uint64_t key = (uint64_t)p->a << 32 | p->b;
		size_t i = hash_u64(key) & d->slots_mask;

		for (; d->slots[i]; i = (i + 1) & d->slots_mask)
			d->slots[i] = 0;
		for (int side = 0; side < 2; side++) {
			const uint32_t id = side ? p->b : p->a;

			if (id >= d->start)
				d->bound[id - d->start] = 0;
		}
	}
	d->seen.n = 0;
	d->work.n = 0;
}

static bool slots_grow(struct dedup *d)
{
	const size_t mask = d->slots ? d->slots_mask * 2 + 1 : 1023;
	uint64_t *slots = calloc(mask + 1, sizeof(*slots));
	struct pair *p;

	if (!slots)
		return false;
	vec_for_each (p, &d->seen) {
		const uint64_t key = (uint64_t)p->a << 32 | p->b;
		size_t i = hash_u64(key) & mask;

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = key;
	}
	free(d->slots);
	d->slots = slots;
	d->slots_mask = mask;
	return true;
}

/* Notes that a and b were compared; *is_new: they were not before. */
static struct error *see_pair(struct dedup *d, uint32_t a, uint32_t b, bool *is_new)
{
	const uint64_t key = (uint64_t)a << 32 | b;

	if ((!d->slots || (d->seen.n + 1) * 2 > d->slots_mask) && !slots_grow(d))
		return error_nomem();
	size_t i = hash_u64(key) & d->slots_mask;
	while (d->slots[i] && d->slots[i] != key)
		i = (i + 1) & d->slots_mask;
	*is_new = !d->slots[i];
	if (!*is_new)
		return NULL;
	struct pair *p = vec_push(&d->seen);
	if (!p)
		return error_nomem();
	*p = (struct pair){a, b};
	d->slots[i] = key;
	return NULL;
}

static struct error *suppose(struct dedup *d, uint32_t a, uint32_t b)
{
	struct pair *p;

	if (a == b)
		return NULL;
	p = vec_push(&d->work);
	if (!p)
		return error_nomem();
	*p = (struct pair){a, b};
	return NULL;
}

/*
 * A forward declaration is taken for a struct. For two that differ it may be
 * taken on the side that goes: nothing is lost with it. On the side that stays
 * both would have to be meant.
 */
static struct error *bind_fwd(struct dedup *d, uint32_t fwd, uint32_t composite, bool stays,
			      bool *same)
{
	const struct btf_type *f = type_at(d, fwd), *t = type_at(d, composite);

	*same = fwd >= d->start && is_composite(t) && btf_kflag(f) == btf_is_union(t);
	if (!*same)
		return NULL;
	uint32_t *bound = &d->bound[fwd - d->start];
	if (!*bound) {
		*bound = composite;
	} else if (stays) {
		*same = *bound != BOUND_TO_SEVERAL;
		if (*same)
			return suppose(d, *bound, composite);
	} else if (*bound != composite) {
		*bound = BOUND_TO_SEVERAL;
	}
	return NULL;
}

/* One pair of different types: whether they agree, and what has to agree besides. */
static struct error *compare(struct dedup *d, uint32_t a, uint32_t b, bool *same)
{
	const struct btf_type *x = type_at(d, a), *y = type_at(d, b);
	const uint32_t vlen = btf_vlen(x);

	*same = false;
	if (x->name_off != y->name_off)
		return NULL;
	if (btf_kind(x) != btf_kind(y)) {
		if (btf_is_fwd(x))
			return bind_fwd(d, a, b, true, same);
		return btf_is_fwd(y) ? bind_fwd(d, b, a, false, same) : NULL;
	}
	switch (btf_kind(x)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (!same_shape(x, y))
			return NULL;
		for (uint32_t i = 0; i < vlen; i++)
			TRY(suppose(d, btf_members(x)[i].type, btf_members(y)[i].type));
		break;
	case BTF_KIND_ARRAY:
		if (btf_array(x)->nelems != btf_array(y)->nelems)
			return NULL;
		TRY(suppose(d, btf_array(x)->type, btf_array(y)->type));
		TRY(suppose(d, btf_array(x)->index_type, btf_array(y)->index_type));
		break;
	case BTF_KIND_FUNC_PROTO:
		if (x->info != y->info)
			return NULL;
		TRY(suppose(d, x->type, y->type));
		for (uint32_t i = 0; i < vlen; i++) /* names of parameters do not matter here */
			TRY(suppose(d, btf_params(x)[i].type, btf_params(y)[i].type));
		break;
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_FUNC:
		if (x->info != y->info)
			return NULL;
		TRY(suppose(d, x->type, y->type));
		break;
	default: /* of the plain ones, equals stand for each other already */
		return NULL;
	}
	*same = true;
	return NULL;
}

static bool is_bound_to_several(const struct dedup *d, uint32_t id)
{
	return id >= d->start && d->bound[id - d->start] == BOUND_TO_SEVERAL;
}

/* All pairs that were seen are the same: structs of the second kind are stood for. */
static void walk_accept(struct dedup *d)
{
	struct pair *p;

	vec_for_each (p, &d->seen) {
		uint32_t a = resolve(d, p->a), b = resolve(d, p->b);
		const struct btf_type *x = type_at(d, a), *y = type_at(d, b);

		if (a == b || (!is_composite(x) && !btf_is_fwd(x)) ||
		    (!is_composite(y) && !btf_is_fwd(y)))
			continue;
		if (is_bound_to_several(d, a) || is_bound_to_several(d, b))
			continue;
		/* A struct stands for a declaration, a base's type for an own one. */
		const bool first = btf_is_fwd(x) ? !btf_is_fwd(y) : !btf_is_fwd(y) && b < d->start;
		if (first && a >= d->start)
			d->map[a - d->start] = b;
		else if (b >= d->start)
			d->map[b - d->start] = a;
	}
}

/* Whether two types are the same all the way; then what belongs to b is stood for. */
static struct error *walk(struct dedup *d, uint32_t a, uint32_t b, bool *same)
{
	struct error *err = suppose(d, a, b);

	*same = true;
	while (!err && *same && d->work.n) {
		const struct pair p = d->work.v[--d->work.n];
		const uint32_t x = resolve(d, p.a), y = resolve(d, p.b);
		bool is_new = false;

		if (x == y)
			continue;
		if (!x || !y || !spend(d)) {
			*same = false;
			break;
		}
		err = see_pair(d, x, y, &is_new);
		if (!err && is_new)
			err = compare(d, x, y, same);
	}
	if (!err && *same)
		walk_accept(d);
	walk_forget(d);
	return err;
}

static struct error *dedup_structs(struct dedup *d)
{
	table_clear(d);
	for (uint32_t id = 1; id < d->cnt; id++) {
		const struct btf_type *t = type_at(d, id);
		bool same = false;

		if (!is_composite(t) || resolve(d, id) != id)
			continue;
		const uint64_t hash = shape_hash(t);
		for (uint32_t at = id >= d->start ? *table_head(d, hash) : 0; at && !same;
		     at = d->next[at - 1]) {
			const uint32_t other = resolve(d, at - 1);

			if (!spend(d))
				break;
			if (other != id && same_shape(type_at(d, at - 1), t))
				TRY(walk(d, other, id, &same));
		}
		if (!same)
			table_add(d, hash, id);
	}
	return NULL;
}

/*
 * Declarations for which one struct has the name: it is meant. A base's own
 * declaration of that name, which cannot be changed, gives way to it too.
 */
static void dedup_fwds(struct dedup *d)
{
	table_clear(d);
	for (uint32_t id = 1; id < d->cnt; id++) {
		const struct btf_type *t = type_at(d, id);

		if (is_composite(t) && t->name_off && resolve(d, id) == id)
			table_add(d, mix(t->name_off, btf_kind(t)), id);
	}
	for (uint32_t id = d->start; id < d->cnt; id++) {
		const struct btf_type *t = type_at(d, id);
		const uint32_t kind = btf_kflag(t) ? BTF_KIND_UNION : BTF_KIND_STRUCT;
		uint32_t found = 0, n = 0;

		const uint32_t now = resolve(d, id);
		if (!btf_is_fwd(t) ||
		    (now != id && (now >= d->start || !btf_is_fwd(type_at(d, now)))))
			continue;
		for (uint32_t at = *table_head(d, mix(t->name_off, kind)); at && n < 2;
		     at = d->next[at - 1]) {
			const struct btf_type *other = type_at(d, at - 1);

			if (other->name_off == t->name_off && btf_kind(other) == kind) {
				found = at - 1;
				n++;
			}
		}
		if (n == 1)
			d->map[id - d->start] = found;
	}
}

/* ---- what refers ---- */

static bool is_ref(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_ARRAY:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FUNC_PROTO:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_TYPE_TAG:
		return true;
	}
	return false;
}

static uint64_t ref_hash(const struct btf_type *t)
{
	const bool array = btf_is_array(t); /* its third word means nothing */

	return hash_words(mix(mix(t->name_off, t->info), array ? 0 : t->type), t + 1, extra_of(t));
}

static bool ref_same(const struct btf_type *a, const struct btf_type *b)
{
	return a->name_off == b->name_off && a->info == b->info &&
	       (btf_is_array(a) || a->type == b->type) && !memcmp(a + 1, b + 1, extra_of(a));
}

/* Its references are final: replaces them, and finds an equal one. */
static void ref_finish(struct dedup *d, uint32_t id)
{
	struct btf_type *t = own_type(d, id);
	struct btf_fields ids = btf_ids_of(t);

	for (uint32_t *ref; (ref = btf_fields_next(&ids));)
		*ref = resolve(d, *ref);
	const uint64_t hash = ref_hash(t);
	for (uint32_t at = *table_head(d, hash); at; at = d->next[at - 1]) {
		if (!ref_same(t, type_at(d, at - 1)))
			continue;
		d->map[id - d->start] = resolve(d, at - 1);
		return;
	}
	table_add(d, hash, id);
}

enum ref_state {
	REF_NEW,
	REF_BEGUN, /* on the stack; met again, it is a circle without a struct */
	REF_DONE,
};

static struct error *dedup_refs(struct dedup *d)
{
	_cleanup_free_ uint8_t *state = calloc(d->cnt - d->start + 1, sizeof(*state));
	VEC(uint32_t) stack = {0};
	struct error *err = state ? NULL : error_nomem();

	table_clear(d);
	for (uint32_t id = 1; id < d->start; id++)
		if (is_ref(type_at(d, id)))
			table_add(d, ref_hash(type_at(d, id)), id);
	for (uint32_t root = d->start; !err && root < d->cnt; root++) {
		uint32_t *slot;

		if (!is_ref(own_type(d, root)) || state[root - d->start] != REF_NEW)
			continue;
		slot = vec_push(&stack);
		if (!slot)
			err = error_nomem();
		else
			*slot = root;
		while (!err && stack.n) {
			const uint32_t id = *vec_last(&stack);
			uint8_t *mine = &state[id - d->start];

			if (*mine != REF_NEW) {
				stack.n--;
				if (*mine == REF_BEGUN)
					ref_finish(d, id);
				*mine = REF_DONE;
				continue;
			}
			*mine = REF_BEGUN;
			struct btf_fields ids = btf_ids_of(own_type(d, id));
			for (uint32_t *ref; !err && (ref = btf_fields_next(&ids));) {
				const uint32_t to = resolve(d, *ref);

				if (to < d->start || !is_ref(own_type(d, to)) ||
				    state[to - d->start] != REF_NEW)
					continue;
				slot = vec_push(&stack);
				if (!slot)
					err = error_nomem();
				else
					*slot = to;
			}
		}
	}
	vec_deinit(&stack);
	return err;
}

/* ---- all of it ---- */

static void dedup_deinit(struct dedup *d)
{
	free(d->types);
	free(d->map);
	free(d->heads);
	free(d->next);
	free(d->slots);
	free(d->bound);
	vec_deinit(&d->work);
	vec_deinit(&d->seen);
}

static struct error *dedup_init(struct dedup *d, const struct btf *btf,
				const struct btf_rewrite *rewrite)
{
	const size_t n = btf->n ? btf->n : 1;
	size_t slots = 64;

	d->btf = btf;
	d->start = btf->start_id;
	d->cnt = btf->start_id + btf->n;
	d->budget = (uint64_t)btf->n * STEPS_PER_TYPE + STEPS_FREE;
	while (slots < d->cnt)
		slots *= 2;
	d->mask = (uint32_t)(slots - 1);
	d->heads = malloc(slots * sizeof(*d->heads));
	d->next = malloc(d->cnt * sizeof(*d->next));
	d->map = malloc(n * sizeof(*d->map));
	d->bound = calloc(n, sizeof(*d->bound));
	d->types = malloc(btf->types_len ? btf->types_len : 1);
	if (!d->heads || !d->next || !d->map || !d->bound || !d->types)
		return error_nomem();
	memcpy(d->types, btf->types, btf->types_len);
	for (uint32_t i = 0; i < btf->n; i++) {
		struct btf_fields strs = btf_strs_of(own_type(d, d->start + i));

		d->map[i] = d->start + i;
		for (uint32_t *off; (off = btf_fields_next(&strs));)
			*off = btf_rewrite_str(rewrite, *off);
	}
	return NULL;
}

static struct error *dedup(struct btf *btf, struct btf_ext *ext, struct dedup *d)
{
	_cleanup_(btf_rewrite_deinit) struct btf_rewrite rewrite = {.btf = btf, .ext = ext};

	TRY(btf_rewrite_strings(&rewrite));
	TRY(dedup_init(d, btf, &rewrite));
	dedup_plain(d);
	TRY(dedup_structs(d));
	dedup_fwds(d);
	TRY(dedup_refs(d));

	TRY(btf_rewrite_init(&rewrite));
	for (uint32_t i = 0; i < btf->n; i++)
		if (d->map[i] == d->start + i) {
			rewrite.ids[i] = d->start + rewrite.n;
			rewrite.order[rewrite.n++] = i;
		}
	for (uint32_t i = 0; i < btf->n; i++) {
		const uint32_t id = resolve(d, d->start + i);

		if (id != d->start + i)
			rewrite.ids[i] = id < d->start ? id : rewrite.ids[id - d->start];
	}
	return btf_rewrite_commit(&rewrite);
}

int btf__dedup(struct btf *btf, const struct btf_dedup_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, btf_dedup_opts);
	struct dedup d = {.force_collisions = OPTS_GET(opts, force_collisions, false)};

	if (!err)
		err = dedup(btf, OPTS_GET(opts, btf_ext, NULL), &d);
	dedup_deinit(&d);
	return edge_int(err);
}
