// SPDX-License-Identifier: BSD-2-Clause
/* Whole files: read with a bound, listed, trees removed. */
#include "compile/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

struct error *file_read(int dirfd, const char *path, size_t max, char **data, size_t *size)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_at(error_errno(errno, "cannot be read"), "%s", path);
	if (S_ISDIR(st.st_mode))
		return error_at(error_errno(EISDIR, "cannot be read"), "%s", path);

	/* What sysfs says of a file's size need not be so: read until the end. */
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t chunk = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 4096;
	for (;;) {
		if (sb.len > max)
			return error_at(error_new(EFBIG, "is larger than %zu bytes", max), "%s",
					path);
		if (!strbuf_reserve(&sb, min_of(chunk, max + 1)))
			return error_nomem();
		ssize_t n = read(fd, sb.str + sb.len, sb.cap - sb.len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_at(error_errno(errno, "cannot be read"), "%s", path);
		if (n == 0)
			break;
		sb.len += (size_t)n;
		chunk = 4096;
	}
	sb.str[sb.len] = 0;
	*size = sb.len;
	*data = strbuf_steal(&sb);
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	remove(path);
	return 0;
}

void tree_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void files_list(const char *folder, const char *suffix, struct names *out)
{
	DIR *dir = opendir(folder);
	size_t m = strlen(suffix);

	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));) {
		size_t n = strlen(d->d_name);
		if (n > m && !strcmp(d->d_name + n - m, suffix) && !names_add(out, d->d_name))
			break;
	}
	closedir(dir);
}
