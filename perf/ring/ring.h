/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring that the kernel shares with a perf event: a page of struct
 * perf_event_mmap_page, then 2^n pages of records (man 2 perf_event_open).
 *
 *	struct ring ring;
 *	TRY(ring_init(&ring, fd, pages));
 *	struct iovec iov[2];
 *	int n = ring_peek(&ring, iov);	// what is new, where it stands
 *	… write it …
 *	ring_consume(&ring);		// the kernel may overwrite it
 *	ring_deinit(&ring);
 *
 * Other events of the same CPU write to the ring after
 * sys_perf_set_output(their_fd, fd).
 */
#ifndef PB_PERF_RING_RING_H
#define PB_PERF_RING_RING_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/base/error.h"

struct ring {
	struct perf_event_mmap_page *meta; /* NULL: not mapped */
	uint8_t *data;
	uint64_t size; /* bytes of data, a power of two */
	uint64_t tail; /* where the next unread record begins, ever growing */
	uint64_t head; /* as of the last peek */
};

/*
 * Maps the ring of this event; pages of data are a power of two. EPERM: more
 * than may be locked in memory (the hint says what to do).
 */
struct error *ring_init(struct ring *ring, int fd, size_t pages);
void ring_deinit(struct ring *ring);

/* The unread bytes, whole records all in all; returns how many iovecs: 0, 1 or 2. */
int ring_peek(struct ring *ring, struct iovec iov[2]);
/* What the last peek showed is done with. */
void ring_consume(struct ring *ring);

/*
 * -m: a number of pages, or a size ("512K", "1M", "16MB", "1G"), rounded up
 * to a power of two of pages.
 */
struct error *ring_pages_parse(const char *text, size_t page_size, size_t *pages);

#endif
