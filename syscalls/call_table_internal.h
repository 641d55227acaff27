/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct call_table. */
#ifndef PB_SYSCALLS_CALL_TABLE_INTERNAL_H
#define PB_SYSCALLS_CALL_TABLE_INTERNAL_H

#include "lib/base/arena.h"
#include "syscalls/call_table.h"

struct call_table {
	struct arena arena;
	const struct call *calls[TRACE_ABIS][TRACE_NRS]; /* NULL: without a name */
};

/* The name of the kernel's function, by which tracepoints are named: "newstat" of stat. */
const char *call_function_name(const char *call);

#endif
