/* SPDX-License-Identifier: BSD-2-Clause */
/* Conditions (trace/call_conditions.h) on records of calls, where no program has evaluated them. */
#ifndef PB_TRACE_RECORD_WHERE_H
#define PB_TRACE_RECORD_WHERE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "syscalls/call_record.h"
#include "trace/call_conditions.h"

/* An error of usage if the conditions name what records do not have. */
struct error *record_where_check(const struct call_conditions *conditions);

/*
 * Whether the condition with this number (trace_call.where) selects the call. A text that the
 * record does not have, or of which it has too little, makes a comparison neither true nor false.
 */
bool record_where_selects(const struct call_conditions *conditions, uint16_t where,
			  const struct trace_record *rec);

#endif
