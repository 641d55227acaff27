// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the relocations of code: what each of them refers to is settled at
 * open, as an index of a map or a function, so that laying out a program is
 * nothing but lookups. Documentation/bpf/llvm_reloc.rst names the types; the
 * addend stands in the instruction itself:
 *
 *	ld_imm64	imm is added to the symbol's value
 *	call		imm is the number of the instruction before the target,
 *			counted from the symbol's value: -1 for a function's own
 *			symbol, else an offset in the section
 */
#include "lib/object/open_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_ld_imm64(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/* A section's symbol has no name of its own. */
static const char *symbol_name(const struct bpf_object *obj, const struct elf_symbol *sym)
{
	const struct elf_section *sec = pb_elf_section_at(obj->elf, sym->section);

	if (sym->name[0])
		return sym->name;
	return sec && sec->name[0] ? sec->name : "(no name)";
}

/* The function that an instruction of a section begins, as relo's index. */
static struct error *function_relo(struct bpf_object *obj, const struct elf_symbol *sym,
				   int64_t target, enum relo_kind kind, struct relo *relo)
{
	const uint32_t code = obj->code_of_section[sym->section];
	long index = -1;

	if (code && target >= 0 && target < (int64_t)obj->codes.v[code - 1].n)
		index = function_at(obj, code - 1, (uint32_t)target);
	if (index < 0)
		return error_new(EBADMSG, "'%s' plus %" PRId64 " is not the start of a function",
				 relo->name, target - (int64_t)(sym->value / 8));
	relo->kind = kind;
	relo->index = (uint32_t)index;
	return NULL;
}

static struct error *call_relo(struct bpf_object *obj, const struct elf_symbol *sym,
			       const struct bpf_insn *insn, struct relo *relo)
{
	if (sym->section == SHN_UNDEF)
		return extern_relo(obj, sym, true, relo);
	if (sym->section >= pb_elf_section_count(obj->elf) || sym->value % 8 ||
	    !obj->code_of_section[sym->section])
		return error_new(EBADMSG, "call of '%s', which is not code", relo->name);
	return function_relo(obj, sym, (int64_t)(sym->value / 8) + insn->imm + 1, RELO_CALL, relo);
}

static struct error *address_relo(struct bpf_object *obj, const struct elf_symbol *sym,
				  const struct bpf_insn *insn, struct relo *relo)
{
	if (sym->section == SHN_UNDEF)
		return extern_relo(obj, sym, false, relo);

	const struct elf_section *sec = pb_elf_section_at(obj->elf, sym->section);
	if (!sec)
		return error_new(EBADMSG, "symbol '%s' is not in any section", relo->name);
	if (obj->code_of_section[sec->index]) {
		if (sym->value % 8 || insn->imm % 8)
			return error_new(EBADMSG, "'%s' is not on an instruction", relo->name);
		return function_relo(obj, sym, (int64_t)(sym->value / 8) + insn->imm / 8, RELO_FUNC,
				     relo);
	}
	if (sec == obj->maps_section || sec == obj->btf_maps_section) {
		/* A map's own symbol is all there is to say: what GCC's assembler adds is noise. */
		const int32_t addend = sym->type == STT_SECTION ? insn->imm : 0;
		const int64_t offset = (int64_t)sym->value + addend;
		const long map = offset < 0 ? -1 : object_map_at(obj, sec->index, (uint64_t)offset);

		if (map < 0)
			return error_new(EBADMSG, "'%s' plus %d is not the start of a map",
					 relo->name, addend);
		relo->kind = RELO_MAP;
		relo->index = (uint32_t)map;
		return NULL;
	}
	if (obj->map_of_section[sec->index]) {
		if (sym->value > INT32_MAX)
			return error_new(EBADMSG, "'%s' ends past the end of its section",
					 relo->name);
		relo->kind = RELO_DATA;
		relo->index = obj->map_of_section[sec->index] - 1;
		relo->addend = (int32_t)sym->value;
		return NULL;
	}
	if (sec == obj->jump_tables_section)
		return jump_table_relo(obj, sym, relo);
	return error_new(EBADMSG, "'%s' refers to section %s, which is neither data nor maps",
			 relo->name, sec->name[0] ? sec->name : "without a name");
}

static struct error *relo_read(struct bpf_object *obj, struct code_section *code,
			       const struct elf_reloc *reloc)
{
	if (reloc->offset % 8 || reloc->offset / 8 >= code->n)
		return error_new(EBADMSG, "a relocation does not refer to an instruction");
	if (reloc->symbol >= obj->symbols.n)
		return error_new(EBADMSG,
				 "a relocation refers to symbol %u, but there are only %zu",
				 reloc->symbol, obj->symbols.n);

	const struct elf_symbol *sym = &obj->symbols.v[reloc->symbol];
	const uint32_t at = (uint32_t)(reloc->offset / 8);
	const struct bpf_insn *insn = &code->insns[at];
	struct relo *relo = vec_push(&code->relos);

	if (!relo)
		return error_nomem();
	relo->insn = at;
	relo->name = symbol_name(obj, sym);
	if (is_call(insn))
		return call_relo(obj, sym, insn, relo);
	if (is_ld_imm64(insn)) {
		if (at + 1 >= code->n || insn[1].code)
			return error_new(EBADMSG, "an ld_imm64 instruction is truncated");
		return address_relo(obj, sym, insn, relo);
	}
	return error_hint(error_new(ENOTSUP,
				    "relocation of '%s' in an instruction that cannot be relocated "
				    "(code 0x%02x)",
				    relo->name, insn->code),
			  "compile with clang -O2: the kernel cannot run unoptimized BPF code");
}

