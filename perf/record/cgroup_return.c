// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cgroups that are made while we record and that --container or --pod names: a container that is
 * started again has the same id and another cgroup. The kernel writes a record for each new one;
 * then the tree is read again, and the events are opened for those that are new.
 */
#include "perf/record/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/sys/cgroup_names.h"
#include "lib/sys/cgroup_paths.h"

struct cgroup_search {
	struct recording *rec;
	const char *root;
	char *above; /* the last one that is named; what is below it is recorded with it */
	struct error *err;
};

static struct error *record_cgroup(struct recording *rec, uint64_t id, const char *folder)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t *known = vec_push(&rec->target.cgroup_ids);

	if (!known)
		return error_nomem();
	*known = id;
	if (fd < 0)
		return NULL; /* it has gone again */
	int *slot = vec_push(&rec->target.cgroups);
	if (!slot)
		return error_nomem();
	*slot = steal_fd(&fd);
	TRY(wanted_add_cgroup(rec, id));
	log_info(rec->log, "recording the new cgroup %s", folder);
	return events_open_cgroup(rec, *slot);
}

static bool is_known(const struct recording *rec, uint64_t id)
{
	const uint64_t *known;

	vec_for_each (known, &rec->target.cgroup_ids)
		if (*known == id)
			return true;
	return false;
}

static bool see_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct cgroup_search *search = ctx;
	struct recording *rec = search->rec;

	if (search->above && cgroup_is_below(path, search->above))
		return true;
	if (!is_known(rec, id)) {
		if (!cgroup_choice_has(&rec->opts.cgroups, path))
			return true;
		_cleanup_free_ char *folder = text_format("%s%s", search->root, path);
		search->err = folder ? record_cgroup(rec, id, folder) : error_nomem();
	}
	free(search->above);
	search->above = strdup(path);
	if (!search->above && !search->err)
		search->err = error_nomem();
	return !search->err;
}

struct error *cgroups_find_new(struct recording *rec)
{
	_cleanup_free_ char *root = cgroup_root_of_perf(rec->roots);
	struct cgroup_search search = {.rec = rec, .root = root};

	if (!rec->cgroups_changed)
		return NULL;
	rec->cgroups_changed = false;
	if (root)
		cgroup_walk(root, see_cgroup, &search);
	free(search.above);
	return search.err;
}
