// SPDX-License-Identifier: BSD-2-Clause
/* Rings as the kernel would leave them, made by hand: BPF rings, user rings, perf records. */
#include <limits.h>
#include <string.h>

#include "lib/ring/internal.h"

#define SIZE 4096

static uint64_t storage[2 * SIZE / 8];
static unsigned long consumer, producer;
static uint32_t sizes[64];
static uint64_t firsts[64];
static size_t n_seen;
static int answer; /* what the callback returns */
static unsigned long *watch;
static unsigned long watched[64];

static int see(void *ctx, void *data, size_t size)
{
	assert_ptr_equal(ctx, &n_seen);
	assert_true(n_seen < 64);
	sizes[n_seen] = size;
	firsts[n_seen] = size ? *(uint8_t *)data : 0;
	watched[n_seen] = watch ? *watch : 0;
	n_seen++;
	return answer;
}

static struct ring make(unsigned long at)
{
	memset(storage, 0, sizeof(storage));
	consumer = producer = at;
	n_seen = answer = 0;
	watch = NULL;
	return (struct ring){
		.mem = {&consumer, &producer, (uint8_t *)storage, SIZE},
		.map_fd = -1,
		.sample_cb = see,
		.ctx = &n_seen,
	};
}

/* As the kernel does; memory that is mapped twice is written twice. */
static unsigned long produce(uint32_t size, uint32_t flags, uint8_t byte)
{
	unsigned long at = producer;
	uint32_t header[2] = {size | flags, 0};
	uint8_t *data = (uint8_t *)storage;

	for (size_t i = 0; i < size + 8; i++) {
		size_t place = (at + i) % SIZE;

		data[place] = data[place + SIZE] = i < 8 ? ((uint8_t *)header)[i] : byte;
	}
	producer += (size + 8 + 7) / 8 * 8;
	return at;
}

static void set_header(unsigned long at, uint32_t len)
{
	storage[at % SIZE / 8] = len;
	storage[at % SIZE / 8 + SIZE / 8] = len;
}

TEST(test_empty)
{
	struct ring ring = make(64);

	assert_int_equal(ring__consume(&ring), 0);
	assert_int_equal(ring__avail_data_size(&ring), 0);
	assert_int_equal(ring__size(&ring), SIZE);
	assert_int_equal(consumer, 64);
}

TEST(test_records_in_order)
{
	struct ring ring = make(0);

	produce(1, 0, 'a');
	produce(0, 0, 0);
	produce(17, 0, 'c');
	assert_int_equal(ring__avail_data_size(&ring), 16 + 8 + 32);
	assert_int_equal(ring__producer_pos(&ring), 56);
	assert_int_equal(ring__consume(&ring), 3);
	assert_int_equal(n_seen, 3);
	assert_int_equal(sizes[0], 1);
	assert_int_equal(sizes[1], 0);
	assert_int_equal(sizes[2], 17);
	assert_int_equal(firsts[0], 'a');
	assert_int_equal(firsts[2], 'c');
	assert_int_equal(ring__consumer_pos(&ring), producer);
}

/* From every place of the ring, so that records and headers stand around its end. */
TEST(test_around_the_end)
{
	for (unsigned long at = 0; at < SIZE; at += 8) {
		struct ring ring = make(7 * SIZE + at);

		produce(100, 0, 'x');
		produce(3900, 0, 'y');
		assert_int_equal(ring__consume(&ring), 2);
		assert_int_equal(firsts[1], 'y');
		assert_int_equal(sizes[1], 3900);
		assert_int_equal(consumer, producer);
	}
}

/* As it comes where unsigned long has 32 bits, after 4 GiB. */
TEST(test_positions_wrap)
{
	struct ring ring = make(ULONG_MAX - 47);

	for (int i = 0; i < 5; i++)
		produce(20, 0, 'a' + i);
	assert_true(producer < SIZE);
	assert_int_equal(ring__avail_data_size(&ring), 5 * 32);
	assert_int_equal(ring__consume(&ring), 5);
	assert_int_equal(firsts[4], 'e');
	assert_int_equal(consumer, producer);
}

