// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where tasks wait: call stacks and time off CPU.
 *
 *	perf-bpf run offcputime --comms make -- make
 *	perf-bpf run offcputime -p 3237 --set min_us=1000 --timeout 10
 *
 * Needs: tracepoints of the scheduler.
 *
 * The stacks are those of the moment at which the task lost its CPU. The time
 * ends when it has one again: it waits for something, and then in the run
 * queue. What waits still at the end is not counted.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_unwind.h>
#include <bpf/perf_bpf_prog.h>

const volatile __u64 min_us = 1;

PERF_BPF_STACKS(off_cpu, 16384, "us", "off CPU");

struct offcputime_wait {
	__u64 since;
	struct perf_bpf_stack_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32); /* thread */
	__type(value, struct offcputime_wait);
} waiting SEC(".maps") PERF_BPF_SHOW("none");

SEC("raw_tp/sched_switch")
int BPF_PROG(offcputime_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 tid = BPF_CORE_READ(prev, pid);

	/* a task that has ended does not wait, and another may get its id */
	if (tid && perf_bpf_wanted() && !BPF_CORE_READ(prev, exit_state)) {
		struct offcputime_wait wait = {.since = now};

		perf_bpf_stack_here(ctx, off_cpu, &wait.key);
		perf_bpf_put(&waiting, &tid, &wait);
	}
	tid = BPF_CORE_READ(next, pid);
	struct offcputime_wait *wait = bpf_map_lookup_elem(&waiting, &tid);
	if (!wait)
		return 0;
	__u64 us = (now - wait->since) / 1000;
	struct perf_bpf_stack_key key = wait->key;
	bpf_map_delete_elem(&waiting, &tid);
	if (us >= min_us)
		perf_bpf_table_add(&off_cpu, &key, us);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
