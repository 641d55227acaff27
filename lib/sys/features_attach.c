// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ways of attaching, each really tried with a program that does nothing.
 * A probe of the kernel goes to a function that is rarely called; a uprobe to
 * a function of this process, for this process alone.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/sys/bpf_syscall.h"
#include "lib/sys/features_internal.h"
#include "lib/sys/proc.h"
#include "lib/sys/tracefs.h"

/* A system call's inner function that all kernels have and few programs call. */
#define QUIET_FUNCTION "do_adjtimex"

/* A program of the type and target that returns 0. */
static int load(enum bpf_prog_type type, enum bpf_attach_type attach_type, uint32_t btf_id)
{
	static const struct bpf_insn return_0[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id);

	return bpf_prog_load(type, NULL, "GPL", return_0, ARRAY_SIZE(return_0), &opts);
}

/* Opens the event, gives it a program of the type, and closes both. */
static void try_event(const struct sys_features *features, struct sys_feature_result *result,
		      const struct perf_event_attr *attr, const char *event, pid_t pid,
		      enum bpf_prog_type type)
{
	_cleanup_close_ int prog = load(type, 0, 0);
	_cleanup_cpus_ struct sys_cpus online = {0};

	if (prog < 0) {
		feature_no_bpf(features, result, prog, "programs of this type do not load");
		return;
	}
	error_free(sys_cpus_online(features->roots, &online));
	int cpu = pid == -1 ? (online.n ? (int)online.v[0] : 0) : -1;
	_cleanup_close_ int fd = sys_perf_event_open(attr, pid, cpu, -1, 0);
	if (fd < 0) {
		struct sys_perf_attempt attempt = {
			.attr = attr, .event = event, .pid = pid, .cpu = cpu};

		feature_from_error(result, sys_perf_event_explain(features->roots, &attempt, fd));
		return;
	}
	feature_from_error(result, sys_perf_set_bpf(fd, prog));
}

static void probe_tracepoint(struct sys_features *features, const void *arg,
			     struct sys_feature_result *result)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT};
	struct error *err = sys_tracepoint_id(features->roots, "sched", "sched_process_hang",
					      (uint64_t *)&attr.config);

	if (err) { /* CONFIG_DETECT_HUNG_TASK is not everywhere */
		error_free(err);
		err = sys_tracepoint_id(features->roots, "sched", "sched_process_exec",
					(uint64_t *)&attr.config);
	}
	if (err)
		feature_from_error(result, err);
	else
		try_event(features, result, &attr, "the tracepoint", -1, BPF_PROG_TYPE_TRACEPOINT);
}

static void probe_raw_tracepoint(struct sys_features *features, const void *arg,
				 struct sys_feature_result *result)
{
	_cleanup_close_ int prog = load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);

	if (prog < 0) {
		feature_no_bpf(features, result, prog, "programs of this type do not load");
		return;
	}
	_cleanup_close_ int fd = bpf_raw_tracepoint_open("sched_process_exec", prog);
	if (fd < 0)
		feature_no_bpf(features, result, fd, NULL);
	else
		feature_yes(result, "%s", "");
}

/* The tracepoint of test runs (5.2) lets a program write what the run returns. */
static void probe_writable(struct sys_features *features, const void *arg,
			   struct sys_feature_result *result)
{
	_cleanup_close_ int prog = load(BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE, 0, 0);

	if (prog < 0) {
		feature_no_bpf(features, result, prog, "programs of this type do not load");
		return;
	}
	_cleanup_close_ int fd = bpf_raw_tracepoint_open("bpf_test_finish", prog);
	if (fd < 0)
		feature_no_bpf(features, result, fd, NULL);
	else
		feature_yes(result, "%s", "");
}

/* Programs whose target is an id in the kernel's BTF. */
struct trace_target {
	enum bpf_attach_type attach_type;
	const char *name;
	unsigned kind;
};

static void probe_trace(struct sys_features *features, const void *arg,
			struct sys_feature_result *result)
{
	const struct trace_target *target = arg;
	uint32_t id;
	struct error *err = kernel_btf_id(features->roots, target->name, target->kind, &id);

	if (err) {
		feature_from_error(result, err);
		feature_hint(result, "this needs kernel BTF: CONFIG_DEBUG_INFO_BTF");
		return;
	}
	_cleanup_close_ int prog = load(BPF_PROG_TYPE_TRACING, target->attach_type, id);
	if (prog < 0) {
		if (prog == -EPERM && feature_has_cap(features, CAP_PERFMON) &&
		    feature_has_cap(features, CAP_BPF)) {
			feature_no(
				result, prog,
				"the kernel does not allow its code to be patched (EPERM at load)");
			feature_hint(result, "its ftrace is locked; use tp_btf or raw_tp");
		} else {
			feature_no_bpf(features, result, prog, NULL);
		}
		return;
	}
	_cleanup_close_ int fd = bpf_raw_tracepoint_open(NULL, prog);
	if (fd == -524 || fd == -EOPNOTSUPP) { /* ENOTSUPP */
		feature_no(result, EOPNOTSUPP, "this kernel has no BPF trampolines");
		feature_hint(result, "use a kprobe");
	} else if (fd < 0) {
		feature_no_bpf(features, result, fd, NULL);
	} else {
		feature_yes(result, "%s", "");
	}
}

