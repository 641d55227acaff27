// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything that can have no room, in programs that ignore what helpers return. Each call of
 * umask(2) by maps_work or busybox is kept, or lost: tests/vm/guest/run-losses counts both.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

struct losses_event {
	__u64 mask;
	char bytes[100];
};
const struct losses_event *losses_event_type;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} output SEC(".maps") PERF_BPF_SHOW("events,type=struct losses_event");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} reserve SEC(".maps") PERF_BPF_SHOW("events,type=struct losses_event");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} buffer SEC(".maps") PERF_BPF_SHOW("events,type=struct losses_event");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u64);
	__type(value, __u64);
} masks SEC(".maps") PERF_BPF_SHOW("table,unit=calls");

struct losses_key {
	perf_bpf_pid pid;
	perf_bpf_ustack user;
	perf_bpf_kstack kernel;
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 127 * 8);
} traces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct losses_key);
	__type(value, __u64);
} calls SEC(".maps") PERF_BPF_SHOW("stacks,stacks=traces,unit=calls");

PERF_BPF_STACKS(all, 1024, "calls", "stacks of calls");

SEC("tracepoint/syscalls/sys_enter_umask")
int on_umask(struct trace_event_raw_sys_enter *ctx)
{
	struct losses_event e = {.mask = ctx->args[0]}, *r;
	struct losses_key key = {.pid = bpf_get_current_pid_tgid() >> 32};
	__u64 one = 1, zero = 0, *n;

	if (!perf_bpf_wanted())
		return 0;
	bpf_ringbuf_output(&output, &e, sizeof(e), BPF_RB_NO_WAKEUP);
	r = bpf_ringbuf_reserve(&reserve, sizeof(*r), 0);
	if (r) {
		r->mask = ctx->args[0];
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	}
	bpf_perf_event_output(ctx, &buffer, BPF_F_CURRENT_CPU, &e, sizeof(e));
	bpf_map_update_elem(&masks, &e.mask, &one, BPF_NOEXIST);
	key.kernel = bpf_get_stackid(ctx, &traces, 0);
	key.user = bpf_get_stackid(ctx, &traces, BPF_F_USER_STACK);
	bpf_map_update_elem(&calls, &key, &zero, BPF_NOEXIST);
	n = bpf_map_lookup_elem(&calls, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	perf_bpf_stack_add(ctx, all, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