static int relo_order(const void *a, const void *b)
{
	const uint32_t x = ((const struct relo *)a)->insn, y = ((const struct relo *)b)->insn;

	return x < y ? -1 : x > y;
}

/* The function that an instruction belongs to, for messages; "": none. */
static const char *function_name_around(const struct bpf_object *obj,
					const struct code_section *code, uint64_t insn)
{
	for (size_t i = 0; i < code->n_functions; i++) {
		const struct function *fn = &obj->functions.v[code->first_function + i];

		if (insn >= fn->start && insn - fn->start < fn->n)
			return fn->name;
	}
	return "";
}

static struct error *code_relos_read(struct bpf_object *obj, struct code_section *code,
				     const struct elf_section *rel)
{
	const size_t n = pb_elf_reloc_count(obj->elf, rel);

	if (rel->type == SHT_RELA)
		return pb_elf_section_error(
			obj->elf, rel, 0,
			"relocations with addends (SHT_RELA) are not supported for BPF");
	if (code->relos.n)
		return pb_elf_section_error(
			obj->elf, rel, 0, "a second table of relocations for %s", code->sec->name);
	if (!vec_reserve(&code->relos, n ? n : 1))
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		struct elf_reloc reloc;

		TRY(pb_elf_reloc_at(obj->elf, rel, i, &reloc));
		struct error *err = relo_read(obj, code, &reloc);
		if (!err)
			continue;
		error_at(err, "offset 0x%" PRIx64, reloc.offset);
		const char *fn = function_name_around(obj, code, reloc.offset / 8);
		if (fn[0])
			error_at(err, "function %s", fn);
		return error_at(err, "section %s", code->sec->name);
	}
	for (size_t i = 1; i < code->relos.n; i++) {
		if (code->relos.v[i - 1].insn < code->relos.v[i].insn)
			continue;
		qsort(code->relos.v, code->relos.n, sizeof(*code->relos.v), relo_order);
		break;
	}
	for (size_t i = 1; i < code->relos.n; i++)
		if (code->relos.v[i - 1].insn == code->relos.v[i].insn)
			return pb_elf_section_error(obj->elf, code->sec,
						    (uint64_t)code->relos.v[i].insn * 8,
						    "an instruction has two relocations");
	return NULL;
}

/* The variable that a byte of a section belongs to; NULL: none is known. */
static const struct elf_symbol *variable_at(const struct bpf_object *obj, uint32_t section,
					    uint64_t offset)
{
	const struct elf_symbol *sym;

	vec_for_each (sym, &obj->symbols)
		if (sym->section == section && sym->type == STT_OBJECT && offset >= sym->value &&
		    offset - sym->value < sym->size)
			return sym;
	return NULL;
}

/* Pointers in global data: libbpf leaves them out in silence, which helps nobody. */
static struct error *warn_of_pointers(const struct bpf_object *obj, const struct elf_section *sec,
				      const struct elf_section *rel)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	const struct elf_symbol *last = NULL;
	size_t i = 0, named = 0;

	/* Each looking up goes through all symbols: a few of them are enough. */
	for (; i < pb_elf_reloc_count(obj->elf, rel) && named < 3; i++) {
		struct elf_reloc reloc;

		TRY(pb_elf_reloc_at(obj->elf, rel, i, &reloc));
		if (last && reloc.offset >= last->value && reloc.offset - last->value < last->size)
			continue;
		last = variable_at(obj, sec->index, reloc.offset);
		strbuf_addf(&names, "%s'%s'", named++ ? ", " : "", last ? last->name : "?");
	}
	if (!named)
		return NULL;
	log_warn(obj->log,
		 "%s: section %s: %s%s: pointers in global data are not filled in, since the "
		 "kernel has no address for them; take the address in a program instead",
		 obj->path, sec->name, strbuf_str(&names),
		 i < pb_elf_reloc_count(obj->elf, rel) ? ", …" : "");
	return NULL;
}

struct error *relos_read(struct bpf_object *obj)
{
	const size_t n_sections = pb_elf_section_count(obj->elf);

	for (size_t i = 1; i < n_sections; i++) {
		const struct elf_section *rel = pb_elf_section_at(obj->elf, i);

		if ((rel->type != SHT_REL && rel->type != SHT_RELA) || !rel->info ||
		    rel->info >= n_sections)
			continue;
		if (obj->code_of_section[rel->info])
			TRY(code_relos_read(obj, &obj->codes.v[obj->code_of_section[rel->info] - 1],
					    rel));
		else if (is_struct_ops_section(pb_elf_section_at(obj->elf, rel->info)->name))
			TRY(struct_ops_read(obj, pb_elf_section_at(obj->elf, rel->info), rel));
		else if (obj->btf_maps_section && obj->btf_maps_section->index == rel->info)
			TRY(map_values_read(obj, rel));
		else if (obj->map_of_section[rel->info])
			TRY(warn_of_pointers(obj, pb_elf_section_at(obj->elf, rel->info), rel));
	}
	return NULL;
}
