// SPDX-License-Identifier: BSD-2-Clause
/*
 * --kcore: the kernel's symbols, the list of its modules and its code, as it is executed, in the
 * directory kcore_dir of the recording. perf and the readers here take names and code from there,
 * also on another machine. The copy has no data of the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/open_file.h"
#include "perf/record/internal.h"
#include "sym/kcore.h"

static struct error *create_file(int dir, const char *name, int *fd)
{
	*fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	return *fd < 0 ? error_errno(errno, "cannot create kcore_dir/%s", name) : NULL;
}

/* A file of /proc has no size. */
static struct error *copy_file(const char *path, int dir, const char *name)
{
	_cleanup_close_ int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;
	char bytes[65536];
	ssize_t got;

	if (from < 0)
		return error_errno(errno, "cannot open '%s'", path);
	TRY(create_file(dir, name, &to));
	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		TRY(error_at(file_write(to, bytes, (size_t)got), "kcore_dir/%s", name));
	return got < 0 ? error_errno(errno, "cannot read '%s'", path) : NULL;
}

struct error *kernel_copy(struct kcore *k, int recording_dir)
{
	_cleanup_close_ int dir = -1, fd = -1;

	if (mkdirat(recording_dir, "kcore_dir", 0700))
		return error_errno(errno, "cannot create the directory kcore_dir");
	dir = openat(recording_dir, "kcore_dir", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return error_errno(errno, "cannot open the directory kcore_dir");
	TRY(copy_file("/proc/kallsyms", dir, "kallsyms"));
	TRY(copy_file("/proc/modules", dir, "modules"));
	TRY(create_file(dir, "kcore", &fd));
	return kcore_copy(k, fd);
}
