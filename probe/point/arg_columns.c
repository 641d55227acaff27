// SPDX-License-Identifier: BSD-2-Clause
/*
 * The arguments of a definition, at all its points, as columns. An argument is
 * one column, but $params and $vars are as many as there are names among all
 * the points: one that has no such variable has an obstacle there.
 *
 * A point at which an argument cannot be read is left out, with force kept;
 * that a point lacks one of $params or $vars is no reason.
 */
#include "probe/point/internal.h"

struct cell {
	size_t point;
	struct fetch_value value;
};

struct column {
	size_t arg;
	char *name;
	VEC(struct cell) cells;
};

struct columns {
	const struct probe_def *def;
	VEC(struct column) v;
	size_t *order; /* of v, by arg */
};

static void column_deinit(struct column *column)
{
	struct cell *cell;

	free(column->name);
	vec_for_each (cell, &column->cells)
		fetch_value_deinit(&cell->value);
	vec_deinit(&column->cells);
}

void columns_free(struct columns *columns)
{
	struct column *column;

	if (!columns)
		return;
	vec_for_each (column, &columns->v)
		column_deinit(column);
	vec_deinit(&columns->v);
	free(columns->order);
	free(columns);
}

static bool is_many(const struct probe_arg *arg)
{
	return arg->base == PROBE_PARAMS || arg->base == PROBE_VARS;
}

static struct column *add_column(struct columns *columns, size_t arg, const char *name)
{
	struct column *column = vec_push(&columns->v);

	if (!column)
		return NULL;
	column->arg = arg;
	column->name = strdup(name);
	return column->name ? column : NULL;
}

struct error *columns_new(const struct probe_def *def, struct columns **out)
{
	_cleanup_(columns_freep) struct columns *columns = calloc(1, sizeof(*columns));

	if (!columns)
		return error_nomem();
	columns->def = def;
	for (size_t i = 0; i < def->n_args; i++)
		if (!is_many(&def->args[i]) && !add_column(columns, i, def->args[i].name))
			return error_nomem();
	*out = steal_ptr(columns);
	return NULL;
}

static struct column *find_column(struct columns *columns, size_t arg, const char *name)
{
	struct column *column;
	const bool many = is_many(&columns->def->args[arg]);

	vec_for_each (column, &columns->v)
		if (column->arg == arg && (!many || str_equal(column->name, name)))
			return column;
	return NULL;
}

struct error *columns_add(struct columns *columns, size_t point, size_t arg,
			  struct fetch_value *value)
{
	struct column *column = find_column(columns, arg, value->name);

	if (!column && columns->v.n == PROBE_MAX_ARGS)
		return error_hint(
			error_new(E2BIG, "the probe points have more than %d different arguments",
				  PROBE_MAX_ARGS),
			"list the arguments, or match fewer functions: %s means all arguments of "
			"any of them",
			columns->def->args[arg].text);
	if (!column)
		column = add_column(columns, arg, value->name);
	struct cell *cell = column ? vec_push(&column->cells) : NULL;
	if (!cell)
		return error_nomem();
	cell->point = point;
	cell->value = *value;
	*value = (struct fetch_value){0};
	return NULL;
}

static bool name_taken(const struct columns *columns, const struct column *column)
{
	for (size_t i = 0; i < columns->v.n; i++)
		if (&columns->v.v[i] != column && str_equal(columns->v.v[i].name, column->name))
			return true;
	return false;
}

/*
 * A parameter of $params that was asked for by itself too is the same thing twice: it stays where
 * it was asked for. Another thing of that name keeps the name, and the parameter gets a longer one.
 */
static struct error *settle_names(struct columns *columns)
{
	for (size_t i = 0; i < columns->v.n;) {
		struct column *column = &columns->v.v[i];
		const struct probe_def *def = columns->def;
		bool same = false;

		if (!is_many(&def->args[column->arg]) || !name_taken(columns, column)) {
			i++;
			continue;
		}
		for (size_t a = 0; a < def->n_args; a++)
			same |= def->args[a].base == PROBE_VARIABLE && !def->args[a].n_steps &&
				!def->args[a].named && str_equal(def->args[a].name, column->name);
		for (size_t k = 0; k < i; k++)
			same |= is_many(&def->args[columns->v.v[k].arg]) &&
				str_equal(columns->v.v[k].name, column->name);
		if (same) {
			column_deinit(column);
			memmove(column, column + 1, (--columns->v.n - i) * sizeof(*column));
			continue;
		}
		char *longer = text_format("%s_", column->name);
		if (!longer)
			return error_nomem();
		free(column->name);
		column->name = longer;
	}
	return NULL;
}

/* The columns in the order of the arguments; those of one argument as they were found. */
static struct error *sort_columns(struct columns *columns)
{
	size_t n = 0;

	columns->order = calloc(columns->v.n + 1, sizeof(*columns->order));
	if (!columns->order)
		return error_nomem();
	for (size_t arg = 0; arg < columns->def->n_args; arg++)
		for (size_t i = 0; i < columns->v.n; i++)
			if (columns->v.v[i].arg == arg)
				columns->order[n++] = i;
	return NULL;
}

/*
 * Where a column cannot be read it is nevertheless what it is elsewhere: whoever lays out a record
 * for all points takes any of them.
 */
static struct error *like_others(const struct column *column, struct fetch_value *value)
{
	const struct cell *cell;

