/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and C types of the arguments of a system call, as the kernel has them: from the text of
 * its tracepoint's format, "events/syscalls/sys_enter_NAME/format", or from the prototype of
 * __do_sys_NAME or __se_sys_NAME in BTF.
 */
#ifndef PB_SYSCALLS_CALL_FORMATS_H
#define PB_SYSCALLS_CALL_FORMATS_H

#include "lib/base/arena.h"
#include "syscalls/call_record.h"

struct btf;

struct kernel_arg {
	const char *name;
	const char *type; /* NULL: not known */
};

/* The number of arguments; -1: the text has no arguments of a system call; -2: no memory. */
int call_args_of_format(const char *text, struct arena *arena, struct kernel_arg args[TRACE_ARGS]);
/* -1: BTF has no such function; -2: no memory. Types may be NULL. */
int call_args_of_btf(const struct btf *btf, const char *call, struct arena *arena,
		     struct kernel_arg args[TRACE_ARGS]);

#endif
