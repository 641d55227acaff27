/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recording of trace has beyond that of perf trace: the memory that arguments point to.
 * The payload of a sample is the tracepoint's fields, then KEPT_RECORD_MAGIC, then the whole
 * struct trace_record. Programs that do not know about it read the fields and ignore the rest.
 *
 * It is in the sample of the call's exit; of a call without an exit, in that of its entry. Records
 * that the tracepoint's fields can replace (without pieces, of the native ABI) are not kept.
 */
#ifndef PB_TRACE_KEPT_RECORD_H
#define PB_TRACE_KEPT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "syscalls/call_record.h"

/* "PBcall" and the version of the layout of struct trace_record, as bytes in a file */
#define KEPT_RECORD_MAGIC "PBcall\0\1"

enum {
	KEPT_RECORD_MAGIC_SIZE = 8,
};

static inline bool kept_record_is_needed(const struct trace_record *rec)
{
	return rec->n_pieces || rec->abi != TRACE_ABI_NATIVE;
}

#endif
