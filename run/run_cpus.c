// SPDX-License-Identifier: BSD-2-Clause
/* CPUs that come back while programs run: what was open on them is opened again. */
#include <inttypes.h>

#include "perf/live/live.h"
#include "run/run_state.h"
#include "work/cpu_watch.h"

static bool is_detached(const struct run *run, const struct bpf_program *prog)
{
	const struct sampled_program *sampled;

	vec_for_each (sampled, &run->sampled)
		if (sampled->prog == prog)
			return sampled->n && !sampled->links->v[sampled->first];
	return true;
}

/* What was open on a CPU that was offline: samples, rings of events, and the records of names. */
static struct error *on_cpu_return(void *ctx, unsigned cpu)
{
	struct run *run = ctx;
	struct bpf_file *object;
	struct bpf_program *prog;

	vec_for_each (object, &run->objects)
		bpf_object__for_each_program (prog, object->obj)
			if (!is_detached(run, prog))
				TRY(run_attach_sampled(run, object, prog, &cpu));
	for (size_t i = 0; i < run->maps.n; i++) {
		int fd;

		TRY(collector_cpu_returned(run->maps.v[i]->collector, cpu, &fd));
		TRY(run_wait_for_ring(run, fd));
	}
	return run->live ? live_source_cpu_returned(run->live, cpu) : NULL;
}

/* Whether a CPU that goes offline takes anything with it; else programs go on by themselves. */
static bool depends_on_cpus(const struct run *run)
{
	bool any = run->live || (run->sampled.n && !run->tasks.list.n);

	for (size_t i = 0; i < run->maps.n; i++)
		any |= collector_is_by_cpu(run->maps.v[i]->collector);
	return any;
}

struct error *run_watch_cpus(struct run *run)
{
	const struct cpu_watch_opts opts = {
		.loop = run->loop,
		.log = run->opts.log,
		.fn = on_cpu_return,
		.ctx = run,
	};

	return depends_on_cpus(run) ? cpu_watch_new(&opts, &run->cpu_watch) : NULL;
}

bool run_finds_maps_later(const struct run *run)
{
	for (size_t i = 0; i < run->maps.n; i++)
		if (collector_reads_inner(run->maps.v[i]->collector))
			return true;
	return false;
}

bool run_opens_events_later(const struct run *run)
{
	return run->cpu_watch;
}

void run_warn_of_offline_cpus(const struct run *run)
{
	cpu_watch_warn(run->cpu_watch, run->opts.log);
}
