/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments and return values of traced functions: macros for the registers in
 * struct pt_regs, for kprobes and uprobes, and typed arguments for programs.
 * Names and semantics are those of libbpf.
 *
 * -D__TARGET_ARCH_x86 (arm64, s390, powerpc, riscv, loongarch, arm, mips, sparc)
 * selects the architecture; perf-bpf passes it. With vmlinux.h, the registers
 * have the names of the kernel; without it, the program must include
 * <linux/ptrace.h>, and they have the names used there.
 */
#ifndef PERF_BPF_TRACING_H
#define PERF_BPF_TRACING_H

#include "bpf_helpers.h"

#if !defined(__TARGET_ARCH_x86) && !defined(__TARGET_ARCH_arm64) &&                                \
	!defined(__TARGET_ARCH_s390) && !defined(__TARGET_ARCH_powerpc) &&                         \
	!defined(__TARGET_ARCH_riscv) && !defined(__TARGET_ARCH_loongarch) &&                      \
	!defined(__TARGET_ARCH_arm) && !defined(__TARGET_ARCH_mips) &&                             \
	!defined(__TARGET_ARCH_sparc)
#if defined(__x86_64__) || defined(__i386__)
#define __TARGET_ARCH_x86
#elif defined(__aarch64__)
#define __TARGET_ARCH_arm64
#elif defined(__s390__)
#define __TARGET_ARCH_s390
#elif defined(__powerpc__)
#define __TARGET_ARCH_powerpc
#elif defined(__riscv)
#define __TARGET_ARCH_riscv
#elif defined(__loongarch__)
#define __TARGET_ARCH_loongarch
#endif
#endif

/*
 * For each architecture: the struct and its members for the first eight function
 * arguments (psABI), the return address, frame pointer, return value, stack
 * pointer and program counter. On some architectures, system calls use other
 * registers for arguments.
 */
#if defined(__TARGET_ARCH_x86)

#if defined(__KERNEL__) || defined(__VMLINUX_H__)
#define __PT_PARM1_REG di
#define __PT_PARM2_REG si
#define __PT_PARM3_REG dx
#define __PT_PARM4_REG cx
#define __PT_PARM5_REG r8
#define __PT_PARM6_REG r9
#define __PT_RET_REG   sp
#define __PT_FP_REG    bp
#define __PT_RC_REG    ax
#define __PT_SP_REG    sp
#define __PT_IP_REG    ip
#elif defined(__i386__)
#define __PT_PARM1_REG eax
#define __PT_PARM2_REG edx
#define __PT_PARM3_REG ecx
#define __PT_RET_REG   esp
#define __PT_FP_REG    ebp
#define __PT_RC_REG    eax
#define __PT_SP_REG    esp
#define __PT_IP_REG    eip
#else
#define __PT_PARM1_REG rdi
#define __PT_PARM2_REG rsi
#define __PT_PARM3_REG rdx
#define __PT_PARM4_REG rcx
#define __PT_PARM5_REG r8
#define __PT_PARM6_REG r9
#define __PT_RET_REG   rsp
#define __PT_FP_REG    rbp
#define __PT_RC_REG    rax
#define __PT_SP_REG    rsp
#define __PT_IP_REG    rip
#endif
#define __PT_PARM4_SYSCALL_REG r10

#elif defined(__TARGET_ARCH_arm64)

/* The structs of user space and the kernel begin with the same members. */
struct pt_regs___arm64 {
	unsigned long orig_x0;
} __attribute__((preserve_access_index));
#define __PT_REGS_CAST(x)	      ((const struct user_pt_regs *)(x))
#define __PT_PARM1_REG		      regs[0]
#define __PT_PARM2_REG		      regs[1]
#define __PT_PARM3_REG		      regs[2]
#define __PT_PARM4_REG		      regs[3]
#define __PT_PARM5_REG		      regs[4]
#define __PT_PARM6_REG		      regs[5]
#define __PT_PARM7_REG		      regs[6]
#define __PT_PARM8_REG		      regs[7]
#define __PT_RET_REG		      regs[30]
#define __PT_FP_REG		      regs[29]
#define __PT_RC_REG		      regs[0]
#define __PT_SP_REG		      sp
#define __PT_IP_REG		      pc
#define PT_REGS_PARM1_SYSCALL(x)      ({ ((const struct pt_regs___arm64 *)(x))->orig_x0; })
#define PT_REGS_PARM1_CORE_SYSCALL(x) BPF_CORE_READ((const struct pt_regs___arm64 *)(x), orig_x0)

