// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stack machine of a fetch program: where its entries are, and a step of it
 * as instructions.
 *
 * The entries are at fixed places: the lowest two in r8 and r9, which calls
 * leave alone, the others on the stack. Constants are carried along and only
 * take a place when they must, so that an offset or a shift is an immediate.
 */
#include "probe/prologue/internal.h"

#include <errno.h>

static int32_t place_of(const struct prologue_gen *g, size_t i)
{
	return g->entries + (int32_t)(i - N_REG_ENTRIES) * 8;
}

static bool in_register(size_t i)
{
	return i < N_REG_ENTRIES;
}

/* A register that holds entry i: its own, or other. */
int entry_read(struct prologue_gen *g, size_t i, int other)
{
	const struct stack_entry *e = &g->stack[i];

	if (e->is_const) {
		emit_const(g, other, e->imm);
		return other;
	}
	if (in_register(i))
		return ENTRY0 + (int)i;
	emit_load(g, other, FP, place_of(g, i), 8);
	return other;
}

/* The same, in a register that may be changed and then given to entry_write(). */
int entry_edit(struct prologue_gen *g, size_t i, int other)
{
	const int reg = in_register(i) ? ENTRY0 + (int)i : other;

	if (g->stack[i].is_const)
		emit_const(g, reg, g->stack[i].imm);
	else
		entry_read(g, i, reg);
	return reg;
}

void entry_write(struct prologue_gen *g, size_t i, int reg)
{
	g->stack[i].is_const = false;
	if (in_register(i))
		emit_mov(g, ENTRY0 + (int)i, reg);
	else
		emit_store(g, place_of(g, i), reg, 8);
}

/* Where to compute what becomes entry i. */
static int entry_target(size_t i, int other)
{
	return in_register(i) ? ENTRY0 + (int)i : other;
}

static struct error *push(struct prologue_gen *g, size_t *i)
{
	if (g->depth == FETCH_MAX_DEPTH)
		return error_new(E2BIG, "its expression needs more than %d entries",
				 FETCH_MAX_DEPTH);
	*i = g->depth++;
	g->stack[*i] = (struct stack_entry){0};
	return NULL;
}

static struct error *push_const(struct prologue_gen *g, int64_t value)
{
	size_t i = 0;

	TRY(push(g, &i));
	g->stack[i] = (struct stack_entry){.is_const = true, .imm = value};
	return NULL;
}

static struct error *push_context(struct prologue_gen *g, int32_t off, int64_t add)
{
	size_t i = 0;

	TRY(push(g, &i));
	const int reg = entry_target(i, R1);
	emit_load(g, reg, CTX, off, 8);
	emit_add(g, reg, add, R2);
	entry_write(g, i, reg);
	return NULL;
}

static struct error *push_register(struct prologue_gen *g, uint16_t dwarf, int64_t add)
{
	uint16_t off;

	if (g->way->context == PROLOGUE_TYPED)
		return error_new(EINVAL, "registers are not available at this probe point");
	if (!regs_offset(g->way->regs, dwarf, &off))
		return error_new(EOPNOTSUPP, "it is in register %u, which the kernel does not save",
				 dwarf);
	return push_context(g, off, add);
}

static struct error *push_slot(struct prologue_gen *g, uint32_t slot)
{
	size_t i = 0;

	TRY(push(g, &i));
	const int reg = entry_target(i, R1);
	emit_load(g, reg, FP, g->params + (int32_t)slot * 8, 8);
	entry_write(g, i, reg);
	return NULL;
}

static struct error *deref(struct prologue_gen *g, const struct fetch_insn *insn);

static struct error *push_param(struct prologue_gen *g, uint16_t n)
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

static struct error *push_retval(struct prologue_gen *g)
{
	if (g->way->context == PROLOGUE_TYPED)
		return push_slot(g, g->way->n_params);
	return push_register(g, regs_retval(g->way->regs), 0);
}

static struct error *push_static(struct prologue_gen *g, int64_t address)
{
	const struct prologue_way *way = g->way;
	const int64_t from_point = (int64_t)((uint64_t)address - way->address);
	size_t i = 0;

	if (!way->user)
		return push_const(g, (int64_t)((uint64_t)address + way->bias));
	if (!way->at_return)
		return push_register(g, regs_ip(way->regs), from_point);
	if (!way->has_func_ip)
		return error_new(EOPNOTSUPP,
				 "at a return, this kernel does not show the load address of the "
				 "binary, which is needed to find its variables");
	TRY(push(g, &i));
	emit_mov(g, R1, CTX);
	emit_call(g, GET_FUNC_IP);
	emit_mov(g, R1, R0);
	emit_fail_if_zero(g, R1, EOPNOTSUPP);
	emit_add(g, R1, from_point, R2);
	entry_write(g, i, R1);
	return NULL;
}

