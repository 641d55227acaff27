// SPDX-License-Identifier: BSD-2-Clause
/*
 * Versions of a library's symbols (System V ABI's GNU extension, "Symbol
 * Versioning" of the LSB): SHT_GNU_versym has a number for each dynamic symbol,
 * and SHT_GNU_verdef a list of what the numbers are called. One name can stand
 * for several functions, each of another version: pthread_cond_wait of
 * GLIBC_2.2.5 and of GLIBC_2.3.2.
 */
#include "lib/elf/internal.h"

enum {
	VERSION_MASK = 0x7fff, /* the highest bit: not the default one */
	FIRST_VERSION = 2,     /* 0: local, 1: global, without a version */
};

/* The name of a version's number; NULL: the file does not say. */
static const char *version_name(const struct elf_file *file, uint16_t number)
{
	const struct elf_section *defs = pb_elf_section_by_type(file, SHT_GNU_verdef);
	uint64_t at = 0;

	if (!defs || !defs->data)
		return NULL;
	struct cursor c = pb_elf_section_cursor(file, defs);
	for (;;) {
		uint16_t version, flags, index, n_names;
		uint32_t hash, names, next, name;

		/* Offsets count from the entry's start. */
		if (!cursor_seek(&c, at) || !cursor_u16(&c, &version) || !cursor_u16(&c, &flags) ||
		    !cursor_u16(&c, &index) || !cursor_u16(&c, &n_names) ||
		    !cursor_u32(&c, &hash) || !cursor_u32(&c, &names) || !cursor_u32(&c, &next))
			return NULL;
		if ((index & VERSION_MASK) == number) {
			if (!n_names || !cursor_seek(&c, at + names) || !cursor_u32(&c, &name))
				return NULL;
			return pb_elf_string_at(pb_elf_section_at(file, defs->link), name);
		}
		if (!next) /* else it is further on: the walk ends at the section's end */
			return NULL;
		at += next;
	}
}

const char *pb_elf_symbol_version(const struct elf_file *file, const struct elf_section *symtab,
				  size_t index)
{
	const struct elf_section *versions = pb_elf_section_by_type(file, SHT_GNU_versym);
	uint16_t number;

	if (!versions || !versions->data || versions->link != symtab->index)
		return NULL;
	struct cursor c = pb_elf_section_cursor(file, versions);
	if (index > SIZE_MAX / 2 || !cursor_seek(&c, index * 2) || !cursor_u16(&c, &number))
		return NULL;
	number &= VERSION_MASK;
	return number < FIRST_VERSION ? NULL : version_name(file, number);
}
