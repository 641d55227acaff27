// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory of a BPF ring buffer (kernel/bpf/ringbuf.c): a page that begins
 * with the consumer's position, a page that begins with the producer's, and
 * the data, which the kernel maps twice in a row: what runs over the end goes
 * on in the second copy, so that a record is always one piece.
 *
 * Positions count bytes and only grow; their low bits are the place. They are
 * unsigned long, and where that has 32 bits they wrap after 4 GiB: only their
 * differences mean something, and are taken in the same type.
 *
 * A record is a header of 8 bytes (its length with two flags, and what the
 * kernel alone uses), the bytes, and padding up to 8. BUSY is set from its
 * reservation to its submission: all behind it has to wait. DISCARD says that
 * it holds nothing.
 *
 * What must never happen: to follow a length further than what was produced,
 * or a produced position further than the ring. The pages are the kernel's, but
 * a consumer's position and a user ring are writable for every process that
 * has the map.
 */
#include <bpf/bpf.h>
#include <stdint.h>
#include <sys/mman.h>

#include "lib/ring/internal.h"
#include "lib/sys/sys.h"

struct error *ringbuf_init(struct ringbuf *ring, int map_fd, enum bpf_map_type type)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	size_t page = sys_page_size();

	int ret = bpf_map_get_info_by_fd(map_fd, &info, &len);
	if (ret)
		return error_errno(-ret, "cannot read the info of map descriptor %d", map_fd);
	if (info.type != type)
		return error_hint(error_new(EINVAL, "map '%s' is of type %s", info.name,
					    libbpf_bpf_map_type_str(info.type) ?: "unknown"),
				  "pass a map of type %s", libbpf_bpf_map_type_str(type));
	if (info.max_entries > (SIZE_MAX - page) / 2)
		return error_new(E2BIG, "map '%s': its %u bytes are too large to map twice",
				 info.name, info.max_entries);

	bool produce = type == BPF_MAP_TYPE_USER_RINGBUF;
	size_t bytes = page + 2 * (size_t)info.max_entries;
	int rw = PROT_READ | PROT_WRITE;
	void *consumer = mmap(NULL, page, produce ? PROT_READ : rw, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return error_errno(errno, "cannot map the consumer's page of map '%s'", info.name);
	void *producer = mmap(NULL, bytes, produce ? rw : PROT_READ, MAP_SHARED, map_fd, page);
	if (producer == MAP_FAILED) {
		struct error *err =
			error_errno(errno, "cannot map the data of map '%s'", info.name);

		munmap(consumer, page);
		return err;
	}
	*ring = (struct ringbuf){
		.consumer = consumer,
		.producer = producer,
		.data = (uint8_t *)producer + page,
		.size = info.max_entries,
	};
	return NULL;
}

void ringbuf_deinit(struct ringbuf *ring)
{
	size_t page = sys_page_size();

	if (ring->consumer)
		munmap(ring->consumer, page);
	if (ring->producer)
		munmap(ring->producer, page + 2 * ring->size);
	*ring = (struct ringbuf){0};
}
