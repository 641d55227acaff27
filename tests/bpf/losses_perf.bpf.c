// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} buffer SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event");
ON_CALL
{
	struct pbt_event e = {.mask = ctx->args[0]};
	if (perf_bpf_wanted())
		bpf_perf_event_output(ctx, &buffer, BPF_F_CURRENT_CPU, &e, sizeof(e));
	return 0;
}
