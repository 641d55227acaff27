/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings that events are recorded through, as users ask for them. */
#ifndef PB_PERF_RING_RING_H
#define PB_PERF_RING_RING_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/ring/perf_ring.h"

/*
 * -m: a number of pages, or a size ("512K", "1M", "16MB", "1G"), rounded up
 * to a power of two of pages.
 */
struct error *ring_pages_parse(const char *text, size_t page_size, size_t *pages);

#endif
