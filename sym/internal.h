/* SPDX-License-Identifier: BSD-2-Clause */
/* What the backends of sym/ share: a table under construction. */
#ifndef PB_SYM_INTERNAL_H
#define PB_SYM_INTERNAL_H

#include <elf.h>
#include <stdio.h>

#include "lib/base/vec.h"
#include "sym/sym.h"

/* struct symbol.lazy: what is to be done before the name is handed out. */
enum {
	LAZY_DEMANGLE = 1,
	LAZY_PLT = 2, /* "@plt" is to be appended */
};

struct segment {
	uint64_t vaddr, offset, filesz, memsz;
};

struct symtab {
	VEC(struct symbol) syms; /* by start; at equal starts in order of arrival */
	uint64_t *max_end;	 /* max_end[i]: largest end of syms[0 … i]; NULL: no overlaps */
	size_t last;		 /* the last hit */
	VEC(void *) blocks;	 /* what the names stand in */
	char *arena;		 /* the free part of the newest arena block */
	size_t arena_left, arena_block; /* of it; the size of that block */
	size_t arena_size;		/* of all blocks */
	VEC(struct segment) segments;
	struct kallsyms *kallsyms; /* owned; NULL: none */
	const char *file;	   /* that the symbols are of; NULL: none */
	char origin;
	bool is_cut;		     /* some symbols are missing: their names are too long */
	struct demangler *demangler; /* borrowed */
	bool demangle, parameters;
	bool no_memory; /* for a name, which stayed as it was */
};

struct symtab *symtab_new(void);

/* Adds a symbol; name is borrowed. false: no memory. */
bool symtab_add(struct symtab *st, uint64_t start, uint64_t len, uint8_t binding, uint8_t type,
		const char *name);
/* Takes a block from malloc() that names stand in; false: no memory, block freed. */
bool symtab_own(struct symtab *st, void *block);
/* A copy of the name within the table; NULL: no memory. */
const char *symtab_strdup(struct symtab *st, const char *name, size_t len);

/*
 * The fix-ups of perf's symbol tables, in the order it applies them; sort
 * first. Ends: a symbol without a length reaches to the next one. Duplicates:
 * of the symbols at one address, one stays.
 */
bool symtab_sort(struct symtab *st);
void symtab_fix_ends(struct symtab *st);
void symtab_fix_duplicates(struct symtab *st);
/* After more was added and sorted: a guessed length ends where the next symbol starts. */
void symtab_cut_guessed(struct symtab *st);
/* Removes labels without a length that are in a function with one; after the fix-ups. */
void symtab_drop_labels(struct symtab *st);
/* Makes the table ready for look-ups; after it nothing is added. */
bool symtab_finish(struct symtab *st);

/* Reads one ELF image: its file, or where a separate debug file gave symbols. */
struct elf_source;
struct error *pb_elf_source_open(const char *path, struct elf_source **out);
struct error *pb_elf_source_open_mem(const void *image, size_t size, struct elf_source **out);
/* The image in its .gnu_debugdata. ENOENT: it has none; EBADMSG: it is damaged. */
struct error *pb_elf_source_open_debugdata(const struct elf_source *of, struct elf_source **out);
void pb_elf_source_free(struct elf_source *es);
DEFINE_FREEP(struct elf_source, pb_elf_source_free)
const char *pb_elf_source_path(const struct elf_source *es);
bool pb_elf_source_has_symtab(const struct elf_source *es);
bool pb_elf_source_has_dynsym(const struct elf_source *es);
/* 0: none */
size_t pb_elf_source_build_id(const struct elf_source *es, uint8_t id[20]);
/* The file name in .gnu_debuglink; NULL: none. Lives as long as es. */
const char *pb_elf_source_debuglink(const struct elf_source *es);
/* Symbols from syms; PLT, segments and section contents from runtime. */
struct error *pb_elf_source_read(struct elf_source *syms, struct elf_source *runtime,
				 const struct sym_opts *opts, struct symtab *st);

/* The build-id among notes in host byte order (swap: in the other one). */
size_t notes_find_build_id(const void *notes, size_t size, bool swap, uint8_t id[20]);

/* What a file of up to max bytes has, which is the caller's. EFBIG: it has more. */
struct error *file_bytes(int fd, size_t max, void **bytes, size_t *size);
/* Unpacks xz; NULL: it is not xz, or too large, or errno is ENOMEM. The caller's. */
void *unpack_xz(const void *data, size_t size, size_t *len);
/*
 * The bytes of a file that xz, zstd or gzip has packed, which are the caller's; *image NULL: it is
 * not packed. EBADMSG: it is damaged or too large.
 */
struct error *packed_file_read(int fd, void **image, size_t *size);

/* A recording may have padded a shorter build-id with zeros to 20 bytes. */
bool build_id_equal(const uint8_t *file, size_t n, const uint8_t *want, size_t n_want);

/* The vdso of this process; false: there is none. */
bool vdso_find(const void **image, size_t *size);

/* symtab_load_perf_map() of an open file; errors do not name it. */
struct error *symtab_read_perf_map(FILE *f, size_t room, struct symtab **out);

/* A function of an OCaml module: modules begin with a capital, functions of the runtime do not. */
static inline bool name_is_ocaml(const char *name)
{
	return !strncmp(name, "caml", 4) && name[4] >= 'A' && name[4] <= 'Z';
}

/* NULL: it is not mangled. For names that are harmless, or in a process of its own. */
char *libiberty_demangle(const char *name, bool parameters);
/* The same of a name of OCaml. */
char *ocaml_demangle(const char *name);

/* Whether demangling may change the name; cheap. */
static inline bool name_may_be_mangled(const char *name)
{
	return name_is_ocaml(name) || (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' ||
							  name[1] == '_' || name[1] == 'G'));
}

#endif
