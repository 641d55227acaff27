// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * perf-bpf trace's side in the kernel: system calls as records of their entry and exit.
 *
 * At the entry, the call's arguments, and what they point to, are kept in the state of the
 * thread. At the exit, the result is added, and the whole is copied once, into the ring. A call
 * that is not traced costs one look into an array.
 *
 * States are in the task storage, which the kernel frees with the thread, and which is found
 * without a lock. Kernels before 5.13 do not have that for tracing programs, and on some CPUs it
 * does not work: there, states are in a hash that is keyed by the address of the task. An address
 * stays the same where the thread id does not (execve by a thread that is not the first), and
 * sched_process_exit removes it.
 *
 * A thread that has a state is traced. Whether a thread without one gets it is asked at each of
 * its calls, so processes that are added later need no more than a change of the map. Children
 * get theirs from their parent at the fork, before they run.
 *
 * The kernel does not run a program on a CPU where a run of it has not ended: it counts a miss. A
 * raw tracepoint's program that can be preempted misses the calls of other threads on that CPU for
 * a whole time slice then, and bpf_preempt_disable() does not help: the thread is preempted where
 * the program enables preemption, which is before its run has ended. Linux 7.2 runs them so. There,
 * the programs are attached to the perf events of the tracepoints, which disable preemption; that
 * costs 200 ns more for each call. trace_source_stop() warns of misses. Entries and exits have a
 * scratch each, since one may run in the middle of the other.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/perf_bpf_uapi.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_own.h>
#include <bpf/perf_bpf_task.h>

#include "trace/trace_maps.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct trace_config config SEC(".rodata.config") = {};
struct trace_live live SEC(".data.live") = {};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	unsigned long flags;
	__u32 status;
};

struct mm_struct {
	unsigned long arg_start, arg_end, env_end;
};

struct seccomp {
	int mode;
};

struct kernel_sigset {
	unsigned long sig[1];
};

struct sigpending {
	struct kernel_sigset signal;
};

struct signal_struct {
	struct {
		int counter;
	} live; /* threads */
};

struct fdtable;

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct {
	struct thread_info thread_info;
	int pid, tgid;
	char comm[16];
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
	struct sigpending pending;
	struct seccomp seccomp;
	int exit_code;
};

/* Samples of tracepoints. */
struct trace_event_raw_sys_enter {
	long id;
};

struct trace_event_raw_sys_exit {
	long ret;
};

struct trace_event_raw_sched_process_fork {
	int child_pid;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* ---- maps ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_ABIS *TRACE_NRS);
	__type(key, __u32);
	__type(value, struct trace_call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct trace_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct trace_state);
} states_by_task SEC(".maps");

/*
 * Children of traced threads that have no state because there was no memory for one, by the address
 * of their task: their calls are lost, and counted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* source.c sets it */
	__type(key, __u64);
	__type(value, __u8);
} stateless SEC(".maps");

/* An empty state: what a hash is updated with must be somewhere, and is too large for a stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_state);
} empty_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_STORES);
	__type(key, __u32);
	__type(value, struct trace_store);
} stores SEC(".maps");

/* The stores that are free; source.c fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, TRACE_STORES);
	__type(value, __u32);
} free_stores SEC(".maps");

#define PID_SET(name)                                                                              \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, 1024);                                                         \
		__type(key, __u32);                                                                \
		__type(value, __u8);                                                               \
	} name SEC(".maps")

PID_SET(pids);
PID_SET(tids);
PID_SET(excluded);

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACE_ABIS *TRACE_NRS);
	__type(key, __u32);
	__type(value, struct trace_lost);
} lost SEC(".maps");

/* By CPU: where the call chains of calls are put out; source.c sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} stacks SEC(".maps");

#include "trace/trace_copy.bpf.h"
#include "trace/trace_fd.bpf.h"
#include "trace/trace_sums.bpf.h"

static __always_inline int is_own(void)
{
	return perf_bpf_is_own((void *)bpf_get_current_task(), config.own_uid, config.own_gid);
}

/* ---- threads ---- */

