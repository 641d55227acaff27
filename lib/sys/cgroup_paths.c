// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/cgroup_paths.h"

#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/names.h"

void cgroup_paths_deinit(struct cgroup_paths *paths)
{
	u64map_deinit(&paths->by_id);
	arena_deinit(&paths->arena);
}

/* NULL: no memory. */
static const char *keep(struct cgroup_paths *paths, uint64_t id, const char *path)
{
	char *copy = arena_strdup(&paths->arena, path);

	return copy && u64map_put(&paths->by_id, id, copy) ? copy : NULL;
}

static void read_tree(struct cgroup_paths *paths, const struct sys_roots *roots)
{
	static const char *const mounts[] = {"fs/cgroup/unified", "fs/cgroup"};
	const char *sysfs = roots && roots->sysfs ? roots->sysfs : sys_roots_default.sysfs;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		/* only the root of a cgroup2 hierarchy has it */
		_cleanup_free_ char *mark =
			text_format("%s/%s/cgroup.controllers", sysfs, mounts[i]);
		_cleanup_free_ char *root = text_format("%s/%s", sysfs, mounts[i]);

		if (!mark || !root || access(mark, F_OK))
			continue;
		FTS *tree = fts_open((char *[]){root, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
		for (FTSENT *e; tree && (e = fts_read(tree));) {
			if (e->fts_info != FTS_D)
				continue;
			const char *path = e->fts_path + strlen(root);
			if (!u64map_get(&paths->by_id, e->fts_statp->st_ino))
				keep(paths, e->fts_statp->st_ino, *path ? path : "/");
		}
		if (tree)
			fts_close(tree);
		return;
	}
}

const char *cgroup_paths_get(struct cgroup_paths *paths, const struct sys_roots *roots, uint64_t id)
{
	const char *known = u64map_get(&paths->by_id, id);

	if (known)
		return known;
	read_tree(paths, roots);
	known = u64map_get(&paths->by_id, id);
	/* what is not there is not looked for again */
	return known ? known : keep(paths, id, "");
}
