// SPDX-License-Identifier: BSD-2-Clause
/* What there is: the functions of an image, the lines of a function or a file. */
#include "probe/dwarf/places.h"

struct listing {
	pb_dwarf_name_fn *fn;
	void *ctx;
	struct strmap seen;
	struct names names;
};

static struct error *list_name(void *ctx, const struct instance *instance)
{
	struct listing *l = ctx;
	Dwarf_Die die = instance->die;
	_cleanup_free_ char *shown = function_shown(&die);

	if (!shown || strmap_get(&l->seen, shown))
		return NULL;
	if (!names_add(&l->names, shown) || !strmap_put(&l->seen, l->names.v[l->names.n - 1], l))
		return error_nomem();
	return l->fn(l->ctx, shown);
}

struct error *pb_dwarf_functions(struct dwarf_image *image, const char *glob, pb_dwarf_name_fn *fn,
				 void *ctx)
{
	_cleanup_(matcher_deinit) struct matcher m =
		matcher_make(image, glob, glob_is_pattern(glob), NULL);
	struct listing l = {.fn = fn, .ctx = ctx};
	struct error *err = instances_find(image, &m, true, list_name, &l);

	strmap_deinit(&l.seen);
	names_deinit(&l.names);
	return err;
}

/* ---- Lines ---- */

struct line_list {
	struct dwarf_image *image;
	VEC(uint32_t) can;
	chosen_vec chosen; /* of a function */
	char *file;
	uint32_t first, last;
};

static struct error *list_row(void *ctx, const struct instance *instance, const struct row *row,
			      bool empty)
{
	struct line_list *l = ctx;
	Dwarf_Die die = instance->die;

	TRY(chosen_add(l->image, instance, row, empty, &l->chosen));
	if (in_inner_copy(&die, row->address, 0))
		return NULL;
	uint32_t *line = vec_push(&l->can);
	if (!line)
		return error_nomem();
	*line = row->line;
	l->last = max_of(l->last, row->line);
	return NULL;
}

static struct error *list_instance(void *ctx, const struct instance *instance)
{
	struct line_list *l = ctx;
	struct instance_lines own;
	Dwarf_Die function = instance->function, unit;
	bool known;

	TRY(instance_lines(l->image, instance, &own, &known));
	if (!known)
		return NULL;
	if (!l->file) {
		l->file = die_unit_die(&function, &unit) ? line_source_path(&unit, own.file)
							 : strdup(own.file);
		l->first = own.first;
		if (!l->file)
			return error_nomem();
	} else if (own.first != l->first) {
		return NULL; /* another function of the name: the first one is shown */
	}
	return instance_rows(l->image, instance, &own, list_row, l);
}

static struct error *list_file(struct line_list *l, const char *file)
{
	struct dwarf_image *image = l->image;
	_cleanup_free_ uint8_t *units = NULL;
	Dwarf_Lines *lines;
	struct row row;
	size_t n;

	TRY(units_with_file(image, file, &units));
	for (int headers = 0; headers < 2 && !l->file; headers++) {
		for (size_t i = 0; i < image->units.n; i++) {
			struct dwarf_unit *unit = &image->units.v[i];

			if (!units[i] || (!headers && !unit_is_of_file(unit, file)))
				continue;
			TRY(lines_of(image, &unit->die, &lines, &n));
			for (size_t k = 0; k < n; k++) {
				if (!row_of(lines, k, &row) || !path_ends_with(row.file, file))
					continue;
				if (!l->file)
					l->file = line_source_path(&unit->die, row.file);
				uint32_t *line = l->file ? vec_push(&l->can) : NULL;
				if (!line)
					return error_nomem();
				*line = row.line;
				l->last = max_of(l->last, row.line);
			}
		}
	}
	l->first = 1;
	return NULL;
}

static int line_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static struct error *lines_tell(struct line_list *l, pb_dwarf_line_fn *fn, void *ctx)
{
	size_t at = 0;

	TRY(chosen_settle(l->image, &l->chosen));
	if (l->can.n)
		qsort(l->can.v, l->can.n, sizeof(*l->can.v), line_cmp);
	for (uint32_t line = l->first; line <= l->last && l->can.n; line++) {
		while (at < l->can.n && l->can.v[at] < line)
			at++;
		struct dwarf_line shown = {
			.file = l->file,
			.line = line,
			.first = l->first,
			.can = at < l->can.n && l->can.v[at] == line,
		};
		for (size_t i = 0; shown.can && i < l->chosen.n; i++)
			shown.n_places += l->chosen.v[i].row.line == line;
		TRY(fn(ctx, &shown));
	}
	return NULL;
}

struct error *pb_dwarf_lines(struct dwarf_image *image, const struct probe_def *def,
			     pb_dwarf_line_fn *fn, void *ctx)
{
	struct line_list l = {.image = image};
	struct error *err = NULL;

	if (!def->function) {
		err = list_file(&l, def->file);
	} else {
		_cleanup_(matcher_deinit) struct matcher m =
			matcher_make(image, def->function, def->is_glob, def->file);

		err = instances_find(image, &m, true, list_instance, &l);
	}
	if (!err && !l.file) {
		if (!def->function) {
			err = error_at(error_new(ENOENT, "unknown source file \"%s\"", def->file),
				       "%s", image->path);
		} else {
			err = image_need_symbols(image);
			if (!err)
				err = error_no_function(image, def);
		}
	}
	if (!err)
		err = lines_tell(&l, fn, ctx);
	free(l.file);
	vec_deinit(&l.can);
	vec_deinit(&l.chosen);
	return err;
}
