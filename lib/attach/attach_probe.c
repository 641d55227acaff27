// SPDX-License-Identifier: BSD-2-Clause
/*
 * How a k- or uprobe is put in place. By its PMU (4.17): the probe is the perf
 * event's, and goes with it. Through tracefs, as before: a trace event of its
 * own, which must be taken away again (lib/sys/probe_events.c); the program is
 * given to a tracepoint's perf event. That one is for kernels that have no such
 * PMU, and for callers who ask for it.
 *
 * With a BPF link to the perf event (5.15) the program has a cookie, and can be
 * pinned; before that the event owns it. A probe made through tracefs is never
 * given a link: pinned, that would outlive the process, and the probe with it.
 */
#include "lib/attach/internal.h"
#include "lib/sys/probe_events.h"

static bool has_pmu(const struct attach_event *event)
{
	uint32_t type;
	_cleanup_error_ struct error *err =
		sys_pmu_type(NULL, event->in_kernel ? "kprobe" : "uprobe", &type);

	return !err;
}

static void let_go(void *ctx, bool detached)
{
	if (detached)
		sys_probe_free(ctx);
	else
		sys_probe_leave(ctx);
}

/* What the kernel has against the place, in the words that the PMU's refusal has. */
static struct error *explain(const struct attach_event *event, struct error *err)
{
	if (!err || err->code == EACCES || err->code == EPERM || err->code == EOPNOTSUPP)
		return err;
	struct error *words = kprobe_explain(event, err->code);
	if (!words)
		return err;
	error_free(err);
	return words;
}

static struct error *attach_through_tracefs(const struct bpf_program *prog,
					    const struct attach_event *event, pid_t pid,
					    uint64_t cookie, struct bpf_link **link)
{
	const struct sys_probe_spec spec = {
		.in_kernel = event->in_kernel,
		.at_return = event->at_return,
		.place = event->text,
		.offset = event->offset,
		.ref_ctr_offset = event->ref_ctr_offset,
		.label = strchr(event->name, ':') + 1,
	};
	_cleanup_probe_ struct sys_probe *probe = NULL;
	struct bpf_link *got;

	TRY(explain(event, sys_probe_make(NULL, &spec, &probe)));
	const struct attach_event made = {
		.attr = {.size = sizeof(made.attr),
			 .type = PERF_TYPE_TRACEPOINT,
			 .config = sys_probe_id(probe)},
		.name = event->name,
		.where = event->where,
	};
	TRY(event_attach(prog, &made, pid, cookie, true, &got));
	link_on_destroy(got, let_go, steal_ptr(probe));
	*link = got;
	return NULL;
}

struct error *probe_attach(const struct bpf_program *prog, struct attach_event *event, pid_t pid,
			   uint64_t cookie, enum probe_attach_mode mode, struct bpf_link **link)
{
	const enum program_kind kind = program_section(prog)->kind;

	if (mode == PROBE_ATTACH_MODE_DEFAULT &&
	    (kind == PROGRAM_UPROBE || kind == PROGRAM_URETPROBE) &&
	    bpf_program__expected_attach_type(prog) == BPF_TRACE_UPROBE_MULTI)
		return uprobe_by_link(prog, event, pid, cookie, link);
	switch (mode) {
	case PROBE_ATTACH_MODE_LEGACY:
		return attach_through_tracefs(prog, event, pid, cookie, link);
	case PROBE_ATTACH_MODE_LINK:
		if (!sys_bpf_has(SYS_BPF_PERF_LINK))
			return error_hint(error_new(EOPNOTSUPP,
						    "this kernel has no BPF links to perf events "
						    "(they need Linux 5.15)"),
					  "attach with PROBE_ATTACH_MODE_DEFAULT or …_PERF");
		break;
	case PROBE_ATTACH_MODE_DEFAULT:
		if (!has_pmu(event) && sys_probe_possible(NULL, event->in_kernel))
			return attach_through_tracefs(prog, event, pid, cookie, link);
		break;
	case PROBE_ATTACH_MODE_PERF:
		break;
	default:
		return error_new(EINVAL, "unknown attach mode %d", (int)mode);
	}
	TRY(event->in_kernel ? kprobe_attr(event) : uprobe_attr(event));
	return event_attach(prog, event, pid, cookie, mode == PROBE_ATTACH_MODE_PERF, link);
}
