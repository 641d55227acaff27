// SPDX-License-Identifier: BSD-2-Clause
/* The table of the ways of attaching, and what they have in common. */
#include <stdlib.h>

#include "lib/attach/internal.h"

static const struct attach_kind kinds[] = {
	{PROGRAM_TRACEPOINT, .event = tracepoint_section_event},
	{PROGRAM_KPROBE, .event = kprobe_section_event},
	{PROGRAM_KRETPROBE, .event = kprobe_section_event},
	{PROGRAM_UPROBE, .event = uprobe_section_event},
	{PROGRAM_URETPROBE, .event = uprobe_section_event},
	{PROGRAM_RAW_TRACEPOINT, .attach = raw_tracepoint_attach},
	{PROGRAM_TP_BTF, .attach = trace_attach},
	{PROGRAM_FENTRY, .attach = trace_attach},
	{PROGRAM_FEXIT, .attach = trace_attach},
	{PROGRAM_FMOD_RET, .attach = trace_attach},
	{PROGRAM_LSM, .attach = trace_attach},
};

static const struct attach_kind *kind_of(const struct bpf_program *prog)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == program_section(prog)->kind)
			return &kinds[i];
	return NULL;
}

struct error *attach_error_at(const struct bpf_program *prog, struct error *err)
{
	return error_at(program_error_at(prog, err), "%s", object_path(program_object(prog)));
}

struct error *program_fd(const struct bpf_program *prog, int *fd)
{
	int got = bpf_program__fd(prog);

	if (got < 0)
		return error_hint(error_new(EINVAL, "the program is not loaded"),
				  "load the object first: bpf_object__load()");
	*fd = got;
	return NULL;
}

void attach_event_deinit(struct attach_event *event)
{
	free(event->name);
	free(event->where);
	free(event->text);
	*event = (struct attach_event){0};
}

struct error *attach_event_explain(const struct attach_event *event, pid_t pid, int cpu, int err)
{
	struct sys_perf_attempt attempt = {
		.attr = &event->attr, .event = event->name, .pid = pid, .cpu = cpu};
	struct error *words = NULL;

	/* The probes' PMUs have errnos of their own for what is wrong with the place. */
	if (event->text && event->attr.type > PERF_TYPE_BREAKPOINT)
		words = kprobe_explain(event, err);
	return words ? words : sys_perf_event_explain(NULL, &attempt, err);
}

/* An event without a process is opened on one CPU: it is the same probe on all of them. */
static struct error *first_cpu(int *cpu)
{
	_cleanup_cpus_ struct sys_cpus online = {0};

	TRY(sys_cpus_online(NULL, &online));
	*cpu = online.n ? (int)online.v[0] : 0;
	return NULL;
}

struct error *event_attach(const struct bpf_program *prog, const struct attach_event *event,
			   pid_t pid, uint64_t cookie, bool force_ioctl, struct bpf_link **link)
{
	int cpu = -1;

	if (pid < 0) {
		pid = -1;
		TRY(first_cpu(&cpu));
	}
	_cleanup_close_ int fd = sys_perf_event_open(&event->attr, pid, cpu, -1, 0);
	if (fd < 0)
		return attach_event_explain(event, pid, cpu, fd);
	TRY(error_prefix(perf_fd_attach(prog, fd, cookie, force_ioctl, link), "%s", event->where));
	fd = -1; /* the link's */
	return NULL;
}

struct error *attach_event_of(const struct bpf_program *prog, struct attach_event *event)
{
	const struct attach_kind *kind = kind_of(prog);

	if (!kind || !kind->event)
		return attach_error_at(prog,
				       error_new(EOPNOTSUPP, "the section names no event to open"));
	return attach_error_at(prog, kind->event(prog, event));
}

static struct error *attach_by_section(const struct bpf_program *prog, struct bpf_link **link)
{
	const struct attach_kind *kind = kind_of(prog);
	_cleanup_attach_event_ struct attach_event event = {0};
	int fd;

	if (program_section(prog)->kind == PROGRAM_PERF_EVENT)
		return error_hint(error_new(EOPNOTSUPP, "a perf_event program does not say which "
							"event it is for"),
				  "open one and use bpf_program__attach_perf_event(), or record "
				  "with 'perf-bpf record -e EVENT --object FILE'");
	if (!kind)
		return error_hint(error_new(EOPNOTSUPP,
					    "there is no way to attach a program by the section "
					    "'%s'",
					    bpf_program__section_name(prog)),
				  "sections that attach begin with tracepoint/, raw_tp/, tp_btf/, "
				  "kprobe/, kretprobe/, uprobe/, uretprobe/, fentry/ or fexit/");
	TRY(program_fd(prog, &fd));
	if (kind->attach)
		return kind->attach(prog, link);
	TRY(kind->event(prog, &event));
	return event_attach(prog, &event, -1, 0, false, link);
}

struct error *attach_program(const struct bpf_program *prog, struct bpf_link **link)
{
	return attach_error_at(prog, attach_by_section(prog, link));
}

struct bpf_link *bpf_program__attach(const struct bpf_program *prog)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_program(prog, &link);

	return err ? edge_null(err) : link;
}
