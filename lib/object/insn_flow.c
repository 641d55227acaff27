// SPDX-License-Identifier: BSD-2-Clause
/*
 * A forward data flow analysis. A state says what each register holds, and each
 * 8-byte slot of the frame, where compilers keep registers for which there is
 * no room. Basic blocks have a state at their beginning, which is what all paths
 * that lead there agree on; where they differ it is FLOW_OTHER, or FLOW_NEGATIVE
 * if it is negative on one of them. An entry changes at most three times, from
 * FLOW_UNSEEN to something, to FLOW_OTHER, to FLOW_NEGATIVE, so the work is bounded by
 * the number of blocks.
 *
 * Functions: a callee begins with what all its callers pass in r1 to r5, and a
 * caller knows nothing of r0 afterwards. Callbacks begin with nothing. Stores
 * through pointers into the frame are not followed: compilers do not take the
 * address of a slot that they keep a register in.
 */
#include "lib/object/insn_flow.h"

#include <errno.h>
#include <string.h>

#include "lib/base/insn.h"
#include "lib/base/vec.h"
#include "lib/sys/uapi.h"

enum {
	MAX_BLOCKS = 50000,
	N_REGS = 10, /* r0 to r9 */
	FRAME = 10,
	N_SLOTS = 64, /* of a frame of 512 bytes */
};

struct flow_state {
	struct flow_value regs[N_REGS], slots[N_SLOTS];
};

struct flow {
	const struct bpf_insn *insns;
	size_t n;
	uint32_t *block_at; /* 1 + index of the block that begins at an instruction; 0: none */
	struct flow_block {
		size_t start;
		bool queued;
		struct flow_state state;
	} * blocks;
	size_t n_blocks;
	uint32_t *queue; /* of blocks, a ring of n_blocks */
	size_t queue_at, queued;
};

static const struct flow_value other = {.kind = FLOW_OTHER};

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_jump_class(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_JMP || BPF_CLASS(insn->code) == BPF_JMP32;
}

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL);
}

static bool is_exit(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_EXIT);
}

static bool is_branch(const struct bpf_insn *insn)
{
	return is_jump_class(insn) && !is_exit(insn) && BPF_OP(insn->code) != BPF_CALL;
}

static bool is_always(const struct bpf_insn *insn)
{
	return BPF_OP(insn->code) == BPF_JA;
}

static bool is_table_jump(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_JA | BPF_X);
}

/* The instruction that a jump, a call or the address of a function leads to. */
static int64_t target_of(const struct bpf_insn *insns, size_t i)
{
	const struct bpf_insn *insn = &insns[i];
	const bool far = insn->code == (BPF_JMP32 | BPF_JA) || is_call(insn) || is_wide(insn);

	return (int64_t)i + 1 + (far ? insn->imm : insn->off);
}

/* Whether it names another instruction. */
static bool has_target(const struct bpf_insn *insn)
{
	return is_branch(insn) || (is_call(insn) && insn->src_reg == BPF_PSEUDO_CALL) ||
	       (is_wide(insn) && insn->src_reg == BPF_PSEUDO_FUNC);
}

static struct error *mark_block(struct flow *f, int64_t at)
{
	if (at < 0 || at >= (int64_t)f->n)
		return error_new(EINVAL, "a jump leads out of the program");
	f->block_at[at] = 1;
	return NULL;
}

static struct error *find_blocks(struct flow *f)
{
	TRY(mark_block(f, 0));
	for (size_t i = 0; i < f->n; i++) {
		const struct bpf_insn *insn = &f->insns[i];

		if (is_table_jump(insn))
			return error_new(ENOTSUP, "the program jumps through a table");
		if (has_target(insn))
			TRY(mark_block(f, target_of(f->insns, i)));
		if ((is_branch(insn) || is_exit(insn)) && i + 1 < f->n)
			TRY(mark_block(f, (int64_t)i + 1));
		i += is_wide(insn);
	}
	for (size_t i = 0; i < f->n; i++)
		if (f->block_at[i])
			f->block_at[i] = (uint32_t)++f->n_blocks;
	if (f->n_blocks > MAX_BLOCKS)
		return error_new(E2BIG, "the program has %zu basic blocks", f->n_blocks);
	f->blocks = calloc(f->n_blocks, sizeof(*f->blocks));
	f->queue = calloc(f->n_blocks, sizeof(*f->queue));
	if (!f->blocks || !f->queue)
		return error_nomem();
	for (size_t i = 0; i < f->n; i++)
		if (f->block_at[i])
			f->blocks[f->block_at[i] - 1].start = i;
	return NULL;
}

