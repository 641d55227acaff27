// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/source_lines.h"

#include <stdlib.h>

#include "probe/dwarf/dwarf.h"

struct source_lines {
	struct dwarf_image *image; /* NULL: there is no debug information */
};

struct source_lines *source_lines_new(const struct dso *dso, const char *path, const char *symbols,
				      const char *symfs, const struct log *log)
{
	struct dwarf_opts opts = {
		.symfs = symfs,
		.build_id = dso->build_id_size ? dso->build_id : NULL,
		.build_id_size = dso->build_id_size,
		/* A report reads many binaries: it does not download debug information for all. */
		.no_debuginfod = true,
		.log = log,
	};
	struct source_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	struct error *err = pb_dwarf_image_open(path, &opts, &lines->image);
	/* The binary may be gone, and its copy in perf's cache be there. */
	opts.symfs = NULL;
	if (err && symbols)
		error_free(pb_dwarf_image_open(symbols, &opts, &lines->image));
	if (err && !lines->image)
		log_debug(log, "%s: no source lines: %s", dso->path, err->msg);
	error_free(err);
	return lines;
}

void source_lines_free(struct source_lines *lines)
{
	if (lines)
		pb_dwarf_image_free(lines->image);
	free(lines);
}

uid_t source_lines_author(const struct source_lines *lines)
{
	return lines->image ? pb_dwarf_image_author(lines->image) : 0;
}

bool source_lines_find(struct source_lines *lines, uint64_t address, const char **file,
		       uint32_t *line)
{
	return lines->image && pb_dwarf_line_at(lines->image, address, file, line);
}
