// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tracepoints as perf events. A program given to one such event runs for the
 * tracepoint on all CPUs, in every process: the kernel keeps the programs with
 * the tracepoint, not with the event (kernel/trace/bpf_trace.c,
 * perf_event_attach_bpf_prog). Its context is the record that perf would
 * sample, behind 8 bytes.
 */
#include <stdlib.h>

#include "lib/attach/internal.h"
#include "lib/sys/tracefs.h"

struct error *tracepoint_event(const char *system, const char *name, struct attach_event *event)
{
	uint64_t id;

	TRY(sys_tracepoint_id(NULL, system, name, &id));
	struct attach_event got = {
		.attr = {.size = sizeof(got.attr), .type = PERF_TYPE_TRACEPOINT, .config = id},
		.name = text_format("%s:%s", system, name),
		.where = text_format("tracepoint %s:%s", system, name),
	};
	if (!got.name || !got.where) {
		attach_event_deinit(&got);
		return error_nomem();
	}
	*event = got;
	return NULL;
}

struct error *tracepoint_section_event(const struct bpf_program *prog, struct attach_event *event)
{
	_cleanup_free_ char *system = NULL, *name = NULL;

	TRY(program_tracepoint(prog, &system, &name));
	return tracepoint_event(system, name, event);
}

struct bpf_link *bpf_program__attach_tracepoint_opts(const struct bpf_program *prog,
						     const char *tp_category, const char *tp_name,
						     const struct bpf_tracepoint_opts *opts)
{
	_cleanup_attach_event_ struct attach_event event = {0};
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_tracepoint_opts);

	if (!err)
		err = tracepoint_event(tp_category, tp_name, &event);
	if (!err)
		err = event_attach(prog, &event, -1, OPTS_GET(opts, bpf_cookie, 0), false, &link);
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_tracepoint(const struct bpf_program *prog,
						const char *tp_category, const char *tp_name)
{
	return bpf_program__attach_tracepoint_opts(prog, tp_category, tp_name, NULL);
}