static bool values_equal(const struct flow_value *a, const struct flow_value *b)
{
	return a->kind == b->kind && a->varies == b->varies && a->map == b->map && a->off == b->off;
}

/* What holds on both paths; true: to has changed. */
static bool join(struct flow_value *to, const struct flow_value *from)
{
	if (from->kind == FLOW_UNSEEN || to->kind == FLOW_NEGATIVE || values_equal(to, from))
		return false;
	if (to->kind == FLOW_UNSEEN || from->kind == FLOW_NEGATIVE)
		*to = *from;
	else if (to->kind == FLOW_OTHER)
		return false;
	else
		*to = other;
	return true;
}

static void flow_to(struct flow *f, int64_t at, const struct flow_state *state)
{
	if (at < 0 || at >= (int64_t)f->n || !f->block_at[at])
		return;
	const uint32_t index = f->block_at[at] - 1;
	struct flow_block *block = &f->blocks[index];
	bool changed = false;

	for (size_t i = 0; i < N_REGS; i++)
		changed |= join(&block->state.regs[i], &state->regs[i]);
	for (size_t i = 0; i < N_SLOTS; i++)
		changed |= join(&block->state.slots[i], &state->slots[i]);
	if (!changed || block->queued)
		return;
	block->queued = true;
	f->queue[(f->queue_at + f->queued++) % f->n_blocks] = index;
}

/* A function's state at its beginning: r1 to r5 of the caller; NULL: nothing is known. */
static void enter_function(struct flow *f, int64_t at, const struct flow_state *caller)
{
	struct flow_state state;

	for (size_t i = 0; i < N_REGS; i++)
		state.regs[i] = caller && i >= 1 && i <= 5 ? caller->regs[i] : other;
	for (size_t i = 0; i < N_SLOTS; i++)
		state.slots[i] = other;
	flow_to(f, at, &state);
}

/* ---- single instructions ---- */

static bool is_number(const struct flow_value *v)
{
	return v->kind == FLOW_LOADED || v->kind == FLOW_SUM;
}

static bool is_derived(const struct flow_value *v)
{
	return is_number(v) || v->kind == FLOW_DERIVED;
}

/* An operation other than an addition. */
static struct flow_value derive(const struct flow_value *a, const struct flow_value *b)
{
	struct flow_value v = is_derived(a) ? *a : *b;

	v.kind = FLOW_DERIVED;
	return is_derived(&v) && (is_derived(a) || is_derived(b)) ? v : other;
}

/* Of "average += (now - average) / 8" both sides are made of the same number: it is not a sum. */
static struct flow_value sum_values(const struct flow_value *number, const struct flow_value *by)
{
	struct flow_value v = *number;

	if (by->kind == FLOW_NEGATIVE || (by->kind == FLOW_DERIVED && by->map == v.map &&
					  by->off == v.off && by->varies == v.varies))
		return derive(number, by);
	v.kind = FLOW_SUM;
	return v;
}

static struct flow_value add_values(const struct flow_value *to, const struct flow_value *by)
{
	struct flow_value v = *to;

	if (by->kind == FLOW_VALUE || (is_number(by) && !is_number(to) && to->kind != FLOW_VALUE))
		return by->kind == FLOW_VALUE && to->kind == FLOW_VALUE ? other
									: add_values(by, to);
	switch (to->kind) {
	case FLOW_VALUE:
		v.varies = true;
		return v;
	case FLOW_LOADED:
	case FLOW_SUM:
		return sum_values(to, by);
	default:
		return derive(to, by);
	}
}

static struct flow_value add_constant(const struct flow_value *to, int32_t imm)
{
	struct flow_value v = *to;

	if (v.kind == FLOW_VALUE) {
		v.off = (int32_t)((uint32_t)v.off + (uint32_t)imm);
		return v;
	}
	if (!is_number(&v) || imm < 0)
		return derive(&v, &other);
	v.kind = FLOW_SUM;
	return v;
}

/* What 32-bit operations leave of it: pointers do not survive them. */
static struct flow_value narrow(const struct flow_value *v)
{
	return v->kind == FLOW_MAP || v->kind == FLOW_VALUE ? other : *v;
}

