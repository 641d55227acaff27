// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/run_delegated.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/object/object.h"
#include "lib/sys/missing_caps.h"

const char *delegated_socket(void)
{
	const char *path = secure_getenv("PERF_BPF_DELEGATE_SOCKET");

	return path && *path ? path : DELEGATE_SOCKET;
}

bool is_delegated(const struct error *err)
{
	return err && (err->code == EPERM || err->code == EACCES) &&
	       sys_caps_missing(NULL, SYS_CAP(SYS_CAP_BPF) | SYS_CAP(SYS_CAP_PERFMON)) &&
	       access(delegated_socket(), F_OK) == 0;
}

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
		option = "-p, -t, -u, --cgroup or --comm";
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
	const struct delegate_answer *answer = &d->client.answer;
	const char *slash = strrchr(d->name, '/');
	size_t size, at = 0;
	const void *image = object_image(obj, &size);

	TRY(delegate_client_open(delegated_socket(), DELEGATE_RUN, image, size,
				 slash ? slash + 1 : d->name, NULL, &d->client));
	if (answer->n_maps != n)
		return error_new(EPROTO, "the service has loaded another program");
	for (size_t i = 0; i < n; i++)
		if (answer->created[i])
			fds[i] = d->client.fds[at++];
	d->client.answer.n_fds = 0; /* they are the caller's now */
	log_info(d->log,
		 "the service runs %s by approval %s, for at most %g s and %g %% of all CPUs' time",
		 d->name, answer->approval, (double)answer->max_ms / 1000, answer->max_share * 100);
	return NULL;
}

static struct error *on_end(void *ctx, uint32_t events)
{
	struct run_delegated *d = ctx;

	run_unwatch(d->run, d->client.fd);
	d->ended = true;
	log_at(d->log, LOG_WARN, "the service has detached %s: %s", d->name,
	       delegate_reason_text(delegate_client_end(&d->client)));
	run_stop(d->run);
	return NULL;
}

struct error *run_delegated_new(struct run_opts *o, struct run_delegated *d, struct run **run)
{
	_cleanup_(run_freep) struct run *got = NULL;

	TRY(check_options(o));
	d->name = o->files[0];
	d->log = o->log;
	o->adopt = ask_service;
	o->adopt_ctx = d;
	TRY(run_new(o, &got));
	d->run = got;
	TRY(run_watch(got, d->client.fd, on_end, d));
	*run = steal_ptr(got);
	return NULL;
}

void run_delegated_deinit(struct run_delegated *d)
{
	delegate_client_close(&d->client);
}
