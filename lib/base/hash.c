// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 16

uint64_t hash_bytes(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t h = n, word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	word = 0;
	for (size_t i = 0; i < n; i++)
		word = word << 8 | p[i];
	return hash_u64((h ^ word) * 0x9e3779b97f4a7c15ull);
}

uint64_t hash_str(const char *s)
{
	return hash_bytes(s, strlen(s));
}

/* True when one more entry would fill the table beyond three quarters. */
static bool is_full(size_t n, size_t mask)
{
	return mask == 0 || (n + 1) * 4 > (mask + 1) * 3;
}

void u64map_deinit(struct u64map *map)
{
	free(map->slots);
	*map = (struct u64map){0};
}

static struct u64map_slot *u64_slot(const struct u64map *map, uint64_t key)
{
	size_t i = hash_u64(key) & map->mask;

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

void *u64map_get(const struct u64map *map, uint64_t key)
{
	return map->slots ? u64_slot(map, key)->value : NULL;
}

static bool u64_grow(struct u64map *map)
{
	size_t slots = map->slots ? (map->mask + 1) * 2 : FIRST_SLOTS;
	struct u64map bigger = {.n = map->n, .mask = slots - 1};

	bigger.slots = calloc(slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].value)
			*u64_slot(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return true;
}

bool u64map_put(struct u64map *map, uint64_t key, void *value)
{
	if (is_full(map->n, map->mask) && !u64_grow(map))
		return false;
	struct u64map_slot *slot = u64_slot(map, key);
	if (!slot->value)
		map->n++;
	*slot = (struct u64map_slot){.key = key, .value = value};
	return true;
}

void *u64map_remove(struct u64map *map, uint64_t key)
{
	if (!map->slots)
		return NULL;
	struct u64map_slot *slot = u64_slot(map, key);
	void *value = slot->value;
	if (!value)
		return NULL;

	/* Close the gap: move back each later entry of the run that may stand here. */
	size_t gap = (size_t)(slot - map->slots);
	size_t i = gap;
	for (;;) {
		i = (i + 1) & map->mask;
		if (!map->slots[i].value)
			break;
		size_t home = hash_u64(map->slots[i].key) & map->mask;
		if (((i - home) & map->mask) >= ((i - gap) & map->mask)) {
			map->slots[gap] = map->slots[i];
			gap = i;
		}
	}
	map->slots[gap] = (struct u64map_slot){0};
	map->n--;
	return value;
}

struct u64map_slot *u64map_next(const struct u64map *map, size_t *pos)
{
	for (; map->slots && *pos <= map->mask; (*pos)++)
		if (map->slots[*pos].value)
			return &map->slots[(*pos)++];
	return NULL;
}

void strmap_deinit(struct strmap *map)
{
	free(map->slots);
	*map = (struct strmap){0};
}

static struct strmap_slot *str_slot(const struct strmap *map, const char *key, uint64_t hash)
{
	size_t i = hash & map->mask;

	while (map->slots[i].key &&
	       (map->slots[i].hash != hash || strcmp(map->slots[i].key, key) != 0))
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

void *strmap_get(const struct strmap *map, const char *key)
{
	return map->slots ? str_slot(map, key, hash_str(key))->value : NULL;
}

static bool str_grow(struct strmap *map)
{
	size_t slots = map->slots ? (map->mask + 1) * 2 : FIRST_SLOTS;
	struct strmap bigger = {.n = map->n, .mask = slots - 1};

	bigger.slots = calloc(slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].key)
			*str_slot(&bigger, map->slots[i].key, map->slots[i].hash) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return true;
}

bool strmap_put(struct strmap *map, const char *key, void *value)
{
	if (is_full(map->n, map->mask) && !str_grow(map))
		return false;
	uint64_t hash = hash_str(key);
	struct strmap_slot *slot = str_slot(map, key, hash);
	if (!slot->key)
		map->n++;
	*slot = (struct strmap_slot){.key = key, .hash = hash, .value = value};
	return true;
}
