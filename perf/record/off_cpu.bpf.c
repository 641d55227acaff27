// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record --off-cpu: how long tasks sleep, by thread and user stack. A task that gives up its CPU
 * while it may not run (preempted tasks may) is noted with its stack; when it has a CPU again, the
 * time since then is added to a sum, or, if it is long, put out as a sample at once. Kernel threads
 * have no user stack and are left out, as perf does.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

#include "perf/record/off_cpu_shared.h"

#define KERNEL_THREAD	0x00200000 /* PF_KTHREAD */
#define INTERRUPTIBLE	0x01	   /* TASK_INTERRUPTIBLE */
#define UNINTERRUPTIBLE 0x02	   /* TASK_UNINTERRUPTIBLE */
#define DEAD		0x80	   /* TASK_DEAD */
#define STATES		0xff	   /* without TASK_KILLABLE, TASK_FREEZABLE and the like */
#define NO_ROOM		28	   /* ENOSPC: in the ring, where the kernel counts it */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct off_cpu_config config SEC(".rodata.config") = {};
struct off_cpu_live live SEC(".data.live") = {};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct___state {
	unsigned int __state; /* since Linux 5.14 */
};

struct task_struct___before_5_14 {
	volatile long state;
};

#pragma clang attribute pop

PERF_BPF_STACKS(off_cpu, OFF_CPU_STACKS, "ns", "off CPU");

struct off_cpu_since {
	__u64 ns;
	__u64 enabled; /* live.enabled then */
	struct off_cpu_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFF_CPU_WAITS);
	__type(key, __u32); /* the thread, as the initial PID namespace has it */
	__type(value, struct off_cpu_since);
} waiting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFF_CPU_SUMS);
	__type(key, struct off_cpu_key);
	__type(value, __u64);
} sums SEC(".maps");

/* Of processes, threads or cgroups; the size of a key is set before it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFF_CPU_WANTED);
	__uint(key_size, 8);
	__uint(value_size, 4);
} wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
} waits SEC(".maps");

static __always_inline __u32 state_of(const struct task_struct *task)
{
	const struct task_struct___state *now = (const void *)task;
	const struct task_struct___before_5_14 *before = (const void *)task;

	if (bpf_core_field_exists(now->__state))
		return BPF_CORE_READ(now, __state);
	return (__u32)BPF_CORE_READ(before, state);
}

static __always_inline int is_below_wanted(const struct task_struct *task)
{
	const struct task_struct___wanted *of = (const void *)task;
	const struct cgroup___wanted *cgroup = BPF_CORE_READ(of, cgroups, dfl_cgrp);

	for (int depth = 0; depth < PERF_BPF_CGROUP_DEPTH && cgroup; depth++) {
		__u64 id = BPF_CORE_READ(cgroup, kn, id);

		if (bpf_map_lookup_elem(&wanted, &id))
			return 1;
		cgroup = (const void *)BPF_CORE_READ(cgroup, self.parent);
	}
	return 0;
}

static __always_inline int is_wanted(const struct task_struct *task, __u64 ids)
{
	/* of 8 bytes for the verifier, which knows one size of keys; the map takes the first 4 */
	__u64 id;

	if (perf_bpf_filter.self && perf_bpf_filter.self == ids >> 32)
		return 0;
	switch (config.filter) {
	case OFF_CPU_PROCESSES:
		id = ids >> 32;
		return bpf_map_lookup_elem(&wanted, &id) != NULL;
	case OFF_CPU_THREADS:
		id = (__u32)ids;
		return bpf_map_lookup_elem(&wanted, &id) != NULL;
	case OFF_CPU_CGROUPS:
		return is_below_wanted(task);
	default:
		return 1;
	}
}

static __always_inline int is_on_wanted_cpu(void)
{
	const __u32 cpu = bpf_get_smp_processor_id();

	return !config.of_cpus || (cpu < OFF_CPU_CPUS &&
				   config.cpus[(cpu / 64) % (OFF_CPU_CPUS / 64)] >> cpu % 64 & 1);
}

/*
 * A task that has slept before and was not seen to be back: Linux 6.18 did not run the program at
 * one in some 1,000 switches, without recursion misses.
 */
static __always_inline void check_was_back(__u32 thread)
{
	const struct off_cpu_since *since = bpf_map_lookup_elem(&waiting, &thread);

	if (since && since->enabled == live.enabled)
		__sync_fetch_and_add(&live.unseen_returns, 1);
}

