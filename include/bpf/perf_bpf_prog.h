/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BPF programs that perf-bpf compiles: bpf_helpers.h and the short macros
 * of perf's own BPF headers from 2018 to 2023 (SEC, bpf_map, license,
 * syscall_enter …), so that programs written for perf compile unchanged.
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
#include "perf_bpf_own.h"
#include "perf_bpf_task.h"

/* ---- maps ---- */

/* The definition of a map in section "maps". */
struct bpf_map_def {
	unsigned int type;
	unsigned int key_size;
	unsigned int value_size;
	unsigned int max_entries;
	unsigned int map_flags;
};

/*
 * Defines a map. The types of its keys and values are in a struct
 * ____btf_map_NAME, which the loader reads. map_type is written without
 * BPF_MAP_TYPE_.
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

/* A map whose keys are process IDs. */
#define pid_map(name, value_type) bpf_map(name, HASH, int, value_type, 64)

/* ---- the license ---- */

/* license(GPL); a name with spaces needs the long form: char LICENSE[] SEC("license") = "…". */
#define license(name) char _license[] SEC("license") = #name

/* ---- contexts of system call tracepoints ---- */

/* syscalls:sys_enter_NAME and raw_syscalls:sys_enter. */
struct syscall_enter_args {
	unsigned long long common_tp_fields; /* programs cannot read it */
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
 * perf_output_map(); defines a map whose output is recorded. perf_output(ctx,
 * data, size) writes bytes to it; perf.data has them as samples of the event
 * __bpf_stdout__.
 */
#define perf_output_map()                                                                          \
	struct bpf_map_def __bpf_stdout__ SEC("maps") = {                                          \
		.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,                                             \
		.key_size = sizeof(int),                                                           \
		.value_size = sizeof(__u32),                                                       \
	}
#define perf_output(ctx, data, size)                                                               \
	bpf_perf_event_output((ctx), &__bpf_stdout__, BPF_F_CURRENT_CPU, (data), (size))

/* ---- process ids ---- */

/* The PID namespace of perf-bpf, unless it is the initial one. */
static const volatile __u32 perf_bpf_pid_ns __attribute__((unused)) = 0;

/*
 * The ids of the current task, process << 32 | thread, as the user of perf-bpf knows them: those of
 * the PID namespace of perf-bpf. In a container, bpf_get_current_pid_tgid() has the ids of the
 * host. 0: a task outside of the container.
 */
static __always_inline __attribute__((unused)) __u64 perf_bpf_pid_tgid(void)
{
	const __u32 pid_ns = perf_bpf_pid_ns;

	return pid_ns ? perf_bpf_ids_in_ns((const void *)bpf_get_current_task(), pid_ns)
		      : bpf_get_current_pid_tgid();
}

/* ---- maps with a view: perf-bpf run ---- */

/*
 * Sets how perf-bpf run shows a map: the view, followed by its options.
 *
 *	struct {
 *		__uint(type, BPF_MAP_TYPE_HASH);
 *		…
 *	} opens SEC(".maps") PERF_BPF_SHOW("table,unit=calls,title=files opened");
 *
 * Views: count, table, log2, linear (with low= and step=), heatmap (a histogram over time; linear
 * ranges with low= and step=), stacks (with stacks=, the stack map if there are several), events
 * (with type=, the struct of an event), none. title= is last because it can contain commas. The
 * text is stored in the object's BTF as a declaration tag. GCC before 16 does not support these
 * tags; perf-bpf run then selects the view from the types of the map.
 */
#if __has_attribute(btf_decl_tag)
#define PERF_BPF_SHOW(text) __attribute__((btf_decl_tag("perf-bpf:" text)))
#else
#define PERF_BPF_SHOW(text)
#endif

/*
 * What a member of a value is, for perf-bpf run --clear: a number to which the
 * program only adds, whose change is shown, or a level (a maximum, a minimum, a last
 * value, a number that goes up and down), which is shown as it is. Without them, perf-bpf
 * run finds out from the instructions of the program: a member is a sum if it
 * is only changed by additions (x++, x += n, __sync_fetch_and_add()).
 *
 *	struct stats {
 *		__u64 calls;
 *		__u64 longest PERF_BPF_LEVEL;
 *	};
 */
#if __has_attribute(btf_decl_tag)
#define PERF_BPF_SUM   __attribute__((btf_decl_tag("perf-bpf:sum")))
#define PERF_BPF_LEVEL __attribute__((btf_decl_tag("perf-bpf:level")))
#else
#define PERF_BPF_SUM
#define PERF_BPF_LEVEL
#endif

/*
 * perf-bpf run attaches only the first program of a group whose attach target
 * exists in this kernel: a function that can be probed, or a tracepoint. Each
 * program of the group is optional: its section name begins with '?':
 *
 *	SEC("?tracepoint/lock/contention_begin") PERF_BPF_ONE_OF("begin")
 *	int contended(…)
 *	SEC("?tracepoint/syscalls/sys_enter_futex") PERF_BPF_ONE_OF("begin")
 *	int futex_called(…)
 *
 * Programs that are attached together have the same set after the name of the group. The first
 * program that can be attached selects the set, and the others of the set are attached, too, if
 * their targets exist:
 *
 *	SEC("?raw_tp/contention_begin") PERF_BPF_ONE_OF("locks=tracepoints")
 *	SEC("?raw_tp/contention_end") PERF_BPF_ONE_OF("locks=tracepoints")
 *	SEC("?kprobe/rwsem_down_read_slowpath") PERF_BPF_ONE_OF("locks=probes")
 *	SEC("?kretprobe/rwsem_down_read_slowpath") PERF_BPF_ONE_OF("locks=probes")
 *
 * An optional program without a group is skipped if its target does not exist.
 */
#if __has_attribute(btf_decl_tag)
#define PERF_BPF_ONE_OF(group) __attribute__((btf_decl_tag("perf-bpf-one-of:" group)))
#else
#define PERF_BPF_ONE_OF(group)
#endif

/*
 * Types that set how a number is shown, for the keys and values of tables:
 *
 *	struct key {
 *		perf_bpf_pid pid;	// shown as dd(3237)
 *		perf_bpf_ksym caller;	// shown as vfs_write+0x1f
 *	};
 */
typedef __u32 perf_bpf_pid;	   /* a process or thread, shown with its name */
typedef __u32 perf_bpf_uid;	   /* a user */
typedef __u32 perf_bpf_gid;	   /* a group */
typedef __u64 perf_bpf_cgroup;	   /* bpf_get_current_cgroup_id(), shown as the path */
typedef __u64 perf_bpf_ksym;	   /* a kernel address, shown as function and offset */
typedef __u32 perf_bpf_ipv4;	   /* an address in network byte order */
typedef __u16 perf_bpf_port;	   /* a port in network byte order */
typedef __u64 perf_bpf_ns;	   /* a duration in nanoseconds */
typedef __u64 perf_bpf_time;	   /* bpf_ktime_get_ns(): a point in time */
typedef __u64 perf_bpf_bytes;	   /* a size */
typedef __u32 perf_bpf_dev;	   /* a device number (kernel dev_t), shown as major:minor */
typedef __u32 perf_bpf_syscall;	   /* from perf_bpf_syscall_nr(), shown as its name */
typedef __s32 perf_bpf_errno;	   /* a positive or negative errno, shown as its name */
typedef __s32 perf_bpf_kstack;	   /* a kernel stack from bpf_get_stackid(); negative: no stack */
typedef __s32 perf_bpf_ustack;	   /* a user stack from bpf_get_stackid(), with BPF_F_USER_STACK */
typedef __u64 perf_bpf_kstack_key; /* a kernel stack from perf_bpf_stack_here(); 0: no stack */
typedef __u64 perf_bpf_ustack_key; /* a user stack from perf_bpf_stack_here() */
typedef __u64 perf_bpf_usym; /* an address in the process of a perf_bpf_pid in the same struct */
typedef struct {
	__u8 bytes[16];
} perf_bpf_ipv6; /* in network byte order; ::ffff:192.0.2.1 is shown as 192.0.2.1 */

/*
 * Losses. A map or a ring can be full. perf-bpf run counts the failing calls of
 * bpf_map_update_elem(), bpf_ringbuf_reserve() and others in any program and prints a warning
 * with the map. The functions and macros below also count them, in a section of the
 * object, for kernels that reject the instructions with which perf-bpf run does this. The larger
 * of the two numbers is shown. For other losses, call perf_bpf_failed("opens", 1) with the
 * map's name.
 */
struct perf_bpf_site {
	char map[40]; /* the name of the map, or "&" and the name */
	__u64 failed;
};

#define perf_bpf_failed(name, n)                                                                   \
	({                                                                                         \
		static struct perf_bpf_site site_ SEC(".data.perf_bpf") = {.map = name};           \
		__sync_fetch_and_add(&site_.failed, n);                                            \
	})

/*
 * Calls bpf_map_update_elem() and counts failures. Use it for data that is
 * stored from one event to the next: perf_bpf_put(&begun, &thread, &now).
 * Returns 0 or a negative errno.
 */
#define perf_bpf_put(map, key, value)                                                              \
	({                                                                                         \
		long err_ = bpf_map_update_elem(map, key, value, BPF_ANY);                         \
		if (err_)                                                                          \
			perf_bpf_failed(#map, 1);                                                  \
		err_;                                                                              \
	})

/* A number, summed over all CPUs: PERF_BPF_COUNT(name, "calls", "calls of write"). */
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
 * Adds n to the __u64 of a key, which starts at 0: perf_bpf_table_add(&opens, &key, 1).
 * Returns 0 or a negative errno.
 */
#define perf_bpf_table_add(map, key, n)                                                            \
	({                                                                                         \
		long err_ = perf_bpf_table_add_to(map, key, n);                                    \
		if (err_)                                                                          \
			perf_bpf_failed(#map, 1);                                                  \
		err_;                                                                              \
	})

#define ___perf_bpf_add(value, n)                                                                  \
	({                                                                                         \
		__sync_fetch_and_add(value, n);                                                    \
		0;                                                                                 \
	})

/* For a key that was not found: if another CPU has added it in the meantime, adds to that. */
static __always_inline __attribute__((unused)) long
___perf_bpf_table_insert(void *map, const void *key, __u64 n)
{
	long err = bpf_map_update_elem(map, key, &n, BPF_NOEXIST);
	__u64 *known;

	if (err != -17) /* -EEXIST */
		return err;
	known = bpf_map_lookup_elem(map, key);
	return known ? ___perf_bpf_add(known, n) : err;
}

static __always_inline __attribute__((unused)) long perf_bpf_table_add_to(void *map,
									  const void *key, __u64 n)
{
	__u64 *known = bpf_map_lookup_elem(map, key);

	return known ? ___perf_bpf_add(known, n) : ___perf_bpf_table_insert(map, key, n);
}

/*
 * Histograms. Slot 0 of a log2 histogram counts zeros; slot i counts values v
 * with 2^(i-1) <= v < 2^i.
 */
#define PERF_BPF_LOG2_SLOTS 65

/*
 * Each step checks whether a bit above the lowest 32, 16, … bits is set. The
 * barrier prevents the compiler from replacing the jump with arithmetic, which
 * doubles the cost of each step.
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
 * n ranges of step values each, starting at low, and one range below and one above.
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

/* A global, because it is too large for the BPF stack. */
static const struct perf_bpf_log2 perf_bpf_log2_zero __attribute__((unused)) = {};

/* perf_bpf_log2_by(&by_comm, &key, latency) returns 0, or a negative errno if the map is full. */
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
 * Heat maps are histograms over time; perf-bpf run reads the map periodically.
 *
 *	PERF_BPF_HEATMAP(latency, "ns", "block I/O latency");
 *	perf_bpf_heat(&latency, ns);
 *
 * PERF_BPF_HEATMAP_LINEAR(ages, 0, 10, 12, "years", "ages") has the ranges of
 * PERF_BPF_LINEAR(); perf_bpf_heat_linear(ages, v) adds a value.
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
 * Call stacks, each with a sum of weights:
 *
 *	PERF_BPF_STACKS(cycles, 4096, "samples", "on CPU");
 *	perf_bpf_stack_add(ctx, cycles, 1);
 *
 * The map has `entries` entries, one for each combination of process, kernel
 * stack and user stack. The maps NAME_short and NAME_stacks have the addresses of each stack, of
 * up to 32 and of more frames, under a 64-bit hash of them, so two stacks do not share an entry,
 * unlike in a BPF_MAP_TYPE_STACK_TRACE, where the bucket is selected by a few bits of a hash. A
 * stack is lost only when its map is full. Its weight is then counted with
 * "[lost]" instead of its frames, and perf-bpf run prints a warning.
 */
#define PERF_BPF_STACK_DEPTH 127 /* default of the sysctl kernel.perf_event_max_stack */
#define PERF_BPF_STACK_SHORT 32	 /* most stacks are not deeper; copying less makes them cheaper */

struct perf_bpf_stack {
	__u64 ips[PERF_BPF_STACK_DEPTH]; /* the innermost first; 0 ends it */
};

struct perf_bpf_short_stack {
	__u64 ips[PERF_BPF_STACK_SHORT];
};

/* Set it with perf_bpf_stack_here(), which also clears the bytes between members. */
struct perf_bpf_stack_key {
	perf_bpf_kstack_key kernel;
	perf_bpf_ustack_key user;
	char comm[16];
	perf_bpf_pid pid;
};

/*
 * Where the stacks of a sample are taken: the user stack begins after the 0 that ends the kernel
 * stack, since fewer cache lines are used so. The last address is always 0. A program that
 * interrupts another one there leaves its own address.
 */
struct perf_bpf_stack_scratch {
	__u64 owner;
	__u64 ips[2 * (PERF_BPF_STACK_DEPTH + 1)];
};

#define PERF_BPF_STACKS(name, entries, unit, title)                                                \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                           \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, struct perf_bpf_stack_scratch);                                      \
	} name##_scratch SEC(".maps") PERF_BPF_SHOW("none");                                       \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, __u64);                                                                \
		__type(value, struct perf_bpf_stack);                                              \
	} name##_stacks SEC(".maps") PERF_BPF_SHOW("none");                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, 2 * (entries));                                                \
		__type(key, __u64);                                                                \
		__type(value, struct perf_bpf_short_stack);                                        \
	} name##_short SEC(".maps") PERF_BPF_SHOW("none");                                         \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, struct perf_bpf_stack_key);                                            \
		__type(value, __u64);                                                              \
	} name SEC(".maps") PERF_BPF_SHOW("stacks,stacks=" #name "_stacks,short=" #name            \
					  "_short,unit=" unit ",title=" title)