#elif defined(__TARGET_ARCH_s390)

struct pt_regs___s390 {
	unsigned long orig_gpr2;
} __attribute__((preserve_access_index));
#define __PT_REGS_CAST(x)	      ((const user_pt_regs *)(x))
#define __PT_PARM1_REG		      gprs[2]
#define __PT_PARM2_REG		      gprs[3]
#define __PT_PARM3_REG		      gprs[4]
#define __PT_PARM4_REG		      gprs[5]
#define __PT_PARM5_REG		      gprs[6]
#define __PT_RET_REG		      gprs[14]
#define __PT_FP_REG		      gprs[11]
#define __PT_RC_REG		      gprs[2]
#define __PT_SP_REG		      gprs[15]
#define __PT_IP_REG		      psw.addr
#define __PT_PARM6_SYSCALL_REG	      gprs[7]
#define PT_REGS_PARM1_SYSCALL(x)      ({ ((const struct pt_regs___s390 *)(x))->orig_gpr2; })
#define PT_REGS_PARM1_CORE_SYSCALL(x) BPF_CORE_READ((const struct pt_regs___s390 *)(x), orig_gpr2)

#elif defined(__TARGET_ARCH_powerpc)

#define __PT_PARM1_REG		  gpr[3]
#define __PT_PARM2_REG		  gpr[4]
#define __PT_PARM3_REG		  gpr[5]
#define __PT_PARM4_REG		  gpr[6]
#define __PT_PARM5_REG		  gpr[7]
#define __PT_PARM6_REG		  gpr[8]
#define __PT_PARM7_REG		  gpr[9]
#define __PT_PARM8_REG		  gpr[10]
#define __PT_RET_REG		  link
#define __PT_FP_REG		  gpr[1]
#define __PT_RC_REG		  gpr[3]
#define __PT_SP_REG		  gpr[1]
#define __PT_IP_REG		  nip
#define __PT_PARM1_SYSCALL_REG	  orig_gpr3
/* The system call functions get the arguments directly, not a struct pt_regs. */
#define PT_REGS_SYSCALL_REGS(ctx) ctx

#elif defined(__TARGET_ARCH_riscv)

#define __PT_REGS_CAST(x) ((const struct user_regs_struct *)(x))
#define __PT_PARM1_REG	  a0
#define __PT_PARM2_REG	  a1
#define __PT_PARM3_REG	  a2
#define __PT_PARM4_REG	  a3
#define __PT_PARM5_REG	  a4
#define __PT_PARM6_REG	  a5
#define __PT_PARM7_REG	  a6
#define __PT_PARM8_REG	  a7
#define __PT_RET_REG	  ra
#define __PT_FP_REG	  s0
#define __PT_RC_REG	  a0
#define __PT_SP_REG	  sp
#define __PT_IP_REG	  pc

#elif defined(__TARGET_ARCH_loongarch)

#define __PT_REGS_CAST(x) ((const struct user_pt_regs *)(x))
#define __PT_PARM1_REG	  regs[4]
#define __PT_PARM2_REG	  regs[5]
#define __PT_PARM3_REG	  regs[6]
#define __PT_PARM4_REG	  regs[7]
#define __PT_PARM5_REG	  regs[8]
#define __PT_PARM6_REG	  regs[9]
#define __PT_PARM7_REG	  regs[10]
#define __PT_PARM8_REG	  regs[11]
#define __PT_RET_REG	  regs[1]
#define __PT_FP_REG	  regs[22]
#define __PT_RC_REG	  regs[4]
#define __PT_SP_REG	  regs[3]
#define __PT_IP_REG	  csr_era

#elif defined(__TARGET_ARCH_arm)

