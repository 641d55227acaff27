// SPDX-License-Identifier: BSD-2-Clause
/*
 * Types by name. The kernel's BTF has some 100,000 named types; CO-RE and
 * tracing look up a few of them, each by a name that may have several types
 * (a struct and a typedef, or two structs of different modules), and CO-RE
 * also by what is left of a name without its ___flavor. So the table is keyed
 * on that essential name: open addressing from its hash to the first type
 * that has it, and a chain through an array parallel to the types, in
 * ascending order of ids. An exact lookup compares along the chain.
 *
 * There are two such tables: one of functions, which are three quarters of the
 * kernel's names and which only fentry and the like ask for, one of the rest.
 * Each is built once, when first asked for: a pass over the types. For the
 * first few functions a plain search is cheaper than their table (0.7 ms each
 * in a kernel's BTF against 8 ms).
 */
#include "lib/btf/internal.h"

#include <stdlib.h>
#include <string.h>

struct slot {
	uint32_t hash;
	uint32_t id; /* 0: empty */
};

struct btf_index {
	struct slot *slots;
	uint32_t mask;
	uint32_t *next; /* per own type: the next id with this essential name; 0: none */
};

void btf_index_free(struct btf_index *index)
{
	if (!index)
		return;
	free(index->slots);
	free(index->next);
	free(index);
}
DEFINE_FREEP(struct btf_index, btf_index_free)

/*
 * A flavor begins at the last "___" that has a character on both sides that
 * is no underscore, as in task_struct___v2.
 */
static bool is_flavor_sep(const char *s)
{
	return s[0] != '_' && s[1] == '_' && s[2] == '_' && s[3] == '_' && s[4] && s[4] != '_';
}

size_t btf_essential_len(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = n; i >= 5; i--)
		if (is_flavor_sep(name + i - 5))
			return i - 4;
	return n;
}

/* Hash of the essential name; *len its length. One pass in the common case. */
static uint32_t hash_essential(const char *name, size_t *len)
{
	uint32_t h = 0x811c9dc5;
	unsigned int underscores = 0;
	bool flavored = false;
	size_t i;

	for (i = 0; name[i]; i++) {
		underscores = name[i] == '_' ? underscores + 1 : 0;
		flavored |= underscores == 3;
		h = (h ^ (uint8_t)name[i]) * 0x01000193;
	}
	if (flavored) {
		i = btf_essential_len(name);
		h = 0x811c9dc5;
		for (size_t k = 0; k < i; k++)
			h = (h ^ (uint8_t)name[k]) * 0x01000193;
	}
	*len = i;
	return h ^ h >> 15;
}

static bool same_essential(const char *a, size_t a_len, const char *b)
{
	return strncmp(a, b, a_len) == 0 && (!b[a_len] || btf_essential_len(b) == a_len);
}

/* The slot that has this essential name, or the empty one where it belongs. */
static struct slot *find_slot(const struct btf *btf, const struct btf_index *index,
			      const char *name, size_t len, uint32_t hash)
{
	for (uint32_t i = hash & index->mask;; i = (i + 1) & index->mask) {
		struct slot *slot = &index->slots[i];

		if (!slot->id)
			return slot;
		if (slot->hash == hash &&
		    same_essential(name, len, btf_name(btf, btf_type_at(btf, slot->id))))
			return slot;
	}
}

/* The table of functions, or of all that are none. */
static struct error *index_new(const struct btf *btf, bool funcs, struct btf_index **out)
{
	_cleanup_(btf_index_freep) struct btf_index *index = calloc(1, sizeof(*index));
	uint64_t slots = 16, n = 0;

