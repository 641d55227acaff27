/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BPF programs: strings, stacks as parts of keys, and lines of text. The programs that
 * perf-bpf run makes of a line of text (perf-bpf run --source 'TEXT') include it.
 */
#ifndef PERF_BPF_VALUES_H
#define PERF_BPF_VALUES_H

#include "perf_bpf_prog.h"

/*
 * perf-bpf run does not attach a program in SEC("raw_tp") with PERF_BPF_BEGIN, but runs it once,
 * before the other programs are attached.
 */
#if __has_attribute(btf_decl_tag)
#define PERF_BPF_BEGIN __attribute__((btf_decl_tag("perf-bpf-begin")))
/* A program in SEC("perf_event/EVENT") that runs on one CPU, whatever tasks are asked for. */
#define PERF_BPF_INTERVAL __attribute__((btf_decl_tag("perf-bpf-interval")))
#else
#define PERF_BPF_BEGIN
#define PERF_BPF_INTERVAL
#endif

/* bpf_ktime_get_ns() when perf-bpf run opened the program; 0: it was loaded by something else. */
static const volatile __u64 perf_bpf_started __attribute__((unused)) = 0;

/* Nanoseconds since the program was started. */
static __always_inline __attribute__((unused)) __u64 perf_bpf_elapsed(void)
{
	return bpf_ktime_get_ns() - perf_bpf_started;
}

/* Whether an array of char has the text of a string in quotes. */
#define perf_bpf_str_is(text, string)                                                              \
	(sizeof(string) <= sizeof(text) && ___perf_bpf_str_is(text, string, sizeof(string)))

/* Without a call of memcmp(), which BPF programs do not have. */
static __always_inline __attribute__((unused)) int
___perf_bpf_str_is(const char *text, const char *string, __u32 size)
{
	int differs = 0;

#pragma unroll
	for (__u32 i = 0; i < size; i++)
		differs |= text[i] ^ string[i];
	return !differs;
}

/*
 * Copies the string at an address to an array of char, cut to its size: from the memory of the
 * process, or of the kernel if it is not there. "": the address cannot be read.
 */
#define perf_bpf_str(to, address)                                                                  \
	___perf_bpf_str(to, sizeof(to), (const void *)(unsigned long)(address))

static __always_inline __attribute__((unused)) void ___perf_bpf_str(char *to, __u32 size,
								    const void *address)
{
	if (bpf_probe_read_user_str(to, size, address) < 0 &&
	    bpf_probe_read_kernel_str(to, size, address) < 0)
		*to = 0;
}

/* The same of a string in the kernel, as those of tracepoints are. */
#define perf_bpf_kernel_str(to, address)                                                           \
	({                                                                                         \
		if (bpf_probe_read_kernel_str(to, sizeof(to), address) < 0)                        \
			*(to) = 0;                                                                 \
	})

/*
 * Stacks as parts of keys, next to other members: a perf_bpf_kstack is
 * bpf_get_stackid(ctx, &ids, 0), a perf_bpf_ustack has the flag BPF_F_USER_STACK.
 * PERF_BPF_STACKS() is for stacks alone; it loses none to a hash collision.
 */
#define PERF_BPF_STACK_IDS(name, entries)                                                          \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_STACK_TRACE);                                            \
		__uint(max_entries, entries);                                                      \
		__uint(key_size, sizeof(__u32));                                                   \
		__uint(value_size, sizeof(struct perf_bpf_stack));                                 \
	} name SEC(".maps") PERF_BPF_SHOW("none")

/* A table whose keys have such stacks; PERF_BPF_STACK_TABLE(waits, struct key, __u64, 1024, ids, …)
 */
#define PERF_BPF_STACK_TABLE(name, key_type, value_type, entries, ids, unit, title)                \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps") PERF_BPF_SHOW("table,stacks=" #ids ",unit=" unit ",title=" title)

/*
 * Events that are shown as lines of text: the format has the conversions of printf(3), one for each
 * member of the event. JSON has the members.
 *
 *	struct line { char comm[16]; int fd; };
 *	PERF_BPF_LINES(lines, struct line, 256 * 1024, "%s has %d");
 */
