// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbols of the kernel's own (__ksym), looked up for the programs that are
 * loaded:
 *
 *	a variable with a type	is known by the id of its VAR in the kernel's
 *				BTF, or in a module's; the verifier puts its
 *				address in
 *	a variable of void	is an address of /proc/kallsyms
 *	a function		is called by the id of its FUNC (a "kfunc")
 *
 * A name may end with a flavour, ___ and anything, which is not the kernel's:
 * programs declare a function as several kernels have it, and test which one
 * is there. So the types are compared, too. Weak symbols that are nowhere, and
 * weak functions of another type, are zero; a call of them is one that the
 * verifier refuses where it can be reached.
 */
#include "lib/object/prepare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/object/btf_load.h"
#include "lib/sys/sys.h"

/* The name without its flavour; the caller's. */
static char *kernel_name(const char *name)
{
	const char *flavour = strstr(name, "___");

	return strndup(name, flavour && flavour != name ? (size_t)(flavour - name) : strlen(name));
}

static bool is_typeless(const struct bpf_object *obj, const struct extern_var *var)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(obj->btf, var->type_id, NULL);

	return !var->is_func && (!t || btf_kind(t) == BTF_KIND_UNKN);
}

struct wanted_ksyms {
	struct bpf_object *obj;
	size_t n;    /* names that were not seen yet */
	bool shown;  /* there was an address other than 0 */
	bool a_zero; /* a name stands at 0, as __per_cpu_start does, if addresses are shown at all
		      */
};

/* "ADDRESS T NAME" or "ADDRESS t NAME\t[MODULE]"; false: every name has its address. */
static bool address_line(void *ctx, char *line)
{
	struct wanted_ksyms *wanted = ctx;
	char *end;
	const uint64_t address = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return true;
	wanted->shown = wanted->shown || address;
	char *name = end + 3;
	name[strcspn(name, "\t")] = 0;
	struct extern_var *var = strmap_get(&wanted->obj->externs, name);
	if (var && !var->is_kconfig && !var->is_func && !var->address && !var->is_at_zero) {
		var->address = address;
		var->is_at_zero = !address;
		wanted->a_zero = wanted->a_zero || !address;
		wanted->n -= is_typeless(wanted->obj, var);
	}
	return wanted->n > 0 || (wanted->a_zero && !wanted->shown);
}

/* The addresses of all names without a type, in one pass. */
static struct error *addresses_read(struct bpf_object *obj)
{
	struct wanted_ksyms wanted = {.obj = obj};

	for (size_t i = 0; i < obj->n_extern_vars; i++) {
		const struct extern_var *var = &obj->extern_vars[i];

		wanted.n += !var->is_kconfig && is_typeless(obj, var);
	}
	TRY(sys_read_lines("/proc/kallsyms", address_line, &wanted));
	for (size_t i = 0; i < obj->n_extern_vars && !wanted.shown; i++)
		obj->extern_vars[i].is_at_zero = false;
	obj->kallsyms_read = true;
	return NULL;
}

/* Takes a function or variable of the kernel's, or of a module's, if it is what var declares. */
static struct error *take(const struct bpf_object *obj, struct extern_var *var,
			  const struct btf *btf, uint32_t id, bool *taken)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	uint32_t local_id = var->type_id, targ_id = t->type;

	if (!var->is_func) {
		btf_skip_mods_and_typedefs(obj->btf, local_id, &local_id);
		btf_skip_mods_and_typedefs(btf, targ_id, &targ_id);
	}
	TRY(core_declared_compat(obj->btf, local_id, btf, targ_id, taken));
	if (*taken)
		var->btf_id = id;
	else if (!var->is_func || !var->is_weak)
		return error_hint(
			error_kind(
				error_new(EINVAL,
					  "the declaration of %s '%s' does not match the kernel's",
					  var->is_func ? "function" : "variable", var->name),
				"no-ksym"),
			"declare it as in vmlinux.h; a __weak function of another type is treated "
			"as missing");
	return NULL;
}

/* The number of a module's descriptor in the table that programs are loaded with. */
static struct error *module_fd_index(struct bpf_object *obj, struct loaded_module *module,
				     uint32_t *index)
{
	_cleanup_close_ int fd = -1;

	if (!module->fd_index) {
		/* Entry 0 of the table is the kernel's own. */
		if (!obj->module_fds.n && !vec_push(&obj->module_fds))
			return error_nomem();
		if (obj->module_fds.n > INT16_MAX)
			return error_new(E2BIG, "the object uses symbols of more than %d modules",
					 INT16_MAX);
		TRY(module_btf_fd(module, &fd));
		int *place = vec_push(&obj->module_fds);
		if (!place)
			return error_nomem();
		*place = steal_fd(&fd);
		module->fd_index = (uint32_t)obj->module_fds.n - 1;
	}
	*index = module->fd_index;
	return NULL;
}

