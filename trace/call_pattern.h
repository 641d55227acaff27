/* SPDX-License-Identifier: BSD-2-Clause */
/* A glob as the automaton of call_where.h, which the BPF program runs over texts. */
#ifndef PB_TRACE_CALL_PATTERN_H
#define PB_TRACE_CALL_PATTERN_H

#include "lib/base/error.h"
#include "trace/call_where.h"

enum {
	/* Characters of a glob, besides its stars; a set is one. The first state has read none. */
	CALL_PATTERN_MAX = CALL_WHERE_WORDS * 64 - 1,
};

/* It matches what glob_match() matches; "?" also a NUL. E2BIG: the glob is too long. */
struct error *call_pattern_make(const char *glob, struct call_pattern *pattern);

#endif
