// SPDX-License-Identifier: BSD-2-Clause
/*
 * Undefined symbols. The object's BTF says what they are: variables of section
 * .kconfig come from the kernel's configuration (extern_kconfig.c) and from what the
 * loader knows of the kernel; symbols of .ksyms are the kernel's own (ksyms.c).
 *
 * The variables of .kconfig stand in a map of that name, where the object's BTF
 * says (lib/btf/sanitize.h). Weak symbols that have no value here are zero. The
 * rest is refused by name.
 */
#include "lib/object/prepare.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum virtual_var {
	VAR_NONE,
	VAR_KERNEL_VERSION,
	VAR_BPF_COOKIE,
	VAR_SYSCALL_WRAPPER,
};

static enum virtual_var virtual_by_name(const char *name)
{
	if (!strcmp(name, "LINUX_KERNEL_VERSION"))
		return VAR_KERNEL_VERSION;
	if (!strcmp(name, "LINUX_HAS_BPF_COOKIE"))
		return VAR_BPF_COOKIE;
	if (!strcmp(name, "LINUX_HAS_SYSCALL_WRAPPER"))
		return VAR_SYSCALL_WRAPPER;
	return VAR_NONE;
}

/* Notes the variables and functions of a DATASEC; *n counts on. */
static struct error *section_find(struct bpf_object *obj, const char *section, bool is_kconfig,
				  size_t *n)
{
	const int id = btf__find_by_name_kind(obj->btf, section, BTF_KIND_DATASEC);

	if (id < 0)
		return NULL;
	const struct btf_type *sec = btf__type_by_id(obj->btf, (uint32_t)id);
	const struct btf_var_secinfo *vi = btf_var_secinfos(sec);
	const size_t vlen = btf_vlen(sec);
	for (size_t i = 0; i < vlen; i++) {
		const struct btf_type *t = btf__type_by_id(obj->btf, vi[i].type);
		struct extern_var *var = &obj->extern_vars[(*n)++];

		if (!t || (!btf_is_var(t) && !btf_is_func(t)))
			return error_new(EBADMSG,
					 "BTF: section %s contains an entry that is not a variable",
					 section);
		var->name = btf_name(obj->btf, t);
		var->type_id = t->type;
		var->is_func = btf_is_func(t);
		var->is_kconfig = is_kconfig;
		var->offset = vi[i].offset;
		var->size = vi[i].size;
		if (!strmap_put(&obj->externs, btf_name(obj->btf, t), var))
			return error_nomem();
	}
	return NULL;
}

static size_t section_vlen(const struct bpf_object *obj, const char *section)
{
	const int id = btf__find_by_name_kind(obj->btf, section, BTF_KIND_DATASEC);

	return id < 0 ? 0 : btf_vlen(btf__type_by_id(obj->btf, (uint32_t)id));
}

/* The map for .kconfig, with room for every variable. */
static struct error *kconfig_map_add(struct bpf_object *obj)
{
	const int id = btf__find_by_name_kind(obj->btf, ".kconfig", BTF_KIND_DATASEC);
	struct bpf_map *map = object_add_map(obj, MAP_KCONFIG, ".kconfig", 0, 0);
	if (!map || !(map->owned_name = data_map_name(obj, ".kconfig")))
		return error_nomem();
	map->name = map->kernel_name = map->owned_name;
	obj->kconfig_map = (uint32_t)obj->maps.n;
	map->type = BPF_MAP_TYPE_ARRAY;
	map->key_size = sizeof(uint32_t);
	map->value_size = btf__type_by_id(obj->btf, (uint32_t)id)->size;
	map->max_entries = 1;
	map->flags = BPF_F_RDONLY_PROG | BPF_F_MMAPABLE;
	return NULL;
}

struct error *externs_find(struct bpf_object *obj)
{
	size_t n = 0;

