/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs that are built into the binary: the examples that count,
 * each as its source and as an object that CO-RE fits to the running kernel.
 */
#ifndef PB_WORK_BUILTIN_H
#define PB_WORK_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

struct bpf_object;

struct builtin {
	const char *name;    /* "runqlat" */
	const char *summary; /* what it answers, in a line */
	const char *needs;   /* of the kernel */
	const char *source;
	size_t source_size;
	const void *object; /* NULL: built without a clang, or for an architecture without one */
	size_t object_size;
};

/* By name, ascending; ended by a NULL name. */
extern const struct builtin builtins[];

/* Whether the word can only be a built-in program's name: no '/' in it, and no ".c" or ".o" at
 * its end. */
bool builtin_is_name(const char *word);

/* ENOENT, with near names: there is none. */
struct error *builtin_find(const char *name, const struct builtin **out);

/* The object of builtin_find(). ENOTSUP: this binary has its source only. */
struct error *builtin_open(const char *name, const struct log *log, struct bpf_object **obj);

#endif
