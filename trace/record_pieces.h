/* SPDX-License-Identifier: BSD-2-Clause */
/* The pieces of a record, one after the other, within its bounds. */
#ifndef PB_TRACE_RECORD_PIECES_H
#define PB_TRACE_RECORD_PIECES_H

#include <stddef.h>

#include "lib/base/util.h"
#include "syscalls/call_record.h"

struct record_pieces {
	const unsigned char *at, *end;
	unsigned left;
};

static inline struct record_pieces record_pieces_of(const struct trace_record *rec)
{
	const size_t args = min_of((unsigned)rec->n_args, (unsigned)TRACE_ARGS) * sizeof(__u64);
	const unsigned char *start = (const unsigned char *)rec;

	return (struct record_pieces){
		.at = start + min_of(sizeof(*rec) + args, (size_t)rec->size),
		.end = start + rec->size,
		.left = rec->n_pieces,
	};
}

/* NULL: there are no more. */
static inline const struct trace_piece *record_pieces_next(struct record_pieces *p)
{
	const struct trace_piece *piece = (const void *)p->at;
	const size_t room = (size_t)(p->end - p->at);

	if (!p->left || room < sizeof(*piece) || piece->len > room - sizeof(*piece))
		return NULL;
	p->left--;
	p->at += min_of((size_t)round_up(sizeof(*piece) + piece->len, 8), room);
	return piece;
}

#endif