static __always_inline void lose(__u32 index, enum trace_loss_kind kind)
{
	struct trace_lost *n = bpf_map_lookup_elem(&lost, &index);

	if (n)
		n->n[kind]++;
}

static __always_inline struct trace_state *state_find(void)
{
	if (config.task_storage)
		return bpf_task_storage_get(&states, (void *)bpf_get_current_task_btf(), 0, 0);

	__u64 task = bpf_get_current_task();

	return bpf_map_lookup_elem(&states_by_task, &task);
}

static __always_inline struct trace_state *state_add(void)
{
	if (config.task_storage)
		return bpf_task_storage_get(&states, (void *)bpf_get_current_task_btf(), 0,
					    BPF_LOCAL_STORAGE_GET_F_CREATE);

	__u64 task = bpf_get_current_task();
	__u32 zero = 0;
	void *empty = bpf_map_lookup_elem(&empty_state, &zero);

	if (!empty || bpf_map_update_elem(&states_by_task, &task, empty, BPF_ANY))
		return 0;
	return bpf_map_lookup_elem(&states_by_task, &task);
}

/* Process << 32 | thread, in the PID namespace of perf-bpf; 0 of a thread outside of it. */
static __always_inline __u64 current_ids(void)
{
	return config.pid_ns ? perf_bpf_ids_in_ns((void *)bpf_get_current_task(), config.pid_ns)
			     : bpf_get_current_pid_tgid();
}

/* Whether there was no memory for the thread's state when its parent made it. */
static __always_inline int is_stateless(void)
{
	__u64 task = bpf_get_current_task();

	return live.stateless && bpf_map_lookup_elem(&stateless, &task);
}

/* Whether the current thread, which has no state, is traced. */
static __always_inline int wanted(void)
{
	const __u64 ids = current_ids();
	const __u32 pid = ids >> 32, tid = ids;

	if (pid == config.self)
		return 0;
	if (config.exclude && bpf_map_lookup_elem(&excluded, &pid))
		return 0;
	return !live.targeted || bpf_map_lookup_elem(&pids, &pid) ||
	       bpf_map_lookup_elem(&tids, &tid) || is_stateless();
}

/* What may change between two calls of a thread. */
static __always_inline int wanted_now(void)
{
	if (config.own && !is_own())
		return 0;
	if (config.n_uids) {
		__u32 uid = bpf_get_current_uid_gid();
		int found = 0;

		for (__u32 i = 0; i < TRACE_UIDS && i < config.n_uids; i++) {
			found |= config.uids[i] == uid;
			barrier_var(i);
		}
		if (!found)
			return 0;
	}
	return !config.cgroup || bpf_current_task_under_cgroup(&cgroup, 0) == 1;
}

#include "trace/trace_regs.bpf.h"

/* The memory of the current process; only to compare it. */
static __always_inline __u64 current_mm(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return (__u64)BPF_CORE_READ(task, mm);
}

#include "trace/call_where.bpf.h"
#include "trace/call_memory.bpf.h"

/* ---- output ---- */

/* The reader looks at times; it is woken only where that is too seldom. */
static __always_inline __u64 wake_flags(void)
{
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < config.wake_bytes)
		return BPF_RB_NO_WAKEUP;

	__u64 end = bpf_ringbuf_query(&ring, BPF_RB_PROD_POS);

	if (end - live.last_wake < config.wake_step)
		return BPF_RB_NO_WAKEUP;
	live.last_wake = end;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline void send(struct trace_record *rec, __u64 len, __u32 index)
{
	if (bpf_ringbuf_output(&ring, rec, len, wake_flags()))
		lose(index, TRACE_LOST_RECORD);
	else if (rec->flags & TRACE_NO_PIECES)
		lose(index, TRACE_LOST_PIECES);
}

