/* SPDX-License-Identifier: BSD-2-Clause */
/* The spellings of strace's options that trace --strace accepts. */
#ifndef PB_CMD_TRACE_STRACE_H
#define PB_CMD_TRACE_STRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"

/* What an expression of -e is: a qualifier of strace, such as "trace=openat,close". */
struct strace_expr {
	const char *calls; /* the list of calls that is left of it; NULL: none */
	bool failed_only;  /* status=failed */
	bool full;	   /* abbrev=none */
	bool raw;	   /* raw=all */
	bool has_signals;  /* signal=… */
	uint64_t signals;  /* … bit N - 1: signal N */
};

/* Whether it is one. */
bool is_strace_expr(const char *expr);

/* What the expression, which is one, means here; an error with a hint if it means nothing. */
struct error *strace_expr_parse(const char *expr, struct strace_expr *out);

#endif
