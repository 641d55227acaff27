// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/copied_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "lib/sys/open_in_root.h"

#define ATTRIBUTE "user.perf_bpf.author"

void copied_file_set_author(int fd, uid_t author)
{
	char text[16];
	const int n = snprintf(text, sizeof(text), "%u", (unsigned)author);

	/* Without it the author is not known, which is safe. */
	if (fsetxattr(fd, ATTRIBUTE, text, (size_t)n, 0))
		return;
}

bool copied_file_has_author(int fd, uid_t *author)
{
	char text[16] = "";
	unsigned uid;
	int end = 0;

	if (fgetxattr(fd, ATTRIBUTE, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%10u%n", &uid, &end) != 1 || text[end])
		return false;
	*author = uid;
	return true;
}

uid_t file_author(int fd, bool is_copy)
{
	uid_t author;
	struct stat st;

	if (fstat(fd, &st))
		return AUTHOR_UNKNOWN;
	if (!is_copy || !user_is_trusted(st.st_uid))
		return st.st_uid;
	return copied_file_has_author(fd, &author) ? author : AUTHOR_UNKNOWN;
}

bool path_is_in_other_root(const char *path)
{
	struct stat own, other;
	char root[32];
	int pid, end = 0;

	if (!strncmp(path, "/proc/self/fd/", strlen("/proc/self/fd/")))
		return true;
	if (sscanf(path, "/proc/%d/root/%n", &pid, &end) != 1 || !end)
		return false;
	snprintf(root, sizeof(root), "/proc/%d/root/", pid);
	return stat("/", &own) || stat(root, &other) || own.st_dev != other.st_dev ||
	       own.st_ino != other.st_ino;
}
