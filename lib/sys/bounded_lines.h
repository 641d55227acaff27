/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a source file whose path comes from debug information of author (0: root or the
 * caller). It is author's, or what author can read (struct path_check of open_in_root.h): a
 * program's debug information can name any file. It may be of any size and grow while it is read:
 * long lines are cut, and what is far behind is not read.
 *
 *	struct bounded_lines source;
 *	TRY(bounded_lines_open(path, author, &source));
 *	while ((line = bounded_lines_next(&source)))
 *		…
 *	bounded_lines_close(&source);
 */
#ifndef PB_SYS_BOUNDED_LINES_H
#define PB_SYS_BOUNDED_LINES_H

#include <stdio.h>
#include <sys/types.h>

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

struct bounded_lines {
	FILE *f; /* NULL: it is not open */
	size_t left;
	char line[4096];
};

/* Errors: those of open_regular(); EFBIG. */
struct error *bounded_lines_open(const char *path, uid_t author, struct bounded_lines *source);
/* Without its newline, until the next call; NULL: there is none. */
char *bounded_lines_next(struct bounded_lines *source);
void bounded_lines_close(struct bounded_lines *source);
#define _cleanup_bounded_lines_ _cleanup_(bounded_lines_close)

#endif