static void step_alu(const struct bpf_insn *insn, struct flow_state *s)
{
	struct flow_value *dst = &s->regs[insn->dst_reg];
	const bool by_reg = BPF_SRC(insn->code) == BPF_X, wide = BPF_CLASS(insn->code) == BPF_ALU64;
	const struct flow_value src =
		by_reg && insn->src_reg < N_REGS ? s->regs[insn->src_reg] : other;

	switch (BPF_OP(insn->code)) {
	case BPF_MOV:
		if (!by_reg)
			*dst = (struct flow_value){.kind = insn->imm < 0 ? FLOW_NEGATIVE
									 : FLOW_OTHER};
		else
			*dst = wide && !insn->off ? src : narrow(&src);
		break;
	case BPF_ADD:
		*dst = by_reg ? add_values(dst, &src) : add_constant(dst, insn->imm);
		break;
	case BPF_NEG:
		*dst = is_derived(dst) ? derive(dst, &other)
				       : (struct flow_value){.kind = FLOW_NEGATIVE};
		break;
	case BPF_LSH: /* the two that clear or extend the upper half leave it what it is */
	case BPF_RSH:
	case BPF_ARSH:
		*dst = !by_reg && insn->imm == 32 ? narrow(dst) : derive(dst, &src);
		break;
	default:
		*dst = derive(dst, &src);
	}
	if (!wide)
		*dst = narrow(dst);
}

/* The slot of the frame that a load or store is of; -1: none, or a part of one. */
static int slot_of(const struct bpf_insn *insn, unsigned reg)
{
	if (reg != FRAME || insn->off >= 0 || insn->off < -8 * N_SLOTS || insn->off % 8)
		return -1;
	return -insn->off / 8 - 1;
}

static void step_load(const struct bpf_insn *insn, struct flow_state *s)
{
	struct flow_value v = insn->src_reg < N_REGS ? s->regs[insn->src_reg] : other;
	const int slot = slot_of(insn, insn->src_reg);

	if (v.kind == FLOW_VALUE) {
		v.kind = FLOW_LOADED;
		v.off = (int32_t)((uint32_t)v.off + (uint32_t)insn->off);
	} else {
		v = slot >= 0 && insn_access_bytes(insn) == 8 ? s->slots[slot] : other;
	}
	s->regs[insn->dst_reg] = v;
}

/* Whether what is stored at `to` is what was there, and more. */
static bool adds_to(const struct bpf_insn *insn, const struct flow_state *s,
		    const struct flow_value *to)
{
	const uint8_t class = BPF_CLASS(insn->code);
	const struct flow_value *src = insn->src_reg < N_REGS ? &s->regs[insn->src_reg] : &other;

	if (class == BPF_ST)
		return false;
	if (BPF_MODE(insn->code) == BPF_ATOMIC)
		return (insn->imm & ~BPF_FETCH) == BPF_ADD && src->kind != FLOW_NEGATIVE;
	return src->kind == FLOW_SUM && src->map == to->map && src->off == to->off &&
	       src->varies == to->varies;
}

static struct error *step_store(const struct bpf_insn *insn, struct flow_state *s,
				const struct flow_visitor *visitor)
{
	struct flow_value to = insn->dst_reg < N_REGS ? s->regs[insn->dst_reg] : other;
	const bool plain = BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_MEM;
	const bool atomic = BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC;
	struct error *err = NULL;

	if (to.kind == FLOW_VALUE) {
		to.off = (int32_t)((uint32_t)to.off + (uint32_t)insn->off);
		if (visitor && visitor->store)
			err = visitor->store(visitor->ctx, &to, insn_access_bytes(insn),
					     adds_to(insn, s, &to));
	} else if (insn->dst_reg == FRAME && insn->off < 0 && insn->off >= -8 * N_SLOTS) {
		s->slots[(-insn->off - 1) / 8] = plain && slot_of(insn, FRAME) >= 0 &&
								 insn_access_bytes(insn) == 8 &&
								 insn->src_reg < N_REGS
							 ? s->regs[insn->src_reg]
							 : other;
	}
	if (atomic && insn->imm == BPF_CMPXCHG)
		s->regs[0] = other;
	else if (atomic && insn->imm & BPF_FETCH && insn->src_reg < N_REGS)
		s->regs[insn->src_reg] = other;
	return err;
}

/* What a helper returns. */
static struct flow_value returned(const struct bpf_insn *insn, const struct flow_value *regs)
{
	if (insn->src_reg || regs[1].kind != FLOW_MAP)
		return other;
	switch (insn->imm) {
	case BPF_FUNC_map_lookup_elem:
	case BPF_FUNC_map_lookup_percpu_elem:
	case BPF_FUNC_sk_storage_get:
	case BPF_FUNC_inode_storage_get:
	case BPF_FUNC_task_storage_get:
	case BPF_FUNC_cgrp_storage_get:
		return (struct flow_value){.kind = FLOW_VALUE, .map = regs[1].map};
	default:
		return other;
	}
}

