// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whom programs of ours record: tasks or cgroups in the map "wanted" of an object that probe/output
 * made. Their events are everyone's: the program leaves out what is not in the map. A second
 * program adds the children of tasks that are in it, before they run, and removes a task when a new
 * one has its id.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>

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

static struct bpf_map *map_of(const struct record_object *object)
{
	return bpf_object__find_map_by_name(object->file.obj, "wanted");
}

static int map_fd(const struct record_object *object)
{
	return bpf_map__fd(map_of(object));
}

void wanted_unmap(struct record_object *object)
{
	if (object->wanted)
		munmap(object->wanted, OUTPUT_WANTED_SIZE);
	object->wanted = NULL;
}

static struct error *map_tasks(struct record_object *object)
{
	void *p = mmap(NULL, OUTPUT_WANTED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd(object),
		       0);

	if (p == MAP_FAILED)
		return error_at(error_errno(errno, "cannot map the map of tasks"), "%s",
				object->path);
	object->wanted = p;
	return NULL;
}

/* In a hash; id: of the size of its keys. */
static struct error *want(const struct record_object *object, const void *id)
{
	const uint32_t yes = 1;

	if (bpf_map_update_elem(map_fd(object), id, &yes, BPF_ANY))
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
	/* the program of off_cpu.c has a hash */
	if (bpf_map__type(map_of(object)) == BPF_MAP_TYPE_ARRAY)
		TRY(map_tasks(object));
	for (size_t i = 0; i < rec->target.tids.n; i++) {
		struct sys_proc_status status = {.tgid = rec->target.tids.v[i]};
		const pid_t tid = rec->target.tids.v[i];

		/* One that has ended meanwhile leaves nothing to record. */
		if (object->filter == OUTPUT_PROCESSES)
			error_free(sys_proc_status(rec->roots, 0, tid, &status));
		const uint32_t id =
			(uint32_t)(object->filter == OUTPUT_THREADS ? tid : status.tgid);
		if (!object->wanted)
			TRY(want(object, &id));
		else if (id < OUTPUT_WANTED_SIZE)
			__atomic_store_n(&object->wanted[id], 1, __ATOMIC_RELAXED);
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

static bool all_in_hash_ended(const struct recording *rec, struct record_object *object)
{
	uint32_t id, *before = NULL;

	/* One is asked again and again, until it ends: most rounds are over with it. */
	if (object->alive && !has_ended(rec, object->filter, object->alive))
		return false;
	object->alive = 0;
	while (!bpf_map_get_next_key(map_fd(object), before, &id)) {
		if (!has_ended(rec, object->filter, id)) {
			object->alive = id;
			return false;
		}
		before = &id;
	}
	return true;
}

/*
 * Whether all in the map have ended: who was asked for, and the children that followed. Who was
 * there last is asked first, until it ends; the others that live mostly have later ids.
 */
static bool all_ended(const struct recording *rec, struct record_object *object)
{
	if (!object->wanted)
		return all_in_hash_ended(rec, object);
	for (uint32_t i = 0; i < OUTPUT_WANTED_SIZE; i++) {
		const uint32_t id = (object->alive + i) % OUTPUT_WANTED_SIZE;

		if (__atomic_load_n(&object->wanted[id], __ATOMIC_RELAXED) &&
		    !has_ended(rec, object->filter, id)) {
			object->alive = id;
			return false;
		}
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
