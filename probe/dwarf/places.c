// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a definition to places.
 *
 * An entry is the function's first instruction: there all parameters are in
 * their registers, by location lists or by the calling convention. Only when
 * something else is wanted of a function that was not optimised is the place
 * moved behind the prologue.
 *
 * A line's place is the first row of the table for it, in each instance of the
 * function and each block of it: a loop's line comes again at its end, a second
 * copy of it stands in another block.
 */
#include "probe/dwarf/walk.h"

#include <stdio.h>

void dwarf_place_deinit(struct dwarf_place *place)
{
	free(place->function);
	free(place->shown);
	free(place->inlined);
	free(place->symbol);
	free(place->file);
	memset(place, 0, sizeof(*place));
}

void dwarf_places_deinit(struct dwarf_places *places)
{
	for (size_t i = 0; i < places->n; i++)
		dwarf_place_deinit(&places->v[i]);
	free(places->v);
	memset(places, 0, sizeof(*places));
}

/* A set of source lines. */
struct line_set {
	VEC(uint32_t) v;
};

struct search {
	struct dwarf_image *image;
	const struct probe_def *def;
	struct dwarf_places *places;
	size_t n_instances, n_inlined;
	/* For errors about lines. */
	uint32_t near_below, near_above, first, last;
};

static struct error *keep_die(struct dwarf_image *image, const Dwarf_Die *die, uint64_t *index)
{
	/* Instances come one after the other: the last ones are likely the same. */
	for (size_t i = image->dies.n, tries = 0; i-- && tries < 4; tries++) {
		if (image->dies.v[i].addr == die->addr) {
			*index = i;
			return NULL;
		}
	}
	Dwarf_Die *place = vec_push(&image->dies);
	if (!place)
		return error_nomem();
	*place = *die;
	*index = image->dies.n - 1;
	return NULL;
}

static struct error *add_place(struct search *s, const struct instance *instance, Dwarf_Addr pc,
			       bool is_entry, bool after_prologue, bool at_return, int view,
			       uint32_t known_line)
{
	struct dwarf_image *image = s->image;
	Dwarf_Die die = instance->die, function = instance->function;
	Dwarf_Lines *lines;
	Dwarf_Addr low = pc;
	size_t n;

	if (s->places->n == s->places->cap && !vec_grow((void **)&s->places->v, &s->places->cap,
							s->places->n + 1, sizeof(*s->places->v)))
		return error_nomem();
	struct dwarf_place *place = &s->places->v[s->places->n];
	memset(place, 0, sizeof(*place));
	s->places->n++;

	const char *linkage = die_linkage_name(&function), *name = die_name(&function);
	TRY(keep_die(image, &function, &place->function_die));
	TRY(keep_die(image, &die, &place->scope_die));
	place->function = strdup(linkage ? linkage : name ? name : "?");
	place->shown = function_shown(&function);
	if (!place->shown)
		place->shown = strdup("?");
	if (instance->inlined)
		place->inlined = function_shown(&die);
	if (!place->function || !place->shown || (instance->inlined && !place->inlined))
		return error_nomem();
	die_entry(&function, &low);
	place->address = image_address(image, pc);
	place->offset = pc - low;
	place->is_entry = is_entry;
	place->view = view;
	place->after_prologue = after_prologue;
	place->at_return = at_return;
	TRY(image_need_symbols(image));
	const struct dwarf_symbol *symbol = image_symbol_at(image, place->address);
	if (symbol) {
		place->symbol = strdup(symbol->name);
		place->symbol_offset = place->address - symbol->start;
		if (!place->symbol)
			return error_nomem();
	}
	TRY(lines_of(image, &function, &lines, &n));
	Dwarf_Line *line = n ? line_at(lines, n, pc) : NULL;
	int number = 0;
	const char *file = NULL;
	if (is_entry && !after_prologue) {
		/* The row may be one of what was inlined first. */
		file = die_decl_file(&die);
		if (!file || dwarf_decl_line(&die, &number))
			file = NULL;
	}
	if (!file && line) {
		file = dwarf_linesrc(line, NULL, NULL);
		dwarf_lineno(line, &number);
	}
	if (file) {
		Dwarf_Die unit;
		place->file = die_unit_die(&function, &unit) ? line_source_path(&unit, file)
							     : strdup(file);
		place->line = known_line ? known_line : number > 0 ? (uint32_t)number : 0;
		if (!place->file)
			return error_nomem();
	}
	return NULL;
}

/* ---- Entries ---- */

