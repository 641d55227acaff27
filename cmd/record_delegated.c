// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/record_delegated.h"

#include <string.h>

#include "lib/object/object.h"
#include "perf/select/select.h"
#include "work/bpf_file.h"

bool record_has_object(const struct record_opts *o)
{
	for (size_t i = 0; i < o->n_args; i++) {
		_cleanup_(select_list_deinit) struct select_list list = {0};
		const struct select_item *item;

		if (o->args[i].kind == RECORD_OBJECT)
			return true;
		if (o->args[i].kind != RECORD_EVENTS)
			continue;
		error_free(select_parse(o->args[i].text, &list));
		vec_for_each (item, &list.items)
			if (item->kind == SELECT_OBJECT)
				return true;
	}
	return false;
}

/* What the approval fixes. */
static struct error *check_options(const struct record_opts *o)
{
	const char *option = NULL;
	bool of_cgroups = cgroup_choice_any(&o->cgroups);
	size_t n_args = 0;

	for (size_t i = 0; i < o->n_args; i++)
		if (o->args[i].kind == RECORD_CGROUPS)
			of_cgroups = true;
		else
			n_args++;
	if (n_args != 1 || o->args->kind == RECORD_FILTER || strchr(o->args->text, ','))
		return error_usage("without privileges one BPF program can be recorded at a time");
	if (o->pids || o->tids || o->users || of_cgroups)
		option = "-p, -t, -u, --cgroup, --container or --pod";
	else if (o->freq || o->period || o->cpus || o->delay_ms || o->n_spans || o->control)
		option = "-F, -c, -C, -D or --control";
	else if (o->callgraph != SELECT_CALLGRAPH_DEFAULT || o->sample_type || o->user_regs ||
		 o->intr_regs || o->branches || o->has_clock || o->switches)
		option = "--call-graph and the options of samples";
	else if (o->off_cpu)
		option = "--off-cpu";
	else if (o->switch_output.by)
		option = "--switch-output";
	else if (o->overwrite || o->tail_synthesize || o->threads)
		option = "--overwrite, --tail-synthesize or --threads";
	else if (o->all_cgroups || o->namespaces || o->per_thread || o->mmap_pages)
		option = "--all-cgroups, --namespaces, --per-thread or -m";
	if (!option)
		return NULL;
	return error_hint(
		error_usage("%s cannot be used here: the service records programs as root "
			    "has approved them",
			    option),
		"remove the option");
}

static struct error *ask_service(void *ctx, int *fds, size_t max, size_t *n)
{
	struct record_delegated *d = ctx;
	_cleanup_(bpf_file_close) struct bpf_file file = {0};
	const struct bpf_file_opts opts = {
		.compile = d->opts->compile, .whole = true, .log = d->opts->log};
	struct delegate_client *client = &d->session.client;
	const struct delegate_answer *answer = &client->answer;
	const char *path = d->session.what;
	size_t size;

	TRY(bpf_file_open(&file, path, &opts));
	const void *image = object_image(file.obj, &size);
	TRY(delegated_open(&d->session, DELEGATE_RECORD, image, size, path, NULL));
	if (answer->n_fds != answer->n_maps || answer->n_fds > max)
		return error_new(EPROTO, "the answer of the service is invalid");
	memcpy(fds, client->fds, answer->n_fds * sizeof(*fds));
	*n = answer->n_fds;
	client->answer.n_fds = 0; /* they are the recording's now */
	return recording_watch(d->rec, client->fd);
}

static void on_end(void *ctx)
{
	struct record_delegated *d = ctx;

	delegated_set_ended(&d->session);
}

struct error *record_delegated_new(struct record_opts *o, struct record_delegated *d,
				   struct recording **rec)
{
	TRY(check_options(o));
	d->opts = o;
	d->session.log = o->log;
	d->session.does = "records";
	d->session.has_done = "detached";
	d->session.what = o->args->text;
	o->adopt = ask_service;
	o->adopt_ctx = d;
	o->adopted_end = on_end;
	o->no_bpf_events = true;
	TRY(recording_new(o, rec));
	d->rec = *rec;
	return NULL;
}
