/* SPDX-License-Identifier: BSD-2-Clause */
/* A file in memory, by a path that can be opened. */
#ifndef PB_TESTS_UNIT_MEMFILE_H
#define PB_TESTS_UNIT_MEMFILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* fd is the caller's to close, which ends the file. */
struct memfile {
	int fd;
	char path[32];
};

static inline struct memfile memfile_new(const void *bytes, size_t size)
{
	struct memfile f = {.fd = memfd_create("perf.data", 0)};

	assert_true(f.fd >= 0);
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	assert_int_equal(pwrite(f.fd, bytes, size, 0), size);
	return f;
}

#endif
