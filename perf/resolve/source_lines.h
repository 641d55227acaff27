/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source lines of a program, a library or the kernel, and the functions that are inlined at an
 * address, by its debug information, which is read when first asked for.
 */
#ifndef PB_PERF_RESOLVE_SOURCE_LINES_H
#define PB_PERF_RESOLVE_SOURCE_LINES_H

#include "perf/resolve/inline_frames.h"
#include "perf/session/session.h"
#include "sym/demangler.h"

struct source_lines;

struct source_lines_opts {
	const char *path;      /* the binary, with its debug information in it or in another file */
	const char *symbols;   /* the file that its symbols are of, read otherwise; NULL: none */
	bool symbols_are_copy; /* that file is in a build-id cache */
	const char *symfs;     /* put before path; NULL: "" */
	struct demangler *demangler; /* borrowed */
	bool demangle, parameters;   /* of inlined functions */
	const struct log *log;
};

/* NULL: no memory. */
struct source_lines *source_lines_new(const struct dso *dso, const struct source_lines_opts *opts);
void source_lines_free(struct source_lines *lines);

/* By an address of the ELF file. The path lives as long as the lines; false: not known. */
bool source_lines_find(struct source_lines *lines, uint64_t address, const char **file,
		       uint32_t *line);

/* Who chose the path: pb_dwarf_image_author(). */
uid_t source_lines_author(const struct source_lines *lines);

/* Whether there is debug information. */
bool source_lines_exist(struct source_lines *lines);

/* Likewise; sym: the symbol at the address. See resolve_inlines(). */
const struct inline_frames *source_lines_inlines(struct source_lines *lines, uint64_t address,
						 const struct symbol *sym);
/* Whether frames are missing because there was no memory for them. */
bool source_lines_had_no_memory(const struct source_lines *lines);

#endif
