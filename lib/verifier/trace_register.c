// SPDX-License-Identifier: BSD-2-Clause
/*
 * Following a register backwards along the refused path: through moves, and
 * through the stack where it was spilled, into the function that returned it
 * and to the caller that passed it, until the instruction that made it. What
 * an instruction writes is told by its code (Documentation/bpf/instruction-set),
 * not by the log's text.
 */
#include "lib/verifier/internal.h"

#include <stdio.h>

const struct bpf_insn *insn_at(const struct verifier_input *in, long insn)
{
	return insn >= 0 && (unsigned long)insn < in->n_insns ? &in->insns[insn] : NULL;
}

static uint8_t class_of(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code);
}

static bool is_alu(const struct bpf_insn *insn)
{
	return class_of(insn) == BPF_ALU || class_of(insn) == BPF_ALU64;
}

static bool is_move(const struct bpf_insn *insn)
{
	return is_alu(insn) && BPF_OP(insn->code) == BPF_MOV && BPF_SRC(insn->code) == BPF_X;
}

/* Shifts up and down by half a register: how 32-bit numbers are widened before -mcpu=v3. */
static bool is_extension(const struct bpf_insn *insn)
{
	const uint8_t op = BPF_OP(insn->code);

	return class_of(insn) == BPF_ALU64 && BPF_SRC(insn->code) == BPF_K && insn->imm == 32 &&
	       (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH);
}

bool insn_calls(const struct bpf_insn *insn)
{
	return insn && insn->code == (BPF_JMP | BPF_CALL);
}

bool insn_stores(const struct bpf_insn *insn)
{
	return insn && (class_of(insn) == BPF_ST || class_of(insn) == BPF_STX);
}

static bool insn_exits(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_EXIT);
}

/* Whether it changes reg, calls included: they keep only R6 to R10. */
static bool insn_writes(const struct bpf_insn *insn, unsigned reg)
{
	switch (class_of(insn)) {
	case BPF_ALU:
	case BPF_ALU64:
	case BPF_LDX:
		return insn->dst_reg == reg;
	case BPF_LD:
		return BPF_MODE(insn->code) == BPF_IMM ? insn->dst_reg == reg : reg <= 5;
	case BPF_STX:
		/* BPF_FETCH: the old value comes back; cmpxchg's into R0 */
		if (BPF_MODE(insn->code) == BPF_ATOMIC && (insn->imm & BPF_FETCH))
			return insn->imm == BPF_CMPXCHG ? !reg : insn->src_reg == reg;
		return false;
	case BPF_JMP:
		return insn_calls(insn) && reg <= 5;
	default:
		return false;
	}
}

struct piece step_callee(const struct log_step *step)
{
	struct piece p = step->text;

	if (!piece_starts(p, "call "))
		return (struct piece){0};
	p.at += 5;
	p.len -= 5;
	const char *hash = memchr(p.at, '#', p.len);
	if (hash)
		p.len = (size_t)(hash - p.at);
	return p;
}

/* A store to the stack slot at offset, through R10 itself. */
static bool stores_slot(const struct bpf_insn *insn, int16_t offset)
{
	return insn_stores(insn) && insn->dst_reg == 10 && insn->off == offset;
}

struct register_walk {
	unsigned reg;
	bool in_slot; /* the value stands on the stack, at offset */
	int16_t offset;
	uint32_t depth;
};

/* A step of the walk's own function; false: go on. */
static bool look_at(const struct vlog *log, const struct verifier_input *in, size_t i,
		    struct register_walk *w, struct origin *o)
{
	const struct log_step *step = &log->steps.v[i];
	const struct bpf_insn *insn = insn_at(in, step->insn);

	if (w->in_slot) {
		if (!stores_slot(insn, w->offset))
			return false;
		if (class_of(insn) == BPF_ST) {
			o->kind = ORIGIN_CONST;
			o->step = (long)i;
			return true;
		}
		w->in_slot = false;
		w->reg = insn->src_reg;
		return false;
	}
	if (!insn_writes(insn, w->reg))
		return false;
	if (is_move(insn)) {
		w->reg = insn->src_reg;
		return false;
	}
	if (is_extension(insn))
		return false;
	if (is_alu(insn) && BPF_OP(insn->code) == BPF_ADD && class_of(insn) == BPF_ALU64) {
		/* A pointer stays one: what was added is worth knowing. */
		if (BPF_SRC(insn->code) == BPF_X && o->added_step < 0) {
			o->added_step = (long)i;
			o->added = insn->src_reg;
		}
		if (!state_range(vlog_state(log, in, i, w->reg)).is_number)
			return false;
	}
	o->step = (long)i;
	if (insn_calls(insn)) {
		o->kind = w->reg ? ORIGIN_CLOBBER : ORIGIN_CALL;
		o->callee = step_callee(step);
		return true;
	}
	if (class_of(insn) == BPF_LDX && insn->src_reg == 10 && BPF_SIZE(insn->code) == BPF_DW) {
		w->in_slot = true;
		w->offset = insn->off;
		o->kind = ORIGIN_LOAD; /* unless the store is found */
		o->reg = 10;
		return false;
	}
	if (class_of(insn) == BPF_LDX) {
		o->kind = ORIGIN_LOAD;
		o->reg = insn->src_reg;
	} else if (class_of(insn) == BPF_LD || (is_alu(insn) && BPF_OP(insn->code) == BPF_MOV)) {
		o->kind = ORIGIN_CONST;
	} else {
		o->kind = ORIGIN_MATH;
	}
	return true;
}

