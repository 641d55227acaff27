// SPDX-License-Identifier: BSD-2-Clause
#include "probe/point/internal.h"

#include "probe/dwarf/dwarf.h"
#include "probe/point/finder_process.h"

struct error *probe_finder_new(const struct finder_opts *opts, struct probe_finder **out)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return error_nomem();
	if (opts)
		finder->opts = *opts;
	finder->machine = finder->opts.machine;
	if (finder->machine == EM_NONE) {
#if defined(__x86_64__)
		finder->machine = EM_X86_64;
#elif defined(__aarch64__)
		finder->machine = EM_AARCH64;
#endif
	}
	if (!regs_of(finder->machine))
		return error_new(EOPNOTSUPP,
				 "probes with arguments are not supported on this architecture");
	TRY(kernel_new(&finder->opts, &finder->kernel));
	*out = steal_ptr(finder);
	return NULL;
}

void probe_finder_free(struct probe_finder *finder)
{
	struct user_entry *entry;

	if (!finder)
		return;
	finder_process_free(finder->process);
	images_deinit(finder);
	vec_for_each (entry, &finder->users) {
		free(entry->name);
		user_free(entry->user);
	}
	vec_deinit(&finder->users);
	kernel_free(finder->kernel);
	free(finder);
}

struct error *finder_user(struct probe_finder *finder, const char *exec, struct user **out)
{
	struct user_entry *entry;
	_cleanup_(user_freep) struct user *user = NULL;
	_cleanup_free_ char *name = NULL;

	vec_for_each (entry, &finder->users)
		if (str_equal(entry->name, exec)) {
			*out = entry->user;
			return NULL;
		}
	TRY(user_open(exec, &finder->opts, &user));
	name = strdup(exec);
	entry = name ? vec_push(&finder->users) : NULL;
	if (!entry)
		return error_nomem();
	entry->name = steal_ptr(name);
	*out = entry->user = steal_ptr(user);
	return NULL;
}

static int compare_points(const struct probe_point *a, const struct probe_point *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->function, b->function);
}

/* By address; BTF's and DWARF's came one after the other. */
static void sort_points(struct probe_points *points)
{
	/* Nearly sorted: two or three runs. */
	for (size_t i = 1; i < points->n; i++) {
		const struct probe_point one = points->v[i];
		size_t k = i;

		while (k && compare_points(&points->v[k - 1], &one) > 0) {
			points->v[k] = points->v[k - 1];
			k--;
		}
		points->v[k] = one;
	}
}

static struct error *find(struct gather *g)
{
	TRY(columns_new(g->def, &g->columns));
	TRY(g->def->exec ? user_points(g) : kernel_points(g));
	TRY(columns_close(g->columns, g->def->force, g->finder->opts.log, g->points));
	sort_points(g->points);
	if (g->def->exec) {
		struct user *user;

		TRY(finder_user(g->finder, g->def->exec, &user));
		TRY(user_refuse_points(g->finder, user, g->points));
	}
	return NULL;
}

struct error *probe_points_find(struct probe_finder *finder, const struct probe_def *def,
				struct probe_points *points)
{
	if (finder->opts.confine)
		return finder_process_find(finder, def, points);

	struct probe_points found = {0};
	struct gather g = {.finder = finder, .def = def, .points = &found};
	struct error *err = find(&g);

	left_out_tell(&g.left_out, finder->opts.log, LOG_INFO);
	left_out_deinit(&g.left_out);
	columns_free(g.columns);
	if (err) {
		probe_points_deinit(&found);
		return err;
	}
	*points = found;
	return NULL;
}

/* ---- perf-bpf probe -F, -V, -L ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct error *each_name(const char **names, size_t n, probe_name_fn *fn, void *ctx)
{
	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		if (!i || !str_equal(names[i], names[i - 1]))
			TRY(fn(ctx, names[i]));
	return NULL;
}

static struct error *kernel_names(struct probe_finder *finder, const char *module, const char *glob,
				  probe_name_fn *fn, void *ctx)
{
	struct kfuncs funcs = {0};
	_cleanup_free_ const char **names = NULL;
	struct error *err = kernel_functions(finder->kernel, module, glob, true, &funcs);

	names = calloc(funcs.v.n + 1, sizeof(*names));
	if (!err && !names)
		err = error_nomem();
	for (size_t i = 0; !err && i < funcs.v.n; i++)
		names[i] = funcs.v.v[i].name;
	if (!err)
		err = each_name(names, funcs.v.n, fn, ctx);
	vec_deinit(&funcs.v);
	return err;
}

static struct error *user_names(struct probe_finder *finder, const char *exec, const char *glob,
				probe_name_fn *fn, void *ctx)
{
	struct user_funcs funcs = {0};
	_cleanup_free_ const char **names = NULL;
	struct user *user;

	TRY(finder_user(finder, exec, &user));
	struct error *err = user_functions(user, glob, true, &funcs);
	names = calloc(funcs.v.n + 1, sizeof(*names));
	if (!err && !names)
		err = error_nomem();
	for (size_t i = 0; !err && i < funcs.v.n; i++)
		names[i] = funcs.v.v[i].shown ? funcs.v.v[i].shown : funcs.v.v[i].name;
	if (!err)
		err = each_name(names, funcs.v.n, fn, ctx);
	vec_deinit(&funcs.v);
	return err;
}

struct error *probe_functions(struct probe_finder *finder, const char *exec, const char *module,
			      const char *glob, probe_name_fn *fn, void *ctx)
{
	return exec ? user_names(finder, exec, glob, fn, ctx)
		    : kernel_names(finder, module, glob, fn, ctx);
}

static const char *module_of(const struct probe_def *def)
{
	return def->module && !str_equal(def->module, "vmlinux") ? def->module : NULL;
}

/*
 * The definition whose FUNC is the linker's name, where DWARF does not have it by the other. A
 * clone
 * ("f.constprop.0") has the name of its function there; *owned keeps it.
 */
