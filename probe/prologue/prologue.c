// SPDX-License-Identifier: BSD-2-Clause
/*
 * The generated code is a main program, which calls the user's as a function:
 *
 *	r6 = context, r7 = err = 0, struct NAME = 0
 *	(count the hit)
 *	(the arguments of a typed context, as plain numbers)
 *	for each value, the last one first:
 *		compute it, and store it
 *	     failed:  r7 = the errno
 *	call the user's program
 *	exit
 *
 * The values are computed from the last to the first, so that what r7 holds in
 * the end is the errno of the first that failed: no branch asks whether there
 * was one before, and the verifier sees as many states as there are values.
 *
 * A call, and not code put in front: each function has a stack frame of its
 * own, so that struct NAME and what the user's program keeps on its stack cannot
 * collide, and the verifier adds up the two (512 bytes together). All kernels
 * since 4.16 take it.
 *
 * The stack machine of a fetch program has its entries at fixed places: the
 * lowest two in r8 and r9, which calls leave alone, the others on the stack.
 * Constants are carried along and only take a place when they must, so that
 * an offset or a shift is an immediate. There is no loop; the only branches are
 * those forward to the next failure, or over a single case.
 *
 * Everything is a plain number for the verifier, never one of its typed
 * pointers: arithmetic on those is refused, and so would be the user's program.
 * In a typed context they are therefore taken with bpf_get_func_arg(), or read
 * out of the context like any other memory.
 */
#include "probe/prologue/prologue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vec.h"

enum {
	R0,
	R1,
	R2,
	R3,
	R4,
	R5,
	CTX,
	ERR,
	ENTRY0,
	ENTRY1,
	FP,
};

enum {
	N_REG_ENTRIES = 2,
	MAX_PROLOGUE = 65536, /* instructions */
	MAX_PARAMS = 12,      /* MAX_BPF_FUNC_ARGS of the kernel */
	/* linux/bpf.h of Debian 12 has these; by number where older headers have not. */
	GET_ATTACH_COOKIE = 174,
	GET_FUNC_IP = 173,
	GET_FUNC_ARG = 183,
	GET_FUNC_RET = 184,
};

/* An entry of the stack machine: a constant, or at its place. */
struct entry {
	bool is_const;
	int64_t imm;
};

struct gen {
	const struct prologue_way *way;
	const struct prologue_shape *shape;
	VEC(struct bpf_insn) code;
	bool no_memory;

	/* Bytes below the frame pointer at which each of these begins. */
	int32_t args, scratch, sum, params, entries;
	uint32_t used_params; /* of a typed context: bit by parameter */
	bool uses_retval;

	struct entry stack[FETCH_MAX_DEPTH];
	size_t depth;
	VEC(size_t) failures; /* jumps to the end of the value that is being computed */
	int failed;	      /* it is known already that it cannot be read: the errno */
};

void prologue_deinit(struct prologue *prologue)
{
	free(prologue->insns);
	*prologue = (struct prologue){0};
}

/* ---- instructions ---- */

static size_t emit(struct gen *g, struct bpf_insn insn)
{
	struct bpf_insn *slot = vec_push(&g->code);

	if (slot)
		*slot = insn;
	else
		g->no_memory = true;
	return g->code.n - 1;
}

static void alu(struct gen *g, uint8_t op, int dst, int src)
{
	emit(g, (struct bpf_insn){.code = BPF_ALU64 | op | BPF_X,
				  .dst_reg = (uint8_t)dst & 15,
				  .src_reg = (uint8_t)src & 15});
}

static void alu_imm(struct gen *g, uint8_t op, int dst, int32_t imm)
{
	emit(g, (struct bpf_insn){
			.code = BPF_ALU64 | op | BPF_K, .dst_reg = (uint8_t)dst & 15, .imm = imm});
}

static void mov(struct gen *g, int dst, int src)
{
	if (dst != src)
		alu(g, BPF_MOV, dst, src);
}

static void load_wide(struct gen *g, int dst, uint8_t pseudo, int32_t low, int32_t high)
{
	emit(g, (struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW,
				  .dst_reg = (uint8_t)dst & 15,
				  .src_reg = pseudo & 15,
				  .imm = low});
	emit(g, (struct bpf_insn){.imm = high});
}

static void load_const(struct gen *g, int dst, int64_t value)
{
	if (value == (int32_t)value)
		alu_imm(g, BPF_MOV, dst, (int32_t)value);
	else
		load_wide(g, dst, 0, (int32_t)value, (int32_t)(value >> 32));
}

static uint8_t size_code(uint32_t size)
{
	return size == 8 ? BPF_DW : size == 4 ? BPF_W : size == 2 ? BPF_H : BPF_B;
}

static void load(struct gen *g, int dst, int base, int32_t off, uint32_t size)
{
	emit(g, (struct bpf_insn){.code = BPF_LDX | BPF_MEM | size_code(size),
				  .dst_reg = (uint8_t)dst & 15,
				  .src_reg = (uint8_t)base & 15,
				  .off = (int16_t)off});
}

static void store(struct gen *g, int32_t off, int src, uint32_t size)
{
	emit(g, (struct bpf_insn){.code = BPF_STX | BPF_MEM | size_code(size),
				  .dst_reg = FP,
				  .src_reg = (uint8_t)src & 15,
				  .off = (int16_t)off});
}

static void store_imm(struct gen *g, int32_t off, int32_t value, uint32_t size)
{
	emit(g, (struct bpf_insn){.code = BPF_ST | BPF_MEM | size_code(size),
				  .dst_reg = FP,
				  .off = (int16_t)off,
				  .imm = value});
}

