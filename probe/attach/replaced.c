// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process goes on with the file that it has mapped when a package is updated
 * or a program is built again: the file at that path is another one then, and
 * probes in it are not those of the process.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/sys/proc.h"
#include "probe/attach/internal.h"

/* Whether the process has mapped what was at the path, and not what is. */
static bool has_old_file(char *maps, const char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(path);
	bool old = false;
	struct sys_map map;
	char *pos = maps;

	while (sys_maps_next(&pos, &map)) {
		if (strncmp(map.path, path, len) != 0)
			continue;
		if (!map.path[len])
			return false;
		old |= !strcmp(map.path + len, deleted);
	}
	return old;
}

static void tell_replaced(const char *file, const struct sys_roots *roots, const pid_t *pids,
			  size_t n, const struct log *log)
{
	_cleanup_free_ char *path = realpath(file, NULL);
	_cleanup_strbuf_ struct strbuf who = STRBUF_INIT;
	size_t n_old = 0;

	for (size_t i = 0; path && i < n; i++) {
		_cleanup_free_ char *maps = NULL;
		/* One that has ended has no calls. */
		_cleanup_error_ struct error *err =
			sys_proc_read(roots, pids[i], "maps", &maps, NULL);

		if (!err && has_old_file(maps, path) && !n_old++)
			strbuf_addf(&who, "process %d", (int)pids[i]);
	}
	if (n_old > 1)
		strbuf_addf(&who, " and %zu more", n_old - 1);
	if (n_old)
		log_warn(log,
			 "%s: %s still runs the file that was there before: its calls are not "
			 "probed "
			 "until it is restarted",
			 file, strbuf_str(&who));
}

void probe_set_tell_replaced(const struct probe_set *set, const struct sys_roots *roots,
			     const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < set->progs.n; i++)
		if (set->progs.v[i]->points.path)
			tell_replaced(set->progs.v[i]->points.path, roots, pids, n, set->opts.log);
}
