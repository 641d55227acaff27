/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an address of a sample to the map, the DSO and the symbol it lies in:
 * joins perf/session (who had what mapped) and sym/ (what a file calls its
 * addresses). Symbols of a DSO are read when first asked for; a file that has
 * another build-id than the recording says is not used.
 */
#ifndef PB_PERF_RESOLVE_RESOLVE_H
#define PB_PERF_RESOLVE_RESOLVE_H

#include "perf/resolve/inline_frames.h"
#include "perf/resolve/held_files.h"
#include "perf/session/session.h"
#include "sym/jitdump.h"
#include "sym/sym.h"

struct resolver;

struct resolver_opts {
	size_t sz; /* sizeof(struct resolver_opts) */
	const struct log *log;
	const char *kallsyms; /* NULL: /proc/kallsyms, when it belongs to the recording's kernel */
	const char *vmlinux;  /* NULL: look for it by build-id */
	bool ignore_vmlinux;  /* do not look for it */
	const char *symfs;    /* NULL: "" */
	const char *buildid_dir;     /* perf's build-id cache as configured; NULL: it is not */
	struct demangler *demangler; /* borrowed; NULL: see symbol_demangle() */
	bool demangle;		     /* names of programs and libraries */
	bool demangle_kernel;	     /* those of the kernel and its modules */
	bool parameters;	     /* of demangled C++ functions are part of their names */
	bool no_symbols;	     /* maps and DSOs only: nothing is read, every sym stays NULL */
	bool lines;	       /* for resolve_line(), and the build-ids of programs and libraries */
	bool inlines;	       /* for resolve_inlines() */
	bool code_is_recorded; /* kernel_code is of the kernel that kallsyms is of */
	bool kernel_runs;      /* the kernel is the running one, although no build id says so */
	/* Appends code of the running kernel or of one of its modules; NULL: there is none. */
	struct error *(*kernel_code)(void *ctx, uint64_t address, uint64_t size,
				     struct strbuf *out);
	void *kernel_code_ctx;
	/* perf_map_open(), by a process that may. NULL: this one may. */
	struct error *(*perf_map)(void *ctx, int32_t pid, int *fd);
	void *perf_map_ctx;
	uint64_t recorded_until; /* ns since 1970, or later; 0: now, or not known */
	/* Of a live session: files that were opened when they were mapped. NULL: none. */
	const struct held_files *held;
};

/*
 * Of a live session, a file is looked for below the root folder of the process
 * first (it may be in a container), and what a JIT compiler tells in
 * /tmp/perf-PID.map is read again when it has grown.
 */

/* The strings of opts are borrowed, but for buildid_dir, which is copied. The resolver is freed
 * before the session. */
struct error *resolver_new(struct session *s, const struct resolver_opts *opts,
			   struct resolver **out);
void resolver_free(struct resolver *r);
DEFINE_FREEP(struct resolver, resolver_free)

/*
 * Opens the perf map that a process which still runs has written in its own /tmp, which must be
 * its user's, root's or the caller's. Errors as open_regular(), ESRCH.
 */
struct error *perf_map_open(int32_t pid, int *fd);

/* Where an address lies. Pointers live as long as the session and the resolver. */
struct location {
	uint64_t addr;		  /* as given */
	const struct map *map;	  /* NULL: no map holds it */
	const struct symbol *sym; /* NULL: no symbol covers it */
	uint64_t offset;	  /* addr - the symbol's start, in the DSO's own addresses */
	uint64_t dso_addr;	  /* addr in the DSO's own addresses */
	uint8_t cpumode;	  /* as used: from PERF_CONTEXT_* in chains */
};

/* Resolves one address; never fails: what is unknown stays NULL. */
void resolve_addr(struct resolver *r, const struct thread *thread, uint8_t cpumode, uint64_t addr,
		  struct location *out);

/* The map that an address lies in, as resolve_addr() finds it; NULL: none. */
const struct map *resolver_find_map(struct resolver *r, const struct thread *thread,
				    uint8_t cpumode, uint64_t addr);

/* The same as resolve_addr() where the map (NULL: none) was found already. */
/* The same without a symbol: no file is read. */
void resolve_map_in(const struct map *map, uint8_t cpumode, uint64_t addr, struct location *out);
/* Whether the DSO of a map has a symbol at an address of the DSO. */
bool resolver_has_symbol(struct resolver *r, const struct map *map, uint64_t dso_addr);
void resolve_addr_in(struct resolver *r, const struct map *map, uint8_t cpumode, uint64_t addr,
		     struct location *out);

