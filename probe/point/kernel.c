// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's functions: by kallsyms, which has where they are, and by BTF,
 * which has what their parameters are. Both are read when they are first asked
 * for, modules' BTF each by itself.
 *
 * A name stands for one function only where kallsyms has it once: the
 * compiler's copies ("f.isra.0", "f.constprop.0": other parameters; "f.part.0",
 * "f.cold": pieces) are symbols of their own, which BTF does not describe, and
 * static functions of several files may share a name, of which BTF has one or
 * none. Where the kernel hides the addresses, BTF alone tells what exists.
 */
#include "probe/point/internal.h"

#include "lib/object/btf_load.h"
#include "lib/sys/sys.h"

struct func_entry {
	uint32_t id;
	bool ambiguous;
};

/* The functions of one BTF, by name. */
struct funcs {
	char *module; /* NULL: the kernel proper */
	struct btf *btf;
	struct strmap by_name;
	VEC(struct func_entry) v;
	bool missing; /* there is no BTF */
};

struct kernel {
	const struct finder_opts *opts;
	struct kallsyms *kallsyms;
	bool looked; /* for kallsyms */
	bool hidden;
	uint64_t init_start, init_end; /* code that is gone after boot */
	struct funcs vmlinux;
	VEC(struct funcs) modules;
	bool btf_looked;
	struct error *no_btf;
};

static void funcs_deinit(struct funcs *funcs)
{
	free(funcs->module);
	btf__free(funcs->btf);
	strmap_deinit(&funcs->by_name);
	vec_deinit(&funcs->v);
}

void kernel_free(struct kernel *kernel)
{
	struct funcs *module;

	if (!kernel)
		return;
	kallsyms_free(kernel->kallsyms);
	vec_for_each (module, &kernel->modules)
		funcs_deinit(module);
	vec_deinit(&kernel->modules);
	funcs_deinit(&kernel->vmlinux);
	error_free(kernel->no_btf);
	free(kernel);
}

struct error *kernel_new(const struct finder_opts *opts, struct kernel **out)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return error_nomem();
	kernel->opts = opts;
	*out = kernel;
	return NULL;
}

/* ---- kallsyms ---- */

static bool is_code(const struct kallsyms_symbol *sym)
{
	return strchr("tTwW", sym->type);
}

static void find_init(struct kernel *kernel)
{
	/* Not kallsyms' filter's kind: the borders stand among the functions too. */
	if (!kallsyms_address(kernel->kallsyms, "_sinittext", &kernel->init_start) ||
	    !kallsyms_address(kernel->kallsyms, "_einittext", &kernel->init_end))
		kernel->init_start = kernel->init_end = 0;
}

/* Reads kallsyms; where its addresses are hidden there is none, and no error. */
static struct error *need_kallsyms(struct kernel *kernel)
{
	const char *path = kernel->opts->kallsyms ? kernel->opts->kallsyms : "/proc/kallsyms";

	if (kernel->looked)
		return NULL;
	struct error *err = kallsyms_load(path, &kernel->kallsyms);
	if (err && err->code != EPERM)
		return err;
	kernel->looked = true;
	kernel->hidden = err;
	if (err)
		log_info(kernel->opts->log, "%s: %s", path, err->msg);
	else
		find_init(kernel);
	error_free(err);
	return NULL;
}

static bool is_pseudo_module(const char *module)
{
	return module && (str_equal(module, "bpf") || !strncmp(module, "__builtin__", 11));
}

/* What stands among the functions and is none. */
static bool is_marker(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6) ||
	       !strncmp(name, "__SCT__", 7) || !strncmp(name, "__SCK__", 7);
}

/* A pattern is not meant for pieces of functions. */
static bool is_piece(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && (strstr(dot, ".cold") || strstr(dot, ".part."));
}

static bool is_gone(const struct kernel *kernel, uint64_t address)
{
	return address >= kernel->init_start && address < kernel->init_end;
}

/* "ext4" is "[ext4]"; '-' and '_' are the same in names of modules. */
static bool same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
			return false;
	return *a == *b;
}

static bool module_fits(const char *wanted, const char *module)
{
	if (is_pseudo_module(module))
		return false;
	return !wanted || (module ? same_module(wanted, module) : str_equal(wanted, "vmlinux"));
}

static int compare_kfuncs(const void *a, const void *b)
{
	const struct kfunc *x = a, *y = b;

	return function_order(x->address, x->name, y->address, y->name);
}

