/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of compile/: the cache, clang, the headers; compile_object.c joins them. */
#ifndef PB_COMPILE_INTERNAL_H
#define PB_COMPILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/compile_object.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"

/* content_hash.c: XXH3 of 128 bits over parts, each with its length, so that "ab","c" is not
 * "a","bc". */

#define DIGEST_LEN 32

struct digest {
	char hex[DIGEST_LEN + 1];
};

struct hasher;
struct hasher *hasher_new(void); /* NULL: no memory */
void hasher_free(struct hasher *h);
DEFINE_FREEP(struct hasher, hasher_free)
#define _cleanup_hasher_ _cleanup_(hasher_freep)
void hasher_add(struct hasher *h, const void *data, size_t n);
void hasher_add_str(struct hasher *h, const char *s); /* NULL counts as different from "" */
struct digest hasher_end(const struct hasher *h);
struct digest digest_of(const void *data, size_t n);

/* file.c */

/* A whole file, at most max bytes (EFBIG), a NUL behind it. dirfd may be AT_FDCWD. */
struct error *file_read(int dirfd, const char *path, size_t max, char **data, size_t *size);
/* Removes a folder and what is in it; the errors do not matter. */
void tree_remove(const char *path);

/* Adds the names in folder that end in suffix; a folder that cannot be read adds none. */
void files_list(const char *folder, const char *suffix, struct names *out);

/* cache.c */

struct cache {
	char *path;	/* absolute, no symbolic link at its end */
	bool temporary; /* gone with cache_close() */
	const struct log *log;
};

/* want: NULL for the usual place. Falls back to a temporary folder, and logs why. */
struct error *cache_open(const char *want, const struct log *log, struct cache *out);
void cache_close(struct cache *c);
#define _cleanup_cache_ _cleanup_(cache_close)
/* Opens (makes) a folder of the cache, "objects" or "headers/0123…": the caller closes *fd. */
struct error *cache_folder(const struct cache *c, const char *name, int *fd);
/* A new folder below tmp/ for one compilation; *path is removed with tree_remove(). */
struct error *cache_scratch(const struct cache *c, char **path);
/* Keeps the newest keep entries of a folder, and removes scratch an hour old. */
void cache_prune(const struct cache *c, const char *folder, size_t keep);

/* cache_entry.c: a cached object with all that it was made from */

enum dep_kind {
	DEP_HASHED, /* its content is compared */
	DEP_FIXED,  /* lies in the cache under a name made of its content: only its size is */
};

struct dep {
	char *path; /* absolute */
	enum dep_kind kind;
	uint64_t size;
	struct digest digest; /* of DEP_HASHED */
};

struct cache_entry {
	struct dep *deps;
	size_t n_deps;
	size_t cap_deps;
	char *object;
	size_t object_size;
};

void entry_deinit(struct cache_entry *e);
#define _cleanup_entry_ _cleanup_(entry_deinit)
struct dep *entry_add_dep(struct cache_entry *e, const char *path, enum dep_kind kind);
/* Fills in size and digest from the file as it is now. */
struct error *dep_measure(struct dep *dep);
/* The file is as it was. */
bool dep_holds(const struct dep *dep);
struct error *entry_encode(const struct cache_entry *e, struct strbuf *out);
/* EBADMSG: not an entry, or a damaged one. */
struct error *entry_decode(const void *data, size_t size, struct cache_entry *out);
/* The files named by a dependency file as clang -MD writes it (make's syntax). */
struct error *deps_parse(const char *text, struct names *out);

/* clang.c */

struct clang {
	char *path;    /* absolute, symbolic links resolved */
	char *version; /* "Debian clang version 14.0.6" */
	unsigned major;
	struct digest identity; /* path, size, mtime, version */
};

void clang_deinit(struct clang *c);
#define _cleanup_clang_ _cleanup_(clang_deinit)
/* path NULL: the newest one that has a BPF target. */
struct error *clang_find(const struct cache *cache, const char *path, struct clang *out);
/* The number after "version " in what clang --version says; 0: there is none. */
unsigned clang_parse_major(const char *version);
/* Splits as a POSIX shell would split words with quotes and backslashes; expands nothing. */
struct error *words_split(const char *text, struct names *out);
/*
 * Runs argv (ended by NULL), its stdin empty; *status as from waitpid(). out_fd, err_fd: its stdout
 * and stderr, or -1: nothing gets its stdout, and its stderr is ours.
 */
struct error *process_run(char *const argv[], int out_fd, int err_fd, int *status);
/* What has been written to fd, at most 64 KiB; NULL: no memory. */
char *process_output(int fd);

/* headers.c */

struct embedded_header {
	const char *name; /* "bpf/bpf_helpers.h" */
	const char *data;
	size_t size;
};
extern const struct embedded_header embedded_headers[]; /* ended by a NULL name */

/* The folder for -I of the program's own headers. write: lay it out when it is not there. */
struct error *headers_path(const struct cache *c, char **path);
struct error *headers_write(const struct cache *c, const char *path);
/*
 * The folder for -I that holds vmlinux.h. Where the kernel has no BTF the file
 * that is written there is an #error that says so, so that only who includes
 * it hears of it, from clang, with the line.
 */
struct error *vmlinux_path(const struct cache *c, const char *btf, char **path);
struct error *vmlinux_write(const struct cache *c, const char *btf, const char *path);

#endif
