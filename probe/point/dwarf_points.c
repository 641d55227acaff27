// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points that DWARF tells of. Its addresses are those of the image; the kernel
 * runs somewhere else (KASLR), and modules anywhere: a place there is found
 * again by its symbol in kallsyms, and where several symbols have that name,
 * in the kernel proper by how far all of it was moved.
 */
#include "probe/point/internal.h"

#include <ctype.h>
#include <sys/utsname.h>

#include "lib/sys/sys.h"
#include "probe/dwarf/dwarf.h"

/* ---- images ---- */

void images_deinit(struct probe_finder *finder)
{
	struct image_entry *entry;

	vec_for_each (entry, &finder->images) {
		free(entry->key);
		pb_dwarf_image_free(entry->image);
		free(entry->msg);
		free(entry->hint);
	}
	vec_deinit(&finder->images);
}

static struct error *open_image(struct probe_finder *finder, const struct user *user,
				const char *module, struct dwarf_image **out)
{
	const struct finder_opts *fo = &finder->opts;
	struct dwarf_opts opts = {
		.debug_dirs = fo->debug_dirs,
		.symfs = fo->symfs,
		.no_debuginfod = fo->no_debuginfod,
		.entry_values = user != NULL,
		.log = fo->log,
	};
	struct utsname uts;
	uint8_t id[20];
	_cleanup_free_ char *notes = NULL;

	if (fo->no_dwarf)
		return error_new(ENODATA, "debug information is not used");
	if (user)
		return pb_dwarf_image_open(user_path(user), &opts, out);
	/* A kallsyms of one's own is another kernel's. */
	if (!fo->kallsyms) {
		size_t size = 0;

		notes = module ? text_format("/sys/module/%s/notes/.note.gnu.build-id", module)
			       : strdup("/sys/kernel/notes");
		if (!notes)
			return error_nomem();
		error_free(notes_build_id(notes, id, &size));
		if (size) {
			opts.build_id = id;
			opts.build_id_size = size;
		}
	}
	if (fo->vmlinux && !module)
		return pb_dwarf_image_open(fo->vmlinux, &opts, out);
	if (uname(&uts))
		return error_errno(errno, "uname");
	return pb_dwarf_image_open_kernel(uts.release, module, &opts, out);
}

struct error *finder_image(struct probe_finder *finder, const struct user *user, const char *module,
			   struct dwarf_image **out)
{
	const char *key = user ? user_path(user) : module ? module : "";
	struct image_entry *entry;

	vec_for_each (entry, &finder->images)
		if (entry->is_user == (user != NULL) && str_equal(entry->key, key))
			break;
	if (!finder->images.v || entry == finder->images.v + finder->images.n) {
		entry = vec_push(&finder->images);
		if (!entry)
			return error_nomem();
		entry->key = strdup(key);
		entry->is_user = user;
		_cleanup_error_ struct error *err =
			entry->key ? open_image(finder, user, module, &entry->image)
				   : error_nomem();
		if (err) {
			entry->code = err->code;
			entry->msg = text_format("%s%s%s", err->where ? err->where : "",
						 err->where ? ": " : "", err->msg);
			entry->hint = err->hint ? strdup(err->hint) : NULL;
			if (!entry->key || !entry->msg) {
				free(entry->key);
				free(entry->msg);
				free(entry->hint);
				finder->images.n--;
				return error_nomem();
			}
		}
	}
	if (entry->image) {
		*out = entry->image;
		return NULL;
	}
	struct error *err = error_new(entry->code, "%s", entry->msg);
	return entry->hint ? error_hint(err, "%s", entry->hint) : err;
}

struct error *finder_image_if_any(struct probe_finder *finder, const struct user *user,
				  const char *module, struct dwarf_image **out)
{
	struct error *err;

	*out = NULL;
	err = finder_image(finder, user, module, out);
	if (err && err->code != ENOMEM) {
		log_debug(finder->opts.log, "debug information is not available: %s", err->msg);
		error_free(err);
		err = NULL;
	}
	return err;
}

/* ---- addresses ---- */

static bool wants_symbols(const struct elf_file *file, const struct elf_section *sec)
{
	(void)file;
	return sec->type == SHT_SYMTAB || sec->type == SHT_STRTAB;
}

