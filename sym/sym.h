/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address to name. A symbol table is read from a file and sorted once; a
 * look-up is a binary search. Backends: an ELF file's .symtab, .dynsym and
 * PLT (and its separate debug file, found by build-id or .gnu_debuglink),
 * /proc/kallsyms, the JIT images of BPF programs.
 */
#ifndef PB_SYM_SYM_H
#define PB_SYM_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

struct symbol {
	uint64_t start, end; /* [start, end), in the file's own addresses */
	const char *name;    /* demangled when asked for */
	uint8_t binding;     /* STB_LOCAL, STB_GLOBAL, STB_WEAK */
};

struct symtab;

/* The symbol that covers addr; NULL: none. Lives as long as the table. */
const struct symbol *symtab_find(const struct symtab *st, uint64_t addr);
/* The first symbol of that name; NULL: none. */
const struct symbol *symtab_find_name(const struct symtab *st, const char *name);
size_t symtab_size(const struct symtab *st);
const struct symbol *symtab_at(const struct symtab *st, size_t i);
void symtab_free(struct symtab *st);
DEFINE_FREEP(struct symtab, symtab_free)

struct sym_opts {
	size_t sz;
	const uint8_t *build_id; /* NULL: take the file as it is */
	size_t build_id_size;	 /* a file with another build-id is refused */
	const char *symfs;	 /* put before every path; NULL: "" */
	bool demangle;
};

/* The symbols of an ELF file or of its separate debug file. */
struct error *symtab_load_elf(const char *path, const struct sym_opts *opts, struct symtab **out);

/*
 * The kernel's symbols from kallsyms; text symbols only. With modules = NULL
 * those of the kernel proper; else of that module ("ext4").
 */
struct error *symtab_load_kallsyms(const char *path, const char *module, struct symtab **out);

/* The build-id of an ELF file; size is 0 when it has none. */
struct error *elf_build_id(const char *path, uint8_t id[20], size_t *size);

/*
 * An ELF file's own address for a file offset, by its program headers: maps
 * give offsets, symbol tables give addresses.
 */
uint64_t symtab_offset_to_addr(const struct symtab *st, uint64_t offset);

#endif