struct origin trace_origin(const struct vlog *log, const struct verifier_input *in, size_t step,
			   unsigned reg)
{
	struct origin o = {.step = -1, .added_step = -1};
	struct register_walk w = {.reg = reg};

	if (step > log->steps.n || !log->steps.n || reg > 10)
		return o;
	w.depth = log->steps.v[step < log->steps.n ? step : log->steps.n - 1].depth;
	for (size_t i = step; i-- > 0;) {
		const struct log_step *at = &log->steps.v[i];
		const struct bpf_insn *insn = insn_at(in, at->insn);

		if (!insn)
			return o;
		if (at->depth > w.depth) {
			/* A function of the program returned: R0 is its R0, R1 to R5 are gone. */
			if (!w.in_slot && w.reg == 0 && insn_exits(insn) &&
			    at->depth == w.depth + 1)
				w.depth++;
			continue;
		}
		if (at->depth < w.depth) {
			if (w.in_slot || w.reg < 1 || w.reg > 5 || !insn_calls(insn) ||
			    insn->src_reg != BPF_PSEUDO_CALL) {
				if (o.kind == ORIGIN_UNKNOWN)
					o.kind = ORIGIN_ARG;
				return o;
			}
			w.depth = at->depth;
			continue;
		}
		/* The call of a function that returned in between. */
		if (insn_calls(insn) && insn->src_reg == BPF_PSEUDO_CALL && w.in_slot)
			continue;
		if (look_at(log, in, i, &w, &o))
			return o;
	}
	if (!w.in_slot && o.kind == ORIGIN_UNKNOWN && w.reg >= 1 && w.reg <= 5)
		o.kind = ORIGIN_ARG;
	return o;
}

/* "R7=" or "R7_rw=" in what was said of registers: its value. */
static struct piece find_register(struct piece state, unsigned reg)
{
	char name[8];

	const int n_name = snprintf(name, sizeof(name), "R%u", reg);
	for (size_t i = 0; state.at && i + (size_t)n_name < state.len; i++) {
		if ((i && state.at[i - 1] != ' ') || memcmp(state.at + i, name, (size_t)n_name))
			continue;
		size_t k = i + (size_t)n_name;
		if (state.at[k] == '_')
			while (k < state.len && state.at[k] != '=' && state.at[k] != ' ')
				k++;
		if (k >= state.len || state.at[k] != '=')
			continue;
		struct piece value = {state.at + k + 1, 0};
		int open = 0;
		while (k + 1 + value.len < state.len) {
			const char c = value.at[value.len];

			open += (c == '(') - (c == ')');
			if (c == ' ' && open <= 0)
				break;
			value.len++;
		}
		return value;
	}
	return (struct piece){0};
}

struct piece vlog_state(const struct vlog *log, const struct verifier_input *in, size_t step,
			unsigned reg)
{
	struct piece found = {0};

	if (!log->steps.n || step > log->steps.n)
		return found;
	const bool at_end = step + 1 >= log->steps.n;
	const uint32_t depth = log->steps.v[step < log->steps.n ? step : step - 1].depth;
	if (at_end)
		found = find_register(log->last_state, reg);
	if (!found.at && step < log->steps.n)
		found = find_register(log->steps.v[step].before, reg);
	for (size_t i = step; !found.at && i-- > 0;) {
		const struct log_step *at = &log->steps.v[i];
		const struct bpf_insn *insn = insn_at(in, at->insn);

		if (at->depth < depth || !insn)
			break;
		if (at->depth > depth) {
			if (reg < 6)
				break;
			continue;
		}
		found = find_register(at->after, reg);
		if (found.at || insn_writes(insn, reg))
			break;
		found = find_register(at->before, reg);
	}
	return found;
}
