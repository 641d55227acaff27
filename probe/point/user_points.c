// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points in a user's binary: by DWARF where there is debug information; by the
 * symbol table the functions that DWARF does not have, as long as no argument
 * needs a type. A uprobe takes offsets in the file, so each address is looked
 * up in the segments.
 */
#include "probe/point/internal.h"

#include "probe/dwarf/dwarf.h"
#include "sym/sym.h"

static bool symbol_address(void *ctx, const char *name, uint64_t *address)
{
	return user_symbol(ctx, name, address);
}

/* The first argument that debug information alone tells; NULL: there is none. */
static const struct probe_arg *needs_types(const struct probe_def *def)
{
	for (size_t i = 0; i < def->n_args; i++) {
		const struct probe_arg *arg = &def->args[i];

		if (arg_is_untyped(arg) || arg->base == PROBE_PARAM || arg->base == PROBE_RETVAL)
			continue;
		return arg;
	}
	return NULL;
}

static bool needs_lines(const struct probe_def *def)
{
	return def->file || def->where == PROBE_LINE || def->where == PROBE_FILE_LINE ||
	       def->where == PROBE_PATTERN;
}

static bool has_point_in(const struct probe_points *points, const struct user_func *func)
{
	for (size_t i = 0; i < points->n; i++)
		if (points->v[i].address - func->address < max_of(func->size, (uint64_t)1))
			return true;
	return false;
}

static struct error *add_symbol(struct gather *g, struct user *user, const struct user_func *func)
{
	const struct probe_def *def = g->def;
	const uint64_t offset = def->where == PROBE_OFFSET ? def->offset : 0;
	_cleanup_pending_ struct pending pending = {0};
	_cleanup_point_ struct probe_point point = {
		.function = strdup(func->name),
		.shown = func->shown ? strdup(func->shown) : NULL,
		.address = func->address + offset,
		.offset = offset,
		.file_offset = func->file_offset + offset,
		.at_return = def->where == PROBE_RETURN,
		.source = POINT_SYMBOLS,
	};
	const struct untyped where = {
		.regs = regs_of(user_machine(user)),
		.text = def->text,
		.at_entry = !offset && def->where != PROBE_RETURN,
		.at_return = def->where == PROBE_RETURN,
		.user = true,
		.symbol = symbol_address,
		.ctx = user,
	};

	if (!point.function || (func->shown && !point.shown))
		return error_nomem();
	if (func->size && offset >= func->size)
		return error_new(EINVAL, "%s has %llu bytes; +%#llx is past its end", func->name,
				 (unsigned long long)func->size, (unsigned long long)offset);
	TRY(user_check_boundary(g->finder, user, &point));
	for (size_t i = 0; i < def->n_args; i++) {
		struct fetch_value *value = pending_add(&pending, i);

		if (!value)
			return error_nomem();
		TRY(untyped_value(&where, &def->args[i], value));
	}
	return gather_point(g, &point, &pending);
}

static struct error *add_symbols(struct gather *g, struct user *user)
{
	struct user_funcs funcs = {0};
	const struct user_func *func;
	struct error *err = user_functions(user, g->def->function, g->def->is_glob, &funcs);
	_cleanup_error_ struct error *why = NULL;
	const size_t before = g->points->n;

	vec_for_each (func, &funcs.v) {
		if (err)
			break;
		const uint64_t offset = g->def->where == PROBE_OFFSET ? g->def->offset : 0;
		bool known = false;
		/* Those of DWARF came first. */
		for (size_t i = 0; i < before && !known; i++)
			known = g->points->v[i].address == func->address + offset;
		if (!known)
			err = add_symbol(g, user, func);
		/* One that is too short for the offset is no reason to do without the others. */
		if (err && (err->code == EINVAL || err->code == EILSEQ) && g->def->is_glob &&
		    g->def->offset) {
			error_free(why);
			why = err;
			err = NULL;
		}
	}
	vec_deinit(&funcs.v);
	return !err && !g->points->n ? steal_ptr(why) : err;
}

/* The function goes by the name that it was asked for. */
static struct error *rename_points(struct probe_points *points, size_t first,
				   const struct user_func *func)
{
	for (size_t i = first; i < points->n; i++) {
		struct probe_point *point = &points->v[i];

		if (point->address - func->address >= max_of(func->size, (uint64_t)1))
			continue;
		char *name = strdup(func->name);
		if (!name)
			return error_nomem();
		free(point->function);
		point->function = name;
	}
	return NULL;
}