/*
 * A function whose variables all live in memory for all of their scope, at
 * least one in the frame: it was not optimised.
 */
static struct error *all_in_slots(struct context *ctx, bool *yes)
{
	_cleanup_variables_ struct variables vars = {0};
	bool any = false;

	*yes = false;
	TRY(variables_in_scope(ctx, &vars));
	for (size_t i = 0; i < vars.n; i++) {
		Dwarf_Attribute attr;

		if (!dwarf_attr_integrate(&vars.v[i].die, DW_AT_location, &attr))
			continue;
		if (variable_in_slot(ctx, &vars.v[i].die))
			any = true;
		else if (dwarf_whatform(&attr) != DW_FORM_exprloc &&
			 dwarf_whatform(&attr) != DW_FORM_block1)
			return NULL;
	}
	*yes = any;
	return NULL;
}

/* Whether one of the definition's arguments has its value only behind the prologue. */
static struct error *wants_frame(struct search *s, struct context *ctx, bool *yes)
{
	_cleanup_variables_ struct variables vars = {0};

	*yes = false;
	TRY(variables_in_scope(ctx, &vars));
	for (size_t a = 0; a < s->def->n_args && !*yes; a++) {
		const struct probe_arg *arg = &s->def->args[a];

		for (size_t i = 0; i < vars.n && !*yes; i++) {
			Dwarf_Die *die = &vars.v[i].die;
			const char *name = die_name(die);
			bool named = arg->base == PROBE_VARIABLE && name && arg->variable &&
				     !strcmp(name, arg->variable);
			bool all = arg->base == PROBE_VARS ||
				   (arg->base == PROBE_PARAMS && vars.v[i].is_parameter);

			if ((!named && !all) || !variable_in_slot(ctx, die))
				continue;
			_cleanup_location_ struct location loc = {0};
			bool known = false;
			if (vars.v[i].is_parameter)
				TRY(abi_parameter(ctx, die, &loc, &known));
			*yes = !known;
		}
	}
	return NULL;
}

static struct error *entry_place(struct search *s, const struct instance *instance)
{
	Dwarf_Die die = instance->die;
	Dwarf_Addr low, behind;
	Dwarf_Lines *lines;
	size_t n;

	if (!die_entry(&die, &low))
		return NULL;
	if (!instance->inlined && s->def->n_args && s->def->where == PROBE_ENTRY) {
		struct context ctx = {
			.image = s->image,
			.pc = low,
			.at_entry = true,
			.instance_entry = true,
			.view = 0,
			.function = die,
			.instance = die,
		};
		bool slots, wants = false;

		TRY(all_in_slots(&ctx, &slots));
		if (slots)
			TRY(wants_frame(s, &ctx, &wants));
		if (wants) {
			TRY(lines_of(s->image, &die, &lines, &n));
			if (n && prologue_end(lines, n, &die, low, &behind) && behind > low)
				return add_place(s, instance, behind, true, true, false, -1, 0);
		}
	}
	/* The parameters are bound in the state behind the copy's entry, when its first statement
	 * has one of its own; else what comes next has changed them already. */
	uint64_t view = 0;
	if (instance->inlined && !die_udata(&die, 0x2138 /* DW_AT_GNU_entry_view */, &view))
		view = 0;
	if (instance->inlined) {
		TRY(lines_of(s->image, &die, &lines, &n));
		view += n && view_begins_statement(lines, n, low, view + 1);
	}
	return add_place(s, instance, low, true, false, false, view < INT32_MAX ? (int)view : -1,
			 0);
}

static struct error *return_place(struct search *s, const struct instance *instance)
{
	Dwarf_Die die = instance->die;
	Dwarf_Addr low;

	if (instance->inlined || !die_entry(&die, &low))
		return NULL;
	return add_place(s, instance, low, false, false, true, -1, 0);
}

static struct error *offset_place(struct search *s, const struct instance *instance)
{
	Dwarf_Die die = instance->die;
	Dwarf_Addr low, high;

	if (instance->inlined || !die_entry(&die, &low))
		return NULL;
	if (dwarf_haspc(&die, low + s->def->offset) <= 0) {
		uint64_t size = !dwarf_highpc(&die, &high) && high > low ? high - low : 0;
		struct error *err = error_new(EINVAL, "+%llu is past the end of %s",
					      (unsigned long long)s->def->offset, s->def->function);

		return size ? error_hint(err, "it has %llu bytes", (unsigned long long)size) : err;
	}
	return add_place(s, instance, low + s->def->offset, !s->def->offset, false, false,
			 s->def->offset ? -1 : 0, 0);
}

