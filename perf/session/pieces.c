// SPDX-License-Identifier: BSD-2-Clause
/*
 * The records of a file are read into memory that is used again, 256 KiB at a time. A page of a
 * mapping that is touched once costs more than a copy of it: a fault, or a part of one, an entry of
 * the page table, and its end; in a virtual machine each again for the host. Of 1 GB in the page
 * cache, touching all pages of the mapping took 0.7 s, reading them 0.1 s.
 *
 * A piece is free when no record in it waits for its turn. A tool may still have samples that point
 * into it (struct record, stays), so before a free one is filled again, the tool settles. That ends
 * what its threads do, so it is asked seldom: not before SETTLE_AT pieces are there.
 *
 * Memory is bounded by MOST pieces. When all are full of records that wait, for the end of a long
 * round, a piece is read where it is mapped, and so it is when there is no memory or when the file
 * became shorter. Copies of stacks are always read there: of each the unwinder looks at few bytes,
 * and threads that unwind take the faults. Pages of the mapping are given back to the system when
 * they were handed on, and a little later, as a page that is looked at again would stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/session/internal.h"

#define PIECE	  ((size_t)256 << 10)
#define SETTLE_AT 16
#define MOST	  256
#define DROP_STEP ((size_t)8 << 20)
#define DROP_LAG  ((size_t)4 << 20) /* what a tool may still look at, usually */

size_t pieces_size(struct session_input *in, uint64_t size)
{
	if (!in->pieces.size)
		in->pieces.size = (size_t)min_of((uint64_t)PIECE, size);
	return in->pieces.size;
}

/* NULL: there is none. */
static uint8_t *take_settled(struct pieces *p)
{
	if (!p->n_settled)
		return NULL;
	/* The one that was used last is in the cache of the CPU. */
	uint8_t *mem = p->free.v[--p->n_settled];
	p->free.v[p->n_settled] = p->free.v[--p->free.n];
	return mem;
}

static uint8_t *new_piece(struct pieces *p)
{
	if (p->n == MOST || !vec_reserve(&p->free, p->n + 1))
		return NULL;
	uint8_t *mem = malloc(p->size);
	p->n += !!mem;
	return mem;
}

/* *mem NULL: all are in use, or there is no memory. */
static struct error *take(struct session *s, uint8_t **mem)
{
	struct pieces *p = &s->input.pieces;

	if (!p->n_settled && p->free.n && (!s->tool->settle || p->n >= SETTLE_AT)) {
		TRY(session_settle(s));
		p->n_settled = p->free.n;
	}
	*mem = take_settled(p);
	if (!*mem)
		*mem = new_piece(p);
	return NULL;
}

void pieces_give(struct pieces *p, uint8_t *mem)
{
	p->free.v[p->free.n++] = mem; /* new_piece() made room */
}

static bool read_all(int fd, uint64_t offset, uint8_t *to, size_t size)
{
	for (size_t n = 0; n < size;) {
		const ssize_t got = pread(fd, to + n, size - n, (off_t)(offset + n));

		if (got > 0)
			n += (size_t)got;
		else if (!got || errno != EINTR)
			return false;
	}
	return true;
}

struct error *pieces_read(struct session *s, uint64_t offset, size_t size, struct chunk **out)
{
	uint8_t *mem;

	TRY(take(s, &mem));
	if (mem && !read_all(s->input.file, offset, mem, size)) {
		pieces_give(&s->input.pieces, mem);
		mem = NULL;
	}
	struct chunk *chunk = chunk_new(s, NULL, 0);
	if (!chunk) {
		if (mem)
			pieces_give(&s->input.pieces, mem);
		return error_nomem();
	}
	chunk->base = mem ? mem : s->input.base + offset;
	chunk->mem = mem;
	chunk->is_piece = mem;
	chunk->file_offset = offset;
	s->input.pieces.reads_mapping |= !mem;
	*out = chunk;
	return NULL;
}

void pieces_deinit(struct pieces *p)
{
	uint8_t **mem;

	vec_for_each (mem, &p->free)
		free(*mem);
	vec_deinit(&p->free);
}

void pieces_give_back(struct session_input *in, const uint8_t *keep_from)
{
	const size_t read_to = (size_t)(keep_from - in->base);
	const size_t to = read_to - min_of(read_to, DROP_LAG);
	const size_t size = to > in->dropped ? (to - in->dropped) & ~(DROP_STEP - 1) : 0;

	if (size)
		madvise((void *)(in->base + in->dropped), size, MADV_DONTNEED);
	in->dropped += size;
}
