// SPDX-License-Identifier: BSD-2-Clause
#include "show/mappings.h"

#include <string.h>

static bool equal(const struct result_mapping *a, const struct result_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

void result_mappings_deinit(struct result_mappings *mappings)
{
	u64map_deinit(&mappings->by_content);
	arena_deinit(&mappings->arena);
}

const struct result_mapping *result_mappings_get(struct result_mappings *mappings,
						 const struct result_mapping *mapping)
{
	uint64_t key = hash_u64(mapping->start) ^ hash_u64(mapping->end + mapping->offset * 3) ^
		       hash_bytes(mapping->build_id, mapping->build_id_size);

	/* A key may be taken by another mapping: then the next ones are looked at. */
	for (;; key++) {
		struct result_mapping *known = u64map_get(&mappings->by_content, key);

		if (known && equal(known, mapping))
			return known;
		if (known)
			continue;
		known = arena_alloc(&mappings->arena, sizeof(*known));
		if (!known || !u64map_put(&mappings->by_content, key, known))
			return NULL;
		*known = *mapping;
		return known;
	}
}
