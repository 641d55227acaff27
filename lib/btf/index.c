// SPDX-License-Identifier: BSD-2-Clause
/*
 * Types by name. The kernel's BTF has some 100,000 named types; CO-RE and
 * tracing look up a few of them, each by a name that may have several types
 * (a struct and a typedef, or two structs of different modules), and CO-RE
 * also by what is left of a name without its ___flavor. So the table is keyed
 * on the hash of that essential name: the first entry of each bucket, and
 * chains of entries in ascending order of ids. Building it compares no names;
 * a look-up compares those of equal hash.
 *
 * There are two such tables: one of functions, which are three quarters of the
 * kernel's names and which only fentry and the like ask for, one of the rest.
 * Each is built once, when first asked for, by a pass over the types. For the
 * first few questions a plain search is cheaper, and needs no memory: an
 * object's own BTF is asked for a handful of names.
 */
#include "lib/btf/internal.h"

#include <stdlib.h>
#include <string.h>

struct index_entry {
	uint32_t hash;
	uint32_t id;
	uint32_t next; /* 1 + index of the next entry of the bucket; 0: none */
};

struct btf_index {
	uint32_t *heads; /* 1 + index of the bucket's first entry; 0: none */
	uint32_t mask;
	VEC(struct index_entry) entries; /* descending by id */
};

void btf_index_free(struct btf_index *index)
{
	if (!index)
		return;
	free(index->heads);
	vec_deinit(&index->entries);
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

/* Whether three bytes in a row are '_'. */
static inline bool has_three_underscores(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	const uint64_t x = word ^ ones * '_';
	/* the high bit of each byte that is '_', and by the borrow of others: a hint is enough */
	const uint64_t m = (x - ones) & ~x & highs;

	return m & m >> 8 & m >> 16;
}

static inline uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/*
 * Hash of n bytes. Words are taken every 6 bytes, so that each three bytes in
 * a row lie in one of them.
 */
static inline uint32_t hash_name(const char *name, size_t n, bool *may_be_flavored)
{
	uint64_t h = n, word = 0;
	bool found = false;

	if (n < sizeof(word)) {
		memcpy(&word, name, n);
		*may_be_flavored = has_three_underscores(word);
		return (uint32_t)mix(h, word);
	}
	for (size_t i = 0; i + sizeof(word) < n; i += 6) {
		memcpy(&word, name + i, sizeof(word));
		found |= has_three_underscores(word);
		h = mix(h, word);
	}
	memcpy(&word, name + n - sizeof(word), sizeof(word));
	*may_be_flavored = found | has_three_underscores(word);
	return (uint32_t)mix(h, word);
}

/* Hash of the essential name; *len its length. */
static uint32_t hash_essential(const char *name, size_t *len)
{
	const size_t n = strlen(name);
	bool may_be_flavored;
	const uint32_t h = hash_name(name, n, &may_be_flavored);

	*len = may_be_flavored ? btf_essential_len(name) : n;
	return *len == n ? h : hash_name(name, *len, &may_be_flavored);
}

static bool same_essential(const char *a, size_t a_len, const char *b)
{
	return strncmp(a, b, a_len) == 0 && (!b[a_len] || btf_essential_len(b) == a_len);
}

/* btf_name() of an own type, without a call where the name is the BTF's own too. */
static inline const char *own_name(const struct btf *btf, const struct btf_type *t)
{
	const uint32_t off = t->name_off - btf->start_str;

	return off < btf->strs_len ? btf->strs + off : btf_name(btf, t);
}

/* The table of functions, or of all that are none. */
static struct error *index_new(const struct btf *btf, bool funcs, struct btf_index **out)
{
	_cleanup_(btf_index_freep) struct btf_index *index = calloc(1, sizeof(*index));
	uint64_t buckets = 16;

	if (!index)
		return error_nomem();
	/* Every third type is a function, every fourth has another name. */
	while (buckets < btf->n / 4)
		buckets *= 2;
	index->mask = (uint32_t)(buckets - 1);
	index->heads = calloc(buckets, sizeof(*index->heads));
	if (!index->heads || !vec_reserve(&index->entries, btf->n / 4 + 16))
		return error_nomem();

	/* from the last to the first: each becomes the head of its bucket */
	for (uint32_t i = btf->n; i-- > 0;) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i]);
		size_t len;

		if (!t->name_off || btf_is_func(t) != funcs)
			continue;
		const char *name = own_name(btf, t);
		if (!*name)
			continue;
		if (index->entries.n == index->entries.cap &&
		    !vec_reserve(&index->entries, index->entries.n * 2))
			return error_nomem();
		struct index_entry *entry = &index->entries.v[index->entries.n++];
		entry->hash = hash_essential(name, &len);
		entry->id = btf->start_id + i;
		uint32_t *head = &index->heads[entry->hash & index->mask];
		entry->next = *head;
		*head = (uint32_t)index->entries.n;
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

