// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * System calls by process, by name, and failed ones.
 *
 *	perf-bpf run syscount --top 20 -- sleep 2
 *	perf-bpf run syscount --comms make -- make
 *
 * Needs: tracepoints of system calls.
 *
 * Calls of 32-bit programs, and by int $0x80, have numbers of their own; they
 * are shown as "32-bit NAME".
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

struct syscount_process {
	perf_bpf_pid pid;
	char comm[16];
};

struct syscount_failure {
	perf_bpf_syscall syscall;
	perf_bpf_errno error;
};

PERF_BPF_TABLE(by_process, struct syscount_process, __u64, 16384, "calls",
	       "system calls by process");
PERF_BPF_TABLE(by_syscall, perf_bpf_syscall, __u64, 1024, "calls", "by system call");
PERF_BPF_TABLE(failures, struct syscount_failure, __u64, 4096, "calls", "failed");

SEC("tracepoint/raw_syscalls/sys_enter")
int syscount_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct syscount_process process = {};
	perf_bpf_syscall nr = perf_bpf_syscall_nr(ctx->id);

	if (!perf_bpf_wanted())
		return 0;
	process.pid = perf_bpf_pid_tgid() >> 32;
	bpf_get_current_comm(process.comm, sizeof(process.comm));
	perf_bpf_table_add(&by_process, &process, 1);
	perf_bpf_table_add(&by_syscall, &nr, 1);
	return 0;
}

SEC("tracepoint/raw_syscalls/sys_exit")
int syscount_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct syscount_failure failure = {.error = ctx->ret};

	/*
	 * The last 4095 numbers are errors: include/linux/err.h. A call without a number is the
	 * return from a signal's handler, which brings back the register that has the result.
	 */
	if (ctx->id < 0 || ctx->ret >= 0 || ctx->ret < -4095 || !perf_bpf_wanted())
		return 0;
	failure.syscall = perf_bpf_syscall_nr(ctx->id);
	perf_bpf_table_add(&failures, &failure, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
