// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>
const volatile __u64 from, to; /* of work_touch() */
PERF_BPF_STACKS(faults, 1024, "faults", "page faults");
#ifdef ANY_EVENT
#define WANTED 1
SEC("perf_event")
#else
#define WANTED perf_bpf_wanted()
SEC("perf_event/page-faults/period=1/")
#endif
int on_fault(struct bpf_perf_event_data *ctx)
{
	__u64 ip = PT_REGS_IP(&ctx->regs);
	if (WANTED && (!to || (ip >= from && ip < to)))
		perf_bpf_user_stack_add(ctx, faults, 1);
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
