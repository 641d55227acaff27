/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "openat.filename ~ '/etc/pass*' && ret < 0" as data for the BPF program: for each system call the
 * comparisons that are left when its own arguments are put in.
 *
 * Names are those of arguments, of a call (openat.filename) or of every call that has one of that
 * name (args.filename is that only); and, before those without a call,
 *
 *	ret, error	the result; the number of the error, 0 if there was none
 *	duration	in milliseconds
 *	comm		of the thread, when the call began
 *	pid, tid	as records have them
 *	uid, gid
 *
 * Names of flags, signals and errors are numbers (O_CREAT, SIGKILL, ENOENT).
 */
#ifndef PB_TRACE_CALL_CONDITIONS_H
#define PB_TRACE_CALL_CONDITIONS_H

#include <stddef.h>

#include "lib/base/error.h"
#include "syscalls/call_table.h"

struct call_where;
struct call_pattern;

struct call_conditions {
	struct call_where *wheres;
	size_t n_wheres;
	struct call_pattern *patterns;
	size_t n_patterns;
};

/*
 * Adds the conditions to those that out has. Of the traced calls, sets `where` of those that the
 * condition selects only sometimes, and clears `traced` of those that it never selects. Errors are
 * of usage, and have the condition with a mark below what is wrong.
 */
struct error *call_conditions_make(const char *text, const struct call_table *table,
				   struct trace_call *calls, struct call_conditions *out);
void call_conditions_deinit(struct call_conditions *conditions);

#endif
