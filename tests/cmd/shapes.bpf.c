/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps of every shape that authors write and nothing is declared of, filled by
 * getpgid(2): its argument i is the key, and what stands there follows from it.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct pbs_bits {
	__u32 low : 4, high : 28;
	union {
		__u8 tag;
		struct {
			__s16 a;
			bool odd;
			char name[5];
		} both;
	};
	unsigned __int128 wide;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __s32);
	__type(value, struct pbs_bits);
} bits SEC(".maps");

/* Bytes of no known type: three of them, and two numbers for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__uint(key_size, 4);
	__uint(value_size, 3);
} bytes SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 16);
} cpu_bytes SEC(".maps");

/* Programs cannot compute with floats, but keep those of others. */
union pbs_double {
	double value;
	__u64 bits;
};
struct pbs_floats {
	union pbs_double d;
	union {
		float value;
		__u32 bits;
	} f;
	__u32 nr;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, union pbs_double);
	__type(value, struct pbs_floats);
} floats SEC(".maps");

/* 1.5, -0.5, NaN, -1e300, 1e300, 2.5, -inf, 0, -0, inf; as float 1, 0.5, 0.25 and so on */
const volatile __u64 doubles[16] = {
	0x3ff8000000000000, 0xbfe0000000000000, 0x7ff8000000000000, 0xfe37e43c8800759c,
	0x7e37e43c8800759c, 0x4004000000000000, 0xfff0000000000000, 0,
	0x8000000000000000, 0x7ff0000000000000,
};

PERF_BPF_LINEAR(around, -20, 10, 4, "C", "around zero");
PERF_BPF_LOG2_BY(by_odd, bool, 4, "ns", "by parity");

/* A program of others' names: none but the workload is meant. */
SEC("tracepoint/syscalls/sys_enter_getpgid")
int on_getpgid(struct trace_event_raw_sys_enter *ctx)
{
	__s32 i = ctx->args[0], key = -i, slot = i & 3, zero = 0;
	struct pbs_bits value = {.low = i, .high = 0xabcdef0 + i};
	bool odd = i & 1;
	__u64 *sums;

	if (!perf_bpf_wanted())
		return 0;
	value.both.a = -i;
	value.both.odd = odd;
	value.both.name[0] = 'a' + i;
	value.wide = ((unsigned __int128)1 << 100) + i;
	bpf_map_update_elem(&bits, &key, &value, BPF_ANY);
	struct pbs_floats numbers = {
		.d.bits = doubles[i & 15], .f.bits = 0x3f800000 - (i << 23), .nr = i};
	union pbs_double number = numbers.d;
	bpf_map_update_elem(&floats, &number, &numbers, BPF_ANY);
	char three[3] = {i, 2, 3};
	bpf_map_update_elem(&bytes, &slot, three, BPF_ANY);
	sums = bpf_map_lookup_elem(&cpu_bytes, &zero);
	if (sums) {
		sums[0]++;
		sums[1] += i;
	}
	perf_bpf_linear(around, (i - 4) * 10 - 5);
	perf_bpf_log2_by(&by_odd, &odd, i);
	return 0;
}
