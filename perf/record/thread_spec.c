// SPDX-License-Identifier: BSD-2-Clause
/*
 * --threads SPEC: as many threads as there are CPUs, cores, packages or NUMA nodes, each on its
 * own CPUs; or what "RINGS/RUNS:RINGS/RUNS" says, lists of CPUs that do not overlap.
 *
 * CPUs that are not recorded are left out. A ring that no thread reads is read by the main one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/record/internal.h"

static struct error *bad_spec(const struct recording *rec, const char *what)
{
	return error_hint(error_usage("--threads=%s: %s", rec->opts.threads, what),
			  "use cpu, core, package, numa or CPUS/CPUS:..., such as 0-3/0:4-7/4");
}

void thread_specs_deinit(struct thread_specs *specs)
{
	struct thread_spec *spec;

	vec_for_each (spec, &specs->v) {
		sys_cpus_deinit(&spec->rings);
		sys_cpus_deinit(&spec->runs);
	}
	vec_deinit(&specs->v);
}

static bool is_read(const struct thread_specs *specs, unsigned cpu)
{
	const struct thread_spec *spec;

	vec_for_each (spec, &specs->v)
		if (sys_cpus_has(&spec->rings, cpu))
			return true;
	return false;
}

/* Those of list that are among the CPUs. */
static struct error *only(const struct sys_cpus *list, const struct sys_cpus *cpus,
			  struct sys_cpus *out)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!sys_cpus_has(cpus, list->v[i]))
			continue;
		unsigned *cpu = vec_push(out);
		if (!cpu)
			return error_nomem();
		*cpu = list->v[i];
	}
	return NULL;
}

static struct error *add(const struct recording *rec, const char *rings, const char *runs,
			 struct thread_specs *out)
{
	_cleanup_cpus_ struct sys_cpus r = {0}, a = {0}, online = {0};
	struct thread_spec *spec = vec_push(&out->v);

	if (!spec)
		return error_nomem();
	TRY(sys_cpus_online(rec->roots, &online));
	TRY(sys_cpus_parse(rings, &r));
	TRY(sys_cpus_parse(runs, &a));
	TRY(only(&r, &rec->target.cpus, &spec->rings));
	return only(&a, &online, &spec->runs);
}

static struct error *add_one(const struct recording *rec, unsigned cpu, const char *file,
			     struct thread_specs *out)
{
	const char *root = (rec->roots ? rec->roots : &sys_roots_default)->sysfs;
	_cleanup_free_ char *path = text_format("%s/devices/system/cpu/cpu%u/topology/%s",
						root ? root : "/sys", cpu, file);
	_cleanup_free_ char *list = NULL;

	if (!path)
		return error_nomem();
	TRY(sys_read_file(path, 1 << 16, &list, NULL));
	list[strcspn(list, "\n")] = 0;
	return add(rec, list, list, out);
}

static struct error *by_topology(const struct recording *rec, const char *file,
				 struct thread_specs *out)
{
	for (size_t i = 0; i < rec->target.cpus.n; i++)
		if (!is_read(out, rec->target.cpus.v[i]))
			TRY(add_one(rec, rec->target.cpus.v[i], file, out));
	return NULL;
}

static struct error *by_cpu(const struct recording *rec, struct thread_specs *out)
{
	for (size_t i = 0; i < rec->target.cpus.n; i++) {
		_cleanup_free_ char *cpu = text_format("%u", rec->target.cpus.v[i]);

		if (!cpu)
			return error_nomem();
		TRY(add(rec, cpu, cpu, out));
	}
	return NULL;
}

static struct error *by_node(const struct recording *rec, struct thread_specs *out)
{
	const char *root = (rec->roots ? rec->roots : &sys_roots_default)->sysfs;
	_cleanup_free_ char *online =
		text_format("%s/devices/system/node/online", root ? root : "/sys");
	_cleanup_free_ char *text = NULL;
	_cleanup_cpus_ struct sys_cpus nodes = {0};

	if (!online)
		return error_nomem();
	TRY(sys_read_file(online, 1 << 16, &text, NULL));
	text[strcspn(text, "\n")] = 0;
	TRY(sys_cpus_parse(text, &nodes));
	for (size_t i = 0; i < nodes.n; i++) {
		_cleanup_free_ char *path = text_format("%s/devices/system/node/node%u/cpulist",
							root ? root : "/sys", nodes.v[i]);
		_cleanup_free_ char *list = NULL;

		if (!path)
			return error_nomem();
		TRY(sys_read_file(path, 1 << 16, &list, NULL));
		list[strcspn(list, "\n")] = 0;
		if (*list) /* a node of memory alone */
			TRY(add(rec, list, list, out));
	}
	return NULL;
}

static bool overlap(const struct sys_cpus *a, const struct sys_cpus *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (sys_cpus_has(b, a->v[i]))
			return true;
	return false;
}

static struct error *by_user(const struct recording *rec, struct thread_specs *out)
{
	_cleanup_free_ char *text = strdup(rec->opts.threads);
	char *save = NULL;

	if (!text)
		return error_nomem();
	for (char *spec = strtok_r(text, ":", &save); spec; spec = strtok_r(NULL, ":", &save)) {
		char *runs = strchr(spec, '/');

		if (!runs)
			return bad_spec(rec, "invalid value");
		*runs++ = 0;
		struct error *err = add(rec, spec, runs, out);
		if (err && err->code != EINVAL)
			return err;
		if (err) {
			error_free(err);
			return bad_spec(rec, "invalid list of CPUs");
		}
		const struct thread_spec *last = vec_last(&out->v);
		if (!last->rings.n || !last->runs.n)
			return bad_spec(rec, "none of the CPUs is online and recorded");
		for (size_t i = 0; i + 1 < out->v.n; i++)
			if (overlap(&out->v.v[i].rings, &last->rings) ||
			    overlap(&out->v.v[i].runs, &last->runs))
				return bad_spec(rec, "the CPUs of two threads overlap");
	}
	return out->v.n ? NULL : bad_spec(rec, "invalid value");
}

struct error *thread_specs_find(const struct recording *rec, struct thread_specs *out)
{
	const char *spec = rec->opts.threads;

	if (!strcmp(spec, "cpu"))
		return by_cpu(rec, out);
	if (!strcmp(spec, "core"))
		return by_topology(rec, "thread_siblings_list", out);
	if (!strcmp(spec, "package"))
		return by_topology(rec, "core_siblings_list", out);
	return strcmp(spec, "numa") ? by_user(rec, out) : by_node(rec, out);
}