/* "find" of "_ZN5depot5TableIiLi4EE4findERKi.constprop.0": without scopes and gcc's suffixes. */
static char *last_name(const struct user_func *func)
{
	const char *dot = func->name[0] == '.' ? NULL : strchr(func->name, '.');
	_cleanup_free_ char *own = dot ? strndup(func->name, (size_t)(dot - func->name)) : NULL;
	_cleanup_free_ char *shown = own ? symbol_demangle(NULL, own, false) : NULL;
	const char *name = shown ? shown : own ? own : func->shown ? func->shown : func->name;
	const char *last = name;
	int depth = 0;

	for (const char *s = name; *s; s++) {
		depth += (*s == '<') - (*s == '>');
		if (!depth && s[0] == ':' && s[1] == ':')
			last = s + 2;
	}
	return strdup(last);
}

/*
 * A function that is not known outside its file may have no linker's name in DWARF, and other
 * scopes than in the symbol's name (gcc's lambdas): by its last name alone, at its address. So may
 * gcc's clones ("f.constprop.0"), whose DIEs have the name of the function.
 */
static struct error *try_last_name(struct gather *g, struct dwarf_image *image, struct user *user,
				   const struct user_func *func)
{
	const struct probe_def *def = g->def;
	_cleanup_free_ char *last = last_name(func);
	struct probe_def other = *def;

	if (!last)
		return error_nomem();
	if (!func->size || str_equal(last, def->function))
		return NULL;
	other.function = last;
	other.is_glob = false;
	g->def = &other;
	g->from = func->address;
	g->to = func->address + func->size;
	struct error *err = pb_dwarf_points(g, image, user, NULL, false);
	g->def = def;
	g->from = g->to = 0;
	if (err && err->code == ENOENT) {
		error_free(err);
		err = NULL;
	}
	return err;
}

/*
 * One address: DWARF by the other names that the symbol table has for it; "malloc" is only an
 * alias of __libc_malloc.
 */
static struct error *try_aliases(struct gather *g, struct dwarf_image *image, struct user *user,
				 const struct user_func *func)
{
	const struct probe_def *def = g->def;
	const char *alias;

	for (size_t i = 0; (alias = user_name_at(user, func->address, i)); i++) {
		struct probe_def other = *def;
		_cleanup_dwarf_places_ struct dwarf_places places = {0};

		other.function = (char *)alias;
		other.is_glob = false;
		struct error *err = pb_dwarf_places_find(image, &other, &places);
		if (err && err->code == ENOENT) {
			error_free(err);
			continue;
		}
		if (!err) {
			g->def = &other;
			const size_t before = g->points->n;

			err = pb_dwarf_points(g, image, user, NULL, false);
			g->def = def;
			if (!err)
				err = rename_points(g->points, before, func);
		}
		return err;
	}
	return try_last_name(g, image, user, func);
}

/* A search in DWARF for each of them takes its time. */
#define ALIASES_MAX 64

/*
 * The functions of the symbol table that DWARF did not have by the wanted name. With a pattern, one
 * that lacks a variable is no failure.
 */
static struct error *by_aliases(struct gather *g, struct dwarf_image *image, struct user *user)
{
	struct user_funcs funcs = {0};
	struct error *err = user_functions(user, g->def->function, g->def->is_glob, &funcs);
	size_t tried = 0;

	for (size_t i = 0; !err && i < funcs.v.n; i++) {
		const struct user_func *func = &funcs.v.v[i];

		/* A demangled name is looked for by the linker's, a clone's by the function's. */
		if (has_point_in(g->points, func) ||
		    (!user_name_at(user, func->address, 1) && !strchr(func->name, '.') &&
		     str_equal(func->name, g->def->function)))
			continue;
		if (tried++ == ALIASES_MAX) {
			log_info(g->finder->opts.log,
				 "%s: has more than %d aliases; the others are skipped",
				 user_path(user), ALIASES_MAX);
			break;
		}
		err = try_aliases(g, image, user, func);
		if (err && err->code == ENOENT && g->def->is_glob) {
			left_out_add(&g->left_out, g->finder->opts.log, func->name, NULL, err->msg);
			error_free(err);
			err = NULL;
		}
	}
	vec_deinit(&funcs.v);
	return err;
}

