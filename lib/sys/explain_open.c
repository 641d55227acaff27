// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf_event_open(2) has one errno for a dozen refusals. What was asked and
 * what the system says about itself (perf_event_paranoid, capabilities,
 * lockdown, limits) tell most of them apart. Sources: man 2 perf_event_open;
 * kernel/events/core.c; Documentation/admin-guide/perf-security.rst.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/strbuf.h"
#include "lib/sys/internal.h"
#include "lib/sys/missing_caps.h"

struct open_refusal {
	const struct sys_roots *roots;
	const struct sys_perf_attempt *attempt;
	const struct perf_event_attr *attr;
	const char *event;
	const char *program;
	int err;
};

/* The highest perf_event_paranoid that lets one without capabilities do this. */
static int highest_paranoid(const struct open_refusal *r)
{
	if (r->attr->type == PERF_TYPE_TRACEPOINT && r->attr->sample_type & PERF_SAMPLE_RAW)
		return -1;
	if (r->attempt->pid == -1)
		return 0;
	if (!r->attr->exclude_kernel || r->attr->sample_type & PERF_SAMPLE_PHYS_ADDR)
		return 1;
	return 2;
}

static const char *asked_for(const struct open_refusal *r, int highest)
{
	switch (highest) {
	case -1:
		return "reading a tracepoint's fields";
	case 0:
		return "recording whole CPUs";
	case 1:
		return r->attr->exclude_kernel ? "recording physical addresses"
					       : "recording the kernel";
	default:
		return "recording processes";
	}
}

static bool in_lockdown(const struct sys_roots *roots)
{
	_cleanup_free_ char *path =
		text_format("%s/kernel/security/lockdown", roots_or_default(roots)->sysfs);
	_cleanup_free_ char *text = NULL;

	if (!path)
		return false;
	_cleanup_error_ struct error *err = sys_read_file(path, 4096, &text, NULL);
	return !err && strstr(text, "[confidentiality]");
}

/* The PMU that the attr's type stands for, into name; NULL: the kernel's own kinds, or unknown. */
static char *pmu_name(const struct open_refusal *r)
{
	_cleanup_names_ struct names pmus = {0};

	if (r->attempt->pmu)
		return strdup(r->attempt->pmu);
	error_free(sys_pmu_list(r->roots, &pmus));
	for (size_t i = 0; i < pmus.n; i++) {
		uint32_t type;
		struct error *err = sys_pmu_type(r->roots, pmus.v[i], &type);

		if (!err && type == r->attr->type)
			return strdup(pmus.v[i]);
		error_free(err);
	}
	return NULL;
}

