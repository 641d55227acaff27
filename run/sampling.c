// SPDX-License-Identifier: BSD-2-Clause
/*
 * An event is opened on each CPU for all, or on each thread for all CPUs; the
 * program is attached to every one of them. A thread that is started by one of
 * these has the event and its program too (inherit).
 *
 * 99 samples a second, since a round number keeps step with timers and would
 * see them always, or never.
 */
#include "run/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/attach/attach.h"
#include "lib/object/object.h"
#include "lib/sys/proc.h"
#include "perf/select/select.h"
#include "run/choose_view.h"

#define INTERVAL_TAG "perf-bpf-interval"

enum {
	DEFAULT_FREQ = 99,
};

struct targets {
	struct sys_cpus cpus;
	struct sys_pids tids; /* empty: everything on the CPUs */
};

static void targets_deinit(struct targets *t)
{
	sys_cpus_deinit(&t->cpus);
	sys_pids_deinit(&t->tids);
}

/* A program of an interval is about time, not about tasks: it runs on the first CPU. */
static struct error *interval_cpu(const struct sampling_opts *opts, struct targets *t)
{
	TRY(sys_cpus_online(NULL, &t->cpus));
	t->cpus.n = t->cpus.n && (!opts->cpu || *opts->cpu == t->cpus.v[0]);
	return NULL;
}

static struct error *targets_init(const struct bpf_program *prog, const struct sampling_opts *opts,
				  struct targets *t)
{
	unsigned *cpu;

	if (program_tag(bpf_object__btf(program_object(prog)), prog, INTERVAL_TAG))
		return interval_cpu(opts, t);
	if (opts->cpu) {
		if (opts->tasks->list.n)
			return NULL; /* their events are not bound to a CPU */
		cpu = vec_push(&t->cpus);
		if (!cpu)
			return error_nomem();
		*cpu = *opts->cpu;
		return NULL;
	}
	TRY(sys_cpus_online(NULL, &t->cpus));
	TRY(tasks_threads(opts->tasks, NULL, &t->tids));
	if (opts->tasks->list.n && !t->tids.n)
		return error_new(ESRCH, "what -p and -t name has ended");
	return NULL;
}

/* What the options say, where the event's own terms say nothing. */
static struct error *set_rate(const struct sampling_opts *opts, struct select_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (event->has_period || event->has_freq)
		return NULL;
	if (opts->period) {
		attr->sample_period = opts->period;
		return NULL;
	}
	const struct select_freq_opts freq = {
		.asked = opts->freq,
		.otherwise = DEFAULT_FREQ,
		.log = opts->log,
	};
	uint64_t hz;

	TRY(select_freq(NULL, &freq, &hz));
	attr->freq = 1;
	attr->sample_freq = hz;
	return NULL;
}

/* Gives up what this kernel or machine may have refused; false: nothing more. */
static bool fall_back(const struct sampling_opts *opts, struct select_event *event, bool asked,
		      int err)
{
	struct perf_event_attr *attr = &event->attr;
	bool cycles = attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES;

	if (cycles && (err == ENOENT || err == ENXIO || err == ENODEV || err == EOPNOTSUPP)) {
		if (asked)
			log_warn(opts->log,
				 "this machine has no cycles counter: using cpu-clock instead of "
				 "'%s'",
				 event->name);
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->precise_ip = 0;
		return true;
	}
	if (err == EINVAL && attr->inherit_thread) {
		attr->inherit_thread = 0; /* before 5.13: children too */
		return true;
	}
	return false;
}

static struct error *attach_one(const struct bpf_program *prog, const struct sampling_opts *opts,
				struct select_event *event, bool asked, pid_t tid, int cpu,
				struct links *links)
{
	struct bpf_link **slot;
	int fd;

	while ((fd = sys_perf_event_open(&event->attr, tid, cpu, -1, 0)) < 0) {
		if (fd == -ESRCH && tid > 0)
			return NULL; /* it has ended since it was listed */
		if (fall_back(opts, event, asked, -fd))
			continue;
		struct sys_perf_attempt attempt = {
			.attr = &event->attr,
			.event = event->name,
			.pid = tid,
			.cpu = cpu,
			.open_fds = links->n,
		};
		return sys_perf_event_explain(NULL, &attempt, fd);
	}
	slot = vec_push(links);
	if (!slot) {
		close(fd);
		return error_nomem();
	}
	struct error *err = perf_fd_attach(prog, fd, NULL, slot);
	if (err) {
		links->n--;
		close(fd);
		return error_prefix(err, "program %s at %s", bpf_program__name(prog), event->name);
	}
	if (tid > 0) /* there may be many */
		link_close_event(*slot);
	return NULL;
}

static struct error *attach_event(const struct bpf_program *prog, const struct sampling_opts *opts,
				  struct select_event *event, bool asked, const struct targets *t,
				  struct links *links)
{
	if (event->object)
		return error_new(EINVAL, "%s is a file of BPF programs, not an event",
				 event->object);
	event->attr.size = sizeof(event->attr);
	event->attr.disabled = 1;
	TRY(set_rate(opts, event));
	if (t->tids.n) {
		event->attr.inherit = 1;
		event->attr.inherit_thread = 1;
		for (size_t i = 0; i < t->tids.n; i++)
			TRY(attach_one(prog, opts, event, asked, t->tids.v[i], -1, links));
		return NULL;
	}
	for (size_t i = 0; i < t->cpus.n; i++)
		TRY(attach_one(prog, opts, event, asked, -1, (int)t->cpus.v[i], links));
	return NULL;
}

static struct error *attach_events(const struct bpf_program *prog, const struct sampling_opts *opts,
				   const struct targets *t, struct links *links)
{
	const char *section = program_section(prog)->target;
	const char *text = *section ? section : opts->events;
	struct selection selection = {0};
	struct error *err = select_events(NULL, text ? text : "cycles", &selection);

	/* one for each thread: a link's event is closed */
	if (!err && t->tids.n)
		err = sys_want_fds(NULL, 2 * links->n + t->tids.n * selection.events.n,
				   "sampling all threads of -p");
	for (size_t i = 0; !err && i < selection.events.n; i++)
		err = attach_event(prog, opts, &selection.events.v[i], text != NULL, t, links);
	selection_deinit(&selection);
	if (!err && t->tids.n)
		tasks_warn_of_new(opts->tasks, NULL, &t->tids, opts->log);
	return err;
}

struct error *sampling_attach(const struct bpf_program *prog, const struct sampling_opts *opts,
			      struct links *links, struct sampled_program *out)
{
	const size_t first = links->n;
	struct targets targets = {0};
	struct error *err = targets_init(prog, opts, &targets);

	if (!err)
		err = attach_events(prog, opts, &targets, links);
	targets_deinit(&targets);
	if (!err)
		*out = (struct sampled_program){prog, links, first, links->n - first};
	return err;
}

void sampling_detach(const struct sampled_program *sampled)
{
	for (size_t i = sampled->first; i < sampled->first + sampled->n; i++) {
		bpf_link__destroy(sampled->links->v[i]);
		sampled->links->v[i] = NULL;
	}
}