/* The first entry of an essential name in a chain; NULL: none. */
static const struct index_entry *entry_in(const struct btf *btf, const struct btf_index *index,
					  uint32_t at, const char *name, size_t len, uint32_t hash)
{
	while (at) {
		const struct index_entry *entry = &index->entries.v[at - 1];

		if (entry->hash == hash &&
		    same_essential(name, len, btf_name(btf, btf_type_at(btf, entry->id))))
			return entry;
		at = entry->next;
	}
	return NULL;
}

static const struct index_entry *first_of(const struct btf *btf, const struct btf_index *index,
					  const char *name)
{
	size_t len;
	const uint32_t hash = hash_essential(name, &len);

	return entry_in(btf, index, index->heads[hash & index->mask], name, len, hash);
}

static const struct index_entry *next_of(const struct btf *btf, const struct btf_index *index,
					 const struct index_entry *entry)
{
	const char *name = btf_name(btf, btf_type_at(btf, entry->id));

	return entry_in(btf, index, entry->next, name, btf_essential_len(name), entry->hash);
}

uint32_t btf_find_first(const struct btf *btf, const char *name)
{
	const struct btf_index *index;
	_cleanup_error_ struct error *err = get_index(btf, false, &index);
	const struct index_entry *entry = err ? NULL : first_of(btf, index, name);

	return entry ? entry->id : 0;
}

uint32_t btf_find_next(const struct btf *btf, uint32_t id)
{
	const struct btf_index *index = btf->index[0];
	const size_t low =
		count_before(index ? index->entries.n : 0, i, index->entries.v[i].id > id);
	if (!index || low == index->entries.n || index->entries.v[low].id != id)
		return 0;
	const struct index_entry *next = next_of(btf, index, &index->entries.v[low]);
	return next ? next->id : 0;
}

/* A table costs as much as some searches: in the kernel's BTF 2 ms against 0.4 ms. */
#define SEARCHES_BEFORE_TABLE 4

/* The first own type of exactly that name, and that kind unless it is -1; 0: none. */
static uint32_t search(const struct btf *btf, bool funcs, const char *name, int kind)
{
	for (uint32_t i = 0; i < btf->n; i++) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i]);

		if (kind < 0 ? btf_is_func(t) != funcs : btf_kind(t) != kind)
			continue;
		if (!t->name_off)
			continue;
		const char *other = own_name(btf, t);
		if (str_equal(other, name))
			return btf->start_id + i;
	}
	return 0;
}

/* The same by way of the table, where there were many searches and there is memory. */
static uint32_t find_own(const struct btf *btf, bool funcs, const char *name, int kind)
{
	const struct btf_index *index;

	if (!btf->index[funcs] && btf->searches[funcs] < SEARCHES_BEFORE_TABLE) {
		/* a count, as the table is a cache */
		((struct btf *)btf)->searches[funcs]++;
		return search(btf, funcs, name, kind);
	}
	_cleanup_error_ struct error *err = get_index(btf, funcs, &index);
	if (err)
		return search(btf, funcs, name, kind);
	for (const struct index_entry *entry = first_of(btf, index, name); entry;
	     entry = next_of(btf, index, entry)) {
		const struct btf_type *t = btf_type_at(btf, entry->id);

		if ((kind < 0 || btf_kind(t) == kind) && strcmp(btf_name(btf, t), name) == 0)
			return entry->id;
	}
	return 0;
}

/* kind -1: any */
static int find(const struct btf *btf, const char *name, int kind)
{
	uint32_t type = 0, func = 0;

	if (btf->base) {
		int id = find(btf->base, name, kind);

		if (id != -ENOENT)
			return id;
	}
	if (kind != BTF_KIND_FUNC)
		type = find_own(btf, false, name, kind);
	if (kind == BTF_KIND_FUNC || kind < 0)
		func = find_own(btf, true, name, kind);
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
