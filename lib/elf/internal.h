/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct elf_file; elf_open.c fills it, elf_read.c reads it. */
#ifndef PB_ELF_INTERNAL_H
#define PB_ELF_INTERNAL_H

#include <string.h>

#include "lib/base/vec.h"
#include "lib/elf/elf_read.h"

struct elf_file {
	char *name;
	uint64_t size;

	/* All of the file; NULL: only what pb_elf_file_open_parts() read. */
	const uint8_t *data;
	void *owned; /* what data or the parts were read into */
	void *names; /* parts: the names of sections */

	uint64_t room; /* bytes that may still be read: file_max_bytes() */

	uint16_t type;
	uint16_t machine;
	bool is64;
	bool swap;

	struct elf_section *sections;
	size_t n_sections;

	const void *segments; /* the program headers, as they stand in the file */
	void *owned_segments;
	size_t n_segments;
};

/* A string of a string table section, "" when it is not one. */
static inline const char *pb_elf_string_at(const struct elf_section *strtab, uint64_t off)
{
	if (!strtab || !strtab->data || off >= strtab->size)
		return "";
	const char *s = (const char *)strtab->data + off;
	return memchr(s, 0, strtab->size - off) ? s : "";
}

#endif
