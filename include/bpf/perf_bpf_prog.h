/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BPF programs that perf-bpf compiles: bpf_helpers.h, and on top of it the
 * short spellings that perf's own headers for BPF programs had from 2018 to
 * 2023 (SEC, bpf_map, license, syscall_enter …), so that programs of that time
 * compile as they are.
 *
 *	#include <bpf/perf_bpf_prog.h>
 *
 *	bpf_map(sizes, ARRAY, int, __u64, 64);
 *
 *	int syscall_enter(write)(struct syscall_enter_args *args)
 *	{
 *		return args->args[2] > 4096;	// non-zero: record the event
 *	}
 *
 *	license(GPL);
 */
#ifndef PERF_BPF_PROG_H
#define PERF_BPF_PROG_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#include <linux/types.h>
#endif
#include "bpf_helpers.h"
#include "bpf_core_read.h"

/* ---- maps ---- */

/* A map's definition in section "maps", in its long form. */
struct bpf_map_def {
	unsigned int type;
	unsigned int key_size;
	unsigned int value_size;
	unsigned int max_entries;
	unsigned int map_flags;
};

/*
 * A map, with the types of its keys and values in a struct ____btf_map_NAME
 * that the loader looks for. The type goes without its BPF_MAP_TYPE_.
 */
#define bpf_map(name, map_type, key_type, value_type, entries)                                     \
	struct bpf_map_def name SEC("maps") = {                                                    \
		.type = BPF_MAP_TYPE_##map_type,                                                   \
		.key_size = sizeof(key_type),                                                      \
		.value_size = sizeof(value_type),                                                  \
		.max_entries = entries,                                                            \
	};                                                                                         \
	struct ____btf_map_##name {                                                                \
		key_type key;                                                                      \
		value_type value;                                                                  \
	};                                                                                         \
	struct ____btf_map_##name __attribute__((section(".maps." #name), used))                   \
	____btf_map_##name = {}

/* A map from process ids. */
#define pid_map(name, value_type) bpf_map(name, HASH, int, value_type, 64)

/* ---- the license ---- */

/* license(GPL); or license("Dual BSD/GPL") by the plain form: char LICENSE[] SEC("license"). */
#define license(name) char _license[] SEC("license") = #name

/* ---- contexts of system call tracepoints ---- */

/* syscalls:sys_enter_NAME and raw_syscalls:sys_enter. */
struct syscall_enter_args {
	unsigned long long common_tp_fields; /* not for programs to read */
	long syscall_nr;
	unsigned long args[6];
};

/* syscalls:sys_exit_NAME and raw_syscalls:sys_exit. */
struct syscall_exit_args {
	unsigned long long common_tp_fields;
	long syscall_nr;
	long ret;
};

/* int syscall_enter(openat)(struct syscall_enter_args *args) { … } */
#define syscall_enter(name) SEC("syscalls:sys_enter_" #name) syscall_enter_##name
#define syscall_exit(name)  SEC("syscalls:sys_exit_" #name) syscall_exit_##name

/* ---- output into the recording ---- */

/*
 * perf_output_map(); defines the map whose events the recording takes in, and
 * perf_output(ctx, data, size) adds bytes to it, which stand in perf.data as
 * samples of the event __bpf_stdout__.
 */
#define perf_output_map()                                                                          \
	struct bpf_map_def __bpf_stdout__ SEC("maps") = {                                          \
		.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,                                             \
		.key_size = sizeof(int),                                                           \
		.value_size = sizeof(__u32),                                                       \
	}
#define perf_output(ctx, data, size)                                                               \
	bpf_perf_event_output((ctx), &__bpf_stdout__, BPF_F_CURRENT_CPU, (data), (size))

/* ---- maps that know how they look: perf-bpf run ---- */

