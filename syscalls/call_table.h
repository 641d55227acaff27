/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls of the running kernel: names and numbers by ABI, arguments with their types,
 * classes (file, network, …), and which memory of the process belongs to each argument.
 */
#ifndef PB_SYSCALLS_CALL_TABLE_H
#define PB_SYSCALLS_CALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "syscalls/call_record.h"

struct btf;
struct call_table;

struct arg_kind;

struct call_arg {
	const char *name;	     /* "filename" */
	const char *type;	     /* in C, as the kernel declares it; NULL: not known */
	const struct arg_kind *kind; /* how its value is shown; NULL: as a number */
};

struct call {
	const char *name; /* "openat" */
	enum trace_abi abi;
	uint32_t nr;
	uint64_t classes; /* bits of call_class_names[] in syscalls/arg_kind.h */
	uint8_t layout;	  /* of its structs: enum call_layout of syscalls/arg_kind.h */
	struct call_arg args[TRACE_ARGS];
	const struct arg_kind *ret; /* of the result; NULL: a number */
	struct trace_call copies;   /* n_args and what to copy; traced is 0 */
};

struct call_table_opts {
	size_t sz; /* sizeof(struct call_table_opts) */
	const struct log *log;
	/* The folder of tracepoints, ".../events"; NULL or unreadable: BTF and what was known when
	 * this was built. */
	const char *tracefs_events;
	const struct btf *vmlinux; /* NULL: none; borrowed until call_table_free() */
	bool prefer_btf;	   /* structs, enums and typedefs by BTF, not by forms of our own */
};

struct error *call_table_new(const struct call_table_opts *opts, struct call_table **out);
void call_table_free(struct call_table *table);

/* NULL: a number without a name. */
const struct call *call_by_nr(const struct call_table *table, enum trace_abi abi, uint32_t nr);
const struct call *call_by_name(const struct call_table *table, enum trace_abi abi,
				const char *name);

/*
 * Sets `traced` in calls[TRACE_ABIS * TRACE_NRS], together with what is copied, by an expression
 * as in -e: names, globs, "/" and a regular expression, classes ("file", "%file", "%stat"), "all",
 * "none", NAME@64, NAME@32 and NAME@x32; "!" or "-" before the first negates all. A "?" before a
 * name: it may be missing. What an earlier expression selected stays. EINVAL, with near names: no
 * such call or class.
 */
struct error *call_table_select(const struct call_table *table, const char *expr,
				struct trace_call *calls);

#endif
