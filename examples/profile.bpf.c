// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the CPUs are doing: call stacks, 99 times per second.
 *
 *	perf-bpf run profile --timeout 10
 *	perf-bpf run profile -F 999 --comms make -- make
 *
 * Needs: nothing; samples cycles if available, else a clock.
 *
 * Another event: -e page-faults. The idle task does not count.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_unwind.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_STACKS(samples, 16384, "samples", "on CPU");

SEC("perf_event")
int profile_sample(struct bpf_perf_event_data *ctx)
{
	if (bpf_get_current_pid_tgid() >> 32 && perf_bpf_wanted())
		perf_bpf_stack_add(ctx, samples, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
