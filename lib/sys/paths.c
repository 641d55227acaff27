// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/internal.h"

bool sys_is_component(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..") &&
	       strlen(name) <= 255;
}

struct error *sys_list_dir(const char *path, unsigned char type, struct names *names)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return error_errno(errno, "cannot open %s", path);
	while ((entry = readdir(dir))) {
		struct stat st;
		unsigned char is = entry->d_type;

		if (entry->d_name[0] == '.')
			continue;
		/* Links (sysfs has them) and file systems without types: look. */
		if (type != DT_UNKNOWN && (is == DT_LNK || is == DT_UNKNOWN)) {
			if (fstatat(dirfd(dir), entry->d_name, &st, 0))
				continue;
			is = S_ISDIR(st.st_mode) ? DT_DIR : DT_REG;
		}
		if (type != DT_UNKNOWN && is != type)
			continue;
		if (!names_add(names, entry->d_name))
			return error_nomem();
	}
	names_sort(names);
	return NULL;
}

struct error *sys_hint_nearest(struct error *err, const char *want, const struct names *among,
			       const char *fallback)
{
	struct nearest near = nearest_make(want);

	for (size_t i = 0; i < among->n; i++)
		nearest_offer(&near, among->v[i]);
	err = error_suggest(err, &near);
	return fallback ? error_hint(err, "%s", fallback) : err;
}
