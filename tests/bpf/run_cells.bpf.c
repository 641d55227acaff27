// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>
struct pbt_key {
	perf_bpf_pid pid;
	perf_bpf_ustack stack;
};
struct pbt_value {
	__u64 calls;
	__u64 sum;
};
struct pbt_event {
	perf_bpf_pid pid;
	perf_bpf_ustack stack;
	perf_bpf_usym ip;
};
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, 4);
	__uint(value_size, 127 * 8);
} traces SEC(".maps");
PERF_BPF_TABLE(by_stack, struct pbt_key, struct pbt_value, 64, "calls", "by stack");
PERF_BPF_TABLE(plain, struct pbt_key, __u64, 64, "calls", "not declared as stacks");
PERF_BPF_EVENTS(events, struct pbt_event, 65536, "calls");
SEC("tracepoint/raw_syscalls/sys_enter")
int on_call(struct trace_event_raw_sys_enter *ctx)
{
	struct pbt_value zero = {}, *value;
	struct pbt_key key = {};
	struct pbt_event e = {};
	if (ctx->id != 95 || !perf_bpf_wanted())
		return 0;
	key.pid = e.pid = bpf_get_current_pid_tgid() >> 32;
	key.stack = e.stack = bpf_get_stackid(ctx, &traces, BPF_F_USER_STACK);
	bpf_map_update_elem(&by_stack, &key, &zero, BPF_NOEXIST);
	value = bpf_map_lookup_elem(&by_stack, &key);
	if (value) {
		value->calls++;
		value->sum += ctx->args[0];
	}
	bpf_get_stack(ctx, &e.ip, sizeof(e.ip), BPF_F_USER_STACK);
	perf_bpf_event_output(&events, &e, sizeof(e));
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
