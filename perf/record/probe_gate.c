// SPDX-License-Identifier: BSD-2-Clause
/*
 * The gate in front of programs that filter probes (sections uprobe, kprobe, usdt, and
 * definitions).
 *
 * The kernel cannot give the event of a probe to new threads and children: it would read the path
 * of the file from memory of the child. So these events are opened for all tasks of each CPU, and
 * the program exits early unless the task is in the map of wanted.c: the target, and its threads
 * and children, which the program at the creation of tasks adds.
 *
 * Each of these events is a probe of its own, and a hit on one CPU runs the programs of all of
 * them; only the sample is left to the event of that CPU (kernel/trace/trace_uprobe.c,
 * __uprobe_perf_func()). A program that counts would count a call once for each CPU. The attach
 * cookie says which CPU the event is of, and the gate leaves out the others.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>

#include "lib/sys/bpf_syscall.h"
#include "probe/output/output.h"

static bool is_probe(const struct event *event)
{
	return event->kind == EVENT_PROGRAM && event->probe.name && event->pending.n;
}

static bool has_probes(const struct recording *rec)
{
	const struct event *event;

	vec_for_each (event, &rec->events)
		if (is_probe(event))
			return true;
	return false;
}

/* *opened: the events of probes are to be those of all tasks, whose gate is in gate and opts. */
static struct error *select_tasks(struct recording *rec, struct output_gate *gate,
				  struct output_opts *opts, bool *opened)
{
	size_t index = 0;
	struct error *err = task_filter_begin(rec, &index);

	if (err) {
		log_info(rec->log, "cannot select the tasks of probes in the kernel: %s", err->msg);
		error_free(err);
		return NULL;
	}
	const struct record_object *object = &rec->objects.v[index];
	opts->filter = object->filter;
	TRY(task_layout_find(rec, opts));
	gate->opts = opts;
	gate->wanted_fd = bpf_map__fd(bpf_object__find_map_by_name(object->file.obj, "wanted"));
	*opened = true;
	return NULL;
}

struct error *probe_gates_set(struct recording *rec)
{
	const struct record_target *target = &rec->target;
	const bool on_cpus = !target->per_thread && target->cpus.n > 1;
	struct output_opts opts = {0};
	struct output_gate gate = {
		.by_cookie =
			on_cpus && sys_bpf_has(SYS_BPF_COOKIE) && sys_bpf_has(SYS_BPF_PERF_LINK),
	};
	bool for_all = false;
	struct event *event;
	struct bpf_program **prog;

	if (!has_probes(rec))
		return NULL;
	if (!target->system_wide && !target->per_thread)
		TRY(select_tasks(rec, &gate, &opts, &for_all));
	if (!gate.by_cookie && !gate.opts)
		return NULL;
	TRY(output_gate_build(&gate, &rec->gate, &rec->n_gate));
	rec->gate_has_cpu = gate.by_cookie;
	vec_for_each (event, &rec->events) {
		if (!is_probe(event))
			continue;
		event->is_gated = for_all;
		vec_for_each (prog, &event->pending)
			TRY(program_set_gate(*prog, rec->gate, rec->n_gate));
	}
	return NULL;
}
