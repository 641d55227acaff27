/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source lines of a program, a library or the kernel, by its debug information, read when first
 * asked for.
 */
#ifndef PB_PERF_RESOLVE_SOURCE_LINES_H
#define PB_PERF_RESOLVE_SOURCE_LINES_H

#include "perf/session/session.h"

struct source_lines;

/*
 * path: the binary, below symfs, with its debug information in it or in a separate file; symbols:
 * the file that its symbols are of, which is read otherwise; NULL: none. NULL: no memory.
 */
struct source_lines *source_lines_new(const struct dso *dso, const char *path, const char *symbols,
				      const char *symfs, const struct log *log);
void source_lines_free(struct source_lines *lines);

/* By an address of the ELF file. The path lives as long as the lines; false: not known. */
bool source_lines_find(struct source_lines *lines, uint64_t address, const char **file,
		       uint32_t *line);

/* Who chose the path: pb_dwarf_image_author(). */
uid_t source_lines_author(const struct source_lines *lines);

#endif