/* Sends the record that the state has; `copies` are read first. */
static __always_inline void send_state(struct trace_state *state, __u32 copies)
{
	struct trace_scratch *s;
	__u64 from, n, len = state->len;
	__u32 where;

	bpf_get_current_comm(state->rec.comm, sizeof(state->rec.comm));
	state->rec.cpu = bpf_get_smp_processor_id();
	if (!copies && !state->store) {
		state->rec.size = len;
		barrier_var(len);
		if (len < sizeof(state->rec) || len > TRACE_HEAD + TRACE_INLINE)
			return;
		send(&state->rec, len, state->index);
		return;
	}
	s = scratch_get(&where, 1);
	if (!s)
		return;
	from = pieces_at(&state->rec);
	n = len - from;
	s->index = state->index;
	s->len = len;
	s->data = n; /* nearly: heads count as data */
	s->faulted = 0;
	s->compat = state->rec.abi == TRACE_ABI_32;
	s->netlink = state->netlink;
	s->ret = state->rec.ret;
	for (int i = 0; i < TRACE_ARGS; i++)
		s->args[i] = state->args[i];
	__builtin_memcpy(&s->rec, &state->rec, sizeof(s->rec) + sizeof(s->rec_args));
	if (!state->store) {
		barrier_var(n);
		barrier_var(from);
		if (n > TRACE_INLINE || from > TRACE_HEAD)
			return;
		bpf_probe_read_kernel((void *)&s->rec + from, n, (void *)&state->rec + from);
	} else {
		__u32 at = state->store - 1;
		struct trace_store *store = bpf_map_lookup_elem(&stores, &at);

		barrier_var(n);
		barrier_var(from);
		if (!store || n > TRACE_RECORD_MAX - TRACE_HEAD || from > TRACE_HEAD)
			return;
		bpf_probe_read_kernel((void *)&s->rec + from, n, store->rec + from);
		store_put(state);
	}
	copy_all(s, where, copies, 1);
	len = s->len;
	s->rec.size = len;
	barrier_var(len);
	if (len < sizeof(s->rec) || len > TRACE_RECORD_MAX)
		return;
	send(&s->rec, len, state->index);
}

/*
 * The call chain of the thread, for the record that will be sent. It is put out first: who has the
 * record can be sure of the chain.
 */
static __always_inline void put_stack(void *ctx, struct trace_state *state)
{
	if (!config.stacks)
		return;
	if (bpf_perf_event_output(ctx, &stacks, BPF_F_CURRENT_CPU, &state->rec.exit_ns,
				  sizeof(struct trace_stack_key)))
		lose(state->index, TRACE_LOST_STACK);
	else
		state->rec.flags |= TRACE_STACK;
}

/*
 * The thread ends, or tracing does, in the middle of a call. It is rare, and not inlined: the stack
 * of its caller has to be small; see call_where.bpf.h.
 */
static __attribute__((noinline)) int send_unfinished(struct trace_state *state,
						     const struct trace_call *call)
{
	state->in_call = 0;
	state->rec.flags |= TRACE_NO_EXIT;
	if (config.where && !where_unfinished(state)) {
		store_put(state);
		return 0;
	}
	if (config.summary)
		sum_unfinished(state, call);
	if (!config.events || config.failed_only ||
	    (config.min_ns && bpf_ktime_get_ns() - state->rec.enter_ns < config.min_ns))
		store_put(state);
	else
		send_state(state, 0);
	return 0;
}

/* ---- calls ---- */

static __always_inline void begin(struct trace_state *state, const struct trace_call *call,
				  const struct pt_regs *regs, __u32 index, __u32 abi, __u32 nr)
{
	const __u64 ids = current_ids();
	__u32 n_args = call->n_args;

	if (n_args > TRACE_ARGS)
		n_args = TRACE_ARGS;
	state->index = index;
	state->rec.nr = nr;
	state->rec.nr_high = nr >> 16;
	state->rec.abi = abi;
	state->rec.flags = 0;
	state->rec.exit_ns = 0;
	state->rec.ret = 0;
	state->rec.pid = ids >> 32;
	state->rec.tid = ids;
	state->rec.n_args = n_args;
	state->rec.n_pieces = 0;
	state->len = sizeof(state->rec) + n_args * 8;
	state->faulted = state->strings_faulted = state->netlink = 0;
	if (config.where) {
		state->mm = 0;
		state->where_known = state->where_matched = 0;
		state->rejected = state->where_open = state->where_sure = 0;
	}
	read_args(regs, abi, state->args);
	if (call->sigreturn)
		state->args[0] = sigreturn_mask(regs);
}

