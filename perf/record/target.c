// SPDX-License-Identifier: BSD-2-Clause
/* Where events are opened: the CPUs, and the threads unless it is all of the system. */
#include "perf/record/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sys/proc.h"

void target_deinit(struct target *target)
{
	sys_cpus_deinit(&target->cpus);
	vec_deinit(&target->tids);
}

static struct error *tid_add(struct target *target, pid_t tid)
{
	pid_t *it;

	vec_for_each (it, &target->tids)
		if (*it == tid)
			return NULL;
	it = vec_push(&target->tids);
	if (!it)
		return error_nomem();
	*it = tid;
	return NULL;
}

/* A thread by its id, or all threads of a process. */
static struct error *task_add(struct recording *rec, pid_t id, bool process)
{
	_cleanup_pids_ struct sys_pids tids = {0};
	struct sys_proc_status status;

	struct error *err = process ? sys_proc_tids(rec->roots, id, &tids)
				    : sys_proc_status(rec->roots, 0, id, &status);
	if (err) {
		int code = err->code;

		error_free(err);
		if (code != ESRCH && code != ENOENT)
			return error_errno(code, "%s %d", process ? "process" : "thread", id);
		return error_hint(error_new(ESRCH, "%s %d does not exist",
					    process ? "process" : "thread", id),
				  "it may have ended; 'ps -eLf' shows processes and threads");
	}
	if (!process)
		return tid_add(&rec->target, id);
	for (size_t i = 0; i < tids.n; i++)
		TRY(tid_add(&rec->target, tids.v[i]));
	return NULL;
}

static struct error *tasks_parse(struct recording *rec, const char *list, bool process)
{
	const char *p = list;

	for (;;) {
		char *end;

		errno = 0;
		long id = strtol(p, &end, 10);
		if (end == p || errno || id <= 0 || id > INT32_MAX || (*end && *end != ','))
			return error_new(EINVAL, "'%s' is not a list of %s ids", list,
					 process ? "process" : "thread");
		TRY(task_add(rec, id, process));
		if (!*end)
			return NULL;
		p = end + 1;
	}
}

/* Of the CPUs asked for, those that are there. */
static struct error *cpus_init(struct recording *rec)
{
	_cleanup_cpus_ struct sys_cpus wanted = {0};

	TRY(sys_cpus_online(rec->roots, &rec->target.cpus));
	if (!rec->opts.cpus)
		return NULL;
	TRY(sys_cpus_parse(rec->opts.cpus, &wanted));
	if (!wanted.n)
		return error_hint(error_new(EINVAL, "-C '%s' is not a list of CPUs",
					    rec->opts.cpus),
				  "write numbers and ranges, as in 0-3,8");
	for (size_t i = 0; i < wanted.n; i++)
		if (!sys_cpus_has(&rec->target.cpus, wanted.v[i]))
			return error_new(ENODEV, "CPU %u of -C %s is not online", wanted.v[i],
					 rec->opts.cpus);
	sys_cpus_deinit(&rec->target.cpus);
	rec->target.cpus = wanted;
	wanted = (struct sys_cpus){0};
	return NULL;
}

struct error *target_init(struct recording *rec)
{
	const struct record_opts *o = &rec->opts;
	struct target *target = &rec->target;

	TRY(cpus_init(rec));
	if (o->all_cpus && (o->pids || o->tids))
		log_warn(rec->log, "-p and -t override -a: recording only those tasks");
	if (o->pids)
		TRY(tasks_parse(rec, o->pids, true));
	if (o->tids)
		TRY(tasks_parse(rec, o->tids, false));
	if (target->tids.n)
		return NULL;
	if (o->all_cpus || o->cpus || !o->workload) {
		target->system_wide = true;
		return NULL;
	}
	target->has_workload = true;
	return tid_add(target, rec->workload.pid);
}
