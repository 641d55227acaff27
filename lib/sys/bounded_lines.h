/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a source file whose path comes from debug information. It may be anybody's and of
 *any size, and may grow while it is read: long lines are cut, and what is far behind is not read.
 *
 *	struct bounded_lines source;
 *	TRY(bounded_lines_open(path, &source));
 *	while ((line = bounded_lines_next(&source)))
 *		…
 *	bounded_lines_close(&source);
 */
#ifndef PB_SYS_BOUNDED_LINES_H
#define PB_SYS_BOUNDED_LINES_H

#include <stdio.h>

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

struct bounded_lines {
	FILE *f; /* NULL: it is not open */
	size_t left;
	char line[4096];
};

/* Errors: those of open_regular(); EFBIG. */
struct error *bounded_lines_open(const char *path, struct bounded_lines *source);
/* Without its newline, until the next call; NULL: there is none. */
char *bounded_lines_next(struct bounded_lines *source);
void bounded_lines_close(struct bounded_lines *source);
#define _cleanup_bounded_lines_ _cleanup_(bounded_lines_close)

#endif
