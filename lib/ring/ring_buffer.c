// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading BPF ring buffers. The kernel wakes a reader up only for a record that
 * stands where the consumer's position does: whoever reads has to see the
 * others by himself. So, once there is nothing more, the position is stored
 * first and the producer's looked at again afterwards, with a full barrier in
 * between: either we see a new record, or its producer sees our position and
 * wakes us up. Without the barrier both may look too early, and the record
 * lies there until the next timeout.
 *
 * The position is stored per batch, an eighth of the ring, and not per record:
 * each store takes the cache line from all producers on other CPUs.
 */
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "lib/base/edge.h"
#include "lib/base/vec.h"
#include "lib/ring/internal.h"

struct ring_buffer {
	VEC(struct ring *) rings; /* each by itself: the caller holds pointers */
	struct epoll_event *events;
	int epoll_fd;
};

int64_t ring_drain(struct ring *ring, size_t n)
{
	struct ringbuf *mem = &ring->mem;
	unsigned long at = __atomic_load_n(mem->consumer, __ATOMIC_RELAXED), stored = at;
	int64_t count = 0;

	for (;;) {
		unsigned long end = __atomic_load_n(mem->producer, __ATOMIC_ACQUIRE);
		unsigned long begin = at;
		struct ringbuf_record record;
		int ret = 0;

		while (ret >= 0 && at != end && count < n) {
			ret = ringbuf_record(mem, at, end, &record);
			if (ret <= 0)
				break;
			at += record.total;
			__builtin_prefetch((uint8_t *)record.data + PREFETCH);
			if (!record.discarded) {
				if (ring->sample_cb)
					ret = ring->sample_cb(ring->ctx, record.data, record.size);
				count++;
			}
			if (at - stored >= mem->size / 8) {
				__atomic_store_n(mem->consumer, at, __ATOMIC_RELEASE);
				stored = at;
			}
		}
		if (at != stored)
			__atomic_store_n(mem->consumer, at, __ATOMIC_RELEASE);
		stored = at;
		if (ret < 0)
			return ret;
		if (count >= n || at == begin)
			return count;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
}

static int drained(int64_t ret)
{
	return ret < 0 ? edge_errno(-ret) : (int)min_of(ret, (int64_t)INT_MAX);
}

unsigned long ring__consumer_pos(const struct ring *r)
{
	return __atomic_load_n(r->mem.consumer, __ATOMIC_RELAXED);
}

unsigned long ring__producer_pos(const struct ring *r)
{
	return __atomic_load_n(r->mem.producer, __ATOMIC_ACQUIRE);
}

size_t ring__avail_data_size(const struct ring *r)
{
	unsigned long consumer = ring__consumer_pos(r);

	return ring__producer_pos(r) - consumer;
}

size_t ring__size(const struct ring *r)
{
	return r->mem.size;
}

int ring__map_fd(const struct ring *r)
{
	return r->map_fd;
}

int ring__consume(struct ring *r)
{
	return ring__consume_n(r, INT_MAX);
}

int ring__consume_n(struct ring *r, size_t n)
{
	return drained(ring_drain(r, n));
}

static void ring_free(struct ring *ring)
{
	if (ring)
		ringbuf_deinit(&ring->mem);
	free(ring);
}
DEFINE_FREEP(struct ring, ring_free)

static struct error *ring_add(struct ring_buffer *rb, int map_fd, ring_buffer_sample_fn sample_cb,
			      void *ctx)
{
	_cleanup_(ring_freep) struct ring *ring = calloc(1, sizeof(*ring));

	if (!ring || !vec_reserve(&rb->rings, rb->rings.n + 1))
		return error_nomem();
	ring->map_fd = map_fd;
	ring->sample_cb = sample_cb;
	ring->ctx = ctx;
	TRY(ringbuf_init(&ring->mem, map_fd, BPF_MAP_TYPE_RINGBUF));

	void *events = realloc(rb->events, (rb->rings.n + 1) * sizeof(*rb->events));
	if (!events)
		return error_nomem();
	rb->events = events;
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = ring};
	if (epoll_ctl(rb->epoll_fd, EPOLL_CTL_ADD, map_fd, &event))
		return error_errno(errno, "cannot wait for map descriptor %d", map_fd);
	*vec_push(&rb->rings) = steal_ptr(ring);
	return NULL;
}

int ring_buffer__add(struct ring_buffer *rb, int map_fd, ring_buffer_sample_fn sample_cb, void *ctx)
{
	return edge_int(ring_add(rb, map_fd, sample_cb, ctx));
}

struct ring_buffer *ring_buffer__new(int map_fd, ring_buffer_sample_fn sample_cb, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, ring_buffer_opts);
	if (err)
		return edge_null(err);
	struct ring_buffer *rb = calloc(1, sizeof(*rb));
	if (!rb)
		return edge_null(error_nomem());
	rb->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = rb->epoll_fd < 0 ? error_errno(errno, "cannot create an epoll descriptor")
			       : ring_add(rb, map_fd, sample_cb, ctx);
	if (!err)
		return rb;
	ring_buffer__free(rb);
	return edge_null(err);
}

void ring_buffer__free(struct ring_buffer *rb)
{
	struct ring **ring;

	if (!rb)
		return;
	vec_for_each (ring, &rb->rings)
		ring_free(*ring);
	vec_deinit(&rb->rings);
	free(rb->events);
	closep(&rb->epoll_fd);
	free(rb);
}

int ring_buffer__poll(struct ring_buffer *rb, int timeout_ms)
{
	int64_t sum = 0;

	int n = epoll_wait(rb->epoll_fd, rb->events, rb->rings.n, timeout_ms);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		int64_t ret = ring_drain(rb->events[i].data.ptr, INT_MAX);

		if (ret < 0)
			return drained(ret);
		sum += ret;
	}
	return drained(sum);
}

int ring_buffer__consume(struct ring_buffer *rb)
{
	return ring_buffer__consume_n(rb, INT_MAX);
}

int ring_buffer__consume_n(struct ring_buffer *rb, size_t n)
{
	struct ring **ring;
	int64_t sum = 0;

	vec_for_each (ring, &rb->rings) {
		int64_t ret = ring_drain(*ring, n - sum);

		if (ret < 0)
			return drained(ret);
		sum += ret;
		if (sum >= n)
			break;
	}
	return drained(sum);
}

int ring_buffer__epoll_fd(const struct ring_buffer *rb)
{
	return rb->epoll_fd;
}

struct ring *ring_buffer__ring(struct ring_buffer *rb, unsigned int idx)
{
	if (idx >= rb->rings.n)
		return edge_null_errno(ERANGE);
	return rb->rings.v[idx];
}
