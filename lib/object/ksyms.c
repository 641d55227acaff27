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
 * A name may end with a flavour, ___ and anything, which is not the kernel's.
 * Weak symbols that are nowhere are zero; a call of them is one that the
 * verifier refuses where it can be reached.
 */
#include "lib/object/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/object/btf_load.h"
#include "lib/sys/sys.h"

#define KALLSYMS_MAX (256 << 20)

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

/* The addresses of all names without a type, in one pass. */
static struct error *addresses_read(struct bpf_object *obj)
{
	_cleanup_free_ char *text = NULL;

	TRY(sys_read_file("/proc/kallsyms", KALLSYMS_MAX, &text, NULL));
	for (char *line = text, *next; line && *line; line = next) {
		char *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		const uint64_t address = strtoull(line, &end, 16);
		/* " T name" or " t name\t[module]" */
		if (!address || end[0] != ' ' || !end[1] || end[2] != ' ')
			continue;
		char *name = end + 3;
		name[strcspn(name, "\t")] = 0;
		struct extern_var *var = strmap_get(&obj->externs, name);
		if (var && !var->is_kconfig && !var->is_func && !var->address)
			var->address = address;
	}
	obj->kallsyms_read = true;
	return NULL;
}

/* The first module that has it; var->btf_id stays 0: none. */
static struct error *find_in_modules(struct bpf_object *obj, const struct btf *vmlinux,
				     const char *name, struct extern_var *var)
{
	const uint32_t kind = var->is_func ? BTF_KIND_FUNC : BTF_KIND_VAR;
	uint32_t id = 0;

	while (!var->btf_id) {
		_cleanup_close_ int fd = -1;
		_cleanup_(btf__freep) struct btf *btf = NULL;

		if (!btf_next_module(vmlinux, "", &id, &fd, &btf))
			return NULL;
		const int found = btf__find_by_name_kind(btf, name, kind);
		if (found <= 0)
			continue;
		/* Entry 0 of the table is the kernel's own. */
		if (!obj->module_fds.n && !vec_push(&obj->module_fds))
			return error_nomem();
		if (obj->module_fds.n > INT16_MAX)
			return error_new(E2BIG, "symbols of more than %d modules", INT16_MAX);
		int *place = vec_push(&obj->module_fds);
		if (!place)
			return error_nomem();
		var->module = (uint32_t)obj->module_fds.n - 1;
		*place = steal_fd(&fd);
		var->btf_id = (uint32_t)found;
	}
	return NULL;
}

static struct error *no_such_symbol(const struct bpf_object *obj, const struct extern_var *var,
				    const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	const uint32_t kind = var->is_func ? BTF_KIND_FUNC : BTF_KIND_VAR;
	struct error *err = error_new(ENOENT, "the kernel has no %s '%s'",
				      var->is_func ? "function" : "variable", name);

	if (is_typeless(obj, var))
		return error_hint(err, "/proc/kallsyms names what there is; hidden addresses "
				       "(kernel.kptr_restrict) are none");
	for (uint32_t id = 1; id < btf__type_cnt(obj->vmlinux); id++) {
		const struct btf_type *t = btf__type_by_id(obj->vmlinux, id);

		if (btf_kind(t) == kind)
			nearest_offer(&near, btf_name(obj->vmlinux, t));
	}
	return nearest_text(&near, &text)
		       ? error_hint(err, "did you mean %s? Or declare it __weak and test it",
				    strbuf_str(&text))
		       : error_hint(err, "declare it __weak and test it before use");
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

			if (id > 0)
				var->btf_id = (uint32_t)id;
			else
				TRY(find_in_modules(obj, vmlinux, name, var));
		}
	}
	if (!var->btf_id && !var->address && !var->is_weak)
		return no_such_symbol(obj, var, name);
	return NULL;
}

void ksym_patch(const struct bpf_object *obj, const struct extern_var *var, bool is_call,
		struct bpf_insn *insn)
{
	if (is_call) {
		insn->src_reg = var->btf_id ? BPF_PSEUDO_KFUNC_CALL : 0;
		insn->imm = var->btf_id ? (int32_t)var->btf_id : NO_SUCH_HELPER;
		insn->off = (int16_t)var->module;
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
