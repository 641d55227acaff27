// SPDX-License-Identifier: BSD-2-Clause
/* The ring as the kernel would leave it, made by hand. */
#include <string.h>

#include "lib/ring/perf_ring.h"
#include "perf/record/record.h"

static struct perf_event_mmap_page meta;
static uint8_t data[4096];

static struct perf_ring make(uint64_t tail, uint64_t head)
{
	memset(&meta, 0, sizeof(meta));
	meta.data_tail = tail;
	meta.data_head = head;
	return (struct perf_ring){.meta = &meta, .data = data, .size = sizeof(data), .tail = tail};
}

TEST(test_empty)
{
	struct perf_ring ring = make(64, 64);
	struct iovec iov[2];

	assert_int_equal(perf_ring_peek(&ring, iov), 0);
}

TEST(test_one_piece)
{
	struct perf_ring ring = make(4096 + 64, 4096 + 264);
	struct iovec iov[2];

	assert_int_equal(perf_ring_peek(&ring, iov), 1);
	assert_ptr_equal(iov[0].iov_base, data + 64);
	assert_int_equal(iov[0].iov_len, 200);
	/* Nothing is given back before it is consumed. */
	assert_int_equal(meta.data_tail, 4096 + 64);
	perf_ring_consume(&ring);
	assert_int_equal(meta.data_tail, 4096 + 264);
	assert_int_equal(perf_ring_peek(&ring, iov), 0);
}

TEST(test_around_the_end)
{
	struct perf_ring ring = make(4000, 4096 + 104);
	struct iovec iov[2];

	assert_int_equal(perf_ring_peek(&ring, iov), 2);
	assert_ptr_equal(iov[0].iov_base, data + 4000);
	assert_int_equal(iov[0].iov_len, 96);
	assert_ptr_equal(iov[1].iov_base, data);
	assert_int_equal(iov[1].iov_len, 104);
}

TEST(test_full)
{
	struct perf_ring ring = make(8, 8 + 4096);
	struct iovec iov[2];

	assert_int_equal(perf_ring_peek(&ring, iov), 2);
	assert_int_equal(iov[0].iov_len + iov[1].iov_len, 4096);
}

/* A head beyond the ring must not be believed. */
TEST(test_head_out_of_bounds)
{
	struct perf_ring ring = make(0, 5000);
	struct iovec iov[2];

	assert_int_equal(perf_ring_peek(&ring, iov), 0);
	ring = make(5000, 4000);
	assert_int_equal(perf_ring_peek(&ring, iov), 0);
}

TEST(test_sizes)
{
	static const struct {
		const char *text;
		size_t pages; /* 0: refused */
	} cases[] = {
		{"1", 1},
		{"128", 128},
		{"100", 128},
		{"512K", 128},
		{"1M", 256},
		{"1MB", 256},
		{"5000B", 2},
		{"1G", 262144},
		{"0", 0},
		{"", 0},
		{"-1", 0},
		{"K", 0},
		{"1X", 0},
		{"1MBB", 0},
		{"1BB", 0},
		{"9999G", 0},
		{"18446744073709551615", 0},
		{"18446744073709551615G", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t pages = 0;
		struct error *err = record_pages_parse(cases[i].text, 4096, &pages);

		if ((err != NULL) != (cases[i].pages == 0) || pages != cases[i].pages)
			fail_msg("'%s' gives %zu pages, %s", cases[i].text, pages,
				 err ? err->msg : "no error");
		error_free(err);
	}
}