static struct error *no_function(struct gather *g, struct user *user)
{
	const struct probe_def *def = g->def;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct error *err = error_new(ENOENT, "%s has no function%s '%s'", user_path(user),
				      def->is_glob ? " that matches" : "", def->function);

	if (user_is_indirect(user, def->function)) {
		_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
		_cleanup_error_ struct error *unread =
			user_implementations(user, def->function, &names);

		if (!unread && names.len)
			return error_hint(err,
					  "it is an indirect function (IFUNC), resolved when the "
					  "program starts; probe an implementation: %s",
					  strbuf_str(&names));
		return error_hint(err,
				  "it is an indirect function (IFUNC), resolved when the program "
				  "starts; 'perf-bpf probe -x %s -F \"*%s*\"' lists the variants",
				  user_path(user), def->function);
	}
	const char *left_out = def->inlines ? "" : "inlined copies are skipped (inlines=no)";
	if (user_near(user, def->function, &sb))
		return error_hint(err, "did you mean %s?%s%s", strbuf_str(&sb),
				  *left_out ? " Or: " : "", left_out);
	if (*left_out)
		return error_hint(err, "%s", left_out);
	if (!user_has_symtab(user))
		return error_hint(err, "the binary is stripped: install its debug information");
	return error_hint(err, "'perf-bpf probe -x %s -F' lists the functions", user_path(user));
}

/* What DWARF has, by any of the function's names. */
static struct error *with_dwarf(struct gather *g, struct dwarf_image *image, struct user *user)
{
	const struct probe_def *def = g->def;
	struct error *err = pb_dwarf_points(g, image, user, NULL, false);

	/* Where the function was found, and not its variable, its other names lead nowhere else. */
	if ((err && (err->code != ENOENT || g->n_places)) || !def->function || def->file ||
	    (!err && !(def->is_glob && needs_types(def))))
		return err;
	struct error *other = by_aliases(g, image, user);
	/* What names of scopes and parameters are near, only the symbols tell. */
	if (!other && !g->points->n && err && strpbrk(def->function, ":(")) {
		struct user_funcs funcs = {0};

		other = user_functions(user, def->function, def->is_glob, &funcs);
		if (!other && !funcs.v.n)
			other = no_function(g, user);
		vec_deinit(&funcs.v);
	}
	if (other || g->points->n) {
		error_free(err);
		return other;
	}
	return err;
}

static struct error *find_points(struct gather *g, struct user *user)
{
	const struct probe_def *def = g->def;
	const struct probe_arg *typed = needs_types(def);
	_cleanup_error_ struct error *none = NULL;
	struct dwarf_image *image = NULL;
	struct error *err = NULL;

	none = finder_image(g->finder, user, NULL, &image);
	if (none && none->code == ENOMEM)
		return steal_ptr(none);
	if (image) {
		TRY(user_read_debug(user, pb_dwarf_image_path(image)));
		err = with_dwarf(g, image, user);
		/* It may be a function that was compiled without debug information. */
		if (err && err->code == ENOENT && !g->points->n && def->function &&
		    !needs_lines(def) && !typed) {
			error_free(err);
			err = NULL;
		}
		if (err)
			return err;
		if (typed || needs_lines(def) || (g->points->n && !def->is_glob))
			return NULL;
	} else if (needs_lines(def)) {
		return steal_ptr(none);
	}
	if (!def->function)
		return none ? steal_ptr(none) : error_new(ENOENT, "no such probe point");
	if (typed && none) {
		/* First whether there is such a function at all. */
		struct user_funcs funcs = {0};

		TRY(user_functions(user, def->function, def->is_glob, &funcs));
		const bool any = funcs.v.n;
		vec_deinit(&funcs.v);
		if (!any)
			return no_function(g, user);
		err = probe_def_error(def->text, typed->at, none->code,
				      "'%s' needs debug information: %s", typed->text, none->msg);
		return none->hint ? error_hint(err, "%s", none->hint) : err;
	}
	TRY(add_symbols(g, user));
	return g->points->n ? NULL : no_function(g, user);
}

