// SPDX-License-Identifier: BSD-2-Clause
#include "show/result.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/vec.h"

void results_deinit(struct results *results)
{
	vec_deinit(results);
	arena_deinit(&results->arena);
}

struct result *results_add(struct results *results, enum result_kind kind, const char *name)
{
	char *copy = arena_text(&results->arena, name, strlen(name));
	struct result *r = copy ? vec_push(results) : NULL;

	if (!r)
		return NULL;
	r->kind = kind;
	r->name = copy;
	return r;
}

void bound_add(struct strbuf *out, uint64_t bound, bool log2)
{
	if (log2)
		strbuf_add_u64(out, bound);
	else
		strbuf_addf(out, "%" PRId64, (int64_t)bound);
}
