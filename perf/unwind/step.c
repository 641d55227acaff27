// SPDX-License-Identifier: BSD-2-Clause
/*
 * One step from a frame to its caller. A row of call frame information gives the caller's stack
 * pointer (the CFA) and where the caller's registers are. A register that cannot be read is
 * unknown from there on; this is no failure until somebody needs it.
 *
 * A step must lead up the stack, or the walk could go on for ever: the caller's stack pointer is
 * above the frame's. It may be equal in a leaf that keeps its return address in a register. Behind
 * a signal's trampoline it may be anywhere, as signals have stacks of their own. The walk as a
 * whole is bounded by the number of frames.
 */
#include "perf/unwind/step.h"

/* No frame of a program that keeps frame pointers is larger, as libunwind assumes, too. */
#define MAX_FRAME_SIZE 0x4000

/* Of a signed return address: where user space ends with 48 bits. */
#define ARM64_ADDRESS_MASK ((1ull << 48) - 1)

bool stack_word(struct stack_copy *stack, uint64_t addr, uint64_t *v)
{
	struct cursor c = stack->bytes;
	const uint64_t offset = addr - stack->start;

	/* A copy that reaches the end of the address space would lead around it. */
	if (addr < stack->start || addr > UINT64_MAX - 16 || offset > c.size ||
	    c.size - offset < 8) {
		stack->missed |= addr >= stack->start;
		return false;
	}
	cursor_seek(&c, (size_t)offset);
	return cursor_u64(&c, v);
}

static unsigned stack_reg(const struct stack_copy *stack)
{
	return stack->is_arm64 ? ARM64_REG_SP : X86_REG_SP;
}

static void set_reg(struct frame_regs *regs, unsigned reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1ull << reg;
}

/*
 * A register that was saved. What is below the stack pointer was popped: the register has its value
 * again. LLVM's unwind information of a function's last instructions does not say so.
 */
static bool saved_value(const struct cfi_rule *rule, struct stack_copy *stack,
			const struct frame_regs *regs, uint64_t addr, uint64_t *v)
{
	uint64_t sp;

	if (frame_reg(regs, stack_reg(stack), &sp) && addr < sp)
		return frame_reg(regs, rule->reg, v);
	return stack_word(stack, addr, v);
}

/* The value that a rule gives; false: unknown. */
static bool rule_value(const struct cfi *cfi, const struct cfi_row *row,
		       const struct cfi_rule *rule, struct stack_copy *stack,
		       const struct frame_regs *regs, uint64_t cfa, uint64_t *v)
{
	const uint64_t offset = (uint64_t)(int64_t)rule->offset;

	switch (rule->kind) {
	case CFI_SAVED_AT:
		return saved_value(rule, stack, regs, cfa + offset, v);
	case CFI_IS_CFA:
		*v = cfa + offset;
		return true;
	case CFI_REGISTER:
		return frame_reg(regs, (unsigned)rule->offset, v);
	case CFI_EXPR_AT:
		return cfi_evaluate(cfi_expression(cfi, row, rule), stack, regs, &cfa, v) &&
		       stack_word(stack, *v, v);
	case CFI_EXPR_IS:
		return cfi_evaluate(cfi_expression(cfi, row, rule), stack, regs, &cfa, v);
	}
	return false;
}

static bool row_cfa(const struct cfi *cfi, const struct cfi_row *row, struct stack_copy *stack,
		    const struct frame_regs *regs, uint64_t *cfa)
{
	if (row->cfa.kind == CFI_EXPR_IS)
		return cfi_evaluate(cfi_expression(cfi, row, &row->cfa), stack, regs, NULL, cfa);
	if (!frame_reg(regs, row->cfa.reg, cfa))
		return false;
	*cfa += (uint64_t)(int64_t)row->cfa.offset;
	return true;
}

/* Whether the step leads up the stack. */
static bool is_upwards(const struct stack_copy *stack, const struct frame_regs *regs,
		       const struct frame_regs *next)
{
	uint64_t sp, next_sp;

	return frame_reg(regs, stack_reg(stack), &sp) &&
	       frame_reg(next, stack_reg(stack), &next_sp) &&
	       (next_sp > sp || (stack->is_arm64 && next_sp == sp && next->pc != regs->pc));
}

enum step_result step_by_row(const struct cfi *cfi, const struct cfi_row *row,
			     struct stack_copy *stack, const struct frame_regs *regs,
			     struct frame_regs *next)
{
	const unsigned sp = stack_reg(stack);
	bool is_outmost = false;
	uint64_t cfa, v;

	if (!row_cfa(cfi, row, stack, regs, &cfa))
		return STEP_FAILED;
	copy_block(next, regs, sizeof(*next));
	set_reg(next, sp, cfa);
	/* x86-64's return address is a column of its own, which no rule left unchanged. */
	if (!stack->is_arm64)
		next->known &= ~(1ull << 16);
	for (unsigned i = 0; i < row->n; i++) {
		const struct cfi_rule *rule = &row->rules[i];

		if (rule_value(cfi, row, rule, stack, regs, cfa, &v))
			set_reg(next, rule->reg, v);
		else
			next->known &= ~(1ull << rule->reg);
		is_outmost |= rule->reg == row->return_reg && rule->kind == CFI_UNDEFINED;
	}
	if (is_outmost)
		return STEP_OUTMOST;
	if (!frame_reg(next, row->return_reg, &next->pc))
		return STEP_FAILED;
	if (row->is_signed)
		next->pc &= ARM64_ADDRESS_MASK;
	if (!next->pc)
		return STEP_OUTMOST;
	return row->is_signal || is_upwards(stack, regs, next) ? STEP_CALLER : STEP_FAILED;
}

enum step_result step_at_entry(struct stack_copy *stack, const struct frame_regs *regs,
			       unsigned pushed, struct frame_regs *next)
{
	uint64_t sp;

	copy_block(next, regs, sizeof(*next));
	if (stack->is_arm64) {
		if (!frame_reg(regs, ARM64_REG_LR, &next->pc))
			return STEP_FAILED;
		return next->pc && next->pc != regs->pc ? STEP_CALLER : STEP_FAILED;
	}
	if (!frame_reg(regs, X86_REG_SP, &sp) || !stack_word(stack, sp + 8 * pushed, &next->pc))
		return STEP_FAILED;
	set_reg(next, X86_REG_SP, sp + 8 * (pushed + 1));
	return next->pc ? STEP_CALLER : STEP_OUTMOST;
}

enum step_result step_by_frame_pointer(struct stack_copy *stack, const struct frame_regs *regs,
				       struct frame_regs *next)
{
	const unsigned fp_reg = stack->is_arm64 ? ARM64_REG_FP : X86_REG_BP;
	uint64_t sp, fp, caller_fp;

	if (!frame_reg(regs, stack_reg(stack), &sp) || !frame_reg(regs, fp_reg, &fp) || fp % 8 ||
	    fp < sp || fp - sp > MAX_FRAME_SIZE)
		return STEP_FAILED;
	copy_block(next, regs, sizeof(*next));
	if (!stack_word(stack, fp, &caller_fp) || !stack_word(stack, fp + 8, &next->pc))
		return STEP_FAILED;
	if (stack->is_arm64)
		next->pc &= ARM64_ADDRESS_MASK;
	if (caller_fp && caller_fp <= fp)
		return STEP_FAILED;
	set_reg(next, fp_reg, caller_fp);
	set_reg(next, stack_reg(stack), fp + 16);
	return next->pc ? STEP_CALLER : STEP_OUTMOST;
}