/* "memcpy@GLIBC_2.14" is written like a function of a file; the symbols tell. */
static struct error *is_version(struct gather *g, struct user *user, char **name)
{
	const struct probe_def *def = g->def;
	struct user_funcs funcs = {0};

	*name = NULL;
	if (!def->function || !def->file || def->is_glob)
		return NULL;
	_cleanup_free_ char *versioned = text_format("%s@%s", def->function, def->file);
	if (!versioned)
		return error_nomem();
	struct error *err = user_functions(user, versioned, false, &funcs);
	if (funcs.v.n)
		*name = steal_ptr(versioned);
	vec_deinit(&funcs.v);
	return err;
}

struct error *user_resolve(struct user *user, struct probe_def *def, bool *changed)
{
	struct user_funcs funcs = {0};

	*changed = false;
	if (def->function || !def->file)
		return NULL;
	struct error *err = user_functions(user, def->file, false, &funcs);
	if (!err && funcs.v.n) {
		def->function = steal_ptr(def->file);
		def->where = def->where == PROBE_FILE_LINE ? PROBE_LINE : def->where;
		*changed = true;
	}
	vec_deinit(&funcs.v);
	return err;
}

/* A glob that is the name of a function too, of which there are inlined copies only. */
static struct error *literal_or_glob(struct gather *g, struct user *user)
{
	const struct probe_def *def = g->def;
	struct probe_def other = *def;

	other.is_glob = false;
	g->def = &other;
	struct error *err = find_points(g, user);
	g->def = def;
	if (!err || err->code != ENOENT || g->n_places)
		return err;
	error_free(err);
	return find_points(g, user);
}

struct error *user_literal(struct user *user, const struct probe_def *def, bool *is_literal,
			   const char **linkage)
{
	struct user_funcs funcs = {0};

	*is_literal = false;
	*linkage = NULL;
	if (!def->function)
		return NULL;
	TRY(user_functions(user, def->function, false, &funcs));
	*is_literal = funcs.v.n;
	if (funcs.v.n && !str_equal(funcs.v.v[0].name, def->function))
		*linkage = funcs.v.v[0].name;
	vec_deinit(&funcs.v);
	return NULL;
}

/* "0x1150": an address, as nm and objdump print it. */
static bool is_address(const struct probe_def *def, uint64_t *address)
{
	char *end;

	if (!def->function || def->file || strncmp(def->function, "0x", 2) ||
	    (def->where != PROBE_ENTRY && def->where != PROBE_OFFSET && def->where != PROBE_RETURN))
		return false;
	errno = 0;
	*address = strtoull(def->function, &end, 16);
	return !errno && !*end;
}

/* The function there, and the offset in it. */
static struct error *by_address(struct gather *g, struct user *user, uint64_t address)
{
	const struct probe_def *def = g->def;
	struct probe_def other = *def;
	struct user_func func;

	if (def->where == PROBE_OFFSET)
		address += def->offset;
	if (!user_function_at(user, address, &func))
		return error_hint(error_new(ENOENT, "%s: no function contains the address %#llx",
					    user_path(user), (unsigned long long)address),
				  "give an address as 'nm' and 'objdump -d' print it");
	other.function = (char *)func.name;
	other.offset = address - func.address;
	if (other.offset && def->where == PROBE_RETURN)
		return error_new(EINVAL, "%s: %#llx is not the start of a function, but %s+%#llx",
				 user_path(user), (unsigned long long)address, func.name,
				 (unsigned long long)other.offset);
	if (def->where != PROBE_RETURN)
		other.where = other.offset ? PROBE_OFFSET : PROBE_ENTRY;
	g->def = &other;
	g->from = func.address;
	g->to = func.address + max_of(func.size, (uint64_t)1);
	struct error *err = find_points(g, user);
	g->def = def;
	g->from = g->to = 0;
	return err;
}

/* A result of Go is a variable, or in a register. */
static struct error *check_result(const struct probe_def *def)
{
	for (size_t i = 0; i < def->n_args; i++)
		if (def->args[i].base == PROBE_RETVAL)
			return error_hint(probe_def_error(def->text, def->args[i].at, EOPNOTSUPP,
							  "$retval is not known in a Go program"),
					  "name the result, ~r0 for the first without a name, or "
					  "read its register, %%ax for the first");
	return NULL;
}