static void call(struct gen *g, int32_t helper)
{
	emit(g, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = helper});
}

static void stack_address(struct gen *g, int dst, int32_t off)
{
	mov(g, dst, FP);
	alu_imm(g, BPF_ADD, dst, off);
}

/* A jump whose target is told by land(). */
static size_t jump(struct gen *g, uint8_t op, int dst, int32_t imm)
{
	return emit(g, (struct bpf_insn){.code = BPF_JMP | op | BPF_K,
					 .dst_reg = (uint8_t)dst & 15,
					 .imm = imm});
}

static size_t jump_reg(struct gen *g, uint8_t op, int dst, int src)
{
	return emit(g, (struct bpf_insn){.code = BPF_JMP | op | BPF_X,
					 .dst_reg = (uint8_t)dst & 15,
					 .src_reg = (uint8_t)src & 15});
}

/* The jump leads to the next instruction. No value's code is as long as a jump can be. */
static void land(struct gen *g, size_t at)
{
	if (!g->no_memory)
		g->code.v[at].off = (int16_t)(g->code.n - at - 1);
}

/* r0 holds a negative errno if the condition is true: the value cannot be read. */
static void fail_if(struct gen *g, uint8_t op, int32_t imm)
{
	size_t *slot = vec_push(&g->failures);

	if (slot)
		*slot = jump(g, op, R0, imm);
	else
		g->no_memory = true;
}

/* The value cannot be read where reg is 0. */
static void fail_if_zero(struct gen *g, int reg, int code)
{
	alu_imm(g, BPF_MOV, R0, -code);
	size_t *slot = vec_push(&g->failures);
	if (slot)
		*slot = jump(g, BPF_JEQ, reg, 0);
	else
		g->no_memory = true;
}

/* reg += value; other is overwritten if the value is large. */
static void add_const(struct gen *g, int reg, int64_t value, int other)
{
	if (!value)
		return;
	if (value == (int32_t)value) {
		alu_imm(g, BPF_ADD, reg, (int32_t)value);
		return;
	}
	load_const(g, other, value);
	alu(g, BPF_ADD, reg, other);
}

/* ---- memory ---- */

/* Zeroes of the frame, whose beginning is aligned as off is. */
static void store_zeros(struct gen *g, int32_t off, uint32_t n)
{
	while (n) {
		const uint32_t align = (uint32_t)(off & -off);
		uint32_t size = min_of(align ? align : 8u, 8u);

		while (size > n)
			size /= 2;
		store_imm(g, off, 0, size);
		off += (int32_t)size;
		n -= size;
	}
}

/* The low n bytes of src, which is used up. The stack takes aligned stores only. */
static void store_bytes(struct gen *g, int32_t off, uint32_t n, int src)
{
	while (n) {
		const uint32_t align = (uint32_t)(off & -off);
		uint32_t size = min_of(align ? align : 8u, 8u);

		while (size > n)
			size /= 2;
		store(g, off, src, size);
		off += (int32_t)size;
		n -= size;
		if (n)
			alu_imm(g, BPF_RSH, src, (int32_t)size * 8);
	}
}

/* Whose memory it is: all that a process's image refers to is the process's. */
static bool is_user(const struct gen *g, bool user)
{
	return user || g->way->user;
}

static int32_t reader(const struct gen *g, bool user)
{
	if (!is_user(g, user))
		return BPF_FUNC_probe_read_kernel;
	return g->way->sleepable ? BPF_FUNC_copy_from_user : BPF_FUNC_probe_read_user;
}

/* Reads n bytes at r3 to a place of the frame. */
static void read_memory(struct gen *g, int32_t to, uint32_t n, bool user)
{
	stack_address(g, R1, to);
	alu_imm(g, BPF_MOV, R2, (int32_t)n);
	call(g, reader(g, user));
	fail_if(g, BPF_JNE, 0);
}

/* dst = the n bytes at r3, at most 8; r3 is used up. */
static void read_number(struct gen *g, int dst, uint32_t n, bool user)
{
	const bool odd = n & (n - 1);

	if (odd)
		store_imm(g, g->scratch, 0, 8);
	read_memory(g, g->scratch, n, user);
	load(g, dst, FP, g->scratch, odd ? 8 : n);
}

/* ---- the stack machine ---- */

static int32_t place_of(const struct gen *g, size_t i)
{
	return g->entries + (int32_t)(i - N_REG_ENTRIES) * 8;
}

static bool in_register(size_t i)
{
	return i < N_REG_ENTRIES;
}

/* A register that holds entry i: its own, or other. */
static int entry_read(struct gen *g, size_t i, int other)
{
	const struct entry *e = &g->stack[i];

	if (e->is_const) {
		load_const(g, other, e->imm);
		return other;
	}
	if (in_register(i))
		return ENTRY0 + (int)i;
	load(g, other, FP, place_of(g, i), 8);
	return other;
}

/* The same, in a register that may be changed and then given to entry_write(). */
static int entry_edit(struct gen *g, size_t i, int other)
{
	const int reg = in_register(i) ? ENTRY0 + (int)i : other;

	if (g->stack[i].is_const)
		load_const(g, reg, g->stack[i].imm);
	else
		entry_read(g, i, reg);
	return reg;
}

static void entry_write(struct gen *g, size_t i, int reg)
{
	g->stack[i].is_const = false;
	if (in_register(i))
		mov(g, ENTRY0 + (int)i, reg);
	else
		store(g, place_of(g, i), reg, 8);
}

