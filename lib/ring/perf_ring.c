// SPDX-License-Identifier: BSD-2-Clause
/*
 * How a ring is read. The kernel writes records and then moves data_head; we
 * read up to data_head and then move data_tail. Both only grow, and their
 * low bits are the place in the ring. Two orders matter
 * (kernel/events/ring_buffer.c, perf_output_put_handle): the records are read
 * after data_head was (acquire), and data_tail is stored after they were read
 * (release). A record may wrap around the ring's end, so what is unread is
 * one piece or two; it is handed out where it stands, never copied.
 *
 * data_head always ends a record, so that the pieces together are whole
 * records. What must never happen: to trust data_head further than the ring's
 * size. It is shared memory that only the kernel writes, but an offset beyond
 * the mapping would be read all the same.
 */
#include "lib/ring/perf_ring.h"

#include <sys/mman.h>

#include "lib/sys/sys.h"

struct error *perf_ring_init(struct perf_ring *ring, int fd, size_t pages)
{
	size_t page = sys_page_size();

	void *p = mmap(NULL, (1 + pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return error_errno(errno, "cannot map a ring of %zu pages", pages);
	*ring = (struct perf_ring){
		.meta = p,
		.data = (uint8_t *)p + page,
		.size = (uint64_t)pages * page,
	};
	ring->tail = ring->head = ring->meta->data_tail;
	return NULL;
}

void perf_ring_deinit(struct perf_ring *ring)
{
	if (ring->meta)
		munmap(ring->meta, ring->size + sys_page_size());
	ring->meta = NULL;
}

int perf_ring_peek(struct perf_ring *ring, struct iovec iov[2])
{
	uint64_t head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
	uint64_t n = head - ring->tail;

	if (!n || n > ring->size)
		return 0;
	ring->head = head;
	uint64_t at = ring->tail & (ring->size - 1);
	uint64_t first = min_of(n, ring->size - at);
	iov[0] = (struct iovec){ring->data + at, first};
	if (first == n)
		return 1;
	iov[1] = (struct iovec){ring->data, n - first};
	return 2;
}

void perf_ring_consume(struct perf_ring *ring)
{
	perf_ring_consume_bytes(ring, ring->head - ring->tail);
}

void perf_ring_consume_bytes(struct perf_ring *ring, uint64_t n)
{
	ring->tail += n;
	__atomic_store_n(&ring->meta->data_tail, ring->tail, __ATOMIC_RELEASE);
}
