// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places on lines: of a function, of a file, and those whose text matches.
 *
 * A line has a place wherever control may come to it: at each row of the table
 * that begins a statement on it, in each instance of the function. A loop's line
 * comes again at its end, a part that was unrolled has several copies. Rows that
 * are always reached together (code_flow.c), with no other line's in between, are one
 * place in each block. gcc marks a statement's beginning once for each time that
 * it is executed; clang marks each row, so a statement of its whose code was mixed
 * with others' may count more than once, as it does with perf probe.
 */
#include "lib/sys/bounded_lines.h"
#include "probe/dwarf/places.h"

#include <stdio.h>

/* A set of source lines. */
struct line_set {
	VEC(uint32_t) v;
};

struct error *chosen_add(struct dwarf_image *image, const struct instance *instance,
			 const struct row *row, bool empty, chosen_vec *chosen)
{
	Dwarf_Die die = instance->die;
	struct chosen *c = vec_push(chosen);

	if (!c)
		return error_nomem();
	*c = (struct chosen){
		.row = *row,
		.scope = die.addr,
		.block = block_at(image, &die, row->address),
		.instance = *instance,
		.empty = empty,
	};
	return NULL;
}

static bool of_one_line(const struct chosen *a, const struct chosen *b)
{
	return a->scope == b->scope && a->block == b->block && a->row.line == b->row.line;
}

static int chosen_cmp(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	if (x->row.line != y->row.line)
		return x->row.line < y->row.line ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->row.address != y->row.address)
		return x->row.address < y->row.address ? -1 : 1;
	return x->row.view < y->row.view ? -1 : x->row.view > y->row.view;
}

/* Whether between two rows of a line no statement of another line begins. */
static bool is_one_run(Dwarf_Lines *lines, const struct row *first, const struct row *second)
{
	bool begins;
	int number;

	for (size_t i = first->index + 1; i < second->index; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (!line || dwarf_linebeginstatement(line, &begins) ||
		    dwarf_lineno(line, &number) ||
		    (begins && number && (uint32_t)number != first->line))
			return false;
	}
	return true;
}

/* The rows of one line; *kept counts those that stay. */
static struct error *settle_line(struct dwarf_image *image, struct flow *flow, struct chosen *rows,
				 size_t n, struct chosen *out, size_t *kept)
{
	Dwarf_Die function = rows[0].instance.function;
	struct row first = {0};
	bool any_code = false;
	size_t at = 0, n_lines = 0;
	Dwarf_Lines *lines = NULL;

	if (n > 1)
		TRY(lines_of(image, &function, &lines, &n_lines));
	if (n > 1 && flow->function != function.addr)
		TRY(flow_read(image, &function, flow));
	for (size_t i = 0; i < n; i++)
		any_code |= !rows[i].empty;
	for (size_t i = 0; i < n; i++) {
		struct chosen *last = at ? &out[at - 1] : NULL;

		if (last && (rows[i].row.address == first.address ||
			     (flow_is_one(flow, first.address, rows[i].row.address) &&
			      is_one_run(lines, &first, &rows[i].row)))) {
			/* One with code of its own is where the statement is done. */
			if (last->empty && !rows[i].empty)
				*last = rows[i];
			continue;
		}
		/* Without a disassembler: those alone, or of the others the first one. */
		if (n > 1 && !flow->known && rows[i].empty && (any_code || last))
			continue;
		first = rows[i].row;
		out[at++] = rows[i];
	}
	*kept += at;
	return NULL;
}

struct error *chosen_settle(struct dwarf_image *image, chosen_vec *chosen)
{
	struct flow flow = {0};
	struct error *err = NULL;
	size_t kept = 0, next;

	if (chosen->n)
		qsort(chosen->v, chosen->n, sizeof(*chosen->v), chosen_cmp);
	for (size_t i = 0; i < chosen->n && !err; i = next) {
		for (next = i + 1; next < chosen->n; next++)
			if (!of_one_line(&chosen->v[i], &chosen->v[next]))
				break;
		err = settle_line(image, &flow, &chosen->v[i], next - i, &chosen->v[kept], &kept);
	}
	chosen->n = kept;
	flow_deinit(&flow);
	return err;
}

