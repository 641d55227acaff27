// SPDX-License-Identifier: BSD-2-Clause
/*
 * What was there before the events, in front of them: which event each id
 * belongs to, the kernel, and the processes of the target (perf/live/synth.h).
 *
 * Side-band records are on while this runs, so that what happens meanwhile is
 * in the file twice rather than not at all.
 */
#include "perf/record/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sys/proc.h"
#include "perf/live/synth.h"
#include "work/workload.h"

static const struct perf_event_attr *tracking_attr(struct recording *rec)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		if (event->attr.mmap2)
			return &event->attr;
	return &rec->events.v[0].attr;
}

static struct error *synth_ids(struct recording *rec, struct synth *s)
{
	VEC(struct record_id_index_entry) entries = {0};
	struct event *event;
	struct event_fd *efd;

	vec_for_each (event, &rec->events) {
		vec_for_each (efd, &event->fds) {
			struct record_id_index_entry *e = vec_push(&entries);

			if (!e) {
				vec_deinit(&entries);
				return error_nomem();
			}
			*e = (struct record_id_index_entry){
				.id = efd->id,
				.cpu = efd->cpu,
				.tid = efd->tid < 0 ? UINT64_MAX : (uint64_t)efd->tid,
			};
			const struct cpu_ring *ring = ring_of(rec, event, efd);
			e->idx = ring ? (size_t)(ring - rec->rings.v) : 0;
		}
	}
	record_encode_id_index(&s->out, entries.v, entries.n);
	vec_deinit(&entries);
	return NULL;
}

/* Of a process: what of it is there, with what it maps. */
enum {
	MAIN_THREAD = 1,
	ALL_THREADS,
};

/* done: the processes of which something is there. */
static struct error *synth_task(struct recording *rec, struct synth *s, pid_t tid,
				struct u64map *done)
{
	struct sys_proc_status status;
	struct error *err = sys_proc_status(rec->roots, 0, tid, &status);

	if (err) {
		error_free(err);
		return NULL;
	}
	const size_t before = (size_t)u64map_get(done, (uint64_t)status.tgid);
	if (before == ALL_THREADS)
		return NULL;
	const bool is_main = status.tgid == tid;
	if (!u64map_put(done, (uint64_t)status.tgid,
			(void *)(size_t)(is_main ? ALL_THREADS : MAIN_THREAD)))
		return error_nomem();
	if (is_main)
		return synth_process(s, tid);
	if (!before)
		synth_thread(s, status.tgid, status.tgid);
	synth_thread(s, status.tgid, tid);
	return synth_flush(s, false);
}

static struct error *synth_target(struct recording *rec, struct synth *s, bool has_begun)
{
	const struct record_target *target = &rec->target;

	if (target->has_workload && !has_begun) { /* its exec tells the rest */
		const pid_t pid = target->tids.v[0];
		const struct record_comm comm = {.pid = pid, .tid = pid, .comm = WORKLOAD_COMM};

		record_encode_comm(&s->out, s->attr, 0, &comm, NULL);
		return NULL;
	}
	/* whom a filter of tasks has followed since is not known */
	if (target->system_wide && (!target->is_filtered || has_begun))
		return synth_processes(s);
	struct u64map done = {0};
	struct error *err = NULL;
	for (size_t i = 0; !err && i < target->tids.n; i++)
		err = synth_task(rec, s, target->tids.v[i], &done);
	u64map_deinit(&done);
	return err;
}

/* What the target has started; one that has ended is forgotten. */
static struct error *synth_family(struct recording *rec, struct synth *s)
{
	_cleanup_free_ pid_t *pids = calloc(rec->switching.family.n + 1, sizeof(*pids));
	struct u64map_slot *slot;
	size_t pos = 0, n = 0;

	if (!pids)
		return error_nomem();
	/* the workload's threads are forks of its own pid */
	const pid_t done = rec->target.has_workload ? rec->target.tids.v[0] : 0;
	while ((slot = u64map_next(&rec->switching.family, &pos)))
		if ((pid_t)slot->key != done)
			pids[n++] = (pid_t)slot->key;
	for (size_t i = 0; i < n; i++) {
		struct sys_proc_status status;
		struct error *err = sys_proc_status(rec->roots, 0, pids[i], &status);

		if (err)
			u64map_remove(&rec->switching.family, (uint64_t)pids[i]);
		else
			TRY(synth_process(s, pids[i]));
		error_free(err);
	}
	return NULL;
}

