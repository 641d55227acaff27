/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address to name. A symbol table is read from a file and sorted once; a
 * look-up is a binary search. Backends: an ELF file's .symtab, .dynsym and
 * PLT (and its separate debug file, found by build-id or .gnu_debuglink),
 * the vdso, /proc/kallsyms, the /tmp/perf-PID.map of a JIT, the image of one
 * BPF program.
 *
 * A table is not for two threads at once: a look-up keeps its last hit, and a
 * C++ or Rust name is demangled when it is first handed out.
 */
#ifndef PB_SYM_SYM_H
#define PB_SYM_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/elf/elf_read.h"
#include "sym/demangler.h"

/* A name within a table; lives as long as the table. */
struct symbol {
	uint64_t start, end; /* [start, end), in the table's own addresses, see sym_space */
	const char *name;    /* demangled when asked for */
	uint8_t binding;     /* STB_LOCAL, STB_GLOBAL, STB_WEAK */
	uint8_t lazy;	     /* private to sym/: the name is not final yet */
	uint8_t type;	     /* STT_FUNC, STT_OBJECT, STT_NOTYPE, STT_GNU_IFUNC */
	bool guessed;	     /* it has no length of its own: end is where the next one starts */
	bool inlined;	     /* a function that is inlined in the one that has these addresses */
};

struct symtab;

/* The symbol that covers addr; NULL: none. */
const struct symbol *symtab_find(struct symtab *st, uint64_t addr);
/* The first symbol of that name, by a walk over all; NULL: none. */
const struct symbol *symtab_find_name(struct symtab *st, const char *name);
size_t symtab_size(const struct symtab *st);
/* The memory of the symbols and of their names, in bytes. */
size_t symtab_memory(const struct symtab *st);
/* The i-th symbol by address; i < symtab_size(). */
const struct symbol *symtab_at(struct symtab *st, size_t i);
/*
 * perf's letter for where they came from: k kallsyms, v vmlinux, d the file
 * itself, n its .gnu_debugdata, l .gnu_debuglink, B and D perf's cache, f u b x o other debug
 * files, j a JIT.
 */
char symtab_origin(const struct symtab *st);
/* The file that an ELF table's symbols are of, below symfs; NULL: not known. */
const char *symtab_file(const struct symtab *st);
/* Names are demangled from now on, as with sym_opts.demangle: before any was handed out. */
void symtab_demangle(struct symtab *st, struct demangler *demangler, bool parameters);
/* Whether names are not demangled because there was no memory for it. */
bool symtab_had_no_memory(const struct symtab *st);
/* Whether symbols are missing because many share names that are too long. */
bool symtab_is_cut(const struct symtab *st);
void symtab_free(struct symtab *st);
DEFINE_FREEP(struct symtab, symtab_free)

/* What an ELF table's addresses are. */
enum sym_space {
	SYM_FILE_OFFSET,   /* offsets in the file, where a map's pgoff leads: user binaries */
	SYM_ADDRESS,	   /* addresses as the file has them: vmlinux */
	SYM_TEXT_RELATIVE, /* .text alone, from its start: kernel modules (.ko) */
};

struct sym_opts {
	size_t sz;		 /* sizeof(struct sym_opts) */
	const uint8_t *build_id; /* NULL: take the file as it is */
	size_t build_id_size;	 /* a file with another build-id is refused */
	const char *symfs;	 /* put before every path; NULL: "" */
	const char *buildid_dir; /* perf's build-id cache; NULL: see buildid_cache_dir() */
	bool demangle;
	struct demangler *demangler; /* borrowed; NULL: see symbol_demangle() */
	bool parameters;	     /* of demangled C++ functions are part of their names */
	enum sym_space space;
	uint64_t base; /* added to every address */
};

/*
 * The symbols of an ELF file or of its separate debug file. ENOENT: there is
 * no such file; ESTALE: it has another build-id than asked for; ENODATA: it
 * has no symbols; EBADMSG: it is no sound ELF file.
 */
struct error *symtab_load_elf(const char *path, const struct sym_opts *opts, struct symtab **out);

/*
 * The same from an ELF image in memory, without debug files. The image may go
 * when this returns.
 */
