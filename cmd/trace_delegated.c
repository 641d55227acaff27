// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/trace_delegated.h"

#include "trace/call_body.h"
#include "trace/event_exprs.h"

/* What the service does not do: see doc/security.md. */
static struct error *check_options(const struct trace_run_opts *o)
{
	_cleanup_names_ struct names calls = {0};
	_cleanup_names_ struct names events = {0};
	const char *option = NULL, *why = "it needs perf events, which the service does not open";

	for (size_t i = 0; i < o->n_calls; i++) {
		if (call_body_is(o->calls[i]))
			return error_usage("-e '%s' cannot be used without privileges: the service "
					   "does not support conditions",
					   o->calls[i]);
		TRY(event_exprs_split(o->calls[i], &calls, &events));
	}
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
		option = "--where", why = "the service does not support conditions";
	else if (cgroup_choice_any(&o->cgroups))
		option = "--cgroup, --container and --pod",
		why = "the approval sets which processes are traced";
	else if (o->delay_ms)
		option = "-D", why = "the service starts tracing immediately";
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
	size_t size;
	const void *program = trace_source_program(&size);

	TRY(delegated_open(&d->session, DELEGATE_TRACE, program, size, "trace", request));
	return delegated_take_maps(&d->session, fds, n);
}

static struct error *on_end(void *ctx, uint32_t events)
{
	struct trace_delegated *d = ctx;

	trace_run_unwatch(d->run, d->session.client.fd);
	delegated_set_ended(&d->session);
	trace_run_end(d->run);
	return NULL;
}

/* What is not known any more is less than what was traced: the rest is shown. */
static struct error *end_session(void *ctx)
{
	struct trace_delegated *d = ctx;

	if (d->session.ended)
		return NULL;
	struct error *err = delegate_client_stop(&d->session.client);
	if (err)
		log_warn(d->session.log, "%s", err->msg);
	error_free(err);
	return NULL;
}

struct error *trace_delegated_new(struct trace_run_opts *o, struct trace_delegated *d,
				  struct trace_run **run)
{
	_cleanup_(trace_run_freep) struct trace_run *got = NULL;

	TRY(check_options(o));
	d->session.log = o->log;
	d->session.does = "traces";
	d->session.has_done = "ended the trace";
	o->ask = ask_service;
	o->ask_end = end_session;
	o->ask_ctx = d;
	TRY(trace_run_new(o, &got));
	d->run = got;
	TRY(trace_run_watch(got, d->session.client.fd, on_end, d));
	*run = steal_ptr(got);
	return NULL;
}