/*
 * Says how perf-bpf run shows a map: a kind, then what there is to say of it.
 *
 *	struct {
 *		__uint(type, BPF_MAP_TYPE_HASH);
 *		…
 *	} opens SEC(".maps") PERF_BPF_SHOW("table,unit=calls,title=files opened");
 *
 * Kinds: count, table, log2, linear (with low= and step=), heatmap (the same by time; linear with
 * low= and step=), stacks (with stacks=, the map that holds them, if there are several), events
 * (with type=, what they are), none. title= comes last, since it may hold commas. It is kept in the
 * object's BTF, as a declaration tag; GCC before 16 has none, and a map is then shown as its types
 * say.
 */
#if __has_attribute(btf_decl_tag)
#define PERF_BPF_SHOW(text) __attribute__((btf_decl_tag("perf-bpf:" text)))
#else
#define PERF_BPF_SHOW(text)
#endif

/*
 * Of all programs of one group perf-bpf run takes the first whose place this
 * kernel has: a function it can probe, a tracepoint of that name. Each is
 * optional, which its section says by a '?':
 *
 *	SEC("?tracepoint/lock/contention_begin") PERF_BPF_ONE_OF("begin")
 *	int contended(…)
 *	SEC("?tracepoint/syscalls/sys_enter_futex") PERF_BPF_ONE_OF("begin")
 *	int futex_called(…)
 *
 * An optional program of no group is left out when there is no such place.
 */
#if __has_attribute(btf_decl_tag)
#define PERF_BPF_ONE_OF(group) __attribute__((btf_decl_tag("perf-bpf-one-of:" group)))
#else
#define PERF_BPF_ONE_OF(group)
#endif

/*
 * Types that say what a number means, for the keys and values of tables:
 *
 *	struct key {
 *		perf_bpf_pid pid;	// shown as dd(3237)
 *		perf_bpf_ksym caller;	// shown as vfs_write+0x1f
 *	};
 */
typedef __u32 perf_bpf_pid;	/* a process or thread: its name */
typedef __u32 perf_bpf_uid;	/* a user */
typedef __u32 perf_bpf_gid;	/* a group */
typedef __u64 perf_bpf_cgroup;	/* bpf_get_current_cgroup_id(): the path */
typedef __u64 perf_bpf_ksym;	/* an address of the kernel: function and offset */
typedef __u32 perf_bpf_ipv4;	/* an address in network byte order */
typedef __u16 perf_bpf_port;	/* a port in network byte order */
typedef __u64 perf_bpf_ns;	/* a duration in nanoseconds */
typedef __u64 perf_bpf_time;	/* bpf_ktime_get_ns(): a point in time */
typedef __u64 perf_bpf_bytes;	/* a size */
typedef __u32 perf_bpf_dev;	/* a device's number, as the kernel has it: major:minor */
typedef __u32 perf_bpf_syscall; /* a system call's number: its name */
typedef __s32 perf_bpf_errno;	/* an error of errno(3), as it is or negative: its name */
typedef __s32 perf_bpf_kstack;	/* bpf_get_stackid(): a stack of the kernel; below 0: none */
typedef __s32 perf_bpf_ustack;	/* the same with BPF_F_USER_STACK, of a process */
typedef __u64 perf_bpf_usym;	/* an address of the process that a perf_bpf_pid beside it names */
typedef struct {
	__u8 bytes[16];
} perf_bpf_ipv6; /* in network byte order; ::ffff:192.0.2.1 is shown as 192.0.2.1 */

/*
 * What did not fit. A map may be full and a ring too; the helpers below count
 * how often that was, in a section of the object that perf-bpf run reads and
 * tells with the map. A program that calls the kernel's helpers itself says so
 * by perf_bpf_failed("opens", 1), with the map's name.
 */
struct perf_bpf_site {
	char map[40]; /* its name, or "&" and its name */
	__u64 failed;
};