#define __PT_PARM1_REG	       uregs[0]
#define __PT_PARM2_REG	       uregs[1]
#define __PT_PARM3_REG	       uregs[2]
#define __PT_PARM4_REG	       uregs[3]
#define __PT_PARM5_SYSCALL_REG uregs[4]
#define __PT_PARM6_SYSCALL_REG uregs[5]
#define __PT_PARM7_SYSCALL_REG uregs[6]
#define __PT_RET_REG	       uregs[14]
#define __PT_FP_REG	       uregs[11]
#define __PT_RC_REG	       uregs[0]
#define __PT_SP_REG	       uregs[13]
#define __PT_IP_REG	       uregs[12]

#endif

#ifdef __PT_PARM1_REG

struct pt_regs;

#ifndef __PT_REGS_CAST
#define __PT_REGS_CAST(x) (x)
#endif

/* A register that the architecture does not have: using it is a compile error. */
#define __PT_NO_REG(what)                                                                          \
	({                                                                                         \
		_Static_assert(0, what " is not passed in a register on this architecture");       \
		0ull;                                                                              \
	})

/*
 * PT_REGS_PARMn(ctx) reads a member directly, which the verifier allows only for
 * the context of the program; …_CORE(ctx) reads any other struct pt_regs, with
 * CO-RE.
 */
#define __PT_GET(x, reg)      (__PT_REGS_CAST(x)->reg)
#define __PT_GET_CORE(x, reg) BPF_CORE_READ(__PT_REGS_CAST(x), reg)

#define PT_REGS_PARM1(x)      __PT_GET(x, __PT_PARM1_REG)
#define PT_REGS_PARM1_CORE(x) __PT_GET_CORE(x, __PT_PARM1_REG)
#define PT_REGS_PARM2(x)      __PT_GET(x, __PT_PARM2_REG)
#define PT_REGS_PARM2_CORE(x) __PT_GET_CORE(x, __PT_PARM2_REG)
#define PT_REGS_PARM3(x)      __PT_GET(x, __PT_PARM3_REG)
#define PT_REGS_PARM3_CORE(x) __PT_GET_CORE(x, __PT_PARM3_REG)
#ifdef __PT_PARM4_REG
#define PT_REGS_PARM4(x)      __PT_GET(x, __PT_PARM4_REG)
#define PT_REGS_PARM4_CORE(x) __PT_GET_CORE(x, __PT_PARM4_REG)
#else
#define PT_REGS_PARM4(x)      __PT_NO_REG("argument 4")
#define PT_REGS_PARM4_CORE(x) __PT_NO_REG("argument 4")
#endif
#ifdef __PT_PARM5_REG
#define PT_REGS_PARM5(x)      __PT_GET(x, __PT_PARM5_REG)
#define PT_REGS_PARM5_CORE(x) __PT_GET_CORE(x, __PT_PARM5_REG)
#else
#define PT_REGS_PARM5(x)      __PT_NO_REG("argument 5")
#define PT_REGS_PARM5_CORE(x) __PT_NO_REG("argument 5")
#endif
#ifdef __PT_PARM6_REG
#define PT_REGS_PARM6(x)      __PT_GET(x, __PT_PARM6_REG)
#define PT_REGS_PARM6_CORE(x) __PT_GET_CORE(x, __PT_PARM6_REG)
#else
#define PT_REGS_PARM6(x)      __PT_NO_REG("argument 6")
#define PT_REGS_PARM6_CORE(x) __PT_NO_REG("argument 6")
#endif
#ifdef __PT_PARM7_REG
#define PT_REGS_PARM7(x)      __PT_GET(x, __PT_PARM7_REG)
#define PT_REGS_PARM7_CORE(x) __PT_GET_CORE(x, __PT_PARM7_REG)
#define PT_REGS_PARM8(x)      __PT_GET(x, __PT_PARM8_REG)
#define PT_REGS_PARM8_CORE(x) __PT_GET_CORE(x, __PT_PARM8_REG)
#else
#define PT_REGS_PARM7(x)      __PT_NO_REG("argument 7")
#define PT_REGS_PARM7_CORE(x) __PT_NO_REG("argument 7")
#define PT_REGS_PARM8(x)      __PT_NO_REG("argument 8")
#define PT_REGS_PARM8_CORE(x) __PT_NO_REG("argument 8")
#endif

