// SPDX-License-Identifier: BSD-2-Clause
/* What perf_event_open(2) does here: kinds of events, and bits of the attr. */
#include <string.h>

#include "lib/sys/features_internal.h"
#include "lib/sys/tracefs.h"

/* Opens and closes; the refusal in words. */
static struct error *try_open(const struct sys_features *features,
			      const struct perf_event_attr *attr, const char *event, pid_t pid,
			      int cpu)
{
	struct sys_perf_attempt attempt = {.attr = attr, .event = event, .pid = pid, .cpu = cpu};
	_cleanup_close_ int fd = sys_perf_event_open(attr, pid, cpu, -1, 0);

	return fd < 0 ? sys_perf_event_explain(features->roots, &attempt, fd) : NULL;
}

static struct perf_event_attr software(uint64_t config)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_period = 1,
		.disabled = 1,
	};
}

static void probe_own_process(struct sys_features *features, const void *arg,
			      struct sys_feature_result *result)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_TASK_CLOCK);

	attr.sample_period = 1000000;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	feature_from_error(result, try_open(features, &attr, "task-clock:u", 0, -1));
}

static void probe_all_cpus(struct sys_features *features, const void *arg,
			   struct sys_feature_result *result)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_CPU_CLOCK);
	_cleanup_cpus_ struct sys_cpus online = {0};

	attr.sample_period = 1000000;
	error_free(sys_cpus_online(features->roots, &online));
	feature_from_error(result, try_open(features, &attr, "cpu-clock", -1,
					    online.n ? (int)online.v[0] : 0));
}

static void probe_hardware(struct sys_features *features, const void *arg,
			   struct sys_feature_result *result)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 100000,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	feature_from_error(result, try_open(features, &attr, "cycles:u", 0, -1));
}

static void probe_tracepoint(struct sys_features *features, const void *arg,
			     struct sys_feature_result *result)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.disabled = 1,
	};
	struct error *err = sys_tracepoint_id(features->roots, "sched", "sched_switch",
					      (uint64_t *)&attr.config);

	if (!err)
		err = try_open(features, &attr, "sched:sched_switch", 0, -1);
	feature_from_error(result, err);
}

static void probe_system_calls(struct sys_features *features, const void *arg,
			       struct sys_feature_result *result)
{
	if (sys_tracepoint_exists(features->roots, "syscalls", "sys_enter_write")) {
		feature_yes(result, "%s", "");
		return;
	}
	/* What cannot be looked for may well exist. */
	_cleanup_names_ struct names systems = {0};
	struct error *err = sys_tracepoint_systems(features->roots, &systems);
	if (err) {
		feature_from_error(result, err);
		return;
	}
	feature_no(result, ENOENT, "the kernel has no tracepoints syscalls:*");
	feature_hint(result, "boot a kernel with CONFIG_FTRACE_SYSCALLS");
}

/*
 * Bits of the attr that newer kernels know: an unknown one is refused with
 * EINVAL (perf_copy_attr checks the reserved bits and flags).
 */
struct attr_bit {
	void (*set)(struct perf_event_attr *attr);
	const char *since; /* the kernel that brought it, as a help to the reader only */
};

static void set_ksymbol(struct perf_event_attr *attr)
{
	attr->ksymbol = 1;
}

static void set_bpf_event(struct perf_event_attr *attr)
{
	attr->bpf_event = 1;
}

static void set_build_id(struct perf_event_attr *attr)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = 1;
}

static void set_cgroup(struct perf_event_attr *attr)
{
	attr->cgroup = 1;
}

static void set_text_poke(struct perf_event_attr *attr)
{
	attr->text_poke = 1;
}

static void set_context_switch(struct perf_event_attr *attr)
{
	attr->context_switch = 1;
}

static void set_namespaces(struct perf_event_attr *attr)
{
	attr->namespaces = 1;
}

static void set_lost(struct perf_event_attr *attr)
{
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
}

static void set_callchain(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_CALLCHAIN;
}

static void set_backward(struct perf_event_attr *attr)
{
	attr->write_backward = 1;
}

static const struct attr_bit ksymbol = {set_ksymbol, "5.1"}, bpf_event = {set_bpf_event, "5.1"},
			     build_id = {set_build_id, "5.12"}, cgroup = {set_cgroup, "5.7"},
			     text_poke = {set_text_poke, "5.9"},
			     context_switch = {set_context_switch, "4.3"},
			     namespaces = {set_namespaces, "4.12"}, lost = {set_lost, "6.0"},
			     callchain = {set_callchain, "2.6.31"},
			     backward = {set_backward, "4.7"};

static void probe_attr(struct sys_features *features, const void *arg,
		       struct sys_feature_result *result)
{
	const struct attr_bit *bit = arg;
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = !feature_has_cap(features, CAP_PERFMON);
	bit->set(&attr);
	_cleanup_close_ int fd = sys_perf_event_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		feature_yes(result, "%s", "");
	else if (fd == -EINVAL || fd == -E2BIG)
		feature_no(result, fd, "this kernel does not support it (it needs Linux %s)",
			   bit->since);
	else
		feature_from_error(result, try_open(features, &attr, "dummy", 0, -1));
}

static const struct sys_feature table[] = {
	{"perf.process", "perf events", "record your own processes", probe_own_process},
	{"perf.all_cpus", "perf events", "record whole CPUs (-a)", probe_all_cpus},
	{"perf.hardware", "perf events", "cycles, instructions, cache misses", probe_hardware},
	{"perf.tracepoint", "perf events", "record tracepoints with their fields",
	 probe_tracepoint},
	{"perf.syscalls", "perf events", "a tracepoint for each system call", probe_system_calls},
	{"perf.callchain", "perf events", "call chains (-g)", probe_attr, &callchain},
	{"perf.ksymbol", "perf events", "BPF programs have names in reports", probe_attr, &ksymbol},
	{"perf.bpf_event", "perf events", "loading and unloading of BPF programs is recorded",
	 probe_attr, &bpf_event},
	{"perf.lost", "perf events", "lost samples are counted per event", probe_attr, &lost},
	{"perf.build_id", "perf events", "build ids in mmap records", probe_attr, &build_id},
	{"perf.cgroup", "perf events", "cgroups in the record", probe_attr, &cgroup},
	{"perf.text_poke", "perf events", "changes of kernel code in the record", probe_attr,
	 &text_poke},
	{"perf.context_switch", "perf events", "context switches in the record", probe_attr,
	 &context_switch},
	{"perf.namespaces", "perf events", "namespaces in the record", probe_attr, &namespaces},
	{"perf.backward", "perf events", "rings that overwrite the oldest", probe_attr, &backward},
};

const struct feature_part features_perf = {table, ARRAY_SIZE(table)};
