// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Code that causes page faults, by call stack.
 *
 *	perf-bpf run pagefaults --comms sort -- sort -S 8M /dev/null
 *
 * Needs: tracepoints of page faults (x86), or event page-faults.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_unwind.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_STACKS(faults, 16384, "faults", "page faults");

SEC("?tracepoint/exceptions/page_fault_user")
PERF_BPF_ONE_OF("fault")
int pagefaults_user(void *ctx)
{
	if (perf_bpf_wanted())
		perf_bpf_user_stack_add(ctx, faults, 1);
	return 0;
}

/* Faults of the kernel's, on behalf of a process, count here too: copying from and to it. */
SEC("?perf_event/page-faults/period=1/")
PERF_BPF_ONE_OF("fault")
int pagefaults_event(void *ctx)
{
	if (perf_bpf_wanted())
		perf_bpf_user_stack_add(ctx, faults, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