static __always_inline void ends(const struct task_struct *task)
{
	__u32 thread = BPF_CORE_READ(task, pid);

	check_was_back(thread);
	bpf_map_delete_elem(&waiting, &thread);
}

static __always_inline void leaves(void *ctx, const struct task_struct *task, __u64 now)
{
	struct off_cpu_since since = {.ns = now, .enabled = live.enabled};
	struct perf_bpf_stack_key stack;
	const __u64 ids = perf_bpf_task_pid_tgid(task);
	__u32 thread = BPF_CORE_READ(task, pid);

	if (BPF_CORE_READ(task, flags) & KERNEL_THREAD || !is_on_wanted_cpu() || !ids ||
	    !is_wanted(task, ids))
		return;
	check_was_back(thread);
	perf_bpf_stack_here_how(ctx, off_cpu, &stack, 0, 1);
	if (stack.user == PERF_BPF_STACK_LOST)
		__sync_fetch_and_add(&live.lost_stacks, 1);
	since.key.tgid = ids >> 32;
	since.key.tid = (__u32)ids;
	since.key.stack = stack.user;
	if (config.with_cgroup) {
		const struct task_struct___wanted *of = (const void *)task;

		since.key.cgroup = BPF_CORE_READ(of, cgroups, dfl_cgrp, kn, id);
	}
	if (bpf_map_update_elem(&waiting, &thread, &since, BPF_ANY))
		__sync_fetch_and_add(&live.lost_waits, 1);
}

static __always_inline void is_back(void *ctx, const struct task_struct *task, __u64 now)
{
	__u32 thread = BPF_CORE_READ(task, pid);
	const struct off_cpu_since *since = bpf_map_lookup_elem(&waiting, &thread);

	if (!since)
		return;
	struct off_cpu_wait wait = {.key = since->key, .ns = now - since->ns};
	const __u64 enabled = since->enabled;
	bpf_map_delete_elem(&waiting, &thread);
	if (enabled != live.enabled)
		return; /* it may have been back while nothing was recorded */
	if (wait.ns >= config.threshold_ns) {
		const long err =
			bpf_perf_event_output(ctx, &waits, BPF_F_CURRENT_CPU, &wait, sizeof(wait));

		/* A CPU that has just come online has no ring yet: then it is summed. */
		if (!err || err == -NO_ROOM)
			return;
	}
	if (perf_bpf_table_add_to(&sums, &wait.key, wait.ns))
		__sync_fetch_and_add(&live.lost_sums, 1);
}

SEC("raw_tp/sched_switch")
int off_cpu_switch(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *prev = (const void *)ctx->args[1];
	const struct task_struct *next = (const void *)ctx->args[2];
	const __u64 now = bpf_ktime_get_ns();
	__u32 state;

	if (!live.enabled)
		return 0;
	if (config.has_state)
		state = ctx->args[3];
	else
		state = state_of(prev);
	state &= STATES;
	if (!ctx->args[0] && (state == INTERRUPTIBLE || state == UNINTERRUPTIBLE))
		leaves(ctx, prev, now);
	else if (state == DEAD)
		ends(prev);
	is_back(ctx, next, now);
	return 0;
}

/*
 * A new task is wanted if its parent is, and forgotten otherwise: its id may have been the one of a
 * task that was wanted, and has ended.
 */
SEC("raw_tp/sched_process_fork")
int off_cpu_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const __u64 parent = perf_bpf_task_pid_tgid((const void *)ctx->args[0]);
	const __u64 child = perf_bpf_task_pid_tgid((const void *)ctx->args[1]);
	const bool of_threads = config.filter == OFF_CPU_THREADS;
	const __u64 from = of_threads ? (__u32)parent : parent >> 32;
	const __u64 id = of_threads ? (__u32)child : child >> 32;
	const __u32 yes = 1;

	/* who has the key already is a thread of the same process */
	if ((!of_threads && config.filter != OFF_CPU_PROCESSES) || !child || id == from)
		return 0;
	if (!config.follow || !bpf_map_lookup_elem(&wanted, &from))
		bpf_map_delete_elem(&wanted, &id);
	else if (bpf_map_update_elem(&wanted, &id, &yes, BPF_ANY))
		__sync_fetch_and_add(&live.lost_children, 1);
	return 0;
}
