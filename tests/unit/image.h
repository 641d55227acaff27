/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes for tests of perf/: integers in either byte order, records, and a
 * small whole perf.data file, made by hand rather than by the code under test.
 */
#ifndef PB_TESTS_UNIT_IMAGE_H
#define PB_TESTS_UNIT_IMAGE_H

#include <byteswap.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "perf/event/event.h"

struct image {
	struct strbuf sb;
	bool swap;
};

static inline void image_u8(struct image *im, uint8_t v)
{
	strbuf_add(&im->sb, &v, 1);
}

static inline void image_u16(struct image *im, uint16_t v)
{
	v = im->swap ? bswap_16(v) : v;
	strbuf_add(&im->sb, &v, sizeof(v));
}

static inline void image_u32(struct image *im, uint32_t v)
{
	v = im->swap ? bswap_32(v) : v;
	strbuf_add(&im->sb, &v, sizeof(v));
}

static inline void image_u64(struct image *im, uint64_t v)
{
	v = im->swap ? bswap_64(v) : v;
	strbuf_add(&im->sb, &v, sizeof(v));
}

static inline void image_zeros(struct image *im, size_t n)
{
	while (n--)
		image_u8(im, 0);
}

/* NUL-terminated, padded to 8 bytes. */
static inline void image_string(struct image *im, const char *s)
{
	strbuf_add(&im->sb, s, strlen(s) + 1);
	image_zeros(im, -(strlen(s) + 1) & 7);
}

static inline void image_patch_u16(struct image *im, size_t at, uint16_t v)
{
	v = im->swap ? bswap_16(v) : v;
	memcpy(im->sb.str + at, &v, sizeof(v));
}

static inline void image_patch_u64(struct image *im, size_t at, uint64_t v)
{
	v = im->swap ? bswap_64(v) : v;
	memcpy(im->sb.str + at, &v, sizeof(v));
}

static inline size_t image_begin(struct image *im, uint32_t type, uint16_t misc)
{
	size_t at = im->sb.len;

	image_u32(im, type);
	image_u16(im, misc);
	image_u16(im, 0);
	return at;
}

static inline void image_end(struct image *im, size_t at)
{
	image_patch_u16(im, at + 6, (uint16_t)(im->sb.len - at));
}

/* The events of the image: sample_id_all, with what these words hold. */
#define IMAGE_SAMPLE_TYPE                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

static inline void image_sample_id(struct image *im, int32_t pid, int32_t tid, uint64_t time,
				   uint64_t id)
{
	image_u32(im, (uint32_t)pid);
	image_u32(im, (uint32_t)tid);
	image_u64(im, time);
	image_u32(im, 1); /* cpu */
	image_u32(im, 0);
	image_u64(im, id);
}

