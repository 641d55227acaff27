// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
RING(ring);
ON_CALL
{
	struct pbt_event e = {.mask = ctx->args[0]};
	if (perf_bpf_wanted())
		bpf_ringbuf_output(&ring, &e, sizeof(e), BPF_RB_NO_WAKEUP);
	return 0;
}
