// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording that is a directory (perf record --threads, --kcore; tools/perf/Documentation/
 * perf.data-directory-format.txt):
 *
 *	data	a perf.data file: the header, and what exists already
 *	data.N	with the feature DIR_FORMAT: the records of one ring, and nothing else. With -z,
 * each file is a zstd stream of its own.
 *	kcore_dir/kallsyms, kcore, modules	the kernel's symbols, and its code
 *
 * Of data.N nothing tells which ring it was, and there are no rounds: all of it waits until all
 * files were read. So a FINISHED_ROUND record in data means nothing either. Without DIR_FORMAT,
 * data is a recording as any other.
 *
 * The directory may be anybody's: links are not followed, and only regular files are opened.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/sys/open_file.h"
#include "perf/session/internal.h"

#define DIR_VERSION 1
/* perf writes one for each CPU. */
#define PARTS_MAX 16384

static struct error *open_file(const char *path, int *fd)
{
	const struct open_regular_opts opts = {.no_link = true};

	return open_regular(path, &opts, fd);
}

/* "data.12" */
static bool is_part(const char *name, unsigned long *number)
{
	const char *digits = name + strlen("data.");
	char *end;

	if (strncmp(name, "data.", strlen("data.")) || !isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	*number = strtoul(digits, &end, 10);
	return !errno && !*end;
}

static struct error *map_part(struct session *s, const char *dir, const char *name,
			      unsigned long number, bool force)
{
	_cleanup_free_ char *path = text_format("%s/%s", dir, name);
	_cleanup_close_ int fd = -1;
	const uint8_t *base;
	uint64_t size;

	if (!path)
		return error_nomem();
	TRY(open_file(path, &fd));
	TRY(input_check_owner(path, fd, force, &size));
	if (!size)
		return NULL;
	TRY(input_map(path, fd, size, &base));
	struct input_part *part = vec_push(&s->input.parts);
	if (!part) {
		munmap((void *)base, (size_t)size);
		return error_nomem();
	}
	*part = (struct input_part){number, steal_ptr(path), base, (size_t)size};
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct input_part *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static struct error *map_parts(struct session *s, const char *dir, bool force)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;
	struct error *err = NULL;
	unsigned long number;
	size_t n = 0;

	if (!d)
		return error_at(error_errno(errno, "cannot read the directory"), "%s", dir);
	while (!err && (entry = readdir(d))) {
		if (!is_part(entry->d_name, &number))
			continue;
		err = n++ < PARTS_MAX
			      ? map_part(s, dir, entry->d_name, number, force)
			      : error_at(error_new(EFBIG, "has more than %d files", PARTS_MAX),
					 "%s", dir);
	}
	closedir(d);
	TRY(err);
	if (!n)
		return error_at(error_new(ENODATA, "has no files of events (data.0, ...)"), "%s",
				dir);
	if (s->input.parts.n)
		qsort(s->input.parts.v, s->input.parts.n, sizeof(*s->input.parts.v), compare);
	return NULL;
}

/* With kallsyms; else there is nothing in it to use. */
static struct error *find_kcore_dir(struct session *s, const char *path)
{
	_cleanup_free_ char *dir = text_format("%s/kcore_dir", path);
	_cleanup_free_ char *file = text_format("%s/kcore_dir/kallsyms", path);
	struct stat st;

	if (!dir || !file)
		return error_nomem();
	if (!lstat(dir, &st) && S_ISDIR(st.st_mode) && !lstat(file, &st) && S_ISREG(st.st_mode))
		s->input.kcore_dir = steal_ptr(dir);
	return NULL;
}

const char *session_kcore_dir(const struct session *s)
{
	return s->input.kcore_dir;
}

struct error *input_open_dir(struct session *s, const char *path, bool force)
{
	_cleanup_free_ char *file = text_format("%s/data", path);
	_cleanup_close_ int fd = -1;

	if (!file)
		return error_nomem();
	struct error *err = open_file(file, &fd);
	if (err)
		return error_hint(
			err, "'%s' is not a recording of perf record --threads or --kcore", path);
	TRY(input_open_fd(s, file, &fd, force));
	TRY(find_kcore_dir(s, path));
	if (!s->header.dir_version)
		return NULL;
	if (s->header.dir_version != DIR_VERSION)
		return error_at(error_new(EINVAL,
					  "the directory has version %" PRIu64
					  "; only version %d is supported",
					  s->header.dir_version, DIR_VERSION),
				"%s", path);
	return map_parts(s, path, force);
}

void input_parts_deinit(struct session *s)
{
	struct input_part *part;

	vec_for_each (part, &s->input.parts) {
		munmap((void *)part->base, part->size);
		free(part->path);
	}
	vec_deinit(&s->input.parts);
	free(s->input.kcore_dir);
}
