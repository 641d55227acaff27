// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
RING(ring);
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, typeof(ring));
} rings SEC(".maps") = {.values = {&ring}};
ON_CALL
{
	struct pbt_event e = {.mask = ctx->args[0]};
	__u32 zero = 0;
	void *found = bpf_map_lookup_elem(&rings, &zero);
	if (found && perf_bpf_wanted())
		bpf_ringbuf_output(found, &e, sizeof(e), BPF_RB_NO_WAKEUP);
	return 0;
}
