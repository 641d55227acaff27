/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a definition to points: the places in the kernel or in a binary where
 * it applies, each with how its arguments are fetched there.
 *
 * Sources, in this order: BTF (the kernel and its modules: parameters at
 * entry, what is returned), DWARF (lines, inlined copies, locals; read by
 * compilation unit, only those that are needed), the symbol table (functions
 * and offsets, registers). A finder holds what was read, for the next question.
 */
#ifndef PB_PROBE_POINT_POINT_H
#define PB_PROBE_POINT_POINT_H

#include "lib/base/log.h"
#include "lib/sys/confine.h"
#include "probe/def/def.h"
#include "probe/fetch/fetch.h"

enum point_source {
	POINT_BTF,
	POINT_DWARF,
	POINT_SYMBOLS,
};

struct probe_point {
	char *function; /* the symbol that the address lies in: "vfs_write"; demangled name apart */
	char *shown;	/* what people read: "Shop::order(int)"; NULL: function */
	char *inlined;	/* the function whose inlined copy it is; NULL: not inlined */
	uint64_t address; /* user: of the ELF file; kernel: of the symbol table, as it runs; 0: only
			     BTF is known, the function's name is the place */
	uint64_t offset;  /* from the function's first byte */
	uint64_t file_offset; /* user: what a uprobe takes */
	bool at_return;
	enum point_source source;
	uint32_t
		btf_id; /* of the function in BTF, for fentry; 0: none, or the name is not unique */
	uint16_t n_words; /* of the parameters, with btf_id: where fexit finds what is returned */
	char *module;	  /* of the kernel; NULL: the kernel proper */
	char *file;	  /* source file and line; NULL: not known */
	uint32_t line;
	/*
	 * Why the kernel would not place a uprobe there, though it lets one be attached: the point
	 * would never be hit. NULL: nothing is known against it.
	 */
	char *refused;
	/* Then: bytes from there to the next instruction that can be probed; 0: not known. */
	uint64_t next_offset;
	/*
	 * n_args of the struct probe_points, in their order. Where at_return is set and the source
	 * is BTF, FETCH_PARAM is what fexit still has; a kretprobe has not, its registers are used
	 * for other things by then.
	 */
	struct fetch_value *args;
};

struct probe_points {
	char *path;	  /* the binary; NULL: the kernel */
	uint16_t machine; /* EM_… */
	/*
	 * The kernel: what is added to an address of its debug information (FETCH_STATIC) for
	 * that at which it runs (KASLR). 0 for user binaries: there the points' addresses tell.
	 */
	uint64_t bias;
	struct probe_point *v;
	size_t n, cap;
	/*
	 * Names of the arguments, $params and $vars written out: the union over all points. A
	 * point that lacks one has an obstacle there.
	 */
	char **names;
	size_t n_args;
};

void probe_points_deinit(struct probe_points *points);
#define _cleanup_probe_points_ _cleanup_(probe_points_deinit)
/* Keeps the points whose number in part_of, which has one for each, is part. */
void probe_points_keep(struct probe_points *points, const uint32_t *part_of, uint32_t part);

/* EOPNOTSUPP, with the next instruction as the hint: all of them are refused. NULL: not all. */
struct error *probe_points_refused(const struct probe_points *points);
/* Leaves those out that are refused, with a warning; the same error. */
struct error *probe_points_drop_refused(struct probe_points *points, const struct log *log);

struct finder_opts {
	const char *vmlinux;	       /* the kernel's image with DWARF; NULL: looked for */
	const char *const *debug_dirs; /* like /usr/lib/debug, NULL-terminated; NULL: the usual */
	const char *symfs;	       /* put before paths; NULL: "" */
	const char *btf;	       /* the kernel's BTF; NULL: /sys/kernel/btf/vmlinux */
	const char *kallsyms;	       /* NULL: /proc/kallsyms */
	uint16_t machine;	       /* of the kernel (EM_…); EM_NONE: this one's */
	bool no_btf;		       /* only DWARF and symbols: to compare, and for tests */
	bool no_dwarf;		       /* only BTF and symbols: likewise */
	bool no_debuginfod;
	/*
	 * probe_points_find() runs in a process of its own, in which this is called first: it gives
	 * up the privileges that reading binaries does not need. NULL: in this process.
	 */
	confine_fn *confine;
	const struct log *log;
};

struct probe_finder;
/* What opts points to outlives the finder. */
struct error *probe_finder_new(const struct finder_opts *opts, struct probe_finder **out);
void probe_finder_free(struct probe_finder *finder);
DEFINE_FREEP(struct probe_finder, probe_finder_free)

/*
 * All the points of a definition, at least one; points is all zero. ENOENT: no
 * such function, file, line or variable (near names, those that there are);
 * ENODATA: that needs debug information which there is none of (the hint says
 * what would give it); EBADMSG: it is damaged; EOPNOTSUPP: no point at which
 * all arguments can be read, unless def->force: then those stay, with obstacles. With
 * finder_opts.confine also EPROTO: the process that reads binaries ended, and EINTR.
 */
struct error *probe_points_find(struct probe_finder *finder, const struct probe_def *def,
				struct probe_points *points);

/* ---- perf-bpf probe -F, -V, -L ---- */

typedef struct error *probe_name_fn(void *ctx, const char *name);
/* Functions of exec (NULL: the kernel, or module) whose names match the glob. */
struct error *probe_functions(struct probe_finder *finder, const char *exec, const char *module,
			      const char *glob, probe_name_fn *fn, void *ctx);

struct probe_variable {
	const char *name, *type, *obstacle; /* obstacle NULL: it can be read there */
	bool is_parameter;
};
typedef struct error *probe_variable_fn(void *ctx, const struct probe_point *point,
					const struct probe_variable *variable);
/*
 * The variables that can be seen at the definition's points (its args are not looked at); with the
 * global ones of its source, by DWARF only.
 */
struct error *probe_variables(struct probe_finder *finder, const struct probe_def *def,
			      bool with_globals, probe_variable_fn *fn, void *ctx);

/*
 * What FILE means in a definition, only its binary tells: def->file becomes def->function if that
 * is the name of a function (Go's "main.many:2"). The other calls do so by themselves.
 */
struct error *probe_resolve(struct probe_finder *finder, struct probe_def *def, bool *changed);

struct probe_line {
	const char *file;  /* the source's path */
	uint32_t line;	   /* in the file */
	uint32_t first;	   /* the function's */
	bool can;	   /* code begins on this line */
	uint32_t n_places; /* points that a definition of it has; 0: not counted */
	uid_t author;	   /* who chose the path: pb_dwarf_image_author() */
};
typedef struct error *probe_line_fn(void *ctx, const struct probe_line *line);
/* The lines of the definition's function, or of its file. */
struct error *probe_lines(struct probe_finder *finder, const struct probe_def *def,
			  probe_line_fn *fn, void *ctx);

#endif
