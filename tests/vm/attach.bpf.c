// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program for each way of attaching. Each counts what the process `target`
 * does in tests/vm/client.c, and adds up a number that it also knows: the
 * third argument of read(2), what it returned, and so on. The client loads
 * one of them at a time.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

int target = 0;
__u64 calls = 0;
__u64 sum = 0;
__u64 cookie = 0;

/* The number of read(2), and where the kernel keeps it. */
#ifdef __TARGET_ARCH_x86
#define READ_NR	      0
#define SYSCALL_NR(r) ((r)->orig_rax)
#else
#define READ_NR	      63
#define SYSCALL_NR(r) ((r)->syscallno)
struct pt_regs {
	__s32 syscallno;
} __attribute__((preserve_access_index));
#endif

static __attribute__((always_inline)) int mine(void)
{
	return bpf_get_current_pid_tgid() >> 32 == (__u64)target;
}

static __attribute__((always_inline)) void count(__u64 value)
{
	__sync_fetch_and_add(&calls, 1);
	__sync_fetch_and_add(&sum, value);
}

/* /sys/kernel/tracing/events/syscalls/sys_enter_read/format */
struct sys_enter_read {
	__u64 common;
	__s64 nr;
	__u64 fd, buf, count;
};

SEC("tracepoint/syscalls/sys_enter_read")
int on_tracepoint(struct sys_enter_read *ctx)
{
	if (mine())
		count(ctx->count);
	return 0;
}

SEC("syscalls:sys_enter_read")
int on_colon(struct sys_enter_read *ctx)
{
	if (mine())
		count(ctx->count);
	return 0;
}

SEC("raw_tp/sys_enter")
int on_raw_tp(struct bpf_raw_tracepoint_args *ctx)
{
	if (mine() && ctx->args[1] == READ_NR)
		count(1);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_tp_btf, struct pt_regs *regs, long ret)
{
	if (mine() && SYSCALL_NR(regs) == READ_NR)
		count(ret);
	return 0;
}

SEC("kprobe/vfs_read")
int on_kprobe(struct pt_regs *ctx)
{
	if (mine())
		count(PT_REGS_PARM3(ctx));
	return 0;
}

SEC("kretprobe/vfs_read")
int on_kretprobe(struct pt_regs *ctx)
{
	if (mine())
		count(PT_REGS_RC(ctx));
	return 0;
}

SEC("fentry/vfs_read")
int BPF_PROG(on_fentry, void *file, char *buf, unsigned long size)
{
	if (mine())
		count(size);
	return 0;
}

SEC("fexit/vfs_read")
int BPF_PROG(on_fexit, void *file, char *buf, unsigned long size, void *pos, long ret)
{
	if (mine())
		count(ret);
	return 0;
}

SEC("uprobe//proc/self/exe:workload_step")
int on_uprobe(struct pt_regs *ctx)
{
	if (mine())
		count(PT_REGS_PARM1(ctx));
	return 0;
}

SEC("uretprobe//proc/self/exe:workload_step")
int on_uretprobe(struct pt_regs *ctx)
{
	if (mine())
		count(PT_REGS_RC(ctx));
	return 0;
}

SEC("perf_event")
int on_perf_event(void *ctx)
{
	if (mine())
		count(1);
	return 0;
}

/* Programs that ask for their cookie: kernels before 5.15 do not know how. */

SEC("tracepoint/syscalls/sys_enter_read")
int on_tracepoint_cookie(struct sys_enter_read *ctx)
{
	if (mine()) {
		cookie = bpf_get_attach_cookie(ctx);
		count(ctx->count);
	}
	return 0;
}

SEC("uprobe")
int on_uprobe_cookie(struct pt_regs *ctx)
{
	if (mine()) {
		cookie = bpf_get_attach_cookie(ctx);
		count(PT_REGS_PARM1(ctx));
	}
	return 0;
}

SEC("kprobe")
int on_kprobe_cookie(struct pt_regs *ctx)
{
	if (mine()) {
		cookie = bpf_get_attach_cookie(ctx);
		count(PT_REGS_PARM3(ctx));
	}
	return 0;
}

/* What cannot be attached, for the words that say so. */

SEC("tracepoint/syscalls/sys_enter_raed")
int no_tracepoint(void *ctx)
{
	return 0;
}

SEC("raw_tp/sched_swich")
int no_raw_tp(void *ctx)
{
	return 0;
}

SEC("kprobe/vfs_raed")
int no_function(void *ctx)
{
	return 0;
}

SEC("uprobe//proc/self/exe:workload_stpe")
int no_symbol(void *ctx)
{
	return 0;
}

SEC("uprobe/libno-such-library.so.9:f")
int no_library(void *ctx)
{
	return 0;
}