/* Where to compute what becomes entry i. */
static int entry_target(size_t i, int other)
{
	return in_register(i) ? ENTRY0 + (int)i : other;
}

static struct error *push(struct gen *g, size_t *i)
{
	if (g->depth == FETCH_MAX_DEPTH)
		return error_new(E2BIG, "its expression needs more than %d entries",
				 FETCH_MAX_DEPTH);
	*i = g->depth++;
	g->stack[*i] = (struct entry){0};
	return NULL;
}

static struct error *push_const(struct gen *g, int64_t value)
{
	size_t i = 0;

	TRY(push(g, &i));
	g->stack[i] = (struct entry){.is_const = true, .imm = value};
	return NULL;
}

static struct error *push_context(struct gen *g, int32_t off, int64_t add)
{
	size_t i = 0;

	TRY(push(g, &i));
	const int reg = entry_target(i, R1);
	load(g, reg, CTX, off, 8);
	add_const(g, reg, add, R2);
	entry_write(g, i, reg);
	return NULL;
}

static struct error *push_register(struct gen *g, uint16_t dwarf, int64_t add)
{
	uint16_t off;

	if (g->way->context == PROLOGUE_TYPED)
		return error_new(EINVAL, "registers are not known there");
	if (!regs_offset(g->way->regs, dwarf, &off))
		return error_new(EOPNOTSUPP, "it is in register %u, which the kernel does not show",
				 dwarf);
	return push_context(g, off, add);
}

static struct error *push_slot(struct gen *g, uint32_t slot)
{
	size_t i = 0;

	TRY(push(g, &i));
	const int reg = entry_target(i, R1);
	load(g, reg, FP, g->params + (int32_t)slot * 8, 8);
	entry_write(g, i, reg);
	return NULL;
}

static struct error *deref(struct gen *g, const struct fetch_insn *insn);

static struct error *push_param(struct gen *g, uint16_t n)
{
	uint16_t dwarf;

	if (g->way->context == PROLOGUE_TYPED) {
		if (n >= g->way->n_params)
			return error_new(EINVAL, "the function has %u parameters, not %u",
					 g->way->n_params, n + 1);
		return push_slot(g, n);
	}
	if (regs_param(g->way->regs, n, &dwarf))
		return push_register(g, dwarf, 0);
	TRY(push_register(g, regs_stack(g->way->regs), regs_param_on_stack(g->way->regs, n)));
	return deref(g, &(struct fetch_insn){.size = 8});
}

static struct error *push_retval(struct gen *g)
{
	if (g->way->context == PROLOGUE_TYPED)
		return push_slot(g, g->way->n_params);
	return push_register(g, regs_retval(g->way->regs), 0);
}

static struct error *push_static(struct gen *g, int64_t address)
{
	const struct prologue_way *way = g->way;
	const int64_t from_point = (int64_t)((uint64_t)address - way->address);
	size_t i = 0;

	if (!way->user)
		return push_const(g, (int64_t)((uint64_t)address + way->bias));
	if (!way->at_return)
		return push_register(g, regs_ip(way->regs), from_point);
	if (!way->has_func_ip)
		return error_new(EOPNOTSUPP, "at a return this kernel does not tell where the "
					     "binary lies, and so not where its variables are");
	TRY(push(g, &i));
	mov(g, R1, CTX);
	call(g, GET_FUNC_IP);
	mov(g, R1, R0);
	fail_if_zero(g, R1, EOPNOTSUPP);
	add_const(g, R1, from_point, R2);
	entry_write(g, i, R1);
	return NULL;
}

static struct error *need(const struct gen *g, size_t n)
{
	return g->depth >= n ? NULL
			     : error_new(EINVAL, "its expression takes more than it has pushed");
}

static struct error *deref(struct gen *g, const struct fetch_insn *insn)
{
	struct entry *top;

	TRY(need(g, 1));
	const size_t i = g->depth - 1;
	top = &g->stack[i];
	if (insn->size > 8 || (insn->size & (insn->size - 1)))
		return error_new(EINVAL, "its expression reads %u bytes", insn->size);
	if (top->is_const) {
		top->imm = (int64_t)((uint64_t)top->imm + (uint64_t)insn->imm);
	} else if (!insn->size) {
		const int reg = entry_edit(g, i, R1);

		add_const(g, reg, insn->imm, R2);
		entry_write(g, i, reg);
	}
	if (!insn->size)
		return NULL;
	const bool was_const = top->is_const;
	mov(g, R3, entry_read(g, i, R3));
	if (!was_const)
		add_const(g, R3, insn->imm, R2);
	const int reg = entry_target(i, R1);
	read_number(g, reg, insn->size, insn->user);
	entry_write(g, i, reg);
	return NULL;
}

static int64_t sign_extend(int64_t v, uint32_t size)
{
	const int bits = 64 - (int)size * 8;

	return (int64_t)((uint64_t)v << bits) >> bits;
}

static void shift_pair(struct gen *g, int reg, int32_t bits, uint8_t back)
{
	if (!bits)
		return;
	alu_imm(g, BPF_LSH, reg, bits);
	alu_imm(g, back, reg, bits);
}

/* ---- operators ---- */

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
static void take_sign(struct gen *g, int reg)
{
	const size_t over = jump(g, BPF_JSGE, reg, 0);

	alu_imm(g, BPF_NEG, reg, 0);
	alu_imm(g, BPF_XOR, R5, 1);
	land(g, over);
}

