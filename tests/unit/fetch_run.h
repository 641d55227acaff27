/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fetch programs, run: the stack machine of probe/fetch/fetch.h, with the
 * registers, the parameters and the memory that a test gives it.
 */
#ifndef PB_TESTS_UNIT_FETCH_RUN_H
#define PB_TESTS_UNIT_FETCH_RUN_H

#include <string.h>

#include "probe/fetch/fetch.h"

struct fetch_world {
	uint64_t (*reg)(void *ctx, uint16_t dwarf);
	uint64_t (*word)(void *ctx, uint16_t n); /* FETCH_PARAM */
	uint64_t retval;
	uint64_t image; /* FETCH_STATIC */
	/* size bytes at an address; false: a fault. */
	bool (*read)(void *ctx, uint64_t address, void *to, size_t size, bool user);
	void *ctx;
};

static inline bool fetch_step(const struct fetch_world *w, const struct fetch_insn *in,
			      uint64_t *stack, size_t *n)
{
	const uint64_t top = *n ? stack[*n - 1] : 0, below = *n > 1 ? stack[*n - 2] : 0;
	uint64_t v = 0;

	if (in->op >= FETCH_PLUS && in->op <= FETCH_GE && in->op != FETCH_NEG &&
	    in->op != FETCH_NOT && *n < 2)
		return false;
	switch (in->op) {
	case FETCH_CONST:
		v = (uint64_t)in->imm;
		break;
	case FETCH_REG:
		v = w->reg(w->ctx, in->reg) + (uint64_t)in->imm;
		break;
	case FETCH_PARAM:
		v = w->word(w->ctx, in->reg);
		break;
	case FETCH_RETVAL:
		v = w->retval;
		break;
	case FETCH_STATIC:
		v = w->image + (uint64_t)in->imm;
		break;
	case FETCH_DEREF:
		if (!*n)
			return false;
		v = top + (uint64_t)in->imm;
		if (in->size) {
			uint64_t got = 0;

			if (!w->read(w->ctx, v, &got, in->size, in->user))
				return false;
			v = got;
		}
		stack[*n - 1] = v;
		return true;
	case FETCH_PLUS:
		v = below + top;
		goto binary;
	case FETCH_SHL:
		v = top < 64 ? below << top : 0;
		goto binary;
	case FETCH_SHR:
		v = top < 64 ? below >> top : 0;
		goto binary;
	case FETCH_SHRA:
		v = (uint64_t)((int64_t)below >> (top < 63 ? top : 63));
		goto binary;
	case FETCH_NE:
		v = below != top;
		goto binary;
	default:
		return false; /* not made by what is tested here */
	}
	if (*n == FETCH_MAX_DEPTH)
		return false;
	stack[(*n)++] = v;
	return true;
binary:
	stack[--*n - 1] = v;
	return true;
}

/*
 * The value's bytes, at most size of them; of a string what stands there. false: it has an
 * obstacle, or a read failed.
 */
static inline bool fetch_run(const struct fetch_world *w, const struct fetch_value *value,
			     void *out, size_t size)
{
	uint8_t *to = out;
	size_t at = 0;

	if (value->obstacle || !value->n_pieces)
		return false;
	memset(out, 0, size);
	for (size_t i = 0; i < value->n_pieces; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		uint64_t stack[FETCH_MAX_DEPTH];
		size_t n = 0;

		for (size_t k = 0; k < piece->n_insns; k++)
			if (!fetch_step(w, &piece->insns[k], stack, &n))
				return false;
		if (n != 1)
			return false;
		if (piece->gives == FETCH_ADDRESS) {
			const size_t bytes = piece->bit_size ? piece->bit_size / 8 : size;

			for (size_t k = 0; k < bytes && at < size; k++, at++) {
				if (!w->read(w->ctx, stack[0] + k, to + at, 1, piece->user))
					return false;
				if (value->kind == FETCH_STRING && !to[at])
					return true;
			}
			continue;
		}
		uint64_t v = stack[0] >> piece->bit_offset;
		if (piece->bit_size < 64)
			v &= (1ull << piece->bit_size) - 1;
		for (size_t k = 0; k < (piece->bit_size + 7) / 8 && at < size; k++, at++)
			to[at] = (uint8_t)(v >> (k * 8));
	}
	return true;
}

/* A number of up to 8 bytes, with its sign. */
static inline bool fetch_number(const struct fetch_world *w, const struct fetch_value *value,
				int64_t *out)
{
	uint64_t v = 0;
	const uint32_t bits = value->bit_size ? value->bit_size : value->size * 8;

	if (value->size > 8 || !fetch_run(w, value, &v, sizeof(v)))
		return false;
	if (value->kind == FETCH_INT && bits < 64)
		v = (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
	*out = (int64_t)v;
	return true;
}

#endif