/*
 * Add weight to the current stacks: the kernel and user stack, the kernel stack
 * only, or the user stack only.
 */
#define perf_bpf_stack_add(ctx, name, weight)	     perf_bpf_stack_add_how(ctx, name, weight, 1, 1)
#define perf_bpf_kernel_stack_add(ctx, name, weight) perf_bpf_stack_add_how(ctx, name, weight, 1, 0)
#define perf_bpf_user_stack_add(ctx, name, weight)   perf_bpf_stack_add_how(ctx, name, weight, 0, 1)

#define perf_bpf_stack_add_how(ctx, name, weight, kernel, user)                                    \
	({                                                                                         \
		struct perf_bpf_stack_key key_;                                                    \
		__u64 *known_ = ___perf_bpf_stack_find(ctx, name, &key_, kernel, user);            \
		if (known_)                                                                        \
			__sync_fetch_and_add(known_, weight);                                      \
		else if (___perf_bpf_table_insert(&name, &key_, weight))                           \
			perf_bpf_failed(#name, 1);                                                 \
	})

/*
 * Fills in the key of the current stacks, to add to it later. For example, to
 * measure a wait, call it when the wait starts, and when it ends:
 * perf_bpf_table_add(&off_cpu, &key, ns).
 */
#define perf_bpf_stack_here(ctx, name, key) perf_bpf_stack_here_how(ctx, name, key, 1, 1)

#define perf_bpf_stack_here_how(ctx, name, key, kernel, user)                                      \
	((void)___perf_bpf_stack_find(ctx, name, key, kernel, user))

#define ___perf_bpf_stack_find(ctx, name, key, kernel, user)                                       \
	({                                                                                         \
		struct ___perf_bpf_stack_maps maps_ = {&name, &name##_stacks, &name##_short,       \
						       &name##_scratch};                           \
		__u64 *found_ = NULL;                                                              \
		int lost_ = ___perf_bpf_stack_fill(ctx, &maps_, key, kernel, user, &found_);       \
		if (lost_)                                                                         \
			perf_bpf_failed(#name "_stacks", lost_);                                   \
		found_;                                                                            \
	})

/* Inlined: the verifier must know the map of each call. */
struct ___perf_bpf_stack_maps {
	void *table, *deep, *shallow, *scratches;
};

#define ___PERF_BPF_STACK_MASK 0x3f8 /* of sizes: 8 * PERF_BPF_STACK_DEPTH */

#define PERF_BPF_STACK_NONE 0
#define PERF_BPF_STACK_LOST 1

#define ___perf_bpf_hash_step(hash, v)                                                             \
	({                                                                                         \
		(hash) = ((hash) ^ (v)) * 0x9e3779b97f4a7c15ull;                                   \
		(hash) ^= (hash) >> 29;                                                            \
	})

/*
 * Each step can be undone if the number of frames and the other addresses are
 * known, so two stacks have the same hash only by chance: of 10,000 stacks, two with a
 * probability of 1 in 10^11. The addresses take turns among four sums, which a CPU calculates at
 * the same time.
 */
static __always_inline __attribute__((unused)) __u64 ___perf_bpf_stack_hash(const __u64 *ips,
									    __u32 n)
{
	__u64 a = n, b = 1, c = 2, d = 3;

	for (__u32 i = 0; i <= PERF_BPF_STACK_DEPTH - 3 && i < n; i += 4) {
		___perf_bpf_hash_step(a, ips[i]);
		___perf_bpf_hash_step(b, ips[i + 1]);
		___perf_bpf_hash_step(c, ips[i + 2]);
		___perf_bpf_hash_step(d, ips[i + 3]);
		barrier_var(i);
	}
	___perf_bpf_hash_step(a, b);
	___perf_bpf_hash_step(a, c);
	___perf_bpf_hash_step(a, d);
	a *= 0xbf58476d1ce4e5b9ull;
	a ^= a >> 32;
	return a > PERF_BPF_STACK_LOST ? a : a + 2;
}

/* Keeps a stack of `size` bytes under its hash; returns its key. */
static __always_inline __attribute__((unused)) __u64
___perf_bpf_stack_keep(const struct ___perf_bpf_stack_maps *maps,
		       const struct perf_bpf_stack_scratch *scratch, __u64 owner, const __u64 *ips,
		       long size, __u64 hash)
{
	const int is_short = size <= (long)sizeof(struct perf_bpf_short_stack);
	long err;

	if (hash == PERF_BPF_STACK_NONE)
		return hash;
	if (is_short) {
		err = bpf_map_update_elem(maps->shallow, &hash, ips, BPF_NOEXIST);
		barrier_var(err); /* two calls: with one of both maps, the verifier knows neither */
	} else {
		err = bpf_map_update_elem(maps->deep, &hash, ips, BPF_NOEXIST);
	}
	if (err == -17) /* -EEXIST: it is kept */
		return hash;
	if (err)
		return PERF_BPF_STACK_LOST;
	barrier();
	if (scratch->owner != owner) {
		if (is_short) {
			bpf_map_delete_elem(maps->shallow, &hash);
			barrier();
		} else {
			bpf_map_delete_elem(maps->deep, &hash);
		}
		return PERF_BPF_STACK_LOST;
	}
	return hash;
}

#ifdef PERF_BPF_UNWIND_H
static __always_inline long perf_bpf_user_stack(__u64 *ips);
#endif

/* The user stack, of PERF_BPF_STACK_DEPTH addresses; its size in bytes. */
static __always_inline __attribute__((unused)) long ___perf_bpf_take_user_stack(void *ctx,
										__u64 *ips)
{
#ifdef PERF_BPF_UNWIND_H
	const long size = perf_bpf_user_stack(ips);

	if (size > 0)
		return size;
#endif
	return bpf_get_stack(ctx, ips, sizeof(struct perf_bpf_stack), BPF_F_USER_STACK);
}

/*
 * A key that is in the table has its stacks in the maps: to find it is all that most samples
 * need. If another program of the same CPU used the scratch memory meanwhile, the stacks are lost.
 * Returns the number of lost stacks.
 */
static __always_inline __attribute__((unused)) int
___perf_bpf_stack_fill(void *ctx, const struct ___perf_bpf_stack_maps *maps,
		       struct perf_bpf_stack_key *key, int kernel, int user, __u64 **found)
{
	struct perf_bpf_stack_scratch *scratch;
	__u64 owner = (unsigned long)key, *user_ips;
	long kernel_size = 0, user_size = 0;
	__u32 zero = 0;

	__builtin_memset(key, 0, sizeof(*key));
	key->pid = perf_bpf_pid_tgid() >> 32;
	bpf_get_current_comm(key->comm, sizeof(key->comm));
	scratch = bpf_map_lookup_elem(maps->scratches, &zero);
	if (!scratch)
		return 0;
	scratch->owner = owner;
	user_ips = scratch->ips;
	if (kernel)
		kernel_size = bpf_get_stack(ctx, scratch->ips, sizeof(struct perf_bpf_stack), 0);
	if (kernel_size > 0) {
		__u32 bytes = kernel_size;

		barrier_var(
			bytes); /* else the mask, which tells the verifier a limit, is removed */
		bytes &= ___PERF_BPF_STACK_MASK;
		scratch->ips[PERF_BPF_STACK_DEPTH] = 0; /* the last of four that are hashed */
		key->kernel = ___perf_bpf_stack_hash(scratch->ips, bytes / 8);
		user_ips = (void *)user_ips + 8 + bytes;
	}
	user_ips[PERF_BPF_STACK_DEPTH] = 0;
	if (user)
		user_size = ___perf_bpf_take_user_stack(ctx, user_ips);
	if (user_size > 0)
		key->user = ___perf_bpf_stack_hash(user_ips, (__u32)user_size / 8);
	barrier();
	if (scratch->owner != owner) {
		key->kernel = kernel ? PERF_BPF_STACK_LOST : PERF_BPF_STACK_NONE;
		key->user = user ? PERF_BPF_STACK_LOST : PERF_BPF_STACK_NONE;
		return !!kernel + !!user;
	}
	*found = bpf_map_lookup_elem(maps->table, key);
	if (*found)
		return 0;
	key->kernel = ___perf_bpf_stack_keep(maps, scratch, owner, scratch->ips, kernel_size,
					     key->kernel);
	key->user = ___perf_bpf_stack_keep(maps, scratch, owner, user_ips, user_size, key->user);
	return (key->kernel == PERF_BPF_STACK_LOST) + (key->user == PERF_BPF_STACK_LOST);
}

/*
 * Events, which perf-bpf run prints as they arrive:
 *
 *	struct open { perf_bpf_pid pid; char comm[16]; char path[64]; };
 *	PERF_BPF_EVENTS(opens, struct open, 256 * 1024, "files opened");
 *
 *	struct open *e = perf_bpf_event_reserve(&opens, struct open);
 *	if (!e)
 *		return 0;	// the ring is full; the loss has been counted
 *	e->pid = perf_bpf_pid_tgid() >> 32;
 *	perf_bpf_event_submit(e);
 *
 * For an event on the stack: perf_bpf_event_output(&opens, &e, sizeof(e)).
 * bytes is the size of the ring: a power of two and a multiple of the page size.
 */
#define PERF_BPF_EVENTS(name, event_type, bytes, title)                                            \
	static struct {                                                                            \
		struct perf_bpf_site site;                                                         \
		event_type type[0]; /* adds the type to the BTF */                                 \
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

/* ---- filters: perf-bpf run -p -t -u --cgroup --comms ---- */

/*
 * A program supports these options if it calls perf_bpf_wanted() first:
 *
 *	if (!perf_bpf_wanted())
 *		return 0;
 *
 * The verifier removes the checks of options that are not used. --cgroup includes
 * descendants. The process of perf-bpf itself is never wanted.
 */
#define PERF_BPF_FILTER_MAX   16
#define PERF_BPF_CGROUP_DEPTH 32 /* a cgroup below that is not a descendant of the first ones */

struct perf_bpf_filter {
	__u32 n_pids, n_tids, n_uids, n_cgroups, n_comms;
	__u32 pids[PERF_BPF_FILTER_MAX];
	__u32 tids[PERF_BPF_FILTER_MAX];
	__u32 uids[PERF_BPF_FILTER_MAX];
	__u64 cgroups[PERF_BPF_FILTER_MAX];
	__u64 comms[PERF_BPF_FILTER_MAX][2]; /* 16 bytes of text each */
	__u32 self;			     /* the process of perf-bpf; 0: not excluded */
};

static const volatile struct perf_bpf_filter perf_bpf_filter __attribute__((unused)) = {};

/* Only processes that this user could trace, by perf_bpf_is_own(): a program that root approved. */
struct perf_bpf_owner {
	__u32 is_set, uid, gid;
};

static const volatile struct perf_bpf_owner perf_bpf_owner __attribute__((unused)) = {};

/*
 * Whether value is in set. The barrier prevents the compiler from unrolling the
 * loop, which would make a small program much larger. The verifier does not
 * process the loops of options that are not used.
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

/* The kernel's types, with the members that are read. */
struct kernfs_node___wanted {
	__u64 id;
};
struct cgroup_subsys_state___wanted {
	struct cgroup_subsys_state___wanted *parent;
};
struct cgroup___wanted {
	struct cgroup_subsys_state___wanted self; /* first in the kernel also */
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
	struct {
		unsigned long flags;
		__u32 status;
	} thread_info;
};

/* perf_bpf_pid_tgid() of another task: a struct task_struct *. */
static __always_inline __attribute__((unused)) __u64 perf_bpf_task_pid_tgid(const void *of)
{
	const struct task_struct___wanted *task = of;
	const __u32 pid_ns = perf_bpf_pid_ns;

	if (pid_ns)
		return perf_bpf_ids_in_ns(task, pid_ns);
	return (__u64)BPF_CORE_READ(task, tgid) << 32 | (__u32)BPF_CORE_READ(task, pid);
}

/* Whether the task is in one of the cgroups, or in a descendant of one. */
static __always_inline __attribute__((unused)) int
___perf_bpf_in_cgroups(const struct task_struct___wanted *task)
{
	const struct cgroup___wanted *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (int depth = 0; depth < PERF_BPF_CGROUP_DEPTH && cgroup; depth++) {
		if (___perf_bpf_among_cgroups(BPF_CORE_READ(cgroup, kn, id)))
			return 1;
		cgroup = (const void *)BPF_CORE_READ(cgroup, self.parent);
	}
	return 0;
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

	if (f->self | f->n_pids | f->n_tids) {
		__u64 ids = perf_bpf_pid_tgid();

		if (f->self && f->self == ids >> 32)
			return 0;
		if ((f->n_pids | f->n_tids) && !___perf_bpf_among(f->n_pids, f->pids, ids >> 32) &&
		    !___perf_bpf_among(f->n_tids, f->tids, (__u32)ids))
			return 0;
	}
	if (f->n_uids) {
		__u32 uid = (__u32)bpf_get_current_uid_gid();

		if (!___perf_bpf_among(f->n_uids, f->uids, uid))
			return 0;
	}
	if (perf_bpf_owner.is_set && !perf_bpf_is_own((const void *)bpf_get_current_task(),
						      perf_bpf_owner.uid, perf_bpf_owner.gid))
		return 0;
	if (f->n_cgroups && !___perf_bpf_in_cgroups((const void *)bpf_get_current_task()))
		return 0;
	if (f->n_comms) {
		__u64 comm[2] = {};

		bpf_get_current_comm(comm, sizeof(comm));
		if (!___perf_bpf_among_comms(comm))
			return 0;
	}
	return 1;
}

/*
 * The same for a task other than the current one (a struct task_struct *), in a
 * program that can read kernel memory; for example the next task in
 * sched_switch.
 */
static __always_inline __attribute__((unused)) int perf_bpf_wanted_task(const void *of)
{
	const volatile struct perf_bpf_filter *f = &perf_bpf_filter;
	const struct task_struct___wanted *task = of;

	if (f->self | f->n_pids | f->n_tids) {
		__u64 ids = perf_bpf_task_pid_tgid(task);

		if (f->self && f->self == ids >> 32)
			return 0;
		if ((f->n_pids | f->n_tids) && !___perf_bpf_among(f->n_pids, f->pids, ids >> 32) &&
		    !___perf_bpf_among(f->n_tids, f->tids, (__u32)ids))
			return 0;
	}
	if (f->n_uids) {
		__u32 uid = BPF_CORE_READ(task, cred, uid.val);

		if (!___perf_bpf_among(f->n_uids, f->uids, uid))
			return 0;
	}
	if (perf_bpf_owner.is_set && !perf_bpf_is_own(task, perf_bpf_owner.uid, perf_bpf_owner.gid))
		return 0;
	if (f->n_cgroups && !___perf_bpf_in_cgroups(task))
		return 0;
	if (f->n_comms) {
		__u64 comm[2] = {};

		bpf_core_read_str(comm, sizeof(comm), &task->comm);
		if (!___perf_bpf_among_comms(comm))
			return 0;
	}
	return 1;
}

/* ---- system calls ---- */

/*
 * 32-bit programs have system call numbers of their own. perf_bpf_syscall_nr() is the number in
 * the current task's system call, with this bit if it is a 32-bit call: int $0x80, or a 32-bit
 * program. perf-bpf run shows it as "32-bit NAME".
 *
 *	perf_bpf_syscall nr = perf_bpf_syscall_nr(ctx->id);
 *
 * The tracepoints syscalls:sys_enter_NAME and sys_exit_NAME do not fire for 32-bit calls on
 * x86; raw_syscalls:sys_enter and sys_exit do.
 */
#define PERF_BPF_SYSCALL_32 0x80000000u

static __always_inline __attribute__((unused)) int perf_bpf_syscall_is_32(void)
{
	const struct task_struct___wanted *task = (void *)bpf_get_current_task();

#if defined(__TARGET_ARCH_x86)
	/* TS_COMPAT of arch/x86/include/asm/thread_info.h; without IA32 emulation, it is not set */
	return BPF_CORE_READ(task, thread_info.status) & 2;
#elif defined(__TARGET_ARCH_arm64)
	/* TIF_32BIT of arch/arm64/include/asm/thread_info.h */
	return (BPF_CORE_READ(task, thread_info.flags) >> 22) & 1;
#else
	return 0;
#endif
}

static __always_inline __attribute__((unused)) __u32 perf_bpf_syscall_nr(long nr)
{
	/* -1: a tracer or seccomp(2) skipped the call */
	return nr >= 0 && perf_bpf_syscall_is_32() ? nr | PERF_BPF_SYSCALL_32 : nr;
}

#endif
