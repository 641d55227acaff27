/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the cursor goes in a list, and which of its lines are seen. */
#ifndef PB_BROWSE_SCROLL_H
#define PB_BROWSE_SCROLL_H

#include <stddef.h>

#include "browse/canvas.h"
#include "lib/base/util.h"

/* A move by so many of n lines, which ends at the first and the last. */
static inline size_t scroll_moved(size_t cursor, ptrdiff_t by, size_t n)
{
	if (!n)
		return 0;
	if (by < 0)
		return cursor - min_of(cursor, (size_t)-by);
	return min_of(cursor, n - 1) + min_of((size_t)by, n - 1 - min_of(cursor, n - 1));
}

/* The first line that is seen, if the cursor is to be seen in a window of `room` lines. */
static inline size_t scroll_first(size_t first, size_t cursor, size_t room, size_t n)
{
	if (cursor < first)
		first = cursor;
	if (room && cursor >= first + room)
		first = cursor - room + 1;
	return min_of(first, n > room ? n - room : 0);
}

/* As perf colours shares: from 5 percent on, from 0.5 percent on. */
static inline enum canvas_style scroll_share_style(double share)
{
	return share >= 5 ? STYLE_HOT : share >= 0.5 ? STYLE_WARM : STYLE_NORMAL;
}

#endif
