// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>
struct slots {
	__u64 slots[8];
};
PERF_BPF_TABLE(by_process, perf_bpf_pid, __u64, 64, "switches", "by process");
PERF_BPF_TABLE(by_cgroup, perf_bpf_cgroup, __u64, 64, "switches", "by cgroup");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, perf_bpf_pid);
	__type(value, struct slots);
} ranges SEC(".maps");
SEC("raw_tp/sched_switch")
int by(void *ctx)
{
	__u64 id = bpf_get_current_cgroup_id(), one = 1;
	__u32 pid = perf_bpf_pid_tgid() >> 32;
	struct slots first = {{1}};
	if (!perf_bpf_wanted())
		return 0;
	bpf_map_update_elem(&by_process, &pid, &one, BPF_ANY);
	bpf_map_update_elem(&by_cgroup, &id, &one, BPF_ANY);
	bpf_map_update_elem(&ranges, &pid, &first, BPF_ANY);
	return 0;
}
char _license[] SEC("license") = "GPL";
