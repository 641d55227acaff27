/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of call chains that were printed before. A profile shows the same addresses over and over,
 * and finding the symbol of one and writing its line costs far more than copying the text.
 *
 *	if (!frame_cache_add(&cache, &key, out)) {
 *		const size_t from = out->len;
 *		... add the text to out ...
 *		frame_cache_keep(&cache, &key, out, from);
 *	}
 */
#ifndef PB_PERF_PRINT_FRAME_CACHE_H
#define PB_PERF_PRINT_FRAME_CACHE_H

#include "lib/base/memo.h"
#include "lib/base/strbuf.h"

/* All that a text depends on. */
struct frame_key {
	const void *place; /* what addr is relative to: a map or a DSO, which live longer */
	uint64_t addr;
	uint64_t form; /* which fields the text has, and which layout */
};

/* Zeros: empty. */
struct frame_cache {
	struct memo texts;
};
void frame_cache_deinit(struct frame_cache *cache);

/* Adds the text of the key; false: it is not known. */
bool frame_cache_add(const struct frame_cache *cache, const struct frame_key *key,
		     struct strbuf *out);

/*
 * Remembers what out has from `from` on as the text of the key, which has none yet. A text that is
 * long, or for which there is no memory, is not kept.
 */
void frame_cache_keep(struct frame_cache *cache, const struct frame_key *key,
		      const struct strbuf *out, size_t from);

#endif
