// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the clock's samples that hit the kernel, and of them one in every:
 *
 *	perf-bpf record -e cpu-clock -F 999 -e examples/kernel_samples.bpf.c -a -- sleep 2
 *
 * A perf_event program filters the sampled events of the command line;
 * SEC("perf_event/cpu-clock") only that one.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

const volatile __u64 every = 1;

__u64 seen;

SEC("perf_event/cpu-clock")
int is_in_kernel(struct bpf_perf_event_data *ctx)
{
	/* The kernel's addresses are the upper half: negative numbers. */
	if ((__s64)PT_REGS_IP(&ctx->regs) >= 0)
		return 0;
	return __sync_fetch_and_add(&seen, 1) % every == 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