static struct error *places_of_chosen(struct places_search *s, chosen_vec *chosen)
{
	TRY(chosen_settle(s->image, chosen));
	for (size_t i = 0; i < chosen->n; i++) {
		const struct chosen *c = &chosen->v[i];
		const struct row *row = &c->row;
		Dwarf_Die die = c->instance.die;
		Dwarf_Addr low;
		int line;
		/* The function's own line, where it begins, is its entry. */
		bool is_entry = !dwarf_decl_line(&die, &line) && (uint32_t)line == row->line &&
				die_entry(&die, &low) && low == row->address;

		TRY(place_add(s, &c->instance, row->address, is_entry, false, false, row->view,
			      row));
	}
	return NULL;
}

static void note_near(struct places_search *s, uint32_t wanted, uint32_t line)
{
	if (line < wanted && line > s->near_below)
		s->near_below = line;
	if (line > wanted && (!s->near_above || line < s->near_above))
		s->near_above = line;
}

struct line_search {
	struct places_search *s;
	const struct line_set *wanted;
	chosen_vec chosen;
};

static bool line_is_wanted(const struct line_set *set, uint32_t line)
{
	for (size_t i = 0; i < set->v.n; i++) {
		if (set->v.v[i] == line)
			return true;
	}
	return false;
}

static struct error *wanted_row(void *ctx, const struct instance *instance, const struct row *row,
				bool empty)
{
	struct line_search *ls = ctx;

	if (line_is_wanted(ls->wanted, row->line))
		return chosen_add(ls->s->image, instance, row, empty, &ls->chosen);
	if (ls->wanted->v.n == 1)
		note_near(ls->s, ls->wanted->v.v[0], row->line);
	return NULL;
}

static struct error *wanted_lines(struct places_search *s, const struct instance *instance,
				  const struct instance_lines *own, const struct line_set *wanted)
{
	struct line_search ls = {.s = s, .wanted = wanted};
	struct error *err = instance_rows(s->image, instance, own, wanted_row, &ls);

	if (!err)
		err = places_of_chosen(s, &ls.chosen);
	vec_deinit(&ls.chosen);
	return err;
}

struct error *line_place(struct places_search *s, const struct instance *instance)
{
	struct instance_lines own;
	struct line_set wanted = {0};
	bool known;

	TRY(instance_lines(s->image, instance, &own, &known));
	if (!known)
		return NULL;
	uint32_t *line = vec_push(&wanted.v);
	if (!line)
		return error_nomem();
	*line = own.first + s->def->line;
	s->first = own.first;
	struct error *err = wanted_lines(s, instance, &own, &wanted);
	vec_deinit(&wanted.v);
	return err;
}

/* ---- Lines by their text ---- */

struct line_extent {
	uint32_t last;
};

static struct error *extent_row(void *ctx, const struct instance *instance, const struct row *row,
				bool empty)
{
	struct line_extent *extent = ctx;
	Dwarf_Die die = instance->die;

	if (row->line > extent->last && !in_inner_copy(&die, row->address, 0))
		extent->last = row->line;
	return NULL;
}

static void remove_blanks(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (!strchr(" \t\r\n", *from))
			*to++ = *from;
	}
	*to = 0;
}

/* The lines from first to last whose text matches the definition's pattern, blanks apart. */
static struct error *lines_by_text(struct places_search *s, Dwarf_Die *unit, const char *file,
				   uint32_t first, uint32_t last, struct line_set *out)
{
	_cleanup_free_ char *pattern = strdup(s->def->pattern);
	_cleanup_free_ char *source = line_source_path(unit, file);
	_cleanup_free_ char *path = source ? text_format("%s%s", s->image->symfs, source) : NULL;
	_cleanup_bounded_lines_ struct bounded_lines text = {0};
	char *line_text;

	if (!path || !pattern)
		return error_nomem();
	remove_blanks(pattern);
	struct error *err = bounded_lines_open(path, s->image->author, &text);
	if (err) {
		return error_hint(err, "\";PATTERN\" needs the source file at the path that the "
				       "compiler recorded; use a line number instead");
	}
	for (uint32_t line = 1; line <= last && (line_text = bounded_lines_next(&text)); line++) {
		if (line < first)
			continue;
		remove_blanks(line_text);
		if (!glob_match(pattern, line_text))
			continue;
		uint32_t *place = vec_push(&out->v);
		if (!place)
			return error_nomem();
		*place = line;
	}
	return NULL;
}

