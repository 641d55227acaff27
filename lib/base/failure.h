/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tool wants to know of a failure beside its message: which kind it is,
 * where in the user's source it happened, what the kernel said. A struct error
 * may carry one; most do not. The public shape is struct perf_bpf_failure of
 * <bpf/perf_bpf.h>, which tells what each field means; NULL, 0 and insn -1 stand
 * for "not known". Strings are the failure's but for kind, a constant.
 */
#ifndef PB_BASE_FAILURE_H
#define PB_BASE_FAILURE_H

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

struct failure {
	const char *kind; /* never NULL */
	char *object;
	char *program;
	char *section;
	char *function;
	char *file;
	char *source;
	unsigned line;
	long insn;
	char *insn_text;
	char *reg;
	char *state;
	char *expected;
	char *since_file;
	char *since_source;
	unsigned since_line;
	char *detail; /* for people: lines without the indentation; NULL: none */
	char *kernel;
	bool placed; /* the error's place is whole: nothing is to be put before it */
};

/* kind is borrowed for ever. NULL: no memory. */
struct failure *failure_new(const char *kind);
void failure_free(struct failure *failure);
DEFINE_FREEP(struct failure, failure_free)

/* Says of what kind err is, unless it is known. Returns err. NULL stays NULL. */
struct error *error_kind(struct error *err, const char *kind);

/* "WHERE: MESSAGE" and below it the source line and what else there is; without the hint. */
void error_text(const struct error *err, struct strbuf *sb);

/* One JSON object on one line, without a newline: perf_bpf_last_failure_json() says what of. */
void error_json(const struct error *err, struct strbuf *sb);

#endif