#define PT_REGS_RET(x)	    __PT_GET(x, __PT_RET_REG)
#define PT_REGS_RET_CORE(x) __PT_GET_CORE(x, __PT_RET_REG)
#define PT_REGS_FP(x)	    __PT_GET(x, __PT_FP_REG)
#define PT_REGS_FP_CORE(x)  __PT_GET_CORE(x, __PT_FP_REG)
#define PT_REGS_RC(x)	    __PT_GET(x, __PT_RC_REG)
#define PT_REGS_RC_CORE(x)  __PT_GET_CORE(x, __PT_RC_REG)
#define PT_REGS_SP(x)	    __PT_GET(x, __PT_SP_REG)
#define PT_REGS_SP_CORE(x)  __PT_GET_CORE(x, __PT_SP_REG)
#define PT_REGS_IP(x)	    __PT_GET(x, __PT_IP_REG)
#define PT_REGS_IP_CORE(x)  __PT_GET_CORE(x, __PT_IP_REG)

/* System call arguments, if their registers differ from those of function arguments. */
#ifdef __PT_PARM1_SYSCALL_REG
#define PT_REGS_PARM1_SYSCALL(x)      __PT_GET(x, __PT_PARM1_SYSCALL_REG)
#define PT_REGS_PARM1_CORE_SYSCALL(x) __PT_GET_CORE(x, __PT_PARM1_SYSCALL_REG)
#elif !defined(PT_REGS_PARM1_SYSCALL)
#define PT_REGS_PARM1_SYSCALL(x)      PT_REGS_PARM1(x)
#define PT_REGS_PARM1_CORE_SYSCALL(x) PT_REGS_PARM1_CORE(x)
#endif
#define PT_REGS_PARM2_SYSCALL(x)      PT_REGS_PARM2(x)
#define PT_REGS_PARM2_CORE_SYSCALL(x) PT_REGS_PARM2_CORE(x)
#define PT_REGS_PARM3_SYSCALL(x)      PT_REGS_PARM3(x)
#define PT_REGS_PARM3_CORE_SYSCALL(x) PT_REGS_PARM3_CORE(x)
#ifdef __PT_PARM4_SYSCALL_REG
#define PT_REGS_PARM4_SYSCALL(x)      __PT_GET(x, __PT_PARM4_SYSCALL_REG)
#define PT_REGS_PARM4_CORE_SYSCALL(x) __PT_GET_CORE(x, __PT_PARM4_SYSCALL_REG)
#else
#define PT_REGS_PARM4_SYSCALL(x)      PT_REGS_PARM4(x)
#define PT_REGS_PARM4_CORE_SYSCALL(x) PT_REGS_PARM4_CORE(x)
#endif
#ifdef __PT_PARM5_SYSCALL_REG
#define PT_REGS_PARM5_SYSCALL(x)      __PT_GET(x, __PT_PARM5_SYSCALL_REG)
#define PT_REGS_PARM5_CORE_SYSCALL(x) __PT_GET_CORE(x, __PT_PARM5_SYSCALL_REG)
#else
#define PT_REGS_PARM5_SYSCALL(x)      PT_REGS_PARM5(x)
#define PT_REGS_PARM5_CORE_SYSCALL(x) PT_REGS_PARM5_CORE(x)
#endif
#ifdef __PT_PARM6_SYSCALL_REG
#define PT_REGS_PARM6_SYSCALL(x)      __PT_GET(x, __PT_PARM6_SYSCALL_REG)
#define PT_REGS_PARM6_CORE_SYSCALL(x) __PT_GET_CORE(x, __PT_PARM6_SYSCALL_REG)
#else
#define PT_REGS_PARM6_SYSCALL(x)      PT_REGS_PARM6(x)
#define PT_REGS_PARM6_CORE_SYSCALL(x) PT_REGS_PARM6_CORE(x)
#endif
#ifdef __PT_PARM7_SYSCALL_REG /* other architectures have six */
#define PT_REGS_PARM7_SYSCALL(x)      __PT_GET(x, __PT_PARM7_SYSCALL_REG)
#define PT_REGS_PARM7_CORE_SYSCALL(x) __PT_GET_CORE(x, __PT_PARM7_SYSCALL_REG)
#endif

