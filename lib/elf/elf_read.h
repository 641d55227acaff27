/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files: sections, symbols and relocations, of both classes and both byte
 * orders. Sections are bounds-checked against the file when it is opened.
 *
 * Everything handed out (names, data) points into the file and lasts until
 * pb_elf_file_free(). Errors are EBADMSG, with the file, section and offset.
 */
#ifndef PB_ELF_ELF_H
#define PB_ELF_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"

struct elf_file;

/*
 * Opens a file and reads all of it: for small ones. Nothing is mapped, since a
 * file that shrinks while it is mapped kills the reader. ENOEXEC: not ELF.
 */
struct error *pb_elf_file_open(const char *path, struct elf_file **out);

struct elf_section;
/* Whether a section's bytes are wanted; all sections have their names and sizes. */
typedef bool pb_elf_wants(const struct elf_file *file, const struct elf_section *sec);
/*
 * The same; only the bytes of the wanted sections are read, the data of others
 * is NULL.
 */
struct error *pb_elf_file_open_parts(const char *path, pb_elf_wants *wants, struct elf_file **out);
/* The bytes are borrowed, at any alignment; name is for errors and is copied. */
struct error *pb_elf_file_open_mem(const void *data, size_t size, const char *name,
				   struct elf_file **out);
void pb_elf_file_free(struct elf_file *file);
DEFINE_FREEP(struct elf_file, pb_elf_file_free)
#define _cleanup_elf_ _cleanup_(pb_elf_file_freep)

const char *pb_elf_file_name(const struct elf_file *file);
uint16_t pb_elf_file_machine(const struct elf_file *file); /* EM_… */
uint16_t pb_elf_file_type(const struct elf_file *file);	   /* ET_… */
bool pb_elf_file_is64(const struct elf_file *file);
/* The file is in the other byte order than this machine. */
bool pb_elf_file_swapped(const struct elf_file *file);
/* All bytes of the file; NULL: it was opened in parts. */
const void *pb_elf_file_image(const struct elf_file *file, size_t *size);
struct elf_section {
	const char *name; /* "" when it has none */
	uint32_t index;
	uint32_t type; /* SHT_… */
	uint32_t link;
	uint32_t info;
	uint64_t flags; /* SHF_… */
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	uint64_t entsize;
	const void *data; /* size bytes; NULL for SHT_NOBITS, and where not wanted */
};

/* Sections 0 … n - 1; section 0 is the empty one. */
size_t pb_elf_section_count(const struct elf_file *file);
const struct elf_section *pb_elf_section_at(const struct elf_file *file, size_t index);
/* The first of that name or that type; NULL: none. */
const struct elf_section *pb_elf_section_find(const struct elf_file *file, const char *name);
const struct elf_section *pb_elf_section_by_type(const struct elf_file *file, uint32_t type);

/*
 * Whoever owns the file may change the section's bytes: they were read into
 * memory of the file's own, and are no other section's.
 */
bool pb_elf_section_may_write(const struct elf_file *file, const struct elf_section *sec);

/* A cursor over a section's bytes, in the file's byte order, that names the place. */
struct cursor pb_elf_section_cursor(const struct elf_file *file, const struct elf_section *sec);

/* An EBADMSG at an offset of a section. */
struct error *pb_elf_section_error(const struct elf_file *file, const struct elf_section *sec,
				   uint64_t offset, const char *fmt, ...) _printf_(4, 5) _cold_;

struct elf_symbol {
	const char *name; /* "" when it has none */
	uint64_t value;
	uint64_t size;
	uint32_t section; /* SHN_UNDEF, a section, or SHN_ABS and the like */
	uint8_t bind;	  /* STB_… */
	uint8_t type;	  /* STT_… */
	uint8_t visibility;
};

/* The number of symbols in a SHT_SYMTAB or SHT_DYNSYM section, the empty first one included. */
size_t pb_elf_symbol_count(const struct elf_file *file, const struct elf_section *symtab);
struct error *pb_elf_symbol_at(const struct elf_file *file, const struct elf_section *symtab,
			       size_t index, struct elf_symbol *sym);

/* The version of a dynamic symbol ("GLIBC_2.14"); NULL: it has none. */
const char *pb_elf_symbol_version(const struct elf_file *file, const struct elf_section *symtab,
				  size_t index);

struct elf_reloc {
	uint64_t offset;
	uint32_t symbol;
	uint32_t type;
	int64_t addend; /* 0 for SHT_REL */
};

/* The number of entries of a SHT_REL or SHT_RELA section. */
size_t pb_elf_reloc_count(const struct elf_file *file, const struct elf_section *rel);
struct error *pb_elf_reloc_at(const struct elf_file *file, const struct elf_section *rel,
			      size_t index, struct elf_reloc *reloc);

/* A PT_LOAD program header. */
struct elf_segment {
	uint64_t addr;
	uint64_t offset;
	uint64_t size;	  /* bytes in memory */
	uint64_t in_file; /* the first so many are in the file; the others are 0 */
	uint32_t flags;	  /* PF_X and so on */
};

/* The segment that holds the byte at a virtual address; false: none. */
bool pb_elf_segment_at(const struct elf_file *file, uint64_t addr, struct elf_segment *segment);

/* Where in the file the byte at a virtual address stands; false: no segment holds it. */
bool pb_elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *offset);

/*
 * The virtual address of a byte of code, from its place in the file; false: no executable segment
 * holds it.
 */
bool pb_elf_code_address(const struct elf_file *file, uint64_t offset, uint64_t *addr);

#endif
