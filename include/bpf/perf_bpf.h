/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of libperfbpf that libbpf does not have. */
#ifndef PERF_BPF_PERF_BPF_H
#define PERF_BPF_PERF_BPF_H

#include <stddef.h>

#include "libbpf_common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_insn;
struct bpf_object;
struct bpf_program;

/*
 * The message of the last failed library call in this thread, "WHERE: MESSAGE", and a hint
 * what to do about it. The strings are valid until the next failure in this thread.
 * perf_bpf_last_error() returns "" if no call has failed yet, perf_bpf_last_hint() NULL if
 * there is no hint.
 */
LIBBPF_API const char *perf_bpf_last_error(void);
LIBBPF_API const char *perf_bpf_last_hint(void);

/*
 * The details of the last failure; libperfbpf-errors(3) lists the kinds. Unknown fields are
 * NULL or 0; an unknown insn is -1. New versions can add fields at the end; sz is the size
 * of the struct that the caller was compiled with.
 */
struct perf_bpf_failure {
	size_t sz;	     /* sizeof(struct perf_bpf_failure), set by the caller */
	int code;	     /* a positive errno */
	const char *kind;    /* a stable word, for example "null-pointer"; "other" if unknown */
	const char *message; /* one line, without file and line number */
	const char *hint;    /* what usually solves the problem */

	const char *object;   /* the file of the object */
	const char *program;  /* the function name of the program */
	const char *section;  /* the section of the program */
	const char *function; /* the function with the error: the program or a subprogram */
	const char *file;     /* the source file, as it was passed to the compiler */
	const char *source;   /* the text of the source line */
	unsigned int line;    /* the line number, from 1 */

	long insn;	       /* the index of the instruction in the program, from 0 */
	const char *insn_text; /* as printed by the verifier */
	const char *reg;       /* the register in question: "R0" */
	const char *state;     /* its value, in words: "a number from 0 to 255" */
	const char *expected;  /* the expected value, in words */

	const char *since_file; /* the source line that set the register */
	const char *since_source;
	unsigned int since_line;

	const char *detail; /* more lines for the user, for example the hottest source lines */
	const char *kernel; /* the kernel's own message */
};

/*
 * Fills *failure, whose sz the caller has set, with the last failure in this thread. The strings
 * are valid until the next failure in this thread; strings longer than 1,000 bytes are truncated.
 * Returns 0; -ENOENT: nothing has failed yet; -EINVAL: failure is NULL, or sz does not match any
 * version.
 */
LIBBPF_API int perf_bpf_last_failure(struct perf_bpf_failure *failure);

/*
 * Returns the same as one line of JSON: an object with the field names of the struct (reg is
 * "register", code is "errno") and "where", which describes the file, section or line. Unknown
 * fields are omitted. The caller frees the string with free(). NULL: nothing has failed yet
 * (errno ENOENT), or out of memory (ENOMEM).
 */
LIBBPF_API char *perf_bpf_last_failure_json(void);

/* The content of the section "config", owned by the object; NULL: there is none. */
LIBBPF_API const void *perf_bpf_object__config(const struct bpf_object *obj, size_t *size);

/*
 * The attach target in the program's section name: "sched:sched_switch" for
 * "tracepoint/sched/sched_switch", "vfs_read" for "kprobe/vfs_read"; "" if
 * there is none. The object owns the string.
 */
LIBBPF_API const char *perf_bpf_program__target(const struct bpf_program *prog);

/*
 * For the callback of bpf_program__set_prep(): sets *out to the prologue followed
 * by the program; the caller frees it with free(). Returns the number of
 * instructions. The end of the prologue falls through into the program, which
 * expects the context in register 1. The prologue can exit, and can call helpers
 * but no other functions. -EINVAL: the prologue jumps out of itself, calls
 * another function, or ends within an instruction.
 */
LIBBPF_API int perf_bpf_prepend_insns(const struct bpf_insn *prologue, size_t prologue_cnt,
				      const struct bpf_insn *insns, size_t insn_cnt,
				      struct bpf_insn **out);

#ifdef __cplusplus
}
#endif

#endif
