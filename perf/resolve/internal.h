/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver, for the files that load its symbols. */
#ifndef PB_PERF_RESOLVE_INTERNAL_H
#define PB_PERF_RESOLVE_INTERNAL_H

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "perf/resolve/resolve.h"
#include "perf/resolve/source_lines.h"

/* What hangs on dso->priv. */
struct dso_syms {
	struct symtab *st; /* NULL: there are none */
	struct dso *dso;
	struct resolver *r;
	size_t index;		    /* in loaded */
	off_t size;		    /* of a JIT's file when it was read; it may grow */
	uint64_t read_again;	    /* the resolver's round in which that was done last */
	struct source_lines *lines; /* NULL: not wanted */
	struct jitdump *jitdump;    /* of a JIT that writes its code; NULL: none */
	bool runs;		    /* its symbols are those of the running kernel */
	uint64_t moved;		    /* that one's addresses minus those of the recording */
	uint64_t image_base;	    /* of the kernel: its addresses minus those of the image */
};

/* Addresses looked up lately: profiles ask for the same ones over and over. */
#define CACHE_SIZE 8192
struct cached_symbol {
	const void *key; /* the map or the DSO that addr is an address of; NULL: free */
	uint64_t addr;
	const struct symbol *sym;
};

/* What the tables of all JITs may take together: any user can write such files for root to read. */
#define PERF_MAPS_ROOM ((size_t)256 << 20)

struct resolver {
	struct session *session;
	struct resolver_opts opts;
	char *buildid_dir; /* of opts */
	VEC(struct dso_syms *) loaded;
	struct u64map bpf;	      /* struct map * -> struct symtab * */
	struct u64map bpf_lines;      /* struct map * -> struct bpf_line_table * */
	const struct map *kernel_map; /* the last that was hit */
	struct kallsyms *kallsyms;
	bool kallsyms_tried;
	bool kallsyms_warned;
	bool changed_warned; /* that a file has another build id */
	bool no_memory;	     /* at any time: what is unknown may be unknown for that */
	/* of a live session */
	int32_t pid;		    /* of the process at work; 0: none */
	uint64_t generation;	    /* of the session's maps */
	struct symtab *trampolines; /* of BPF, that were there before */
	bool trampolines_tried;
	VEC(struct symtab *) replaced; /* perf maps whose names were handed out */
	size_t perf_maps_size;	       /* memory of all perf maps, also of those */
	bool too_large_warned;	       /* that a perf map is not used */
	uint64_t round;		       /* counts resolver_refresh(), from 1 */
	struct cached_symbol cache[CACHE_SIZE];
};

/* The build-id in hexadecimal digits. */
void resolver_build_id_text(const struct dso *dso, char hex[41]);
/* Whether all of a path was written. */
bool resolver_is_whole(struct resolver *r, const struct strbuf *path);
/* Frees err; notes a lack of memory. */
void resolver_note(struct resolver *r, struct error *err);
/* What is asked of debug information later. */
void resolver_open_lines(struct resolver *r, const struct dso *dso, const char *path,
			 const char *symfs, struct dso_syms *ds);

/* Says why a file is not used, once for the reasons that many have, and frees err. */
void resolver_log(struct resolver *r, const char *path, struct error *err);

/* perf_maps.c */

bool is_perf_map(const char *path);
/* NULL: the JIT compiler has written nothing, or the log has the reason. */
struct symtab *resolver_load_jit(struct resolver *r, const char *path, struct dso_syms *ds);
/*
 * The symbol of a JIT's code, whose file may have grown since it was read. A
 * file is read again once between two refreshes: a process that changes its
 * file all the time costs one file per snapshot, not one per address.
 */
const struct symbol *resolver_find_in_grown(struct resolver *r, const struct map *map,
					    uint64_t addr);
void resolver_free_perf_map(struct resolver *r, struct symtab *st);
void resolver_free_replaced(struct resolver *r);

/* kernel_symbols.c; NULL: there are none, and the log has the reason. */
struct symtab *resolver_load_kernel(struct resolver *r, const struct map *map, struct dso_syms *ds);
struct symtab *resolver_load_module(struct resolver *r, const struct map *map, struct dso_syms *ds);
/*
 * Whether the kernel that was recorded is the one that runs here: by its build-id, else by the
 * header, which a recording from a pipe need not have.
 */
bool resolver_is_of_this_host(struct resolver *r);
/* Says once why names of the kernel, of its modules and of the vdso are not shown. */
void resolver_warn_of_other_host(struct resolver *r);
/*
 * Code of BPF that is not a program and was there before: kallsyms alone has
 * the trampolines and dispatchers.
 */
const struct symbol *resolver_find_trampoline(struct resolver *r, uint64_t addr);

#endif
