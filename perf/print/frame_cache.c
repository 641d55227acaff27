// SPDX-License-Identifier: BSD-2-Clause
/*
 * A table of fixed size, where each key has one slot: memory is bounded by SLOTS * MAX_TEXT, and is
 * some 100 bytes for each address of a usual profile.
 */
#include "perf/print/frame_cache.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/hash.h"

#define SLOTS	 16384
#define MAX_TEXT 512

struct frame_text {
	struct frame_key key;
	char *text; /* NULL: the slot is free */
	uint32_t size, room;
};

void frame_cache_deinit(struct frame_cache *cache)
{
	for (size_t i = 0; cache->slots && i < SLOTS; i++)
		free(cache->slots[i].text);
	free(steal_ptr(cache->slots));
}

static struct frame_text *slot_of(const struct frame_cache *cache, const struct frame_key *key)
{
	const uint64_t hash = hash_u64(key->addr ^ (uintptr_t)key->place) ^ key->form;

	return &cache->slots[hash % SLOTS];
}

bool frame_cache_add(const struct frame_cache *cache, const struct frame_key *key,
		     struct strbuf *out)
{
	const struct frame_text *t = cache->slots ? slot_of(cache, key) : NULL;

	if (!t || !t->text || t->key.place != key->place || t->key.addr != key->addr ||
	    t->key.form != key->form)
		return false;
	strbuf_add(out, t->text, t->size);
	return true;
}

void frame_cache_keep(struct frame_cache *cache, const struct frame_key *key,
		      const struct strbuf *out, size_t from)
{
	if (strbuf_failed(out) || out->len < from || out->len - from > MAX_TEXT)
		return;
	if (!cache->slots)
		cache->slots = calloc(SLOTS, sizeof(*cache->slots));
	if (!cache->slots)
		return;
	struct frame_text *t = slot_of(cache, key);
	const uint32_t size = (uint32_t)(out->len - from);

	if (!t->text || size > t->room) {
		char *text = malloc(size + !size);

		if (!text)
			return;
		free(t->text);
		t->text = text;
		t->room = size;
	}
	if (size)
		memcpy(t->text, out->str + from, size);
	t->size = size;
	t->key = *key;
}