/* The registers of a system call: the argument of its function, if the kernel wraps it. */
#ifndef PT_REGS_SYSCALL_REGS
#define PT_REGS_SYSCALL_REGS(ctx) ((struct pt_regs *)PT_REGS_PARM1(ctx))
#endif

/* The return address, in a probe at the start of a function and at its return. */
#if defined(__TARGET_ARCH_powerpc)
#define BPF_KPROBE_READ_RET_IP(ip, ctx)	   ({ (ip) = (ctx)->link; })
#define BPF_KRETPROBE_READ_RET_IP(ip, ctx) BPF_KPROBE_READ_RET_IP(ip, ctx)
#else
#define BPF_KPROBE_READ_RET_IP(ip, ctx)                                                            \
	({ bpf_probe_read_kernel(&(ip), sizeof(ip), (void *)PT_REGS_RET(ctx)); })
#define BPF_KRETPROBE_READ_RET_IP(ip, ctx)                                                         \
	({ bpf_probe_read_kernel(&(ip), sizeof(ip), (void *)(PT_REGS_FP(ctx) + sizeof(ip))); })
#endif

#endif /* __PT_PARM1_REG */

/* ---- typed arguments ---- */

/*
 * ___bpf_list(f, args) is ", f(0), f(1), …", one value for each argument. The
 * cast from a word to the type of the argument is intended, so the warning is
 * disabled.
 */
#define ___bpf_cast(x) (void *)(x)

#define ___bpf_list0(f)
#define ___bpf_list1(f, x)	 , f(0)
#define ___bpf_list2(f, x, ...)	 ___bpf_list1(f, __VA_ARGS__), f(1)
#define ___bpf_list3(f, x, ...)	 ___bpf_list2(f, __VA_ARGS__), f(2)
#define ___bpf_list4(f, x, ...)	 ___bpf_list3(f, __VA_ARGS__), f(3)
#define ___bpf_list5(f, x, ...)	 ___bpf_list4(f, __VA_ARGS__), f(4)
#define ___bpf_list6(f, x, ...)	 ___bpf_list5(f, __VA_ARGS__), f(5)
#define ___bpf_list7(f, x, ...)	 ___bpf_list6(f, __VA_ARGS__), f(6)
#define ___bpf_list8(f, x, ...)	 ___bpf_list7(f, __VA_ARGS__), f(7)
#define ___bpf_list9(f, x, ...)	 ___bpf_list8(f, __VA_ARGS__), f(8)
#define ___bpf_list10(f, x, ...) ___bpf_list9(f, __VA_ARGS__), f(9)
#define ___bpf_list11(f, x, ...) ___bpf_list10(f, __VA_ARGS__), f(10)
#define ___bpf_list12(f, x, ...) ___bpf_list11(f, __VA_ARGS__), f(11)
#define ___bpf_list(f, args...)	 ___bpf_apply(___bpf_list, ___bpf_narg(args))(f, ##args)

/*
 * Defines a program name(ctx_type ctx) that calls ____name(ctx, typed
 * arguments…). The body of ____name follows the macro.
 */
#define ___bpf_typed(ctx_type, name, value, args...)                                               \
	name(ctx_type ctx);                                                                        \
	static __always_inline __typeof__(name(0)) ____##name(ctx_type ctx, ##args);               \
	__typeof__(name(0)) name(ctx_type ctx)                                                     \
	{                                                                                          \
		___bpf_quiet_begin;                                                                \
		return ____##name(ctx ___bpf_list(value, ##args));                                 \
		___bpf_quiet_end;                                                                  \
	}                                                                                          \
	static __always_inline __typeof__(name(0)) ____##name(ctx_type ctx, ##args)

/*
 * SEC("tp_btf/sched_switch")
 * int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, …)
 *
 * For raw_tp, tp_btf, fentry, fexit (the last argument is the return value) and
 * lsm.
 */
#define ___bpf_ctx_word(n)	___bpf_cast(ctx[n])
#define BPF_PROG(name, args...) ___bpf_typed(unsigned long long *, name, ___bpf_ctx_word, ##args)