TEST(test_busy_stops)
{
	struct ring ring = make(4000);

	produce(8, 0, 'a');
	unsigned long at = produce(8, BPF_RINGBUF_BUSY_BIT, 'b');
	produce(8, 0, 'c');
	assert_int_equal(ring__consume(&ring), 1);
	assert_int_equal(consumer, at);
	assert_int_equal(ring__consume(&ring), 0);
	set_header(at, 8);
	assert_int_equal(ring__consume(&ring), 2);
	assert_int_equal(firsts[1], 'b');
	assert_int_equal(firsts[2], 'c');
}

TEST(test_discarded_is_skipped)
{
	struct ring ring = make(0);

	produce(8, BPF_RINGBUF_DISCARD_BIT, 'a');
	produce(8, 0, 'b');
	produce(8, BPF_RINGBUF_DISCARD_BIT, 'c');
	assert_int_equal(ring__consume(&ring), 1);
	assert_int_equal(firsts[0], 'b');
	assert_int_equal(consumer, producer);
}

TEST(test_at_most_n)
{
	struct ring ring = make(0);

	for (int i = 0; i < 5; i++) {
		produce(8, 0, 'a' + i);
		produce(8, BPF_RINGBUF_DISCARD_BIT, '-');
	}
	assert_int_equal(ring__consume_n(&ring, 0), 0);
	assert_int_equal(consumer, 0);
	assert_int_equal(ring__consume_n(&ring, 2), 2);
	assert_int_equal(consumer, 48);
	assert_int_equal(ring__consume_n(&ring, 9), 3);
	assert_int_equal(n_seen, 5);
	assert_int_equal(firsts[4], 'e');
}

TEST(test_callback_stops)
{
	struct ring ring = make(0);

	produce(8, 0, 'a');
	produce(8, 0, 'b');
	answer = -42;
	errno = 0;
	assert_int_equal(ring__consume(&ring), -42);
	assert_int_equal(errno, 42);
	assert_int_equal(consumer, 16); /* it counts as read */
	answer = 3;			/* says nothing */
	assert_int_equal(ring__consume(&ring), 1);
	assert_int_equal(firsts[1], 'b');
}

/* An eighth of the ring at a time, and never before its records were seen. */
TEST(test_space_is_given_back_in_batches)
{
	struct ring ring = make(0);

	watch = &consumer;
	for (int i = 0; i < 32; i++)
		produce(120, 0, i);
	assert_int_equal(ring__consume(&ring), 32);
	for (int i = 0; i < 32; i++)
		assert_int_equal(watched[i], i / 4 * 4 * 128);
	assert_int_equal(consumer, SIZE);
}

TEST(test_hostile)
{
	static const uint32_t lengths[] = {9, 16, 17, 4088, 4096, 0x3fffffff, 0x3ffffff8};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct ring ring = make(4088);
		unsigned long at = produce(8, 0, 'a');

		set_header(at, lengths[i]);
		errno = 0;
		assert_int_equal(ring__consume(&ring), -EBADMSG);
		assert_int_equal(errno, EBADMSG);
		assert_int_equal(n_seen, 0);
		assert_int_equal(consumer, 4088);
	}

	/* More produced than the ring holds; less; a crooked consumer. */
	struct ring ring = make(0);
	produce(8, 0, 'a');
	producer = SIZE + 8;
	assert_int_equal(ring__consume(&ring), -EBADMSG);
	producer = -8UL;
	assert_int_equal(ring__consume(&ring), -EBADMSG);
	producer = 16;
	consumer = 3;
	assert_int_equal(ring__consume(&ring), -EBADMSG);
	assert_int_equal(n_seen, 0);
}

/* What is reserved and submitted comes out at the other side. */
TEST(test_user_ring)
{
	struct ring ring = make(-16UL);
	int err = 0;

	uint8_t *a = ringbuf_reserve(&ring.mem, 5, &err);
	uint8_t *b = ringbuf_reserve(&ring.mem, 1000, &err);
	uint8_t *c = ringbuf_reserve(&ring.mem, 8, &err);
	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
	assert_int_equal(producer, 1008 + 16);
	*a = 'a';
	*c = 'c';
	assert_int_equal(ring__consume(&ring), 0);
	ringbuf_commit(&ring.mem, c, false);
	assert_int_equal(ring__consume(&ring), 0);
	ringbuf_commit(&ring.mem, a, false);
	assert_int_equal(ring__consume(&ring), 1);
	ringbuf_commit(&ring.mem, b, true);
	assert_int_equal(ring__consume(&ring), 1);
	assert_int_equal(sizes[0], 5);
	assert_int_equal(firsts[0], 'a');
	assert_int_equal(firsts[1], 'c');
	assert_int_equal(consumer, producer);
}