static __always_inline int enter(const struct pt_regs *regs, long id)
{
	struct trace_state *state;
	const struct trace_call *call;
	__u32 abi, index, copies;

	abi = current_abi(&id);
	index = trace_nr_index(abi, (__u32)id);
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call || !call->traced)
		return 0;
	state = state_find();
	if (!state) {
		if (!wanted() || !wanted_now())
			return 0;
		state = state_add();
		if (!state) {
			/* there may be memory at the exit, which counts it if not */
			if (call->no_exit)
				lose(index, TRACE_LOST_THREAD);
			return 0;
		}
	} else {
		state->late = 0;
		state->settled = 1;
		state->skipped = !wanted_now();
		if (state->skipped)
			return 0;
	}
	state->settled = 1;
	if (state->in_call || state->store) {
		/* its exit was not seen */
		__u32 before = state->index;
		const struct trace_call *other = bpf_map_lookup_elem(&calls, &before);

		if (other)
			send_unfinished(state, other);
	}
	begin(state, call, regs, index, abi, (__u32)id);
	if (state->again) {
		if (state->again == index + 1)
			state->rec.flags = TRACE_RESTARTED;
		state->again = 0;
	}
	if (is_restart(abi, (__u32)id))
		state->rec.flags = TRACE_RESTARTED;
	if (config.where && call->where && !where_enter(state, call)) {
		state->rejected = 1;
		return 0;
	}
	copies = copies_of(state, call, 0);
	if (copies && !copy_straight(state, call, copies, 0)) {
		keep_copies(state, call, copies);
		if (state->faulted || state->strings_faulted)
			state->mm = current_mm();
	}
	state->rec.enter_ns = bpf_ktime_get_ns();
	if (call->no_exit)
		send_unfinished(state, call);
	else
		state->in_call = 1;
	return 0;
}

/* SIGKILL is pending: the call ends only so that the thread can. */
static __always_inline int is_killed(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, pending.signal.sig[0]) >> 8 & 1;
}

/* Results of 32-bit programs have 32 bits; only errors are negative. */
static __always_inline long ret_of(__u32 abi, long ret)
{
	if (abi != TRACE_ABI_32)
		return ret;
	ret = (int)ret;
	return ret < -4095 ? (__u32)ret : ret;
}

/* Whether a seccomp filter decides about the calls of the thread. */
static __always_inline int has_filter(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	/* SECCOMP_MODE_FILTER, and the mode of a thread that it kills */
	return BPF_CORE_READ(task, seccomp.mode) >= 2;
}

/*
 * The thread leaves a call that is not traced. It was not in one that is, and from now on an exit
 * without an entry is of a call that was denied. Only threads with a filter need to know.
 */
static __always_inline void settle(struct trace_state *state)
{
	if (!state && has_filter() && wanted() && wanted_now())
		state = state_add();
	if (state)
		state->settled = 1;
}

/*
 * A call that a seccomp filter denied: the kernel runs the program at its exit alone. What the
 * registers and the memory had at the entry is still there.
 */
static __always_inline int filtered(void *ctx, struct trace_state *state,
				    const struct trace_call *call, long ret)
{
	const __u32 failed = ret < 0 && ret >= -4095;
	__u32 copies;

	state->late = 0;
	state->rec.flags = TRACE_FILTERED;
	state->rec.ret = ret;
	state->rec.enter_ns = state->rec.exit_ns = bpf_ktime_get_ns();
	if (config.where && call->where && (!where_enter(state, call) || !where_leave(state, call)))
		return 0;
	if (config.summary)
		sum_add(state, call, 0, failed ? -ret : 0);
	if (!config.events || config.min_ns || (config.failed_only && !failed))
		return 0;
	copies = copies_of(state, call, 0);
	if (copies && !copy_straight(state, call, copies, 0))
		keep_copies(state, call, copies);
	put_stack(ctx, state);
	send_state(state, 0);
	return 0;
}

