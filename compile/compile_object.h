/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a BPF C file to a BPF object, by the newest clang of this host.
 *
 * What the C file may take for granted: #include "vmlinux.h" is the running
 * kernel's, written from its BTF; <bpf/bpf_helpers.h> and its sisters are this
 * program's own, whatever is installed; <linux/bpf.h> is the system's. The
 * file's own folder comes first. A file with a line that begins with "license("
 * is in the form of perf's own BPF C files, and gets their headers (include/perf).
 *
 * Objects are kept in a cache and found again by content: the source, all it
 * includes, the options, the clang, the kernel's BTF. A second compilation
 * with nothing changed runs no clang. Any number of processes may compile at
 * once. The cache lies in $PERF_BPF_CACHE_DIR, else for root in
 * /var/cache/perf-bpf, else in $XDG_CACHE_HOME/perf-bpf or ~/.cache/perf-bpf;
 * when that cannot be written, in a temporary folder that lasts for the call.
 */
#ifndef PB_COMPILE_COMPILE_H
#define PB_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

/* All zero is a good default. Everything is borrowed for the call. */
struct compile_opts {
	const char *clang_path;		 /* NULL: the newest clang found */
	const char *clang_opt;		 /* more options, quoted as for a shell; may be NULL */
	bool dump_obj;			 /* also write FILE.o beside FILE.c */
	const char *const *defines;	 /* "NAME" or "NAME=VALUE", ended by NULL; may be NULL */
	const char *const *include_dirs; /* ended by NULL; may be NULL */
	const char *cache_dir;		 /* NULL: as said above */
	const char *kernel_btf;		 /* raw BTF file; NULL: /sys/kernel/btf/vmlinux */
	/* Gets what clang prints, without colours and source lines; NULL: it is on stderr. */
	void (*said)(void *ctx, const char *text);
	void *said_ctx;
	const struct log *log; /* what is run and what was found, at LOG_INFO */
};

struct compiled {
	void *data; /* the ELF object */
	size_t size;
	char *name;	 /* for bpf_object_open_opts.object_name: "slow_writes" */
	char *dumped;	 /* where dump_obj wrote it; NULL: it did not */
	bool from_cache; /* no clang was run for it */
};

/*
 * Compiles the C file at path. What clang has to say it says itself, on this
 * process's stderr, in colours when that is a terminal. The caller owns out
 * and ends it with compiled_deinit().
 *
 * Errors: ENOENT and what else opening the file gives; ENOPKG: no clang, or
 * none with a BPF target; EINVAL: clang-opt has an open quote; ENOEXEC: clang
 * refused the source (and said why); EIO: clang died.
 */
struct error *compile_object(const char *path, const struct compile_opts *opts,
			     struct compiled *out);
void compiled_deinit(struct compiled *c);
#define _cleanup_compiled_ _cleanup_(compiled_deinit)

/*
 * A BPF object from FILE.c, which is compiled, or from FILE.o. *image, the
 * caller's, is the memory that the object borrows: freed after it is closed;
 * NULL: none. opts may be NULL; log (may be NULL) gets warnings.
 */
struct bpf_object;
struct error *compile_open(const char *path, const struct compile_opts *opts, const struct log *log,
			   struct bpf_object **obj, void **image);

/*
 * A source that is in memory, as a file that compile_object() can be given: in the cache, under a
 * name made of its content, so that its object is found again. name: of the file, without ".bpf.c".
 */
struct compile_text;
struct error *compile_text_new(const char *text, const char *name, const struct compile_opts *opts,
			       struct compile_text **out);
const char *compile_text_path(const struct compile_text *t);
/* Removes the file if there is no cache that lasts. */
void compile_text_free(struct compile_text *t);
DEFINE_FREEP(struct compile_text, compile_text_free)

/* True for a name that ends in ".c": something to compile. */
bool compile_is_source(const char *path);

#endif
