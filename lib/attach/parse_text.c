// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attach/internal.h"

bool split_offset(const char *text, size_t *name_len, uint64_t *offset)
{
	const char *plus = strrchr(text, '+');
	char *end;

	if (!plus) {
		*name_len = strlen(text);
		*offset = 0;
		return true;
	}
	if (plus[1] < '0' || plus[1] > '9')
		return false;
	errno = 0;
	uint64_t v = strtoull(plus + 1, &end, 0);
	if (errno || *end)
		return false;
	*name_len = (size_t)(plus - text);
	*offset = v;
	return true;
}
