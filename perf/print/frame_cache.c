// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory is bounded by MAX_SLOTS and MAX_BYTES, and is some 100 bytes for each address of a usual
 * profile.
 */
#include "perf/print/frame_cache.h"

#include "lib/base/hash.h"

#define MAX_SLOTS 65536
#define MAX_BYTES (8 << 20)
#define MAX_TEXT  512

struct frame_text {
	struct frame_key key;
	uint64_t size;
	char text[];
};

void frame_cache_deinit(struct frame_cache *cache)
{
	memo_deinit(&cache->texts);
}

static uint32_t hash_of(const struct frame_key *key)
{
	const uint64_t hash = hash_u64(key->addr ^ (uintptr_t)key->place << 16 ^ key->form);

	return (uint32_t)(hash ^ hash >> 32);
}

bool frame_cache_add(const struct frame_cache *cache, const struct frame_key *key,
		     struct strbuf *out)
{
	struct memo_at at = memo_first(hash_of(key));
	const struct frame_text *text;

	while ((text = memo_next(&cache->texts, &at)))
		if (text->key.addr == key->addr && text->key.place == key->place &&
		    text->key.form == key->form) {
			strbuf_add(out, text->text, text->size);
			return true;
		}
	return false;
}

void frame_cache_keep(struct frame_cache *cache, const struct frame_key *key,
		      const struct strbuf *out, size_t from)
{
	if (strbuf_failed(out) || out->len < from || out->len - from > MAX_TEXT)
		return;
	const size_t size = out->len - from;

	cache->texts.max_slots = MAX_SLOTS;
	cache->texts.max_bytes = MAX_BYTES;
	struct frame_text *text =
		memo_add(&cache->texts, hash_of(key), sizeof(struct frame_text) + size);
	if (!text)
		return;
	text->key = *key;
	text->size = size;
	if (size)
		memcpy(text->text, out->str + from, size);
}
