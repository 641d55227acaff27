// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls/flag_set.h"

const char *flag_set_name(enum flag_set_id set, uint64_t v)
{
	const struct flag_set *s = &flag_sets[set];

	for (size_t i = 0; i < s->n; i++)
		if (s->names[i].value == v)
			return s->names[i].name;
	return NULL;
}
