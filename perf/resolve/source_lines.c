// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/source_lines.h"

#include <stdlib.h>

#include "probe/dwarf/dwarf.h"

struct source_lines {
	struct dwarf_image *image; /* NULL: there is no debug information */
};

struct source_lines *source_lines_new(const struct dso *dso, const char *inside, const char *symfs,
				      const struct log *log)
{
	const struct dwarf_opts opts = {
		.symfs = inside ? NULL : symfs,
		.build_id = dso->build_id_size ? dso->build_id : NULL,
		.build_id_size = dso->build_id_size,
		/* A report reads many binaries: it does not download the debug information of all.
		 */
		.no_debuginfod = true,
		.log = log,
	};
	struct source_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	struct error *err = pb_dwarf_image_open(inside ? inside : dso->path, &opts, &lines->image);
	if (err)
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

bool source_lines_find(struct source_lines *lines, uint64_t address, const char **file,
		       uint32_t *line)
{
	return lines->image && pb_dwarf_line_at(lines->image, address, file, line);
}