/* ---- Lines ---- */

struct row {
	Dwarf_Addr address;
	int view; /* how many rows are before it at the address */
	const char *file;
	uint32_t line;
};

/* A row that begins a statement; false: another one. */
static bool row_of(Dwarf_Lines *lines, size_t i, struct row *row)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, i);
	bool flag;
	int number;

	if (!line || dwarf_lineendsequence(line, &flag) || flag ||
	    dwarf_linebeginstatement(line, &flag) || !flag || dwarf_lineno(line, &number) ||
	    number <= 0 || dwarf_lineaddr(line, &row->address))
		return false;
	row->file = dwarf_linesrc(line, NULL, NULL);
	row->line = (uint32_t)number;
	row->view = 0;
	Dwarf_Addr before;
	while (i-- && (line = dwarf_onesrcline(lines, i)) && !dwarf_lineendsequence(line, &flag) &&
	       !flag && !dwarf_lineaddr(line, &before) && before == row->address &&
	       row->view < 4096)
		row->view++;
	return row->file;
}

/* The next row's address is the same: no code belongs to this row. */
static bool row_is_empty(Dwarf_Lines *lines, size_t n, size_t i, Dwarf_Addr address)
{
	Dwarf_Addr next;
	Dwarf_Line *line = i + 1 < n ? dwarf_onesrcline(lines, i + 1) : NULL;

	return line && !dwarf_lineaddr(line, &next) && next == address;
}

struct chosen {
	Dwarf_Addr address;
	int view;
	void *scope;
	Dwarf_Off block;
	uint32_t line;
	struct instance instance;
	bool empty;
};
typedef VEC(struct chosen) chosen_vec;

/* Keeps the lowest address for each instance, block and line; one with code of its own first. */
static struct error *choose(struct search *s, const struct instance *instance,
			    const struct row *row, bool empty, chosen_vec *out)
{
	Dwarf_Die die = instance->die;
	Dwarf_Off block = block_at(s->image, &die, row->address);

	for (size_t i = 0; i < out->n; i++) {
		struct chosen *c = &out->v[i];

		if (c->scope != die.addr || c->block != block || c->line != row->line)
			continue;
		if ((c->empty && !empty) || (c->empty == empty && row->address < c->address)) {
			c->address = row->address;
			c->view = row->view;
			c->empty = empty;
		}
		return NULL;
	}
	struct chosen *c = vec_push(out);
	if (!c)
		return error_nomem();
	*c = (struct chosen){row->address, row->view, die.addr, block, row->line, *instance, empty};
	return NULL;
}

static struct error *places_of_chosen(struct search *s, const chosen_vec *chosen)
{
	for (size_t i = 0; i < chosen->n; i++) {
		const struct chosen *c = &chosen->v[i];
		Dwarf_Die die = c->instance.die;
		Dwarf_Addr low;
		int line;
		/* The function's own line, where it begins, is its entry. */
		bool is_entry = !dwarf_decl_line(&die, &line) && (uint32_t)line == c->line &&
				die_entry(&die, &low) && low == c->address;

		TRY(add_place(s, &c->instance, c->address, is_entry, false, false, c->view,
			      c->line));
	}
	return NULL;
}

static void note_near(struct search *s, uint32_t wanted, uint32_t line)
{
	if (line < wanted && line > s->near_below)
		s->near_below = line;
	if (line > wanted && (!s->near_above || line < s->near_above))
		s->near_above = line;
}

/* Whether a copy of another function, inlined into the instance, holds the address. */
static bool in_inner_copy(Dwarf_Die *parent, Dwarf_Addr pc, int depth)
{
	Dwarf_Die child;

	if (depth > 32 || dwarf_child(parent, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, pc) > 0)
			return true;
		if (tag == DW_TAG_lexical_block && dwarf_haspc(&child, pc) > 0 &&
		    in_inner_copy(&child, pc, depth + 1))
			return true;
	} while (!die_sibling(&child));
	return false;
}

struct instance_lines {
	const char *file;      /* where the function is defined */
	uint32_t first, limit; /* its line; that of the next function in the file */
};

static bool same_file(const char *a, const char *b);

/* The function that follows in the source: a copy's code also has rows of what is around it. */
static struct error *find_limit(struct dwarf_image *image, Dwarf_Die *parent,
				struct instance_lines *own, int depth)
{
	Dwarf_Die child;
	Dwarf_Word line;
	Dwarf_Attribute attr;
	bool have;

