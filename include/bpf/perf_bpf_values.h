/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BPF programs: strings, stacks as parts of keys, and lines of text. The programs that
 * perf-bpf run makes of a line of text (perf-bpf run --source 'TEXT') include it.
 */
#ifndef PERF_BPF_VALUES_H
#define PERF_BPF_VALUES_H

#include "perf_bpf_prog.h"

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

#endif
