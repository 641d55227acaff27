// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs of struct_ops: sections .struct_ops and .struct_ops.link hold
 * variables of a struct of the kernel's whose members are functions; the
 * relocations there say which program stands for which member. A program is
 * loaded for the struct's type id in the kernel's BTF (attach_btf_id) and the
 * member's number in it (expected_attach_type), which may not be its number in
 * the object's own copy of the struct.
 */
#include "lib/object/internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/names.h"

bool is_struct_ops_section(const char *name)
{
	return !strcmp(name, ".struct_ops") || !strcmp(name, ".struct_ops.link");
}

/* The variable that holds an offset; they stand in ascending order. NULL: none. */
static const struct btf_var_secinfo *var_around(const struct btf_type *sec, uint64_t offset)
{
	const struct btf_var_secinfo *vars = btf_var_secinfos(sec);
	size_t low = 0, high = btf_vlen(sec);

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (vars[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &vars[low - 1] : NULL;
}

/* The number of the member at a byte; -1: none begins there. */
static long member_at(const struct btf_type *t, uint64_t byte)
{
	const struct btf_member *m = btf_members(t);
	size_t low = 0, high = btf_vlen(t);

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (btf_member_bit_offset(t, (uint32_t)mid) < byte * 8)
			low = mid + 1;
		else
			high = mid;
	}
	return low < btf_vlen(t) && m && btf_member_bit_offset(t, (uint32_t)low) == byte * 8
		       ? (long)low
		       : -1;
}

static struct error *member_read(struct bpf_object *obj, const struct btf_type *datasec,
				 const struct elf_reloc *reloc)
{
	const struct btf_var_secinfo *vi = var_around(datasec, reloc->offset);
	const struct btf_type *var = vi ? btf__type_by_id(obj->btf, vi->type) : NULL;
	const struct btf_type *t = var && btf_is_var(var)
					   ? btf_skip_mods_and_typedefs(obj->btf, var->type, NULL)
					   : NULL;

	if (!t || !btf_is_struct(t) || reloc->symbol >= obj->symbols.n)
		return error_new(EBADMSG, "a pointer outside of all structs");
	const struct elf_symbol *sym = &obj->symbols.v[reloc->symbol];
	const long member = member_at(t, reloc->offset - vi->offset);
	const long program = program_at(obj, sym->section, sym->value);
	if (member < 0 || program < 0)
		return error_new(EINVAL, "'%s' of '%s' is no program for a member", sym->name,
				 btf_name(obj->btf, var));

	struct bpf_program *prog = &obj->programs.v[program];
	const char *name = btf__name_by_offset(obj->btf, btf_members(t)[member].name_off);
	const char *type = btf_name(obj->btf, t);
	if (prog->type != BPF_PROG_TYPE_STRUCT_OPS)
		return error_hint(error_new(EINVAL,
					    "program '%s' stands for '%s.%s', but is not "
					    "of section struct_ops",
					    prog->fn->name, type, name),
				  "write SEC(\"struct_ops/%s\")", name);
	if (prog->ops_type && (strcmp(prog->ops_type, type) || strcmp(prog->ops_member, name)))
		return error_new(EINVAL, "program '%s' stands for '%s.%s' and for '%s.%s'",
				 prog->fn->name, prog->ops_type, prog->ops_member, type, name);
	prog->ops_type = type;
	prog->ops_member = name;
	prog->attach_type = (enum bpf_attach_type)member;
	return NULL;
}

struct error *struct_ops_read(struct bpf_object *obj, const struct elf_section *sec,
			      const struct elf_section *rel)
{
	const int id =
		obj->btf ? btf__find_by_name_kind(obj->btf, sec->name, BTF_KIND_DATASEC) : -1;

	if (id < 0)
		return error_at(error_new(EINVAL, "no BTF describes the structs"), "section %s",
				sec->name);
	for (size_t i = 0; i < elf_reloc_count(obj->elf, rel); i++) {
		struct elf_reloc reloc;

		TRY(elf_reloc_at(obj->elf, rel, i, &reloc));
		TRY(error_at(
			error_at(member_read(obj, btf__type_by_id(obj->btf, (uint32_t)id), &reloc),
				 "offset 0x%" PRIx64, reloc.offset),
			"section %s", sec->name));
	}
	return NULL;
}

struct error *struct_ops_find(struct bpf_program *prog)
{
	const struct btf *vmlinux;

	TRY(object_vmlinux(prog->obj, &vmlinux));
	const char *flavour = strstr(prog->ops_type, "___");
	_cleanup_free_ char *name =
		strndup(prog->ops_type,
			flavour ? (size_t)(flavour - prog->ops_type) : strlen(prog->ops_type));
	if (!name)
		return error_nomem();
	const int id = btf__find_by_name_kind(vmlinux, name, BTF_KIND_STRUCT);
	if (id < 0)
		return error_new(ENOENT, "the kernel has no struct %s", name);
	const struct btf_type *t = btf__type_by_id(vmlinux, (uint32_t)id);
	struct nearest near = nearest_make(prog->ops_member);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *member = btf__name_by_offset(vmlinux, btf_members(t)[i].name_off);

		if (strcmp(member, prog->ops_member)) {
			nearest_offer(&near, member);
			continue;
		}
		prog->attach_btf_id = (uint32_t)id;
		prog->attach_type = (enum bpf_attach_type)i;
		return NULL;
	}
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *err = error_new(ENOENT, "the kernel's struct %s has no member '%s'", name,
				      prog->ops_member);
	return nearest_text(&near, &text) ? error_hint(err, "did you mean %s?", strbuf_str(&text))
					  : err;
}
