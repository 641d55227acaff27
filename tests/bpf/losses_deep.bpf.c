// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
PERF_BPF_STACKS(calls, 2048, "calls", "who calls umask");
ON_CALL
{
	if (perf_bpf_wanted())
		perf_bpf_user_stack_add(ctx, calls, 1);
	return 0;
}
