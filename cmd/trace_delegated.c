// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/trace_delegated.h"

#include "cmd/run_delegated.h"
#include "trace/event_exprs.h"

/* What the service does not do: see doc/security.md. */
static struct error *check_options(const struct trace_run_opts *o)
{
	_cleanup_names_ struct names calls = {0};
	_cleanup_names_ struct names events = {0};
	const char *option = NULL, *why = "it needs perf events, which the service does not open";

	for (size_t i = 0; i < o->n_calls; i++)
		TRY(event_exprs_split(o->calls[i], &calls, &events));
	if (events.n)
		return error_hint(
			error_usage("-e %s cannot be used without privileges: the service "
				    "traces system calls only",
				    events.v[0]),
			"perf-bpf record -e FILE.o records what root has approved for it");
	if (o->add_events)
		return error_usage("the configuration has trace.add_events: without privileges "
				   "only system calls can be traced");
	if (o->major_faults || o->minor_faults || o->no_calls)
		option = "-F and --no-syscalls";
	else if (o->runtime)
		option = "--sched";
	else if (o->callgraph)
		option = "--call-graph";
	else if (o->where)
		option = "--where", why = "the service takes no conditions";
	else if (cgroup_choice_any(&o->cgroups))
		option = "--cgroup, --container and --pod",
		why = "the approval says which processes are traced";
	else if (o->delay_ms)
		option = "-D", why = "the service traces at once";
	else if (o->ring_bytes)
		option = "-m", why = "the service chooses the size of the ring";
	if (!option)
		return NULL;
	return error_hint(error_usage("%s cannot be used without privileges: %s", option, why),
			  "remove the option");
}

static struct error *ask_service(void *ctx, const struct trace_request *request, int *fds, size_t n)
{
	struct trace_delegated *d = ctx;
	const struct delegate_answer *answer = &d->client.answer;
	size_t size, at = 0;
	const void *program = trace_source_program(&size);

	TRY(delegate_client_open(delegated_socket(), DELEGATE_TRACE, program, size, "trace",
				 request, &d->client));
	if (answer->n_maps != n)
		return error_new(EPROTO, "the service has loaded another program");
	for (size_t i = 0; i < n; i++)
		if (answer->created[i])
			fds[i] = d->client.fds[at++];
	d->client.answer.n_fds = 0; /* they are the caller's now */
	log_info(d->log,
		 "the service traces by approval %s, for at most %g s and %g %% of all CPUs' time",
		 answer->approval, (double)answer->max_ms / 1000, answer->max_share * 100);
	return NULL;
}

static struct error *on_end(void *ctx, uint32_t events)
{
	struct trace_delegated *d = ctx;

	trace_run_unwatch(d->run, d->client.fd);
	d->ended = true;
	log_at(d->log, LOG_WARN, "the service has ended the trace: %s",
	       delegate_reason_text(delegate_client_end(&d->client)));
	trace_run_end(d->run);
	return NULL;
}

/* What is not known any more is less than what was traced: the rest is shown. */
static struct error *end_session(void *ctx)
{
	struct trace_delegated *d = ctx;

	if (d->ended)
		return NULL;
	struct error *err = delegate_client_stop(&d->client);
	if (err)
		log_warn(d->log, "%s", err->msg);
	error_free(err);
	return NULL;
}

struct error *trace_delegated_new(struct trace_run_opts *o, struct trace_delegated *d,
				  struct trace_run **run)
{
	_cleanup_(trace_run_freep) struct trace_run *got = NULL;

	TRY(check_options(o));
	d->log = o->log;
	o->ask = ask_service;
	o->ask_end = end_session;
	o->ask_ctx = d;
	TRY(trace_run_new(o, &got));
	d->run = got;
	TRY(trace_run_watch(got, d->client.fd, on_end, d));
	*run = steal_ptr(got);
	return NULL;
}

void trace_delegated_deinit(struct trace_delegated *d)
{
	delegate_client_close(&d->client);
}
