// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/keyset.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

void keyset_deinit(struct keyset *set)
{
	free(set->slots);
	set->slots = NULL;
	set->n = set->mask = 0;
}

/* The slot of the key, or the empty one where it belongs. */
static uint32_t *find_slot(const struct keyset *set, const uint8_t *rows, const void *key)
{
	size_t at = hash_bytes(key, set->key_size) & set->mask;

	while (set->slots[at] &&
	       memcmp(rows + (size_t)(set->slots[at] - 1) * set->row_size, key, set->key_size))
		at = (at + 1) & set->mask;
	return &set->slots[at];
}

bool keyset_reserve(struct keyset *set, const void *rows, size_t more)
{
	size_t want = set->n + more, slots = set->slots ? set->mask + 1 : 1024;
	uint32_t *old = set->slots;

	if (want >= UINT32_MAX)
		return false;
	if (old && want <= slots / 4 * 3)
		return true;
	while (want > slots / 4 * 3)
		slots *= 2;
	uint32_t *grown = calloc(slots, sizeof(*grown));
	if (!grown)
		return false;
	size_t old_slots = old ? set->mask + 1 : 0;
	set->slots = grown;
	set->mask = slots - 1;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i])
			*find_slot(set, rows,
				   (const uint8_t *)rows + (size_t)(old[i] - 1) * set->row_size) =
				old[i];
	free(old);
	return true;
}

size_t keyset_add(struct keyset *set, const void *rows, size_t row)
{
	uint32_t *slot = find_slot(set, rows, (const uint8_t *)rows + row * set->row_size);

	if (*slot)
		return *slot - 1;
	*slot = (uint32_t)row + 1;
	set->n++;
	return row;
}

size_t keyset_find(const struct keyset *set, const void *rows, const void *key)
{
	uint32_t *slot = set->slots ? find_slot(set, rows, key) : NULL;

	return slot && *slot ? *slot - 1 : SIZE_MAX;
}
