// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where the kernel drops network packets, and the sizes of writes.
 *
 *	perf-bpf run tracex2 -- sleep 5
 *
 * Needs: tracepoints of packets and system calls.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_TABLE(drops, perf_bpf_ksym, __u64, 1024, "packets", "packets dropped, by place");
PERF_BPF_LOG2(writes, "bytes", "sizes of writes");

/* TP_PROTO(struct sk_buff *skb, void *location), and since 5.17 more behind it */
SEC("raw_tp/kfree_skb")
int BPF_PROG(tracex2_drop, void *skb, perf_bpf_ksym location)
{
	if (perf_bpf_wanted())
		perf_bpf_table_add(&drops, &location, 1);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_write")
int tracex2_write(struct trace_event_raw_sys_enter *ctx)
{
	if (perf_bpf_wanted())
		perf_bpf_log2(&writes, ctx->args[2]);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