static const struct trace_target fentry = {BPF_TRACE_FENTRY, QUIET_FUNCTION, BTF_KIND_FUNC},
				 fexit = {BPF_TRACE_FEXIT, QUIET_FUNCTION, BTF_KIND_FUNC},
				 fmod_ret = {BPF_MODIFY_RETURN, "security_task_getsid",
					     BTF_KIND_FUNC},
				 tp_btf = {BPF_TRACE_RAW_TP, "btf_trace_sched_process_exec",
					   BTF_KIND_TYPEDEF};

/* The attr of a PMU's probe; false: no such PMU, said in the result. */
static bool probe_attr(const struct sys_features *features, const char *pmu, bool retprobe,
		       struct perf_event_attr *attr, struct sys_feature_result *result)
{
	struct sys_pmu_field field;
	uint32_t type;
	struct error *err = sys_pmu_type(features->roots, pmu, &type);

	*attr = (struct perf_event_attr){.size = sizeof(*attr)};
	if (err) {
		error_free(err);
		feature_no(result, ENOENT, "this kernel has no PMU '%s'", pmu);
		feature_hint(result, "boot a kernel with %s",
			     pmu[0] == 'k' ? "CONFIG_KPROBE_EVENTS" : "CONFIG_UPROBE_EVENTS");
		return false;
	}
	attr->type = type;
	if (!retprobe)
		return true;
	err = sys_pmu_field(features->roots, pmu, "retprobe", &field);
	if (err) {
		feature_from_error(result, err);
		return false;
	}
	sys_pmu_field_set(&field, attr, 1);
	return true;
}

static void probe_kprobe(struct sys_features *features, const void *arg,
			 struct sys_feature_result *result)
{
	struct perf_event_attr attr;

	if (!probe_attr(features, "kprobe", arg != NULL, &attr, result))
		return;
	attr.kprobe_func = (uint64_t)(uintptr_t)QUIET_FUNCTION;
	try_event(features, result, &attr, "the kprobe", -1, BPF_PROG_TYPE_KPROBE);
}

/* The file of tracefs that makes probes where there is no PMU for them. */
static void probe_tracefs_file(struct sys_features *features, const void *arg,
			       struct sys_feature_result *result)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;
	struct error *err = sys_tracefs_dir(features->roots, &dir);

	if (err) {
		feature_from_error(result, err);
		return;
	}
	path = text_format("%s/%s", dir, (const char *)arg);
	if (!path) {
		feature_from_error(result, error_nomem());
		return;
	}
	_cleanup_close_ int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd >= 0)
		feature_yes(result, "%s", "");
	else if (errno == ENOENT)
		feature_no(result, errno, "this kernel's tracefs has no %s", (const char *)arg);
	else
		feature_from_error(result, error_errno(errno, "%s", path));
}

/* What the uprobe sits on: nothing calls it. */
__attribute__((noinline, used)) static int uprobe_target(int v)
{
	__asm__ volatile("" ::: "memory");
	return v + 1;
}

/* The file that holds uprobe_target(), and where in it. */
static struct error *own_place(const struct sys_features *features, char **path, uint64_t *offset)
{
	_cleanup_free_ char *text = NULL;
	uint64_t address = (uint64_t)(uintptr_t)uprobe_target;
	struct sys_map map;

	TRY(sys_proc_read(features->roots, getpid(), "maps", &text, NULL));
	for (char *pos = text; sys_maps_next(&pos, &map);) {
		if (address < map.start || address >= map.end || *map.path != '/')
			continue;
		*offset = address - map.start + map.pgoff;
		*path = strdup(map.path);
		return *path ? NULL : error_nomem();
	}
	return error_new(ENOENT, "cannot find this program in /proc/self/maps");
}

static void probe_uprobe(struct sys_features *features, const void *arg,
			 struct sys_feature_result *result)
{
	_cleanup_free_ char *path = NULL;
	struct perf_event_attr attr;
	uint64_t offset;

	if (!probe_attr(features, "uprobe", arg != NULL, &attr, result))
		return;
	struct error *err = own_place(features, &path, &offset);
	if (err) {
		feature_from_error(result, err);
		return;
	}
	attr.uprobe_path = (uint64_t)(uintptr_t)path;
	attr.probe_offset = offset;
	try_event(features, result, &attr, "the uprobe", 0, BPF_PROG_TYPE_KPROBE);
}

