// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whom programs of ours record: tasks or cgroups in the map "wanted" of an object that probe/output
 * made. Their events are everyone's: the program leaves out what is not in the map. A second
 * program adds the children of tasks that are in it, before they run.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>

#include "lib/sys/proc.h"
#include "probe/output/output.h"

enum output_filter wanted_filter(const struct recording *rec)
{
	const struct record_opts *o = &rec->opts;

	if (o->tids)
		return OUTPUT_THREADS;
	if (cgroup_choice_any(&o->cgroups))
		return OUTPUT_CGROUPS;
	if (o->pids || o->users || (o->workload && !o->all_cpus && !o->cpus))
		return OUTPUT_PROCESSES;
	return OUTPUT_ALL;
}

bool wanted_follows(const struct recording *rec, enum output_filter filter)
{
	return (filter == OUTPUT_PROCESSES || filter == OUTPUT_THREADS) && !rec->opts.no_inherit;
}

int wanted_fd(const struct record_object *object)
{
	return bpf_map__fd(bpf_object__find_map_by_name(object->file.obj, "wanted"));
}

/* id: of the size of the map's keys. */
static struct error *want(const struct record_object *object, const void *id)
{
	const uint32_t yes = 1;

	if (bpf_map_update_elem(wanted_fd(object), id, &yes, BPF_ANY))
		return error_at(error_errno(errno, "cannot store a task or cgroup in the map"),
				"%s", object->path);
	return NULL;
}

static struct error *want_cgroups(const struct recording *rec, const struct record_object *object)
{
	const uint64_t *id;

	vec_for_each (id, &rec->target.cgroup_ids)
		TRY(want(object, id));
	return NULL;
}

struct error *wanted_add_cgroup(struct recording *rec, uint64_t id)
{
	const struct record_object *object;

	vec_for_each (object, &rec->objects)
		if (object->is_output)
			TRY(want(object, &id));
	return NULL;
}

struct error *wanted_set(struct recording *rec, struct record_object *object)
{
	if (object->filter == OUTPUT_ALL)
		return NULL;
	if (object->filter == OUTPUT_CGROUPS)
		return want_cgroups(rec, object);
	for (size_t i = 0; i < rec->target.tids.n; i++) {
		struct sys_proc_status status = {.tgid = rec->target.tids.v[i]};
		const pid_t tid = rec->target.tids.v[i];

		/* One that has ended meanwhile leaves nothing to record. */
		if (object->filter == OUTPUT_PROCESSES)
			error_free(sys_proc_status(rec->roots, 0, tid, &status));
		const uint32_t id =
			(uint32_t)(object->filter == OUTPUT_THREADS ? tid : status.tgid);
		TRY(want(object, &id));
	}
	return NULL;
}

/* Not that one, or all that was of it: what nobody has waited for yet does nothing more. */
static bool has_ended(const struct recording *rec, enum output_filter filter, uint32_t id)
{
	_cleanup_pids_ struct sys_pids tids = {0};
	struct sys_proc_status status = {0};
	struct error *err = sys_proc_status(rec->roots, 0, (pid_t)id, &status);

	if (err) {
		const bool is_gone = err->code == ESRCH || err->code == ENOENT;

		error_free(err);
		return is_gone;
	}
	if (status.state != 'Z' && status.state != 'X')
		return false;
	/* A process whose first thread has ended may have others. */
	err = status.tgid == (pid_t)id ? sys_proc_tids(rec->roots, (pid_t)id, &tids) : NULL;
	error_free(err);
	return filter == OUTPUT_THREADS || tids.n <= 1;
}

/* Whether all in the map have ended: who was asked for, and the children that followed. */
static bool all_ended(const struct recording *rec, struct record_object *object)
{
	const int fd = wanted_fd(object);
	uint32_t id, *before = NULL;

	/* One is asked again and again, until it ends: most rounds are over with it. */
	if (object->alive && !has_ended(rec, object->filter, object->alive))
		return false;
	object->alive = 0;
	while (!bpf_map_get_next_key(fd, before, &id)) {
		if (!has_ended(rec, object->filter, id)) {
			object->alive = id;
			return false;
		}
		before = &id;
	}
	return true;
}

bool wanted_ended(struct recording *rec)
{
	struct record_object *object;
	bool any = false;

	if (loop_workload(rec->loop) || wanted_filter(rec) == OUTPUT_ALL ||
	    wanted_filter(rec) == OUTPUT_CGROUPS)
		return false;
	vec_for_each (object, &rec->objects) {
		if (!object->is_output)
			continue;
		if (!all_ended(rec, object))
			return false;
		any = true;
	}
	return any;
}
