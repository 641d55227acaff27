// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/earlier_recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KCORE_DIR "kcore_dir" /* of record --kcore */

static bool is_of_recording(const char *name)
{
	const size_t n = strlen("data.");

	return !strcmp(name, "data") || !strcmp(name, KCORE_DIR) ||
	       (!strncmp(name, "data.", n) && name[n] &&
		strspn(name + n, "0123456789") == strlen(name + n));
}

static bool is_of_kcore_dir(const char *name)
{
	return !strcmp(name, "kcore") || !strcmp(name, "kallsyms") || !strcmp(name, "modules");
}

/* NULL: it is not a directory, or cannot be read: errno. */
static DIR *open_directory(int dir_fd, const char *name)
{
	const int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Whether there is nothing else in it. */
static struct error *check_names(DIR *dir, const char *name, bool (*is_known)(const char *))
{
	const struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    !is_known(entry->d_name))
			return error_hint(
				error_new(ENOTEMPTY,
					  "'%s' has other files than those of a recording", name),
				"remove it");
	rewinddir(dir);
	return NULL;
}

static struct error *check(DIR *dir, const char *name)
{
	DIR *kcore_dir = open_directory(dirfd(dir), KCORE_DIR);
	struct error *err = check_names(dir, name, is_of_recording);

	if (kcore_dir) {
		if (!err)
			err = check_names(kcore_dir, name, is_of_kcore_dir);
		closedir(kcore_dir);
	}
	return err;
}

static void remove_names(DIR *dir, bool (*is_known)(const char *))
{
	const struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (is_known(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
}

/*
 * What renameat() cannot replace: a directory by anything but an empty one, a file by a directory.
 * A directory stays as it is if there is anything else in it.
 */
static struct error *remove_recording(int dir_fd, const char *name, bool by_dir)
{
	static const char cannot[] = "cannot remove the recording before the last one";
	DIR *dir = open_directory(dir_fd, name), *kcore_dir;

	if (!dir)
		return by_dir && unlinkat(dir_fd, name, 0) && errno != ENOENT
			       ? error_errno(errno, cannot)
			       : NULL;
	struct error *err = check(dir, name);
	if (!err) {
		kcore_dir = open_directory(dirfd(dir), KCORE_DIR);
		if (kcore_dir) {
			remove_names(kcore_dir, is_of_kcore_dir);
			closedir(kcore_dir);
			unlinkat(dirfd(dir), KCORE_DIR, AT_REMOVEDIR);
		}
		remove_names(dir, is_of_recording);
	}
	closedir(dir);
	if (!err && unlinkat(dir_fd, name, AT_REMOVEDIR))
		err = error_errno(errno, cannot);
	return err;
}

/* The directory of an earlier recording, and nobody's home. */
static struct error *check_directory(const struct output_path *out)
{
	DIR *dir = open_directory(out->dir_fd, out->name);

	if (!dir)
		return error_errno(errno, "cannot read the directory");
	struct error *err = check(dir, out->name);
	closedir(dir);
	return err;
}

struct error *earlier_recording_keep(struct output_path *out)
{
	char old[sizeof(out->name) + 8];
	struct stat st;

	if (!out->exists || out->is_special ||
	    fstatat(out->dir_fd, out->name, &st, AT_SYMLINK_NOFOLLOW))
		return NULL;
	if (out->is_dir)
		TRY(check_directory(out));
	else if (!st.st_size)
		return NULL;
	snprintf(old, sizeof(old), "%s.old", out->name);
	TRY(remove_recording(out->dir_fd, old, out->is_dir));
	if (renameat(out->dir_fd, out->name, out->dir_fd, old))
		return error_errno(errno, "cannot rename the earlier recording");
	out->exists = out->is_dir = false;
	return NULL;
}

void recording_dir_remove(const struct output_path *out)
{
	error_free(remove_recording(out->dir_fd, out->name, true));
}