struct error *pattern_place(struct places_search *s, const struct instance *instance)
{
	struct instance_lines own;
	struct line_extent extent = {0};
	struct line_set wanted = {0};
	Dwarf_Die function = instance->function, unit;
	bool known;

	TRY(instance_lines(s->image, instance, &own, &known));
	if (!known || !die_unit_die(&function, &unit))
		return NULL;
	TRY(instance_rows(s->image, instance, &own, extent_row, &extent));
	struct error *err = lines_by_text(s, &unit, own.file, own.first, extent.last, &wanted);
	if (!err && wanted.v.n)
		err = wanted_lines(s, instance, &own, &wanted);
	vec_deinit(&wanted.v);
	return err;
}

/* ---- FILE:LINE ---- */

static struct error *file_line_in_unit(struct places_search *s, struct dwarf_unit *unit, bool *any)
{
	Dwarf_Lines *lines;
	size_t n;
	struct row row;
	chosen_vec chosen = {0};
	struct line_set wanted = {0};
	struct error *err = lines_of(s->image, &unit->die, &lines, &n);
	const char *last_file = NULL;
	bool last_same = false, have_lines = false;

	for (size_t i = 0; !err && i < n; i++) {
		struct instance instance;
		bool found;

		if (!row_of(lines, i, &row))
			continue;
		if (row.file != last_file) {
			last_file = row.file;
			last_same = path_ends_with(row.file, s->def->file);
		}
		if (!last_same)
			continue;
		*any = true;
		if (!have_lines && s->def->pattern) {
			err = lines_by_text(s, &unit->die, row.file, 1, UINT32_MAX, &wanted);
		} else if (!have_lines) {
			uint32_t *line = vec_push(&wanted.v);

			if (line)
				*line = s->def->line;
			else
				err = error_nomem();
		}
		have_lines = true;
		if (err)
			break;
		if (!line_is_wanted(&wanted, row.line)) {
			note_near(s, s->def->line, row.line);
			continue;
		}
		err = instance_at(s->image, unit, row.address, row.line, &instance, &found);
		if (!err && found && (s->def->inlines || !instance.inlined))
			err = chosen_add(s->image, &instance, &row, row_is_empty(lines, n, i, &row),
					 &chosen);
	}
	if (!err)
		err = places_of_chosen(s, &chosen);
	vec_deinit(&chosen);
	vec_deinit(&wanted.v);
	return err;
}

struct error *file_line_places(struct places_search *s)
{
	struct dwarf_image *image = s->image;
	_cleanup_free_ uint8_t *units = NULL;
	bool any = false;

	TRY(units_with_file(image, s->def->file, &units));
	for (int headers = 0; headers < 2 && !any; headers++) {
		for (size_t i = 0; i < image->units.n; i++) {
			if (units[i] &&
			    (headers || unit_is_of_file(&image->units.v[i], s->def->file)))
				TRY(file_line_in_unit(s, &image->units.v[i], &any));
		}
	}
	if (any)
		return NULL;

	struct nearest near = nearest_make(s->def->file);
	for (size_t i = 0; i < image->units.n; i++) {
		const char *name = dwarf_diename(&image->units.v[i].die);
		const char *slash = name ? strrchr(name, '/') : NULL;

		if (name)
			nearest_offer(&near, slash ? slash + 1 : name);
	}
	struct error *err = error_at(error_new(ENOENT, "unknown source file \"%s\"", s->def->file),
				     "%s", image->path);
	return error_suggest(err, &near);
}
