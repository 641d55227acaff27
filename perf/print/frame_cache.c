// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hash table, open addressing with linear probing, whose slots say where the text is. The slots
 * are small, so that they stay in the CPU's caches; a key and its text are next to each other, so
 * that a text costs one place in memory more. A full table forgets all: what a profile shows again
 * and again is soon back, and there is no order to keep. Memory is at most MAX_SLOTS * 8 bytes and
 * MAX_TEXTS, and is some 100 bytes for each address of a usual profile.
 */
#include "perf/print/frame_cache.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/hash.h"

#define FIRST_SLOTS 1024
#define MAX_SLOTS   65536 /* of which three quarters are used */
#define MAX_TEXTS   (8 << 20)
#define MAX_TEXT    512

struct frame_slot {
	uint32_t hash;
	uint32_t at; /* of the key in the texts, and 1; 0: the slot is free */
};

struct frame_text {
	struct frame_key key;
	uint64_t size;
	char text[];
};

void frame_cache_deinit(struct frame_cache *cache)
{
	free(cache->slots);
	free(cache->texts);
	*cache = (struct frame_cache){0};
}

static uint32_t hash_of(const struct frame_key *key)
{
	const uint64_t hash = hash_u64(key->addr ^ (uintptr_t)key->place) ^ hash_u64(key->form);

	return (uint32_t)(hash ^ hash >> 32);
}

/* Where the key is, or the free slot where it would be. */
static struct frame_slot *slot_of(const struct frame_cache *cache, const struct frame_key *key,
				  uint32_t hash, const struct frame_text **text)
{
	for (size_t i = hash;; i++) {
		struct frame_slot *slot = &cache->slots[i & (cache->n_slots - 1)];

		*text = NULL;
		if (!slot->at)
			return slot;
		if (slot->hash != hash)
			continue;
		*text = (const struct frame_text *)(cache->texts + slot->at - 1);
		if ((*text)->key.addr == key->addr && (*text)->key.place == key->place &&
		    (*text)->key.form == key->form)
			return slot;
	}
}

bool frame_cache_add(const struct frame_cache *cache, const struct frame_key *key,
		     struct strbuf *out)
{
	const struct frame_text *text;

	if (!cache->slots)
		return false;
	slot_of(cache, key, hash_of(key), &text);
	if (!text)
		return false;
	strbuf_add(out, text->text, text->size);
	return true;
}

static void forget(struct frame_cache *cache)
{
	memset(cache->slots, 0, cache->n_slots * sizeof(*cache->slots));
	cache->n_used = cache->size = 0;
}

/* The keys need not be compared: all are different. */
static bool grow_slots(struct frame_cache *cache)
{
	const size_t n = cache->n_slots ? 2 * cache->n_slots : FIRST_SLOTS;
	struct frame_slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < cache->n_slots; i++) {
		const struct frame_slot *slot = &cache->slots[i];
		size_t to = slot->hash & (n - 1);

		if (!slot->at)
			continue;
		while (slots[to].at)
			to = (to + 1) & (n - 1);
		slots[to] = *slot;
	}
	free(cache->slots);
	cache->slots = slots;
	cache->n_slots = n;
	return true;
}

/* For one text more; false: there is no memory. */
static bool make_room(struct frame_cache *cache, size_t size)
{
	if (cache->n_used >= cache->n_slots / 4 * 3) {
		if (cache->n_slots == MAX_SLOTS)
			forget(cache);
		else if (!grow_slots(cache))
			return false;
	}
	if (cache->size + size <= cache->room)
		return true;
	if (cache->room == MAX_TEXTS) {
		forget(cache);
		return true;
	}
	const size_t room = cache->room ? 2 * cache->room : 64 << 10;
	char *texts = realloc(cache->texts, room);

	if (!texts)
		return false;
	cache->texts = texts;
	cache->room = room;
	return true;
}

void frame_cache_keep(struct frame_cache *cache, const struct frame_key *key,
		      const struct strbuf *out, size_t from)
{
	if (strbuf_failed(out) || out->len < from || out->len - from > MAX_TEXT)
		return;
	const uint64_t size = out->len - from;
	const size_t taken = (sizeof(struct frame_text) + size + 7) & ~(size_t)7;
	const uint32_t hash = hash_of(key);
	const struct frame_text *known;

	if (!make_room(cache, taken))
		return;
	struct frame_slot *slot = slot_of(cache, key, hash, &known);
	struct frame_text *text = (struct frame_text *)(cache->texts + cache->size);
	text->key = *key;
	text->size = size;
	if (size)
		memcpy(text->text, out->str + from, size);
	cache->n_used += !slot->at;
	*slot = (struct frame_slot){hash, (uint32_t)cache->size + 1};
	cache->size += taken;
}