/* The first module that has it; var->btf_id stays 0: none. */
static struct error *find_in_modules(struct bpf_object *obj, const char *name,
				     struct extern_var *var)
{
	const uint32_t kind = var->is_func ? BTF_KIND_FUNC : BTF_KIND_VAR;
	struct loaded_modules *modules;
	struct loaded_module *module;
	const struct btf *btf;

	TRY(modules_list(obj, &modules));
	vec_for_each (module, &modules->v) {
		bool taken;

		TRY(module_btf(obj, module, &btf));
		const int found = btf ? btf__find_by_name_kind(btf, name, kind) : -ENOENT;
		if (found <= 0)
			continue;
		TRY(take(obj, var, btf, (uint32_t)found, &taken));
		struct error *err = taken ? module_fd_index(obj, module, &var->module) : NULL;
		if (err && err->code == EPERM && var->is_weak) {
			/* as if the module were not loaded: a program that asks can do without */
			error_free(err);
			err = NULL;
			var->btf_id = 0;
		}
		return err;
	}
	return NULL;
}

static struct error *no_such_symbol(const struct bpf_object *obj, const struct extern_var *var,
				    const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	const uint32_t kind = var->is_func ? BTF_KIND_FUNC : BTF_KIND_VAR;
	struct error *err = error_kind(error_new(ENOENT, "the kernel has no %s '%s'",
						 var->is_func ? "function" : "variable", name),
				       "no-ksym");

	if (is_typeless(obj, var))
		return error_hint(err, "/proc/kallsyms lists the symbols; symbols with hidden "
				       "addresses (kernel.kptr_restrict) cannot be used");
	for (uint32_t id = 1; id < btf__type_cnt(obj->vmlinux); id++) {
		const struct btf_type *t = btf__type_by_id(obj->vmlinux, id);

		if (btf_kind(t) == kind)
			nearest_offer(&near, btf_name(obj->vmlinux, t));
	}
	return nearest_text(&near, &text)
		       ? error_hint(
				 err,
				 "did you mean %s? Or load the module that has it (modprobe), or "
				 "declare it __weak and test it before use",
				 strbuf_str(&text))
		       : error_hint(err, "load the module that has it (modprobe), or declare it "
					 "__weak and test it before use");
}

struct error *ksym_resolve(struct bpf_object *obj, struct extern_var *var)
{
	_cleanup_free_ char *name = kernel_name(var->name);
	const struct btf *vmlinux;

	if (!name)
		return error_nomem();
	if (!var->is_resolved) {
		var->is_resolved = true;
		if (is_typeless(obj, var)) {
			if (!obj->kallsyms_read)
				TRY(addresses_read(obj));
		} else {
			TRY(object_vmlinux(obj, &vmlinux));
			const int id = btf__find_by_name_kind(
				vmlinux, name, var->is_func ? BTF_KIND_FUNC : BTF_KIND_VAR);

			bool taken;

			if (id > 0)
				TRY(take(obj, var, vmlinux, (uint32_t)id, &taken));
			else
				TRY(find_in_modules(obj, name, var));
		}
	}
	if (!var->btf_id && !var->address && !var->is_at_zero && !var->is_weak)
		return no_such_symbol(obj, var, name);
	return NULL;
}

/*
 * A function's address is good for nothing but to be tested: kernels before 6.4
 * do not let a program hold it, and any number that is not 0 does as well.
 */
static bool is_number(const struct bpf_object *obj, struct extern_var *var)
{
	if (!var->is_func)
		return false;
	if (!var->is_asked) {
		const int fd = var->module ? obj->module_fds.v[var->module] : 0;

		var->is_asked = true;
		var->is_number = !sys_bpf_takes_func_address(var->btf_id, fd);
	}
	return var->is_number;
}

void ksym_patch(const struct bpf_object *obj, struct extern_var *var, bool is_call,
		struct bpf_insn *insn)
{
	if (is_call) {
		insn->src_reg = var->btf_id ? BPF_PSEUDO_KFUNC_CALL : 0;
		insn->imm = var->btf_id ? (int32_t)var->btf_id : NO_SUCH_HELPER;
		insn->off = (int16_t)var->module;
	} else if (var->btf_id && is_number(obj, var)) {
		insn[0].src_reg = 0;
		insn[0].imm = 1;
		insn[1].imm = 0;
	} else if (var->btf_id) {
		insn[0].src_reg = BPF_PSEUDO_BTF_ID;
		insn[0].imm = (int32_t)var->btf_id;
		insn[1].imm = var->module ? obj->module_fds.v[var->module] : 0;
	} else {
		insn[0].src_reg = 0;
		insn[0].imm = (int32_t)(uint32_t)var->address;
		insn[1].imm = (int32_t)(uint32_t)(var->address >> 32);
	}
}
