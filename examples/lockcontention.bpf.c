// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where tasks wait for locks: call stacks and waiting time.
 *
 *	perf-bpf run lockcontention -- make -j8
 *
 * Needs: tracepoints of futex(2), and of locks (5.19) or kprobes.
 *
 * There are two kinds of waits. A task waits for a lock of the kernel: the tracepoints of locks
 * show all of these from 5.19 on. Before, only those for mutexes and semaphores (rw_semaphore)
 * are counted, by kprobes of their slow paths; of each function no more can wait at once than a
 * kretprobe has instances, twice the number of CPUs and at least 10.
 * A thread waits in futex(2): for a lock of its process that is held, such as a
 * pthread mutex, but also for a condition variable or the end of another thread.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_unwind.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_STACKS(waits, 16384, "us", "waits for locks of the kernel");
PERF_BPF_COUNT(contentions, "waits", "waits for locks of the kernel");
PERF_BPF_STACKS(futex_waits, 16384, "us", "waits in futex(2)");
PERF_BPF_COUNT(futexes, "waits", "waits in futex(2)");

struct lockcontention_wait {
	__u64 since;
	struct perf_bpf_stack_key key;
};

struct lockcontention_who {
	__u64 thread; /* process and thread; 0 for the idle tasks of all CPUs */
	__u64 lock;
};

/* Instead of the address of a lock. */
enum {
	LOCK_FUTEX = 0,
	LOCK_SLEEPING = 1,
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lockcontention_who);
	__type(value, struct lockcontention_wait);
} waiting SEC(".maps") PERF_BPF_SHOW("none");

/* A task can wait for a lock while it waits for another: in an interrupt, or in futex(2). */
#define begins(ctx, map, address)                                                                  \
	({                                                                                         \
		struct lockcontention_who who_ = {bpf_get_current_pid_tgid(), (address)};          \
		if (perf_bpf_wanted()) {                                                           \
			struct lockcontention_wait wait_ = {.since = bpf_ktime_get_ns()};          \
			perf_bpf_stack_here(ctx, map, &wait_.key);                                 \
			perf_bpf_put(&waiting, &who_, &wait_);                                     \
		}                                                                                  \
		0;                                                                                 \
	})

#define ends(map, counter, address, waited)                                                        \
	({                                                                                         \
		struct lockcontention_who who_ = {bpf_get_current_pid_tgid(), (address)};          \
		struct lockcontention_wait *wait_ = bpf_map_lookup_elem(&waiting, &who_);          \
		if (wait_) {                                                                       \
			struct perf_bpf_stack_key key_ = wait_->key;                               \
			__u64 us_ = (bpf_ktime_get_ns() - wait_->since + 500) / 1000;              \
			bpf_map_delete_elem(&waiting, &who_);                                      \
			if (waited) {                                                              \
				perf_bpf_table_add(&map, &key_, us_);                              \
				perf_bpf_count(&counter, 1);                                       \
			}                                                                          \
		}                                                                                  \
		0;                                                                                 \
	})

/* ---- locks of the kernel ---- */

/* TP_PROTO(void *lock, unsigned int flags) */
SEC("?raw_tp/contention_begin")
PERF_BPF_ONE_OF("kernel=tracepoints")
int BPF_PROG(lockcontention_begin, __u64 lock)
{
	return begins(ctx, waits, lock);
}

SEC("?raw_tp/contention_end")
PERF_BPF_ONE_OF("kernel=tracepoints")
int BPF_PROG(lockcontention_end, __u64 lock)
{
	return ends(waits, contentions, lock, true);
}

#define SLOW_PATH(function)                                                                        \
	SEC("?kprobe/" #function)                                                                  \
	PERF_BPF_ONE_OF("kernel=probes")                                                           \
	int begin_##function(struct pt_regs *ctx)                                                  \
	{                                                                                          \
		return begins(ctx, waits, LOCK_SLEEPING);                                          \
	}                                                                                          \
	SEC("?kretprobe/" #function)                                                               \
	PERF_BPF_ONE_OF("kernel=probes")                                                           \
	int end_##function(struct pt_regs *ctx)                                                    \
	{                                                                                          \
		return ends(waits, contentions, LOCK_SLEEPING, true);                              \
	}

SLOW_PATH(__mutex_lock_slowpath)
SLOW_PATH(__mutex_lock_killable_slowpath)
SLOW_PATH(__mutex_lock_interruptible_slowpath)
SLOW_PATH(rwsem_down_read_slowpath)
SLOW_PATH(rwsem_down_write_slowpath)

/* ---- futex(2) ---- */

/* A call that finds another value, or that is invalid, does not wait: EAGAIN, EINVAL. */
static __always_inline bool has_waited(long result)
{
	return result != -11 && result != -22;
}

SEC("tracepoint/syscalls/sys_enter_futex")
int lockcontention_futex(struct trace_event_raw_sys_enter *ctx)
{
	/*
	 * linux/futex.h: FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI,
	 * FUTEX_LOCK_PI2; 127: without the flags
	 */
	__u32 command = ctx->args[1] & 127;

	if (command != 0 && command != 6 && command != 9 && command != 11 && command != 13)
		return 0;
	return begins(ctx, futex_waits, LOCK_FUTEX);
}

SEC("tracepoint/syscalls/sys_exit_futex")
int lockcontention_futex_done(struct trace_event_raw_sys_exit *ctx)
{
	return ends(futex_waits, futexes, LOCK_FUTEX, has_waited(ctx->ret));
}

#define FUTEX_CALL(call)                                                                           \
	SEC("?tracepoint/syscalls/sys_enter_" #call)                                               \
	int begin_##call(struct trace_event_raw_sys_enter *ctx)                                    \
	{                                                                                          \
		return begins(ctx, futex_waits, LOCK_FUTEX);                                       \
	}                                                                                          \
	SEC("?tracepoint/syscalls/sys_exit_" #call)                                                \
	int end_##call(struct trace_event_raw_sys_exit *ctx)                                       \
	{                                                                                          \
		return ends(futex_waits, futexes, LOCK_FUTEX, has_waited(ctx->ret));               \
	}

FUTEX_CALL(futex_waitv) /* 5.16 */
FUTEX_CALL(futex_wait)	/* 6.7 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";
