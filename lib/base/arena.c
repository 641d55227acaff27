// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/util.h"

enum {
	BLOCK_MIN = 4 << 10,
	BLOCK_MAX = 256 << 10,
};

struct arena_block {
	struct arena_block *next;
	char mem[];
};

void arena_deinit(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	*arena = (struct arena){0};
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = round_up(size, 8);
	if (size > arena->left || !arena->blocks) {
		size_t block = arena->size ? min_of(arena->size * 2, (size_t)BLOCK_MAX) : BLOCK_MIN;

		block = max_of(block, size);
		struct arena_block *b = malloc(sizeof(*b) + block);
		if (!b)
			return NULL;
		b->next = arena->blocks;
		*arena = (struct arena){
			.blocks = b,
			.next = b->mem,
			.left = block,
			.size = block,
			.total = arena->total + sizeof(*b) + block,
		};
	}
	void *p = arena->next;
	arena->next += size;
	arena->left -= size;
	return memset(p, 0, size);
}

char *arena_text(struct arena *arena, const char *text, size_t n)
{
	char *copy = n < SIZE_MAX ? arena_alloc(arena, n + 1) : NULL;

	if (copy && n)
		memcpy(copy, text, n);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return arena_text(arena, s, strlen(s));
}
