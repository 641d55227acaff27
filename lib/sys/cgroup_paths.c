// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/cgroup_paths.h"

#include <fts.h>
#include <stdlib.h>
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

static char *find_root(const struct sys_roots *roots, const char *const *folders, size_t n,
		       const char *mark)
{
	const char *sysfs = roots && roots->sysfs ? roots->sysfs : sys_roots_default.sysfs;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *root = text_format("%s/fs/cgroup%s", sysfs, folders[i]);
		_cleanup_free_ char *path = root ? text_format("%s/%s", root, mark) : NULL;

		if (path && !access(path, F_OK))
			return steal_ptr(root);
	}
	return NULL;
}

char *cgroup_root(const struct sys_roots *roots)
{
	static const char *const folders[] = {"/unified", ""};

	/* only the root of a cgroup2 hierarchy has it */
	return find_root(roots, folders, ARRAY_SIZE(folders), "cgroup.controllers");
}

char *cgroup_root_of_perf(const struct sys_roots *roots)
{
	/* mounted alone, or with controllers that distributions mount with it */
	static const char *const folders[] = {"/perf_event", "/net_cls,net_prio,perf_event"};
	char *root = find_root(roots, folders, ARRAY_SIZE(folders), "cgroup.procs");

	return root ? root : cgroup_root(roots);
}

void cgroup_walk(const char *root, bool (*fn)(void *ctx, uint64_t id, const char *path), void *ctx)
{
	_cleanup_free_ char *top = strdup(root);
	FTS *tree;

	if (!top)
		return;
	for (size_t n = strlen(top); n > 1 && top[n - 1] == '/'; n--)
		top[n - 1] = 0;
	tree = fts_open((char *[]){top, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	for (FTSENT *e; tree && (e = fts_read(tree));) {
		if (e->fts_info != FTS_D)
			continue;
		const char *path = e->fts_path + strlen(top);
		if (!fn(ctx, e->fts_statp->st_ino, *path ? path : "/"))
			break;
	}
	if (tree)
		fts_close(tree);
}

/* NULL: no memory. */
static const char *keep(struct cgroup_paths *paths, uint64_t id, const char *path)
{
	char *copy = arena_strdup(&paths->arena, path);

	return copy && u64map_put(&paths->by_id, id, copy) ? copy : NULL;
}

static bool keep_new(void *ctx, uint64_t id, const char *path)
{
	struct cgroup_paths *paths = ctx;

	return u64map_get(&paths->by_id, id) || keep(paths, id, path);
}

const char *cgroup_paths_get(struct cgroup_paths *paths, const struct sys_roots *roots, uint64_t id)
{
	const char *known = u64map_get(&paths->by_id, id);

	if (known)
		return known;
	_cleanup_free_ char *root = cgroup_root(roots);
	if (root)
		cgroup_walk(root, keep_new, paths);
	known = u64map_get(&paths->by_id, id);
	/* what is not there is not looked for again */
	return known ? known : keep(paths, id, "");
}
