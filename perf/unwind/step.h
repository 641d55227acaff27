/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the registers of a frame to those of its caller, in memory: by a row of call frame
 * information, or by rules that do without.
 */
#ifndef PB_PERF_UNWIND_STEP_H
#define PB_PERF_UNWIND_STEP_H

#include "perf/unwind/cfi.h"

enum {
	X86_REG_BP = 6,
	X86_REG_SP = 7,
	ARM64_REG_FP = 29,
	ARM64_REG_LR = 30,
	ARM64_REG_SP = 31,
};

/* The registers of one frame, by their numbers in DWARF. */
struct frame_regs {
	uint64_t value[CFI_REGISTERS];
	uint64_t known; /* bit n: value[n] is known */
	uint64_t pc;
};

static inline bool frame_reg(const struct frame_regs *regs, unsigned reg, uint64_t *v)
{
	if (reg >= CFI_REGISTERS || !(regs->known >> reg & 1))
		return false;
	*v = regs->value[reg];
	return true;
}

/* The part of a thread's stack that a sample has a copy of. */
struct stack_copy {
	uint64_t start; /* the address of its first byte: the stack pointer */
	struct cursor bytes;
	bool is_arm64;
	bool missed; /* an address behind the copy was wanted */
};

/* The word at an address; false: the copy does not have it. */
bool stack_word(struct stack_copy *stack, uint64_t addr, uint64_t *v);

enum step_result {
	STEP_CALLER,  /* next is the caller */
	STEP_OUTMOST, /* there is no caller */
	STEP_FAILED,
};

/* By a row of cfi, which expressions are read from. */
enum step_result step_by_row(const struct cfi *cfi, const struct cfi_row *row,
			     struct stack_copy *stack, const struct frame_regs *regs,
			     struct frame_regs *next);

/*
 * Where the return address is on top of the stack below `pushed` further words (in an entry of the
 * PLT), or in the link register.
 */
enum step_result step_at_entry(struct stack_copy *stack, const struct frame_regs *regs,
			       unsigned pushed, struct frame_regs *next);

/* By the frame pointer, if what it leads to looks like a frame. */
enum step_result step_by_frame_pointer(struct stack_copy *stack, const struct frame_regs *regs,
				       struct frame_regs *next);

/*
 * The value of an expression of call frame information, which starts with the CFA on its stack
 * where there is one (NULL: there is none). false: it is damaged, too long, or reads what is not
 * known.
 */
bool cfi_evaluate(struct cursor expression, struct stack_copy *stack, const struct frame_regs *regs,
		  const uint64_t *cfa, uint64_t *value);

#endif