/*
 * An exit without an entry: of a call that was denied, or of the call that a thread was in when
 * tracing began. Other exits are of calls that began before the program at the entries was
 * attached, or after it was detached: they are not sent.
 */
static __always_inline int late(void *ctx, struct trace_state *state, const struct pt_regs *regs,
				long ret)
{
	const struct trace_call *call;
	long nr = nr_at_exit(regs);
	__u32 abi = current_abi(&nr), index;

	if (nr < 0)
		return 0;
	index = trace_nr_index(abi, (__u32)nr);
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call || !call->traced) {
		if (live.started)
			settle(state);
		return 0;
	}
	ret = ret_of(abi, ret);
	/* a new thread returns from the call of its parent */
	if (!ret && is_fork(abi, (__u32)nr))
		return 0;
	if (state && live.ending)
		return 0;
	if (!state && !wanted())
		return 0;
	if (!wanted_now())
		return 0;
	if (state && state->settled && !state->skipped && has_filter()) {
		begin(state, call, regs, index, abi, (__u32)nr);
		return filtered(ctx, state, call, ret);
	}
	if (call->no_exit || (state && state->late))
		return 0;
	if (!state)
		state = state_add();
	if (!state) {
		lose(index, TRACE_LOST_THREAD);
		return 0;
	}
	state->late = 1;
	state->settled = live.started;
	begin(state, call, regs, index, abi, (__u32)nr);
	state->rec.flags = TRACE_NO_ENTRY;
	state->rec.enter_ns = 0;
	state->rec.exit_ns = bpf_ktime_get_ns();
	state->rec.ret = ret;
	if (config.where && call->where && !where_exit(state, call, 0))
		return 0;
	if (config.summary)
		sum_unfinished(state, call);
	if (!config.events || config.min_ns || (config.failed_only && !(ret < 0 && ret >= -4095)))
		return 0;
	put_stack(ctx, state);
	send_state(state, copies_of(state, call, 1));
	return 0;
}

static __always_inline int leave(void *ctx, const struct pt_regs *regs, long ret)
{
	struct trace_state *state = state_find();
	const struct trace_call *call;
	__u64 now;
	__u32 index, copies, fds, failed;

	if (config.where && state && state->rejected) {
		state->rejected = 0;
		return 0;
	}
	if (!state || !state->in_call)
		return late(ctx, state, regs, ret);
	state->in_call = 0;
	index = state->index;
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call)
		return 0;
	/* an execve that made it another's: what the entry had was still the user's */
	if (config.own && !is_own()) {
		send_unfinished(state, call);
		return 0;
	}
	now = bpf_ktime_get_ns();
	ret = ret_of(state->rec.abi, ret);
	failed = ret < 0 && ret >= -4095;
	/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, and ERESTART_RESTARTBLOCK for
	 * restart_syscall */
	if (ret <= -512 && ret >= -516) {
		if (is_killed()) {
			state->rec.flags |= TRACE_ENDED;
			send_unfinished(state, call);
			return 0;
		}
		if (ret >= -514)
			state->again = index + 1;
	}
	state->rec.exit_ns = now;
	state->rec.ret = ret;
	if (config.where && call->where && !where_leave(state, call)) {
		store_put(state);
		return 0;
	}
	if (config.summary)
		sum_add(state, call, now - state->rec.enter_ns, failed ? -ret : 0);
	if (!config.events || now - state->rec.enter_ns < config.min_ns ||
	    (config.failed_only && !failed)) {
		store_put(state);
		return 0;
	}
	put_stack(ctx, state);
	copies = copies_of(state, call, 1);
	fds = copies & COPY_FDS;
	copies &= ~COPY_FDS;
	if ((state->faulted || state->strings_faulted) && state->mm == current_mm())
		copies |= state->faulted;
	else if ((state->faulted || state->strings_faulted) && !ret)
		fds |= COPY_EXEC;
	if (copies && !state->netlink && copy_straight(state, call, copies, 1))
		copies = 0;
	copies |= fds;
	send_state(state, copies);
	return 0;
}