	if (value->type)
		return NULL;
	for (size_t i = 0; i < column->cells.n; i++) {
		cell = &column->cells.v[i];
		if (!cell->value.type)
			continue;
		value->kind = cell->value.kind;
		value->hex = cell->value.hex;
		value->size = cell->value.size;
		value->bit_size = cell->value.bit_size;
		value->type = strdup(cell->value.type);
		return value->type ? NULL : error_nomem();
	}
	return NULL;
}

static struct error *give_args(struct columns *columns, struct probe_points *points)
{
	const size_t n = columns->v.n;

	points->names = calloc(n + 1, sizeof(*points->names));
	if (!points->names)
		return error_nomem();
	points->n_args = n;
	for (size_t i = 0; i < n; i++) {
		points->names[i] = strdup(columns->v.v[columns->order[i]].name);
		if (!points->names[i])
			return error_nomem();
	}
	for (size_t p = 0; p < points->n; p++) {
		points->v[p].args = calloc(n + 1, sizeof(*points->v[p].args));
		if (!points->v[p].args)
			return error_nomem();
	}
	for (size_t i = 0; i < n; i++) {
		struct column *column = &columns->v.v[columns->order[i]];
		struct cell *cell;

		vec_for_each (cell, &column->cells) {
			struct fetch_value *to = &points->v[cell->point].args[i];

			/* Two variables of one name: the first one is the innermost. */
			if (to->name)
				continue;
			TRY(like_others(column, &cell->value));
			TRY(value_name(&cell->value, points->names[i]));
			/* The cell's type is still asked for. */
			*to = cell->value;
			cell->value = (struct fetch_value){.kind = to->kind,
							   .hex = to->hex,
							   .size = to->size,
							   .bit_size = to->bit_size};
			cell->value.type = to->type ? strdup(to->type) : NULL;
		}
		for (size_t p = 0; p < points->n; p++) {
			struct fetch_value *to = &points->v[p].args[i];

			if (to->name)
				continue;
			TRY(value_name(to, points->names[i]));
			TRY(value_obstacle(to, "%s has no '%s' at this probe point",
					   points->v[p].function, points->names[i]));
			TRY(like_others(column, to));
		}
	}
	return NULL;
}

/* The argument that keeps a point out; NULL: none does. */
static const struct fetch_value *in_the_way(const struct columns *columns,
					    const struct probe_points *points, size_t point)
{
	for (size_t i = 0; i < points->n_args; i++) {
		const struct probe_arg *arg =
			&columns->def->args[columns->v.v[columns->order[i]].arg];

		if (!is_many(arg) && points->v[point].args[i].obstacle)
			return &points->v[point].args[i];
	}
	return NULL;
}

void point_deinit(struct probe_point *point, size_t n_args)
{
	free(point->function);
	free(point->shown);
	free(point->inlined);
	free(point->module);
	free(point->file);
	free(point->refused);
	for (size_t i = 0; point->args && i < n_args; i++)
		fetch_value_deinit(&point->args[i]);
	free(point->args);
}

void probe_points_deinit(struct probe_points *points)
{
	for (size_t i = 0; i < points->n; i++)
		point_deinit(&points->v[i], points->n_args);
	for (size_t i = 0; i < points->n_args && points->names; i++)
		free(points->names[i]);
	free(points->names);
	free(points->v);
	free(points->path);
	*points = (struct probe_points){0};
}

void probe_points_keep(struct probe_points *points, const uint32_t *part_of, uint32_t part)
{
	size_t kept = 0;

	for (size_t i = 0; i < points->n; i++) {
		if (part_of[i] == part)
			points->v[kept++] = points->v[i];
		else
			point_deinit(&points->v[i], points->n_args);
	}
	points->n = kept;
}

/* As people read it. */
static const char *shown_as(const struct probe_point *point)
{
	if (point->inlined)
		return point->inlined;
	return point->shown ? point->shown : point->function;
}

struct error *columns_close(struct columns *columns, bool force, const struct log *log,
			    struct probe_points *points)
{
	_cleanup_left_out_ struct left_out out = {0};
	struct error *why = NULL;
	size_t kept = 0;

	TRY(settle_names(columns));
	TRY(sort_columns(columns));
	TRY(give_args(columns, points));
	if (force)
		return NULL;
	for (size_t p = 0; p < points->n; p++) {
		struct probe_point *point = &points->v[p];
		const struct fetch_value *value = in_the_way(columns, points, p);

		if (value) {
			_cleanup_free_ char *text =
				text_format("'%s': %s", value->name, value->obstacle);
			const char *in = point->shown ? point->shown : point->function;

			left_out_add(&out, log, shown_as(point), point->inlined ? in : NULL,
				     text ? text : "");
			if (!why)
				why = error_new(EOPNOTSUPP, "cannot read '%s' in %s: %s",
						value->name, shown_as(point), value->obstacle);
			point_deinit(point, points->n_args);
		} else {
			points->v[kept++] = *point;
		}
	}
	points->n = kept;
	left_out_tell(&out, log, LOG_INFO);
	if (kept) {
		error_free(why);
		return NULL;
	}
	if (out.n > 1)
		why = error_prefix(why, "at none of the %zu probe points", out.n);
	return error_hint(why, "-vv shows why for each probe point; force=yes; keeps probe points "
			       "without the arguments that cannot be read");
}
