// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
RING(ring);
RING(other);
static __noinline int fill(struct pbt_event *e, __u64 mask)
{
	e->mask = mask;
	return 0;
}
ON_CALL
{
	if (!perf_bpf_wanted())
		return 0;
	struct pbt_event *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (e) {
		fill(e, ctx->args[0]);
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	}
	if (ctx->args[0] % 2)
		return 0;
	e = bpf_ringbuf_reserve(&other, sizeof(*e), 0);
	if (!e)
		return 0;
	e->mask = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}