/*
 * Of a live session: an address of a process (cpumode PERF_RECORD_MISC_USER) or
 * of the kernel (_KERNEL), as of a time; 0: unknown, see session_find_map_at().
 * What it hands out is valid until the session gets records or forgets.
 */
void resolve_addr_at(struct resolver *r, int32_t pid, uint64_t time, uint8_t cpumode, uint64_t addr,
		     struct location *out);
/* Of a live session: called when it got records or forgot, before the next address. */
void resolver_refresh(struct resolver *r);

/*
 * ENOMEM: there was no memory for what an address needed, which was resolved as unknown. For those
 * who show the whole of a recording.
 */
struct error *resolver_error(const struct resolver *r);

/* The session the resolver was made for. */
struct session *resolver_session(struct resolver *r);

/*
 * As resolve_addr() for an address whose mode is unknown (a data address, a
 * branch target): the user's maps first, then the kernel's.
 */
void resolve_addr_any(struct resolver *r, const struct thread *thread, uint64_t addr,
		      struct location *out);

/*
 * Resolves a sample's chain into out[0 … max), innermost first, without the
 * PERF_CONTEXT_* markers; returns how many. Return addresses are looked up as
 * they stand, as perf does for chains the kernel walked. A chain with a marker
 * that is not understood gives 0, as in perf. A sample whose stack was copied, but
 * has no frame, gives its own address.
 */
size_t resolve_chain(struct resolver *r, const struct thread *thread, const struct sample *sample,
		     struct location *out, size_t max);

/*
 * The same without symbols, for those who know some of them: of each location only addr, map and
 * cpumode, with which resolve_addr_in() gives the rest.
 */
size_t resolver_find_chain(struct resolver *r, const struct thread *thread,
			   const struct sample *sample, struct location *out, size_t max);

/*
 * The source line of a program's or library's code, if opts.lines is set and there is debug
 * information for it; the kernel's lines are not looked for. is_return: the address follows a call,
 * whose line is wanted. The path lives as long as the resolver, in a live session until
 * resolver_refresh(). false: not known.
 */
bool resolve_line(struct resolver *r, const struct location *at, bool is_return, const char **file,
		  uint32_t *line);
/* Who chose the path that resolve_line() has found: pb_dwarf_image_author(). */
uid_t resolve_line_author(const struct location *at);

/* Whether there is debug information for the file that a location is in. */
bool resolver_has_lines(struct resolver *r, const struct location *at);

/* resolver_opts.lines, before the first address is resolved. */
void resolver_want_lines(struct resolver *r);
bool resolver_wants_lines(const struct resolver *r);

/*
 * The functions at an address where the compiler inlined some, if opts.inlines is set; NULL: there
 * are none, or there is no debug information. Looked up once for each address. They live as long as
 * the resolver, in a live session until resolver_refresh().
 */
const struct inline_frames *resolve_inlines(struct resolver *r, const struct location *at);

/* The symbol table of a DSO, read now if need be; NULL: it has none. */
struct symtab *resolver_symtab(struct resolver *r, struct dso *dso);

/*
 * The file of a DSO that was mapped, for its unwind information; the bytes of the wanted sections
 * are read (those of the build-id's notes must be among them). ENOENT: it is not there; ESTALE: it
 * is another build.
 */
struct error *resolver_open_image(struct resolver *r, const struct dso *dso, pb_elf_wants *wants,
				  struct elf_file **out);

/*
 * The same of whatever is mapped, for its code: of the kernel, the vmlinux that its symbols are of.
 * ENOENT: there is no such file; the hint says what would help.
 */
struct error *resolver_open_code(struct resolver *r, const struct map *map, pb_elf_wants *wants,
				 struct elf_file **out);

/* The file of a kernel module: what image_open_module() finds at its path. Errors as above. */
struct error *resolver_open_module(struct resolver *r, const struct map *map, pb_elf_wants *wants,
				   struct module_image *out);

/*
 * The code of a function of the kernel or of a module as it is in the memory of the running kernel,
 * if that is the one of the recording. ENOENT: it is not, or nobody can read it.
 */
struct error *resolver_running_code(struct resolver *r, const struct location *at,
				    struct strbuf *out);

/* The code that a JIT compiler has written for profilers; false: it has not. */
bool resolver_jit_function(const struct location *at, struct jit_function *out);

/* The address that the ELF file has for a location that has a symbol: what objdump shows. */
uint64_t location_elf_address(const struct location *at);

/* The kernel address of a symbol's start as the map has it, for "0x…" output. */
uint64_t location_unmap(const struct map *map, uint64_t dso_addr);

#endif
