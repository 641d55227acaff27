// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Filters for perf-bpf record in the guests, one for each -D: of the reads of
 * `client - work`, which are all of 7 bytes, every one; of its steps, and of the
 * marks of `usdt_client - work`, every other one.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BYTES 7

#ifdef TRACEPOINT
struct sys_enter_read {
	__u64 common;
	__s64 nr;
	__u64 fd, buf, count;
};

SEC("tracepoint/syscalls/sys_enter_read")
int reads(struct sys_enter_read *ctx)
{
	return ctx->count == BYTES;
}
#endif

#ifdef KPROBE
SEC("kprobe/vfs_read")
int reads(struct pt_regs *ctx)
{
	return PT_REGS_PARM3(ctx) == BYTES;
}
#endif

#ifdef KRETPROBE
SEC("kretprobe/vfs_read")
int reads(struct pt_regs *ctx)
{
	return PT_REGS_RC(ctx) == BYTES;
}
#endif

#ifdef KSYSCALL
SEC("kretsyscall/read")
int reads(struct pt_regs *ctx)
{
	return PT_REGS_RC(ctx) == BYTES;
}
#endif

#ifdef UPROBE
SEC("uprobe//bin/client:workload_step")
int steps(struct pt_regs *ctx)
{
	return PT_REGS_PARM1(ctx) % 2 == 0;
}
#endif

#ifdef USDT
#include <bpf/usdt.bpf.h>

/* Argument 8 of `usdt_client - work` is ~n for n = 0 … 499. */
SEC("usdt//bin/usdt_client:perfbpf:twelve")
int marks(struct pt_regs *ctx)
{
	long inverted;

	return !bpf_usdt_arg(ctx, 8, &inverted) && ~inverted % 2 == 0;
}
#endif

/* Runs beside the recording: what it has to say goes into the file as bpf-output. */
#ifdef FENTRY
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, int);
	__type(value, int);
} __bpf_stdout__ SEC(".maps");

SEC("fentry/vfs_read")
int BPF_PROG(reads, void *file, char *buf, unsigned long size)
{
	if (size == BYTES)
		bpf_perf_event_output(ctx, &__bpf_stdout__, BPF_F_CURRENT_CPU, &size, sizeof(size));
	return 0;
}
#endif