static bool push_kfunc(struct kfuncs *funcs, const char *name, const char *module, uint64_t address,
		       struct strmap *counts)
{
	struct kfunc *func = vec_push(&funcs->v);
	/* The count is kept in the pointer: there is no need for more. */
	const uintptr_t n = (uintptr_t)strmap_get(counts, name) + 1;

	if (!func || !strmap_put(counts, name, (void *)n))
		return false;
	*func = (struct kfunc){.name = name, .module = module, .address = address};
	return true;
}

static struct error *functions_by_kallsyms(struct kernel *kernel, const char *module,
					   const char *name, bool is_glob, struct kfuncs *funcs)
{
	_cleanup_(strmap_deinit) struct strmap counts = {0};
	const size_t n = kallsyms_size(kernel->kallsyms);
	struct kfunc *func;

	for (size_t i = 0; i < n; i++) {
		const struct kallsyms_symbol sym = kallsyms_at(kernel->kallsyms, i);

		if (!is_code(&sym) || is_pseudo_module(sym.module))
			continue;
		if (is_glob ? !glob_match(name, sym.name) || is_marker(sym.name) ||
				      is_piece(sym.name) || is_gone(kernel, sym.address)
			    : !str_equal(name, sym.name))
			continue;
		if (!push_kfunc(funcs, sym.name, sym.module, sym.address, &counts))
			return error_nomem();
	}
	vec_for_each (func, &funcs->v)
		func->same = (uint32_t)(uintptr_t)strmap_get(&counts, func->name);
	/* Those of other modules were counted, and are not wanted. */
	size_t kept = 0;
	for (size_t i = 0; i < funcs->v.n; i++)
		if (module_fits(module, funcs->v.v[i].module))
			funcs->v.v[kept++] = funcs->v.v[i];
	funcs->v.n = kept;
	if (kept)
		qsort(funcs->v.v, kept, sizeof(*funcs->v.v), compare_kfuncs);
	return NULL;
}

uint64_t kernel_function_end(struct kernel *kernel, uint64_t address)
{
	uint64_t end = 0;

	for (size_t i = 0; kernel->kallsyms && i < kallsyms_size(kernel->kallsyms); i++) {
		const uint64_t next = kallsyms_at(kernel->kallsyms, i).address;

		if (next > address && (!end || next < end))
			end = next;
	}
	return end;
}

/* ---- BTF ---- */

static struct error *index_functions(struct funcs *funcs)
{
	const uint32_t first = btf_start_id(funcs->btf), end = btf__type_cnt(funcs->btf);

	for (uint32_t id = first; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(funcs->btf, id);

		if (!btf_is_func(t))
			continue;
		const char *name = btf_name(funcs->btf, t);
		const uintptr_t seen = (uintptr_t)strmap_get(&funcs->by_name, name);
		if (seen) {
			funcs->v.v[seen - 1].ambiguous = true;
			continue;
		}
		struct func_entry *entry = vec_push(&funcs->v);
		if (!entry)
			return error_nomem();
		entry->id = id;
		if (!strmap_put(&funcs->by_name, name, (void *)(uintptr_t)funcs->v.n))
			return error_nomem();
	}
	return NULL;
}

static struct error *need_btf(struct kernel *kernel)
{
	if (kernel->btf_looked || kernel->opts->no_btf)
		return NULL;
	kernel->btf_looked = true;
	struct error *err = kernel->opts->btf ? btf_load_file(kernel->opts->btf, NULL,
							      &kernel->vmlinux.btf, NULL)
					      : btf_load_vmlinux(NULL, &kernel->vmlinux.btf);
	if (!err)
		return index_functions(&kernel->vmlinux);
	log_info(kernel->opts->log, "the kernel's BTF: %s", err->msg);
	kernel->vmlinux.missing = true;
	kernel->no_btf = err;
	return NULL;
}

/* The BTF of a module; without one it is remembered as missing. */
static struct error *need_module(struct kernel *kernel, const char *module, struct funcs **out)
{
	struct funcs *funcs;

	if (!module) {
		*out = &kernel->vmlinux;
		return NULL;
	}
	vec_for_each (funcs, &kernel->modules)
		if (str_equal(funcs->module, module)) {
			*out = funcs;
			return NULL;
		}
	funcs = vec_push(&kernel->modules);
	if (!funcs)
		return error_nomem();
	funcs->missing = true;
	funcs->module = strdup(module);
	if (!funcs->module)
		return error_nomem();
	*out = funcs;
	if (!kernel->vmlinux.btf || kernel->opts->btf)
		return NULL;
	struct error *err = btf_load_module(NULL, module, kernel->vmlinux.btf, &funcs->btf);
	if (err) {
		log_info(kernel->opts->log, "BTF of module %s: %s", module, err->msg);
		error_free(err);
		return NULL;
	}
	funcs->missing = false;
	return index_functions(funcs);
}

