// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points in the kernel. Functions, their returns and offsets in them come from
 * kallsyms, their parameters and what they return from BTF: that is what every
 * kernel has. DWARF is asked for what BTF does not have: lines, files, locals,
 * functions that exist as inlined copies alone, and which of several functions
 * of one name is meant.
 *
 * A parameter is taken from BTF only where it is sure that BTF describes this
 * very function: not for one whose name others have too, not for the
 * compiler's copies (".isra.0"), and not behind its first instruction.
 */
#include "probe/point/internal.h"

static bool symbol_address(void *ctx, const char *name, uint64_t *address)
{
	return kernel_symbol(ctx, name, NULL, address, NULL);
}

/* A function, and what is known of it. */
struct kernel_target {
	const struct kfunc *kfunc;
	struct kernel_func func;
	struct params params;
	bool typed; /* func and params are filled, and are those of this function */
	const char *untyped_why;
};

static void target_deinit(struct kernel_target *target)
{
	vec_deinit(&target->params.v);
}

static struct error *target_fill(struct gather *g, const struct kfunc *kfunc,
				 struct kernel_target *t)
{
	struct probe_finder *finder = g->finder;
	bool found;

	*t = (struct kernel_target){.kfunc = kfunc};
	TRY(kernel_func_find(finder->kernel, kfunc->module, kfunc->name, &t->func, &found));
	if (!found) {
		t->untyped_why = strchr(kfunc->name, '.') ? "the compiler changed its parameters, "
							    "and BTF does not describe how"
							  : "it is not in BTF";
		return NULL;
	}
	if (kfunc->same > 1 || t->func.ambiguous)
		t->untyped_why = "several functions have this name, and it is unknown which one "
				 "BTF describes";
	t->typed = !t->untyped_why || g->def->force;
	if (t->typed)
		TRY(params_place(t->func.btf, t->func.proto, finder->machine, &t->params));
	return NULL;
}

static struct error *list_params(const struct kernel_target *t, const char *name, struct error *err)
{
	struct nearest near = nearest_make(name);
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	const struct param *param;

	vec_for_each (param, &t->params.v) {
		nearest_offer(&near, param->name);
		strbuf_addf(&all, "%s%s", all.len ? ", " : "", param->name);
	}
	if (!all.len)
		return error_hint(err, "it has no parameters");
	return error_suggest_and(err, &near, "its parameters are: %s", strbuf_str(&all));
}

/* The name of a parameter; those without one are numbered. */
static const char *param_name(const struct param *param, size_t i, char buf[32])
{
	if (*param->name)
		return param->name;
	snprintf(buf, 32, "arg%zu", i + 1);
	return buf;
}

/* $params and $vars: each of them by its name. */
static struct error *add_all(struct gather *g, const struct kernel_target *t, size_t index,
			     struct pending *pending)
{
	for (size_t i = 0; i < t->params.v.n; i++) {
		char buf[32];
		const char *name = param_name(&t->params.v.v[i], i, buf);
		struct probe_arg arg = g->def->args[index];
		struct fetch_value *value = pending_add(pending, index);

		if (!value)
			return error_nomem();
		arg.name = (char *)name;
		arg.text = (char *)name;
		TRY(btf_value(t->func.btf, &t->params.v.v[i], g->def->text, &arg, value));
	}
	return NULL;
}

static struct error *no_types(const struct gather *g, const struct kernel_target *t,
			      const struct probe_arg *arg)
{
	struct error *err =
		probe_def_error(g->def->text, arg->at, ENODATA, "'%s' of %s is not known: %s",
				arg->text, t->kfunc->name, t->untyped_why);

	return t->func.btf ? error_hint(err, "force=yes; uses the BTF of that name") : err;
}

static const struct param *find_param(const struct kernel_target *t, const struct probe_arg *arg)
{
	for (size_t i = 0; i < t->params.v.n; i++) {
		char buf[32];

		if (arg->base == PROBE_PARAM
			    ? (int64_t)i == arg->index
			    : str_equal(param_name(&t->params.v.v[i], i, buf), arg->variable))
			return &t->params.v.v[i];
	}
	return NULL;
}

