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

/*
 * A ring that the kernel overwrites, of events with attr.write_backward. The functions for other
 * rings are not for it, but for perf_ring_deinit().
 */
struct error *perf_ring_init_overwritten(struct perf_ring *ring, int fd, size_t pages);
/*
 * Copies its data, ring->size bytes, while the kernel does not write; what comes meanwhile is lost.
 * fd is that of the mapping. head is where the newest record is then: positions grow towards older
 * records. The last of them begins before tail, where the newest one was the last time, and at
 * most ring->size from head. perf_ring_kept() moves tail to head.
 */
struct error *perf_ring_keep(struct perf_ring *ring, int fd, uint8_t *copy);
static inline void perf_ring_kept(struct perf_ring *ring)
{
	ring->tail = ring->head;
}

/* The unread bytes, whole records all in all; returns how many iovecs: 0, 1 or 2. */
int perf_ring_peek(struct perf_ring *ring, struct iovec iov[2]);
/* What the last peek showed is done with. */
void perf_ring_consume(struct perf_ring *ring);
/* Of what the last peek showed, the first n bytes are done with. */
void perf_ring_consume_bytes(struct perf_ring *ring, uint64_t n);

#endif
