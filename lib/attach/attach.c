// SPDX-License-Identifier: BSD-2-Clause
/* The table of the ways of attaching, and what they have in common. */
#include <stdlib.h>

#include "lib/attach/internal.h"
#include "lib/sys/probe_features.h"

static const struct attach_kind kinds[] = {
	{PROGRAM_TRACEPOINT, .event = tracepoint_section_event},
	{PROGRAM_KPROBE, .event = kprobe_section_event},
	{PROGRAM_KRETPROBE, .event = kprobe_section_event},
	{PROGRAM_UPROBE, .event = uprobe_section_event},
	{PROGRAM_URETPROBE, .event = uprobe_section_event},
	{PROGRAM_KSYSCALL, .event = ksyscall_section_event},
	{PROGRAM_KRETSYSCALL, .event = ksyscall_section_event},
	{PROGRAM_KPROBE_MULTI, .attach = kprobe_multi_attach},
	{PROGRAM_KRETPROBE_MULTI, .attach = kprobe_multi_attach},
	{PROGRAM_UPROBE_MULTI, .attach = uprobe_multi_attach},
	{PROGRAM_URETPROBE_MULTI, .attach = uprobe_multi_attach},
	{PROGRAM_USDT, .attach = usdt_section_attach},
	{PROGRAM_RAW_TRACEPOINT, .attach = raw_tracepoint_attach},
	{PROGRAM_TP_BTF, .attach = trace_attach},
	{PROGRAM_FENTRY, .attach = trace_attach},
	{PROGRAM_FEXIT, .attach = trace_attach},
	{PROGRAM_FMOD_RET, .attach = trace_attach},
	{PROGRAM_FREPLACE, .attach = trace_attach},
	{PROGRAM_LSM, .attach = trace_attach},
	{PROGRAM_ITER, .attach = iter_attach},
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

struct error *attach_lacking(const char *feature, const char *what, const char *instead)
{
	_cleanup_features_ struct sys_features *features = sys_features_new(NULL);
	const struct sys_feature_result *result =
		features ? sys_feature_get(features, feature) : NULL;

	if (!result || result->works)
		return NULL;
	if (result->code == EPERM || result->code == EACCES)
		return error_hint(error_new(result->code, "%s: %s", what, result->reason), "%s",
				  result->hint[0] ? result->hint : "run as root");
	struct error *err = error_new(EOPNOTSUPP, "%s: %s", what, result->reason);
	return result->hint[0]
		       ? error_hint(err, "%s; or %s (feature %s)", instead, result->hint, feature)
		       : error_hint(err, "%s (feature %s)", instead, feature);
}

struct error *multi_type(const struct bpf_program *prog, bool want_session, int multi, int session,
			 const char *family, int *type)
{
	const int loaded = (int)bpf_program__expected_attach_type(prog);

	if (loaded != session && (want_session || loaded != multi))
		return error_hint(error_new(EINVAL, "the program is not loaded for %s.%s", family,
					    want_session ? "session" : "multi"),
				  "write SEC(\"%s.%s\"), or call "
				  "bpf_program__set_expected_attach_type() before it is loaded",
				  family, want_session ? "session" : "multi");
	*type = loaded;
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
	if (event->is_probe)
		words = kprobe_explain(event, err);
	return words ? words : sys_perf_event_explain(NULL, &attempt, err);
}

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

	/* Without a process it is opened on one CPU: it is the same probe on all of them. */
	if (pid < 0) {
		pid = -1;
		TRY(first_cpu(&cpu));
	}
	/*
	 * The programs of a tracepoint run as long as there is an event for it,
	 * enabled or not. Enabled, it would be sampled too, into no ring, when they
	 * return 1. A probe is only armed by an event that is enabled.
	 */
	struct perf_event_attr attr = event->attr;
	attr.disabled = attr.type == PERF_TYPE_TRACEPOINT;
	_cleanup_close_ int fd = sys_perf_event_open(&attr, pid, cpu, -1, 0);
	if (fd < 0)
		return attach_event_explain(event, pid, cpu, fd);
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = cookie,
		    .force_ioctl_attach = force_ioctl, .dont_enable = attr.disabled);
	TRY(error_prefix(perf_fd_attach(prog, fd, &opts, link), "%s", event->where));
	fd = -1; /* the link's */
	return NULL;
}

