/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call with its arguments and result as text or JSON. The decoders of the argument kinds write
 * to a sink of values, which has one form for each style, so that each kind is decoded once.
 */
#ifndef PB_SYSCALLS_CALL_TEXT_H
#define PB_SYSCALLS_CALL_TEXT_H

#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "syscalls/call_style.h"
#include "syscalls/call_table.h"

/* "openat(…) = 3", without time and thread. The record's bounds are checked. */
struct error *call_text_add(struct strbuf *out, const struct call_table *table,
			    const struct trace_record *rec, const struct call_text_opts *opts);
/* The parts of it: "name(args", and "= 3" or "= -1 ENOENT (No such file or directory)". */
struct error *call_text_add_args(struct strbuf *out, const struct call_table *table,
				 const struct trace_record *rec, const struct call_text_opts *opts);
struct error *call_text_add_result(struct strbuf *out, const struct call_table *table,
				   const struct trace_record *rec,
				   const struct call_text_opts *opts);
/* "--- SIGCHLD {si_signo=SIGCHLD, …} ---": of a TRACE_EVENT_SIGNAL. */
struct error *call_text_add_signal(struct strbuf *out, const struct call_table *table,
				   const struct trace_record *rec,
				   const struct call_text_opts *opts);
/* "+++ exited with 0 +++": how a thread ends, as wait(2) has it. */
void call_text_add_end(struct strbuf *out, int status, const struct call_text_opts *opts);
/* Members of an object that is open: "syscall", "args": {…}, "ret", "error". */
struct error *call_json_add(struct json_writer *w, const struct call_table *table,
			    const struct trace_record *rec, const struct call_text_opts *opts);

#endif