	if (depth > 8)
		return NULL;
	TRY(die_child(image, parent, &child, &have));
	while (have) {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (!dwarf_attr(&child, DW_AT_decl_line, &attr) ||
			    dwarf_formudata(&attr, &line) || line <= own->first ||
			    line >= own->limit)
				break;
			const char *file = die_decl_file(&child);
			if (file && same_file(file, own->file) &&
			    !die_flag(&child, DW_AT_declaration))
				own->limit = (uint32_t)line;
			break;
		case DW_TAG_namespace:
			TRY(find_limit(image, &child, own, depth + 1));
			break;
		}
		TRY(die_next(image, &child, &have));
	}
	return NULL;
}

static struct error *instance_lines(struct dwarf_image *image, const struct instance *instance,
				    struct instance_lines *out, bool *known)
{
	Dwarf_Die die = instance->die, root;
	int line;

	*known = false;
	out->file = die_decl_file(&die);
	if (!out->file || dwarf_decl_line(&die, &line) || line <= 0)
		return NULL;
	out->first = (uint32_t)line;
	out->limit = UINT32_MAX;
	*known = true;
	return dwarf_diecu(&die, &root, NULL, NULL) ? find_limit(image, &root, out, 0) : NULL;
}

/* clang's table may have "/build/./a.c" and "a.c" for one file. */
static bool same_file(const char *a, const char *b)
{
	while (a[0] == '.' && a[1] == '/')
		a += 2;
	while (b[0] == '.' && b[1] == '/')
		b += 2;
	return path_ends_with(a, b) || path_ends_with(b, a);
}

typedef struct error *row_fn(void *ctx, const struct instance *instance, const struct row *row,
			     bool empty);

/* The rows of an instance that are lines of the function itself. */
static struct error *instance_rows(struct dwarf_image *image, const struct instance *instance,
				   const struct instance_lines *own, row_fn *fn, void *ctx)
{
	Dwarf_Die die = instance->die, function = instance->function;
	const char *last_file = NULL;
	bool last_same = false;
	Dwarf_Lines *lines;
	struct row row;
	size_t n;

	TRY(lines_of(image, &function, &lines, &n));
	for (size_t i = 0; i < n; i++) {
		if (!row_of(lines, i, &row) || row.line < own->first || row.line >= own->limit ||
		    dwarf_haspc(&die, row.address) <= 0)
			continue;
		if (row.file != last_file) {
			last_file = row.file;
			last_same = same_file(row.file, own->file);
		}
		if (!last_same)
			continue;
		TRY(fn(ctx, instance, &row, row_is_empty(lines, n, i, row.address)));
	}
	return NULL;
}

struct line_search {
	struct search *s;
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
		return choose(ls->s, instance, row, empty, &ls->chosen);
	if (ls->wanted->v.n == 1)
		note_near(ls->s, ls->wanted->v.v[0], row->line);
	return NULL;
}

static struct error *wanted_lines(struct search *s, const struct instance *instance,
				  const struct instance_lines *own, const struct line_set *wanted)
{
	struct line_search ls = {.s = s, .wanted = wanted};
	struct error *err = instance_rows(s->image, instance, own, wanted_row, &ls);

	if (!err)
		err = places_of_chosen(s, &ls.chosen);
	vec_deinit(&ls.chosen);
	return err;
}

static struct error *line_place(struct search *s, const struct instance *instance)
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

struct extent {
	uint32_t last;
};

