// SPDX-License-Identifier: BSD-2-Clause
/*
 * A ring whose bytes and positions are the input's: as a BPF ring, first byte
 * 'b', or as the pieces of a perf ring, 'p'. Each record handed out must lie
 * within; so much is read of it.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/ring/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum;

static void touch(const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum += ((const uint8_t *)data)[i];
}

static int see(void *ctx, void *data, size_t size)
{
	touch(data, size);
	return sum % 5 ? 0 : -1;
}

/* consumer and producer (8 bytes each), then up to 4096 bytes that stand there twice. */
static void bpf(struct cursor *c)
{
	uint64_t consumer, producer;

	if (!cursor_u64(c, &consumer) || !cursor_u64(c, &producer))
		return;
	_cleanup_free_ uint8_t *ring = calloc(2, 4096);
	if (!ring)
		return;
	size_t n = min_of(cursor_left(c), (size_t)4096);
	cursor_copy(c, ring, n);
	memcpy(ring + 4096, ring, 4096);
	unsigned long positions[2] = {consumer, producer};
	struct ring r = {.mem = {&positions[0], &positions[1], ring, 4096}, .sample_cb = see};
	for (int i = 0; i < 4; i++) {
		unsigned long before = positions[0];
		int64_t ret = ring_drain(&r, 1000);

		if (ret > 512 || positions[0] - before > 4096)
			__builtin_trap();
	}
	int err;
	void *sample = ringbuf_reserve(&r.mem, consumer % 5000, &err);
	if (sample) {
		memset(sample, 1, consumer % 5000);
		ringbuf_commit(&r.mem, sample, false);
	}
}

/* Where the first piece ends (2 bytes, times 8), then the bytes; each piece by itself. */
static void perf(struct cursor *c)
{
	_cleanup_free_ uint8_t *scratch = malloc(PERF_RECORD_MAX);
	struct perf_event_header *event;
	uint64_t lost, seen = 0;
	uint16_t split;
	uint32_t size;
	void *raw;

	if (!scratch || !cursor_u16(c, &split))
		return;
	size_t total = cursor_left(c), first = min_of((size_t)split * 8, total);
	_cleanup_free_ uint8_t *a = malloc(first), *b = malloc(total - first);
	if (!a || !b)
		return;
	cursor_copy(c, a, first);
	cursor_copy(c, b, total - first);
	struct iovec iov[2] = {{a, first}, {b, total - first}};
	struct perf_records records = perf_records_make(iov, 2, scratch);
	while (perf_records_next(&records, &event) > 0) {
		seen += event->size;
		touch(event, event->size);
		if (perf_record_raw(event, &raw, &size))
			touch(raw, size);
		if (perf_record_lost(event, &lost))
			sum += lost;
	}
	if (seen > total)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_make(data, size, "fuzz");
	uint8_t kind;

	sum = 0;
	if (!cursor_u8(&c, &kind))
		return 0;
	if (kind == 'b')
		bpf(&c);
	else if (kind == 'p')
		perf(&c);
	return 0;
}
