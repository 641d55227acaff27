// SPDX-License-Identifier: BSD-2-Clause
/* Points as they are found, and their values. */
#include "probe/point/internal.h"

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