#define perf_bpf_failed(name, n)                                                                   \
	({                                                                                         \
		static struct perf_bpf_site site_ SEC(".data.perf_bpf") = {.map = name};           \
		__sync_fetch_and_add(&site_.failed, n);                                            \
	})

/*
 * bpf_map_update_elem() of any map, and what it had no room for is counted: for
 * what is kept between two events, perf_bpf_put(&begun, &thread, &now). Returns
 * 0, or why there is no room.
 */
#define perf_bpf_put(map, key, value)                                                              \
	({                                                                                         \
		long err_ = bpf_map_update_elem(map, key, value, BPF_ANY);                         \
		if (err_)                                                                          \
			perf_bpf_failed(#map, 1);                                                  \
		err_;                                                                              \
	})

/* A number, summed over the CPUs: PERF_BPF_COUNT(name, "calls", "calls of write"). */
#define PERF_BPF_COUNT(name, unit, title)                                                          \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                           \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, __u64);                                                              \
	} name SEC(".maps") PERF_BPF_SHOW("count,unit=" unit ",title=" title)

static __always_inline __attribute__((unused)) void perf_bpf_count(void *map, __u64 n)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(map, &zero);

	if (count)
		*count += n;
}

/* A table: PERF_BPF_TABLE(opens, struct key, __u64, 1024, "calls", "files opened"). */
#define PERF_BPF_TABLE(name, key_type, value_type, entries, unit, title)                           \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps") PERF_BPF_SHOW("table,unit=" unit ",title=" title)

/*
 * Adds n to the __u64 of a key, which begins with 0: perf_bpf_table_add(&opens, &key, 1).
 * Returns 0, or why there is no room.
 */
#define perf_bpf_table_add(map, key, n)                                                            \
	({                                                                                         \
		long err_ = perf_bpf_table_add_to(map, key, n);                                    \
		if (err_)                                                                          \
			perf_bpf_failed(#map, 1);                                                  \
		err_;                                                                              \
	})

static __always_inline __attribute__((unused)) long perf_bpf_table_add_to(void *map,
									  const void *key, __u64 n)
{
	__u64 *known = bpf_map_lookup_elem(map, key), zero = 0;

	if (!known) {
		/* another CPU may have been first: then its entry is the one to add to */
		long err = bpf_map_update_elem(map, key, &zero, BPF_NOEXIST);

		known = bpf_map_lookup_elem(map, key);
		if (!known)
			return err;
	}
	__sync_fetch_and_add(known, n);
	return 0;
}

/*
 * Histograms. Slot 0 of a log2 histogram counts the zeroes, slot i the values
 * from 2^(i-1) up to below 2^i.
 */
#define PERF_BPF_LOG2_SLOTS 65

/*
 * A step each: is anything above the lowest 32, 16, … bits? The barrier keeps
 * the compiler from making arithmetic of the jump, which costs every step twice.
 */
#define ___perf_bpf_log2_step(v, slot, bits)                                                       \
	if ((v) >> (bits)) {                                                                       \
		(v) >>= (bits);                                                                    \
		(slot) += (bits);                                                                  \
		barrier_var(slot);                                                                 \
	}

static __always_inline __attribute__((unused)) __u32 perf_bpf_log2_slot(__u64 v)
{
	__u32 slot = 0;

	___perf_bpf_log2_step(v, slot, 32);
	___perf_bpf_log2_step(v, slot, 16);
	___perf_bpf_log2_step(v, slot, 8);
	___perf_bpf_log2_step(v, slot, 4);
	___perf_bpf_log2_step(v, slot, 2);
	___perf_bpf_log2_step(v, slot, 1);
	return slot + v;
}

#define PERF_BPF_HIST_MAP(name, slots)                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                           \
		__uint(max_entries, slots);                                                        \
		__type(key, __u32);                                                                \
		__type(value, __u64);                                                              \
	} name SEC(".maps")