static struct error *return_points(struct gather *g, struct user *user,
				   const struct user_func *func)
{
	struct return_offsets offsets = {0};
	const struct probe_def *def = g->def;
	struct probe_def other = *def;
	struct error *err = user_return_offsets(g->finder, user, func, &offsets);

	other.function = (char *)func->name;
	other.is_glob = false;
	other.where = PROBE_OFFSET;
	g->def = &other;
	for (size_t i = 0; !err && i < offsets.n; i++) {
		other.offset = offsets.v[i];
		err = find_points(g, user);
	}
	g->def = def;
	vec_deinit(&offsets);
	return err;
}

struct error *user_go_return(const struct probe_finder *finder, struct user *user,
			     struct probe_def *def)
{
	_cleanup_error_ struct error *go =
		def->where == PROBE_RETURN ? user_check_returns(user) : NULL;
	struct return_offsets offsets = {0};
	struct user_funcs funcs = {0};

	if (!go || go->code != EOPNOTSUPP)
		return NULL;
	struct error *err = user_functions(user, def->function, false, &funcs);
	if (!err && funcs.v.n)
		err = user_return_offsets(finder, user, &funcs.v.v[0], &offsets);
	if (!err && offsets.n) {
		def->where = PROBE_OFFSET;
		def->offset = offsets.v[0];
	}
	vec_deinit(&funcs.v);
	vec_deinit(&offsets);
	return err;
}

/*
 * A probe at the return of a function replaces the return address, which ends a Go program. Its
 * functions are probed at their return instructions.
 */
static struct error *returns_of_go(struct gather *g, struct user *user)
{
	struct user_funcs funcs = {0};
	const struct user_func *func;
	bool is_literal = false;
	const char *linkage;

	TRY(check_result(g->def));
	if (g->def->is_glob)
		TRY(user_literal(user, g->def, &is_literal, &linkage));
	struct error *err =
		user_functions(user, g->def->function, g->def->is_glob && !is_literal, &funcs);
	vec_for_each (func, &funcs.v) {
		if (err)
			break;
		err = return_points(g, user, func);
		/* Of many, one that cannot be read is no reason to do without the others. */
		if (err && err->code != ENOMEM && g->def->is_glob && !is_literal) {
			left_out_add(&g->left_out, g->finder->opts.log, func->name, NULL, err->msg);
			error_free(err);
			err = NULL;
		}
	}
	const bool any = funcs.v.n;
	vec_deinit(&funcs.v);
	return err || any ? err : no_function(g, user);
}

static struct error *points_of(struct gather *g, struct user *user)
{
	_cleanup_error_ struct error *go =
		g->def->where == PROBE_RETURN ? user_check_returns(user) : NULL;

	g->points->machine = user_machine(user);
	g->points->path = strdup(user_path(user));
	if (!g->points->path)
		return error_nomem();
	_cleanup_free_ char *versioned = NULL;
	const struct probe_def *def = g->def;
	struct probe_def other = *def;
	const char *linkage;
	bool is_literal = false;
	uint64_t address;
	if (go && go->code != EOPNOTSUPP)
		return steal_ptr(go);
	if (go)
		return returns_of_go(g, user);
	if (is_address(def, &address))
		return by_address(g, user, address);
	TRY(is_version(g, user, &versioned));
	if (def->is_glob)
		TRY(user_literal(user, def, &is_literal, &linkage));
	if (!versioned && !is_literal && def->is_glob && strchr(def->function, '<'))
		return literal_or_glob(g, user);
	if (!versioned && !is_literal)
		return find_points(g, user);
	if (versioned) {
		other.function = versioned;
		other.file = NULL;
	}
	other.is_glob = false;
	g->def = &other;
	struct error *err = find_points(g, user);
	g->def = def;
	return err;
}

struct error *user_points(struct gather *g)
{
	const struct probe_def *def = g->def;
	struct probe_def other = *def;
	struct user *user;
	bool changed;

	TRY(finder_user(g->finder, def->exec, &user));
	TRY(user_resolve(user, &other, &changed));
	g->def = changed ? &other : def;
	struct error *err = points_of(g, user);
	g->def = def;
	return err;
}