/* One argument of the definition at a function. */
static struct error *add_arg(struct gather *g, const struct kernel_target *t, size_t index,
			     struct pending *pending)
{
	const struct probe_def *def = g->def;
	const struct probe_arg *arg = &def->args[index];
	const bool at_entry =
		def->where == PROBE_ENTRY || (def->where == PROBE_OFFSET && !def->offset);
	const bool at_return = def->where == PROBE_RETURN;

	if (arg_is_untyped(arg)) {
		const struct untyped where = {
			.regs = regs_of(g->finder->machine),
			.text = def->text,
			.symbol = symbol_address,
			.ctx = g->finder->kernel,
		};
		struct fetch_value *value = pending_add(pending, index);

		return value ? untyped_value(&where, arg, value) : error_nomem();
	}
	if (arg->base == PROBE_RETVAL && !at_return)
		return error_hint(probe_def_error(def->text, arg->at, EINVAL,
						  "nothing is returned at this probe point"),
				  "write %s%%return", def->function ? def->function : "FUNCTION");
	if (!at_entry && !at_return)
		return probe_def_error(def->text, arg->at, ENODATA,
				       "finding '%s' in the middle of %s needs debug information",
				       arg->text, t->kfunc->name);
	if (!t->typed)
		return no_types(g, t, arg);
	if (arg->base == PROBE_PARAMS || arg->base == PROBE_VARS)
		return add_all(g, t, index, pending);

	const struct param *param = NULL;
	struct param returned;
	if (arg->base == PROBE_RETVAL) {
		returned = params_returned(t->func.btf, t->func.proto, g->finder->machine);
		param = &returned;
		if (!returned.type)
			return probe_def_error(def->text, arg->at, ENOENT, "%s returns nothing",
					       t->kfunc->name);
	} else {
		param = find_param(t, arg);
	}
	if (!param)
		return list_params(t, arg->base == PROBE_PARAM ? "" : arg->variable,
				   probe_def_error(def->text, arg->at, ENOENT,
						   "%s has no parameter '%s'", t->kfunc->name,
						   arg->base == PROBE_PARAM ? arg->text
									    : arg->variable));
	struct fetch_value *value = pending_add(pending, index);
	return value ? btf_value(t->func.btf, param, def->text, arg, value) : error_nomem();
}

static struct error *fill_point(struct gather *g, const struct kernel_target *t,
				struct probe_point *point)
{
	const struct kfunc *kfunc = t->kfunc;
	const struct probe_def *def = g->def;

	point->function = strdup(kfunc->name);
	point->module = kfunc->module ? strdup(kfunc->module) : NULL;
	if (!point->function || (kfunc->module && !point->module))
		return error_nomem();
	point->offset = def->where == PROBE_OFFSET ? def->offset : 0;
	point->address = kfunc->address ? kfunc->address + point->offset : 0;
	point->at_return = def->where == PROBE_RETURN;
	point->source = t->typed ? POINT_BTF : POINT_SYMBOLS;
	if (t->typed && !t->untyped_why && !point->offset) {
		point->btf_id = t->func.id;
		point->n_words = t->params.n_words;
	}
	return NULL;
}

/* A point for the function, or why there is none. */
static struct error *add_function(struct gather *g, const struct kfunc *kfunc)
{
	_cleanup_pending_ struct pending pending = {0};
	_cleanup_point_ struct probe_point point = {0};
	_cleanup_(target_deinit) struct kernel_target target = {0};

	TRY(target_fill(g, kfunc, &target));
	for (size_t i = 0; i < g->def->n_args; i++)
		TRY(add_arg(g, &target, i, &pending));
	if (g->def->where == PROBE_OFFSET && kfunc->address) {
		const uint64_t end = kernel_function_end(g->finder->kernel, kfunc->address);

		if (end && g->def->offset >= end - kfunc->address)
			return error_new(EINVAL, "%s has %llu bytes; +%#llx is past its end",
					 kfunc->name, (unsigned long long)(end - kfunc->address),
					 (unsigned long long)g->def->offset);
	}
	TRY(fill_point(g, &target, &point));
	return gather_point(g, &point, &pending);
}

