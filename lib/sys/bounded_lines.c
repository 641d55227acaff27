// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/bounded_lines.h"

#include <string.h>

#include "lib/base/util.h"
#include "lib/sys/open_file.h"

enum {
	MAX_SIZE = 64 << 20, /* of the file; generated sources have some MB */
};

struct error *bounded_lines_open(const char *path, uid_t author, struct bounded_lines *source)
{
	const struct open_regular_opts opts = {
		.owned = true, .owner = author, .max_bytes = MAX_SIZE};
	FILE *f = NULL;

	TRY(fopen_regular(path, &opts, &f));
	source->f = f;
	source->left = MAX_SIZE;
	return NULL;
}

/* The next part of a line; *ended: with its end. */
static bool read_part(struct bounded_lines *source, char *to, size_t size, bool *ended)
{
	if (!source->left || !fgets(to, (int)size, source->f))
		return false;
	const size_t n = strcspn(to, "\n");
	*ended = to[n] == '\n';
	/* without it there may be NULs, behind which nothing can be counted */
	source->left -= min_of(source->left, *ended ? n + 1 : size);
	to[n] = '\0';
	return true;
}

char *bounded_lines_next(struct bounded_lines *source)
{
	char rest[sizeof(source->line)];
	bool ended = false;

	if (!source->f || !read_part(source, source->line, sizeof(source->line), &ended))
		return NULL;
	while (!ended && read_part(source, rest, sizeof(rest), &ended))
		;
	return source->line;
}

void bounded_lines_close(struct bounded_lines *source)
{
	if (source->f)
		fclose(source->f);
	source->f = NULL;
}
