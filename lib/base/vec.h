/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array of any type:
 *
 *	VEC(struct range) ranges = {0};
 *	struct range *r = vec_push(&ranges);	// zeroed; NULL: no memory
 *	vec_for_each(r, &ranges) …
 *	vec_deinit(&ranges);
 *
 * Pointers into it last until the next push.
 */
#ifndef PB_BASE_VEC_H
#define PB_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n;                                                                          \
		size_t cap;                                                                        \
	}

/* Makes room for at least want elements; false: no memory. */
bool vec_grow(void **v, size_t *cap, size_t want, size_t elem_size);

#define vec_reserve(vec, want)                                                                     \
	((want) <= (vec)->cap ||                                                                   \
	 vec_grow((void **)&(vec)->v, &(vec)->cap, (want), sizeof(*(vec)->v)))

/* A zeroed element at the end; NULL: no memory. */
#define vec_push(vec)                                                                              \
	((__typeof__((vec)->v))(vec_reserve(vec, (vec)->n + 1)                                     \
					? memset(&(vec)->v[(vec)->n++], 0, sizeof(*(vec)->v))      \
					: NULL))

#define vec_for_each(it, vec) for ((it) = (vec)->v; (it) && (it) < (vec)->v + (vec)->n; (it)++)

#define vec_last(vec) (&(vec)->v[(vec)->n - 1])

#define vec_deinit(vec)                                                                            \
	do {                                                                                       \
		free((vec)->v);                                                                    \
		(vec)->v = NULL;                                                                   \
		(vec)->n = (vec)->cap = 0;                                                         \
	} while (0)

#include <stdlib.h>
#include <string.h>

#endif