static struct error *step_call(struct flow *f, size_t i, struct flow_state *s,
			       const struct flow_visitor *visitor)
{
	const struct bpf_insn *insn = &f->insns[i];

	if (visitor && visitor->call && !insn->src_reg)
		TRY(visitor->call(visitor->ctx, i, s->regs));
	if (!visitor && insn->src_reg == BPF_PSEUDO_CALL)
		enter_function(f, target_of(f->insns, i), s);
	s->regs[0] = returned(insn, s->regs);
	for (size_t k = 1; k <= 5; k++)
		s->regs[k] = other;
	return NULL;
}

static void step_wide(struct flow *f, size_t i, struct flow_state *s, bool spread)
{
	const struct bpf_insn *insn = &f->insns[i];
	struct flow_value v = other;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		v = (struct flow_value){.kind = FLOW_MAP, .map = insn->imm};
	else if (insn->src_reg == BPF_PSEUDO_MAP_VALUE && i + 1 < f->n)
		v = (struct flow_value){.kind = FLOW_VALUE, .map = insn->imm, .off = insn[1].imm};
	else if (insn->src_reg == BPF_PSEUDO_FUNC && spread)
		enter_function(f, target_of(f->insns, i), NULL);
	s->regs[insn->dst_reg] = v;
}

/*
 * One block from its state on. Without a visitor, what it leaves flows on to
 * the blocks behind it; with one, that is known already.
 */
static struct error *run_block(struct flow *f, const struct flow_block *block,
			       const struct flow_visitor *visitor)
{
	struct flow_state s = block->state;

	for (size_t i = block->start; i < f->n; i++) {
		const struct bpf_insn *insn = &f->insns[i];

		if (i != block->start && f->block_at[i]) {
			if (!visitor)
				flow_to(f, (int64_t)i, &s);
			return NULL;
		}
		if (is_exit(insn))
			return NULL;
		if (is_branch(insn)) {
			if (!visitor)
				flow_to(f, target_of(f->insns, i), &s);
			if (!visitor && !is_always(insn))
				flow_to(f, (int64_t)i + 1, &s);
			return NULL;
		}
		if (is_call(insn)) {
			TRY(step_call(f, i, &s, visitor));
			continue;
		}
		if (insn->dst_reg > FRAME)
			return error_new(EINVAL, "instruction %zu: unknown register", i);
		switch (BPF_CLASS(insn->code)) {
		case BPF_ST:
		case BPF_STX:
			TRY(step_store(insn, &s, visitor));
			continue;
		default:
			break;
		}
		if (insn->dst_reg == FRAME)
			return error_new(EINVAL, "instruction %zu writes to r10", i);
		if (is_wide(insn)) {
			step_wide(f, i, &s, !visitor);
			i++;
		} else if (BPF_CLASS(insn->code) == BPF_LDX) {
			step_load(insn, &s);
		} else if (BPF_CLASS(insn->code) == BPF_LD) {
			for (size_t k = 0; k <= 5; k++)
				s.regs[k] = other;
		} else {
			step_alu(insn, &s);
		}
	}
	return NULL;
}

static void flow_deinit(struct flow *f)
{
	free(f->block_at);
	free(f->blocks);
	free(f->queue);
}

struct error *insn_flow_visit(const struct bpf_insn *insns, size_t n,
			      const struct flow_visitor *visitor)
{
	_cleanup_(flow_deinit) struct flow f = {.insns = insns, .n = n};

	f.block_at = calloc(n ? n : 1, sizeof(*f.block_at));
	if (!f.block_at)
		return error_nomem();
	TRY(find_blocks(&f));
	enter_function(&f, 0, NULL);
	while (f.queued) {
		struct flow_block *block = &f.blocks[f.queue[f.queue_at]];

		f.queue_at = (f.queue_at + 1) % f.n_blocks;
		f.queued--;
		block->queued = false;
		TRY(run_block(&f, block, NULL));
	}
	for (size_t i = 0; i < f.n_blocks; i++)
		if (f.blocks[i].state.regs[0].kind != FLOW_UNSEEN)
			TRY(run_block(&f, &f.blocks[i], visitor));
	return NULL;
}
