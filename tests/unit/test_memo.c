// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "lib/base/memo.h"

struct entry {
	uint64_t key;
	uint32_t size;
	unsigned char bytes[];
};

static struct entry *find(const struct memo *memo, uint32_t hash, uint64_t key)
{
	struct memo_at at = memo_first(hash);
	struct entry *entry;

	while ((entry = memo_next(memo, &at)))
		if (entry->key == key)
			return entry;
	return NULL;
}

/* size: of the bytes, which are all the last one of the key. */
static void add(struct memo *memo, uint32_t hash, uint64_t key, uint32_t size)
{
	struct entry *entry = memo_add(memo, hash, sizeof(*entry) + size);

	assert_non_null(entry);
	assert_int_equal((uintptr_t)entry % 8, 0);
	entry->key = key;
	entry->size = size;
	memset(entry->bytes, (int)(key & 0xff), size);
}

static void check(const struct entry *entry, uint32_t size)
{
	assert_int_equal(entry->size, size);
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(entry->bytes[i], entry->key & 0xff);
}

/* Entries of one hash stand next to each other, also around the end of the slots. */
TEST(entries_of_one_hash_are_all_found)
{
	struct memo memo = {.max_slots = 4096, .max_bytes = 1 << 20};

	assert_null(find(&memo, 5, 0));
	for (uint64_t key = 0; key < 2000; key++)
		add(&memo, key % 2 ? UINT32_MAX : (uint32_t)key, key, (uint32_t)(key % 50));
	for (uint64_t key = 0; key < 2000; key++) {
		struct entry *entry = find(&memo, key % 2 ? UINT32_MAX : (uint32_t)key, key);

		assert_non_null(entry);
		check(entry, (uint32_t)(key % 50));
	}
	assert_null(find(&memo, UINT32_MAX, 2));
	assert_null(find(&memo, UINT32_MAX, 2001));
	memo_deinit(&memo);
	assert_null(find(&memo, UINT32_MAX, 1));
	add(&memo, 7, 7, 7);
	check(find(&memo, 7, 7), 7);
	memo_deinit(&memo);
}

/* How many of 100,000 entries are known in the end; the last one is. */
static size_t known_of_many(struct memo *memo, uint32_t size)
{
	const uint64_t n = 100000;
	size_t n_known = 0;

	for (uint64_t key = 0; key < n; key++) {
		add(memo, (uint32_t)(key * 2654435761u), key, size);
		assert_non_null(find(memo, (uint32_t)(key * 2654435761u), key));
	}
	for (uint64_t key = 0; key < n; key++) {
		const struct entry *entry = find(memo, (uint32_t)(key * 2654435761u), key);

		if (entry)
			check(entry, size);
		n_known += !!entry;
	}
	assert_true(memo->n_slots <= memo->max_slots && memo->room <= memo->max_bytes);
	memo_deinit(memo);
	return n_known;
}

TEST(a_full_one_forgets)
{
	struct memo few_slots = {.max_slots = 4096, .max_bytes = 16 << 20};
	struct memo few_bytes = {.max_slots = 1 << 20, .max_bytes = 1 << 20};

	/* 3072 of the slots are used; 100,000 % 3072 is 1696 */
	assert_int_equal(known_of_many(&few_slots, 1), 1696);
	/* of 1016 bytes each, 1032 have room; 100,000 % 1032 is 928 */
	assert_int_equal(known_of_many(&few_bytes, 1000), 928);
}
