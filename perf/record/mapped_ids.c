// SPDX-License-Identifier: BSD-2-Clause
/*
 * The build ids of files that were mapped before the recording: their mappings are to have ids like
 * those that the kernel adds to later ones. A file is read once, however many processes map it.
 */
#include "perf/record/internal.h"

#include <stdlib.h>
#include <string.h>

#include "sym/sym.h"

struct mapped_id {
	uint64_t ino;
	uint32_t maj, min;
	uint8_t id[20];
	uint8_t size;
	struct mapped_id *next; /* of the same hash */
};

static uint64_t hash_of(const struct sys_map *map)
{
	return hash_u64(map->ino) ^ hash_u64((uint64_t)map->maj << 32 | map->min);
}

static struct mapped_id *find(const struct u64map *ids, const struct sys_map *map)
{
	struct mapped_id *known = u64map_get(ids, hash_of(map));

	while (known &&
	       (known->ino != map->ino || known->maj != map->maj || known->min != map->min))
		known = known->next;
	return known;
}

size_t mapped_id_find(struct u64map *ids, const struct sys_map *map, const char *path,
		      uint8_t id[20])
{
	struct mapped_id *known = find(ids, map);
	size_t size = 0;

	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known)
			return 0;
		error_free(file_build_id(path, known->id, &size));
		known->ino = map->ino;
		known->maj = map->maj;
		known->min = map->min;
		known->size = (uint8_t)size;
		known->next = u64map_get(ids, hash_of(map));
		if (!u64map_put(ids, hash_of(map), known)) {
			free(known);
			return 0;
		}
	}
	memcpy(id, known->id, sizeof(known->id));
	return known->size;
}

void mapped_ids_deinit(struct u64map *ids)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(ids, &pos)))
		for (struct mapped_id *id = slot->value, *next; id; id = next) {
			next = id->next;
			free(id);
		}
	u64map_deinit(ids);
}
