// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/run_delegated.h"

#include "lib/object/object.h"

/* What the approval fixes. */
static struct error *check_options(const struct run_opts *o)
{
	const char *option = NULL;

	if (o->n_files != 1)
		return error_usage("without privileges one program can be run at a time");
	if (o->n_sets)
		option = "--set";
	else if (o->n_entries)
		option = "--map-entries";
	else if (program_filter_any(&o->filter))
		option = "-p, -t, -u, --cgroup or --comms";
	else if (o->events || o->freq || o->period)
		option = "-e, -F or -c";
	else if (o->show_probes || o->cost.show || o->cost.max_share > 0)
		option = "--probes, --cost or --max-overhead";
	if (!option)
		return NULL;
	return error_hint(error_usage("%s cannot be used here: the service runs programs as root "
				      "has approved them",
				      option),
			  "remove the option, or ask root to approve the program with other "
			  "parameters");
}

static struct error *ask_service(void *ctx, const struct bpf_object *obj, int *fds, size_t n)
{
	struct run_delegated *d = ctx;
	size_t size;
	const void *image = object_image(obj, &size);

	TRY(delegated_open(&d->session, DELEGATE_RUN, image, size, d->session.what, NULL));
	return delegated_take_maps(&d->session, fds, n);
}

static struct error *on_end(void *ctx, uint32_t events)
{
	struct run_delegated *d = ctx;

	run_unwatch(d->run, d->session.client.fd);
	delegated_set_ended(&d->session);
	run_stop(d->run);
	return NULL;
}

struct error *run_delegated_new(struct run_opts *o, struct run_delegated *d, struct run **run)
{
	_cleanup_(run_freep) struct run *got = NULL;

	TRY(check_options(o));
	d->session.log = o->log;
	d->session.does = "runs";
	d->session.has_done = "detached";
	d->session.what = o->files[0];
	o->adopt = ask_service;
	o->adopt_ctx = d;
	TRY(run_new(o, &got));
	d->run = got;
	TRY(run_watch(got, d->session.client.fd, on_end, d));
	*run = steal_ptr(got);
	return NULL;
}
