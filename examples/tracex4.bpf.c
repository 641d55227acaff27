// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sizes of writes, counted at the kernel function of write(2).
 *
 *	perf-bpf run tracex4 -- dd if=/dev/zero of=/dev/null count=20000000
 *
 * Needs: nothing; uses fentry, a kprobe or the tracepoint.
 *
 * A probe on the function costs the writers less than the tracepoint does: with
 * a tracepoint of system calls enabled every system call takes the slow way.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_LOG2(writes, "bytes", "sizes of writes");

SEC("?fentry/ksys_write")
PERF_BPF_ONE_OF("write")
int BPF_PROG(tracex4_fentry, unsigned int fd, const char *buf, __u64 count)
{
	if (perf_bpf_wanted())
		perf_bpf_log2(&writes, count);
	return 0;
}

SEC("?kprobe/ksys_write")
PERF_BPF_ONE_OF("write")
int BPF_KPROBE(tracex4_kprobe, unsigned int fd, const char *buf, __u64 count)
{
	if (perf_bpf_wanted())
		perf_bpf_log2(&writes, count);
	return 0;
}

SEC("?tracepoint/syscalls/sys_enter_write")
PERF_BPF_ONE_OF("write")
int tracex4_tracepoint(struct trace_event_raw_sys_enter *ctx)
{
	if (perf_bpf_wanted())
		perf_bpf_log2(&writes, ctx->args[2]);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