	if (!obj->btf)
		return NULL;
	const size_t n_kconfig = section_vlen(obj, ".kconfig");
	const size_t n_ksyms = section_vlen(obj, ".ksyms");
	if (!n_kconfig && !n_ksyms)
		return NULL;
	obj->extern_vars = calloc(n_kconfig + n_ksyms, sizeof(*obj->extern_vars));
	if (!obj->extern_vars)
		return error_nomem();
	obj->n_extern_vars = n_kconfig + n_ksyms;
	if (n_kconfig)
		TRY(kconfig_map_add(obj));
	TRY(section_find(obj, ".kconfig", true, &n));
	return section_find(obj, ".ksyms", false, &n);
}

/* Puts a loader's value where programs read it. */
static struct error *virtual_set(struct bpf_object *obj, struct extern_var *var, const char *name)
{
	const enum virtual_var which = virtual_by_name(name);
	uint64_t value = 0;
	size_t size;

	if (var->is_known)
		return NULL;
	if (which == VAR_KERNEL_VERSION) {
		value = host_kernel_version();
	} else if (which == VAR_BPF_COOKIE) {
		value = sys_bpf_has(SYS_BPF_COOKIE);
	} else if (which == VAR_SYSCALL_WRAPPER) {
		/* x86, arm64 and s390 wrap them since 4.17 to 4.19: older than all we support. */
#if defined(__x86_64__) || defined(__aarch64__) || defined(__s390x__)
		value = 1;
#endif
	}
	if (var->size > sizeof(value))
		return error_new(EINVAL, "extern '%s' has %u bytes and is not an integer", name,
				 var->size);
	char *data = bpf_map__initial_value(&obj->maps.v[obj->kconfig_map - 1], &size);
	if (!data)
		return error_nomem();
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value <<= 8 * (sizeof(value) - var->size);
#endif
	memcpy(data + var->offset, &value, var->size);
	var->is_known = true;
	return NULL;
}

struct error *externs_fill(struct bpf_object *obj)
{
	for (size_t i = 0; i < obj->n_extern_vars; i++) {
		struct extern_var *var = &obj->extern_vars[i];

		if (var->is_kconfig && var->is_used && virtual_by_name(var->name) != VAR_NONE)
			TRY(virtual_set(obj, var, var->name));
	}
	return NULL;
}

struct error *extern_relo(struct bpf_object *obj, const struct elf_symbol *sym, bool is_call,
			  struct relo *relo)
{
	struct extern_var *var = strmap_get(&obj->externs, sym->name);

	if (var) {
		var->is_used = true;
		var->is_weak = sym->bind == STB_WEAK;
	}
	if (var && var->is_kconfig && !is_call) {
		if (virtual_by_name(sym->name) == VAR_NONE && !var->is_weak &&
		    strncmp(sym->name, "CONFIG_", 7)) {
			return error_hint(error_new(ENOTSUP,
						    "extern '%s' of section .kconfig has no value",
						    sym->name),
					  "valid names are CONFIG_…, LINUX_KERNEL_VERSION, "
					  "LINUX_HAS_BPF_COOKIE and LINUX_HAS_SYSCALL_WRAPPER");
		}
		relo->kind = RELO_KCONFIG;
		relo->index = obj->kconfig_map - 1;
		relo->addend = (int32_t)var->offset;
		return NULL;
	}
	if (var && !var->is_kconfig && (!is_call || var->is_func)) {
		relo->kind = is_call ? RELO_KFUNC : RELO_KSYM;
		relo->index = (uint32_t)(var - obj->extern_vars);
		return NULL;
	}
	if (sym->bind == STB_WEAK) {
		relo->kind = is_call ? RELO_NO_CALL : RELO_ZERO;
		return NULL;
	}
	return error_hint(
		error_kind(error_new(ENOENT, "'%s' is declared but not defined", sym->name),
			   "undefined-name"),
		"define the %s in the same file, or check its spelling",
		is_call ? "function" : "variable");
}