static bool opens_a_probe(const struct open_refusal *r)
{
	_cleanup_free_ char *pmu = pmu_name(r);

	return pmu && (!strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe"));
}

static struct error *explain_permission(const struct open_refusal *r)
{
	int highest = highest_paranoid(r), paranoid = 0;
	_cleanup_error_ struct error *unread =
		sys_sysctl(r->roots, "kernel/perf_event_paranoid", &paranoid);

	if (unread)
		return error_hint(error_new(r->err, "not allowed to open %s", r->event),
				  "/proc/sys/kernel/perf_event_paranoid does not exist: the kernel "
				  "may be built without perf events");
	if (sys_caps_missing(r->roots, SYS_CAP(SYS_CAP_PERFMON))) {
		if (r->attr->namespaces)
			return sys_hint_caps(error_new(r->err,
						       "not allowed to open %s: recording "
						       "namespaces needs CAP_PERFMON",
						       r->event),
					     r->roots, SYS_CAP(SYS_CAP_PERFMON), NULL);
		if (r->err == EACCES && r->attempt->pid > 0 && paranoid <= highest)
			return error_hint(error_new(r->err,
						    "not allowed to open %s: process %d belongs to "
						    "another user",
						    r->event, (int)r->attempt->pid),
					  "run %s as root or as that user", r->program);
		struct error *err = error_new(
			r->err,
			"not allowed to open %s: %s needs kernel.perf_event_paranoid of %d or "
			"less, but it is %d",
			r->event, asked_for(r, highest), highest, paranoid);
		_cleanup_free_ char *way =
			text_format("type: sysctl kernel.perf_event_paranoid=%d", highest);
		return sys_hint_caps(err, r->roots, SYS_CAP(SYS_CAP_PERFMON), way);
	}
	if (opens_a_probe(r) && sys_caps_missing(r->roots, SYS_CAP(SYS_CAP_SYS_ADMIN)))
		return sys_hint_caps(
			error_new(r->err,
				  "not allowed to open %s: for perf events of probes "
				  "this kernel requires CAP_SYS_ADMIN",
				  r->event),
			r->roots, SYS_CAP(SYS_CAP_SYS_ADMIN),
			"use a multi-probe link (kprobe.multi, Linux 5.18; "
			"uprobe.multi, Linux 6.6), for which CAP_BPF and CAP_PERFMON are "
			"enough");
	if (in_lockdown(r->roots))
		return error_hint(error_new(r->err,
					    "not allowed to open %s: the kernel is in lockdown "
					    "(confidentiality)",
					    r->event),
				  "boot with lockdown=integrity, or without Secure Boot");
	return error_hint(error_new(r->err,
				    "not allowed to open %s, although this process has CAP_PERFMON "
				    "or CAP_SYS_ADMIN",
				    r->event),
			  "a security module or a container's seccomp filter denies "
			  "perf_event_open: try outside of the container");
}

static struct error *explain_limit(const struct open_refusal *r)
{
	struct rlimit limit = {0};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (r->attempt->open_fds)
		strbuf_addf(&sb, " after %zu events", r->attempt->open_fds);
	if (r->err == ENFILE)
		return error_hint(
			error_new(
				r->err,
				"cannot open %s%s: the system-wide limit of open files is reached",
				r->event, strbuf_str(&sb)),
			"raise it: sysctl fs.file-max");
	return error_hint(
		error_new(r->err,
			  "cannot open %s%s: too many open files (the limit is %llu); an event "
			  "needs one per CPU or thread",
			  r->event, strbuf_str(&sb), (unsigned long long)limit.rlim_cur),
		"raise the limit with 'ulimit -n %llu', or use fewer events or fewer CPUs (-C)",
		(unsigned long long)limit.rlim_cur * 4);
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

/* The kernel's "cpu" PMU; arm and hybrid machines call theirs otherwise, with a "cpus" file. */
static bool has_hardware_pmu(const struct sys_roots *roots)
{
	_cleanup_names_ struct names pmus = {0};

	error_free(sys_pmu_list(roots, &pmus));
	for (size_t i = 0; i < pmus.n; i++)
		if (!strncmp(pmus.v[i], "cpu", 3) || strstr(pmus.v[i], "pmuv3"))
			return true;
	return false;
}

static struct error *explain_missing(const struct open_refusal *r)
{
	_cleanup_free_ char *pmu = NULL;

	if (is_hardware(r->attr)) {
		if (!has_hardware_pmu(r->roots))
			return error_hint(error_new(r->err,
						    "cannot open %s: this machine has no hardware "
						    "counters (virtual machines often have none)",
						    r->event),
					  "use cpu-clock or another software event");
		return error_hint(
			error_new(r->err, "%s is not supported by this CPU", r->event),
			"'perf-bpf features' shows which kinds of events this machine has");
	}
	if (r->attr->type == PERF_TYPE_TRACEPOINT)
		return error_hint(error_new(r->err, "the kernel has no tracepoint %s (id %llu)",
					    r->event, (unsigned long long)r->attr->config),
				  "its module may have been unloaded");
	pmu = pmu_name(r);
	if (!pmu && r->attr->type > PERF_TYPE_BREAKPOINT)
		return error_new(r->err, "cannot open %s: this machine has no PMU of type %u",
				 r->event, r->attr->type);
	return error_new(r->err, "%s is not supported%s%s", r->event, pmu ? " by PMU " : "",
			 pmu ? pmu : "");
}

static struct error *explain_no_device(const struct open_refusal *r)
{
	_cleanup_cpus_ struct sys_cpus online = {0};
	_cleanup_error_ struct error *unread = sys_cpus_online(r->roots, &online);
	int cpu = r->attempt->cpu;

	if (!unread && cpu >= 0 && !sys_cpus_has(&online, (unsigned)cpu))
		return error_hint(error_new(r->err, "cannot open %s: CPU %d is not online",
					    r->event, cpu),
				  "'cat /sys/devices/system/cpu/online' lists the online CPUs");
	return explain_missing(r);
}

static struct error *explain_unsupported(const struct open_refusal *r)
{
	const struct perf_event_attr *attr = r->attr;
	struct error *err;

	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return error_hint(error_new(r->err,
					    "%s: this CPU does not keep calls as branch records",
					    r->event),
				  "--call-graph lbr needs an Intel CPU since Haswell; use "
				  "--call-graph dwarf, or fp for programs with frame pointers");
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return error_new(r->err, "%s: this CPU cannot record branch stacks", r->event);
	if (attr->aux_output)
		return error_new(r->err, "%s: this PMU has no AUX output", r->event);
	if (attr->precise_ip)
		return error_hint(error_new(r->err, "%s: precise sampling is not supported",
					    r->event),
				  "remove the modifier 'p'");
	if (attr->sample_period) {
		err = error_new(r->err,
				"%s cannot be sampled: its PMU cannot interrupt, only count",
				r->event);
		return error_hint(err, "use cpu-clock, or count the event with 'perf stat'");
	}
	return explain_missing(r);
}

static struct error *explain_invalid(const struct open_refusal *r)
{
	const struct perf_event_attr *attr = r->attr;
	int max_rate;

	if (attr->freq) {
		_cleanup_error_ struct error *unread =
			sys_sysctl(r->roots, "kernel/perf_event_max_sample_rate", &max_rate);

		if (!unread && attr->sample_freq > (unsigned)max_rate)
			return error_hint(
				error_new(r->err, "%s: the frequency %llu is above the limit of %d",
					  r->event, (unsigned long long)attr->sample_freq,
					  max_rate),
				"record with -F %d, or type: sysctl "
				"kernel.perf_event_max_sample_rate=%llu",
				max_rate, (unsigned long long)attr->sample_freq);
	}
	if (attr->type == PERF_TYPE_TRACEPOINT && attr->precise_ip)
		return error_hint(error_new(r->err,
					    "%s: tracepoints do not support precise sampling",
					    r->event),
				  "remove the modifier 'p'");
	return error_new(r->err,
			 "cannot open %s: a parameter is invalid or not supported by this kernel",
			 r->event);
}

static struct error *explain_memory(const struct open_refusal *r)
{
	int stack = 0;

	if (r->attr->sample_type & PERF_SAMPLE_CALLCHAIN) {
		error_free(sys_sysctl(r->roots, "kernel/perf_event_max_stack", &stack));
		return error_hint(
			error_new(r->err,
				  "cannot open %s: not enough memory for call chains of %d entries",
				  r->event, stack),
			"type: sysctl kernel.perf_event_max_stack=127");
	}
	return error_errno(r->err, "cannot open %s", r->event);
}

struct error *sys_perf_event_explain(const struct sys_roots *roots,
				     const struct sys_perf_attempt *attempt, int err)
{
	int stack = 0;
	struct open_refusal r = {
		.roots = roots,
		.attempt = attempt,
		.attr = attempt->attr,
		.event = attempt->event ? attempt->event : "event",
		.program = attempt->program ? attempt->program : "perf-bpf",
		.err = abs(err),
	};

	switch (r.err) {
	case EPERM:
	case EACCES:
		return explain_permission(&r);
	case EMFILE:
	case ENFILE:
		return explain_limit(&r);
	case ENOENT:
	case ENXIO:
		return explain_missing(&r);
	case ENODEV:
		return explain_no_device(&r);
	case EOPNOTSUPP:
		return explain_unsupported(&r);
	case EINVAL:
		return explain_invalid(&r);
	case ENOMEM:
		return explain_memory(&r);
	case EOVERFLOW:
		error_free(sys_sysctl(roots, "kernel/perf_event_max_stack", &stack));
		return error_hint(error_new(EOVERFLOW,
					    "cannot open %s: call chains of %u entries are above "
					    "the limit of %d",
					    r.event, r.attr->sample_max_stack, stack),
				  "type: sysctl kernel.perf_event_max_stack=%u",
				  r.attr->sample_max_stack);
	case EBUSY:
		return error_hint(
			error_new(EBUSY,
				  "cannot open %s: another program has exclusive use of the PMU",
				  r.event),
			"stop that program; the NMI watchdog also uses a counter: sysctl "
			"kernel.nmi_watchdog=0");
	case ESRCH:
		return error_hint(error_new(ESRCH, "cannot open %s: process %d does not exist",
					    r.event, (int)attempt->pid),
				  "'ps -e' lists the processes");
	case ENOSYS:
		return error_hint(error_new(ENOSYS,
					    "cannot open %s: the kernel has no "
					    "perf_event_open",
					    r.event),
				  "it was built without CONFIG_PERF_EVENTS, or a container's "
				  "seccomp filter blocks the call");
	case E2BIG:
		return error_new(E2BIG,
				 "cannot open %s: this kernel is too old for one of its parameters",
				 r.event);
	default:
		return error_errno(r.err, "cannot open %s", r.event);
	}
}