SEC("tp_btf/sys_enter")
int trace_enter(__u64 *ctx)
{
	return enter((const struct pt_regs *)ctx[0], (long)ctx[1]);
}

SEC("tp_btf/sys_exit")
int trace_exit(__u64 *ctx)
{
	return leave(ctx, (const struct pt_regs *)ctx[0], (long)ctx[1]);
}

/*
 * What programs at the perf events of a tracepoint return is for all events of that tracepoint in
 * the system: 0 would take them away from every recording.
 */
enum { KEEP_EVENT = 1 };

SEC("tracepoint/raw_syscalls/sys_enter")
int trace_enter_event(struct trace_event_raw_sys_enter *ctx)
{
	enter(current_regs(), ctx->id);
	return KEEP_EVENT;
}

SEC("tracepoint/raw_syscalls/sys_exit")
int trace_exit_event(struct trace_event_raw_sys_exit *ctx)
{
	leave(ctx, current_regs(), ctx->ret);
	return KEEP_EVENT;
}

/* ---- between calls ---- */

/* A record without pieces. `info` is the first bytes of a siginfo_t; NULL: none. */
static __always_inline void send_event(enum trace_event_kind event, int value, const void *info)
{
	const __u64 ids = current_ids();
	__u64 words[TRACE_HEAD / 8] = {}, size = sizeof(struct trace_record);
	struct trace_record *rec = (void *)words;

	rec->nr = event;
	rec->flags = TRACE_EVENT;
	rec->enter_ns = rec->exit_ns = bpf_ktime_get_ns();
	rec->ret = value;
	rec->pid = ids >> 32;
	rec->tid = ids;
	rec->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	if (info) {
		rec->n_args = TRACE_ARGS;
		size = TRACE_HEAD;
		bpf_probe_read_kernel(words + sizeof(*rec) / 8, TRACE_ARGS * 8, info);
	}
	rec->size = size;
	send(rec, size, 0);
}

/*
 * What strace sees of a signal: not SIGKILL, which is not delivered, and what is sent without a
 * siginfo_t is by the kernel.
 */
SEC("tp_btf/signal_deliver")
int trace_signal(__u64 *ctx)
{
	enum { SIG_KILL = 9, WITHOUT_INFO = 1 };
	const __u32 sig = ctx[0];

	if (sig == SIG_KILL || sig - 1 >= 64 || !(config.signals >> (sig - 1) & 1) ||
	    ctx[1] <= WITHOUT_INFO)
		return 0;
	if ((state_find() || wanted()) && wanted_now())
		send_event(TRACE_EVENT_SIGNAL, sig, (void *)ctx[1]);
	return 0;
}

/* ---- threads begin and end ---- */

/* There is no memory for the state of a child, which is traced. */
static __always_inline void add_stateless(__u64 task)
{
	__u8 yes = 1;

	live.stateless = 1;
	if (bpf_map_update_elem(&stateless, &task, &yes, BPF_ANY))
		__sync_fetch_and_add(&live.not_followed, 1);
}

