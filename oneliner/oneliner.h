/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program typed as a command's argument, as the C file that it stands for:
 *
 *	PROGRAM := CLAUSE...
 *	CLAUSE  := EVENT [',' EVENT]... '{' BODY '}'
 *	EVENT   := SYSTEM ':' NAME	a tracepoint; both can be globs. events.c has the others
 *
 *	syscalls:sys_exit_read { hist(args->ret, comm); }
 *
 * BODY is C. What is more in it than C: `args`, the names of built-in variables, and the functions
 * that count and print. Each of these calls becomes a map with a view (see <bpf/perf_bpf_prog.h>),
 * whose types follow from the arguments. Everything else is left as it was typed, and is clang's to
 * judge; oneliner_find() says where in the typed text a place in the C file comes from.
 *
 * Pure: text in, text out. What it must know of the kernel, it asks struct oneliner_env.
 */
#ifndef PB_ONELINER_ONELINER_H
#define PB_ONELINER_ONELINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/names.h"

/* What a program needs to know of the kernel. */
struct oneliner_env {
	/* Adds each tracepoint, as "SYSTEM:NAME", that matches both globs. ENOENT: there is none.
	 */
	struct error *(*match)(void *ctx, const char *system, const char *name,
			       struct names *found);
	/* The text of a tracepoint's format file, the caller's. */
	struct error *(*format)(void *ctx, const char *system, const char *name, char **text,
				size_t *size);
	/* Whether it is the name of a clock, hardware or software event; NULL: none is. */
	bool (*is_sampled)(const char *name);
	/* The number of "O_CREAT", "EAGAIN"; NULL: there is none. */
	bool (*constant)(const char *name, uint64_t *value);
	void *ctx;
};

/* The running kernel, by its tracefs. */
extern const struct oneliner_env oneliner_host;

/* Where a part of the C file comes from. */
struct oneliner_origin {
	size_t out, at, len; /* bytes of the C file; of the typed text */
};

struct oneliner {
	char *source; /* the C file */
	struct oneliner_origin *origins;
	size_t n_origins, cap_origins;
};

void oneliner_deinit(struct oneliner *o);
#define _cleanup_oneliner_ __attribute__((cleanup(oneliner_deinit)))

/* Whether a command's argument is a program, not the name of a file or of a built-in program. */
bool oneliner_is(const char *word);

/* The brace where the first body begins, which is none of a name; NULL: there is no body. */
const char *oneliner_body(const char *text);

struct oneliner_opts {
	const char *name; /* of the text in messages: "program", or the name of its file */
	bool filters;	  /* an event is recorded if its body returns a number that is not 0 */
};

/*
 * EINVAL, with a mark below the typed text: what is wrong. ENOENT: an event or a field does not
 * exist.
 */
struct error *oneliner_generate(const char *text, const struct oneliner_opts *opts,
				const struct oneliner_env *env, struct oneliner *out);

/*
 * The byte of the typed text that a line and a column (from 1) of the C file come from; false: no
 * part of the text is there.
 */
bool oneliner_find(const struct oneliner *o, unsigned line, unsigned column, size_t *at);

/* The same of a program's first statement. */
bool oneliner_find_program(const struct oneliner *o, const char *function, size_t *at);

/* The names that a body can use without declaring them: variables and functions. */
void oneliner_offer_names(struct nearest *near);

/* An error at a byte of the text: the line that has it, and a mark below. */
struct error *oneliner_error(int code, const char *name, const char *text, size_t at,
			     const char *fmt, ...) _printf_(5, 6);

#endif
