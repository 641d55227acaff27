// SPDX-License-Identifier: BSD-2-Clause
/*
 * Expressions of call frame information (DWARF 5, 2.5): a machine with a stack of words, which
 * knows the registers of the frame and the copy of its memory. The PLT and the trampolines of
 * signals have them.
 *
 * An expression may jump backwards, so its steps are counted; it is given up when it takes more
 * than any compiler's.
 */
#include "perf/unwind/step.h"

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

#define MAX_STEPS 256
#define MAX_DEPTH 32

struct evaluation {
	struct cursor c;
	struct stack_copy *memory;
	const struct frame_regs *regs;
	uint64_t stack[MAX_DEPTH];
	unsigned depth;
};

static bool push(struct evaluation *e, uint64_t v)
{
	if (e->depth == MAX_DEPTH)
		return false;
	e->stack[e->depth++] = v;
	return true;
}

static bool pop(struct evaluation *e, uint64_t *v)
{
	if (!e->depth)
		return false;
	*v = e->stack[--e->depth];
	return true;
}

static bool push_constant(struct evaluation *e, uint8_t op)
{
	uint8_t u1;
	uint16_t u2;
	uint32_t u4;
	uint64_t u8;
	int64_t s8;

	switch (op) {
	case OP_CONST1U:
		return cursor_u8(&e->c, &u1) && push(e, u1);
	case OP_CONST1S:
		return cursor_u8(&e->c, &u1) && push(e, (uint64_t)(int8_t)u1);
	case OP_CONST2U:
		return cursor_u16(&e->c, &u2) && push(e, u2);
	case OP_CONST2S:
		return cursor_u16(&e->c, &u2) && push(e, (uint64_t)(int16_t)u2);
	case OP_CONST4U:
		return cursor_u32(&e->c, &u4) && push(e, u4);
	case OP_CONST4S:
		return cursor_u32(&e->c, &u4) && push(e, (uint64_t)(int32_t)u4);
	case OP_CONST8U:
	case OP_CONST8S:
		return cursor_u64(&e->c, &u8) && push(e, u8);
	case OP_CONSTU:
		return cfi_uleb(&e->c, &u8) && push(e, u8);
	default:
		return cfi_sleb(&e->c, &s8) && push(e, (uint64_t)s8);
	}
}

/* A register plus an offset. The program counter is a register of x86-64, behind the others. */
static bool push_register(struct evaluation *e, uint64_t reg)
{
	uint64_t v;
	int64_t offset;

	if (!cfi_sleb(&e->c, &offset))
		return false;
	if (reg == 16 && !e->memory->is_arm64)
		v = e->regs->pc;
	else if (reg >= CFI_REGISTERS || !frame_reg(e->regs, (unsigned)reg, &v))
		return false;
	return push(e, v + (uint64_t)offset);
}

static bool binary(uint8_t op, uint64_t a, uint64_t b, uint64_t *v)
{
	const int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_AND:
		*v = a & b;
		return true;
	case OP_OR:
		*v = a | b;
		return true;
	case OP_XOR:
		*v = a ^ b;
		return true;
	case OP_PLUS:
		*v = a + b;
		return true;
	case OP_MINUS:
		*v = a - b;
		return true;
	case OP_MUL:
		*v = a * b;
		return true;
	case OP_DIV:
		if (!y || (x == INT64_MIN && y == -1))
			return false;
		*v = (uint64_t)(x / y);
		return true;
	case OP_MOD:
		if (!b)
			return false;
		*v = a % b;
		return true;
	case OP_SHL:
		*v = b < 64 ? a << b : 0;
		return true;
	case OP_SHR:
		*v = b < 64 ? a >> b : 0;
		return true;
	case OP_SHRA:
		*v = (uint64_t)(x >> (b < 64 ? b : 63));
		return true;
	case OP_EQ:
		*v = x == y;
		return true;
	case OP_GE:
		*v = x >= y;
		return true;
	case OP_GT:
		*v = x > y;
		return true;
	case OP_LE:
		*v = x <= y;
		return true;
	case OP_LT:
		*v = x < y;
		return true;
	case OP_NE:
		*v = x != y;
		return true;
	}
	return false;
}

/* Moves what is on the stack. */
static bool do_stack(struct evaluation *e, uint8_t op)
{
	uint64_t v, top, second, third;
	uint8_t index = op == OP_OVER;

	switch (op) {
	case OP_DROP:
		return pop(e, &v);
	case OP_PICK:
		if (!cursor_u8(&e->c, &index))
			return false;
		/* fall through */
	case OP_DUP:
	case OP_OVER:
		return index < e->depth && push(e, e->stack[e->depth - 1 - index]);
	case OP_SWAP:
		return pop(e, &top) && pop(e, &second) && push(e, top) && push(e, second);
	default:
		return pop(e, &top) && pop(e, &second) && pop(e, &third) && push(e, top) &&
		       push(e, third) && push(e, second);
	}
}

static bool do_unary(struct evaluation *e, uint8_t op)
{
	uint64_t v, added;

	if (!pop(e, &v))
		return false;
	switch (op) {
	case OP_ABS:
		return push(e, (int64_t)v < 0 ? -v : v);
	case OP_NEG:
		return push(e, -v);
	case OP_NOT:
		return push(e, ~v);
	default:
		return cfi_uleb(&e->c, &added) && push(e, v + added);
	}
}

static bool do_deref(struct evaluation *e, uint8_t op)
{
	uint64_t addr, v;
	uint8_t size = 8;

	if (!pop(e, &addr) || (op == OP_DEREF_SIZE && !cursor_u8(&e->c, &size)) || !size ||
	    size > 8 || !stack_word(e->memory, addr, &v))
		return false;
	return push(e, size < 8 ? v & ((1ull << 8 * size) - 1) : v);
}

static bool do_jump(struct evaluation *e, uint8_t op)
{
	uint64_t condition = 1;
	uint16_t offset;

	if (!cursor_u16(&e->c, &offset) || (op == OP_BRA && !pop(e, &condition)))
		return false;
	return !condition || cursor_seek(&e->c, e->c.pos + (size_t)(int64_t)(int16_t)offset);
}

static bool do_operation(struct evaluation *e, uint8_t op)
{
	uint64_t a, b, v;

	if (op >= OP_LIT0 && op <= OP_LIT31)
		return push(e, op - OP_LIT0);
	if (op >= OP_BREG0 && op <= OP_BREG31)
		return push_register(e, op - OP_BREG0);
	if (op >= OP_CONST1U && op <= OP_CONSTS)
		return push_constant(e, op);
	if (op >= OP_DUP && op <= OP_ROT)
		return do_stack(e, op);
	switch (op) {
	case OP_NOP:
		return true;
	case OP_DEREF:
	case OP_DEREF_SIZE:
		return do_deref(e, op);
	case OP_BREGX:
		return cfi_uleb(&e->c, &v) && push_register(e, v);
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST:
		return do_unary(e, op);
	case OP_BRA:
	case OP_SKIP:
		return do_jump(e, op);
	default:
		return pop(e, &b) && pop(e, &a) && binary(op, a, b, &v) && push(e, v);
	}
}

bool cfi_evaluate(struct cursor expression, struct stack_copy *stack, const struct frame_regs *regs,
		  const uint64_t *cfa, uint64_t *value)
{
	struct evaluation e = {.c = expression, .memory = stack, .regs = regs};
	unsigned steps = 0;
	uint8_t op;

	if (cfa)
		push(&e, *cfa);
	while (cursor_u8(&e.c, &op))
		if (++steps > MAX_STEPS || !do_operation(&e, op))
			return false;
	return pop(&e, value);
}
