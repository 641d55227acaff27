/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PB_RING_INTERNAL_H
#define PB_RING_INTERNAL_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"

/* ---- the memory of a BPF ring buffer, of either direction: ringbuf.c ---- */

struct ringbuf {
	unsigned long *consumer; /* positions; one of the two pages is read-only */
	unsigned long *producer;
	uint8_t *data;	    /* twice in a row, so that no record wraps */
	unsigned long size; /* bytes of data, a power of two */
};

/*
 * Maps the ring of this map, whose type must be the one given: of a RINGBUF the
 * consumer's position is writable, of a USER_RINGBUF the producer's and the data.
 */
struct error *ringbuf_init(struct ringbuf *ring, int map_fd, enum bpf_map_type type);
void ringbuf_deinit(struct ringbuf *ring);

struct ringbuf_record {
	void *data;
	uint32_t size;
	unsigned long total; /* bytes to the next record */
	bool discarded;
};

/*
 * The record at pos of what the producer has written up to end. 1: it is there;
 * 0: it is not submitted yet; -EBADMSG: there cannot be such a record.
 */
static inline int ringbuf_record(const struct ringbuf *ring, unsigned long pos, unsigned long end,
				 struct ringbuf_record *record)
{
	unsigned long left = end - pos;

	if (pos % 8 || left < BPF_RINGBUF_HDR_SZ || left > ring->size)
		return -EBADMSG;
	uint8_t *header = ring->data + (pos & (ring->size - 1));
	/* Paired with the submission, which comes after the record was written. */
	uint32_t len = __atomic_load_n((uint32_t *)header, __ATOMIC_ACQUIRE);
	if (len & BPF_RINGBUF_BUSY_BIT)
		return 0;
	uint32_t size = len & ~BPF_RINGBUF_DISCARD_BIT;
	if (size > left - BPF_RINGBUF_HDR_SZ)
		return -EBADMSG;
	/* left may end within the padding of a forged position only. */
	unsigned long total = round_up((uint64_t)size + BPF_RINGBUF_HDR_SZ, 8);
	if (total > left)
		return -EBADMSG;
	*record = (struct ringbuf_record){
		.data = header + BPF_RINGBUF_HDR_SZ,
		.size = size,
		.total = total,
		.discarded = len & BPF_RINGBUF_DISCARD_BIT,
	};
	return 1;
}

/* ---- ring_buffer.c ---- */

struct ring {
	struct ringbuf mem;
	int map_fd;
	ring_buffer_sample_fn sample_cb;
	void *ctx;
};

/* Reads at most n records: how many, or a callback's negative, or -EBADMSG. */
int64_t ring_drain(struct ring *ring, size_t n);

/* ---- user_ring_buffer.c ---- */

/* Room for size bytes, or NULL and *err E2BIG, ENOSPC or EBADMSG. */
void *ringbuf_reserve(struct ringbuf *ring, uint32_t size, int *err);
void ringbuf_commit(struct ringbuf *ring, void *sample, bool discard);

/* ---- perf records where they stand in a ring: perf_records.c ---- */

/* Records come one after the other: what stands so many bytes ahead is read soon. */
#define PREFETCH 1024

#define PERF_RECORD_MAX 65536 /* header.size has 16 bits */

struct perf_records {
	struct cursor piece[2];
	uint8_t *scratch; /* PERF_RECORD_MAX bytes, for a record in two pieces */
};

/* n pieces, 0 to 2. All is borrowed. */
struct perf_records perf_records_make(const struct iovec *iov, int n, uint8_t *scratch);
/* 1: *event is the next, whole; 0: there is none; -EBADMSG: its size cannot be. */
int perf_records_next_piece(struct perf_records *records, struct perf_event_header **event);
static inline int perf_records_next(struct perf_records *records, struct perf_event_header **event)
{
	struct cursor *c = &records->piece[0];
	struct perf_event_header header;
	struct cursor peek = *c;

	/* What nearly all records are: whole in this piece. */
	if (cursor_copy(&peek, &header, sizeof(header)) && header.size >= sizeof(header) &&
	    header.size % 8 == 0 && header.size <= cursor_left(c)) {
		*event = (struct perf_event_header *)cursor_bytes(c, header.size);
		__builtin_prefetch((uint8_t *)*event + PREFETCH);
		return 1;
	}
	return perf_records_next_piece(records, event);
}

/* What a record of PERF_SAMPLE_RAW and of PERF_RECORD_LOST hold; false: it is too short. */
static inline bool perf_record_raw(struct perf_event_header *event, void **data, uint32_t *size)
{
	struct cursor c = cursor_make(event, event->size, "sample");
	uint32_t n;

	if (!cursor_skip(&c, sizeof(*event)) || !cursor_u32(&c, &n) || n > cursor_left(&c))
		return false;
	*data = (void *)cursor_bytes(&c, n);
	*size = n;
	return true;
}

static inline bool perf_record_lost(const struct perf_event_header *event, uint64_t *lost)
{
	struct cursor c = cursor_make(event, event->size, "lost");

	return cursor_skip(&c, sizeof(*event) + sizeof(uint64_t)) && cursor_u64(&c, lost);
}

#endif