struct error *symtab_load_elf_mem(const void *image, size_t size, const struct sym_opts *opts,
				  struct symtab **out);

/*
 * The file that ran, for what only it has (unwind information): the path itself, or what perf's
 * build-id cache keeps of it. The bytes of the wanted sections are read. Errors as above.
 */
struct error *image_open(const char *path, const struct sym_opts *opts, pb_elf_wants *wants,
			 struct elf_file **out);
/*
 * The same of a kernel module (.ko), which may be packed by xz, zstd or gzip; then all sections
 * have their bytes.
 */
struct module_image {
	struct elf_file *file;
	void *unpacked; /* that the file is in; NULL: it was not packed */
};
struct error *image_open_module(const char *path, const struct sym_opts *opts, pb_elf_wants *wants,
				struct module_image *out);
void module_image_deinit(struct module_image *module);
/* The same of the vdso that the kernel maps into this process; nothing is copied. */
struct error *image_open_vdso(const struct sym_opts *opts, struct elf_file **out);

/* The symbols of the vdso that the kernel maps into this process. */
struct error *symtab_load_vdso(const struct sym_opts *opts, struct symtab **out);

/*
 * kallsyms, read once for the kernel's table and those of its modules. EPERM:
 * the addresses in it are hidden (kptr_restrict), which the hint says.
 */
struct kallsyms;
struct error *kallsyms_load(const char *path, struct kallsyms **out);
/* The same from text in memory; name stands in errors. */
struct error *kallsyms_parse(const char *text, size_t size, const char *name,
			     struct kallsyms **out);
/*
 * The kernel's symbols; with module = NULL those of the kernel proper, else of
 * that module ("ext4"). The table borrows its names from k. delta is
 * subtracted from every address: how far the kernel of k is moved (KASLR)
 * against the one wanted. ENODATA: no symbols of that module.
 */
struct error *kallsyms_symtab(const struct kallsyms *k, const char *module, uint64_t delta,
			      struct symtab **out);
/* The address of the kernel's own symbol of that name; false: there is none. */
bool kallsyms_address(const struct kallsyms *k, const char *name, uint64_t *addr);
/*
 * All of them, several of one name or address too, in the order of the file: functions (T t W w)
 * and data (D d B b), without lengths. i < kallsyms_size(); the names live as long as k.
 */
struct kallsyms_symbol {
	uint64_t address;
	const char *name;
	const char *module; /* NULL: the kernel proper */
	char type;
};
size_t kallsyms_size(const struct kallsyms *k);
struct kallsyms_symbol kallsyms_at(const struct kallsyms *k, size_t i);
void kallsyms_free(struct kallsyms *k);
DEFINE_FREEP(struct kallsyms, kallsyms_free)

/*
 * "START SIZE NAME" lines that a JIT wrote (/tmp/perf-PID.map), from their start; name is for
 * errors. EFBIG if the file is too large or the table would need more memory than room, in bytes.
 */
struct error *symtab_load_perf_map(int fd, const char *name, size_t room, struct symtab **out);

/* One symbol, [start, start + len): the image of a BPF program. */
struct error *symtab_new_one(uint64_t start, uint64_t len, const char *name, struct symtab **out);

/*
 * The build-id of an ELF file, from its notes; size is 0 when it has none. An
 * id longer than 20 bytes is cut, as perf does.
 */
struct error *file_build_id(const char *path, uint8_t id[20], size_t *size);

/*
 * The directory of perf's build-id cache: PERF_BUILDID_DIR, which perf sets for its commands, else
 * as configured (NULL: it is not), else ~/.debug. The caller's; NULL: there is none.
 */
char *buildid_cache_dir(const char *configured);

/* The build-id in a file of bare notes: /sys/kernel/notes. */
struct error *notes_build_id(const char *path, uint8_t id[20], size_t *size);

/*
 * An ELF file's own address for a file offset, by its program headers: what
 * objdump shows where the table has offsets. The offset itself when no segment
 * holds it or the table is not of offsets.
 */
uint64_t symtab_offset_to_addr(const struct symtab *st, uint64_t offset);

#endif
