// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cgroups by the ids that samples have. A record names a cgroup when it is made, and of those that
 * were there before, the recorder writes such records itself. An id that is not named yet may be
 * named later, so each has one object from the start. The first name counts, as in perf.
 */
#include "perf/session/internal.h"

#include "lib/sys/cgroup_names.h"

void cgroups_deinit(struct cgroups_state *cgroups)
{
	u64map_deinit(&cgroups->by_id);
	strmap_deinit(&cgroups->names);
}

static const char *name_intern(struct session *s, const char *name)
{
	const char *known = strmap_get(&s->cgroups.names, name);

	if (known)
		return known;
	char *copy = arena_strdup(&s->maps.arena, name);
	return copy && strmap_put(&s->cgroups.names, copy, copy) ? copy : NULL;
}

static struct session_cgroup *cgroup_get(struct session *s, uint64_t id)
{
	struct session_cgroup *cgroup = u64map_get(&s->cgroups.by_id, id);

	if (cgroup)
		return cgroup;
	cgroup = arena_alloc(&s->maps.arena, sizeof(*cgroup));
	if (!cgroup)
		return NULL;
	cgroup->id = id;
	cgroup->unit = cgroup->container = cgroup->pod = name_intern(s, "");
	if (!cgroup->unit)
		return NULL;
	return u64map_put(&s->cgroups.by_id, id, cgroup) ? cgroup : NULL;
}

const struct session_cgroup *session_cgroup(struct session *s, uint64_t id)
{
	return cgroup_get(s, id);
}

bool cgroups_add(struct session *s, const struct record_cgroup *record)
{
	struct session_cgroup *cgroup = cgroup_get(s, record->id);
	struct cgroup_names names;

	if (!cgroup || cgroup->path)
		return cgroup;
	cgroup_names_of(record->path, &names);
	const char *path = name_intern(s, record->path), *unit = name_intern(s, names.unit);
	const char *container = name_intern(s, names.container), *pod = name_intern(s, names.pod);
	if (!path || !unit || !container || !pod)
		return false;
	cgroup->path = path;
	cgroup->unit = unit;
	cgroup->container = container;
	cgroup->pod = pod;
	return true;
}