/*
 * int BPF_PROG2(on_call, struct pair, a, int, b)
 *
 * The same for functions with structs passed by value: a type and a name for
 * each of up to twelve arguments. A struct of up to 16 bytes uses one or two
 * words. The verifier requires that words are read as a whole.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ___bpf_low_bytes(word, size) (word)
#else
#define ___bpf_low_bytes(word, size) ((size) < 8 ? (word) << (64 - 8 * (size)) : (word))
#endif
#define ___bpf_words_of(type) ((sizeof(type) + 7) / 8)
#define ___bpf_take(type, at)                                                                      \
	({                                                                                         \
		type value_;                                                                       \
		unsigned long long words_[] = {                                                    \
			___bpf_low_bytes(ctx[at], sizeof(type)),                                   \
			ctx[(at) + (sizeof(type) > 8)],                                            \
		};                                                                                 \
		_Static_assert(sizeof(type) <= sizeof(words_), "not passed in registers");         \
		__builtin_memcpy(&value_, words_, sizeof(type));                                   \
		value_;                                                                            \
	})
/* Counts pairs of arguments. */
#define ___bpf_nth2(_, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, \
		    _18, _19, _20, _21, _22, _23, _24, N, ...)                                     \
	N
#define ___bpf_npairs(...)                                                                         \
	___bpf_nth2(_, ##__VA_ARGS__, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4,  \
		    3, 3, 2, 2, 1, 1, 0)
