// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads that are typed by the kernel's BTF. What a fentry or fexit program reads
 * from its context is a number or a pointer to a struct, and the verifier knows
 * to which (PTR_TO_BTF_ID, since 5.5); so are the members of that struct. Such a
 * pointer is followed by an ordinary load, with no helper called for each. The
 * load has an entry in the kernel's exception table, or, since 5.14, a comparison
 * of the address before it: where there is nothing, it gives 0, and that is all
 * the program is told.
 *
 * What failed must be known, though. So a 0 at the end of the walk is not
 * believed: it is read again, by probe_read_kernel, whose answer counts. A
 * pointer on the way that is NULL, or leads nowhere, gives 0 as well, each load
 * behind it does too, since their offsets are small, and the last is the one
 * that is read again. What is not 0 was read. Pointers that are NULL are not
 * followed, even so: kernels before 5.14 take a page fault for each, and may wait
 * for a lock of the process that the probed function's caller holds.
 *
 * The verifier has its own mind, of each kernel's age, about unions, arrays,
 * and tags of pointers. Nothing here knows it: who asks for direct loads has
 * had it try them (probe/attach/try_direct.c).
 *
 * Its typed pointers must not get into numbers, where arithmetic on them is
 * refused: a walk begins with a parameter and goes on through loads alone. What
 * is behind that are plain instructions, which add constants to a pointer, or
 * give it to a helper.
 */
#include "probe/prologue/internal.h"

#include <errno.h>

static bool is_typed_load(const struct fetch_insn *insn)
{
	return insn->op == FETCH_DEREF && insn->typed && !insn->user && insn->size &&
	       insn->size <= 8 && !(insn->size & (insn->size - 1)) && insn->imm >= 0 &&
	       insn->imm <= INT16_MAX;
}

size_t direct_steps(const struct prologue_way *way, const struct fetch_piece *piece)
{
	const struct fetch_insn *insns = piece->insns;
	size_t n = 1;

	if (way->context != PROLOGUE_TYPED || !piece->n_insns || insns[0].op != FETCH_PARAM ||
	    !insns[0].typed || insns[0].reg >= way->n_params)
		return 0;
	/* Only what was loaded whole can be a pointer. */
	while (n < piece->n_insns && is_typed_load(&insns[n]) && (n == 1 || insns[n - 1].size == 8))
		n++;
	/* The parameter alone: a number. A pointer that is not followed stays one. */
	if (n == 1 &&
	    (piece->n_insns > 1 ? insns[1].op == FETCH_DEREF : piece->gives != FETCH_VALUE))
		return 0;
	return n;
}

struct error *direct_walk(struct prologue_gen *g, const struct fetch_piece *piece, size_t n)
{
	const struct fetch_insn *insns = piece->insns, *last = &insns[n - 1];

	emit_load(g, ENTRY0, CTX, (int32_t)insns[0].reg * 8, 8);
	if (n == 1)
		return NULL;
	g->nulls.n = 0;
	for (size_t i = 1; i < n; i++) {
		size_t *null = vec_push(&g->nulls);

		if (!null)
			return error_nomem();
		*null = emit_jump(g, BPF_JEQ, ENTRY0, 0);
		emit_load(g, i < n - 1 ? ENTRY0 : R0, ENTRY0, (int32_t)insns[i].imm, insns[i].size);
	}
	const size_t over = emit_jump(g, BPF_JNE, R0, 0);
	for (size_t i = 0; i < g->nulls.n; i++)
		emit_land(g, g->nulls.v[i]);
	emit_mov(g, R3, ENTRY0);
	emit_add(g, R3, last->imm, R2);
	emit_read(g, g->scratch, last->size, false);
	emit_load(g, R0, FP, g->scratch, last->size);
	emit_land(g, over);
	emit_mov(g, ENTRY0, R0);
	return NULL;
}

bool direct_may_fault(const struct prologue_gen *g, const struct fetch_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < values[i].n_pieces && value_is_direct(g, i); p++)
			if (direct_steps(g->way, &values[i].pieces[p]) > 1)
				return true;
	return false;
}

uint64_t prologue_direct(const struct fetch_value *values, size_t n, const struct prologue_way *way)
{
	uint64_t can = 0;

	for (size_t i = 0; i < min_of(n, (size_t)64); i++)
		for (size_t p = 0; p < values[i].n_pieces && !values[i].obstacle; p++)
			if (direct_steps(way, &values[i].pieces[p]))
				can |= 1ull << i;
	return can;
}
