/* SPDX-License-Identifier: BSD-2-Clause */
/* What libperfbpf has and libbpf has not. */
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
 * Why the library's last call that failed in this thread did so: "WHERE: MESSAGE", and
 * what to do about it. The strings live until the thread's next failure.
 * "" and NULL: nothing failed yet, no hint is known.
 */
LIBBPF_API const char *perf_bpf_last_error(void);
LIBBPF_API const char *perf_bpf_last_hint(void);

/*
 * What is known of the last failure beside its words; libperfbpf-errors(3) lists the kinds.
 * NULL, 0 and an instruction of -1 mean that a field is not known. Fields may be added at the
 * end: sz says which the caller knows.
 */
struct perf_bpf_failure {
	size_t sz;	     /* sizeof(struct perf_bpf_failure), set by the caller */
	int code;	     /* a positive errno */
	const char *kind;    /* a stable word: "null-pointer"; "other" where there is none */
	const char *message; /* one line, without the place */
	const char *hint;    /* what usually mends it */

	const char *object;   /* the object's file */
	const char *program;  /* the program's function */
	const char *section;  /* its section */
	const char *function; /* the function at fault: the program's, or one that it calls */
	const char *file;     /* the source file, as the compiler was told it */
	const char *source;   /* the line's text */
	unsigned int line;    /* its number, from 1 */

	long insn;	       /* the instruction's number in the program, from 0 */
	const char *insn_text; /* as the verifier writes it */
	const char *reg;       /* the register in question: "R0" */
	const char *state;     /* what it holds, in words: "a number from 0 to 255" */
	const char *expected;  /* what would do, in words */

	const char *since_file; /* where the register got that value */
	const char *since_source;
	unsigned int since_line;

	const char *detail; /* further lines for people: the hottest source lines */
	const char *kernel; /* the kernel's own words */
};

/*
 * Fills *failure, whose sz is set, with this thread's last failure. The strings live until the
 * thread's next failure; those that are longer than 1,000 bytes are cut. 0; -ENOENT: nothing
 * failed yet; -EINVAL: failure is NULL, or its sz is not that of any version.
 */
LIBBPF_API int perf_bpf_last_failure(struct perf_bpf_failure *failure);

/*
 * The same as one line of JSON, an object with the struct's field names (reg is "register", code
 * "errno") and "where", the place in words; what is not known is absent. The caller's to free().
 * NULL: nothing failed yet (errno ENOENT), or no memory (ENOMEM).
 */
LIBBPF_API char *perf_bpf_last_failure_json(void);

/* The bytes of the section "config"; NULL: the object has none. The object's. */
LIBBPF_API const void *perf_bpf_object__config(const struct bpf_object *obj, size_t *size);

/*
 * What the program's section names after its kind: "sched:sched_switch" of
 * "tracepoint/sched/sched_switch", "vfs_read" of "kprobe/vfs_read"; "" for
 * nothing. The object's.
 */
LIBBPF_API const char *perf_bpf_program__target(const struct bpf_program *prog);

/*
 * For a preprocessor (bpf_program__set_prep()): *out is the prologue followed by
 * the program, the caller's to free(). Returns how many instructions that are.
 * The prologue falls through at its end into the program, which expects the
 * context in register 1; it may exit, and calls helpers only. EINVAL: it jumps
 * elsewhere, calls functions, or ends within an instruction.
 */
LIBBPF_API int perf_bpf_prepend_insns(const struct bpf_insn *prologue, size_t prologue_cnt,
				      const struct bpf_insn *insns, size_t insn_cnt,
				      struct bpf_insn **out);

#ifdef __cplusplus
}
#endif

#endif
