/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring that the kernel shares with a perf event: a page of struct
 * perf_event_mmap_page, then 2^n pages of records (man 2 perf_event_open).
 *
 *	struct perf_ring ring;
 *	TRY(perf_ring_init(&ring, fd, pages));
 *	struct iovec iov[2];
 *	int n = perf_ring_peek(&ring, iov);	// what is new, where it stands
 *	… write it …
 *	perf_ring_consume(&ring);		// the kernel may overwrite it
 *	perf_ring_deinit(&ring);
 *
 * Other events of the same CPU write to the ring after
 * sys_perf_set_output(their_fd, fd).
 */
#ifndef PB_RING_PERF_RING_H
#define PB_RING_PERF_RING_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/base/error.h"

struct perf_ring {
	struct perf_event_mmap_page *meta; /* NULL: not mapped */
	uint8_t *data;
	uint64_t size; /* bytes of data, a power of two */
	uint64_t tail; /* where the next unread record begins, ever growing */
	uint64_t head; /* as of the last peek */
};

/*
 * Maps the ring of this event; pages of data are a power of two. EPERM: more
 * than may be locked in memory.
 */
struct error *perf_ring_init(struct perf_ring *ring, int fd, size_t pages);
void perf_ring_deinit(struct perf_ring *ring);

/* The unread bytes, whole records all in all; returns how many iovecs: 0, 1 or 2. */
int perf_ring_peek(struct perf_ring *ring, struct iovec iov[2]);
/* What the last peek showed is done with. */
void perf_ring_consume(struct perf_ring *ring);
/* Of what the last peek showed, the first n bytes are done with. */
void perf_ring_consume_bytes(struct perf_ring *ring, uint64_t n);

#endif