struct error *attach_event_of(const struct bpf_program *prog, struct attach_event *event)
{
	const struct attach_kind *kind = kind_of(prog);

	if (!kind || !kind->event)
		return attach_error_at(prog,
				       error_new(EOPNOTSUPP, "the section does not name an event"));

	_cleanup_attach_event_ struct attach_event got = {0};
	struct error *err = kind->event(prog, &got);
	if (!err && got.is_probe)
		err = got.in_kernel ? kprobe_attr(&got) : uprobe_attr(&got);
	if (err)
		return attach_error_at(prog, err);
	*event = got;
	got = (struct attach_event){0};
	return NULL;
}

static struct error *attach_by_section(const struct bpf_program *prog, struct bpf_link **link)
{
	const struct attach_kind *kind = kind_of(prog);
	_cleanup_attach_event_ struct attach_event event = {0};
	int fd;

	if (program_has_handler(prog)) {
		TRY(program_handler_attach(prog, link));
		return *link ? NULL
			     : error_new(EOPNOTSUPP, "its section handler does not attach it");
	}

	if (program_section(prog)->kind == PROGRAM_PERF_EVENT)
		return error_hint(error_new(EOPNOTSUPP, "a perf_event program does not say which "
							"event it is for"),
				  "open an event and call bpf_program__attach_perf_event(), or "
				  "record with 'perf-bpf record -e EVENT --object FILE'");
	if (!kind)
		return error_hint(
			error_new(
				EOPNOTSUPP,
				"programs of section '%s' cannot be attached by their section name",
				bpf_program__section_name(prog)),
			"section names that attach begin with tracepoint/, raw_tp/, tp_btf/, "
			"kprobe/, kretprobe/, ksyscall/, kprobe.multi/, uprobe/, uretprobe/, "
			"uprobe.multi/, usdt/, fentry/ or fexit/");
	TRY(program_fd(prog, &fd));
	if (!attaches_by_section(prog) && (kind->event || kind->attach == raw_tracepoint_attach))
		return error_hint(error_new(EOPNOTSUPP, "the section name has no attach target"),
				  "write SEC(\"%s/…\"), or call the function of <bpf/libbpf.h> "
				  "that attaches this program type and takes the target",
				  program_section(prog)->kind_name);
	if (kind->attach)
		return kind->attach(prog, link);
	TRY(kind->event(prog, &event));
	if (event.is_probe)
		return probe_attach(prog, &event, -1, 0, PROBE_ATTACH_MODE_DEFAULT, link);
	return event_attach(prog, &event, -1, 0, false, link);
}

bool attaches_by_section(const struct bpf_program *prog)
{
	const struct attach_kind *kind = kind_of(prog);

	if (!kind || program_has_handler(prog))
		return false;
	/* These know since load, by the section or by bpf_program__set_attach_target(). */
	return kind->attach == trace_attach || kind->attach == iter_attach ||
	       program_section(prog)->target[0];
}

struct error *attach_program(const struct bpf_program *prog, struct bpf_link **link)
{
	return attach_error_at(prog, attach_by_section(prog, link));
}

bool attach_takes_pid(const struct bpf_program *prog)
{
	switch (program_section(prog)->kind) {
	case PROGRAM_UPROBE:
	case PROGRAM_URETPROBE:
	case PROGRAM_UPROBE_MULTI:
	case PROGRAM_URETPROBE_MULTI:
		return true;
	default:
		return false;
	}
}

struct error *attach_program_pid(const struct bpf_program *prog, pid_t pid, struct bpf_link **link)
{
	const enum program_kind kind = program_section(prog)->kind;
	const bool is_multi = kind == PROGRAM_UPROBE_MULTI || kind == PROGRAM_URETPROBE_MULTI;

	return attach_error_at(prog, is_multi ? uprobe_multi_attach_pid(prog, pid, link)
					      : uprobe_attach_pid(prog, pid, link));
}

struct bpf_link *bpf_program__attach(const struct bpf_program *prog)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_program(prog, &link);

	return err ? edge_null(err) : link;
}