#define PERF_BPF_LINES(name, event_type, bytes, format)                                            \
	static struct {                                                                            \
		struct perf_bpf_site site;                                                         \
		event_type type[0]; /* adds the type to the BTF */                                 \
	} name##_type SEC(".data.perf_bpf") __attribute__((used)) = {.site.map = #name};           \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_RINGBUF);                                                \
		__uint(max_entries, bytes);                                                        \
	} name SEC(".maps") PERF_BPF_SHOW("events,type=" #event_type ",format=" format)

/*
 * What is known of numbers, without each of them: perf_bpf_averages_add(&by_comm, &key, v) and so
 * on, for tables of that struct. Where two CPUs find a new least or largest value at the same time,
 * one of both can be lost.
 */
struct perf_bpf_averages {
	__u64 count;
	__s64 sum;
};
struct perf_bpf_minima {
	__s64 least PERF_BPF_LEVEL;
};
struct perf_bpf_maxima {
	__s64 largest PERF_BPF_LEVEL;
};
struct perf_bpf_stats {
	__u64 count;
	__s64 sum;
	__s64 least PERF_BPF_LEVEL;
	__s64 largest PERF_BPF_LEVEL;
};

/* The key of a table with one row: 0. */
typedef __u32 perf_bpf_all;

/* The value of a key, which begins as `first`; NULL: the map is full. */
static __always_inline __attribute__((unused)) void *___perf_bpf_value(void *map, const void *key,
								       const void *first)
{
	void *known = bpf_map_lookup_elem(map, key);

	if (known)
		return known;
	bpf_map_update_elem(map, key, first, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

/* found_ is the value, of the struct, where first_ was stored unless there was one. */
#define ___perf_bpf_with_value(map, key, type, first, ...)                                         \
	({                                                                                         \
		const struct type first_ = first;                                                  \
		struct type *found_ = ___perf_bpf_value(map, key, &first_);                        \
		if (!found_)                                                                       \
			perf_bpf_failed(#map, 1);                                                  \
		else {                                                                             \
			__VA_ARGS__                                                                \
		}                                                                                  \
	})

#define perf_bpf_averages_add(map, key, v)                                                         \
	({                                                                                         \
		const __s64 v_ = (v);                                                              \
		___perf_bpf_with_value(map, key, perf_bpf_averages, {}, {                          \
			__sync_fetch_and_add(&found_->count, 1);                                   \
			__sync_fetch_and_add(&found_->sum, v_);                                    \
		});                                                                                \
	})

#define perf_bpf_minima_add(map, key, v)                                                           \
	({                                                                                         \
		const __s64 v_ = (v);                                                              \
		___perf_bpf_with_value(map, key, perf_bpf_minima, {v_}, {                          \
			if (v_ < found_->least)                                                    \
				found_->least = v_;                                                \
		});                                                                                \
	})

#define perf_bpf_maxima_add(map, key, v)                                                           \
	({                                                                                         \
		const __s64 v_ = (v);                                                              \
		___perf_bpf_with_value(map, key, perf_bpf_maxima, {v_}, {                          \
			if (v_ > found_->largest)                                                  \
				found_->largest = v_;                                              \
		});                                                                                \
	})

#define perf_bpf_stats_add(map, key, v)                                                            \
	({                                                                                         \
		const __s64 v_ = (v);                                                              \
		const struct perf_bpf_stats new_ = {.least = v_, .largest = v_};                   \
		___perf_bpf_with_value(map, key, perf_bpf_stats, new_, {                           \
			__sync_fetch_and_add(&found_->count, 1);                                   \
			__sync_fetch_and_add(&found_->sum, v_);                                    \
			if (v_ < found_->least)                                                    \
				found_->least = v_;                                                \
			if (v_ > found_->largest)                                                  \
				found_->largest = v_;                                              \
		});                                                                                \
	})

/*
 * A histogram of linear ranges for each key: PERF_BPF_LINEAR_BY(ages, struct key, 1024, 0, 10, 12,
 * "years", "ages"), then perf_bpf_linear_by(ages, &key, v). The ranges are those of
 * PERF_BPF_LINEAR().
 */
#define PERF_BPF_LINEAR_BY(name, key_type, entries, low, step, n, unit, title)                     \
	struct name##_linear {                                                                     \
		__u64 slots[(n) + 2];                                                              \
	};                                                                                         \
	static const struct {                                                                      \
		__s64 from;                                                                        \
		__u64 width;                                                                       \
		__u32 ranges;                                                                      \
		struct name##_linear empty;                                                        \
	} name##_ranges = {(low), (step), (n)};                                                    \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, struct name##_linear);                                               \
	} name SEC(".maps")                                                                        \
		PERF_BPF_SHOW("linear,low=" #low ",step=" #step ",unit=" unit ",title=" title)

static __always_inline __attribute__((unused)) __u32 ___perf_bpf_linear_slot(__s64 v, __s64 low,
									     __u64 step, __u32 n)
{
	if (v < low)
		return 0;
	const __u64 at = (__u64)(v - low) / step;
	return at < n ? (__u32)at + 1 : n + 1;
}

#define perf_bpf_linear_by(name, key, v)                                                           \
	({                                                                                         \
		const __u32 slot_ = ___perf_bpf_linear_slot(                                       \
			v, name##_ranges.from, name##_ranges.width, name##_ranges.ranges);         \
		struct name##_linear *found_ =                                                     \
			___perf_bpf_value(&name, key, &name##_ranges.empty);                       \
		if (!found_)                                                                       \
			perf_bpf_failed(#name, 1);                                                 \
		else if (slot_ < sizeof(found_->slots) / sizeof(found_->slots[0]))                 \
			__sync_fetch_and_add(&found_->slots[slot_], 1);                            \
	})

#endif