/* dst /= src, signed; src is changed. Older machines have unsigned division only. */
static void divide(struct gen *g, int dst, int src)
{
	alu_imm(g, BPF_MOV, R5, 0);
	take_sign(g, dst);
	take_sign(g, src);
	alu(g, BPF_DIV, dst, src);
	const size_t over = jump(g, BPF_JEQ, R5, 0);
	alu_imm(g, BPF_NEG, dst, 0);
	land(g, over);
}

/* dst shifted by src, which may be 64 and more. */
static void shift(struct gen *g, enum fetch_op op, int dst, int src)
{
	const uint8_t code = op == FETCH_SHL ? BPF_LSH : op == FETCH_SHR ? BPF_RSH : BPF_ARSH;

	if (op == FETCH_SHRA) {
		const size_t small = jump(g, BPF_JLE, src, 63);

		alu_imm(g, BPF_MOV, src, 63);
		land(g, small);
		alu_imm(g, BPF_AND, src, 63);
		alu(g, code, dst, src);
		return;
	}
	const size_t small = jump(g, BPF_JLE, src, 63);
	alu_imm(g, BPF_MOV, dst, 0);
	land(g, small);
	alu_imm(g, BPF_AND, src, 63);
	alu(g, code, dst, src);
}

/* dst = dst OP src as 1 or 0. */
static void compare(struct gen *g, enum fetch_op op, int dst, int src)
{
	static const uint8_t codes[] = {
		[FETCH_EQ - FETCH_EQ] = BPF_JEQ,  [FETCH_NE - FETCH_EQ] = BPF_JNE,
		[FETCH_LT - FETCH_EQ] = BPF_JSLT, [FETCH_LE - FETCH_EQ] = BPF_JSLE,
		[FETCH_GT - FETCH_EQ] = BPF_JSGT, [FETCH_GE - FETCH_EQ] = BPF_JSGE,
	};

	alu_imm(g, BPF_MOV, R5, 1);
	const size_t yes = jump_reg(g, codes[op - FETCH_EQ], dst, src);
	alu_imm(g, BPF_MOV, R5, 0);
	land(g, yes);
	mov(g, dst, R5);
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
static bool binary_imm(struct gen *g, enum fetch_op op, int dst, int64_t b)
{
	if (is_shift(op) && b >= 0 && b <= 63) {
		alu_imm(g, shift_code(op), dst, (int32_t)b);
		return true;
	}
	if (b != (int32_t)b || op >= FETCH_SHL || op == FETCH_DIV || op == FETCH_MOD)
		return false;
	alu_imm(g, alu_code(op), dst, (int32_t)b);
	return true;
}

static struct error *binary(struct gen *g, enum fetch_op op)
{
	TRY(need(g, 2));
	const size_t ia = g->depth - 2, ib = g->depth - 1;
	struct entry *a = &g->stack[ia], *b = &g->stack[ib];

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
		fail_if_zero(g, src, EDOM);
	if (op == FETCH_DIV)
		divide(g, dst, src);
	else if (is_shift(op))
		shift(g, op, dst, src);
	else if (op >= FETCH_EQ && op <= FETCH_GE)
		compare(g, op, dst, src);
	else
		alu(g, alu_code(op), dst, src);
	entry_write(g, ia, dst);
	return NULL;
}

static struct error *unary(struct gen *g, const struct fetch_insn *insn)
{
	TRY(need(g, 1));
	const size_t i = g->depth - 1;
	struct entry *e = &g->stack[i];
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
		alu_imm(g, BPF_NEG, reg, 0);
	else if (insn->op == FETCH_NOT)
		alu_imm(g, BPF_XOR, reg, -1);
	else
		shift_pair(g, reg, 64 - (int32_t)size * 8, BPF_ARSH);
	entry_write(g, i, reg);
	return NULL;
}

/* Entry to becomes what entry from is. */
static void copy_entry(struct gen *g, size_t from, size_t to)
{
	if (g->stack[from].is_const)
		g->stack[to] = g->stack[from];
	else
		entry_write(g, to, entry_read(g, from, R1));
}

static struct error *pick(struct gen *g, uint64_t below)
{
	size_t i = 0;

	if (below >= g->depth)
		return error_new(EINVAL, "its expression picks an entry that is not there");
	const size_t from = g->depth - 1 - (size_t)below;
	TRY(push(g, &i));
	copy_entry(g, from, i);
	return NULL;
}

/* What entries a and b hold changes places. */
static void swap_entries(struct gen *g, size_t a, size_t b)
{
	const struct entry ea = g->stack[a];

	/* r3 keeps a's while b's takes its place. */
	if (!ea.is_const)
		mov(g, R3, entry_read(g, a, R3));
	copy_entry(g, b, a);
	if (ea.is_const)
		g->stack[b] = ea;
	else
		entry_write(g, b, R3);
}

static struct error *step(struct gen *g, const struct fetch_insn *insn)
{
	switch (insn->op) {
	case FETCH_CONST:
		return push_const(g, insn->imm);
	case FETCH_REG:
		return push_register(g, insn->reg, insn->imm);
	case FETCH_PARAM:
		return push_param(g, insn->reg);
	case FETCH_RETVAL:
		return push_retval(g);
	case FETCH_STATIC:
		return push_static(g, insn->imm);
	case FETCH_TLS:
		return error_new(EOPNOTSUPP, "it is a variable of each thread's own");
	case FETCH_COMM:
		return error_new(EINVAL, "the name of the thread has no address");
	case FETCH_DEREF:
		return deref(g, insn);
	case FETCH_SEXT:
	case FETCH_NEG:
	case FETCH_NOT:
		return unary(g, insn);
	case FETCH_DUP:
		return pick(g, 0);
	case FETCH_PICK:
		return pick(g, (uint64_t)insn->imm);
	case FETCH_DROP:
		TRY(need(g, 1));
		g->depth--;
		return NULL;
	case FETCH_SWAP:
		TRY(need(g, 2));
		swap_entries(g, g->depth - 2, g->depth - 1);
		return NULL;
	case FETCH_ROT: /* the top goes below the two others */
		TRY(need(g, 3));
		swap_entries(g, g->depth - 1, g->depth - 2);
		swap_entries(g, g->depth - 2, g->depth - 3);
		return NULL;
	default:
		if (insn->op < FETCH_PLUS || insn->op > FETCH_GE)
			return error_new(EINVAL, "its expression has an operator %d",
					 (int)insn->op);
		return binary(g, insn->op);
	}
}

/* The piece's program: what it gives is entry 0, and the only one that counts. */
static struct error *run(struct gen *g, const struct fetch_piece *piece)
{
	g->depth = 0;
	if (piece->n_insns > FETCH_MAX_INSNS)
		return error_new(E2BIG, "its expression has %zu steps", piece->n_insns);
	for (size_t i = 0; i < piece->n_insns && !g->failed; i++)
		TRY(step(g, &piece->insns[i]));
	if (g->failed)
		return NULL;
	TRY(need(g, 1));
	if (g->depth > 1)
		copy_entry(g, g->depth - 1, 0);
	g->depth = 1;
	return NULL;
}

/* ---- values ---- */

/* dst = bits of the memory at entry 0, from bit_offset on; at most 64. */
static void read_bits(struct gen *g, int dst, const struct fetch_piece *piece, uint32_t bits)
{
	const uint32_t first = piece->bit_offset / 8, shift = piece->bit_offset % 8;
	const uint32_t n = (shift + bits + 7) / 8;

	mov(g, R3, entry_read(g, 0, R3));
	add_const(g, R3, first, R2);
	if (n <= 8) {
		read_number(g, dst, n, piece->user);
		if (shift)
			alu_imm(g, BPF_RSH, dst, (int32_t)shift);
		return;
	}
	/* Nine bytes: the last has what the first eight lack. entry 1 is free. */
	read_number(g, ENTRY1, 8, piece->user);
	alu_imm(g, BPF_RSH, ENTRY1, (int32_t)shift);
	mov(g, R3, entry_read(g, 0, R3));
	add_const(g, R3, (int64_t)first + 8, R2);
	read_number(g, R1, 1, piece->user);
	alu_imm(g, BPF_LSH, R1, 64 - (int32_t)shift);
	alu(g, BPF_OR, R1, ENTRY1);
	mov(g, dst, R1);
}

/* r1 = the piece's bits, and zeros above. */
static struct error *piece_number(struct gen *g, const struct fetch_piece *piece, uint32_t bits)
{
	TRY(run(g, piece));
	if (g->failed)
		return NULL;
	if (piece->gives == FETCH_ADDRESS) {
		read_bits(g, R1, piece, bits);
	} else {
		if (piece->bit_offset >= 64)
			return error_new(EINVAL, "it begins at bit %u of a register",
					 piece->bit_offset);
		mov(g, R1, entry_read(g, 0, R1));
		if (piece->bit_offset)
			alu_imm(g, BPF_RSH, R1, (int32_t)piece->bit_offset);
	}
	if (bits < 64)
		shift_pair(g, R1, 64 - (int32_t)bits, BPF_RSH);
	return NULL;
}

static uint32_t value_bits(const struct fetch_value *value)
{
	return value->bit_size ? value->bit_size : value->size * 8;
}

/* r1 = a value of at most 64 bits, as wide as its kind says. */
static struct error *number(struct gen *g, const struct fetch_value *value)
{
	const uint32_t bits = value_bits(value);
	uint32_t at = 0;

	if (value->n_pieces > 1)
		store_imm(g, g->sum, 0, 8);
	for (size_t i = 0; i < value->n_pieces && at < bits && !g->failed; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		uint32_t want = piece->bit_size ? piece->bit_size : bits - at;

		want = min_of(want, bits - at);
		TRY(piece_number(g, piece, want));
		if (value->n_pieces > 1) {
			if (at)
				alu_imm(g, BPF_LSH, R1, (int32_t)at);
			load(g, R2, FP, g->sum, 8);
			alu(g, BPF_OR, R1, R2);
			store(g, g->sum, R1, 8);
		}
		at += want;
	}
	if (at < bits && !g->failed)
		return error_new(EINVAL, "its pieces have %u of %u bits", at, bits);
	if (value->kind == FETCH_INT && bits < 64)
		shift_pair(g, R1, 64 - (int32_t)bits, BPF_ARSH);
	return NULL;
}

/* A value that is copied as it is, into n bytes at a place of the frame. */
static struct error *copy(struct gen *g, const struct fetch_value *value, int32_t to, uint32_t n)
{
	const uint32_t bits = value->size * 8;
	uint32_t at = 0;

	for (size_t i = 0; i < value->n_pieces && at < bits && !g->failed; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		uint32_t want = piece->bit_size && value->n_pieces > 1 ? piece->bit_size : bits;

		want = min_of(want, bits - at);
		if (at % 8 || want % 8)
			return error_new(EOPNOTSUPP, "a piece of it begins within a byte");
		/* what the member has no room for is not read */
		const uint32_t have = at / 8 < n ? min_of(want / 8, n - at / 8) : 0;
		if (have && piece->gives == FETCH_ADDRESS && !(piece->bit_offset % 8)) {
			TRY(run(g, piece));
			if (g->failed)
				break;
			mov(g, R3, entry_read(g, 0, R3));
			add_const(g, R3, piece->bit_offset / 8, R2);
			read_memory(g, to + (int32_t)at / 8, have, piece->user);
		} else if (have) {
			if (want > 64)
				return error_new(EINVAL, "a piece of it has %u bits in a register",
						 want);
			TRY(piece_number(g, piece, want));
			store_bytes(g, to + (int32_t)at / 8, have, R1);
		}
		at += want;
	}
	if (at < bits && !g->failed)
		return error_new(EINVAL, "its pieces have %u of %u bits", at, bits);
	return NULL;
}

static bool is_comm(const struct fetch_value *value)
{
	return value->n_pieces == 1 && value->pieces[0].n_insns == 1 &&
	       value->pieces[0].insns[0].op == FETCH_COMM;
}

static struct error *string(struct gen *g, const struct fetch_value *value, int32_t to, uint32_t n)
{
	if (is_comm(value)) {
		stack_address(g, R1, to);
		alu_imm(g, BPF_MOV, R2, (int32_t)min_of(n, 16u));
		call(g, BPF_FUNC_get_current_comm);
		fail_if(g, BPF_JNE, 0);
		return NULL;
	}
	if (value->n_pieces != 1 || value->pieces[0].gives != FETCH_ADDRESS)
		return error_new(EINVAL, "a string is read from one address");
	const struct fetch_piece *piece = &value->pieces[0];
	TRY(run(g, piece));
	if (g->failed)
		return NULL;
	mov(g, R3, entry_read(g, 0, R3));
	add_const(g, R3, piece->bit_offset / 8, R2);
	stack_address(g, R1, to);
	alu_imm(g, BPF_MOV, R2, (int32_t)n);
	call(g, is_user(g, piece->user) ? BPF_FUNC_probe_read_user_str
					: BPF_FUNC_probe_read_kernel_str);
	fail_if(g, BPF_JSLT, 0);
	return NULL;
}

/* A string, or what is larger than a register: it is read to where it belongs. */
static bool is_copied(const struct fetch_value *value)
{
	return value->kind == FETCH_STRING || (!value->bit_size && value->size > 8);
}

static struct error *fetch(struct gen *g, const struct fetch_value *value,
			   const struct prologue_member *member)
{
	const int32_t to = g->args + (int32_t)member->offset;

	if (value->obstacle) {
		g->failed = ENODATA;
		return NULL;
	}
	for (size_t i = 0; i < value->n_pieces; i++)
		if (value->pieces[i].gives == FETCH_NOTHING)
			g->failed = ENODATA;
	if (g->failed)
		return NULL;
	if (is_copied(value) && !g->shape->in_struct)
		return error_hint(error_new(E2BIG, "it does not fit into a register"),
				  "let the program take a struct: int prog(void *ctx, struct NAME "
				  "*args)");
	if (value->kind == FETCH_STRING) {
		const uint32_t n = value->size ? min_of(value->size, member->size) : member->size;

		return string(g, value, to, n);
	}
	if (!value_bits(value) || value->bit_size > 64)
		return error_new(EINVAL, "it has no size");
	if (is_copied(value))
		return copy(g, value, to, min_of(member->size, value->size));
	TRY(number(g, value));
	if (g->failed)
		return NULL;
	if (g->shape->in_struct) {
		store_bytes(g, to, min_of(member->size, 8u), R1);
		return NULL;
	}
	/* As who calls a function extends an argument to a register. */
	if (member->size < 8)
		shift_pair(g, R1, 64 - (int32_t)member->size * 8,
			   value->kind == FETCH_INT ? BPF_ARSH : BPF_RSH);
	store(g, to, R1, 8);
	return NULL;
}

/* The errno is in r0, or known. */
static void note_failure(struct gen *g, size_t i)
{
	const int32_t mask = g->shape->err_mask_offset;

	if (g->failed)
		alu_imm(g, BPF_MOV, ERR, -g->failed);
	else
		mov(g, ERR, R0);
	if (!g->shape->in_struct || mask < 0 || i >= 64)
		return;
	load(g, R1, FP, g->args + mask, 8);
	load_const(g, R2, (int64_t)(1ull << i));
	alu(g, BPF_OR, R1, R2);
	store(g, g->args + mask, R1, 8);
}

static struct error *fetch_nth(struct gen *g, const struct fetch_value *value, size_t i)
{
	const struct prologue_member *member = &g->shape->members[i];
	const size_t start = g->code.n;

	g->failures.n = 0;
	g->failed = 0;
	TRY(fetch(g, value, member));
	if (g->failed) {
		g->code.n = start;
		note_failure(g, i);
	} else if (g->failures.n) {
		const size_t over = jump(g, BPF_JA, 0, 0);

		for (size_t k = 0; k < g->failures.n; k++)
			land(g, g->failures.v[k]);
		note_failure(g, i);
		/* Parts of it may have been read. */
		if (is_copied(value))
			store_zeros(g, g->args + (int32_t)member->offset, member->size);
		land(g, over);
	}
	if (g->no_memory)
		return error_nomem();
	if (g->code.n - start > INT16_MAX || g->code.n > MAX_PROLOGUE)
		return error_new(E2BIG, "its code is too long");
	return NULL;
}

/* ---- the frame ---- */

static void find_params(struct gen *g, const struct fetch_value *value)
{
	for (size_t i = 0; i < value->n_pieces; i++) {
		for (size_t k = 0; k < value->pieces[i].n_insns; k++) {
			const struct fetch_insn *insn = &value->pieces[i].insns[k];

			if (insn->op == FETCH_PARAM && insn->reg < g->way->n_params)
				g->used_params |= 1u << insn->reg;
			g->uses_retval |= insn->op == FETCH_RETVAL;
		}
	}
}

/* How deep the stack machine gets, as far as that can be told; it is checked again later. */
static size_t depth_of(const struct fetch_value *value)
{
	size_t most = 0;

	for (size_t i = 0; i < value->n_pieces; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		size_t depth = 0;

		for (size_t k = 0; k < piece->n_insns; k++) {
			const enum fetch_op op = piece->insns[k].op;

			if (op <= FETCH_COMM || op == FETCH_DUP || op == FETCH_PICK)
				depth++;
			else if (depth && ((op >= FETCH_PLUS && op <= FETCH_SHRA) ||
					   (op >= FETCH_EQ && op <= FETCH_GE) || op == FETCH_DROP))
				depth--;
			most = max_of(most, depth);
		}
	}
	return min_of(most, (size_t)FETCH_MAX_DEPTH);
}

static uint32_t n_slots(const struct gen *g)
{
	if (g->uses_retval)
		return (uint32_t)g->way->n_params + 1;
	return g->used_params ? 32 - (uint32_t)__builtin_clz(g->used_params) : 0;
}

static struct error *lay_out(struct gen *g, const struct fetch_value *values, size_t n)
{
	const uint32_t args = g->shape->in_struct ? g->shape->size : (uint32_t)n * 8;
	size_t depth = 0;
	int32_t at = -(int32_t)round_up(args, 8);
	bool sums = false;

	for (size_t i = 0; i < n; i++) {
		depth = max_of(depth, depth_of(&values[i]));
		sums |= values[i].n_pieces > 1;
		if (g->way->context == PROLOGUE_TYPED)
			find_params(g, &values[i]);
	}
	g->args = at;
	g->scratch = at -= 8;
	g->sum = at -= sums ? 8 : 0;
	g->params = at -= (int32_t)n_slots(g) * 8;
	g->entries = at -= depth > N_REG_ENTRIES ? (int32_t)(depth - N_REG_ENTRIES) * 8 : 0;
	if (-at > 512)
		return error_hint(error_new(E2BIG,
					    "the arguments take %d bytes of the stack, "
					    "which has 512",
					    -at),
				  "declare shorter strings in the struct");
	return NULL;
}

static void count_hit(struct gen *g)
{
	const struct prologue_counter *counter = &g->way->counter;

	if (!counter->wanted)
		return;
	if (counter->by_cookie) {
		mov(g, R1, CTX);
		call(g, GET_ATTACH_COOKIE);
		store(g, g->scratch, R0, 4);
	} else {
		store_imm(g, g->scratch, (int32_t)counter->index, 4);
	}
	load_wide(g, R1, BPF_PSEUDO_MAP_FD, counter->map_fd, 0);
	stack_address(g, R2, g->scratch);
	call(g, BPF_FUNC_map_lookup_elem);
	const size_t none = jump(g, BPF_JEQ, R0, 0);
	alu_imm(g, BPF_MOV, R1, 1);
	/* A process is preempted where it likes. */
	emit(g, (struct bpf_insn){.code = BPF_STX | BPF_ATOMIC | BPF_DW,
				  .dst_reg = R0,
				  .src_reg = R1,
				  .imm = BPF_ADD});
	land(g, none);
}

/* The slot of the n-th argument, by the helper. */
static void take_argument(struct gen *g, uint32_t n, bool retval)
{
	const int32_t slot = g->params + (int32_t)n * 8;

	store_imm(g, slot, 0, 8);
	mov(g, R1, CTX);
	if (!retval)
		alu_imm(g, BPF_MOV, R2, (int32_t)n);
	stack_address(g, retval ? R2 : R3, slot);
	call(g, retval ? GET_FUNC_RET : GET_FUNC_ARG);
}

static void take_arguments(struct gen *g)
{
	const uint32_t n = n_slots(g);

	if (!n)
		return;
	if (!g->way->has_func_arg) {
		stack_address(g, R1, g->params);
		alu_imm(g, BPF_MOV, R2, (int32_t)n * 8);
		mov(g, R3, CTX);
		call(g, BPF_FUNC_probe_read_kernel);
		return;
	}
	for (uint32_t i = 0; i < min_of(n, 32u); i++)
		if (g->used_params >> i & 1)
			take_argument(g, i, false);
	if (g->uses_retval)
		take_argument(g, g->way->n_params, true);
}

static void hand_over(struct gen *g, size_t n)
{
	const bool returns = g->way->keeps_return && g->way->context != PROLOGUE_TYPED;

	mov(g, R1, CTX);
	if (g->shape->in_struct) {
		if (g->shape->err_offset >= 0)
			store(g, g->args + g->shape->err_offset, ERR, 4);
		stack_address(g, R2, g->args);
	} else {
		mov(g, R2, ERR);
		for (size_t i = 0; i < 3; i++) {
			if (i < n)
				load(g, R3 + (int)i, FP, g->args + (int32_t)i * 8, 8);
			else
				alu_imm(g, BPF_MOV, R3 + (int)i, 0);
		}
	}
	emit(g, (struct bpf_insn){.code = BPF_JMP | BPF_CALL,
				  .src_reg = BPF_PSEUDO_CALL,
				  .imm = returns ? 1 : 2});
	if (!returns)
		alu_imm(g, BPF_MOV, R0, 0);
	emit(g, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}

static bool is_register_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool lies_in(const struct prologue_shape *shape, int64_t offset, uint32_t size)
{
	return offset >= 0 && offset <= shape->size && size <= shape->size - offset;
}

static struct error *check_shape(const struct fetch_value *values, size_t n,
				 const struct prologue_shape *shape)
{
	if (!shape->in_struct && n > 3)
		return error_hint(error_new(E2BIG, "%zu arguments do not fit into three registers",
					    n),
				  "let the program take a struct: int prog(void *ctx, struct NAME "
				  "*args)");
	for (size_t i = 0; i < n; i++) {
		const struct prologue_member *m = &shape->members[i];

		if (shape->in_struct ? !m->size || !lies_in(shape, m->offset, m->size)
				     : !is_register_size(m->size))
			return error_new(EINVAL, "argument %s: there is no room for it",
					 values[i].name);
	}
	if (!shape->in_struct)
		return NULL;
	if (shape->size > PROLOGUE_MAX_STRUCT)
		return error_hint(error_new(E2BIG,
					    "the struct has %u bytes, and %d fit on the "
					    "stack",
					    shape->size, PROLOGUE_MAX_STRUCT),
				  "declare shorter strings");
	if ((shape->err_offset >= 0 &&
	     (shape->err_offset % 4 || !lies_in(shape, shape->err_offset, 4))) ||
	    (shape->err_mask_offset >= 0 &&
	     (shape->err_mask_offset % 8 || !lies_in(shape, shape->err_mask_offset, 8))))
		return error_new(EINVAL, "err or err_mask does not lie in the struct");
	return NULL;
}

static struct error *generate(struct gen *g, const struct fetch_value *values, size_t n)
{
	TRY(lay_out(g, values, n));
	mov(g, CTX, R1);
	alu_imm(g, BPF_MOV, ERR, 0);
	store_zeros(g, g->args, (uint32_t)(-g->args));
	count_hit(g);
	take_arguments(g);
	for (size_t i = n; i-- > 0;)
		TRY(error_prefix(fetch_nth(g, &values[i], i), "argument %s",
				 values[i].name ? values[i].name : "?"));
	hand_over(g, n);
	return g->no_memory ? error_nomem() : NULL;
}

struct error *prologue_build(const struct fetch_value *values, size_t n,
			     const struct prologue_way *way, const struct prologue_shape *shape,
			     struct prologue *out)
{
	struct prologue_member in_registers[3];
	struct prologue_shape own = *shape;
	struct gen g = {.way = way, .shape = &own};

	TRY(check_shape(values, n, shape));
	if (way->context == PROLOGUE_TYPED && way->n_params > MAX_PARAMS)
		return error_new(EINVAL, "%u parameters are more than BPF programs can be given",
				 way->n_params);
	if (!shape->in_struct) {
		/* Each has 8 bytes of the frame until all are there. */
		for (size_t i = 0; i < n; i++) {
			in_registers[i].offset = (uint32_t)i * 8;
			in_registers[i].size = shape->members[i].size;
		}
		own.members = in_registers;
	}
	struct error *err = generate(&g, values, n);
	vec_deinit(&g.failures);
	if (err) {
		vec_deinit(&g.code);
		return err;
	}
	out->insns = g.code.v;
	out->n = g.code.n;
	return NULL;
}

/* ftrace saves what functions are called with, and what they return, no more. */
static bool ftrace_saves(const struct regs *regs, uint16_t reg)
{
	uint16_t param;

	if (reg == regs_stack(regs) || reg == regs_ip(regs))
		return true;
	for (size_t i = 0; regs_param(regs, i, &param); i++)
		if (param == reg)
			return true;
	return false;
}

static const char *insn_obstacle(const struct fetch_insn *insn, const struct prologue_way *way)
{
	const bool typed = way->context == PROLOGUE_TYPED;

	switch (insn->op) {
	case FETCH_REG:
		if (typed)
			return "an argument is read from a register";
		if (way->at_return && insn->reg != regs_retval(way->regs) && way->ftrace_regs)
			return "an argument is in a register that is not saved there";
		if (way->ftrace_regs && !way->at_return && !ftrace_saves(way->regs, insn->reg))
			return "an argument is in a register that is not saved there";
		return NULL;
	case FETCH_PARAM:
		if (typed && insn->reg >= way->n_params)
			return "the function has fewer parameters there";
		return way->at_return && !typed ? "at a return the parameters are gone" : NULL;
	case FETCH_RETVAL:
		return way->at_return ? NULL : "the function has not returned there";
	default:
		return NULL;
	}
}

const char *prologue_obstacle(const struct fetch_value *values, size_t n,
			      const struct prologue_way *way)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t p = 0; p < values[i].n_pieces; p++) {
			const struct fetch_piece *piece = &values[i].pieces[p];

			for (size_t k = 0; k < piece->n_insns; k++) {
				const char *why = insn_obstacle(&piece->insns[k], way);

				if (why)
					return why;
			}
		}
	}
	return NULL;
}
