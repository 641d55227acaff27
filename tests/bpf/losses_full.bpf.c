// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
PERF_BPF_TABLE(masks, __u64, __u64, 64, "calls", "masks");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u64);
	__type(value, __u64);
} hidden SEC(".maps") PERF_BPF_SHOW("none");
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 8);
	__uint(value_size, 8);
} queue SEC(".maps");
ON_CALL
{
	__u64 mask = ctx->args[0], one = 1;
	if (!perf_bpf_wanted())
		return 0;
	bpf_map_update_elem(&masks, &mask, &one, BPF_NOEXIST);
	/* an entry that exists is an answer, not a loss */
	mask %= 64;
	bpf_map_update_elem(&masks, &mask, &one, BPF_NOEXIST);
	mask = ctx->args[0] % 20;
	bpf_map_update_elem(&hidden, &mask, &one, BPF_ANY);
	bpf_map_push_elem(&queue, &one, 0);
	return 0;
}