struct writing {
	struct recording *rec;
	struct data_writer *to;
	struct u64map ids;
};

static size_t build_id(void *ctx, const struct sys_map *map, const char *path, uint8_t id[20])
{
	return mapped_id_find(&((struct writing *)ctx)->ids, map, path, id);
}

static struct error *write_records(void *ctx, const void *records, size_t size)
{
	const struct writing *w = ctx;
	bool any;

	mapped_files_see_records(w->rec, records, size);
	TRY(data_writer_records(w->to, records, size));
	return w->to == w->rec->writer ? NULL : rings_drain(w->rec, &any);
}

/*
 * Whether samples may have addresses of code that the kernel has made for BPF programs. Those of
 * tracepoints and of bpf_perf_event_output() are of the kernel's own code, but for their call
 * chains.
 */
static bool needs_images(const struct recording *rec)
{
	const struct event *event;

	vec_for_each (event, &rec->events)
		if (event->kind != EVENT_TRACKING && !event->attr.exclude_kernel &&
		    (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN ||
		     (event->attr.type != PERF_TYPE_TRACEPOINT && event->kind != EVENT_OUTPUT)))
			return true;
	return false;
}

static struct error *synthesize_to(struct recording *rec, struct data_writer *to, bool has_begun)
{
	struct writing writing = {.rec = rec, .to = to};
	struct synth s = {
		.log = rec->log,
		.roots = rec->roots,
		.attr = tracking_attr(rec),
		.write = write_records,
		.build_id = tracking_attr(rec)->build_id ? build_id : NULL,
		.ctx = &writing,
		.data_maps = rec->data_maps,
		.namespaces = rec->opts.namespaces,
		.no_programs = rec->opts.no_bpf_events,
		.images = needs_images(rec),
		.no_tasks = rec->opts.no_existing_tasks,
		.no_maps = rec->opts.no_existing_maps,
	};
	struct error *err = rec->with_id ? synth_ids(rec, &s) : NULL;

	if (!err) {
		synth_kernel(&s);
		if (rec->opts.all_cgroups && !rec->opts.no_existing_cgroups)
			synth_cgroups(&s);
		err = synth_target(rec, &s, has_begun);
	}
	if (!err && has_begun)
		err = synth_family(rec, &s);
	if (!err) {
		record_encode_finished_init(&s.out);
		err = synth_flush(&s, true);
	}
	strbuf_deinit(&s.out);
	mapped_ids_deinit(&writing.ids);
	return err;
}

struct error *synthesize(struct recording *rec)
{
	if (rec->opts.tail_synthesize)
		return NULL;
	return synthesize_to(rec, rec->writer, false);
}

struct error *synthesize_again(struct recording *rec, struct data_writer *to)
{
	return synthesize_to(rec, to, true);
}

struct error *synthesize_target(struct recording *rec, bool kernel,
				struct error *(*write)(void *ctx, const void *records, size_t size),
				void *ctx)
{
	struct synth s = {
		.log = rec->log,
		.roots = rec->roots,
		.attr = tracking_attr(rec),
		.write = write,
		.ctx = ctx,
		.data_maps = rec->data_maps,
		.images = needs_images(rec),
	};

	if (kernel)
		synth_kernel(&s);
	struct error *err = synth_target(rec, &s, false);
	if (!err)
		err = synth_flush(&s, true);
	strbuf_deinit(&s.out);
	return err;
}

struct error *record_synth_parse(const char *text, struct record_opts *opts)
{
	bool tasks = false, maps = false, cgroups = false;
	_cleanup_free_ char *copy = strdup(text);
	char *save = NULL;

	if (!copy)
		return error_nomem();
	for (const char *type = strtok_r(copy, ",", &save); type;
	     type = strtok_r(NULL, ",", &save)) {
		const bool all = !strcmp(type, "all");

		if (!strcmp(type, "no") || !strcmp(type, "none")) {
			tasks = maps = cgroups = false;
			break;
		}
		if (!all && strcmp(type, "task") && strcmp(type, "mmap") && strcmp(type, "cgroup"))
			return error_hint(error_usage("--synth: unknown type '%s'", type),
					  "use task, mmap, cgroup, all or no");
		maps |= all || !strcmp(type, "mmap");
		tasks |= maps || !strcmp(type, "task");
		cgroups |= all || !strcmp(type, "cgroup");
	}
	opts->no_existing_tasks = !tasks;
	opts->no_existing_maps = !maps;
	opts->no_existing_cgroups = !cgroups;
	return NULL;
}
