// SPDX-License-Identifier: BSD-2-Clause
/* Points as they are found, and their values. */
#include "probe/point/internal.h"

#include <string.h>

int function_order(uint64_t a, const char *a_name, uint64_t b, const char *b_name)
{
	const size_t a_lines = strspn(a_name, "_"), b_lines = strspn(b_name, "_");

	if (a != b)
		return a < b ? -1 : 1;
	if (a_lines != b_lines)
		return a_lines < b_lines ? -1 : 1;
	return strcmp(a_name, b_name);
}

void pending_deinit(struct pending *pending)
{
	struct pending_value *one;

	vec_for_each (one, &pending->v)
		fetch_value_deinit(&one->value);
	vec_deinit(&pending->v);
}

struct fetch_value *pending_add(struct pending *pending, size_t arg)
{
	struct pending_value *one = vec_push(&pending->v);

	if (!one)
		return NULL;
	one->arg = arg;
	return &one->value;
}

void left_out_deinit(struct left_out *out)
{
	char **name;

	strbuf_deinit(&out->some);
	strmap_deinit(&out->seen);
	vec_for_each (name, &out->names)
		free(*name);
	vec_deinit(&out->names);
}

void left_out_add(struct left_out *out, const struct log *log, const char *name,
		  const char *function, const char *why)
{
	enum {
		SOME = 3,
	};
	const char *in = function ? " inlined in " : "", *where = function ? function : "";
	/* What was wrong with a definition stands below the definition. */
	const char *mark = strstr(why, "\\___ ");
	_cleanup_free_ char *key = text_format("%s%s%s", name, in, where);

	if (!key || strmap_get(&out->seen, key))
		return;
	char **slot = vec_push(&out->names);
	if (!slot)
		return;
	const char *known = *slot = steal_ptr(key);
	strmap_put(&out->seen, known, out);
	log_debug(log, "%s is skipped: %s", known, why);
	if (out->n++ < SOME)
		strbuf_addf(&out->some, "%s%s: %s", out->n > 1 ? "; " : "", known,
			    mark ? mark + strlen("\\___ ") : why);
}

void left_out_tell(const struct left_out *out, const struct log *log, enum log_level level)
{
	if (out->n)
		log_at(log, level, "%zu probe point%s skipped: %s%s", out->n,
		       out->n == 1 ? " is" : "s are", strbuf_str(&out->some),
		       out->n > 3 ? "; … (-vv shows each)" : "");
}

struct error *gather_point(struct gather *g, struct probe_point *point, struct pending *pending)
{
	struct probe_points *points = g->points;
	struct pending_value *one;

	if (!vec_reserve(points, points->n + 1)) {
		point_deinit(point, 0);
		return error_nomem();
	}
	points->v[points->n++] = *point;
	*point = (struct probe_point){0};
	vec_for_each (one, &pending->v)
		TRY(columns_add(g->columns, points->n - 1, one->arg, &one->value));
	return NULL;
}