static struct error *extent_row(void *ctx, const struct instance *instance, const struct row *row,
				bool empty)
{
	struct extent *extent = ctx;
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
static struct error *lines_by_text(struct search *s, Dwarf_Die *unit, const char *file,
				   uint32_t first, uint32_t last, struct line_set *out)
{
	_cleanup_free_ char *text = NULL, *pattern = strdup(s->def->pattern);
	_cleanup_free_ char *source = line_source_path(unit, file);
	_cleanup_free_ char *path = source ? text_format("%s%s", s->image->symfs, source) : NULL;
	size_t cap = 0;

	if (!path || !pattern)
		return error_nomem();
	remove_blanks(pattern);
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	if (!f) {
		struct error *err =
			error_at(error_errno(errno, "the source cannot be read"), "%s", path);

		return error_hint(err,
				  "\";PATTERN\" needs the source where the compiler saw it; use a "
				  "line's number");
	}
	for (uint32_t line = 1; line <= last && getline(&text, &cap, f) > 0; line++) {
		if (line < first)
			continue;
		remove_blanks(text);
		if (!glob_match(pattern, text))
			continue;
		uint32_t *place = vec_push(&out->v);
		if (!place)
			return error_nomem();
		*place = line;
	}
	return NULL;
}

static struct error *pattern_place(struct search *s, const struct instance *instance)
{
	struct instance_lines own;
	struct extent extent = {0};
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

/* Whether the unit is made of the file itself; headers are looked for in all. */
static bool unit_is_of_file(struct unit *unit, const char *file)
{
	const char *name = dwarf_diename(&unit->die);

	return name && path_ends_with(name, file);
}

static struct error *file_line_in_unit(struct search *s, struct unit *unit, bool *any)
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
		err = instance_at(s->image, unit, row.address, row.file, row.line, &instance,
				  &found);
		if (!err && found && (s->def->inlines || !instance.inlined))
			err = choose(s, &instance, &row, row_is_empty(lines, n, i, row.address),
				     &chosen);
	}
	if (!err)
		err = places_of_chosen(s, &chosen);
	vec_deinit(&chosen);
	vec_deinit(&wanted.v);
	return err;
}

static struct error *file_lines(struct search *s)
{
	struct dwarf_image *image = s->image;
	bool any = false;

	TRY(image_need_units(image));
	for (int headers = 0; headers < 2 && !any; headers++) {
		for (size_t i = 0; i < image->units.n; i++) {
			if (headers || unit_is_of_file(&image->units.v[i], s->def->file))
				TRY(file_line_in_unit(s, &image->units.v[i], &any));
		}
	}
	if (any)
		return NULL;

	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct nearest near = nearest_make(s->def->file);
	for (size_t i = 0; i < image->units.n; i++) {
		const char *name = dwarf_diename(&image->units.v[i].die);
		const char *slash = name ? strrchr(name, '/') : NULL;

		if (name)
			nearest_offer(&near, slash ? slash + 1 : name);
	}
	struct error *err = error_at(error_new(ENOENT, "no source file \"%s\"", s->def->file), "%s",
				     image->path);
	return nearest_text(&near, &text) ? error_hint(err, "did you mean %s?", strbuf_str(&text))
					  : err;
}

/* ---- Together ---- */

static struct error *place_of(void *ctx, const struct instance *instance)
{
	struct search *s = ctx;

	if (instance->inlined)
		s->n_inlined++;
	if (instance->inlined && !s->def->inlines)
		return NULL;
	s->n_instances++;
	switch (s->def->where) {
	case PROBE_ENTRY:
		return entry_place(s, instance);
	case PROBE_RETURN:
		return return_place(s, instance);
	case PROBE_OFFSET:
		return offset_place(s, instance);
	case PROBE_LINE:
		return line_place(s, instance);
	case PROBE_PATTERN:
		return pattern_place(s, instance);
	case PROBE_FILE_LINE:
		break;
	}
	return NULL;
}

static int place_cmp(const void *a, const void *b)
{
	const struct dwarf_place *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->scope_die < y->scope_die ? -1 : x->scope_die > y->scope_die;
}

/* The same code may be described twice: by a unit and by one that imports it. */
static void remove_duplicates(struct dwarf_image *image, struct dwarf_places *places)
{
	size_t n = 0;

	if (places->n)
		qsort(places->v, places->n, sizeof(*places->v), place_cmp);
	for (size_t i = 0; i < places->n; i++) {
		struct dwarf_place *p = &places->v[i], *last = n ? &places->v[n - 1] : NULL;

		if (last && last->address == p->address &&
		    image->dies.v[last->scope_die].addr == image->dies.v[p->scope_die].addr)
			dwarf_place_deinit(p);
		else
			places->v[n++] = *p;
	}
	places->n = n;
}

static struct error *no_function(struct dwarf_image *image, const struct probe_def *def)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct nearest near = nearest_make(def->function);
	const struct dwarf_symbol *s;

	vec_for_each (s, &image->symbols) {
		if (s->type == STT_FUNC)
			nearest_offer(&near, s->name);
	}
	struct error *err = def->file ? error_new(ENOENT, "no function \"%s\" in \"%s\"",
						  def->function, def->file)
				      : error_new(ENOENT,
						  def->is_glob ? "no function matches \"%s\""
							       : "no function \"%s\"",
						  def->function);
	err = error_at(err, "%s", image->path);
	return nearest_text(&near, &text) ? error_hint(err, "did you mean %s?", strbuf_str(&text))
					  : err;
}

