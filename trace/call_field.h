/* SPDX-License-Identifier: BSD-2-Clause */
/* What a field of a condition is in a system call: an argument, the result, or a constant. */
#ifndef PB_TRACE_CALL_FIELD_H
#define PB_TRACE_CALL_FIELD_H

#include "lib/base/names.h"
#include "perf/filter/where.h"
#include "syscalls/call_table.h"

/* What a field of the condition is in one call. */
struct call_field {
	enum where_type type; /* WHERE_NOTHING: the call has no such field */
	bool is_constant;
	uint64_t constant;
	uint8_t kind; /* of a text: enum call_where_kind */
	uint8_t value, bits, is_signed, needs, length;
	const struct arg_kind *arg; /* NULL: not an argument */
};

/* args.NAME: an argument of whichever call it is. */
bool call_field_is_argument(const struct where_field *want);

/*
 * want->owner is the name of a call, "args", or NULL. constant: what call_constant_find() finds by
 * want->name; NULL: nothing.
 */
void call_field_find(const struct call_table *table, const struct where_field *want,
		     const struct call *call, const uint64_t *constant, struct call_field *f);

/* The names that every call has. */
void call_field_offer(struct nearest *near);

#endif
