// SPDX-License-Identifier: BSD-2-Clause
/* One or a few instructions each: the words that the other files are written in. */
#include "probe/prologue/internal.h"

size_t emit_insn(struct prologue_gen *g, struct bpf_insn insn)
{
	struct bpf_insn *slot = vec_push(&g->code);

	if (slot)
		*slot = insn;
	else
		g->no_memory = true;
	return g->code.n - 1;
}

void emit_alu(struct prologue_gen *g, uint8_t op, int dst, int src)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_ALU64 | op | BPF_X,
				       .dst_reg = (uint8_t)dst & 15,
				       .src_reg = (uint8_t)src & 15});
}

void emit_alu_imm(struct prologue_gen *g, uint8_t op, int dst, int32_t imm)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_ALU64 | op | BPF_K,
				       .dst_reg = (uint8_t)dst & 15,
				       .imm = imm});
}

void emit_mov(struct prologue_gen *g, int dst, int src)
{
	if (dst != src)
		emit_alu(g, BPF_MOV, dst, src);
}

void emit_wide(struct prologue_gen *g, int dst, uint8_t pseudo, int32_t low, int32_t high)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW,
				       .dst_reg = (uint8_t)dst & 15,
				       .src_reg = pseudo & 15,
				       .imm = low});
	emit_insn(g, (struct bpf_insn){.imm = high});
}

void emit_const(struct prologue_gen *g, int dst, int64_t value)
{
	if (value == (int32_t)value)
		emit_alu_imm(g, BPF_MOV, dst, (int32_t)value);
	else
		emit_wide(g, dst, 0, (int32_t)value, (int32_t)(value >> 32));
}

static uint8_t size_code(uint32_t size)
{
	return size == 8 ? BPF_DW : size == 4 ? BPF_W : size == 2 ? BPF_H : BPF_B;
}

void emit_load(struct prologue_gen *g, int dst, int base, int32_t off, uint32_t size)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_LDX | BPF_MEM | size_code(size),
				       .dst_reg = (uint8_t)dst & 15,
				       .src_reg = (uint8_t)base & 15,
				       .off = (int16_t)off});
}

void emit_store(struct prologue_gen *g, int32_t off, int src, uint32_t size)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_STX | BPF_MEM | size_code(size),
				       .dst_reg = FP,
				       .src_reg = (uint8_t)src & 15,
				       .off = (int16_t)off});
}

void emit_store_imm(struct prologue_gen *g, int32_t off, int32_t value, uint32_t size)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_ST | BPF_MEM | size_code(size),
				       .dst_reg = FP,
				       .off = (int16_t)off,
				       .imm = value});
}

void emit_call(struct prologue_gen *g, int32_t helper)
{
	emit_insn(g, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = helper});
}

void emit_stack_address(struct prologue_gen *g, int dst, int32_t off)
{
	emit_mov(g, dst, FP);
	emit_alu_imm(g, BPF_ADD, dst, off);
}

/* A jump whose target is told by emit_land(). */
size_t emit_jump(struct prologue_gen *g, uint8_t op, int dst, int32_t imm)
{
	return emit_insn(g, (struct bpf_insn){.code = BPF_JMP | op | BPF_K,
					      .dst_reg = (uint8_t)dst & 15,
					      .imm = imm});
}

size_t emit_jump_reg(struct prologue_gen *g, uint8_t op, int dst, int src)
{
	return emit_insn(g, (struct bpf_insn){.code = BPF_JMP | op | BPF_X,
					      .dst_reg = (uint8_t)dst & 15,
					      .src_reg = (uint8_t)src & 15});
}

/* The jump leads to the next instruction. No value's code is as long as a jump can be. */
void emit_land(struct prologue_gen *g, size_t at)
{
	if (!g->no_memory)
		g->code.v[at].off = (int16_t)(g->code.n - at - 1);
}

/* r0 holds a negative errno if the condition is true: the value cannot be read. */
void emit_fail_if(struct prologue_gen *g, uint8_t op, int32_t imm)
{
	size_t *slot = vec_push(&g->failures);

	if (slot)
		*slot = emit_jump(g, op, R0, imm);
	else
		g->no_memory = true;
}

/* The value cannot be read where reg is 0. */
void emit_fail_if_zero(struct prologue_gen *g, int reg, int code)
{
	emit_alu_imm(g, BPF_MOV, R0, -code);
	size_t *slot = vec_push(&g->failures);
	if (slot)
		*slot = emit_jump(g, BPF_JEQ, reg, 0);
	else
		g->no_memory = true;
}

/* reg += value; other is overwritten if the value is large. */
void emit_add(struct prologue_gen *g, int reg, int64_t value, int other)
{
	if (!value)
		return;
	if (value == (int32_t)value) {
		emit_alu_imm(g, BPF_ADD, reg, (int32_t)value);
		return;
	}
	emit_const(g, other, value);
	emit_alu(g, BPF_ADD, reg, other);
}
void emit_extend(struct prologue_gen *g, int reg, int32_t bits, uint8_t back)
{
	if (!bits)
		return;
	emit_alu_imm(g, BPF_LSH, reg, bits);
	emit_alu_imm(g, back, reg, bits);
}

/* ---- memory ---- */

/* Zeroes of the frame, whose beginning is aligned as off is. */
void emit_zeros(struct prologue_gen *g, int32_t off, uint32_t n)
{
	while (n) {
		const uint32_t align = (uint32_t)(off & -off);
		uint32_t size = min_of(align ? align : 8u, 8u);

		while (size > n)
			size /= 2;
		emit_store_imm(g, off, 0, size);
		off += (int32_t)size;
		n -= size;
	}
}

/* The low n bytes of src, which is used up. The stack takes aligned stores only. */
void emit_bytes(struct prologue_gen *g, int32_t off, uint32_t n, int src)
{
	while (n) {
		const uint32_t align = (uint32_t)(off & -off);
		uint32_t size = min_of(align ? align : 8u, 8u);

		while (size > n)
			size /= 2;
		emit_store(g, off, src, size);
		off += (int32_t)size;
		n -= size;
		if (n)
			emit_alu_imm(g, BPF_RSH, src, (int32_t)size * 8);
	}
}

/* Whose memory it is: all that a process's image refers to is the process's. */
bool is_user_memory(const struct prologue_gen *g, bool user)
{
	return user || g->way->user;
}

static int32_t reader(const struct prologue_gen *g, bool user)
{
	if (!is_user_memory(g, user))
		return BPF_FUNC_probe_read_kernel;
	return g->way->sleepable ? BPF_FUNC_copy_from_user : BPF_FUNC_probe_read_user;
}

/* Reads n bytes at r3 to a place of the frame. */
void emit_read(struct prologue_gen *g, int32_t to, uint32_t n, bool user)
{
	emit_stack_address(g, R1, to);
	emit_alu_imm(g, BPF_MOV, R2, (int32_t)n);
	emit_call(g, reader(g, user));
	emit_fail_if(g, BPF_JNE, 0);
}

/* dst = the n bytes at r3, at most 8; r3 is used up. */
void emit_read_number(struct prologue_gen *g, int dst, uint32_t n, bool user)
{
	const bool odd = n & (n - 1);

	if (odd)
		emit_store_imm(g, g->scratch, 0, 8);
	emit_read(g, g->scratch, n, user);
	emit_load(g, dst, FP, g->scratch, odd ? 8 : n);
}