/* PERF_BPF_LOG2(sizes, "bytes", "sizes of writes"); then perf_bpf_log2(&sizes, size). */
#define PERF_BPF_LOG2(name, unit, title)                                                           \
	PERF_BPF_HIST_MAP(name, PERF_BPF_LOG2_SLOTS)                                               \
	PERF_BPF_SHOW("log2,unit=" unit ",title=" title)

static __always_inline __attribute__((unused)) void perf_bpf_log2(void *map, __u64 v)
{
	__u32 slot = perf_bpf_log2_slot(v);
	__u64 *count = bpf_map_lookup_elem(map, &slot);

	if (count)
		++*count;
}

/*
 * n ranges of step values each, from low on; one below and one above.
 * PERF_BPF_LINEAR(ages, 0, 10, 12, "years", "ages"); then perf_bpf_linear(ages, v).
 */
#define PERF_BPF_LINEAR(name, low, step, n, unit, title)                                           \
	enum { name##_low = (low), name##_step = (step), name##_n = (n) };                         \
	PERF_BPF_HIST_MAP(name, (n) + 2)                                                           \
	PERF_BPF_SHOW("linear,low=" #low ",step=" #step ",unit=" unit ",title=" title)

#define perf_bpf_linear(name, v) perf_bpf_linear_add(&name, v, name##_low, name##_step, name##_n)

static __always_inline __attribute__((unused)) void
perf_bpf_linear_add(void *map, __s64 v, __s64 low, __u64 step, __u32 n)
{
	__u32 slot = 0;

	if (v >= low) {
		__u64 at = (__u64)(v - low) / step;

		slot = at < n ? (__u32)at + 1 : n + 1;
	}
	__u64 *count = bpf_map_lookup_elem(map, &slot);
	if (count)
		++*count;
}

/* A log2 histogram for each key: PERF_BPF_LOG2_BY(by_comm, struct key, 1024, "ns", "latency"). */
struct perf_bpf_log2 {
	__u64 slots[PERF_BPF_LOG2_SLOTS];
};

#define PERF_BPF_LOG2_BY(name, key_type, entries, unit, title)                                     \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, struct perf_bpf_log2);                                               \
	} name SEC(".maps") PERF_BPF_SHOW("log2,unit=" unit ",title=" title)

/* A value of its own, because the stack has no room for one. */
static const struct perf_bpf_log2 perf_bpf_log2_zero __attribute__((unused)) = {};

/* perf_bpf_log2_by(&by_comm, &key, latency): 0, or why there is no room for one more key. */
#define perf_bpf_log2_by(map, key, v)                                                              \
	({                                                                                         \
		long err_ = perf_bpf_log2_by_to(map, key, v);                                      \
		if (err_)                                                                          \
			perf_bpf_failed(#map, 1);                                                  \
		err_;                                                                              \
	})

static __always_inline __attribute__((unused)) long perf_bpf_log2_by_to(void *map, const void *key,
									__u64 v)
{
	struct perf_bpf_log2 *hist = bpf_map_lookup_elem(map, key);
	__u32 slot = perf_bpf_log2_slot(v);

	if (!hist) {
		long err = bpf_map_update_elem(map, key, &perf_bpf_log2_zero, BPF_NOEXIST);

		hist = bpf_map_lookup_elem(map, key);
		if (!hist)
			return err;
	}
	if (slot < PERF_BPF_LOG2_SLOTS)
		__sync_fetch_and_add(&hist->slots[slot], 1);
	return 0;
}

/*
 * Heat maps: histograms over time, which perf-bpf run looks at again and again.
 *
 *	PERF_BPF_HEATMAP(latency, "ns", "block I/O latency");
 *	perf_bpf_heat(&latency, ns);
 *
 * PERF_BPF_HEATMAP_LINEAR(ages, 0, 10, 12, "years", "ages") has ranges as
 * PERF_BPF_LINEAR(), and perf_bpf_heat_linear(ages, v).
 */
#define PERF_BPF_HEATMAP(name, unit, title)                                                        \
	PERF_BPF_HIST_MAP(name, PERF_BPF_LOG2_SLOTS)                                               \
	PERF_BPF_SHOW("heatmap,unit=" unit ",title=" title)

#define perf_bpf_heat(map, v) perf_bpf_log2(map, v)

#define PERF_BPF_HEATMAP_LINEAR(name, low, step, n, unit, title)                                   \
	enum { name##_low = (low), name##_step = (step), name##_n = (n) };                         \
	PERF_BPF_HIST_MAP(name, (n) + 2)                                                           \
	PERF_BPF_SHOW("heatmap,low=" #low ",step=" #step ",unit=" unit ",title=" title)

#define perf_bpf_heat_linear(name, v) perf_bpf_linear(name, v)

/*
 * Call stacks, and how much there was in each:
 *
 *	PERF_BPF_STACKS(cycles, 4096, "samples", "on CPU");
 *	perf_bpf_stack_add(ctx, cycles, 1);
 *
 * There is room for `entries` pairs of process and stacks. The kernel keeps a
 * stack where its hash says; one whose place is taken by another is lost: its
 * weight is counted with "[lost]" in the place of its frames, and that is told.
 */
#define PERF_BPF_STACK_DEPTH 127 /* the kernel's kernel.perf_event_max_stack */

struct perf_bpf_stack_key {
	perf_bpf_pid pid;
	perf_bpf_kstack kernel;
	perf_bpf_ustack user;
	char comm[16];
};

#define PERF_BPF_STACKS(name, entries, unit, title)                                                \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_STACK_TRACE);                                            \
		__uint(max_entries, 2 * (entries));                                                \
		__uint(key_size, sizeof(__u32));                                                   \
		__uint(value_size, PERF_BPF_STACK_DEPTH * sizeof(__u64));                          \
	} name##_stacks SEC(".maps") PERF_BPF_SHOW("none");                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, struct perf_bpf_stack_key);                                            \
		__type(value, __u64);                                                              \
	} name SEC(".maps")                                                                        \
		PERF_BPF_SHOW("stacks,stacks=" #name "_stacks,unit=" unit ",title=" title)

/*
 * Adds weight to the stacks that are at work now: of the kernel and the
 * process; of the kernel alone; of the process alone.
 */
#define perf_bpf_stack_add(ctx, name, weight)	     perf_bpf_stack_add_how(ctx, name, weight, 1, 1)
#define perf_bpf_kernel_stack_add(ctx, name, weight) perf_bpf_stack_add_how(ctx, name, weight, 1, 0)
#define perf_bpf_user_stack_add(ctx, name, weight)   perf_bpf_stack_add_how(ctx, name, weight, 0, 1)

#define perf_bpf_stack_add_how(ctx, name, weight, kernel, user)                                    \
	({                                                                                         \
		struct perf_bpf_stack_key key_;                                                    \
		perf_bpf_stack_here_how(ctx, name, &key_, kernel, user);                           \
		perf_bpf_table_add(&name, &key_, weight);                                          \
	})

/*
 * Fills the key for now, for who adds to it later, as one does who measures how
 * long something was waited for: perf_bpf_table_add(&off_cpu, &key, ns).
 */
#define perf_bpf_stack_here(ctx, name, key) perf_bpf_stack_here_how(ctx, name, key, 1, 1)

#define perf_bpf_stack_here_how(ctx, name, key, kernel, user)                                      \
	({                                                                                         \
		int lost_ = perf_bpf_stack_fill(ctx, &name##_stacks, key, kernel, user);           \
		if (lost_)                                                                         \
			perf_bpf_failed(#name "_stacks", lost_);                                   \
	})

/* How many of the stacks were lost. */
static __always_inline __attribute__((unused)) int
perf_bpf_stack_fill(void *ctx, void *stacks, struct perf_bpf_stack_key *key, int kernel, int user)
{
	/* -EFAULT: there is none, as a thread of the kernel has none of a process */
	key->pid = bpf_get_current_pid_tgid() >> 32;
	key->kernel = kernel ? bpf_get_stackid(ctx, stacks, 0) : -14;
	key->user = user ? bpf_get_stackid(ctx, stacks, BPF_F_USER_STACK) : -14;
	bpf_get_current_comm(key->comm, sizeof(key->comm));
	/* -EEXIST, -ENOMEM */
	return (key->kernel == -17 || key->kernel == -12) + (key->user == -17 || key->user == -12);
}

/*
 * Events, which perf-bpf run prints as they come:
 *
 *	struct open { perf_bpf_pid pid; char comm[16]; char path[64]; };
 *	PERF_BPF_EVENTS(opens, struct open, 256 * 1024, "files opened");
 *
 *	struct open *e = perf_bpf_event_reserve(&opens, struct open);
 *	if (!e)
 *		return 0;	// the ring is full; it is counted
 *	e->pid = …
 *	perf_bpf_event_submit(e);
 *
 * or, from the stack, perf_bpf_event_output(&opens, &e, sizeof(e)). bytes is
 * the ring's size: a power of two, and whole pages.
 */
#define PERF_BPF_EVENTS(name, event_type, bytes, title)                                            \
	static struct {                                                                            \
		struct perf_bpf_site site;                                                         \
		event_type type[0]; /* so that the type stands in the BTF */                       \
	} name##_type SEC(".data.perf_bpf") __attribute__((used)) = {.site.map = #name};           \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_RINGBUF);                                                \
		__uint(max_entries, bytes);                                                        \
	} name SEC(".maps") PERF_BPF_SHOW("events,type=" #event_type ",title=" title)

#define perf_bpf_event_reserve(map, event_type)                                                    \
	({                                                                                         \
		event_type *event_ = bpf_ringbuf_reserve(map, sizeof(event_type), 0);              \
		if (!event_)                                                                       \
			perf_bpf_failed(#map, 1);                                                  \
		event_;                                                                            \
	})

#define perf_bpf_event_submit(event)  bpf_ringbuf_submit(event, 0)
#define perf_bpf_event_discard(event) bpf_ringbuf_discard(event, 0)

#define perf_bpf_event_output(map, data, size)                                                     \
	({                                                                                         \
		long err_ = bpf_ringbuf_output(map, data, size, 0);                                \
		if (err_)                                                                          \
			perf_bpf_failed(#map, 1);                                                  \
		err_;                                                                              \
	})

/* ---- whom a program looks at: perf-bpf run -p -t -u --cgroup --comm ---- */

/*
 * A program that asks perf_bpf_wanted() first honours those options:
 *
 *	if (!perf_bpf_wanted())
 *		return 0;
 *
 * The verifier leaves out the tests for what was not asked for.
 */
#define PERF_BPF_FILTER_MAX 16

struct perf_bpf_filter {
	__u32 n_pids, n_tids, n_uids, n_cgroups, n_comms;
	__u32 pids[PERF_BPF_FILTER_MAX];
	__u32 tids[PERF_BPF_FILTER_MAX];
	__u32 uids[PERF_BPF_FILTER_MAX];
	__u64 cgroups[PERF_BPF_FILTER_MAX];
	__u64 comms[PERF_BPF_FILTER_MAX][2]; /* 16 bytes of text each */
};

static const volatile struct perf_bpf_filter perf_bpf_filter __attribute__((unused)) = {};

/*
 * Whether a value is among those asked for. A loop, which the barrier keeps one:
 * unrolled, it would be most of a small program. The verifier does not walk into
 * what was not asked.
 */
static __always_inline __attribute__((unused)) int
___perf_bpf_among(__u32 n, const volatile __u32 *set, __u32 value)
{
	int found = 0;

	for (__u32 i = 0; i < PERF_BPF_FILTER_MAX && i < n; i++) {
		found |= set[i] == value;
		barrier_var(i);
	}
	return found;
}

static __always_inline __attribute__((unused)) int ___perf_bpf_among_cgroups(__u64 cgroup)
{
	const volatile struct perf_bpf_filter *f = &perf_bpf_filter;
	int found = 0;

	for (__u32 i = 0; i < PERF_BPF_FILTER_MAX && i < f->n_cgroups; i++) {
		found |= f->cgroups[i] == cgroup;
		barrier_var(i);
	}
	return found;
}

static __always_inline __attribute__((unused)) int ___perf_bpf_among_comms(const __u64 comm[2])
{
	const volatile struct perf_bpf_filter *f = &perf_bpf_filter;
	int found = 0;

	for (__u32 i = 0; i < PERF_BPF_FILTER_MAX && i < f->n_comms; i++) {
		found |= comm[0] == f->comms[i][0] && comm[1] == f->comms[i][1];
		barrier_var(i);
	}
	return found;
}

static __always_inline __attribute__((unused)) int perf_bpf_wanted(void)
{
	const volatile struct perf_bpf_filter *f = &perf_bpf_filter;

	if (f->n_pids | f->n_tids) {
		__u64 task = bpf_get_current_pid_tgid();

		if (!___perf_bpf_among(f->n_pids, f->pids, task >> 32) &&
		    !___perf_bpf_among(f->n_tids, f->tids, (__u32)task))
			return 0;
	}
	if (f->n_uids) {
		__u32 uid = (__u32)bpf_get_current_uid_gid();

		if (!___perf_bpf_among(f->n_uids, f->uids, uid))
			return 0;
	}
	if (f->n_cgroups) {
		__u64 cgroup = bpf_get_current_cgroup_id();

		if (!___perf_bpf_among_cgroups(cgroup))
			return 0;
	}
	if (f->n_comms) {
		__u64 comm[2] = {};

		bpf_get_current_comm(comm, sizeof(comm));
		if (!___perf_bpf_among_comms(comm))
			return 0;
	}
	return 1;
}

/*
 * The same of another task than the current one (a struct task_struct *, in a
 * program that may read kernel memory): of the one that sched_switch gives the
 * CPU to, say.
 */
struct kernfs_node___wanted {
	__u64 id;
};
struct cgroup___wanted {
	struct kernfs_node___wanted *kn;
};
struct css_set___wanted {
	struct cgroup___wanted *dfl_cgrp;
};
struct cred___wanted {
	struct {
		__u32 val;
	} uid;
};
struct task_struct___wanted {
	int pid, tgid;
	struct cred___wanted *cred;
	struct css_set___wanted *cgroups;
	char comm[16];
};

static __always_inline __attribute__((unused)) int perf_bpf_wanted_task(const void *of)
{
	const volatile struct perf_bpf_filter *f = &perf_bpf_filter;
	const struct task_struct___wanted *task = of;

	if (f->n_pids | f->n_tids) {
		__u32 pid = BPF_CORE_READ(task, tgid), tid = BPF_CORE_READ(task, pid);

		if (!___perf_bpf_among(f->n_pids, f->pids, pid) &&
		    !___perf_bpf_among(f->n_tids, f->tids, tid))
			return 0;
	}
	if (f->n_uids) {
		__u32 uid = BPF_CORE_READ(task, cred, uid.val);

		if (!___perf_bpf_among(f->n_uids, f->uids, uid))
			return 0;
	}
	if (f->n_cgroups) {
		__u64 cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);

		if (!___perf_bpf_among_cgroups(cgroup))
			return 0;
	}
	if (f->n_comms) {
		__u64 comm[2] = {};

		bpf_core_read_str(comm, sizeof(comm), &task->comm);
		if (!___perf_bpf_among_comms(comm))
			return 0;
	}
	return 1;
}

#endif
