// SPDX-License-Identifier: BSD-2-Clause
/*
 * The operators of a fetch program. Of constants they are computed here. BPF
 * has fewer: its division is unsigned, its shifts are by less than 64, and what
 * compares jumps.
 */
#include "probe/prologue/internal.h"

#include <errno.h>

static int64_t sign_extend(int64_t v, uint32_t size)
{
	const int bits = 64 - (int)size * 8;

	return (int64_t)((uint64_t)v << bits) >> bits;
}

/* What the operator makes of two numbers; false: it is undefined. */
static bool fold(enum fetch_op op, int64_t a, int64_t b, int64_t *r)
{
	const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (op) {
	case FETCH_PLUS:
		*r = (int64_t)(ua + ub);
		return true;
	case FETCH_MINUS:
		*r = (int64_t)(ua - ub);
		return true;
	case FETCH_MUL:
		*r = (int64_t)(ua * ub);
		return true;
	case FETCH_DIV:
		if (b)
			*r = b == -1 ? (int64_t)-ua : a / b;
		return b != 0;
	case FETCH_MOD:
		if (b)
			*r = (int64_t)(ua % ub);
		return b != 0;
	case FETCH_AND:
		*r = a & b;
		return true;
	case FETCH_OR:
		*r = a | b;
		return true;
	case FETCH_XOR:
		*r = a ^ b;
		return true;
	case FETCH_SHL:
		*r = ub > 63 ? 0 : (int64_t)(ua << ub);
		return true;
	case FETCH_SHR:
		*r = ub > 63 ? 0 : (int64_t)(ua >> ub);
		return true;
	case FETCH_SHRA:
		*r = a >> (ub > 63 ? 63 : ub);
		return true;
	case FETCH_EQ:
		*r = a == b;
		return true;
	case FETCH_NE:
		*r = a != b;
		return true;
	case FETCH_LT:
		*r = a < b;
		return true;
	case FETCH_LE:
		*r = a <= b;
		return true;
	case FETCH_GT:
		*r = a > b;
		return true;
	default: /* FETCH_GE */
		*r = a >= b;
		return true;
	}
}

/* reg = |reg|, and r5 changes its lowest bit where it was negative. */
static void take_sign(struct prologue_gen *g, int reg)
{
	const size_t over = emit_jump(g, BPF_JSGE, reg, 0);

	emit_alu_imm(g, BPF_NEG, reg, 0);
	emit_alu_imm(g, BPF_XOR, R5, 1);
	emit_land(g, over);
}

/* dst /= src, signed; src is changed. Older machines have unsigned division only. */
static void divide(struct prologue_gen *g, int dst, int src)
{
	emit_alu_imm(g, BPF_MOV, R5, 0);
	take_sign(g, dst);
	take_sign(g, src);
	emit_alu(g, BPF_DIV, dst, src);
	const size_t over = emit_jump(g, BPF_JEQ, R5, 0);
	emit_alu_imm(g, BPF_NEG, dst, 0);
	emit_land(g, over);
}

/* dst shifted by src, which may be 64 and more. */
static void shift(struct prologue_gen *g, enum fetch_op op, int dst, int src)
{
	const uint8_t code = op == FETCH_SHL ? BPF_LSH : op == FETCH_SHR ? BPF_RSH : BPF_ARSH;

	if (op == FETCH_SHRA) {
		const size_t small = emit_jump(g, BPF_JLE, src, 63);

		emit_alu_imm(g, BPF_MOV, src, 63);
		emit_land(g, small);
		emit_alu_imm(g, BPF_AND, src, 63);
		emit_alu(g, code, dst, src);
		return;
	}
	const size_t small = emit_jump(g, BPF_JLE, src, 63);
	emit_alu_imm(g, BPF_MOV, dst, 0);
	emit_land(g, small);
	emit_alu_imm(g, BPF_AND, src, 63);
	emit_alu(g, code, dst, src);
}

