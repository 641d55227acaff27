// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records (man 2 perf_event_open) in the one or two pieces that a perf ring
 * shows. All are handed out where they stand but for the one that runs over
 * the ring's end, which is put together in the scratch bytes. A size is taken
 * only when so much is there, and a multiple of 8, as the kernel has them: what
 * is left after a wrong size is not to be read any more.
 */
#include "lib/ring/internal.h"

struct perf_records perf_records_make(const struct iovec *iov, int n, uint8_t *scratch)
{
	struct perf_records records = {.scratch = scratch};

	for (int i = 0; i < n; i++)
		records.piece[i] = cursor_make(iov[i].iov_base, iov[i].iov_len, "ring");
	return records;
}

int perf_records_next_piece(struct perf_records *records, struct perf_event_header **event)
{
	struct cursor *here = &records->piece[0], *next = &records->piece[1];
	struct perf_event_header header;

	if (cursor_end(here)) {
		*here = *next;
		*next = (struct cursor){0};
	}
	if (cursor_end(here))
		return 0;
	struct cursor peek = *here;
	if (!cursor_copy(&peek, &header, sizeof(header)) || header.size < sizeof(header) ||
	    header.size % 8)
		return -EBADMSG;
	size_t first = min_of(cursor_left(here), (size_t)header.size);
	size_t rest = header.size - first;
	if (rest > cursor_left(next))
		return -EBADMSG;
	const void *start = cursor_bytes(here, first);
	if (rest) {
		memcpy(records->scratch, start, first);
		cursor_copy(next, records->scratch + first, rest);
		start = records->scratch;
	}
	*event = (struct perf_event_header *)start;
	return 1;
}
