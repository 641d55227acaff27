/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf's build-id cache, filled: copies of the files that were hit, so that a
 * recording has its names when the files have been rebuilt or removed.
 */
#ifndef PB_PERF_RECORD_BUILDID_CACHE_H
#define PB_PERF_RECORD_BUILDID_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

struct buildid_cache {
	int fd; /* of its directory; -1: there is none */
};

/* Opens the directory; it is created if only itself is missing. */
struct error *buildid_cache_open(const char *dir, struct buildid_cache *out);
void buildid_cache_close(struct buildid_cache *c);

/*
 * Copies the file (a regular one, open for reading) that was mapped as path. What the cache has of
 * the build-id stays. author: see lib/sys/copied_file.h; what root or the caller wrote is found by
 * its build-id alone. What others wrote can have any build-id, also that of a file of root's: it is
 * found by its path and its build-id.
 */
struct error *buildid_cache_add(const struct buildid_cache *c, const char *path, int fd,
				uid_t author, const uint8_t *id, size_t id_size);
/* The same of the running kernel: /proc/kallsyms, open for reading, unless it hides addresses. */
struct error *buildid_cache_add_kallsyms(const struct buildid_cache *c, int fd, const uint8_t *id,
					 size_t id_size);

#endif
