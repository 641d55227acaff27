// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where tasks wait for locks: call stacks and waiting time.
 *
 *	perf bpf run lockcontention -- make -j8
 *
 * Needs: tracepoints of locks (5.19); before those, of futex(2).
 *
 * The kernel tells when somebody has to wait for one of its own locks, and
 * when he has it. An older kernel does not: there it is the locks of processes,
 * as far as they wait in futex(2), which is what a mutex does that is held.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_unwind.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_STACKS(waits, 16384, "us", "waits for locks");
PERF_BPF_COUNT(contentions, "waits", "waits for locks");

struct lockcontention_wait {
	__u64 since;
	struct perf_bpf_stack_key key;
};

struct lockcontention_who {
	__u64 thread; /* process and thread; 0 for the idle tasks of all CPUs */
	__u64 lock;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lockcontention_who);
	__type(value, struct lockcontention_wait);
} waiting SEC(".maps") PERF_BPF_SHOW("none");

/* A task can wait for a lock while it waits for another: in an interrupt. */
#define begins(ctx, address)                                                                       \
	({                                                                                         \
		struct lockcontention_who who_ = {bpf_get_current_pid_tgid(), (address)};          \
		if (perf_bpf_wanted()) {                                                           \
			struct lockcontention_wait wait_ = {.since = bpf_ktime_get_ns()};          \
			perf_bpf_stack_here(ctx, waits, &wait_.key);                               \
			perf_bpf_put(&waiting, &who_, &wait_);                                     \
		}                                                                                  \
		0;                                                                                 \
	})

static __always_inline int ends(__u64 address)
{
	struct lockcontention_who who = {bpf_get_current_pid_tgid(), address};
	struct lockcontention_wait *wait = bpf_map_lookup_elem(&waiting, &who);

	if (!wait)
		return 0;
	struct perf_bpf_stack_key key = wait->key;
	__u64 us = (bpf_ktime_get_ns() - wait->since + 500) / 1000;
	bpf_map_delete_elem(&waiting, &who);
	perf_bpf_table_add(&waits, &key, us);
	perf_bpf_count(&contentions, 1);
	return 0;
}

/* TP_PROTO(void *lock, unsigned int flags) */
SEC("?raw_tp/contention_begin")
PERF_BPF_ONE_OF("begin")
int BPF_PROG(lockcontention_begin, __u64 lock)
{
	return begins(ctx, lock);
}

SEC("?tracepoint/syscalls/sys_enter_futex")
PERF_BPF_ONE_OF("begin")
int lockcontention_futex(struct trace_event_raw_sys_enter *ctx)
{
	/* linux/futex.h: FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET; 127: without the flags */
	__u32 command = ctx->args[1] & 127;

	if (command != 0 && command != 6 && command != 9)
		return 0;
	return begins(ctx, 0);
}

SEC("?raw_tp/contention_end")
PERF_BPF_ONE_OF("end")
int BPF_PROG(lockcontention_end, __u64 lock)
{
	return ends(lock);
}

SEC("?tracepoint/syscalls/sys_exit_futex")
PERF_BPF_ONE_OF("end")
int lockcontention_futex_done(struct trace_event_raw_sys_exit *ctx)
{
	return ends(0);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
