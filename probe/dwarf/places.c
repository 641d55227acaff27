// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a definition to places.
 *
 * An entry is the function's first instruction: there all parameters are in
 * their registers, by location lists or by the calling convention. Only when
 * something else is wanted of a function that was not optimised is the place
 * moved behind the prologue.
 */
#include "probe/dwarf/places.h"

void pb_dwarf_place_deinit(struct dwarf_place *place)
{
	free(place->function);
	free(place->shown);
	free(place->inlined);
	free(place->symbol);
	free(place->file);
	memset(place, 0, sizeof(*place));
}

void pb_dwarf_places_deinit(struct dwarf_places *places)
{
	for (size_t i = 0; i < places->n; i++)
		pb_dwarf_place_deinit(&places->v[i]);
	free(places->v);
	memset(places, 0, sizeof(*places));
}

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

struct error *place_add(struct places_search *s, const struct instance *instance, Dwarf_Addr pc,
			bool is_entry, bool after_prologue, bool at_return, int view,
			const struct row *row)
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
	errno = 0;
	place->shown = function_shown(&function);
	/* It has no name, or there is no memory for it. */
	if (!place->shown && errno != ENOMEM)
		place->shown = strdup("?");
	if (instance->inlined)
		place->inlined = function_shown(&die);
	if (!place->function || !place->shown || (instance->inlined && !place->inlined))
		return error_nomem();
	die_entry(&function, &low);
	place->address = image_address(image, pc);
	place->offset = pc - low;
	place->is_entry = is_entry;
	place->unsure = s->def->unsure;
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
	if (row) {
		file = row->file;
		number = (int)row->line;
	} else if (is_entry && !after_prologue) {
		/* The row may be one of what was inlined first. */
		file = die_decl_file(image, &die);
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
		place->line = number > 0 ? (uint32_t)number : 0;
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
static struct error *wants_frame(struct places_search *s, struct context *ctx, bool *yes)
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
			_cleanup_location_ struct dwarf_location loc = {0};
			bool known = false;
			if (vars.v[i].is_parameter)
				TRY(abi_parameter(ctx, die, &loc, &known));
			*yes = !known;
		}
	}
	return NULL;
}

static struct error *entry_place(struct places_search *s, const struct instance *instance)
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
				return place_add(s, instance, behind, true, true, false, -1, NULL);
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
	TRY(place_add(s, instance, low, true, false, false, view < INT32_MAX ? (int)view : -1,
		      NULL));
	return copy_entries(s, instance, low);
}

static struct error *return_place(struct places_search *s, const struct instance *instance)
{
	Dwarf_Die die = instance->die;
	Dwarf_Addr low;

	if (instance->inlined || !die_entry(&die, &low))
		return NULL;
	return place_add(s, instance, low, false, false, true, -1, NULL);
}

static struct error *offset_place(struct places_search *s, const struct instance *instance)
{
	Dwarf_Die die = instance->die;
	Dwarf_Addr low, high;

	if (instance->inlined || !die_entry(&die, &low))
		return NULL;
	if (dwarf_haspc(&die, low + s->def->offset) <= 0) {
		uint64_t size = !dwarf_highpc(&die, &high) && high > low ? high - low : 0;
		struct error *err = error_new(EINVAL, "offset +%llu is past the end of %s",
					      (unsigned long long)s->def->offset, s->def->function);

		return size ? error_hint(err, "the function has %llu bytes",
					 (unsigned long long)size)
			    : err;
	}
	return place_add(s, instance, low + s->def->offset, !s->def->offset, false, false,
			 s->def->offset ? -1 : 0, NULL);
}

/* ---- Together ---- */

static struct error *note_part(struct places_search *s, const struct instance *instance)
{
	Dwarf_Die die = instance->die;
	Dwarf_Addr low;
	int line;

	if (!die_entry(&die, &low) || dwarf_decl_line(&die, &line) || line <= 0)
		return NULL;
	struct part_entry *part = vec_push(&s->parts);
	if (!part)
		return error_nomem();
	*part = (struct part_entry){image_address(s->image, low), (uint32_t)line};
	return NULL;
}

static struct error *place_of(void *ctx, const struct instance *instance)
{
	struct places_search *s = ctx;
	const bool has_lines = s->def->where == PROBE_LINE || s->def->where == PROBE_PATTERN;