static struct error *by_linkage(struct user *user, struct dwarf_image *image,
				const struct probe_def *def, const struct error *err,
				struct probe_def *other, char **owned)
{
	const char *linkage;
	bool is_literal;

	*other = *def;
	*owned = NULL;
	if (!user || !def->function || !err || err->code != ENOENT)
		return NULL;
	TRY(user_read_debug(user, pb_dwarf_image_path(image)));
	TRY(user_literal(user, def, &is_literal, &linkage));
	const size_t base = strcspn(def->function, ".");
	if (!linkage && is_literal && base && def->function[base]) {
		linkage = *owned = strndup(def->function, base);
		if (!linkage)
			return error_nomem();
	}
	if (!linkage)
		return NULL;
	other->function = (char *)linkage;
	other->is_glob = false;
	return NULL;
}

/* Of two failures the one that names what the user wrote. */
static struct error *first_of(struct error *first, struct error *second)
{
	if (!second || second->code != ENOENT) {
		error_free(first);
		return second;
	}
	error_free(second);
	return first;
}

struct error *probe_resolve(struct probe_finder *finder, struct probe_def *def, bool *changed)
{
	struct user *user;

	*changed = false;
	if (!def->exec)
		return NULL;
	TRY(finder_user(finder, def->exec, &user));
	return user_resolve(user, def, changed);
}

struct error *probe_variables(struct probe_finder *finder, const struct probe_def *written,
			      bool with_globals, probe_variable_fn *fn, void *ctx)
{
	struct probe_def resolved = *written;
	const struct probe_def *def = &resolved;
	struct user *user = NULL;
	struct dwarf_image *image = NULL;
	bool changed;

	TRY(probe_resolve(finder, &resolved, &changed));
	if (def->exec)
		TRY(finder_user(finder, def->exec, &user));
	if (user)
		TRY(user_go_return(finder, user, &resolved));
	struct error *none = finder_image(finder, user, module_of(def), &image);
	if (image) {
		_cleanup_free_ char *owned = NULL;
		struct probe_def other;
		struct error *err = pb_dwarf_point_variables(finder, image, user, module_of(def),
							     def, with_globals, fn, ctx);
		struct error *failed = by_linkage(user, image, def, err, &other, &owned);
		if (failed || other.function == def->function)
			return failed ? first_of(err, failed) : err;
		return first_of(err, pb_dwarf_point_variables(finder, image, user, module_of(def),
							      &other, with_globals, fn, ctx));
	}
	if (user || !def->function || def->file || def->where != PROBE_ENTRY)
		return none;
	struct error *err = kernel_variables(finder, def, fn, ctx);
	if (err && err->code == ENODATA)
		err = error_hint(err, "%s", none->msg);
	error_free(none);
	return err;
}

struct lines {
	probe_line_fn *fn;
	void *ctx;
	const struct dwarf_image *image;
};

static struct error *show_line(void *ctx, const struct dwarf_line *line)
{
	const struct lines *lines = ctx;
	const struct probe_line out = {
		.file = line->file,
		.line = line->line,
		.first = line->first,
		.can = line->can,
		.n_places = line->n_places,
		.author = pb_dwarf_image_author(lines->image),
	};

	return lines->fn(lines->ctx, &out);
}

struct error *probe_lines(struct probe_finder *finder, const struct probe_def *def,
			  probe_line_fn *fn, void *ctx)
{
	struct user *user = NULL;
	struct dwarf_image *image;

	if (def->exec)
		TRY(finder_user(finder, def->exec, &user));
	TRY(finder_image(finder, user, module_of(def), &image));
	struct lines lines = {.fn = fn, .ctx = ctx, .image = image};
	_cleanup_free_ char *owned = NULL;
	struct probe_def other;
	struct error *err = pb_dwarf_lines(image, def, show_line, &lines);
	struct error *failed = by_linkage(user, image, def, err, &other, &owned);
	if (failed || other.function == def->function)
		return failed ? first_of(err, failed) : err;
	return first_of(err, pb_dwarf_lines(image, &other, show_line, &lines));
}
