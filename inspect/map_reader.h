/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All entries of a map of the kernel, in few system calls and little memory:
 * batches (bpf(2)'s BPF_MAP_LOOKUP_BATCH, 5.6) where the kernel has them for
 * the map's type, else key by key.
 *
 *	TRY(map_reader_new(fd, &reader));
 *	for (;;) {
 *		TRY(map_reader_next(reader, &key, &value));
 *		if (!key)
 *			break;
 *		…
 *	}
 *
 * The map may change meanwhile. An entry that is there all the time is given
 * once; one that comes or goes may be given or not.
 */
#ifndef PB_INSPECT_MAP_READER_H
#define PB_INSPECT_MAP_READER_H

#include <bpf/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

struct map_reader;

/* Whether entries of such maps can be read one after the other; why not, in words, else NULL. */
const char *map_type_unreadable(enum bpf_map_type type);

/* Whether a value of the type has a part for each CPU. */
bool map_type_per_cpu(enum bpf_map_type type);

/* Whether a key of the type is an index, from 0 to max_entries - 1. */
bool map_type_indexed(enum bpf_map_type type);

/*
 * fd is the map's, and the caller's; it outlives the reader. ENOTSUP: entries
 * of this type cannot be read one after the other; EPERM: the map is
 * write-only for us.
 */
struct error *map_reader_new(int fd, struct map_reader **reader);
/*
 * The entries of all inner maps of the map of maps fd. A key is that of the outer map with that of
 * the inner map behind it, a value is the inner map's. inner: type, key_size, value_size and
 * max_entries of the inner maps, which are the same for all of them; map_reader_info() then has
 * these, and the key_size of both keys. Reading takes CAP_SYS_ADMIN.
 */
struct error *map_reader_new_inner(int fd, const struct bpf_map_info *inner,
				   struct map_reader **reader);
void map_reader_free(struct map_reader *reader);
DEFINE_FREEP(struct map_reader, map_reader_free)

/* What the kernel says of the map. */
const struct bpf_map_info *map_reader_info(const struct map_reader *reader);

/*
 * A value's parts: one, or one per possible CPU, each map_reader_stride()
 * bytes after the other.
 */
unsigned map_reader_cpus(const struct map_reader *reader); /* 0: it is not per CPU */
size_t map_reader_stride(const struct map_reader *reader);

/* The next entry, valid until the next call; *key NULL: there are no more. */
struct error *map_reader_next(struct map_reader *reader, const void **key, const void **value);

/* From the first entry again. */
void map_reader_rewind(struct map_reader *reader);

#endif
