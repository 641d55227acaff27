/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of source files, which binaries name: read once each. */
#ifndef PB_PERF_RESOLVE_SOURCE_TEXT_H
#define PB_PERF_RESOLVE_SOURCE_TEXT_H

#include <sys/types.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"

struct source_texts {
	struct arena arena;
	struct strmap files; /* by path; struct source_text * */
};

void source_texts_deinit(struct source_texts *texts);

/*
 * A line, counted from 1, without its end; it lives as long as texts. The file is one that author,
 * whose debug information names it (0: root or the caller), can read, too: struct path_check of
 * lib/sys/open_in_root.h. NULL: the file cannot be read or has no such line.
 */
const char *source_texts_line(struct source_texts *texts, const char *path, uid_t author,
			      uint32_t number);

#endif
