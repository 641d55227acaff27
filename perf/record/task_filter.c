// SPDX-License-Identifier: BSD-2-Clause
/*
 * -p, -t and -u of more threads than there can be descriptors. An event of a thread is one
 * descriptor for each CPU: 10,000 threads on 64 CPUs are 640,000 for each event. Where the limit of
 * open files does not allow them, events are opened for all tasks of each CPU, and the samples of
 * others are left out:
 *
 *  - of counters by a program of type perf_event in the kernel, before they are in a ring;
 *  - of tracepoints, probes, and counters that have a program of the user already by drain.c. A
 *    program at a tracepoint would filter the recordings of others, too.
 *
 * Who is recorded is in the map of wanted.c. The program that adds children is attached before the
 * first task is put into it, so that none is missed; new threads of a process need nothing.
 *
 * What differs: a counter with a period or frequency counts what all tasks do, so a sample of the
 * tasks stands for as many events as before, but comes at another one. Records of mappings and
 * tasks are those of the whole system. BPF is necessary, and the right to look at all tasks:
 * without them the limit is an error, before anything has begun.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/output/output.h"

static struct error *open_object(struct recording *rec, struct record_object *object)
{
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;
	struct output_opts opts = {
		.name = "record_tasks",
		.self = (uint32_t)rec->self,
		/* without new threads and children it is of those that there are */
		.filter = rec->opts.no_inherit ? OUTPUT_THREADS : wanted_filter(rec),
	};

	object->is_output = true;
	object->filter = opts.filter;
	object->path = strdup("the filter of tasks");
	if (!object->path)
		return error_nomem();
	TRY(task_layout_find(rec, &opts));
	if (opts.follows && !opts.task_pid_offset)
		return error_new(ENOTSUP, "this kernel has no BTF");
	TRY(output_task_filter(&opts, &image));
	const size_t size = image.len;
	object->file.image = strbuf_steal(&image);
	if (!object->file.image)
		return error_nomem();
	TRY(object_open_mem_of(object->file.image, size, object->path, NULL, NULL,
			       &object->file.obj));
	TRY(object_load(object->file.obj));
	object->is_loaded = true;
	return NULL;
}

static struct error *begin(struct recording *rec, struct record_object *object)
{
	struct bpf_program *follower;

	TRY(open_object(rec, object));
	follower = bpf_object__find_program_by_name(object->file.obj, "follow");
	if (follower) {
		TRY(bpf_file_attach(&object->file, follower, NULL));
		bpf_program__set_autoattach(follower, false);
	}
	return wanted_set(rec, object);
}

struct error *task_filter_begin(struct recording *rec, size_t *index)
{
	struct record_object *object = vec_push(&rec->objects);

	if (!object)
		return error_nomem();
	struct error *err = begin(rec, object);
	if (err) {
		object_deinit(object);
		rec->objects.n--;
		return err;
	}
	*index = rec->objects.n - 1;
	return NULL;
}

static struct error *filter_in_kernel(struct recording *rec, const struct record_object *object)
{
	const struct bpf_program *prog =
		bpf_object__find_program_by_name(object->file.obj, "record_tasks");
	struct event *event;

	vec_for_each (event, &rec->events) {
		if (!event_is_sampled_counter(event) || event->pending.n || event->progs.n)
			continue;
		int *fd = vec_push(&event->progs);

		if (!fd)
			return error_nomem();
		*fd = bpf_program__fd(prog);
		event->selects_tasks = true;
	}
	return NULL;
}

struct error *task_filter_choose(struct recording *rec)
{
	struct record_target *target = &rec->target;
	_cleanup_error_ struct error *limit = events_want_fds(rec);

	if (!limit || limit->code != EMFILE || target->system_wide || target->per_thread ||
	    target->tids.n < 2)
		return steal_ptr(limit);
	size_t index = 0;
	struct error *err = task_filter_begin(rec, &index);
	if (err) {
		log_info(rec->log, "cannot record all CPUs and keep the samples of these tasks: %s",
			 err->msg);
		error_free(err);
		return steal_ptr(limit);
	}
	log_warn(rec->log, "%s: recording all CPUs instead, with the samples of these tasks only",
		 limit->msg);
	const struct record_object *object = &rec->objects.v[index];
	TRY(filter_in_kernel(rec, object));
	target->system_wide = target->is_filtered = true;
	rec->wanted = object->wanted;
	rec->wanted_threads = object->filter == OUTPUT_THREADS;
	return NULL;
}
