// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
RING(ring);
ON_CALL
{
	struct pbt_event e = {.mask = ctx->args[0]};
	struct bpf_dynptr record;
	if (!perf_bpf_wanted())
		return 0;
	bpf_ringbuf_reserve_dynptr(&ring, sizeof(e), 0, &record);
	bpf_dynptr_write(&record, 0, &e, sizeof(e), 0);
	bpf_ringbuf_submit_dynptr(&record, BPF_RB_NO_WAKEUP);
	return 0;
}
