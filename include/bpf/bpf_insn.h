/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF instructions in C, with the names of the kernel's macros in
 * include/linux/filter.h. The instructions are documented in
 * Documentation/bpf/standardization/instruction-set.rst of the kernel.
 *
 * In a user-space program each macro is a struct bpf_insn, for bpf_prog_load():
 *
 *	struct bpf_insn insns[] = {
 *		BPF_MOV64_IMM(BPF_REG_0, 0),
 *		BPF_EXIT_INSN(),
 *	};
 *
 * In a BPF object each macro is a statement. A function of such statements is the
 * whole program: the compiler adds no code before or after them.
 *
 *	SEC("tracepoint/sched/sched_switch")
 *	BPF_INSN_PROGRAM(on_switch)
 *	{
 *		BPF_MOV64_IMM(BPF_REG_0, 0);
 *		BPF_EXIT_INSN();
 *	}
 *
 * The offset of a jump is the number of instructions to skip; BPF_LD_IMM64,
 * BPF_LD_MAP_FD and BPF_LD_MAP count as two.
 */
#ifndef PERF_BPF_INSN_H
#define PERF_BPF_INSN_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#endif

/* Macros of <linux/bpf_common.h> and <linux/bpf.h>, which are not in vmlinux.h. */
#ifndef BPF_LD
#define BPF_LD	  0x00
#define BPF_LDX	  0x01
#define BPF_ST	  0x02
#define BPF_STX	  0x03
#define BPF_ALU	  0x04
#define BPF_JMP	  0x05
#define BPF_W	  0x00
#define BPF_H	  0x08
#define BPF_B	  0x10
#define BPF_IMM	  0x00
#define BPF_MEM	  0x60
#define BPF_ADD	  0x00
#define BPF_SUB	  0x10
#define BPF_MUL	  0x20
#define BPF_DIV	  0x30
#define BPF_OR	  0x40
#define BPF_AND	  0x50
#define BPF_LSH	  0x60
#define BPF_RSH	  0x70
#define BPF_NEG	  0x80
#define BPF_MOD	  0x90
#define BPF_XOR	  0xa0
#define BPF_JA	  0x00
#define BPF_JEQ	  0x10
#define BPF_JGT	  0x20
#define BPF_JGE	  0x30
#define BPF_JSET  0x40
#define BPF_K	  0x00
#define BPF_X	  0x08
#define BPF_JMP32 0x06
#define BPF_ALU64 0x07
#define BPF_DW	  0x18
#define BPF_MOV	  0xb0
#define BPF_ARSH  0xc0
#define BPF_JNE	  0x50
#define BPF_JLT	  0xa0
#define BPF_JLE	  0xb0
#define BPF_JSGT  0x60
#define BPF_JSGE  0x70
#define BPF_JSLT  0xc0
#define BPF_JSLE  0xd0
#define BPF_CALL  0x80
#define BPF_EXIT  0x90
#endif
#ifndef BPF_ATOMIC
#define BPF_ATOMIC 0xc0 /* 5.12; before: BPF_XADD, which supports only BPF_ADD */
#endif
#ifndef BPF_PSEUDO_MAP_FD
#define BPF_PSEUDO_MAP_FD 1
#endif

#ifdef __bpf__

#define BPF_INSN_PROGRAM(name) __attribute__((naked)) int name(void)

/* The eight bytes of an instruction: little-endian, the destination in the low nibble. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ___bpf_insn_regs(dst, src) ((unsigned long long)((src) << 4 | (dst)) << 8)
#define ___bpf_insn_word(code, dst, src, off, imm)                                                 \
	((unsigned long long)(code) | ___bpf_insn_regs(dst, src) |                                 \
	 (unsigned long long)(unsigned short)(off) << 16 |                                         \
	 (unsigned long long)(unsigned int)(imm) << 32)
#else
#define ___bpf_insn_word(code, dst, src, off, imm)                                                 \
	((unsigned long long)(code) << 56 | (unsigned long long)((dst) << 4 | (src)) << 48 |       \
	 (unsigned long long)(unsigned short)(off) << 32 | (unsigned int)(imm))
#endif
#define BPF_RAW_INSN(code, dst, src, off, imm)                                                     \
	__asm__ volatile(".8byte %0" ::"i"(___bpf_insn_word(code, dst, src, off, imm)))

/* dst = imm64, which is a constant; two instructions. */
#define BPF_LD_IMM64(dst, imm)                                                                     \
	do {                                                                                       \
		BPF_RAW_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, imm);                           \
		BPF_RAW_INSN(0, 0, 0, 0, (unsigned long long)(imm) >> 32);                         \
	} while (0)