static struct error *no_place(struct search *s)
{
	const struct probe_def *def = s->def;
	uint32_t base = def->where == PROBE_LINE ? s->first : 0;

	switch (def->where) {
	case PROBE_RETURN:
		return error_hint(error_new(ENOENT,
					    "%s is only there in inlined copies, which do not "
					    "return",
					    def->function),
				  "probe its entry");
	case PROBE_OFFSET:
		return error_new(ENOENT, "%s is only there in inlined copies", def->function);
	case PROBE_PATTERN:
		return error_new(ENOENT, "no line of %s that has code matches \"%s\"",
				 def->function, def->pattern);
	case PROBE_LINE:
	case PROBE_FILE_LINE: {
		struct error *err = error_new(ENOENT, "no code begins on line %u of %s", def->line,
					      def->function ? def->function : def->file);

		if (s->near_below >= base && s->near_below && s->near_above)
			return error_hint(err, "on lines %u and %u it does", s->near_below - base,
					  s->near_above - base);
		if (s->near_below >= base && s->near_below)
			return error_hint(err, "the last one is %u", s->near_below - base);
		return s->near_above ? error_hint(err, "the first one is %u", s->near_above - base)
				     : err;
	}
	default:
		return error_new(ENOENT, "%s is only there in inlined copies (inlines=no)",
				 def->function);
	}
}

struct error *dwarf_places_find(struct dwarf_image *image, const struct probe_def *def,
				struct dwarf_places *places)
{
	_cleanup_dwarf_places_ struct dwarf_places found = {0};
	struct search s = {.image = image, .def = def, .places = &found};

	if (!def->function) {
		TRY(file_lines(&s));
	} else {
		_cleanup_(matcher_deinit) struct matcher m = matcher_make(def->function, def->file);

		TRY(instances_find(image, &m, true, place_of, &s));
		if (!s.n_instances && !s.n_inlined) {
			TRY(image_need_symbols(image));
			return no_function(image, def);
		}
	}
	if (!found.n)
		return error_at(no_place(&s), "%s", image->path);
	remove_duplicates(image, &found);
	*places = found;
	found = (struct dwarf_places){0};
	return NULL;
}

/* ---- -F ---- */

struct listing {
	dwarf_name_fn *fn;
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

struct error *dwarf_functions(struct dwarf_image *image, const char *glob, dwarf_name_fn *fn,
			      void *ctx)
{
	_cleanup_(matcher_deinit) struct matcher m = matcher_make(glob, NULL);
	struct listing l = {.fn = fn, .ctx = ctx};
	struct error *err = instances_find(image, &m, true, list_name, &l);

	strmap_deinit(&l.seen);
	names_deinit(&l.names);
	return err;
}

/* ---- -L ---- */

struct line_list {
	struct dwarf_image *image;
	VEC(uint32_t) can;
	char *file;
	uint32_t first, last;
};

static struct error *list_row(void *ctx, const struct instance *instance, const struct row *row,
			      bool empty)
{
	struct line_list *l = ctx;
	Dwarf_Die die = instance->die;

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
	Dwarf_Lines *lines;
	struct row row;
	size_t n;

	TRY(image_need_units(image));
	for (int headers = 0; headers < 2 && !l->file; headers++) {
		for (size_t i = 0; i < image->units.n; i++) {
			struct unit *unit = &image->units.v[i];

			if (!headers && !unit_is_of_file(unit, file))
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

static struct error *lines_tell(struct line_list *l, dwarf_line_fn *fn, void *ctx)
{
	size_t at = 0;

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
		TRY(fn(ctx, &shown));
	}
	return NULL;
}

struct error *dwarf_lines(struct dwarf_image *image, const struct probe_def *def, dwarf_line_fn *fn,
			  void *ctx)
{
	struct line_list l = {.image = image};
	struct error *err = NULL;

	if (!def->function) {
		err = list_file(&l, def->file);
	} else {
		_cleanup_(matcher_deinit) struct matcher m = matcher_make(def->function, def->file);

		err = instances_find(image, &m, true, list_instance, &l);
	}
	if (!err && !l.file) {
		if (!def->function) {
			err = error_at(error_new(ENOENT, "no source file \"%s\"", def->file), "%s",
				       image->path);
		} else {
			err = image_need_symbols(image);
			if (!err)
				err = no_function(image, def);
		}
	}
	if (!err)
		err = lines_tell(&l, fn, ctx);
	free(l.file);
	vec_deinit(&l.can);
	return err;
}
