/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of the running kernel and of its modules, as it is executed: from /proc/kcore, which has
 * all memory of the machine. So the one who reads it gives away no more than code.
 */
#ifndef PB_SYM_KCORE_H
#define PB_SYM_KCORE_H

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/* The longest function of the kernel is far below. */
#define KCORE_MAX_READ ((uint64_t)16 << 20)

struct kcore;

struct kcore_opts {
	const char *kcore, *kallsyms, *modules; /* NULL: the files of /proc */
};

/* Opens the files. ENOENT, EACCES, EPERM and others: as open(2); EBADMSG: it is not an image. */
struct error *kcore_open(const struct kcore_opts *opts, struct kcore **out);
void kcore_free(struct kcore *k);
DEFINE_FREEP(struct kcore, kcore_free)

/* The descriptor of the image. */
int kcore_fd(const struct kcore *k);

/*
 * Appends size bytes. EPERM: they are not code of the kernel or of a module; ENODATA: the image
 * does not have them; EFBIG: more than KCORE_MAX_READ.
 */
struct error *kcore_read(struct kcore *k, uint64_t address, uint64_t size, struct strbuf *out);

/*
 * Writes an image to a file that is empty: the code, and nothing else. Segments are whole pages, as
 * far as they are there.
 */
struct error *kcore_copy(struct kcore *k, int fd);

#endif
