/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of BPF programs that a command runs: FILE.c, which is compiled, FILE.o, or the name of a
 * built-in program.
 *
 *	TRY(bpf_file_open(&file, path, &opts));
 *	TRY(object_set_variable(file.obj, "min_us", "50", NULL));
 *	TRY(object_load(file.obj));
 *	TRY(bpf_file_attach(&file, prog, &link));	// each program
 *	bpf_file_close(&file);
 */
#ifndef PB_WORK_BPF_FILE_H
#define PB_WORK_BPF_FILE_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <sys/types.h>

#include "compile/compile_object.h"
#include "lib/base/vec.h"

struct links {
	struct bpf_link **v;
	size_t n, cap;
};

/* All zero: not opened, and can be closed. */
struct bpf_file {
	struct bpf_object *obj;
	void *image; /* of a compiled .c, or a file read as a whole; the object borrows it */
	struct links links;
};

struct bpf_file_opts {
	const struct compile_opts *compile; /* for FILE.c; may be NULL */
	bool builtins;			    /* the path may be the name of a built-in program */
	bool whole; /* FILE.o is read as a whole, so that object_image() has its bytes */
	const struct log *log;
};

/* ENOENT: there is no such file, or no program in it. */
struct error *bpf_file_open(struct bpf_file *file, const char *path,
			    const struct bpf_file_opts *opts);
/* Detaches what is attached, too. */
void bpf_file_close(struct bpf_file *file);

/* Attaches a loaded program by its section. *out (may be NULL) is the file's. */
struct error *bpf_file_attach(struct bpf_file *file, const struct bpf_program *prog,
			      struct bpf_link **out);
/* The same in one process only, if pid > 0: then attach_takes_pid() has to be true. */
struct error *bpf_file_attach_pid(struct bpf_file *file, const struct bpf_program *prog, pid_t pid,
				  struct bpf_link **out);
void bpf_file_detach(struct bpf_file *file);

/* ---- settings of an object between open and load ---- */

struct index_range {
	uint64_t from, to; /* both included */
};

/* NAME and the ranges in brackets, if any. */
struct target_name {
	char *name;
	VEC(struct index_range) ranges; /* none: no brackets */
};

/* "NAME", "NAME[0-3,7]". */
struct error *target_name_parse(const char *text, struct target_name *t);
void target_name_deinit(struct target_name *t);
#define _cleanup_target_name_ _cleanup_(target_name_deinit)

/*
 * Sets a global variable, or elements of one that is an array: those that the target has in
 * brackets, or all of them to the same value. The value is written as inspect/value_input.h has it.
 * ENOENT, with near names: no such variable (*found false when found is not NULL: then that is not
 * an error).
 */
struct error *object_set_variable(struct bpf_object *obj, const char *target, const char *value,
				  bool *found);

/* ENOENT, with near names: the object has no such map. */
struct error *object_find_map(struct bpf_object *obj, const char *name, struct bpf_map **out);

#endif
