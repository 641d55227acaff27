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
#include "perf/ring/ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/sys/sys.h"

struct error *ring_init(struct ring *ring, int fd, size_t pages)
{
	size_t page = sys_page_size();

	void *p = mmap(NULL, (1 + pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		int code = errno;
		struct error *err = error_errno(code, "cannot map a ring of %zu pages", pages);

		if (code == EPERM)
			return error_hint(
				err, "more memory than may be locked: choose fewer pages with -m, "
				     "or raise /proc/sys/kernel/perf_event_mlock_kb");
		return err;
	}
	*ring = (struct ring){
		.meta = p,
		.data = (uint8_t *)p + page,
		.size = (uint64_t)pages * page,
	};
	ring->tail = ring->head = ring->meta->data_tail;
	return NULL;
}

void ring_deinit(struct ring *ring)
{
	if (ring->meta)
		munmap(ring->meta, ring->size + sys_page_size());
	ring->meta = NULL;
}

int ring_peek(struct ring *ring, struct iovec iov[2])
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

void ring_consume(struct ring *ring)
{
	ring->tail = ring->head;
	__atomic_store_n(&ring->meta->data_tail, ring->tail, __ATOMIC_RELEASE);
}

struct error *ring_pages_parse(const char *text, size_t page_size, size_t *pages)
{
	static const char units[] = "BKMG";
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	bool ok = !errno && end != text && text[0] != '-' && n;
	if (ok && *end) {
		const char *unit = strchr(units, *end);

		ok = unit && (!end[1] || (!strcmp(end + 1, "B") && *end != 'B'));
		if (ok && n <= UINT64_MAX >> 40) {
			n <<= 10 * (unit - units);
			n = (n + page_size - 1) / page_size;
		}
	}
	if (!ok)
		return error_hint(error_new(EINVAL, "'%s' is no ring size", text),
				  "a number of pages, or a size as 512K, 4M");
	size_t rounded = 1;
	while (rounded < n && rounded < (size_t)1 << 31)
		rounded <<= 1;
	if (rounded < n || rounded > SIZE_MAX / 2 / page_size || rounded >= (size_t)1 << 31)
		return error_new(EINVAL, "a ring of '%s' is too large", text);
	*pages = rounded;
	return NULL;
}
