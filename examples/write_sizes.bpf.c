// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How large writes are, as a histogram, and whose they are.
 *
 *	perf bpf run write_sizes -- sleep 4
 *	perf bpf run write_sizes --comm dd --set min_size=512 -- make
 *
 * Needs: tracepoints of system calls.
 *
 * The kernel counts; what comes out is a few lines, however many writes there
 * were.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

const volatile __u64 min_size = 0;

struct writer_key {
	perf_bpf_pid pid;
	char comm[16];
};

PERF_BPF_LOG2(sizes, "bytes", "sizes of writes");
PERF_BPF_TABLE(writers, struct writer_key, __u64, 10240, "writes", "who writes");
PERF_BPF_COUNT(bytes, "bytes", "in all");

SEC("tracepoint/syscalls/sys_enter_write")
int on_write(struct trace_event_raw_sys_enter *ctx)
{
	__u64 size = ctx->args[2];
	struct writer_key writer = {};

	if (!perf_bpf_wanted() || size < min_size)
		return 0;
	writer.pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(writer.comm, sizeof(writer.comm));
	perf_bpf_log2(&sizes, size);
	perf_bpf_count(&bytes, size);
	perf_bpf_table_add(&writers, &writer, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