struct error *kernel_func_find(struct kernel *kernel, const char *module, const char *name,
			       struct kernel_func *func, bool *found)
{
	struct funcs *funcs;

	*found = false;
	TRY(need_btf(kernel));
	TRY(need_module(kernel, module, &funcs));
	if (!funcs->btf)
		return NULL;
	const uintptr_t at = (uintptr_t)strmap_get(&funcs->by_name, name);
	if (!at)
		return NULL;
	const struct func_entry *entry = &funcs->v.v[at - 1];
	const struct btf_type *t = btf__type_by_id(funcs->btf, entry->id);
	if (!btf_is_func_proto(btf__type_by_id(funcs->btf, t->type)))
		return NULL;
	*func = (struct kernel_func){
		.btf = funcs->btf,
		.id = entry->id,
		.proto = t->type,
		.ambiguous = entry->ambiguous,
	};
	*found = true;
	return NULL;
}

static struct error *functions_by_btf(struct kernel *kernel, const char *module, const char *name,
				      bool is_glob, struct kfuncs *out)
{
	struct funcs *funcs;
	const struct func_entry *entry;
	_cleanup_(strmap_deinit) struct strmap counts = {0};

	TRY(need_btf(kernel));
	TRY(need_module(kernel, module, &funcs));
	if (!funcs->btf)
		return NULL;
	vec_for_each (entry, &funcs->v) {
		const char *got = btf_name(funcs->btf, btf__type_by_id(funcs->btf, entry->id));

		if (is_glob ? !glob_match(name, got) : !str_equal(name, got))
			continue;
		if (!push_kfunc(out, got, funcs->module, 0, &counts))
			return error_nomem();
		vec_last(&out->v)->same = entry->ambiguous ? 2 : 1;
	}
	return NULL;
}

struct error *kernel_functions(struct kernel *kernel, const char *module, const char *name,
			       bool is_glob, struct kfuncs *funcs)
{
	TRY(need_kallsyms(kernel));
	if (kernel->kallsyms)
		return functions_by_kallsyms(kernel, module, name, is_glob, funcs);
	return functions_by_btf(kernel, module, name, is_glob, funcs);
}

bool kernel_near(struct kernel *kernel, const char *module, const char *name, struct strbuf *out)
{
	struct nearest near = nearest_make(name);
	const struct func_entry *entry;

	if (!kernel->kallsyms) {
		vec_for_each (entry, &kernel->vmlinux.v)
			nearest_offer(&near,
				      btf_name(kernel->vmlinux.btf,
					       btf__type_by_id(kernel->vmlinux.btf, entry->id)));
		return nearest_text(&near, out);
	}
	for (size_t i = 0; i < kallsyms_size(kernel->kallsyms); i++) {
		const struct kallsyms_symbol sym = kallsyms_at(kernel->kallsyms, i);

		if (is_code(&sym) && !is_marker(sym.name) && !is_piece(sym.name) &&
		    module_fits(module, sym.module))
			nearest_offer(&near, sym.name);
	}
	return nearest_text(&near, out);
}

bool kernel_variants(struct kernel *kernel, const char *name, struct strbuf *out)
{
	const size_t len = strlen(name), before = out->len;

	for (size_t i = 0; kernel->kallsyms && i < kallsyms_size(kernel->kallsyms); i++) {
		const struct kallsyms_symbol sym = kallsyms_at(kernel->kallsyms, i);

		if (is_code(&sym) && !strncmp(sym.name, name, len) && sym.name[len] == '.')
			strbuf_addf(out, "%s%s", out->len > before ? ", " : "", sym.name);
	}
	return out->len > before;
}

bool kernel_symbol(struct kernel *kernel, const char *name, const char *module, uint64_t *address,
		   size_t *n_same)
{
	_cleanup_error_ struct error *err = need_kallsyms(kernel);
	size_t found = 0;

	if (err || !kernel->kallsyms)
		return false;
	for (size_t i = 0; i < kallsyms_size(kernel->kallsyms); i++) {
		const struct kallsyms_symbol sym = kallsyms_at(kernel->kallsyms, i);

		if (!str_equal(sym.name, name) || is_pseudo_module(sym.module) ||
		    (module ? !sym.module || !same_module(module, sym.module) : sym.module != NULL))
			continue;
		if (!found++)
			*address = sym.address;
	}
	if (n_same)
		*n_same = found;
	return found;
}
