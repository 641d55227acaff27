// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/vec.h"

#include <stdint.h>

bool vec_grow(void **v, size_t *cap, size_t want, size_t elem_size)
{
	size_t next = *cap + *cap / 2 + 8;

	if (next < want)
		next = want;
	if (elem_size && next > SIZE_MAX / 2 / elem_size)
		return false;
	void *p = realloc(*v, next * elem_size);
	if (!p)
		return false;
	*v = p;
	*cap = next;
	return true;
}