/* How far the kernel was moved from where vmlinux has it. */
static struct error *find_bias(struct probe_finder *finder, struct dwarf_image *image)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	uint64_t runs;

	if (finder->have_bias)
		return NULL;
	if (!kernel_symbol(finder->kernel, "_stext", NULL, &runs, NULL))
		return error_new(EPERM, "/proc/kallsyms does not show the kernel's address");
	TRY(pb_elf_file_open_parts(pb_dwarf_image_path(image), wants_symbols, &file));
	const struct elf_section *table = pb_elf_section_by_type(file, SHT_SYMTAB);
	for (size_t i = 1; table && i < pb_elf_symbol_count(file, table); i++) {
		struct elf_symbol sym;

		TRY(pb_elf_symbol_at(file, table, i, &sym));
		if (!str_equal(sym.name, "_stext"))
			continue;
		finder->bias = runs - sym.value;
		finder->have_bias = true;
		return NULL;
	}
	return error_new(ENODATA, "%s has no symbol _stext", pb_dwarf_image_path(image));
}

/* Where a place of the kernel's image is in the kernel that runs. */
static struct error *kernel_address(struct probe_finder *finder, struct dwarf_image *image,
				    const char *module, const struct dwarf_place *place,
				    uint64_t *address)
{
	uint64_t start;
	size_t same = 0;

	if (place->symbol && kernel_symbol(finder->kernel, place->symbol, module, &start, &same) &&
	    same == 1) {
		*address = start + place->symbol_offset;
		return NULL;
	}
	if (module)
		return error_new(EOPNOTSUPP,
				 same ? "module %s has several symbols %s, and the right one "
					"cannot be determined"
				      : "module %s has no symbol %s: it is not loaded, or its "
					"addresses are hidden",
				 module, place->symbol ? place->symbol : "there");
	TRY(find_bias(finder, image));
	*address = place->address + finder->bias;
	return NULL;
}

/* ---- arguments ---- */

struct place_args {
	struct gather *g;
	struct dwarf_image *image;
	const struct dwarf_place *place;
	struct untyped untyped;
	struct pending *pending;
	size_t index;	 /* of the argument */
	size_t n_params; /* seen so far */
	bool params_only;
	char *wanted; /* of $argN: the name of that parameter, found */
};

static bool user_symbol_address(void *ctx, const char *name, uint64_t *address)
{
	return user_symbol(ctx, name, address);
}

static bool kernel_symbol_address(void *ctx, const char *name, uint64_t *address)
{
	return kernel_symbol(ctx, name, NULL, address, NULL);
}