TEST(test_user_ring_is_full)
{
	struct ring ring = make(8);
	int err = 0;

	assert_null(ringbuf_reserve(&ring.mem, SIZE - 7, &err));
	assert_int_equal(err, E2BIG);
	assert_null(ringbuf_reserve(&ring.mem, UINT32_MAX, &err));
	assert_int_equal(err, E2BIG);
	assert_null(ringbuf_reserve(&ring.mem, BPF_RINGBUF_DISCARD_BIT, &err));
	assert_int_equal(err, E2BIG);
	assert_int_equal(producer, 8);
	assert_non_null(ringbuf_reserve(&ring.mem, SIZE - 16, &err));
	assert_null(ringbuf_reserve(&ring.mem, 1, &err));
	assert_int_equal(err, ENOSPC);
	assert_non_null(ringbuf_reserve(&ring.mem, 0, &err));
	assert_null(ringbuf_reserve(&ring.mem, 0, &err));
	assert_int_equal(err, ENOSPC);
	consumer = 4 * SIZE;
	assert_null(ringbuf_reserve(&ring.mem, 0, &err));
	assert_int_equal(err, EBADMSG);
}

static uint8_t scratch[PERF_RECORD_MAX];

static void put_event(uint64_t *to, size_t at, uint32_t type, uint16_t size, uint32_t first)
{
	struct perf_event_header header = {.type = type, .size = size};

	memcpy(to + at / 8, &header, sizeof(header));
	if (size > 8)
		memcpy(to + at / 8 + 1, &first, sizeof(first));
}

TEST(test_perf_records)
{
	static uint64_t bytes[16];
	struct perf_event_header *event;
	uint64_t lost = 0;
	uint32_t size = 0;
	void *data;

	put_event(bytes, 0, PERF_RECORD_SAMPLE, 24, 12);
	put_event(bytes, 24, PERF_RECORD_LOST, 24, 0);
	bytes[5] = 77;
	put_event(bytes, 48, PERF_RECORD_SAMPLE, 40, 28);

	/* Split at every place: the same three, each whole. */
	for (size_t at = 0; at <= 88; at += 8) {
		struct iovec iov[2] = {{bytes, at}, {bytes + at / 8, 88 - at}};
		struct perf_records records = perf_records_make(iov, 2, scratch);

		assert_int_equal(perf_records_next(&records, &event), 1);
		assert_memory_equal(event, bytes, 24);
		assert_true(perf_record_raw(event, &data, &size));
		assert_int_equal(size, 12);
		assert_ptr_equal(data, (uint8_t *)event + 12);
		assert_int_equal(perf_records_next(&records, &event), 1);
		assert_true(perf_record_lost(event, &lost));
		assert_int_equal(lost, 77);
		assert_int_equal(perf_records_next(&records, &event), 1);
		assert_memory_equal(event, bytes + 6, 40);
		assert_int_equal(perf_records_next(&records, &event), 0);
	}
}

TEST(test_hostile_perf_records)
{
	static const uint16_t wrong[] = {0, 4, 7, 12, 25, 40, 65528};
	static uint64_t bytes[8];
	struct perf_event_header *event;
	uint32_t size;
	uint64_t lost;
	void *data;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		for (size_t at = 0; at <= 32; at += 8) {
			struct iovec iov[2] = {{bytes, at}, {bytes + at / 8, 32 - at}};
			struct perf_records records = perf_records_make(iov, 2, scratch);

			put_event(bytes, 0, PERF_RECORD_SAMPLE, wrong[i], 0);
			assert_int_equal(perf_records_next(&records, &event), -EBADMSG);
		}

	put_event(bytes, 0, PERF_RECORD_SAMPLE, 24, 13);
	assert_false(perf_record_raw((struct perf_event_header *)bytes, &data, &size));
	put_event(bytes, 0, PERF_RECORD_SAMPLE, 8, 0);
	assert_false(perf_record_raw((struct perf_event_header *)bytes, &data, &size));
	put_event(bytes, 0, PERF_RECORD_LOST, 16, 0);
	assert_false(perf_record_lost((struct perf_event_header *)bytes, &lost));
}