	if (instance->inlined)
		s->n_inlined++;
	if (instance->inlined && !s->def->inlines)
		return NULL;
	s->n_instances++;
	if (instance->is_part)
		TRY(note_part(s, instance));
	if (instance->is_part && !has_lines)
		return NULL;
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

/* Whether a definition's place is by the line, and not by the instance. */
static bool is_by_line(const struct probe_def *def)
{
	return def->where == PROBE_LINE || def->where == PROBE_FILE_LINE ||
	       def->where == PROBE_PATTERN;
}

/*
 * Two places are one: the same code may be described twice, by a unit and by one that imports it.
 * But a copy may be entered twice at one address, each time in another state (location view).
 * Of a line also where two instances hold the address, one within the other.
 */
static bool is_same_place(const struct places_search *s, const struct dwarf_place *a,
			  const struct dwarf_place *b)
{
	if (a->address != b->address)
		return false;
	bool by_line = is_by_line(s->def);
	if (s->image->dies.v[a->scope_die].addr == s->image->dies.v[b->scope_die].addr)
		return by_line || a->view == b->view;
	return by_line && a->line == b->line;
}

static void remove_duplicates(struct places_search *s)
{
	struct dwarf_places *places = s->places;
	size_t n = 0;

	if (places->n)
		qsort(places->v, places->n, sizeof(*places->v), place_cmp);
	for (size_t i = 0; i < places->n; i++) {
		struct dwarf_place *p = &places->v[i];
		size_t same = n;

		while (same && places->v[same - 1].address == p->address &&
		       !is_same_place(s, &places->v[same - 1], p))
			same--;
		if (!same || places->v[same - 1].address != p->address) {
			places->v[n++] = *p;
			continue;
		}
		/* The inner instance, which came later, has the variables. */
		pb_dwarf_place_deinit(&places->v[same - 1]);
		places->v[same - 1] = *p;
	}
	places->n = n;
}

/* Nor is a function's own line, at the entry of a part of it, a second time that it is called. */
static void remove_parts(struct places_search *s)
{
	struct dwarf_places *places = s->places;
	const struct part_entry *part;
	size_t n = 0;

	for (size_t i = 0; i < places->n; i++) {
		bool is_part = false;

		vec_for_each (part, &s->parts)
			is_part |= places->v[i].address == part->address &&
				   places->v[i].line == part->line;
		if (is_part && places->n > 1)
			pb_dwarf_place_deinit(&places->v[i]);
		else
			places->v[n++] = places->v[i];
	}
	places->n = n;
}

struct error *error_no_function(struct dwarf_image *image, const struct probe_def *def)
{
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
	if (image->split_missing)
		return error_hint(err, "%s", image->split_missing);
	return error_suggest(err, &near);
}

static struct error *no_place(struct places_search *s)
{
	const struct probe_def *def = s->def;
	uint32_t base = def->where == PROBE_LINE ? s->first : 0;

	switch (def->where) {
	case PROBE_RETURN:
		return error_hint(
			error_new(ENOENT, "%s exists only as inlined copies, which have no return",
				  def->function),
			"probe its entry");
	case PROBE_OFFSET:
		return error_new(ENOENT, "%s exists only as inlined copies", def->function);
	case PROBE_PATTERN:
		return error_new(ENOENT, "no line of %s with code matches \"%s\"", def->function,
				 def->pattern);
	case PROBE_LINE:
	case PROBE_FILE_LINE: {
		struct error *err = error_new(ENOENT, "line %u of %s has no code", def->line,
					      def->function ? def->function : def->file);

		if (s->near_below >= base && s->near_below && s->near_above)
			return error_hint(err, "the nearest lines with code are %u and %u",
					  s->near_below - base, s->near_above - base);
		if (s->near_below >= base && s->near_below)
			return error_hint(err, "the last line with code is %u",
					  s->near_below - base);
		return s->near_above ? error_hint(err, "the first line with code is %u",
						  s->near_above - base)
				     : err;
	}
	default:
		return error_new(ENOENT, "%s exists only as inlined copies (inlines=no)",
				 def->function);
	}
}

static struct error *find_places(struct places_search *s)
{
	const struct probe_def *def = s->def;

	if (!def->function)
		return file_line_places(s);
	_cleanup_(matcher_deinit) struct matcher m =
		matcher_make(s->image, def->function, def->is_glob, def->file);
	TRY(instances_find(s->image, &m, true, place_of, s));
	if (s->n_instances || s->n_inlined)
		return NULL;
	TRY(image_need_symbols(s->image));
	return error_no_function(s->image, def);
}

struct error *pb_dwarf_places_find(struct dwarf_image *image, const struct probe_def *def,
				   struct dwarf_places *places)
{
	_cleanup_dwarf_places_ struct dwarf_places found = {0};
	struct places_search s = {.image = image, .def = def, .places = &found};

	struct error *err = find_places(&s);
	if (!err && !found.n)
		err = error_at(no_place(&s), "%s", image->path);
	if (!err) {
		remove_duplicates(&s);
		if (is_by_line(def))
			remove_parts(&s);
	}
	vec_deinit(&s.parts);
	if (err)
		return err;
	*places = found;
	found = (struct dwarf_places){0};
	return NULL;
}
