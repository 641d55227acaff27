// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a function of a module is in its file. The kernel puts the sections of a module together
 * when it loads it: .text first, the others behind it in an order of its own (layout_sections(),
 * kernel/module/main.c). So the address in memory leads to a function in .text; functions of
 * other sections are found by their names alone, if these are unique.
 *
 * Calls and addresses of data are 0 in the file. Their relocations say what goes there: S + A for a
 * whole address; S + A - P where it is relative to the place P of the operand, while the
 * instruction counts from its end (gABI, and the psABI of x86-64).
 */
#include "perf/resolve/module_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool module_code_wants(const struct elf_file *file, const struct elf_section *sec)
{
	switch (sec->type) {
	case SHT_SYMTAB:
	case SHT_STRTAB:
	case SHT_NOTE:
		return true;
	case SHT_REL:
	case SHT_RELA:
		return sec->info < pb_elf_section_count(file) &&
		       (pb_elf_section_at(file, sec->info)->flags & SHF_EXECINSTR);
	default:
		return sec->flags & SHF_EXECINSTR;
	}
}

struct error *module_code_init(struct module_code *code, struct module_image *image)
{
	*code = (struct module_code){.image = *image};
	*image = (struct module_image){0};
	code->symtab = pb_elf_section_by_type(code->image.file, SHT_SYMTAB);
	if (code->symtab && code->symtab->data)
		return NULL;
	return error_new(EBADMSG, "%s has no table of symbols", pb_elf_file_name(code->image.file));
}

void module_code_deinit(struct module_code *code)
{
	vec_deinit(&code->relocs);
	module_image_deinit(&code->image);
	*code = (struct module_code){0};
}

/* A symbol in code, with its section; false: the i-th one is not. */
static bool code_symbol(const struct module_code *code, size_t i, struct elf_symbol *sym,
			const struct elf_section **sec)
{
	const struct elf_file *file = code->image.file;
	struct error *err = pb_elf_symbol_at(file, code->symtab, i, sym);

	if (err) {
		error_free(err);
		return false;
	}
	if (!*sym->name || sym->section >= pb_elf_section_count(file) ||
	    (sym->type != STT_FUNC && sym->type != STT_NOTYPE))
		return false;
	*sec = pb_elf_section_at(file, sym->section);
	return ((*sec)->flags & SHF_EXECINSTR) && (*sec)->data && sym->value < (*sec)->size;
}

static int reloc_cmp(const void *a, const void *b)
{
	const struct elf_reloc *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static struct error *find_relocs(struct module_code *code)
{
	const struct elf_file *file = code->image.file;
	struct elf_reloc reloc, *slot;

	code->relocs.n = 0;
	for (size_t i = 0; i < pb_elf_section_count(file); i++) {
		const struct elf_section *sec = pb_elf_section_at(file, i);

		if ((sec->type != SHT_RELA && sec->type != SHT_REL) || !sec->data ||
		    sec->info != code->section->index)
			continue;
		for (size_t j = 0; j < pb_elf_reloc_count(file, sec); j++) {
			TRY(pb_elf_reloc_at(file, sec, j, &reloc));
			if (reloc.offset - code->address >= code->size)
				continue;
			slot = vec_push(&code->relocs);
			if (!slot)
				return error_nomem();
			*slot = reloc;
		}
	}
	if (code->relocs.n)
		qsort(code->relocs.v, code->relocs.n, sizeof(*code->relocs.v), reloc_cmp);
	return NULL;
}

struct error *module_code_find(struct module_code *code, const char *name, uint64_t offset)
{
	const size_t n = pb_elf_symbol_count(code->image.file, code->symtab);
	struct elf_symbol sym, found = {0};
	const struct elf_section *sec;
	size_t n_found = 0;

	for (size_t i = 1; i < n; i++) {
		if (!code_symbol(code, i, &sym, &sec) || strcmp(sym.name, name))
			continue;
		found = sym;
		code->section = sec;
		n_found++;
		if (sym.value == offset && !strcmp(sec->name, ".text")) {
			n_found = 1;
			break;
		}
	}
	if (!n_found)
		return error_new(ENODATA, "%s has no such function",
				 pb_elf_file_name(code->image.file));
	if (n_found > 1)
		return error_new(ENODATA, "%s has %zu functions of this name",
				 pb_elf_file_name(code->image.file), n_found);
	code->address = found.value;
	code->bytes = (const uint8_t *)code->section->data + found.value;
	code->size = (size_t)min_of(found.size ? found.size : UINT64_MAX,
				    code->section->size - found.value);
	return find_relocs(code);
}

static void add_distance(int64_t distance, struct strbuf *out)
{
	if (distance)
		strbuf_addf(out, "%c0x%" PRIx64, distance < 0 ? '-' : '+',
			    distance < 0 ? -(uint64_t)distance : (uint64_t)distance);
}

/* "NAME+0x10" of the function at an address of a section. */
static bool add_function(const struct module_code *code, uint32_t section, uint64_t address,
			 struct strbuf *out)
{
	const size_t n = pb_elf_symbol_count(code->image.file, code->symtab);
	const struct elf_section *sec;
	struct elf_symbol sym;

	for (size_t i = 1; i < n; i++) {
		if (!code_symbol(code, i, &sym, &sec) || sec->index != section ||
		    sym.type != STT_FUNC || address - sym.value >= (sym.size ? sym.size : 1))
			continue;
		strbuf_adds(out, sym.name);
		add_distance((int64_t)(address - sym.value), out);
		return true;
	}
	return false;
}

/* Whether the operand is relative to the end of the instruction. */
static bool is_relative(const struct module_code *code, uint32_t type)
{
	return pb_elf_file_machine(code->image.file) == EM_X86_64 &&
	       (type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_GOTPCREL ||
		type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX ||
		type == R_X86_64_PC64);
}

static bool add_symbol(const struct module_code *code, const struct elf_reloc *reloc,
		       int64_t addend, struct strbuf *out)
{
	const struct elf_file *file = code->image.file;
	struct elf_symbol sym;
	struct error *err = pb_elf_symbol_at(file, code->symtab, reloc->symbol, &sym);

	if (err) {
		error_free(err);
		return false;
	}
	if (sym.type == STT_SECTION && sym.section < pb_elf_section_count(file)) {
		if (add_function(code, sym.section, sym.value + (uint64_t)addend, out))
			return true;
		strbuf_adds(out, pb_elf_section_at(file, sym.section)->name);
	} else if (*sym.name) {
		strbuf_adds(out, sym.name);
	} else {
		return false;
	}
	add_distance(addend, out);
	return true;
}

bool module_code_add_reference(const struct module_code *code, size_t offset, size_t size,
			       struct strbuf *out)
{
	const uint64_t from = code->address + offset, to = from + size;
	const struct elf_reloc *reloc;

	vec_for_each (reloc, &code->relocs) {
		if (reloc->offset < from)
			continue;
		if (reloc->offset >= to)
			break;
		const size_t before = out->len;
		const uint64_t behind = is_relative(code, reloc->type) ? to - reloc->offset : 0;

		strbuf_addch(out, '<');
		if (add_symbol(code, reloc, (int64_t)((uint64_t)reloc->addend + behind), out)) {
			strbuf_addch(out, '>');
			return true;
		}
		strbuf_cut(out, before);
	}
	return false;
}

bool module_code_add_name(const struct module_code *code, uint64_t address, struct strbuf *out)
{
	const size_t before = out->len;

	strbuf_addch(out, '<');
	if (add_function(code, code->section->index, address, out)) {
		strbuf_addch(out, '>');
		return true;
	}
	strbuf_cut(out, before);
	return false;
}
