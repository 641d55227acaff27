/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of probe/prologue share: the code as it grows, and the words it is made of. */
#ifndef PB_PROBE_PROLOGUE_INTERNAL_H
#define PB_PROBE_PROLOGUE_INTERNAL_H

#include "lib/base/vec.h"
#include "probe/prologue/prologue.h"

/* Registers; what each is for stands in prologue.c. */
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
	GET_ATTACH_COOKIE = BPF_FUNC_get_attach_cookie,
	GET_FUNC_IP = BPF_FUNC_get_func_ip,
	GET_FUNC_ARG = BPF_FUNC_get_func_arg,
	GET_FUNC_RET = BPF_FUNC_get_func_ret,
};

/* An entry of the stack machine: a constant, or at its place. */
struct stack_entry {
	bool is_const;
	int64_t imm;
};

enum {
	N_REG_ENTRIES = 2, /* in ENTRY0 and ENTRY1; the others are on the stack */
};

struct prologue_gen {
	const struct prologue_way *way;
	const struct prologue_shape *shape;
	VEC(struct bpf_insn) code;
	bool no_memory;

	/* Bytes below the frame pointer at which each of these begins. */
	int32_t args, scratch, sum, params, entries, entry_key;
	uint32_t used_params; /* of a typed context: bit by parameter */
	bool uses_retval;
	bool direct; /* the value that is being computed may be loaded directly */

	struct stack_entry stack[FETCH_MAX_DEPTH];
	size_t depth;
	VEC(size_t) failures; /* jumps to the end of the value that is being computed */
	VEC(size_t) nulls;    /* jumps to where a walk is told that it came to an end too early */
	int failed;	      /* it is known already that it cannot be read: the errno */
};

/* ---- emit.c ---- */

size_t emit_insn(struct prologue_gen *g, struct bpf_insn insn);
void emit_alu(struct prologue_gen *g, uint8_t op, int dst, int src);
void emit_alu_imm(struct prologue_gen *g, uint8_t op, int dst, int32_t imm);
void emit_mov(struct prologue_gen *g, int dst, int src);
void emit_wide(struct prologue_gen *g, int dst, uint8_t pseudo, int32_t low, int32_t high);
void emit_const(struct prologue_gen *g, int dst, int64_t value);
void emit_load(struct prologue_gen *g, int dst, int base, int32_t off, uint32_t size);
/* To the frame. */
void emit_store(struct prologue_gen *g, int32_t off, int src, uint32_t size);
void emit_store_imm(struct prologue_gen *g, int32_t off, int32_t value, uint32_t size);
void emit_call(struct prologue_gen *g, int32_t helper);
void emit_stack_address(struct prologue_gen *g, int dst, int32_t off);
/* A jump whose target is told by emit_land(): the next instruction. */
size_t emit_jump(struct prologue_gen *g, uint8_t op, int dst, int32_t imm);
size_t emit_jump_reg(struct prologue_gen *g, uint8_t op, int dst, int src);
void emit_land(struct prologue_gen *g, size_t at);
/* r0 holds a negative errno if the condition is true: the value cannot be read. */
void emit_fail_if(struct prologue_gen *g, uint8_t op, int32_t imm);
/* The value cannot be read where reg is 0. */
void emit_fail_if_zero(struct prologue_gen *g, int reg, int code);
/* reg += value; other is overwritten if the value is large. */
void emit_add(struct prologue_gen *g, int reg, int64_t value, int other);
/* The upper bits of reg go out on the left, and come back as zeros or as the sign. */
void emit_extend(struct prologue_gen *g, int reg, int32_t bits, uint8_t back);
/* Zeroes of the frame, whose beginning is aligned as off is. */
void emit_zeros(struct prologue_gen *g, int32_t off, uint32_t n);
/* The low n bytes of src, which is used up. The stack takes aligned stores only. */
void emit_bytes(struct prologue_gen *g, int32_t off, uint32_t n, int src);
/* Whose memory it is: all that a process's image refers to is the process's. */
bool is_user_memory(const struct prologue_gen *g, bool user);
/* Reads n bytes at r3 to a place of the frame. */
void emit_read(struct prologue_gen *g, int32_t to, uint32_t n, bool user);
/* dst = the n bytes at r3, at most 8; r3 is used up. */
void emit_read_number(struct prologue_gen *g, int dst, uint32_t n, bool user);

/* ---- stack.c ---- */

/* A register that holds entry i: its own, or other. */
int entry_read(struct prologue_gen *g, size_t i, int other);
/* The same, in a register that may be changed and then given to entry_write(). */
int entry_edit(struct prologue_gen *g, size_t i, int other);
void entry_write(struct prologue_gen *g, size_t i, int reg);
/* The piece's program: what it gives is entry 0, and the only one that counts. */
struct error *stack_run(struct prologue_gen *g, const struct fetch_piece *piece);
struct error *stack_need(const struct prologue_gen *g, size_t n);

/* ---- direct_loads.c ---- */

/* How many of the piece's steps, from the first, direct loads can be; 0: none. */
size_t direct_steps(const struct prologue_way *way, const struct fetch_piece *piece);
/* Whether some value's walk loads from anything but the context. */
bool direct_may_fault(const struct prologue_gen *g, const struct fetch_value *values, size_t n);
/* Entry 0 = what the first n steps give. */
struct error *direct_walk(struct prologue_gen *g, const struct fetch_piece *piece, size_t n);

/* ---- entry_values.c ---- */

/* FETCH_ENTRY: the CFA that is on top becomes the value. */
struct error *entry_value(struct prologue_gen *g, const struct fetch_insn *insn);

/* ---- operator.c ---- */

struct error *operator_binary(struct prologue_gen *g, enum fetch_op op);
struct error *operator_unary(struct prologue_gen *g, const struct fetch_insn *insn);

/* ---- fetch_value.c ---- */

bool value_is_direct(const struct prologue_gen *g, size_t i);

/* The i-th value, at its place; where it cannot be read, err is set. */
struct error *value_fetch(struct prologue_gen *g, const struct fetch_value *value, size_t i);

#endif
