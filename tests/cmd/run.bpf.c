// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts the umask(2) calls of the workload that test_run.sh makes, in every shape. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

enum pbt_parity {
	PBT_EVEN,
	PBT_ODD,
};

struct pbt_key {
	perf_bpf_uid uid;
	enum pbt_parity parity;
	char comm[16];
};

struct pbt_value {
	__u64 calls;
	__u64 sum;
};

const volatile __u32 below = 0xffffffff;

PERF_BPF_COUNT(calls, "calls", "umask calls");
PERF_BPF_LOG2(by_log2, "mask", "masks");
PERF_BPF_LINEAR(by_ten, 10, 10, 4, "mask", "masks, by ten");
PERF_BPF_LOG2_BY(by_parity, enum pbt_parity, 16, "mask", "masks by parity");
PERF_BPF_TABLE(by_pid, perf_bpf_pid, __u64, 1024, "calls", "by process");

PERF_BPF_HEATMAP(heat, "mask", "masks by time");
PERF_BPF_HEATMAP_LINEAR(heat_ten, 10, 10, 4, "mask", "masks by time, by ten");
PERF_BPF_STACKS(stacks, 256, "calls", "who calls umask");

PERF_BPF_STACKS(user_stacks, 256, "calls", "who calls umask, in the process");

struct pbt_event {
	perf_bpf_pid pid;
	__u32 mask;
	enum pbt_parity parity;
	char comm[16];
};

PERF_BPF_EVENTS(events, struct pbt_event, 256 * 1024, "masks as they come");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16);
	__type(key, struct pbt_key);
	__type(value, struct pbt_value);
} by_key SEC(".maps");

SEC("tracepoint/syscalls/sys_enter_umask")
int on_umask(struct trace_event_raw_sys_enter *ctx)
{
	__u64 mask = ctx->args[0];
	struct pbt_key key = {};
	struct pbt_event *event;
	struct pbt_value zero = {}, *value;
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	enum pbt_parity parity = mask & 1;

	if (!perf_bpf_wanted() || mask >= below)
		return 0;
	perf_bpf_count(&calls, 1);
	perf_bpf_log2(&by_log2, mask);
	perf_bpf_linear(by_ten, mask);
	perf_bpf_log2_by(&by_parity, &parity, mask);
	perf_bpf_table_add(&by_pid, &pid, 1);
	perf_bpf_heat(&heat, mask);
	perf_bpf_heat_linear(heat_ten, mask);
	perf_bpf_stack_add(ctx, stacks, 1);
	perf_bpf_user_stack_add(ctx, user_stacks, 1);
	event = perf_bpf_event_reserve(&events, struct pbt_event);
	if (event) {
		event->pid = pid;
		event->mask = mask;
		event->parity = parity;
		bpf_get_current_comm(event->comm, sizeof(event->comm));
		perf_bpf_event_submit(event);
	}
	key.uid = bpf_get_current_uid_gid();
	key.parity = parity;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	value = bpf_map_lookup_elem(&by_key, &key);
	if (!value) {
		bpf_map_update_elem(&by_key, &key, &zero, BPF_NOEXIST);
		value = bpf_map_lookup_elem(&by_key, &key);
	}
	if (value) {
		value->calls++;
		value->sum += mask;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
