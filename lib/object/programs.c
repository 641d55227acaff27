// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions and programs. Every function symbol of a section with code is a
 * function; those in .text are subprograms, which are appended to the programs
 * that call them; those in other sections are programs.
 *
 * Functions of a section do not overlap, so the object's code is never more
 * than its file, and a place belongs to one function.
 */
#include "lib/object/open_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * An instruction of the other byte order: its two registers share a byte, of
 * which the first takes the low half on a little-endian machine, and the high
 * half on a big-endian one.
 */
static void insns_swap(struct bpf_insn *insns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *regs = (uint8_t *)&insns[i] + 1;

		*regs = (uint8_t)(*regs << 4 | *regs >> 4);
		insns[i].off = (__s16)bswap_16((uint16_t)insns[i].off);
		insns[i].imm = (__s32)bswap_32((uint32_t)insns[i].imm);
	}
}

static struct error *code_add(struct bpf_object *obj, const struct elf_section *sec)
{
	if (sec->size % sizeof(struct bpf_insn))
		return pb_elf_section_error(obj->elf, sec, sec->size,
					    "the size of the code is not a multiple of 8 bytes");
	struct code_section *code = vec_push(&obj->codes);
	if (!code)
		return error_nomem();
	code->sec = sec;
	code->n = sec->size / sizeof(struct bpf_insn);
	code->insns = sec->data;
	code->is_text = !strcmp(sec->name, ".text");
	if (pb_elf_file_swapped(obj->elf) || (uintptr_t)sec->data % __alignof__(struct bpf_insn)) {
		code->copy = malloc(sec->size);
		if (!code->copy)
			return error_nomem();
		memcpy(code->copy, sec->data, sec->size);
		if (pb_elf_file_swapped(obj->elf))
			insns_swap(code->copy, code->n);
		code->insns = code->copy;
	}
	if (obj->btf_ext) {
		code->func_info = btf_ext_find(obj->btf_ext, BTF_EXT_FUNC, obj->btf, sec->name);
		code->line_info = btf_ext_find(obj->btf_ext, BTF_EXT_LINE, obj->btf, sec->name);
		code->core_relos = btf_ext_find(obj->btf_ext, BTF_EXT_CORE, obj->btf, sec->name);
	}
	obj->code_of_section[sec->index] = (uint32_t)obj->codes.n;
	return NULL;
}

static struct error *codes_find(struct bpf_object *obj)
{
	obj->code_of_section =
		calloc(pb_elf_section_count(obj->elf), sizeof(*obj->code_of_section));
	if (!obj->code_of_section)
		return error_nomem();
	for (size_t i = 1; i < pb_elf_section_count(obj->elf); i++) {
		const struct elf_section *sec = pb_elf_section_at(obj->elf, i);

		if (sec->type == SHT_PROGBITS && (sec->flags & SHF_EXECINSTR) && sec->size)
			TRY(code_add(obj, sec));
	}
	return NULL;
}

static struct error *function_add(struct bpf_object *obj, const struct elf_symbol *sym,
				  uint32_t code_index)
{
	const struct code_section *code = &obj->codes.v[code_index];
	const size_t insn = sizeof(struct bpf_insn);

	if (sym->value % insn || sym->size % insn || !sym->size || sym->value > code->sec->size ||
	    sym->size > code->sec->size - sym->value)
		return pb_elf_section_error(obj->elf, code->sec, sym->value,
					    "function '%s' (%" PRIu64
					    " bytes) is not aligned to the section's instructions",
					    sym->name, sym->size);
	if (sym->size / insn > PROGRAM_INSNS_MAX)
		return error_kind(
			pb_elf_section_error(obj->elf, code->sec, sym->value,
					     "function '%s' has more than %d instructions",
					     sym->name, PROGRAM_INSNS_MAX),
			"too-large");
	struct function *fn = vec_push(&obj->functions);
	if (!fn)
		return error_nomem();
	*fn = (struct function){
		.name = sym->name,
		.code = code_index,
		.start = (uint32_t)(sym->value / insn),
		.n = (uint32_t)(sym->size / insn),
		.is_global = sym->bind != STB_LOCAL,
		.is_weak = sym->bind == STB_WEAK,
	};
	return NULL;
}

