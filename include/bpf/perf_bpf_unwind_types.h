/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables, as <bpf/perf_bpf_unwind.h> reads them from maps and perf-bpf run writes them: for
 * each address of a file, the rule that leads from a frame to its caller.
 */
#ifndef PERF_BPF_UNWIND_TYPES_H
#define PERF_BPF_UNWIND_TYPES_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* The canonical frame address: the caller's stack pointer. */
enum perf_bpf_unwind_cfa {
	PERF_BPF_CFA_UNKNOWN, /* no unwind information: the frame pointer is tried */
	PERF_BPF_CFA_END,     /* there is no caller */
	PERF_BPF_CFA_SP,      /* the stack pointer + cfa_offset */
	PERF_BPF_CFA_FP,      /* the frame pointer + cfa_offset */
	PERF_BPF_CFA_AT_SP,   /* the word at the stack pointer + cfa_offset, + cfa_more */
	PERF_BPF_CFA_AT_FP,   /* the word at the frame pointer + cfa_offset, + cfa_more */
	PERF_BPF_CFA_PLT,     /* x86-64: SP + 8, and 8 more from byte 11 of 16 on */
};

/* Where a register of the caller is. */
enum perf_bpf_unwind_where {
	PERF_BPF_REG_SAME, /* unchanged; the return address is in the link register (arm64) */
	PERF_BPF_REG_LOST,
	PERF_BPF_REG_AT_CFA, /* the word at the CFA + the offset */
	PERF_BPF_REG_AT_SP,
	PERF_BPF_REG_AT_FP,
};

struct perf_bpf_unwind_rule {
	__u8 cfa;	/* enum perf_bpf_unwind_cfa */
	__u8 ra, fp;	/* the return address, the frame pointer: enum perf_bpf_unwind_where */
	__u8 is_signal; /* a signal's trampoline: the caller was interrupted, it did not call */
	__s32 cfa_offset, ra_offset, fp_offset;
	__u32 cfa_more;
	__u32 unused; /* elements of arrays are multiples of 8 bytes */
};

/* From pc on, up to the next row. Rule 0 is PERF_BPF_CFA_UNKNOWN. */
struct perf_bpf_unwind_row {
	__u32 pc; /* relative to the table's base */
	__u32 rule;
};

/* The rows of a file are in blocks. What the last one does not need has pc 0xffffffff. */
#define PERF_BPF_UNWIND_BLOCK 32

struct perf_bpf_unwind_block {
	struct perf_bpf_unwind_row rows[PERF_BPF_UNWIND_BLOCK];
};

/* Executable memory of a process; those of one process are next to each other, by address. */
struct perf_bpf_unwind_mapping {
	__u64 start, end;
	__u64 base;		     /* the address for which the table has pc 0 */
	__u32 first_block, n_blocks; /* 0: no unwind information */
	__u32 pid;
	__u32 python; /* its interpreter's number, from 1; 0: it has none */
};

struct perf_bpf_unwind_process {
	__u64 mm;	/* of the kernel: another one after execve(2); 0: not known yet */
	__u64 stack;	/* mm->start_stack, if mm is not known */
	__u64 asked;	/* CLOCK_MONOTONIC, ns: when its mappings were last asked for */
	__u32 first, n; /* mappings; 0: not loaded yet */
};

/* Asked for in place of a process: there is no room for one. */
#define PERF_BPF_UNWIND_NO_ROOM 0xffffffff

/* How a walk ended. */
enum perf_bpf_unwind_end {
	PERF_BPF_UNWIND_COMPLETE,   /* at a frame that has no caller */
	PERF_BPF_UNWIND_LIMIT,	    /* more frames than a stack can have */
	PERF_BPF_UNWIND_NOT_LOADED, /* the tables of the process were not loaded yet */
	PERF_BPF_UNWIND_NO_RULES,   /* in code without unwind information and frame pointer */
	PERF_BPF_UNWIND_DAMAGED,    /* the stack does not fit the unwind information */
	PERF_BPF_UNWIND_32_BIT,	    /* a 32-bit process */
	PERF_BPF_UNWIND_BUSY,	    /* another walk was interrupted on this CPU */
	PERF_BPF_UNWIND_ENDS,
};

#endif
