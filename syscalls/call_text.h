/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call with its arguments and result as text or JSON. The decoders of the argument kinds write
 * to a sink of values, which has one form for each style, so that each kind is decoded once.
 */
#ifndef PB_SYSCALLS_CALL_TEXT_H
#define PB_SYSCALLS_CALL_TEXT_H

#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "syscalls/call_table.h"

enum call_style {
	CALL_STYLE_PERF, /* openat(dfd: CWD, filename: "/etc/passwd", flags: RDONLY|CLOEXEC) = 3 */
	CALL_STYLE_STRACE, /* openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3 */
};

struct call_text_opts {
	enum call_style style;
	bool raw; /* arguments as hexadecimal numbers */
	/* The path or socket of a descriptor, NULL if it is not known; may be NULL. */
	const char *(*fd_name)(void *ctx, uint32_t pid, int fd);
	void *ctx;
};

/* "openat(…) = 3", without time and thread. The record's bounds are checked. */
struct error *call_text_add(struct strbuf *out, const struct call_table *table,
			    const struct trace_record *rec, const struct call_text_opts *opts);
/* The parts of it: "name(args", and "= 3" or "= -1 ENOENT (No such file or directory)". */
struct error *call_text_add_args(struct strbuf *out, const struct call_table *table,
				 const struct trace_record *rec, const struct call_text_opts *opts);
struct error *call_text_add_result(struct strbuf *out, const struct call_table *table,
				   const struct trace_record *rec,
				   const struct call_text_opts *opts);
/* Members of an object that is open: "syscall", "args": {…}, "ret", "error". */
struct error *call_json_add(struct json_writer *w, const struct call_table *table,
			    const struct trace_record *rec, const struct call_text_opts *opts);

#endif
