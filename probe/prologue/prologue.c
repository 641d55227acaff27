// SPDX-License-Identifier: BSD-2-Clause
/*
 * The generated code is a main program, which calls the user's as a function:
 *
 *	r6 = context, r7 = err = 0, struct NAME = 0
 *	(count the hit, and see where it is)
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
 * There is no loop; the only branches are those forward to the next failure, or
 * over a single case.
 *
 * Everything is a plain number for the verifier, never one of its typed
 * pointers: arithmetic on those is refused, and so would be the user's program.
 * In a typed context they are therefore taken with bpf_get_func_arg(), or read
 * out of the context like any other memory. direct_loads.c has the exception.
 */
#include "probe/prologue/internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
	MAX_PARAMS = 12, /* MAX_BPF_FUNC_ARGS of the kernel */
};

void prologue_deinit(struct prologue *prologue)
{
	free(prologue->insns);
	*prologue = (struct prologue){0};
}

/* ---- the frame ---- */

/* Those that are taken before the first value is computed. */
static void find_params(struct prologue_gen *g, const struct fetch_value *value, bool direct)
{
	for (size_t i = 0; i < value->n_pieces; i++) {
		size_t k = direct ? direct_steps(g->way, &value->pieces[i]) : 0;

		for (; k < value->pieces[i].n_insns; k++) {
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

static uint32_t n_slots(const struct prologue_gen *g)
{
	if (g->uses_retval)
		return (uint32_t)g->way->n_params + 1;
	return g->used_params ? 32 - (uint32_t)__builtin_clz(g->used_params) : 0;
}

static bool has_entry_value(const struct fetch_value *value)
{
	for (size_t i = 0; i < value->n_pieces; i++)
		for (size_t k = 0; k < value->pieces[i].n_insns; k++)
			if (value->pieces[i].insns[k].op == FETCH_ENTRY)
				return true;
	return false;
}

static struct error *lay_out(struct prologue_gen *g, const struct fetch_value *values, size_t n)
{
	const uint32_t args = g->shape->in_struct ? g->shape->size : (uint32_t)n * 8;
	size_t depth = 0;
	int32_t at = -(int32_t)round_up(args, 8);
	bool sums = false, entry_values = false;

	for (size_t i = 0; i < n; i++) {
		entry_values |= has_entry_value(&values[i]);
		depth = max_of(depth, depth_of(&values[i]));
		sums |= values[i].n_pieces > 1;
		if (g->way->context == PROLOGUE_TYPED)
			find_params(g, &values[i], value_is_direct(g, i));
	}
	g->args = at;
	g->scratch = at -= 8;
	g->sum = at -= sums ? 8 : 0;
	g->params = at -= (int32_t)n_slots(g) * 8;
	g->entries = at -= depth > N_REG_ENTRIES ? (int32_t)(depth - N_REG_ENTRIES) * 8 : 0;
	g->entry_key = at -= entry_values ? (int32_t)sizeof(struct prologue_entry_key) : 0;
	if (-at > 512)
		return error_hint(
			error_new(E2BIG, "the arguments need %d bytes of stack, but there are 512",
				  -at),
			"declare shorter strings in the struct");
	return NULL;
}

static bool wants_ip(const struct prologue_gen *g)
{
	return g->shape->in_struct && g->shape->ip_offset >= 0;
}

static void count_hit(struct prologue_gen *g)
{
	const struct prologue_counter *counter = &g->way->counter;

	if (!counter->wanted)
		return;
	if (counter->by_cookie) {
		emit_mov(g, R1, CTX);
		emit_call(g, GET_ATTACH_COOKIE);
		emit_store(g, g->scratch, R0, 4);
	} else {
		emit_store_imm(g, g->scratch, (int32_t)counter->index, 4);
	}
	emit_wide(g, R1, BPF_PSEUDO_MAP_FD, counter->map_fd, 0);
	emit_stack_address(g, R2, g->scratch);
	emit_call(g, BPF_FUNC_map_lookup_elem);
	const size_t none = emit_jump(g, BPF_JEQ, R0, 0);
	emit_alu_imm(g, BPF_MOV, R1, 1);
	/* A process is preempted where it likes. */
	emit_insn(g, (struct bpf_insn){.code = BPF_STX | BPF_ATOMIC | BPF_DW,
				       .dst_reg = R0,
				       .src_reg = R1,
				       .imm = BPF_ADD});
	if (wants_ip(g) && !g->way->user) {
		emit_load(g, R1, R0, offsetof(struct prologue_count, address), 8);
		emit_store(g, g->args + g->shape->ip_offset, R1, 8);
	}
	emit_land(g, none);
}

/* A process's image may lie anywhere: the map cannot know. */
static void tell_user_ip(struct prologue_gen *g)
{
	if (!wants_ip(g) || !g->way->user)
		return;
	if (!g->way->at_return) {
		uint16_t off;

		if (!regs_offset(g->way->regs, regs_ip(g->way->regs), &off))
			return;
		emit_load(g, R0, CTX, off, 8);
	} else if (g->way->has_func_ip) {
		emit_mov(g, R1, CTX);
		emit_call(g, GET_FUNC_IP);
	} else {
		return;
	}
	emit_store(g, g->args + g->shape->ip_offset, R0, 8);
}

/* The slot of the n-th argument, by the helper. */
static void take_argument(struct prologue_gen *g, uint32_t n, bool retval)
{
	const int32_t slot = g->params + (int32_t)n * 8;

	emit_store_imm(g, slot, 0, 8);
	emit_mov(g, R1, CTX);
	if (!retval)
		emit_alu_imm(g, BPF_MOV, R2, (int32_t)n);
	emit_stack_address(g, retval ? R2 : R3, slot);
	emit_call(g, retval ? GET_FUNC_RET : GET_FUNC_ARG);
}

static void take_arguments(struct prologue_gen *g)
{
	const uint32_t n = n_slots(g);

	if (!n)
		return;
	if (!g->way->has_func_arg) {
		emit_stack_address(g, R1, g->params);
		emit_alu_imm(g, BPF_MOV, R2, (int32_t)n * 8);
		emit_mov(g, R3, CTX);
		emit_call(g, BPF_FUNC_probe_read_kernel);
		return;
	}
	for (uint32_t i = 0; i < min_of(n, 32u); i++)
		if (g->used_params >> i & 1)
			take_argument(g, i, false);
	if (g->uses_retval)
		take_argument(g, g->way->n_params, true);
}

static void hand_over(struct prologue_gen *g, size_t n)
{
	const bool returns = g->way->keeps_return && g->way->context != PROLOGUE_TYPED;

	emit_mov(g, R1, CTX);
	if (g->shape->in_struct) {
		if (g->shape->err_offset >= 0)
			emit_store(g, g->args + g->shape->err_offset, ERR, 4);
		emit_stack_address(g, R2, g->args);
	} else {
		emit_mov(g, R2, ERR);
		for (size_t i = 0; i < 3; i++) {
			if (i < n)
				emit_load(g, R3 + (int)i, FP, g->args + (int32_t)i * 8, 8);
			else
				emit_alu_imm(g, BPF_MOV, R3 + (int)i, 0);
		}
	}
	emit_insn(g, (struct bpf_insn){.code = BPF_JMP | BPF_CALL,
				       .src_reg = BPF_PSEUDO_CALL,
				       .imm = returns ? 1 : 2});
	if (!returns)
		emit_alu_imm(g, BPF_MOV, R0, 0);
	emit_insn(g, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
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
		return error_hint(
			error_new(E2BIG, "%zu arguments do not fit into three registers", n),
			"pass a struct to the program: int prog(void *ctx, struct NAME *args)");
	for (size_t i = 0; i < n; i++) {
		const struct prologue_member *m = &shape->members[i];

		if (shape->in_struct ? !m->size || !lies_in(shape, m->offset, m->size)
				     : !is_register_size(m->size))
			return error_new(EINVAL, "argument %s: not enough stack space",
					 values[i].name);
	}
	if (!shape->in_struct)
		return NULL;
	if (shape->size > PROLOGUE_MAX_STRUCT)
		return error_hint(error_new(E2BIG,
					    "the struct has %u bytes, but only %d fit on the stack",
					    shape->size, PROLOGUE_MAX_STRUCT),
				  "declare shorter strings");
	if ((shape->err_offset >= 0 &&
	     (shape->err_offset % 4 || !lies_in(shape, shape->err_offset, 4))) ||
	    (shape->err_mask_offset >= 0 &&
	     (shape->err_mask_offset % 8 || !lies_in(shape, shape->err_mask_offset, 8))) ||
	    (shape->ip_offset >= 0 &&
	     (shape->ip_offset % 8 || !lies_in(shape, shape->ip_offset, 8))))
		return error_new(EINVAL, "err, err_mask or __probe_ip is outside of the struct");
	return NULL;
}

/*
 * A main program that calls what follows. Loads that may fault must not be in the
 * main program, where it calls functions: kernels before 6.5 have lost its
 * exception table then, and a fault is an oops.
 */
static void emit_wrapper(struct prologue_gen *g)
{
	emit_insn(g, (struct bpf_insn){
			     .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 2});
	emit_alu_imm(g, BPF_MOV, R0, 0);
	emit_insn(g, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}

static struct error *generate(struct prologue_gen *g, const struct fetch_value *values, size_t n)
{
	TRY(lay_out(g, values, n));
	if (direct_may_fault(g, values, n))
		emit_wrapper(g);
	emit_mov(g, CTX, R1);
	emit_alu_imm(g, BPF_MOV, ERR, 0);
	emit_zeros(g, g->args, (uint32_t)(-g->args));
	count_hit(g);
	tell_user_ip(g);
	take_arguments(g);
	for (size_t i = n; i-- > 0;)
		TRY(error_prefix(value_fetch(g, &values[i], i), "argument %s",
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
	struct prologue_gen g = {.way = way, .shape = &own};

	TRY(check_shape(values, n, shape));
	if (way->context == PROLOGUE_TYPED && way->n_params > MAX_PARAMS)
		return error_new(EINVAL, "a BPF program cannot receive %u parameters",
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
	vec_deinit(&g.nulls);
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
			return "an argument is in a register that is not saved at this probe point";
		if (way->ftrace_regs && !way->at_return && !ftrace_saves(way->regs, insn->reg))
			return "an argument is in a register that is not saved at this probe point";
		return NULL;
	case FETCH_PARAM:
		if (typed && insn->reg >= way->n_params)
			return "the function has fewer parameters";
		return way->at_return && !typed
			       ? "parameters are not available at the return (also probe the entry)"
			       : NULL;
	case FETCH_ENTRY:
		return way->user ? NULL : "values at function entry are kept only of processes";
	case FETCH_RETVAL:
		return way->at_return ? NULL : "the function has not returned at this probe point";
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