static void no_multi(const struct sys_features *features, struct sys_feature_result *result,
		     int code, const char *since, const char *config)
{
	code = code < 0 ? -code : code;
	if (code == EINVAL || code == E2BIG) {
		feature_no(result, code, "this kernel does not support it (it needs Linux %s)",
			   since);
	} else if (code == EOPNOTSUPP || code == 524) {
		feature_no(result, code, "this kernel was built without it");
		feature_hint(result, "boot a kernel with %s", config);
	} else {
		feature_no_bpf(features, result, code, NULL);
	}
}

/* Attaches by a link of that type, which this kernel has or has not. */
static void probe_multi(struct sys_features *features, enum bpf_attach_type type,
			const struct bpf_link_create_opts *opts, const char *since,
			const char *config, struct sys_feature_result *result)
{
	_cleanup_close_ int prog = load(BPF_PROG_TYPE_KPROBE, type, 0);

	if (prog < 0) {
		no_multi(features, result, prog, since, config);
		return;
	}
	_cleanup_close_ int fd = bpf_link_create(prog, 0, type, opts);
	if (fd < 0)
		no_multi(features, result, fd, since, config);
	else
		feature_yes(result, "%s", "");
}

struct multi_kind {
	enum bpf_attach_type type;
	const char *since, *config;
};

static const struct multi_kind kprobe_multi = {BPF_TRACE_KPROBE_MULTI, "5.18", "CONFIG_FPROBE"},
			       kprobe_session = {BPF_TRACE_KPROBE_SESSION, "6.10", "CONFIG_FPROBE"},
			       uprobe_multi = {BPF_TRACE_UPROBE_MULTI, "6.6",
					       "CONFIG_UPROBE_EVENTS"},
			       uprobe_session = {BPF_TRACE_UPROBE_SESSION, "6.13",
						 "CONFIG_UPROBE_EVENTS"};

static void probe_kprobe_multi(struct sys_features *features, const void *arg,
			       struct sys_feature_result *result)
{
	const struct multi_kind *kind = arg;
	const char *syms[] = {QUIET_FUNCTION};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.syms = syms, .kprobe_multi.cnt = 1);

	probe_multi(features, kind->type, &opts, kind->since, kind->config, result);
}

static void probe_uprobe_multi(struct sys_features *features, const void *arg,
			       struct sys_feature_result *result)
{
	const struct multi_kind *kind = arg;
	_cleanup_free_ char *path = NULL;
	uint64_t offset;
	struct error *err = own_place(features, &path, &offset);

	if (err) {
		feature_from_error(result, err);
		return;
	}
	unsigned long offsets[] = {(unsigned long)offset};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .uprobe_multi.path = path,
		    .uprobe_multi.offsets = offsets, .uprobe_multi.cnt = 1,
		    .uprobe_multi.pid = (__u32)getpid());
	probe_multi(features, kind->type, &opts, kind->since, kind->config, result);
}

static const struct sys_feature table[] = {
	{"attach.tracepoint", "Attaching", "filter tracepoints", probe_tracepoint},
	{"attach.raw_tp", "Attaching", "tracepoints without perf's record", probe_raw_tracepoint},
	{"attach.raw_tp_writable", "Attaching", "tracepoints with buffers that programs can change",
	 probe_writable},
	{"attach.tp_btf", "Attaching", "tracepoints with typed arguments", probe_trace, &tp_btf},
	{"attach.kprobe", "Attaching", "any function of the kernel", probe_kprobe},
	{"attach.kretprobe", "Attaching", "return of a kernel function", probe_kprobe, (void *)1},
	{"attach.kprobe_multi", "Attaching", "many kernel functions with one link",
	 probe_kprobe_multi, &kprobe_multi},
	{"attach.kprobe_session", "Attaching", "entry and return with one program",
	 probe_kprobe_multi, &kprobe_session},
	{"attach.kprobe_events", "Attaching", "kprobes created in tracefs", probe_tracefs_file,
	 "kprobe_events"},
	{"attach.uprobe", "Attaching", "functions of programs", probe_uprobe},
	{"attach.uretprobe", "Attaching", "return of functions of programs", probe_uprobe,
	 (void *)1},
	{"attach.uprobe_multi", "Attaching", "many functions of programs with one link",
	 probe_uprobe_multi, &uprobe_multi},
	{"attach.uprobe_session", "Attaching", "entry and return with one program",
	 probe_uprobe_multi, &uprobe_session},
	{"attach.uprobe_events", "Attaching", "uprobes created in tracefs", probe_tracefs_file,
	 "uprobe_events"},
	{"attach.fentry", "Attaching", "kernel functions, typed and fast", probe_trace, &fentry},
	{"attach.fexit", "Attaching", "return of kernel functions, with their arguments",
	 probe_trace, &fexit},
	{"attach.fmod_ret", "Attaching", "change the return value of security hooks", probe_trace,
	 &fmod_ret},
};

const struct feature_part features_attach = {table, ARRAY_SIZE(table)};
