// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
struct pbt_value {
	__u64 calls, sum, max, last, level;
	__s64 average;
	__u64 declared PERF_BPF_SUM, kept PERF_BPF_LEVEL;
	__u64 parts[4];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u64);
	__type(value, struct pbt_value);
} values SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pbt_value);
} by_cpu SEC(".maps");
static void see(struct pbt_value *v, __u64 mask)
{
	v->calls++;
	__sync_fetch_and_add(&v->sum, mask);
	if (mask > v->max)
		v->max = mask;
	v->last = mask;
	v->level += mask & 1 ? 3 : -1;
	v->average += ((__s64)mask - v->average) >> 3;
	v->declared = v->calls * 2;
	v->kept++;
	v->parts[mask & 3]++;
}
ON_CALL
{
	__u64 key = 7, mask = ctx->args[0];
	struct pbt_value zero = {}, *v;
	__u32 first = 0;
	if (!perf_bpf_wanted())
		return 0;
	v = bpf_map_lookup_elem(&values, &key);
	if (!v) {
		bpf_map_update_elem(&values, &key, &zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&values, &key);
	}
	if (v)
		see(v, mask);
	v = bpf_map_lookup_elem(&by_cpu, &first);
	if (v)
		see(v, mask);
	return 0;
}