/* Whether kallsyms has anything of the module. */
static struct error *module_is_loaded(struct kernel *kernel, const char *module, bool *loaded)
{
	struct kfuncs funcs = {0};
	struct error *err = kernel_functions(kernel, module, "*", true, &funcs);

	*loaded = funcs.v.n;
	vec_deinit(&funcs.v);
	return err;
}

static struct error *no_function(struct gather *g)
{
	const struct probe_def *def = g->def;
	struct kernel *kernel = g->finder->kernel;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *what = def->is_glob ? "function matching" : "function";
	bool loaded = true;

	if (def->module)
		TRY(module_is_loaded(kernel, def->module, &loaded));
	if (!loaded)
		return error_hint(error_new(ENOENT, "module %s is not loaded, or has no functions",
					    def->module),
				  "'modprobe %s' loads it; 'lsmod' lists the loaded modules",
				  def->module);
	struct error *err =
		def->module ? error_new(ENOENT, "module %s has no %s '%s'", def->module, what,
					def->function)
			    : error_new(ENOENT, "the kernel has no %s '%s'", what, def->function);

	if (!def->is_glob && kernel_variants(kernel, def->function, &sb))
		return error_hint(err, "the compiler renamed it to %s", strbuf_str(&sb));
	if (kernel_near(kernel, def->module, def->function, &sb))
		return error_hint(err, "did you mean %s?", strbuf_str(&sb));
	return error_hint(err, "perf-bpf list 'probe:*' lists the functions; a function that is "
			       "inlined everywhere needs debug information");
}

/* What debug information would have told, and why there is none. */
static void add_hint(struct error *why, const struct error *none)
{
	const char *give = none->hint ? none->hint : none->msg;
	const char *also = why->code == ENODATA ? "" : "; other variables need debug information: ";
	char *hint;

	/* Of a mistyped name the near ones say enough. */
	if (why->hint && why->code != ENODATA)
		return;
	hint = why->hint ? text_format("%s; or %s", give, why->hint)
			 : text_format("%s%s", also + (*also ? 2 : 0), give);
	if (hint) {
		free(why->hint);
		why->hint = hint;
	}
}

/* Asks DWARF, which knew or did not: then BTF's answer stands, with what would help. */
static struct error *ask_dwarf(struct gather *g, const char *module, struct error *why)
{
	struct dwarf_image *image;
	struct error *err;

	/* What is wrong in any case. */
	if (why && why->code != ENOENT && why->code != ENODATA)
		return why;
	err = finder_image(g->finder, NULL, module, &image);
	if (err && why) {
		add_hint(why, err);
		error_free(err);
		return why;
	}
	if (err)
		return err;
	err = pb_dwarf_points(g, image, NULL, module, false);
	if (err && why && err->code == ENOENT && why->code == ENOENT && g->def->is_glob) {
		error_free(err);
		return why;
	}
	error_free(why);
	return err;
}

/* Inlined copies besides the function itself, when debug information is at hand. */
static struct error *add_inlined(struct gather *g, const char *module)
{
	struct dwarf_image *image;

	TRY(finder_image_if_any(g->finder, NULL, module, &image));
	if (!image)
		return NULL;
	struct error *err = pb_dwarf_points(g, image, NULL, module, true);
	/* Its argument may not be what DWARF calls it: the function itself is there. */
	if (err && (err->code == ENOENT || err->code == EBADMSG)) {
		log_info(g->finder->opts.log, "inlined copies: %s", err->msg);
		error_free(err);
		return NULL;
	}
	return err;
}

static bool needs_lines(const struct probe_def *def)
{
	return def->file || def->where == PROBE_LINE || def->where == PROBE_FILE_LINE ||
	       def->where == PROBE_PATTERN;
}

