// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an ELF file says: sections by name, symbols, relocations. The tables
 * are read straight from the sections' bytes, every access within the section;
 * elf_open.c has checked that the sections lie within the file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/elf/internal.h"

const char *pb_elf_file_name(const struct elf_file *file)
{
	return file->name;
}

const void *pb_elf_file_image(const struct elf_file *file, size_t *size)
{
	*size = file->data ? file->size : 0;
	return file->data;
}

uint16_t pb_elf_file_machine(const struct elf_file *file)
{
	return file->machine;
}

uint16_t pb_elf_file_type(const struct elf_file *file)
{
	return file->type;
}

bool pb_elf_file_is64(const struct elf_file *file)
{
	return file->is64;
}

bool pb_elf_file_swapped(const struct elf_file *file)
{
	return file->swap;
}

size_t pb_elf_section_count(const struct elf_file *file)
{
	return file->n_sections;
}

const struct elf_section *pb_elf_section_at(const struct elf_file *file, size_t index)
{
	return index < file->n_sections ? &file->sections[index] : NULL;
}

const struct elf_section *pb_elf_section_find(const struct elf_file *file, const char *name)
{
	for (size_t i = 1; i < file->n_sections; i++)
		if (str_equal(file->sections[i].name, name))
			return &file->sections[i];
	return NULL;
}

const struct elf_section *pb_elf_section_by_type(const struct elf_file *file, uint32_t type)
{
	for (size_t i = 1; i < file->n_sections; i++)
		if (file->sections[i].type == type)
			return &file->sections[i];
	return NULL;
}

bool pb_elf_section_may_write(const struct elf_file *file, const struct elf_section *sec)
{
	if (!file->owned || !sec->data)
		return false;
	for (size_t i = 0; i < file->n_sections; i++) {
		const struct elf_section *other = &file->sections[i];

		if (other != sec && other->data && other->offset < sec->offset + sec->size &&
		    sec->offset < other->offset + other->size)
			return false;
	}
	return true;
}

struct cursor pb_elf_section_cursor(const struct elf_file *file, const struct elf_section *sec)
{
	struct cursor c = cursor_make(sec->data, sec->data ? sec->size : 0, file->name);

	c.swap = file->swap;
	c.origin = sec->offset;
	return c;
}

struct error *pb_elf_section_error(const struct elf_file *file, const struct elf_section *sec,
				   uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = error_vnew(EBADMSG, fmt, ap);
	va_end(ap);
	error_at(err, "offset 0x%" PRIx64, offset);
	error_at(err, "section %s", sec->name[0] ? sec->name : "without a name");
	return error_at(err, "%s", file->name);
}

