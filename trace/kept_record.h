/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recording of trace has beyond that of perf trace: the memory that arguments point to, and
 * calls of other ABIs. Behind the tracepoint's fields, the payload of a sample has:
 *
 *	KEPT_RECORD_MAGIC
 *	struct kept_call
 *	of a call whose entry was not seen: its arguments
 *	the pieces, as they are in struct trace_record
 *
 * The rest of the record is in the fields of the two samples. Programs that do not know about it
 * read the fields and ignore what follows. It is in the sample of the call's exit; of a call
 * without an exit, in that of its entry. The entry of a call of another ABI says which ABI it is.
 */
#ifndef PB_TRACE_KEPT_RECORD_H
#define PB_TRACE_KEPT_RECORD_H

#include <stdint.h>

/* "PBcall" and the version of this layout and of struct trace_piece, as bytes in a file */
#define KEPT_RECORD_MAGIC "PBcall\0\3"
/* The version before, which has no files of descriptors; it is still read. */
#define KEPT_RECORD_MAGIC_2 "PBcall\0\2"

enum {
	KEPT_RECORD_MAGIC_SIZE = 8,
};

struct kept_call {
	uint8_t abi, flags; /* of struct trace_record */
	uint8_t n_args;	    /* arguments that follow */
	uint8_t n_pieces;
	uint32_t size; /* bytes of arguments and pieces; the payload has padding behind them */
};

#endif
