/* SPDX-License-Identifier: BSD-2-Clause */
/* The source line of a location as perf prints it. */
#ifndef PB_PERF_RESOLVE_LINE_TEXT_H
#define PB_PERF_RESOLVE_LINE_TEXT_H

#include "lib/base/strbuf.h"
#include "perf/resolve/resolve.h"

/*
 * The line itself. frame: one of the functions at the location; NULL: there is one alone. false: it
 * is not known.
 */
bool line_find(struct resolver *r, const struct location *at, const struct inline_frame *frame,
	       const char **file, uint32_t *line);

/*
 * Adds "file.c:123", with full_paths the whole path. Where the line is not known: "??:0" if the
 * file has debug information, else "memcpy+16" or "libc.so.6[9d6c0]". frame: one of the functions
 * at the location; NULL: there is one alone. Names are as they are, not escaped.
 */
void line_text(struct resolver *r, const struct location *at, const struct inline_frame *frame,
	       bool full_paths, struct strbuf *out);

/* The file alone; nothing where it is not known. */
void line_text_file(struct resolver *r, const struct location *at, const struct inline_frame *frame,
		    bool full_paths, struct strbuf *out);

#endif