/* dst = the map with this name in the object; two instructions. */
#define BPF_LD_MAP(dst, map) __asm__ volatile("r%0 = %1 ll" ::"i"(dst), "i"(&(map)))

#else /* user space */

#define BPF_RAW_INSN(insn_code, dst, src, offset, immediate)                                       \
	((struct bpf_insn){.code = (insn_code),                                                    \
			   .dst_reg = (dst),                                                       \
			   .src_reg = (src),                                                       \
			   .off = (offset),                                                        \
			   .imm = (immediate)})

#define BPF_LD_IMM64_RAW(dst, src, imm)                                                            \
	BPF_RAW_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (__u32)(imm)),                        \
		BPF_RAW_INSN(0, 0, 0, 0, (__u64)(imm) >> 32)
/* dst = imm64; two instructions. */
#define BPF_LD_IMM64(dst, imm) BPF_LD_IMM64_RAW(dst, 0, imm)
/* dst = the map of a file descriptor; two instructions. */
#define BPF_LD_MAP_FD(dst, fd) BPF_LD_IMM64_RAW(dst, BPF_PSEUDO_MAP_FD, (__u32)(fd))

#endif

/* dst OP= src, dst OP= imm; with 64 bits and with 32 bits. */
#define BPF_ALU64_REG(op, dst, src) BPF_RAW_INSN(BPF_ALU64 | (op) | BPF_X, dst, src, 0, 0)
#define BPF_ALU64_IMM(op, dst, imm) BPF_RAW_INSN(BPF_ALU64 | (op) | BPF_K, dst, 0, 0, imm)
#define BPF_ALU32_REG(op, dst, src) BPF_RAW_INSN(BPF_ALU | (op) | BPF_X, dst, src, 0, 0)
#define BPF_ALU32_IMM(op, dst, imm) BPF_RAW_INSN(BPF_ALU | (op) | BPF_K, dst, 0, 0, imm)

/* dst = src, dst = imm. 64 bits: imm is sign-extended; 32 bits: the result is zero-extended. */
#define BPF_MOV64_REG(dst, src) BPF_ALU64_REG(BPF_MOV, dst, src)
#define BPF_MOV64_IMM(dst, imm) BPF_ALU64_IMM(BPF_MOV, dst, imm)
#define BPF_MOV32_REG(dst, src) BPF_ALU32_REG(BPF_MOV, dst, src)
#define BPF_MOV32_IMM(dst, imm) BPF_ALU32_IMM(BPF_MOV, dst, imm)

/* dst = *(size *)(src + off), *(size *)(dst + off) = src, = imm; size BPF_B, _H, _W or _DW. */
#define BPF_LDX_MEM(size, dst, src, off) BPF_RAW_INSN(BPF_LDX | (size) | BPF_MEM, dst, src, off, 0)
#define BPF_STX_MEM(size, dst, src, off) BPF_RAW_INSN(BPF_STX | (size) | BPF_MEM, dst, src, off, 0)
#define BPF_ST_MEM(size, dst, off, imm)	 BPF_RAW_INSN(BPF_ST | (size) | BPF_MEM, dst, 0, off, imm)

/* Atomically *(size *)(dst + off) OP= src; BPF_W or BPF_DW. Before 5.12 only BPF_ADD. */
#define BPF_ATOMIC_OP(size, op, dst, src, off)                                                     \
	BPF_RAW_INSN(BPF_STX | (size) | BPF_ATOMIC, dst, src, off, op)

/* if (dst OP src) goto off, if (dst OP imm) goto off; goto off. */
#define BPF_JMP_REG(op, dst, src, off)	 BPF_RAW_INSN(BPF_JMP | (op) | BPF_X, dst, src, off, 0)
#define BPF_JMP_IMM(op, dst, imm, off)	 BPF_RAW_INSN(BPF_JMP | (op) | BPF_K, dst, 0, off, imm)
#define BPF_JMP32_REG(op, dst, src, off) BPF_RAW_INSN(BPF_JMP32 | (op) | BPF_X, dst, src, off, 0)
#define BPF_JMP32_IMM(op, dst, imm, off) BPF_RAW_INSN(BPF_JMP32 | (op) | BPF_K, dst, 0, off, imm)
#define BPF_JMP_A(off)			 BPF_RAW_INSN(BPF_JMP | BPF_JA, 0, 0, off, 0)

/* r0 = helper func (for example BPF_FUNC_map_lookup_elem) of r1 to r5, which it clobbers. */
#define BPF_EMIT_CALL(func) BPF_RAW_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, func)
/* return r0 */
#define BPF_EXIT_INSN() BPF_RAW_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#endif
