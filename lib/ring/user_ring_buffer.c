// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writing to a BPF user ring buffer, where the kernel is the reader
 * (kernel/bpf/ringbuf.c, __bpf_user_ringbuf_peek). The header of a reserved
 * record is written with BUSY before the producer's position moves past it,
 * and loses the bit when the record is whole: the reader stops at a BUSY one.
 * A position at which no record ends makes the kernel refuse the whole ring,
 * so a position moves by whole, padded records only.
 */
#include <stdlib.h>
#include <sys/epoll.h>

#include "lib/base/clock.h"
#include "lib/base/edge.h"
#include "lib/ring/internal.h"

struct user_ring_buffer {
	struct ringbuf mem;
	int epoll_fd;
};

void *ringbuf_reserve(struct ringbuf *ring, uint32_t size, int *err)
{
	uint64_t total = round_up((uint64_t)size + BPF_RINGBUF_HDR_SZ, 8);
	unsigned long consumer = __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE);
	unsigned long producer = __atomic_load_n(ring->producer, __ATOMIC_RELAXED);
	unsigned long used = producer - consumer;

	if (size & (BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT) || total > ring->size)
		*err = E2BIG;
	else if (used > ring->size || producer % 8)
		*err = EBADMSG;
	else if (total > ring->size - used)
		*err = ENOSPC;
	else {
		uint32_t *header = (uint32_t *)(ring->data + (producer & (ring->size - 1)));

		header[0] = size | BPF_RINGBUF_BUSY_BIT;
		header[1] = 0;
		__atomic_store_n(ring->producer, producer + total, __ATOMIC_RELEASE);
		return header + 2;
	}
	return NULL;
}

void ringbuf_commit(struct ringbuf *ring, void *sample, bool discard)
{
	/* At the ring's end the header stands in the first copy, its bytes in both. */
	uint32_t *header = (uint32_t *)((uint8_t *)sample - BPF_RINGBUF_HDR_SZ);
	uint32_t size = *header & ~BPF_RINGBUF_BUSY_BIT;

	__atomic_exchange_n(header, discard ? size | BPF_RINGBUF_DISCARD_BIT : size,
			    __ATOMIC_ACQ_REL);
}

static struct error *buffer_init(struct user_ring_buffer *rb, int map_fd)
{
	rb->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rb->epoll_fd < 0)
		return error_errno(errno, "cannot create an epoll descriptor");
	TRY(ringbuf_init(&rb->mem, map_fd, BPF_MAP_TYPE_USER_RINGBUF));
	struct epoll_event event = {.events = EPOLLOUT};
	if (epoll_ctl(rb->epoll_fd, EPOLL_CTL_ADD, map_fd, &event))
		return error_errno(errno, "cannot wait for map descriptor %d", map_fd);
	return NULL;
}

struct user_ring_buffer *user_ring_buffer__new(int map_fd, const struct user_ring_buffer_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, user_ring_buffer_opts);
	if (err)
		return edge_null(err);
	struct user_ring_buffer *rb = calloc(1, sizeof(*rb));
	if (!rb)
		return edge_null(error_nomem());
	err = buffer_init(rb, map_fd);
	if (!err)
		return rb;
	user_ring_buffer__free(rb);
	return edge_null(err);
}

void user_ring_buffer__free(struct user_ring_buffer *rb)
{
	if (!rb)
		return;
	ringbuf_deinit(&rb->mem);
	closep(&rb->epoll_fd);
	free(rb);
}

void *user_ring_buffer__reserve(struct user_ring_buffer *rb, __u32 size)
{
	int err;
	void *sample = ringbuf_reserve(&rb->mem, size, &err);

	return sample ?: edge_null_errno(err);
}

void *user_ring_buffer__reserve_blocking(struct user_ring_buffer *rb, __u32 size, int timeout_ms)
{
	int64_t end = timeout_ms < 0 ? -1 : clock_ms(CLOCK_MONOTONIC) + timeout_ms;

	for (;;) {
		struct epoll_event event;
		int64_t left = end < 0 ? -1 : end - clock_ms(CLOCK_MONOTONIC);
		void *sample = user_ring_buffer__reserve(rb, size);

		/* Looked at after the clock: the last look comes after the end. */
		if (sample || errno != ENOSPC)
			return sample;
		if (end >= 0 && left <= 0)
			return edge_null_errno(ENOSPC);
		if (epoll_wait(rb->epoll_fd, &event, 1, left) < 0)
			return NULL;
	}
}

void user_ring_buffer__submit(struct user_ring_buffer *rb, void *sample)
{
	ringbuf_commit(&rb->mem, sample, false);
}

void user_ring_buffer__discard(struct user_ring_buffer *rb, void *sample)
{
	ringbuf_commit(&rb->mem, sample, true);
}
