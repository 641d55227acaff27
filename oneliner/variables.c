// SPDX-License-Identifier: BSD-2-Clause
/* Built-in variables: each is a local variable of the programs whose body names it. */
#include "oneliner/internal.h"

const struct variable variables[] = {
	{"comm", "char comm[16] = {};", {.size = 16}},
	{"pid", "const __u32 pid = perf_bpf_pid_tgid() >> 32;", {"__u32", .key = "perf_bpf_pid"}},
	{"tid", "const __u32 tid = (__u32)perf_bpf_pid_tgid();", {"__u32", .key = "perf_bpf_pid"}},
	{"uid",
	 "const __u32 uid = (__u32)bpf_get_current_uid_gid();",
	 {"__u32", .key = "perf_bpf_uid"}},
	{"gid",
	 "const __u32 gid = bpf_get_current_uid_gid() >> 32;",
	 {"__u32", .key = "perf_bpf_gid"}},
	{"cpu", "const __u32 cpu = bpf_get_smp_processor_id();", {"__u32"}},
	{"cpuid", "const __u32 cpuid = bpf_get_smp_processor_id();", {"__u32"}},
	{"nsecs",
	 "const __u64 nsecs = bpf_ktime_get_ns();",
	 {"__u64", .key = "perf_bpf_time", .unit = "ns"}},
	{"elapsed",
	 "const __u64 elapsed = perf_bpf_elapsed();",
	 {"__u64", .key = "perf_bpf_ns", .unit = "ns"}},
	{"cgroup",
	 "const __u64 cgroup = bpf_get_current_cgroup_id();",
	 {"__u64", .key = "perf_bpf_cgroup"}},
	{"task",
	 "struct task_struct *task = (void *)bpf_get_current_task();",
	 {"struct task_struct *"}},
	{"event", NULL, {.size = STR_SIZE}}, /* the name of the event, in quotes */
	{"kstack", NULL, {"perf_bpf_kstack", .key = "perf_bpf_kstack"}},
	{"ustack", NULL, {"perf_bpf_ustack", .key = "perf_bpf_ustack"}},
	{0},
};

const struct variable *variable_find(const char *text, const struct token *t)
{
	if (t->kind != TOKEN_NAME)
		return NULL;
	for (const struct variable *v = variables; v->name; v++)
		if (token_is(text, t, v->name))
			return v;
	return NULL;
}

void oneliner_offer_names(struct nearest *near)
{
	for (const struct variable *v = variables; v->name; v++)
		nearest_offer(near, v->name);
	functions_offer(near);
}
