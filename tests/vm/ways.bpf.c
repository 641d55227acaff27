// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs for the ways of attaching beyond those of attach.bpf.c: many
 * functions by one link, system calls, what a security hook returns, writable
 * tracepoints, and probes that the caller puts in place by options. Each counts
 * what the process `target` does in counting.c.
 */
#include <linux/bpf.h>

/*
 * The kernel's registers, whose members are found by name, and a function that
 * neither kprobes nor ftrace may touch.
 */
#define __VMLINUX_H__
#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long bp, r10, r9, r8, ax, cx, dx, si, di, ip, sp;
} __attribute__((preserve_access_index));
#define NOTRACE "native_sched_clock"
#else
struct user_pt_regs {
	unsigned long regs[31], sp, pc;
} __attribute__((preserve_access_index));
#define NOTRACE "sched_clock"
#endif

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

int target = 0;
__u64 calls = 0;
__u64 sum = 0;
__u64 cookie = 0;

static __attribute__((always_inline)) int mine(void)
{
	return bpf_get_current_pid_tgid() >> 32 == (__u64)target;
}

static __attribute__((always_inline)) void count(__u64 value)
{
	__sync_fetch_and_add(&calls, 1);
	__sync_fetch_and_add(&sum, value);
}

SEC("ksyscall/read")
int BPF_KSYSCALL(on_ksyscall, int fd, char *buf, unsigned long size)
{
	if (mine())
		count(size);
	return 0;
}

SEC("kretsyscall/read")
int BPF_KRETPROBE(on_kretsyscall, long ret)
{
	if (mine())
		count(ret);
	return 0;
}

SEC("kprobe.multi/vfs_rea?")
int BPF_KPROBE(on_kprobe_multi, void *file, char *buf, unsigned long size)
{
	if (mine())
		count(size);
	return 0;
}

SEC("kretprobe.multi/vfs_rea?")
int BPF_KRETPROBE(on_kretprobe_multi, long ret)
{
	if (mine())
		count(ret);
	return 0;
}

/* At the entry, and at the return where that was asked for by a 0. */
SEC("kprobe.session/vfs_rea?")
int on_kprobe_session(void *ctx)
{
	if (mine())
		count(1);
	return 0;
}

SEC("kprobe.session/vfs_rea?")
int on_kprobe_session_entry(void *ctx)
{
	if (mine())
		count(1);
	return 1;
}

SEC("uprobe.multi//proc/self/exe:workload_many_*")
int BPF_UPROBE(on_uprobe_multi, unsigned long i)
{
	if (mine())
		count(i);
	return 0;
}

SEC("uretprobe.multi//proc/self/exe:workload_many_*")
int BPF_URETPROBE(on_uretprobe_multi, unsigned long ret)
{
	if (mine())
		count(ret);
	return 0;
}

SEC("uprobe.session//proc/self/exe:workload_step")
int on_uprobe_session(void *ctx)
{
	if (mine())
		count(1);
	return 0;
}

SEC("uprobe.session//proc/self/exe:workload_step")
int on_uprobe_session_entry(void *ctx)
{
	if (mine())
		count(1);
	return 1;
}

SEC("fmod_ret/security_task_getpgid")
int BPF_PROG(on_fmod_ret, void *task, int ret)
{
	if (!mine())
		return ret;
	count(1);
	return -1; /* -EPERM */
}

/* A test run ends with what stands there: trace_bpf_test_finish(&err). */
SEC("raw_tp.w/bpf_test_finish")
int on_writable(struct bpf_raw_tracepoint_args *ctx)
{
	int *err = (int *)ctx->args[0];

	if (mine()) {
		count(1);
		*err = -77;
	}
	return 0;
}

SEC("socket")
int test_run(struct __sk_buff *skb)
{
	return 5;
}

/* Attached with options: see ways.c. */

SEC("kprobe")
int BPF_KPROBE(kprobe_by_hand, void *file, char *buf, unsigned long size)
{
	if (mine())
		count(size);
	return 0;
}

SEC("uprobe")
int BPF_UPROBE(uprobe_by_hand, unsigned long i)
{
	if (mine())
		count(i);
	return 0;
}

/* The sum of the cookies tells where it ran. */
SEC("kprobe.multi")
int kprobes_by_hand(struct pt_regs *ctx)
{
	if (mine()) {
		cookie = bpf_get_attach_cookie(ctx);
		count(cookie);
	}
	return 0;
}

SEC("uprobe.multi")
int uprobes_by_hand(struct pt_regs *ctx)
{
	if (mine()) {
		cookie = bpf_get_attach_cookie(ctx);
		count(cookie);
	}
	return 0;
}

/* Runs at many functions; counts at the one whose address is in `cookie`. */
SEC("kprobe.multi")
int many(struct pt_regs *ctx)
{
	if (mine() && bpf_get_func_ip(ctx) == cookie)
		count(1);
	return 0;
}

/* What cannot be attached, for the words that say so. */

SEC("kprobe.multi/no_such_functi*")
int no_match(void *ctx)
{
	return 0;
}

SEC("kprobe.multi/vfs_raed")
int no_function(void *ctx)
{
	return 0;
}

SEC("kprobe.multi/" NOTRACE)
int notrace_multi(void *ctx)
{
	return 0;
}

SEC("kprobe/" NOTRACE)
int notrace_kprobe(void *ctx)
{
	return 0;
}

/* Where the kernel's BTF has it, it loads. */
SEC("fentry/" NOTRACE)
int notrace_fentry(void *ctx)
{
	return 0;
}

SEC("kprobe/get_kprobe")
int blacklisted(void *ctx)
{
	return 0;
}

SEC("kprobe/linux_banner")
int variable(void *ctx)
{
	return 0;
}

SEC("ksyscall/raed")
int no_syscall(void *ctx)
{
	return 0;
}

SEC("uprobe.multi//proc/self/exe:no_such_functi*")
int no_symbols(void *ctx)
{
	return 0;
}
