/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct call_table. */
#ifndef PB_SYSCALLS_CALL_TABLE_INTERNAL_H
#define PB_SYSCALLS_CALL_TABLE_INTERNAL_H

#include "lib/base/arena.h"
#include "syscalls/call_table.h"

struct call_table {
	struct arena arena;
	const struct btf *vmlinux;			 /* NULL: none */
	const struct call *calls[TRACE_ABIS][TRACE_NRS]; /* NULL: without a name */
};

/* The name of the kernel's function, by which tracepoints are named: "newstat" of stat. */
const char *call_function_name(const char *call);

/*
 * How an argument of a C type is shown by BTF: "const struct clone_args *", "enum
 * landlock_rule_type", "clockid_t". NULL: it cannot be.
 */
const struct arg_kind *call_btf_kind(struct arena *arena, const struct btf *btf, const char *type);

#endif
