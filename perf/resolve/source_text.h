/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of source files, which binaries name: read once each. */
#ifndef PB_PERF_RESOLVE_SOURCE_TEXT_H
#define PB_PERF_RESOLVE_SOURCE_TEXT_H

#include <sys/types.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"

/* Where files are whose sources were moved since they were compiled, as objdump has it. */
struct source_prefix {
	const char *text; /* put before an absolute path; NULL: files are where they were */
	unsigned strip; /* that many folders of the path are left out; its last component is not */
};

struct source_texts {
	struct source_prefix prefix;
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

/* Adds the path that a file is looked for at. */
void source_prefix_apply(const struct source_prefix *prefix, const char *path, struct strbuf *out);

#endif
