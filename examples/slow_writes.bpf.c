// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the writes that took at least min_us microseconds:
 *
 *	perf-bpf record -e examples/slow_writes.bpf.c -a -- sleep 4
 *	perf-bpf record -e examples/slow_writes.bpf.c/min_us=50/ -a -- sleep 4
 *
 * The program of sys_enter_write notes the time and returns 0: none of these
 * events is recorded. The program of sys_exit_write looks how long ago that
 * was, and only what was slow is recorded: its result, and with -g its stack.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

const volatile __u64 min_us = 1000;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, __u64);   /* process and thread */
	__type(value, __u64); /* ns, when its write began */
} begun SEC(".maps");

SEC("tracepoint/syscalls/sys_enter_write")
int write_begins(void *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();

	bpf_map_update_elem(&begun, &thread, &now, BPF_ANY);
	return 0;
}

SEC("tracepoint/syscalls/sys_exit_write")
int write_ends(void *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid();
	__u64 *since = bpf_map_lookup_elem(&begun, &thread);
	if (!since)
		return 0; /* it began before we did */

	__u64 took = bpf_ktime_get_ns() - *since;
	bpf_map_delete_elem(&begun, &thread);
	return took >= min_us * 1000;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