struct error *stack_need(const struct prologue_gen *g, size_t n)
{
	return g->depth >= n ? NULL : error_new(EINVAL, "its expression pops more than it pushed");
}

static struct error *deref(struct prologue_gen *g, const struct fetch_insn *insn)
{
	struct stack_entry *top;

	TRY(stack_need(g, 1));
	const size_t i = g->depth - 1;
	top = &g->stack[i];
	if (insn->size > 8 || (insn->size & (insn->size - 1)))
		return error_new(EINVAL, "its expression reads %u bytes", insn->size);
	if (top->is_const) {
		top->imm = (int64_t)((uint64_t)top->imm + (uint64_t)insn->imm);
	} else if (!insn->size) {
		const int reg = entry_edit(g, i, R1);

		emit_add(g, reg, insn->imm, R2);
		entry_write(g, i, reg);
	}
	if (!insn->size)
		return NULL;
	const bool was_const = top->is_const;
	emit_mov(g, R3, entry_read(g, i, R3));
	if (!was_const)
		emit_add(g, R3, insn->imm, R2);
	const int reg = entry_target(i, R1);
	emit_read_number(g, reg, insn->size, insn->user);
	entry_write(g, i, reg);
	return NULL;
}
/* Entry to becomes what entry from is. */
static void copy_entry(struct prologue_gen *g, size_t from, size_t to)
{
	if (g->stack[from].is_const)
		g->stack[to] = g->stack[from];
	else
		entry_write(g, to, entry_read(g, from, R1));
}

static struct error *pick(struct prologue_gen *g, uint64_t below)
{
	size_t i = 0;

	if (below >= g->depth)
		return error_new(EINVAL, "its expression picks a stack entry that does not exist");
	const size_t from = g->depth - 1 - (size_t)below;
	TRY(push(g, &i));
	copy_entry(g, from, i);
	return NULL;
}

/* What entries a and b hold changes places. */
static void swap_entries(struct prologue_gen *g, size_t a, size_t b)
{
	const struct stack_entry ea = g->stack[a];

	/* r3 keeps a's while b's takes its place. */
	if (!ea.is_const)
		emit_mov(g, R3, entry_read(g, a, R3));
	copy_entry(g, b, a);
	if (ea.is_const)
		g->stack[b] = ea;
	else
		entry_write(g, b, R3);
}

static struct error *step(struct prologue_gen *g, const struct fetch_insn *insn)
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
		return error_new(EOPNOTSUPP, "it is a thread-local variable");
	case FETCH_COMM:
		return error_new(EINVAL, "$comm has no address");
	case FETCH_DEREF:
		return deref(g, insn);
	case FETCH_SEXT:
	case FETCH_NEG:
	case FETCH_NOT:
		return operator_unary(g, insn);
	case FETCH_ENTRY:
		return entry_value(g, insn);
	case FETCH_DUP:
		return pick(g, 0);
	case FETCH_PICK:
		return pick(g, (uint64_t)insn->imm);
	case FETCH_DROP:
		TRY(stack_need(g, 1));
		g->depth--;
		return NULL;
	case FETCH_SWAP:
		TRY(stack_need(g, 2));
		swap_entries(g, g->depth - 2, g->depth - 1);
		return NULL;
	case FETCH_ROT: /* the top goes below the two others */
		TRY(stack_need(g, 3));
		swap_entries(g, g->depth - 1, g->depth - 2);
		swap_entries(g, g->depth - 2, g->depth - 3);
		return NULL;
	default:
		if (insn->op < FETCH_PLUS || insn->op > FETCH_GE)
			return error_new(EINVAL, "its expression has the unsupported operator %d",
					 (int)insn->op);
		return operator_binary(g, insn->op);
	}
}

/* The piece's program: what it gives is entry 0, and the only one that counts. */
struct error *stack_run(struct prologue_gen *g, const struct fetch_piece *piece)
{
	g->depth = 0;
	if (piece->n_insns > FETCH_MAX_INSNS)
		return error_new(E2BIG, "its expression has %zu steps", piece->n_insns);
	size_t i = g->direct ? direct_steps(g->way, piece) : 0;
	if (i) {
		TRY(direct_walk(g, piece, i));
		g->stack[g->depth++] = (struct stack_entry){0};
	}
	for (; i < piece->n_insns && !g->failed; i++)
		TRY(step(g, &piece->insns[i]));
	if (g->failed)
		return NULL;
	TRY(stack_need(g, 1));
	if (g->depth > 1)
		copy_entry(g, g->depth - 1, 0);
	g->depth = 1;
	return NULL;
}
