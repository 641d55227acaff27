// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions that cause cache misses, by call stack.
 *
 *	perf-bpf run cachemisses --comms sort -- sort large_file
 *
 * Needs: a CPU that counts cache misses (features perf.hardware).
 *
 * The CPU interrupts once in a while; each of these samples stands for as many
 * misses as there were since the one before.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_unwind.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_STACKS(misses, 16384, "misses", "cache misses");

SEC("perf_event/cache-misses")
int cachemisses_sample(struct bpf_perf_event_data *ctx)
{
	if (perf_bpf_wanted())
		perf_bpf_stack_add(ctx, misses, ctx->sample_period);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