static size_t symbol_size(const struct elf_file *file)
{
	return file->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

size_t pb_elf_symbol_count(const struct elf_file *file, const struct elf_section *symtab)
{
	return symtab->data ? symtab->size / symbol_size(file) : 0;
}

struct error *pb_elf_symbol_at(const struct elf_file *file, const struct elf_section *symtab,
			       size_t index, struct elf_symbol *sym)
{
	uint8_t info = 0, other = 0;
	uint16_t section = 0;
	uint32_t name = 0;

	if (index >= pb_elf_symbol_count(file, symtab))
		return pb_elf_section_error(file, symtab, symtab->size, "symbol %zu does not exist",
					    index);
	if (file->is64 && !file->swap) {
		Elf64_Sym raw;

		memcpy(&raw, (const char *)symtab->data + index * sizeof(raw), sizeof(raw));
		*sym = (struct elf_symbol){
			.name = pb_elf_string_at(pb_elf_section_at(file, symtab->link),
						 raw.st_name),
			.value = raw.st_value,
			.size = raw.st_size,
			.section = raw.st_shndx,
			.bind = ELF64_ST_BIND(raw.st_info),
			.type = ELF64_ST_TYPE(raw.st_info),
			.visibility = ELF64_ST_VISIBILITY(raw.st_other),
		};
		return NULL;
	}
	struct cursor c = pb_elf_section_cursor(file, symtab);
	cursor_seek(&c, index * symbol_size(file));
	/* The bounds were checked: none of these reads fails. */
	if (file->is64) {
		cursor_u32(&c, &name);
		cursor_u8(&c, &info);
		cursor_u8(&c, &other);
		cursor_u16(&c, &section);
		cursor_u64(&c, &sym->value);
		cursor_u64(&c, &sym->size);
	} else {
		uint32_t value = 0, size = 0;

		cursor_u32(&c, &name);
		cursor_u32(&c, &value);
		cursor_u32(&c, &size);
		cursor_u8(&c, &info);
		cursor_u8(&c, &other);
		cursor_u16(&c, &section);
		sym->value = value;
		sym->size = size;
	}
	sym->section = section;
	sym->bind = ELF64_ST_BIND(info);
	sym->type = ELF64_ST_TYPE(info);
	sym->visibility = ELF64_ST_VISIBILITY(other);
	sym->name = pb_elf_string_at(pb_elf_section_at(file, symtab->link), name);
	return NULL;
}

static size_t reloc_size(const struct elf_file *file, const struct elf_section *rel)
{
	if (file->is64)
		return rel->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	return rel->type == SHT_RELA ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
}

size_t pb_elf_reloc_count(const struct elf_file *file, const struct elf_section *rel)
{
	return rel->data ? rel->size / reloc_size(file, rel) : 0;
}

struct error *pb_elf_reloc_at(const struct elf_file *file, const struct elf_section *rel,
			      size_t index, struct elf_reloc *reloc)
{
	if (index >= pb_elf_reloc_count(file, rel))
		return pb_elf_section_error(file, rel, rel->size, "relocation %zu does not exist",
					    index);
	if (file->is64 && !file->swap && rel->type == SHT_REL) {
		Elf64_Rel raw;

		memcpy(&raw, (const char *)rel->data + index * sizeof(raw), sizeof(raw));
		*reloc = (struct elf_reloc){
			.offset = raw.r_offset,
			.symbol = (uint32_t)ELF64_R_SYM(raw.r_info),
			.type = (uint32_t)ELF64_R_TYPE(raw.r_info),
		};
		return NULL;
	}
	struct cursor c = pb_elf_section_cursor(file, rel);
	cursor_seek(&c, index * reloc_size(file, rel));
	reloc->addend = 0;
	if (file->is64) {
		uint64_t info = 0, addend;

		cursor_u64(&c, &reloc->offset);
		cursor_u64(&c, &info);
		reloc->symbol = (uint32_t)ELF64_R_SYM(info);
		reloc->type = (uint32_t)ELF64_R_TYPE(info);
		if (rel->type == SHT_RELA && cursor_u64(&c, &addend))
			reloc->addend = (int64_t)addend;
	} else {
		uint32_t offset = 0, info = 0, addend;

		cursor_u32(&c, &offset);
		cursor_u32(&c, &info);
		reloc->offset = offset;
		reloc->symbol = ELF32_R_SYM(info);
		reloc->type = ELF32_R_TYPE(info);
		if (rel->type == SHT_RELA && cursor_u32(&c, &addend))
			reloc->addend = (int32_t)addend;
	}
	return NULL;
}

/* The program header at an index; its type. */
static uint32_t segment_read(const struct elf_file *file, size_t index, struct elf_segment *segment)
{
	const size_t size = file->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct cursor c = cursor_make((const char *)file->segments + index * size, size, NULL);
	uint32_t type = 0;

	*segment = (struct elf_segment){0};
	c.swap = file->swap;
	cursor_u32(&c, &type);
	if (file->is64) {
		cursor_u32(&c, &segment->flags);
		cursor_u64(&c, &segment->offset);
		cursor_u64(&c, &segment->addr);
		cursor_seek(&c, offsetof(Elf64_Phdr, p_filesz));
		cursor_u64(&c, &segment->in_file);
		cursor_u64(&c, &segment->size);
	} else {
		uint32_t offset = 0, addr = 0, len = 0, in_file = 0;

		cursor_u32(&c, &offset);
		cursor_u32(&c, &addr);
		cursor_seek(&c, offsetof(Elf32_Phdr, p_filesz));
		cursor_u32(&c, &in_file);
		cursor_u32(&c, &len);
		cursor_u32(&c, &segment->flags);
		segment->offset = offset;
		segment->addr = addr;
		segment->size = len;
		segment->in_file = in_file;
	}
	return type;
}

bool pb_elf_segment_at(const struct elf_file *file, uint64_t addr, struct elf_segment *segment)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		struct elf_segment found;

		if (segment_read(file, i, &found) != PT_LOAD || addr < found.addr ||
		    addr - found.addr >= found.size)
			continue;
		*segment = found;
		return true;
	}
	return false;
}

bool pb_elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *offset)
{
	struct elf_segment segment;

	if (!pb_elf_segment_at(file, addr, &segment))
		return false;
	*offset = segment.offset + (addr - segment.addr);
	return true;
}

bool pb_elf_code_address(const struct elf_file *file, uint64_t offset, uint64_t *addr)
{
	struct elf_segment segment;

	for (size_t i = 0; i < file->n_segments; i++) {
		if (segment_read(file, i, &segment) != PT_LOAD || !(segment.flags & PF_X) ||
		    offset < segment.offset || offset - segment.offset >= segment.size)
			continue;
		*addr = segment.addr + (offset - segment.offset);
		return true;
	}
	return false;
}
