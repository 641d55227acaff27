// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the context switches by which a task lost its CPU against its will:
 *
 *	perf-bpf record -e examples/preempted.bpf.c -a -- sleep 1
 *
 * A task that waits for something leaves in another state than running (0).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

SEC("tp/sched/sched_switch")
int is_preempted(struct trace_event_raw_sched_switch *ctx)
{
	return ctx->prev_state == 0 && ctx->prev_pid != 0; /* 0: the idle task */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
