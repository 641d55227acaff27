// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points in a user's binary: by DWARF where there is debug information; by the
 * symbol table the functions that DWARF does not have, as long as no argument
 * needs a type. A uprobe takes offsets in the file, so each address is looked
 * up in the segments.
 */
#include "probe/point/internal.h"

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
		return error_new(EINVAL, "%s has %llu bytes, +%#llx is beyond them", func->name,
				 (unsigned long long)func->size, (unsigned long long)offset);
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
		if (err && err->code == EINVAL && g->def->is_glob && g->def->offset) {
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

	if (user_is_indirect(user, def->function))
		return error_hint(err,
				  "it is an indirect function: one of several is chosen when "
				  "the program starts; 'perf-bpf probe -x %s -F \"*%s*\"' "
				  "lists them",
				  user_path(user), def->function);
	if (user_near(user, def->function, &sb))
		return error_hint(err, "did you mean %s?", strbuf_str(&sb));
	if (!user_has_symtab(user))
		return error_hint(err, "it is stripped: its debug information would tell of more");
	return error_hint(err, "'perf-bpf probe -x %s -F' lists the functions", user_path(user));
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
		err = dwarf_points(g, image, user, NULL, false);
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
		return none ? steal_ptr(none) : error_new(ENOENT, "no such place");
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

struct error *user_points(struct gather *g)
{
	struct user *user;

	TRY(finder_user(g->finder, g->def->exec, &user));
	g->points->machine = user_machine(user);
	g->points->path = strdup(user_path(user));
	if (!g->points->path)
		return error_nomem();
	return find_points(g, user);
}
