// SPDX-License-Identifier: BSD-2-Clause
/* Where events are opened: the CPUs, and the threads unless it is all of the system. */
#include "perf/record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/cgroup_paths.h"

void target_deinit(struct record_target *target)
{
	sys_cpus_deinit(&target->cpus);
	tasks_deinit(&target->tasks);
	sys_pids_deinit(&target->tids);
	int *fd;
	vec_for_each (fd, &target->cgroups)
		close(*fd);
	vec_deinit(&target->cgroups);
	vec_deinit(&target->cgroup_ids);
}

/* Of the CPUs asked for, those that are there. */
static struct error *cpus_init(struct recording *rec)
{
	_cleanup_cpus_ struct sys_cpus wanted = {0};

	if (!rec->opts.cpus)
		return sys_cpus_online(rec->roots, &rec->target.cpus);
	TRY(sys_cpus_parse(rec->opts.cpus, &wanted));
	if (!wanted.n)
		return error_hint(error_new(EINVAL, "-C '%s' is not a list of CPUs",
					    rec->opts.cpus),
				  "write numbers and ranges, as in 0-3,8");
	TRY(sys_cpus_check(rec->roots, &wanted, rec->opts.cpus));
	rec->target.cpus = wanted;
	wanted = (struct sys_cpus){0};
	return NULL;
}

static struct error *open_chosen(struct recording *rec, const struct chosen_cgroups *chosen)
{
	for (size_t i = 0; i < chosen->n; i++) {
		int *fd = vec_push(&rec->target.cgroups);

		if (!fd)
			return error_nomem();
		*fd = open(chosen->v[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*fd < 0)
			return error_errno(errno, "cannot open the cgroup %s", chosen->v[i].path);
	}
	return NULL;
}

static struct error *event_cgroups_init(struct recording *rec, struct event *event,
					const char *root)
{
	__attribute__((cleanup(chosen_cgroups_deinit))) struct chosen_cgroups chosen = {0};
	const struct cgroup_choice choice = {.cgroups = event->cgroups};

	TRY(cgroups_choose(&choice, root, &chosen));
	event->first_cgroup = rec->target.cgroups.n;
	event->n_cgroups = chosen.n;
	return open_chosen(rec, &chosen);
}

static struct error *cgroups_init(struct recording *rec)
{
	__attribute__((cleanup(chosen_cgroups_deinit))) struct chosen_cgroups chosen = {0};
	_cleanup_free_ char *root = cgroup_root_of_perf(rec->roots);
	struct event *event;

	if (rec->target.cgroups_by_event) {
		vec_for_each (event, &rec->events)
			if (event->cgroups)
				TRY(event_cgroups_init(rec, event, root));
		return NULL;
	}
	vec_for_each (event, &rec->events)
		if (event->kind == EVENT_OUTPUT && !event->asks_filter)
			return error_hint(error_usage("'%s' cannot be recorded by cgroup: it is "
						      "the output of a BPF program that does not "
						      "call perf_bpf_wanted()",
						      event->name),
					  "record all with --all-cgroups, and select with report "
					  "--cgroup, --container or --pod");
	TRY(cgroups_choose(&rec->opts.cgroups, root, &chosen));
	for (size_t i = 0; i < chosen.n; i++) {
		uint64_t *id = vec_push(&rec->target.cgroup_ids);

		if (!id)
			return error_nomem();
		*id = chosen.v[i].id;
	}
	return open_chosen(rec, &chosen);
}

struct error *target_init(struct recording *rec)
{
	const struct record_opts *o = &rec->opts;
	struct record_target *target = &rec->target;
	struct tasks *tasks = &target->tasks;

	const bool of_cgroups = target->cgroups_by_event || cgroup_choice_any(&o->cgroups);
	const bool of_cpus = o->all_cpus || o->cpus || of_cgroups;
	const bool per_thread = o->per_thread && !of_cpus;

	TRY(cpus_init(rec));
	if (o->per_thread && of_cpus)
		log_warn(rec->log, "-a, -C and --cgroup override --per-thread");
	if (of_cgroups) {
		if (o->pids || o->tids || o->users)
			return error_usage("--cgroup, --container and --pod cannot be used with "
					   "-p, -t and -u");
		target->system_wide = true;
		return cgroups_init(rec);
	}
	if (o->track) {
		pid_t *tid = vec_push(&target->tids);

		if (!tid)
			return error_nomem();
		*tid = o->track;
		target->system_wide = true;
		return NULL;
	}
	if (o->all_cpus && (o->pids || o->tids || o->users))
		log_warn(rec->log, "-p, -t and -u override -a: recording only those tasks");
	TRY(tasks_add(tasks, rec->roots, o->pids, TASK_PROCESS));
	TRY(tasks_add(tasks, rec->roots, o->tids, TASK_THREAD));
	TRY(tasks_add_users(tasks, rec->roots, o->users));
	TRY(tasks_threads(tasks, rec->roots, &target->tids));
	if (o->users && !tasks->list.n)
		return error_new(ESRCH, "-u %s: there are no processes of this user", o->users);
	if (tasks->list.n && !target->tids.n)
		return error_new(ESRCH, "what -p, -t and -u name has ended");
	if (target->tids.n) {
		target->per_thread = per_thread;
		return NULL;
	}
	if (o->all_cpus || o->cpus || !o->workload) {
		target->system_wide = true;
		return NULL;
	}
	target->per_thread = per_thread;
	target->has_workload = true;
	pid_t *tid = vec_push(&target->tids);
	if (!tid)
		return error_nomem();
	*tid = loop_workload(rec->loop);
	return NULL;
}
