/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs that are built into perf-bpf see as "vmlinux.h": of the
 * kernel's types only those they use, and of those only the members they read.
 * Offsets do not matter: CO-RE finds each member in the running kernel's BTF.
 * Who copies an example has the whole vmlinux.h of the kernel it runs on.
 *
 * A struct of a tracepoint is named after its event class, as the kernel
 * (include/trace/stages/stage6_event_callback.h) does it.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/bpf.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;

enum {
	false = 0,
	true = 1,
};

typedef int pid_t;
typedef __u32 dev_t;
typedef u64 sector_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The registers; the kernel's names. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r9, r8, ax, cx, dx, si, di, orig_ax, ip, sp, bp;
};
typedef struct pt_regs bpf_user_pt_regs_t;
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
	__u64 orig_x0;
};
typedef struct user_pt_regs bpf_user_pt_regs_t;
#endif

struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

struct task_struct {
	pid_t pid;
	pid_t tgid;
	char comm[16];
	unsigned int flags;
	int exit_state;
	struct task_struct *real_parent;
	struct mm_struct *mm;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
};

/* Tracepoints. */
struct trace_event_raw_sys_enter {
	long id;
	unsigned long args[6];
};

struct trace_event_raw_sys_exit {
	long id;
	long ret;
};

struct trace_event_raw_block_rq {
	dev_t dev;
	sector_t sector;
	unsigned int nr_sector;
	unsigned int bytes;
};

/* Network. */
struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_connection_sock {
	__u8 icsk_pending;
	__u8 icsk_ca_state : 5;
};

struct net_device {
	char name[16];
	int ifindex;
};

struct sk_buff {
	struct net_device *dev;
	unsigned int len;
	__be16 protocol;
};

#pragma clang attribute pop

#endif
