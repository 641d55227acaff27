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
 *
 * A ring that is mapped for reading only has no tail: the kernel overwrites what is oldest. Its
 * events have attr.write_backward, so that each record is in front of the one before it, and
 * data_head, which begins at 0 and falls, is where the newest record begins. From there on records
 * follow one another up to the place where the ring is full, or where reading began the last time.
 * The record there may be overwritten in part. The kernel must not write while the ring is copied.
 * It pauses at once, but a record that it is writing on another CPU at that moment moves
 * data_head when it is complete: then the copy is made again.
 */
#include "lib/ring/perf_ring.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/sys/sys.h"

static struct error *map_ring(struct perf_ring *ring, int fd, size_t pages, int prot)
{
	size_t page = sys_page_size();

	void *p = mmap(NULL, (1 + pages) * page, prot, MAP_SHARED, fd, 0);
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

struct error *perf_ring_init(struct perf_ring *ring, int fd, size_t pages)
{
	return map_ring(ring, fd, pages, PROT_READ | PROT_WRITE);
}

struct error *perf_ring_init_overwritten(struct perf_ring *ring, int fd, size_t pages)
{
	return map_ring(ring, fd, pages, PROT_READ);
}

struct error *perf_ring_keep(struct perf_ring *ring, int fd, uint8_t *copy)
{
	struct error *err = sys_perf_pause_output(fd, true);

	for (uint64_t head = 0, again = 0; !err && (!again || head != ring->head); again = 1) {
		head = ring->head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
		memcpy(copy, ring->data, ring->size);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		ring->head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
	}
	if (!err)
		err = sys_perf_pause_output(fd, false);
	return err;
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