static inline void image_sample(struct image *im, uint64_t id, int32_t pid, int32_t tid,
				uint64_t time, uint64_t ip)
{
	size_t at = image_begin(im, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	image_u64(im, id);
	image_u64(im, ip);
	image_u32(im, (uint32_t)pid);
	image_u32(im, (uint32_t)tid);
	image_u64(im, time);
	image_u32(im, 1);
	image_u32(im, 0);
	image_u64(im, 7); /* period */
	image_u64(im, 2); /* call chain */
	image_u64(im, PERF_CONTEXT_USER);
	image_u64(im, ip);
	image_u32(im, 12); /* raw */
	image_u32(im, 0x01020304);
	image_u64(im, 0x1122334455667788);
	image_end(im, at);
}

static inline void image_comm(struct image *im, int32_t pid, int32_t tid, const char *comm,
			      uint16_t misc, uint64_t time)
{
	size_t at = image_begin(im, PERF_RECORD_COMM, misc);

	image_u32(im, (uint32_t)pid);
	image_u32(im, (uint32_t)tid);
	image_string(im, comm);
	image_sample_id(im, pid, tid, time, time ? 11 : 0);
	image_end(im, at);
}

static inline void image_fork(struct image *im, int32_t pid, int32_t ppid, int32_t tid,
			      int32_t ptid, uint64_t time)
{
	size_t at = image_begin(im, PERF_RECORD_FORK, 0);

	image_u32(im, (uint32_t)pid);
	image_u32(im, (uint32_t)ppid);
	image_u32(im, (uint32_t)tid);
	image_u32(im, (uint32_t)ptid);
	image_u64(im, time);
	image_sample_id(im, ppid, ptid, time, 11);
	image_end(im, at);
}

static inline void image_mmap2(struct image *im, int32_t pid, uint64_t addr, uint64_t len,
			       uint64_t pgoff, const char *name, uint64_t time)
{
	size_t at = image_begin(im, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	image_u32(im, (uint32_t)pid);
	image_u32(im, (uint32_t)pid);
	image_u64(im, addr);
	image_u64(im, len);
	image_u64(im, pgoff);
	image_u32(im, 8);
	image_u32(im, 1);
	image_u64(im, 99);
	image_u64(im, 0);
	image_u32(im, 5);
	image_u32(im, 2);
	image_string(im, name);
	image_sample_id(im, pid, pid, time, time ? 11 : 0);
	image_end(im, at);
}

/* As the kernel writes it for 'perf record --buildid-mmap': no inode, and an id of one byte's
 * value. */
static inline void image_mmap2_build_id(struct image *im, int32_t pid, uint64_t addr, uint64_t len,
					uint8_t id, const char *name)
{
	size_t at = image_begin(im, PERF_RECORD_MMAP2,
				PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);

	image_u32(im, (uint32_t)pid);
	image_u32(im, (uint32_t)pid);
	image_u64(im, addr);
	image_u64(im, len);
	image_u64(im, 0);
	image_u8(im, 20);
	image_zeros(im, 3);
	for (int i = 0; i < 20; i++)
		image_u8(im, id);
	image_u32(im, 5);
	image_u32(im, 2);
	image_string(im, name);
	image_sample_id(im, pid, pid, 0, 0);
	image_end(im, at);
}

/* A build-id as the header's table and pipes have it. */
static inline void image_build_id(struct image *im, uint8_t id, const char *name)
{
	size_t at = image_begin(im, RECORD_HEADER_BUILD_ID, PERF_RECORD_MISC_USER);

	image_u32(im, (uint32_t)-1);
	for (int i = 0; i < 20; i++)
		image_u8(im, id);
	image_u32(im, 0);
	image_string(im, name);
	image_end(im, at);
}

static inline void image_round(struct image *im)
{
	image_end(im, image_begin(im, RECORD_FINISHED_ROUND, 0));
}

/* Flags of an attr, as a compiler of that byte order lays out the bit fields. */
static inline void image_flags(struct image *im, uint64_t flags)
{
	if (!im->swap) {
		image_u64(im, flags);
		return;
	}
	for (int byte = 0; byte < 8; byte++) {
		uint8_t v = 0;
		for (int bit = 0; bit < 8; bit++) {
			int n = byte * 8 + bit;
			/* precise_ip, of two bits: its high bit comes first there */
			int from = n == 15 ? 16 : n == 16 ? 15 : n;
			v |= (uint8_t)((flags >> from & 1) << (7 - bit));
		}
		image_u8(im, v);
	}
}

#define IMAGE_FLAG_DISABLED	  (1ull << 0)
#define IMAGE_FLAG_EXCLUDE_KERNEL (1ull << 5)
#define IMAGE_FLAG_PRECISE_1	  (1ull << 15)
#define IMAGE_FLAG_SAMPLE_ID_ALL  (1ull << 18)

/* An attr of 64 bytes, the first size there was. */
static inline void image_attr(struct image *im, uint32_t type, uint64_t config, uint64_t flags)
{
	image_u32(im, type);
	image_u32(im, 64);
	image_u64(im, config);
	image_u64(im, 4000);
	image_u64(im, IMAGE_SAMPLE_TYPE);
	image_u64(im, 0);
	image_flags(im, flags);
	image_u32(im, 1); /* wakeup_events */
	image_u32(im, 0);
	image_u64(im, 0);
}

static inline void image_feature_string(struct image *im, const char *s)
{
	image_u32(im, 64);
	strbuf_add(&im->sb, s, strlen(s));
	image_zeros(im, 64 - strlen(s));
}

/* What the callers put into the data section. */
typedef void (*image_fill_fn)(struct image *im);

/* Two events (ids 11 and 12), a data section, and HOSTNAME, NRCPUS, CMDLINE, EVENT_DESC. */
static inline void image_file(struct image *im, image_fill_fn fill)
{
	const uint64_t flags = IMAGE_FLAG_DISABLED | IMAGE_FLAG_EXCLUDE_KERNEL |
			       IMAGE_FLAG_PRECISE_1 | IMAGE_FLAG_SAMPLE_ID_ALL;

	image_u64(im, 0x32454c4946524550ull);
	image_u64(im, 104);
	image_u64(im, 80); /* attr and the section of its ids */
	image_u64(im, 104 + 16);
	image_u64(im, 160);
	image_u64(im, 104 + 16 + 160);
	image_u64(im, 0); /* size of the data: patched */
	image_zeros(im, 16);
	image_u64(im, 1ull << 3 | 1ull << 7 | 1ull << 11 | 1ull << 12);
	image_zeros(im, 24);
	image_u64(im, 11);
	image_u64(im, 12);
	image_attr(im, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, flags);
	image_u64(im, 104);
	image_u64(im, 8);
	image_attr(im, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, flags);
	image_u64(im, 112);
	image_u64(im, 8);

	size_t data = im->sb.len;
	fill(im);
	image_patch_u64(im, 48, im->sb.len - data);

	size_t table = im->sb.len, starts[5];
	image_zeros(im, 4 * 16);
	starts[0] = im->sb.len;
	image_feature_string(im, "the-host");
	starts[1] = im->sb.len;
	image_u32(im, 4);
	image_u32(im, 2);
	starts[2] = im->sb.len;
	image_u32(im, 2);
	image_feature_string(im, "perf");
	image_feature_string(im, "record");
	starts[3] = im->sb.len;
	image_u32(im, 2);
	image_u32(im, 64);
	image_attr(im, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, flags);
	image_u32(im, 1);
	image_feature_string(im, "my-clock");
	image_u64(im, 11);
	image_attr(im, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, flags);
	image_u32(im, 1);
	image_feature_string(im, "");
	image_u64(im, 12);
	starts[4] = im->sb.len;
	for (size_t i = 0; i < 4; i++) {
		image_patch_u64(im, table + i * 16, starts[i]);
		image_patch_u64(im, table + i * 16 + 8, starts[i + 1] - starts[i]);
	}
}

#endif
