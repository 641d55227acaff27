/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that are typed as arguments, read from "-", or from a file of the same form. */
#ifndef PB_CMD_TYPED_PROGRAMS_H
#define PB_CMD_TYPED_PROGRAMS_H

#include "compile/compile_object.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "oneliner/oneliner.h"

struct typed_program {
	char *text;
	const char *name; /* in messages: "program", or the file's */
	struct oneliner made;
	struct compile_text *file;
};

struct typed_programs {
	struct typed_program *v;
	size_t n, cap;
	struct strbuf said; /* by clang */
};

void typed_programs_deinit(struct typed_programs *programs);
#define _cleanup_typed_programs_ _cleanup_(typed_programs_deinit)

/*
 * *path, a word of the command line, becomes the C file that the program stands for, if it is one:
 * the name is good as long as programs is.
 */
struct error *typed_program_add(struct typed_programs *programs, const struct compile_opts *compile,
				const char **path);
/*
 * The same of an argument of -e: the body's value decides which of the events are recorded. Other
 * events are left as they are.
 */
struct error *typed_filter_add(struct typed_programs *programs, const struct compile_opts *compile,
			       const char **event);
/* Gets what clang prints from now on, if there are programs. */
void typed_programs_listen(struct typed_programs *programs, struct compile_opts *compile);
/*
 * Shows clang's warnings at the typed text. An error of clang, or of the verifier, becomes one
 * about the typed text; others, and NULL, are returned as they are.
 */
struct error *typed_programs_explain(struct typed_programs *programs, struct error *err);
/* The C file, for --source. false: the word is no program. */
struct error *typed_program_source(const char *word, char **source, bool *is_program);

#endif