/* dst = dst OP src as 1 or 0. */
static void compare(struct prologue_gen *g, enum fetch_op op, int dst, int src)
{
	static const uint8_t codes[] = {
		[FETCH_EQ - FETCH_EQ] = BPF_JEQ,  [FETCH_NE - FETCH_EQ] = BPF_JNE,
		[FETCH_LT - FETCH_EQ] = BPF_JSLT, [FETCH_LE - FETCH_EQ] = BPF_JSLE,
		[FETCH_GT - FETCH_EQ] = BPF_JSGT, [FETCH_GE - FETCH_EQ] = BPF_JSGE,
	};

	emit_alu_imm(g, BPF_MOV, R5, 1);
	const size_t yes = emit_jump_reg(g, codes[op - FETCH_EQ], dst, src);
	emit_alu_imm(g, BPF_MOV, R5, 0);
	emit_land(g, yes);
	emit_mov(g, dst, R5);
}

static uint8_t alu_code(enum fetch_op op)
{
	switch (op) {
	case FETCH_PLUS:
		return BPF_ADD;
	case FETCH_MINUS:
		return BPF_SUB;
	case FETCH_MUL:
		return BPF_MUL;
	case FETCH_AND:
		return BPF_AND;
	case FETCH_OR:
		return BPF_OR;
	case FETCH_XOR:
		return BPF_XOR;
	default: /* FETCH_MOD */
		return BPF_MOD;
	}
}

static uint8_t shift_code(enum fetch_op op)
{
	return op == FETCH_SHL ? BPF_LSH : op == FETCH_SHR ? BPF_RSH : BPF_ARSH;
}

static bool is_shift(enum fetch_op op)
{
	return op == FETCH_SHL || op == FETCH_SHR || op == FETCH_SHRA;
}

/* With a constant at the right, where that is an immediate; false: it is none. */
static bool binary_imm(struct prologue_gen *g, enum fetch_op op, int dst, int64_t b)
{
	if (is_shift(op) && b >= 0 && b <= 63) {
		emit_alu_imm(g, shift_code(op), dst, (int32_t)b);
		return true;
	}
	if (b != (int32_t)b || op >= FETCH_SHL || op == FETCH_DIV || op == FETCH_MOD)
		return false;
	emit_alu_imm(g, alu_code(op), dst, (int32_t)b);
	return true;
}

struct error *operator_binary(struct prologue_gen *g, enum fetch_op op)
{
	TRY(stack_need(g, 2));
	const size_t ia = g->depth - 2, ib = g->depth - 1;
	struct stack_entry *a = &g->stack[ia], *b = &g->stack[ib];

	g->depth--;
	if ((op == FETCH_DIV || op == FETCH_MOD) && b->is_const && !b->imm) {
		g->failed = EDOM;
		return NULL;
	}
	if (a->is_const && b->is_const) {
		fold(op, a->imm, b->imm, &a->imm);
		return NULL;
	}
	const int dst = entry_edit(g, ia, R1);
	if (b->is_const && binary_imm(g, op, dst, b->imm)) {
		entry_write(g, ia, dst);
		return NULL;
	}
	const int src = entry_edit(g, ib, R2);
	if ((op == FETCH_DIV || op == FETCH_MOD) && !b->is_const)
		emit_fail_if_zero(g, src, EDOM);
	if (op == FETCH_DIV)
		divide(g, dst, src);
	else if (is_shift(op))
		shift(g, op, dst, src);
	else if (op >= FETCH_EQ && op <= FETCH_GE)
		compare(g, op, dst, src);
	else
		emit_alu(g, alu_code(op), dst, src);
	entry_write(g, ia, dst);
	return NULL;
}

struct error *operator_unary(struct prologue_gen *g, const struct fetch_insn *insn)
{
	TRY(stack_need(g, 1));
	const size_t i = g->depth - 1;
	struct stack_entry *e = &g->stack[i];
	const uint32_t size = insn->size;

	if (insn->op == FETCH_SEXT && size != 1 && size != 2 && size != 4 && size != 8)
		return error_new(EINVAL, "its expression extends a sign from %u bytes", size);
	if (e->is_const) {
		e->imm = insn->op == FETCH_NEG	 ? (int64_t) - (uint64_t)e->imm
			 : insn->op == FETCH_NOT ? ~e->imm
						 : sign_extend(e->imm, size);
		return NULL;
	}
	const int reg = entry_edit(g, i, R1);
	if (insn->op == FETCH_NEG)
		emit_alu_imm(g, BPF_NEG, reg, 0);
	else if (insn->op == FETCH_NOT)
		emit_alu_imm(g, BPF_XOR, reg, -1);
	else
		emit_extend(g, reg, 64 - (int32_t)size * 8, BPF_ARSH);
	entry_write(g, i, reg);
	return NULL;
}
