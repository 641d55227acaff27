/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What depends on the architecture: which registers have the number and the arguments of a system
 * call, and the numbers of calls that are treated apart.
 */
#ifndef PB_TRACE_TRACE_REGS_BPF_H
#define PB_TRACE_TRACE_REGS_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r10, r9, r8, ax, bx, cx, dx, si, di, bp, orig_ax, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
};
struct pt_regs {
	struct user_pt_regs user_regs;
	__u64 orig_x0;
	__s32 syscallno;
};
#endif

#pragma clang attribute pop

static __always_inline const struct pt_regs *current_regs(void)
{
	return (const struct pt_regs *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
}

static __always_inline __u32 current_abi(long *nr)
{
#if defined(__TARGET_ARCH_x86)
	__u32 status;

	if (config.task_storage) {
		status = ((struct task_struct *)bpf_get_current_task_btf())->thread_info.status;
	} else {
		struct task_struct *task = (void *)bpf_get_current_task();

		status = BPF_CORE_READ(task, thread_info.status);
	}
	/* TS_COMPAT of arch/x86/include/asm/thread_info.h */
	if (status & 2)
		return TRACE_ABI_32;
	/* __X32_SYSCALL_BIT */
	if (*nr >= 0 && *nr & 0x40000000) {
		*nr &= ~0x40000000;
		return TRACE_ABI_X32;
	}
#elif defined(__TARGET_ARCH_arm64)
	struct task_struct *task = (void *)bpf_get_current_task();

	/* TIF_32BIT of arch/arm64/include/asm/thread_info.h */
	if (BPF_CORE_READ(task, thread_info.flags) >> 22 & 1)
		return TRACE_ABI_32;
#endif
	return TRACE_ABI_NATIVE;
}

static __always_inline void read_args(const struct pt_regs *regs, __u32 abi, __u64 *args)
{
#if defined(__TARGET_ARCH_x86)
	if (abi == TRACE_ABI_32) {
		args[0] = (__u32)regs->bx;
		args[1] = (__u32)regs->cx;
		args[2] = (__u32)regs->dx;
		args[3] = (__u32)regs->si;
		args[4] = (__u32)regs->di;
		args[5] = (__u32)regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
#elif defined(__TARGET_ARCH_arm64)
	/* the result has replaced the first at the exit */
	args[0] = regs->orig_x0;
	args[1] = regs->user_regs.regs[1];
	args[2] = regs->user_regs.regs[2];
	args[3] = regs->user_regs.regs[3];
	args[4] = regs->user_regs.regs[4];
	args[5] = regs->user_regs.regs[5];
	if (abi == TRACE_ABI_32)
		for (int i = 0; i < 6; i++)
			args[i] = (__u32)args[i];
#endif
}

/*
 * Where rt_sigreturn(2) finds the signals to block: in the frame that the kernel has put on the
 * stack for the handler (struct rt_sigframe, struct ucontext).
 */
static __always_inline __u64 sigreturn_mask(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	enum { UC_SIGMASK = 296 };

	return regs->sp + UC_SIGMASK;
#elif defined(__TARGET_ARCH_arm64)
	enum { SIGINFO = 128, UC_SIGMASK = 40 };

	return regs->user_regs.sp + SIGINFO + UC_SIGMASK;
#endif
}

static __always_inline long nr_at_exit(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return (int)regs->orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	return regs->syscallno;
#endif
}

/* Numbers of restart_syscall(2), and of what returns in a new thread or process also. */
static __always_inline int is_restart(__u32 abi, __u32 nr)
{
#if defined(__TARGET_ARCH_x86)
	return nr == (abi == TRACE_ABI_32 ? 0 : 219);
#else
	return nr == (abi == TRACE_ABI_32 ? 0 : 128);
#endif
}

static __always_inline int is_fork(__u32 abi, __u32 nr)
{
	if (nr == 435) /* clone3 */
		return 1;
	if (abi == TRACE_ABI_32)
		return nr == 2 || nr == 120 || nr == 190;
#if defined(__TARGET_ARCH_x86)
	return nr >= 56 && nr <= 58;
#else
	return nr == 220;
#endif
}

#endif
