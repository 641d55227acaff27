/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is given back all at once: for many small pieces of one lifetime. */
#ifndef PB_BASE_ARENA_H
#define PB_BASE_ARENA_H

#include <stddef.h>

/* All zero is an empty one. */
struct arena {
	struct arena_block *blocks; /* the newest first */
	char *next;
	size_t left;  /* bytes from next on, in the newest block */
	size_t size;  /* of the newest block: the next one is twice as large */
	size_t total; /* bytes of all blocks */
};

void arena_deinit(struct arena *arena);
#define _cleanup_arena_ __attribute__((cleanup(arena_deinit)))

/* Zeroed, at a multiple of 8. NULL: no memory. */
void *arena_alloc(struct arena *arena, size_t size);
/* A copy of n bytes of text, with a NUL behind them; of a whole string. */
char *arena_text(struct arena *arena, const char *text, size_t n);
char *arena_strdup(struct arena *arena, const char *s);

#endif
