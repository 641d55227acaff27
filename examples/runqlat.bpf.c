// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long runnable tasks wait for a CPU.
 *
 *	perf-bpf run runqlat -- sleep 5
 *	perf-bpf run runqlat --comms make --set min_us=100 -- make
 *
 * Needs: tracepoints of the scheduler.
 *
 * A task is queued when it is woken, and when it loses its CPU while it could
 * go on; the time ends when a CPU is given to it. The idle task does not count.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

const volatile __u64 min_us = 0;

PERF_BPF_LOG2(latency, "us", "time in the run queue");
PERF_BPF_LOG2_BY(latency_by_comm, struct runqlat_comm, 4096, "us", "by command");

struct runqlat_comm {
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32); /* thread */
	__type(value, __u64);
} queued SEC(".maps") PERF_BPF_SHOW("none");

/*
 * again: also if it is noted already. Who lost its CPU may be woken before it gets one: it has
 * waited since the first.
 */
static __always_inline void note_queued(struct task_struct *task, bool again)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	__u64 now = bpf_ktime_get_ns();

	if (!tid || !perf_bpf_wanted_task(task))
		return;
	if (again || !bpf_map_lookup_elem(&queued, &tid))
		perf_bpf_put(&queued, &tid, &now);
}

SEC("raw_tp/sched_wakeup")
int BPF_PROG(runqlat_wakeup, struct task_struct *task)
{
	note_queued(task, false);
	return 0;
}

SEC("raw_tp/sched_wakeup_new")
int BPF_PROG(runqlat_wakeup_new, struct task_struct *task)
{
	note_queued(task, false);
	return 0;
}

/* Before 5.14 its name had no underscores. */
struct task_struct___old {
	long state;
} __attribute__((preserve_access_index));
struct task_struct___new {
	unsigned int __state;
} __attribute__((preserve_access_index));

static __always_inline int could_go_on(void *task)
{
	struct task_struct___old *old = task;
	struct task_struct___new *new = task;

	if (bpf_core_field_exists(new->__state))
		return !BPF_CORE_READ(new, __state);
	return !BPF_CORE_READ(old, state);
}

SEC("raw_tp/sched_switch")
int BPF_PROG(runqlat_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct runqlat_comm key = {};
	__u32 tid = BPF_CORE_READ(next, pid), before = BPF_CORE_READ(prev, pid);

	/*
	 * Who was preempted goes on, whatever its state: it may have been about to sleep. Who
	 * sleeps may have been woken while it still ran, which is not the wakeup that it waits for.
	 */
	if (preempt || could_go_on(prev))
		note_queued(prev, true);
	else
		bpf_map_delete_elem(&queued, &before);
	__u64 *since = bpf_map_lookup_elem(&queued, &tid);
	if (!since)
		return 0;
	__u64 us = (bpf_ktime_get_ns() - *since) / 1000;
	bpf_map_delete_elem(&queued, &tid);
	if (us < min_us)
		return 0;
	bpf_core_read_str(key.comm, sizeof(key.comm), &next->comm);
	perf_bpf_log2(&latency, us);
	perf_bpf_log2_by(&latency_by_comm, &key, us);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