#define ___bpf_taken0(at, ...)
#define ___bpf_taken1(at, t, x) , ___bpf_take(t, at)
#define ___bpf_taken2(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken1((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken3(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken2((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken4(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken3((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken5(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken4((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken6(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken5((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken7(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken6((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken8(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken7((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken9(at, t, x, ...)                                                               \
	, ___bpf_take(t, at) ___bpf_taken8((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken10(at, t, x, ...)                                                              \
	, ___bpf_take(t, at) ___bpf_taken9((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken11(at, t, x, ...)                                                              \
	, ___bpf_take(t, at) ___bpf_taken10((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken12(at, t, x, ...)                                                              \
	, ___bpf_take(t, at) ___bpf_taken11((at) + ___bpf_words_of(t), __VA_ARGS__)
#define ___bpf_taken(args...) ___bpf_apply(___bpf_taken, ___bpf_npairs(args))(0, ##args)
#define ___bpf_params0(...)
#define ___bpf_params1(t, x)	   , t x
#define ___bpf_params2(t, x, ...)  , t x ___bpf_params1(__VA_ARGS__)
#define ___bpf_params3(t, x, ...)  , t x ___bpf_params2(__VA_ARGS__)
#define ___bpf_params4(t, x, ...)  , t x ___bpf_params3(__VA_ARGS__)
#define ___bpf_params5(t, x, ...)  , t x ___bpf_params4(__VA_ARGS__)
#define ___bpf_params6(t, x, ...)  , t x ___bpf_params5(__VA_ARGS__)
#define ___bpf_params7(t, x, ...)  , t x ___bpf_params6(__VA_ARGS__)
#define ___bpf_params8(t, x, ...)  , t x ___bpf_params7(__VA_ARGS__)
#define ___bpf_params9(t, x, ...)  , t x ___bpf_params8(__VA_ARGS__)
#define ___bpf_params10(t, x, ...) , t x ___bpf_params9(__VA_ARGS__)
#define ___bpf_params11(t, x, ...) , t x ___bpf_params10(__VA_ARGS__)
#define ___bpf_params12(t, x, ...) , t x ___bpf_params11(__VA_ARGS__)
#define ___bpf_params(args...)	   ___bpf_apply(___bpf_params, ___bpf_npairs(args))(args)

#define BPF_PROG2(name, args...)                                                                   \
	name(unsigned long long *ctx);                                                             \
	static __always_inline __typeof__(name(0)) ____##name(                                     \
		unsigned long long *ctx ___bpf_params(args));                                      \
	__typeof__(name(0)) name(unsigned long long *ctx)                                          \
	{                                                                                          \
		return ____##name(ctx ___bpf_taken(args));                                         \
	}                                                                                          \
	static __always_inline __typeof__(name(0)) ____##name(                                     \
		unsigned long long *ctx ___bpf_params(args))

#ifdef __PT_PARM1_REG

/*
 * SEC("kprobe/vfs_read")
 * int BPF_KPROBE(on_read, struct file *file, char *buf, size_t count)
 *
 * The number of arguments is limited to those that are passed in registers.
 */
#define ___bpf_parm0(x)		  PT_REGS_PARM1(x)
#define ___bpf_parm1(x)		  PT_REGS_PARM2(x)
#define ___bpf_parm2(x)		  PT_REGS_PARM3(x)
#define ___bpf_parm3(x)		  PT_REGS_PARM4(x)
#define ___bpf_parm4(x)		  PT_REGS_PARM5(x)
#define ___bpf_parm5(x)		  PT_REGS_PARM6(x)
#define ___bpf_parm6(x)		  PT_REGS_PARM7(x)
#define ___bpf_parm7(x)		  PT_REGS_PARM8(x)
#define ___bpf_kprobe_word(n)	  ___bpf_cast(___bpf_parm##n(ctx))
#define BPF_KPROBE(name, args...) ___bpf_typed(struct pt_regs *, name, ___bpf_kprobe_word, ##args)
#define BPF_UPROBE(name, args...) BPF_KPROBE(name, ##args)

/* int BPF_KRETPROBE(read_done, long result) */
#define ___bpf_result_word(n) ___bpf_cast(PT_REGS_RC(ctx))
#define BPF_KRETPROBE(name, args...)                                                               \
	___bpf_typed(struct pt_regs *, name, ___bpf_result_word, ##args)
#define BPF_URETPROBE(name, args...) BPF_KRETPROBE(name, ##args)

/*
 * SEC("ksyscall/openat")
 * int BPF_KSYSCALL(on_openat, int dir, const char *path, int flags)
 *
 * The arguments of the system call. On architectures where the kernel wraps
 * system calls, they are read from the struct pt_regs of the caller.
 */
extern _Bool LINUX_HAS_SYSCALL_WRAPPER __kconfig;

#define ___bpf_sysparm0(x, form) PT_REGS_PARM1##form##_SYSCALL(x)
#define ___bpf_sysparm1(x, form) PT_REGS_PARM2##form##_SYSCALL(x)
#define ___bpf_sysparm2(x, form) PT_REGS_PARM3##form##_SYSCALL(x)
#define ___bpf_sysparm3(x, form) PT_REGS_PARM4##form##_SYSCALL(x)
#define ___bpf_sysparm4(x, form) PT_REGS_PARM5##form##_SYSCALL(x)
#define ___bpf_sysparm5(x, form) PT_REGS_PARM6##form##_SYSCALL(x)
#define ___bpf_direct_word(n)	 ___bpf_cast(___bpf_sysparm##n(ctx, ))
#define ___bpf_wrapped_word(n)	 ___bpf_cast(___bpf_sysparm##n(regs, _CORE))
#define BPF_KSYSCALL(name, args...)                                                                \
	name(struct pt_regs *ctx);                                                                 \
	static __always_inline __typeof__(name(0)) ____##name(struct pt_regs *ctx, ##args);        \
	__typeof__(name(0)) name(struct pt_regs *ctx)                                              \
	{                                                                                          \
		struct pt_regs *regs __attribute__((unused)) =                                     \
			LINUX_HAS_SYSCALL_WRAPPER ? PT_REGS_SYSCALL_REGS(ctx) : ctx;               \
		___bpf_quiet_begin;                                                                \
		if (LINUX_HAS_SYSCALL_WRAPPER)                                                     \
			return ____##name(ctx ___bpf_list(___bpf_wrapped_word, ##args));           \
		return ____##name(ctx ___bpf_list(___bpf_direct_word, ##args));                    \
		___bpf_quiet_end;                                                                  \
	}                                                                                          \
	static __always_inline __typeof__(name(0)) ____##name(struct pt_regs *ctx, ##args)
#define BPF_KPROBE_SYSCALL BPF_KSYSCALL

#endif /* __PT_PARM1_REG */

#endif