/* "self.0" is no name of a field. */
static char *field_name(const char *name)
{
	char *copy = text_format("%s%s", isdigit((unsigned char)name[0]) ? "_" : "", name);

	for (char *c = copy; c && *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return copy;
}

/*
 * An array of characters that was asked for in no type is text, as it is with BTF; one that is not
 * in memory stays bytes.
 */
static void as_text(const struct probe_arg *arg, struct fetch_value *value)
{
	const char *type = value->type;

	if (arg->type != PROBE_TYPE_NONE || value->kind != FETCH_BYTES || !type)
		return;
	while (!strncmp(type, "const ", 6)) /* gcc: a const array of const characters */
		type += 6;
	if (strncmp(type, "char [", 6) || strchr(type, '[') != strrchr(type, '['))
		return;
	if (!value->obstacle && (value->n_pieces != 1 || value->pieces[0].bit_offset ||
				 value->pieces[0].gives != FETCH_ADDRESS))
		return;
	value->kind = FETCH_STRING;
	if (value->size)
		value->size++;
	if (value->n_pieces)
		value->pieces[0].bit_size = 0;
}

static struct error *place_arg(struct place_args *pa, const struct probe_arg *arg,
			       struct fetch_value *value)
{
	TRY(pb_dwarf_place_arg(pa->image, pa->place, arg, value));
	as_text(arg, value);
	/* No program can tell where a thread has its block. */
	for (size_t i = 0; i < value->n_pieces && !value->obstacle; i++)
		for (size_t k = 0; k < value->pieces[i].n_insns; k++)
			if (value->pieces[i].insns[k].op == FETCH_TLS)
				return value_obstacle(value, "it is a thread-local variable");
	return NULL;
}

/* A variable by its bare name. */
static struct error *named_value(struct place_args *pa, const char *name, struct fetch_value *value)
{
	_cleanup_free_ char *field = field_name(name);
	struct probe_arg arg = pa->g->def->args[pa->index];

	if (!field)
		return error_nomem();
	arg.base = PROBE_VARIABLE;
	arg.name = field;
	arg.text = (char *)name;
	arg.variable = (char *)name;
	return place_arg(pa, &arg, value);
}

static struct error *add_variable(void *ctx, const struct dwarf_variable *variable)
{
	struct place_args *pa = ctx;
	struct fetch_value *value;

	if (variable->is_global || (pa->params_only && !variable->is_parameter))
		return NULL;
	value = pending_add(pa->pending, pa->index);
	return value ? named_value(pa, variable->name, value) : error_nomem();
}

static struct error *count_param(void *ctx, const struct dwarf_variable *variable)
{
	struct place_args *pa = ctx;

	if (!variable->is_parameter)
		return NULL;
	if (pa->n_params++ == (size_t)pa->g->def->args[pa->index].index) {
		pa->wanted = strdup(variable->name);
		return pa->wanted ? NULL : error_nomem();
	}
	return NULL;
}

/* $argN: the N-th parameter with its type; where it has no name, as it is passed. */
static struct error *add_numbered(struct place_args *pa)
{
	struct probe_arg arg = pa->g->def->args[pa->index];
	struct fetch_value *value = pending_add(pa->pending, pa->index);

	if (!value)
		return error_nomem();
	pa->n_params = 0;
	pa->wanted = NULL;
	TRY(pb_dwarf_place_variables(pa->image, pa->place, false, count_param, pa));
	if (!pa->wanted)
		return untyped_value(&pa->untyped, &arg, value);
	arg.base = PROBE_VARIABLE;
	arg.variable = pa->wanted;
	struct error *err = place_arg(pa, &arg, value);
	free(pa->wanted);
	pa->wanted = NULL;
	return err;
}

static struct error *add_args(struct place_args *pa)
{
	const struct probe_def *def = pa->g->def;

	for (pa->index = 0; pa->index < def->n_args; pa->index++) {
		const struct probe_arg *arg = &def->args[pa->index];
		struct fetch_value *value;

		switch (arg->base) {
		case PROBE_PARAMS:
		case PROBE_VARS:
			pa->params_only = arg->base == PROBE_PARAMS;
			TRY(pb_dwarf_place_variables(pa->image, pa->place, false, add_variable,
						     pa));
			break;
		case PROBE_PARAM:
			TRY(add_numbered(pa));
			break;
		case PROBE_VARIABLE:
		case PROBE_RETVAL:
			value = pending_add(pa->pending, pa->index);
			if (!value)
				return error_nomem();
			TRY(place_arg(pa, arg, value));
			TRY(value_name(value, arg->name));
			break;
		default:
			value = pending_add(pa->pending, pa->index);
			if (!value)
				return error_nomem();
			TRY(untyped_value(&pa->untyped, arg, value));
		}
	}
	return NULL;
}

/* ---- points ---- */

/* The words of the parameters that a typed program may read from its context, a bit each. */
static uint64_t plain_words(const struct params *params)
{
	uint64_t plain = 0;
	const struct param *param;

	vec_for_each (param, &params->v)
		for (size_t i = 0; i < param->n_words; i++)
			if (param->words[i].op == FETCH_PARAM && param->words[i].typed &&
			    param->words[i].reg < 64)
				plain |= 1ull << param->words[i].reg;
	return plain;
}

/* DWARF does not know of that; it is no matter of where the parameters are. */
static void mark_plain(struct pending *pending, uint64_t plain)
{
	struct pending_value *one;

	vec_for_each (one, &pending->v)
		for (size_t i = 0; i < one->value.n_pieces; i++)
			for (size_t k = 0; k < one->value.pieces[i].n_insns; k++) {
				struct fetch_insn *insn = &one->value.pieces[i].insns[k];

				if (insn->op == FETCH_PARAM && insn->reg < 64)
					insn->typed = plain >> insn->reg & 1;
			}
}

static bool copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

static struct error *fill_point(struct gather *g, struct dwarf_image *image, struct user *user,
				const char *module, const struct dwarf_place *place,
				struct probe_point *point, uint64_t *plain)
{
	const char *function = place->symbol ? place->symbol : place->function;

	if (!copy_text(&point->function, function ? function : place->shown) ||
	    !copy_text(&point->shown, place->shown) ||
	    !copy_text(&point->inlined, place->inlined) || !copy_text(&point->module, module) ||
	    !copy_text(&point->file, place->file))
		return error_nomem();
	/* Of a binary's symbol the version is no part of the name; "@plt" is. */
	char *at = user ? strstr(point->function, "@@") : NULL;
	if (at && at > point->function)
		*at = 0;
	/* The name that people read is worth saying when it is another one. */
	if (point->shown && str_equal(point->shown, point->function)) {
		free(point->shown);
		point->shown = NULL;
	}
	point->line = place->line;
	point->at_return = place->at_return;
	point->source = POINT_DWARF;
	point->offset = place->symbol ? place->symbol_offset : place->offset;
	if (user) {
		point->address = place->address;
		if (!user_file_offset(user, place->address, &point->file_offset))
			return error_new(EBADMSG,
					 "%s: address %#llx is not in any loadable segment",
					 user_path(user), (unsigned long long)place->address);
		return g->def->where == PROBE_OFFSET ? user_check_boundary(g->finder, user, point)
						     : NULL;
	}
	TRY(kernel_address(g->finder, image, module, place, &point->address));

	struct kernel_func func;
	bool found;
	uint64_t address;
	size_t same = 0;
	if (point->offset || place->inlined ||
	    !kernel_symbol(g->finder->kernel, point->function, module, &address, &same) || same > 1)
		return NULL;
	TRY(kernel_func_find(g->finder->kernel, module, point->function, &func, &found));
	if (found && !func.ambiguous) {
		struct params params = {0};
		struct error *err = params_place(func.btf, func.proto, g->finder->machine, &params);

		point->btf_id = func.id;
		point->n_words = params.n_words;
		*plain = plain_words(&params);
		vec_deinit(&params.v);
		return err;
	}
	return NULL;
}

static struct error *add_place(struct gather *g, struct dwarf_image *image, struct user *user,
			       const char *module, const struct dwarf_place *place)
{
	_cleanup_pending_ struct pending pending = {0};
	_cleanup_point_ struct probe_point point = {0};
	struct place_args pa = {
		.g = g,
		.image = image,
		.place = place,
		.pending = &pending,
		.untyped =
			{
				.regs = regs_of(pb_dwarf_image_machine(image)),
				.text = g->def->text,
				.at_entry = place->is_entry && !place->inlined &&
					    !place->after_prologue,
				.at_return = place->at_return,
				.user = user,
				.symbol = user ? user_symbol_address : kernel_symbol_address,
				.ctx = user ? (void *)user : (void *)g->finder->kernel,
			},
	};

	uint64_t plain = 0;
	TRY(fill_point(g, image, user, module, place, &point, &plain));
	TRY(add_args(&pa));
	mark_plain(&pending, plain);
	return gather_point(g, &point, &pending);
}

struct error *pb_dwarf_points(struct gather *g, struct dwarf_image *image, struct user *user,
			      const char *module, bool inlined_only)
{
	_cleanup_dwarf_places_ struct dwarf_places places = {0};
	const size_t before = g->points->n;
	struct error *why = NULL;

	TRY(pb_dwarf_places_find(image, g->def, &places));
	g->n_places += places.n;
	for (size_t i = 0; i < places.n; i++) {
		if (inlined_only && !places.v[i].inlined)
			continue;
		if (g->to && (places.v[i].address < g->from || places.v[i].address >= g->to))
			continue;
		struct error *err = add_place(g, image, user, module, &places.v[i]);
		if (!err)
			continue;
		if (err->code == ENOMEM || err->code == E2BIG) {
			error_free(why);
			return err;
		}
		left_out_add(&g->left_out, g->finder->opts.log,
			     places.v[i].inlined ? places.v[i].inlined : places.v[i].shown,
			     places.v[i].inlined ? places.v[i].shown : NULL, err->msg);
		if (why)
			error_free(err);
		else
			why = err;
	}
	/* One place at which a variable is unknown is no reason to do without the others. */
	if (g->points->n > before || inlined_only) {
		error_free(why);
		return NULL;
	}
	return why ? why : error_new(ENOENT, "'%s' has no location", g->def->text);
}

/* ---- variables ---- */

struct shown_variables {
	const struct probe_point *point;
	probe_variable_fn *fn;
	void *ctx;
};

static struct error *show_variable(void *ctx, const struct dwarf_variable *variable)
{
	const struct shown_variables *shown = ctx;
	const struct probe_variable out = {
		.name = variable->name,
		.type = variable->type,
		.obstacle = variable->obstacle,
		.is_parameter = variable->is_parameter,
	};

	return shown->fn(shown->ctx, shown->point, &out);
}

struct error *pb_dwarf_point_variables(struct probe_finder *finder, struct dwarf_image *image,
				       struct user *user, const char *module,
				       const struct probe_def *def, bool with_globals,
				       probe_variable_fn *fn, void *ctx)
{
	_cleanup_dwarf_places_ struct dwarf_places places = {0};
	struct gather g = {.finder = finder, .def = def};

	TRY(pb_dwarf_places_find(image, def, &places));
	for (size_t i = 0; i < places.n; i++) {
		_cleanup_point_ struct probe_point point = {0};
		struct shown_variables shown = {.point = &point, .fn = fn, .ctx = ctx};

		uint64_t plain;

		TRY(fill_point(&g, image, user, module, &places.v[i], &point, &plain));
		TRY(pb_dwarf_place_variables(image, &places.v[i], with_globals, show_variable,
					     &shown));
	}
	return NULL;
}