	if (!index)
		return error_nomem();
	for (uint32_t i = 0; i < btf->n; i++) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i]);

		n += t->name_off && btf_is_func(t) == funcs;
	}
	while (slots < n * 3 / 2)
		slots *= 2;
	index->slots = calloc(slots, sizeof(*index->slots));
	index->next = calloc((size_t)btf->n + 1, sizeof(*index->next));
	if (!index->slots || !index->next)
		return error_nomem();
	index->mask = slots - 1;

	/* from the last to the first: each becomes the head of its chain */
	for (uint32_t i = btf->n; i-- > 0;) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i]);
		size_t len;

		if (!t->name_off || btf_is_func(t) != funcs)
			continue;
		const char *name = btf_name(btf, t);
		if (!*name)
			continue;
		uint32_t hash = hash_essential(name, &len);
		struct slot *slot = find_slot(btf, index, name, len, hash);
		index->next[i] = slot->id;
		slot->hash = hash;
		slot->id = btf->start_id + i;
	}
	*out = steal_ptr(index);
	return NULL;
}

/* The table for a kind, built when needed. */
static struct error *get_index(const struct btf *btf, bool funcs, const struct btf_index **out)
{
	/* a cache: nothing of what can be seen changes */
	struct btf_index **index = &((struct btf *)btf)->index[funcs];

	if (!*index)
		TRY(index_new(btf, funcs, index));
	*out = *index;
	return NULL;
}

struct error *btf_index_build(const struct btf *btf)
{
	const struct btf_index *index;

	return get_index(btf, false, &index);
}

static uint32_t first_of(const struct btf *btf, const struct btf_index *index, const char *name)
{
	size_t len;
	uint32_t hash = hash_essential(name, &len);

	return find_slot(btf, index, name, len, hash)->id;
}

uint32_t btf_find_first(const struct btf *btf, const char *name)
{
	const struct btf_index *index;
	_cleanup_error_ struct error *err = get_index(btf, false, &index);

	return err ? 0 : first_of(btf, index, name);
}

uint32_t btf_find_next(const struct btf *btf, uint32_t id)
{
	return btf->index[0] ? btf->index[0]->next[id - btf->start_id] : 0;
}

#define SEARCHES_BEFORE_TABLE 4

static uint32_t search_func(const struct btf *btf, const char *name)
{
	for (uint32_t i = 0; i < btf->n; i++) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i]);

		if (btf_is_func(t) && strcmp(btf_name(btf, t), name) == 0)
			return btf->start_id + i;
	}
	return 0;
}

/* The first own type of exactly that name, and that kind unless it is -1; 0: none. */
static struct error *find_own(const struct btf *btf, bool funcs, const char *name, int kind,
			      uint32_t *res)
{
	const struct btf_index *index;

	*res = 0;
	if (funcs && !btf->index[1] && btf->searches < SEARCHES_BEFORE_TABLE) {
		((struct btf *)btf)->searches++;
		*res = search_func(btf, name);
		return NULL;
	}
	TRY(get_index(btf, funcs, &index));
	for (uint32_t id = first_of(btf, index, name); id; id = index->next[id - btf->start_id]) {
		const struct btf_type *t = btf_type_at(btf, id);

		if ((kind < 0 || btf_kind(t) == kind) && strcmp(btf_name(btf, t), name) == 0) {
			*res = id;
			return NULL;
		}
	}
	return NULL;
}

/* kind -1: any */
static int find(const struct btf *btf, const char *name, int kind)
{
	uint32_t type = 0, func = 0;
	struct error *err = NULL;

	if (btf->base) {
		int id = find(btf->base, name, kind);

		if (id != -ENOENT)
			return id;
	}
	if (kind != BTF_KIND_FUNC)
		err = find_own(btf, false, name, kind, &type);
	if (!err && (kind == BTF_KIND_FUNC || kind < 0))
		err = find_own(btf, true, name, kind, &func);
	if (err)
		return edge_int(err);
	if (!type || (func && func < type))
		type = func;
	return type ? (int)type : edge_errno(ENOENT);
}

__s32 btf__find_by_name(const struct btf *btf, const char *type_name)
{
	return strcmp(type_name, "void") == 0 ? 0 : find(btf, type_name, -1);
}

__s32 btf__find_by_name_kind(const struct btf *btf, const char *type_name, __u32 kind)
{
	if (kind == BTF_KIND_UNKN || strcmp(type_name, "void") == 0)
		return 0;
	return kind > BTF_KIND_ENUM64 ? edge_errno(ENOENT) : find(btf, type_name, kind);
}
