/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are kept because they may be asked for again: a hash table of entries of any size,
 * which the caller makes and compares. Memory is bounded; when it is used up, all is forgotten:
 * what is asked for again and again is soon back, and there is no order to keep.
 *
 *	struct memo memo = {.max_slots = 65536, .max_bytes = 8 << 20};
 *	const uint32_t hash = …;	// of the key
 *	struct memo_at at = memo_first(hash);
 *	while ((entry = memo_next(&memo, &at)))
 *		if (… entry has the key …)
 *			return entry;
 *	entry = memo_add(&memo, hash, size);	// NULL: no memory
 *
 * An entry stays where it is until the next memo_add(). The slots are small, so that they stay in
 * the CPU's caches, and an entry is in one piece: what is known costs one or two places in memory.
 */
#ifndef PB_BASE_MEMO_H
#define PB_BASE_MEMO_H

#include <stddef.h>
#include <stdint.h>

struct memo_slot {
	uint32_t hash;
	uint32_t at; /* of the entry in the bytes, in words, and 1; 0: the slot is free */
};

struct memo {
	size_t max_slots; /* a power of 2 from 1024; three quarters of them are used */
	size_t max_bytes; /* a power of 2 from 65536, below 2^34; no entry is larger than 65536 */
	struct memo_slot *slots;
	size_t n_slots, n;
	char *bytes;
	size_t size, room;
};

/* Where a search is. */
struct memo_at {
	uint32_t hash;
	size_t slot;
};

void memo_deinit(struct memo *memo);

static inline struct memo_at memo_first(uint32_t hash)
{
	return (struct memo_at){hash, hash};
}

/* The next entry that was added with the hash; NULL: there are no more. */
static inline void *memo_next(const struct memo *memo, struct memo_at *at)
{
	if (!memo->n_slots)
		return NULL;
	for (;;) {
		const struct memo_slot *slot = &memo->slots[at->slot++ & (memo->n_slots - 1)];

		if (!slot->at)
			return NULL;
		if (slot->hash == at->hash)
			return memo->bytes + (size_t)(slot->at - 1) * 8;
	}
}

/* An entry of size bytes, aligned for words, for the caller to fill. NULL: no memory. */
void *memo_add(struct memo *memo, uint32_t hash, size_t size);

#endif