static const char *module_of(const struct gather *g, const struct kfuncs *funcs)
{
	if (g->def->module)
		return str_equal(g->def->module, "vmlinux") ? NULL : g->def->module;
	/* Found in a module alone. */
	return funcs->v.n ? funcs->v.v[0].module : NULL;
}

/* Functions come by address: the last point alone can be of the same one. */
static bool has_address(const struct probe_points *points, const struct kfunc *kfunc)
{
	const struct probe_point *last = points->n ? &points->v[points->n - 1] : NULL;

	return last && kfunc->address && last->address - last->offset == kfunc->address;
}

static struct error *find_points(struct gather *g, struct kfuncs *funcs)
{
	const struct probe_def *def = g->def;
	struct error *why = NULL;
	const struct kfunc *kfunc;

	if (def->function)
		TRY(kernel_functions(g->finder->kernel, def->module, def->function, def->is_glob,
				     funcs));
	const char *module = module_of(g, funcs);
	if (needs_lines(def))
		return ask_dwarf(g, module, NULL);
	if (!funcs->v.n) {
		why = no_function(g);
		return def->inlines && def->where == PROBE_ENTRY && !def->is_glob
			       ? ask_dwarf(g, module, why)
			       : why;
	}
	vec_for_each (kfunc, &funcs->v) {
		/* A function of several names is one place. */
		if (def->is_glob && has_address(g->points, kfunc))
			continue;
		struct error *err = add_function(g, kfunc);

		if (!err)
			continue;
		if (err->code == ENOMEM || err->code == E2BIG) {
			error_free(why);
			return err;
		}
		if (def->is_glob || funcs->v.n > 1)
			left_out_add(&g->left_out, g->finder->opts.log, kfunc->name, NULL,
				     err->msg);
		if (why)
			error_free(err);
		else
			why = err;
	}
	if (why && (!g->points->n || !def->is_glob)) {
		/* Several of one name: all of them, or DWARF's. */
		if (g->points->n) {
			error_free(why);
			return NULL;
		}
		if (funcs->v.n > 1 && def->is_glob)
			why = error_prefix(why, "at none of %zu functions", funcs->v.n);
		return ask_dwarf(g, module, why);
	}
	error_free(why);
	if (def->inlines && def->where == PROBE_ENTRY && !def->is_glob)
		TRY(add_inlined(g, module));
	return NULL;
}

struct error *kernel_points(struct gather *g)
{
	struct kfuncs funcs = {0};
	struct error *err = find_points(g, &funcs);

	vec_deinit(&funcs.v);
	g->points->machine = g->finder->machine;
	return err;
}

struct error *kernel_variables(struct probe_finder *finder, const struct probe_def *def,
			       probe_variable_fn *fn, void *ctx)
{
	struct gather g = {.finder = finder, .def = def};
	struct kfuncs funcs = {0};
	const struct kfunc *kfunc;
	size_t shown = 0;
	struct error *err =
		kernel_functions(finder->kernel, def->module, def->function, def->is_glob, &funcs);

	if (!err && !funcs.v.n)
		err = no_function(&g);
	for (size_t i = 0; !err && i < funcs.v.n; i++) {
		_cleanup_(target_deinit) struct kernel_target t = {0};
		_cleanup_point_ struct probe_point point = {0};

		kfunc = &funcs.v.v[i];
		err = target_fill(&g, kfunc, &t);
		if (err || !t.typed)
			continue;
		err = fill_point(&g, &t, &point);
		shown++;
		for (size_t k = 0; !err && k < t.params.v.n; k++) {
			_cleanup_strbuf_ struct strbuf type = STRBUF_INIT;
			char buf[32];

			btf_type_text(t.func.btf, t.params.v.v[k].type, &type);
			const struct probe_variable variable = {
				.name = param_name(&t.params.v.v[k], k, buf),
				.type = strbuf_str(&type),
				.obstacle = t.params.v.v[k].obstacle,
				.is_parameter = true,
			};
			err = fn(ctx, &point, &variable);
		}
	}
	if (!err && !shown)
		err = error_new(ENODATA, "the kernel's BTF does not describe '%s'", def->function);
	vec_deinit(&funcs.v);
	return err;
}
