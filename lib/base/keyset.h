/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An index over rows that the caller keeps: all of one size, one after the
 * other, each beginning with a key. It holds the rows' numbers only, so the
 * rows may move.
 *
 *	struct keyset set = keyset_make(row_size, key_size);
 *	if (!keyset_reserve(&set, rows, 1)) … no memory
 *	size_t i = keyset_add(&set, rows, n);	// n: the new row; else: the one that has its key
 */
#ifndef PB_BASE_KEYSET_H
#define PB_BASE_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyset {
	size_t row_size, key_size; /* bytes */
	uint32_t *slots;	   /* row's number + 1; 0: empty */
	size_t mask, n;
};

static inline struct keyset keyset_make(size_t row_size, size_t key_size)
{
	return (struct keyset){.row_size = row_size, .key_size = key_size};
}

void keyset_deinit(struct keyset *set);
/* Room for so many more rows; false: no memory, or 2^32 rows. */
bool keyset_reserve(struct keyset *set, const void *rows, size_t more);
/* Adds row `row`, unless its key is there: the number of the row that has it. */
size_t keyset_add(struct keyset *set, const void *rows, size_t row);
/* The row of a key; SIZE_MAX: none. */
size_t keyset_find(const struct keyset *set, const void *rows, const void *key);

#endif
