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
 * It is built once, when first asked for: one pass over the names.
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

static struct error *index_new(const struct btf *btf, struct btf_index **out)
{
	_cleanup_(btf_index_freep) struct btf_index *index = calloc(1, sizeof(*index));
	uint64_t slots = 16;

	if (!index)
		return error_nomem();
	while (slots < (uint64_t)btf->n * 3 / 2)
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

		if (!t->name_off)
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

struct error *btf_index_build(const struct btf *btf)
{
	/* a cache: nothing of what can be seen changes */
	return btf->index ? NULL : index_new(btf, &((struct btf *)btf)->index);
}

uint32_t btf_find_first(const struct btf *btf, const char *name)
{
	size_t len;

	if (!btf->index) {
		_cleanup_error_ struct error *err = btf_index_build(btf);

		if (err)
			return 0;
	}
	uint32_t hash = hash_essential(name, &len);
	return find_slot(btf, btf->index, name, len, hash)->id;
}

uint32_t btf_find_next(const struct btf *btf, uint32_t id)
{
	return btf->index ? btf->index->next[id - btf->start_id] : 0;
}

/* kind -1: any */
static int find(const struct btf *btf, const char *name, int kind)
{
	if (btf->base) {
		int id = find(btf->base, name, kind);

		if (id != -ENOENT)
			return id;
	}
	struct error *err = btf_index_build(btf);
	if (err)
		return edge_int(err);
	for (uint32_t id = btf_find_first(btf, name); id; id = btf_find_next(btf, id)) {
		const struct btf_type *t = btf_type_at(btf, id);

		if ((kind < 0 || btf_kind(t) == kind) && strcmp(btf_name(btf, t), name) == 0)
			return id;
	}
	return edge_errno(ENOENT);
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