SEC("tp_btf/sched_process_fork")
int trace_fork(__u64 *ctx)
{
	struct trace_state *state;

	if (!state_find() && !wanted())
		return 0;
	state = bpf_task_storage_get(&states, (void *)ctx[1], 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (state)
		state->settled = live.started;
	else
		add_stateless(ctx[1]);
	return 0;
}

static __always_inline void add_by_task(__u64 task)
{
	__u32 zero = 0;
	void *empty = bpf_map_lookup_elem(&empty_state, &zero);
	struct trace_state *state;

	if (!empty || bpf_map_update_elem(&states_by_task, &task, empty, BPF_ANY)) {
		add_stateless(task);
		return;
	}
	state = bpf_map_lookup_elem(&states_by_task, &task);
	if (state)
		state->settled = live.started;
}

SEC("raw_tp/sched_process_fork")
int trace_fork_hash(__u64 *ctx)
{
	if (state_find() || wanted())
		add_by_task(ctx[1]);
	return 0;
}

/* The id is of the initial PID namespace, as that of the sample. */
extern struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

SEC("tracepoint/sched/sched_process_fork")
int trace_fork_event(struct trace_event_raw_sched_process_fork *ctx)
{
	struct task_struct *child;
	struct trace_state *state;

	if (!state_find() && !wanted())
		return KEEP_EVENT;
	child = bpf_task_from_pid(ctx->child_pid);
	if (!child)
		return KEEP_EVENT;
	if (!config.task_storage) {
		add_by_task((__u64)child);
	} else {
		state = bpf_task_storage_get(&states, (void *)child, 0,
					     BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (state)
			state->settled = live.started;
		else
			add_stateless((__u64)child);
	}
	bpf_task_release(child);
	return KEEP_EVENT;
}

/* The ids of what ends may soon be another's. Of a process it is the last thread that ends it. */
static __always_inline void forget_ids(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const __u64 ids = current_ids();
	const __u32 pid = ids >> 32, tid = ids;

	bpf_map_delete_elem(&tids, &tid);
	if (BPF_CORE_READ(task, signal, live.counter))
		return;
	bpf_map_delete_elem(&pids, &pid);
	if (config.exclude)
		bpf_map_delete_elem(&excluded, &pid);
}

static __always_inline int thread_exit(void)
{
	struct trace_state *state = state_find();
	const int shown = config.ends && (state || wanted()) && wanted_now();

	if (live.targeted || config.exclude)
		forget_ids();
	if (live.stateless) {
		__u64 task = bpf_get_current_task();

		bpf_map_delete_elem(&stateless, &task);
	}
	if (state && state->in_call) {
		__u32 index = state->index;
		const struct trace_call *call = bpf_map_lookup_elem(&calls, &index);

		state->rec.flags |= TRACE_ENDED;
		if (call)
			send_unfinished(state, call);
	}
	if (shown) {
		struct task_struct *task = (void *)bpf_get_current_task();

		send_event(TRACE_EVENT_END, BPF_CORE_READ(task, exit_code), 0);
	}
	if (!state)
		return 0;
	store_put(state);
	if (!config.task_storage) {
		__u64 task = bpf_get_current_task();

		bpf_map_delete_elem(&states_by_task, &task);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int trace_thread_exit(__u64 *ctx)
{
	return thread_exit();
}

SEC("tracepoint/sched/sched_process_exit")
int trace_thread_exit_event(__u64 *ctx)
{
	thread_exit();
	return KEEP_EVENT;
}

/*
 * Whether this kernel's tracing programs have task storage, and memory for it: 7.2 takes that from
 * an allocator that some CPUs do not have (x86 without CMPXCHG16B, arm64 without LSE).
 */
SEC("raw_tp")
int trace_probe(__u64 *ctx)
{
	return bpf_task_storage_get(&states, (void *)bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE) != 0;
}

/* The states of threads that are inside of a call, for trace_source_stop(). */
SEC("iter/task")
int trace_running(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct trace_state *state;

	if (!task)
		return 0;
	state = bpf_task_storage_get(&states, (void *)task, 0, 0);
	if (!state || !state->in_call)
		return 0;
	bpf_probe_read_kernel_str(state->rec.comm, sizeof(state->rec.comm), &task->comm);
	state->mm = 0; /* an address of the kernel, which a user without privileges must not see */
	bpf_seq_write(ctx->meta->seq, state, sizeof(*state));
	return 0;
}
