/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two hash tables, open addressing with linear probing, never more than
 * three quarters full: from a 64-bit number, and from a string, to a pointer.
 * A string key is borrowed: it outlives its entry. Values are not freed.
 */
#ifndef PB_BASE_HASH_H
#define PB_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mixes all bits of v into all bits of the result (splitmix64's finalizer). */
static inline uint64_t hash_u64(uint64_t v)
{
	v ^= v >> 30;
	v *= 0xbf58476d1ce4e5b9ull;
	v ^= v >> 27;
	v *= 0x94d049bb133111ebull;
	return v ^ (v >> 31);
}

/* Eight bytes at a time; not for what an attacker may choose to collide, nor for files. */
uint64_t hash_bytes(const void *data, size_t n);
uint64_t hash_str(const char *s);

struct u64map_slot {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct u64map {
	struct u64map_slot *slots;
	size_t n;
	size_t mask; /* slots - 1; 0 with slots NULL */
};

void u64map_deinit(struct u64map *map);
/* NULL: no such key. */
void *u64map_get(const struct u64map *map, uint64_t key);
/* Adds or replaces; value is not NULL. false: no memory. */
bool u64map_put(struct u64map *map, uint64_t key, void *value);
/* The value that was removed; NULL: no such key. */
void *u64map_remove(struct u64map *map, uint64_t key);
/* Walks all entries in no order: *pos starts at 0; NULL ends it. */
struct u64map_slot *u64map_next(const struct u64map *map, size_t *pos);

struct strmap_slot {
	const char *key; /* NULL: empty */
	uint64_t hash;
	void *value;
};

struct strmap {
	struct strmap_slot *slots;
	size_t n;
	size_t mask;
};

void strmap_deinit(struct strmap *map);
void *strmap_get(const struct strmap *map, const char *key);
bool strmap_put(struct strmap *map, const char *key, void *value);

#endif
