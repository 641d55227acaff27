// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sizes of writes as a histogram, and by process.
 *
 *	perf-bpf run write_sizes -- sleep 4
 *	perf-bpf run write_sizes --comms dd --set min_size=512 -- make
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

static __always_inline int count_write(__u64 size)
{
	struct writer_key writer = {};

	if (!perf_bpf_wanted() || size < min_size)
		return 0;
	writer.pid = perf_bpf_pid_tgid() >> 32;
	bpf_get_current_comm(writer.comm, sizeof(writer.comm));
	perf_bpf_log2(&sizes, size);
	perf_bpf_count(&bytes, size);
	perf_bpf_table_add(&writers, &writer, 1);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_write")
int on_write(struct trace_event_raw_sys_enter *ctx)
{
	return count_write(ctx->args[2]);
}

#ifdef __TARGET_ARCH_x86
#define WRITE_32 4 /* arch/x86/entry/syscalls/syscall_32.tbl */

/* The other tracepoint does not fire for 32-bit calls. */
SEC("tracepoint/raw_syscalls/sys_enter")
int on_write_32(struct trace_event_raw_sys_enter *ctx)
{
	return ctx->id == WRITE_32 && perf_bpf_syscall_is_32() ? count_write((__u32)ctx->args[2])
							       : 0;
}
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