/* By section and place; of several names for one place, a global one first. */
static int function_order(const void *a_, const void *b_)
{
	const struct function *a = a_, *b = b_;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_global != b->is_global)
		return a->is_global ? -1 : 1;
	return strcmp(a->name, b->name);
}

static struct error *functions_find(struct bpf_object *obj)
{
	const size_t n_sections = pb_elf_section_count(obj->elf);
	struct elf_symbol *sym;

	vec_for_each (sym, &obj->symbols) {
		if (sym->type != STT_FUNC || sym->section >= n_sections ||
		    !obj->code_of_section[sym->section])
			continue;
		TRY(function_add(obj, sym, obj->code_of_section[sym->section] - 1));
	}
	if (!obj->functions.n)
		return NULL;
	qsort(obj->functions.v, obj->functions.n, sizeof(*obj->functions.v), function_order);

	/* Aliases go, overlaps are refused. */
	size_t kept = 1;
	for (size_t i = 1; i < obj->functions.n; i++) {
		const struct function *prev = &obj->functions.v[kept - 1];
		const struct function *fn = &obj->functions.v[i];

		if (fn->code == prev->code && fn->start == prev->start && fn->n == prev->n)
			continue;
		if (fn->code == prev->code && fn->start < prev->start + prev->n)
			return pb_elf_section_error(obj->elf, obj->codes.v[fn->code].sec,
						    (uint64_t)fn->start * sizeof(struct bpf_insn),
						    "functions '%s' and '%s' overlap", prev->name,
						    fn->name);
		obj->functions.v[kept++] = *fn;
	}
	obj->functions.n = kept;
	for (size_t i = kept; i-- > 0;) {
		struct code_section *code = &obj->codes.v[obj->functions.v[i].code];

		code->first_function = i;
		code->n_functions++;
	}
	return NULL;
}

long function_at(const struct bpf_object *obj, uint32_t code_index, uint32_t insn)
{
	const struct code_section *code = &obj->codes.v[code_index];
	const size_t first = code->first_function;
	const size_t n =
		count_before(code->n_functions, i, obj->functions.v[first + i].start < insn);

	if (n < code->n_functions && obj->functions.v[first + n].start == insn)
		return (long)(first + n);
	return -1;
}

static struct error *program_add(struct bpf_object *obj, const struct function *fn)
{
	const struct code_section *code = &obj->codes.v[fn->code];

	if (!fn->is_global)
		return error_hint(error_at(error_new(ENOTSUP, "program '%s' is static", fn->name),
					   "section %s", code->sec->name),
				  "remove 'static', or remove SEC() if it is a subprogram");
	struct bpf_program *prog = vec_push(&obj->programs);
	if (!prog)
		return error_nomem();
	prog->obj = obj;
	prog->fn = fn;
	prog->fd = -1;
	prog->section_name = code->sec->name + (code->sec->name[0] == '?');
	const bool known = section_parse(code->sec->name, &prog->section);
	if (handler_find(prog->section_name, &prog->handler) ||
	    (!known && handler_fallback(&prog->handler)))
		prog->section = (struct section_info){
			.type = prog->handler.type,
			.attach_type = prog->handler.attach_type,
			.autoload = prog->section.autoload,
			.target = "",
			.kind_name = "",
		};
	prog->type = prog->section.type;
	prog->attach_type = prog->section.attach_type;
	prog->autoload = prog->section.autoload;
	prog->autoattach = true;
	prog->insns = code->insns + fn->start;
	prog->n_insns = fn->n;
	prog->log_level = obj->kernel_log_level;
	return NULL;
}

struct error *programs_find(struct bpf_object *obj)
{
	struct function *fn;

	TRY(codes_find(obj));
	TRY(functions_find(obj));
	vec_for_each (fn, &obj->functions)
		if (!obj->codes.v[fn->code].is_text)
			TRY(program_add(obj, fn));
	return NULL;
}
