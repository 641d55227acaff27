// SPDX-License-Identifier: BSD-2-Clause
#include "trace/record_check.h"

#include "lib/base/cursor.h"
#include "lib/base/util.h"

struct error *trace_record_check(const void *data, size_t size)
{
	struct cursor c = cursor_make(data, size, "system call record");
	const struct trace_record *rec = cursor_bytes(&c, sizeof(*rec));

	if (!rec)
		return error_new(EBADMSG, "a system call record has only %zu bytes", size);
	if (rec->size != size || size % 8)
		return error_new(EBADMSG, "a system call record of %zu bytes says that it has %u",
				 size, rec->size);
	if (rec->abi >= TRACE_ABIS || rec->n_args > TRACE_ARGS)
		return error_new(EBADMSG, "a system call record has ABI %u and %u arguments",
				 rec->abi, rec->n_args);
	if (!cursor_skip(&c, (size_t)rec->n_args * 8))
		return error_new(EBADMSG, "a system call record ends within its arguments");
	for (unsigned i = 0; i < rec->n_pieces; i++) {
		const struct trace_piece *piece = cursor_bytes(&c, sizeof(*piece));

		if (!piece || !cursor_skip(&c, ((size_t)piece->len + 7) & ~(size_t)7))
			return error_new(EBADMSG, "a system call record ends within piece %u of %u",
					 i, rec->n_pieces);
		if (piece->arg >= TRACE_ARGS || piece->copy >= TRACE_COPIES ||
		    piece->part > TRACE_PART_POINTED)
			return error_new(EBADMSG,
					 "piece %u of a system call record belongs to nothing: "
					 "argument %u, copy %u, part %u",
					 i, piece->arg, piece->copy, piece->part);
	}
	if (!cursor_end(&c))
		return error_new(EBADMSG, "a system call record has %zu bytes behind its pieces",
				 cursor_left(&c));
	return NULL;
}
