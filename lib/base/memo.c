// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/memo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024
#define FIRST_BYTES (64 << 10)

void memo_deinit(struct memo *memo)
{
	free(memo->slots);
	free(memo->bytes);
	*memo = (struct memo){.max_slots = memo->max_slots, .max_bytes = memo->max_bytes};
}

static void forget(struct memo *memo)
{
	memset(memo->slots, 0, memo->n_slots * sizeof(*memo->slots));
	memo->n = memo->size = 0;
}

static void put(struct memo_slot *slots, size_t n_slots, struct memo_slot entry)
{
	size_t i = entry.hash;

	while (slots[i & (n_slots - 1)].at)
		i++;
	slots[i & (n_slots - 1)] = entry;
}

static bool grow_slots(struct memo *memo)
{
	const size_t n = memo->n_slots ? 2 * memo->n_slots : FIRST_SLOTS;
	struct memo_slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < memo->n_slots; i++)
		if (memo->slots[i].at)
			put(slots, n, memo->slots[i]);
	free(memo->slots);
	memo->slots = slots;
	memo->n_slots = n;
	return true;
}

static bool grow_bytes(struct memo *memo)
{
	const size_t room = memo->room ? 2 * memo->room : FIRST_BYTES;
	char *bytes = realloc(memo->bytes, room);

	if (!bytes)
		return false;
	memo->bytes = bytes;
	memo->room = room;
	return true;
}

void *memo_add(struct memo *memo, uint32_t hash, size_t size)
{
	const size_t taken = (size + 7) & ~(size_t)7;

	if (memo->n >= memo->n_slots / 4 * 3) {
		if (memo->n_slots >= memo->max_slots)
			forget(memo);
		else if (!grow_slots(memo))
			return NULL;
	}
	if (taken > memo->room - memo->size) {
		if (memo->room >= memo->max_bytes)
			forget(memo);
		else if (!grow_bytes(memo))
			return NULL;
	}
	if (taken > memo->room - memo->size)
		return NULL;
	char *entry = memo->bytes + memo->size;
	put(memo->slots, memo->n_slots, (struct memo_slot){hash, (uint32_t)(memo->size / 8) + 1});
	memo->n++;
	memo->size += taken;
	return entry;
}
