// SPDX-License-Identifier: BSD-2-Clause
#include "tests/probe/fetch_eval.h"

#include <unistd.h>

#include "lib/base/util.h"
#include "tests/probe/fetch_ops.h"

bool fetch_read(const struct fetch_process *p, uint64_t address, void *to, size_t n)
{
	return pread(p->mem, to, n, (off_t)address) == (ssize_t)n;
}

static bool register_value(const struct fetch_process *p, uint16_t dwarf, uint64_t *value)
{
	if (!regs_name(p->machine, dwarf))
		return false;
	*value = p->regs[dwarf];
	return true;
}

static uint64_t extend(uint64_t v, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static bool step(const struct fetch_process *p, const struct fetch_insn *insn, uint64_t *stack,
		 size_t *depth, const char **why)
{
	static const uint8_t takes[] = {
		[FETCH_DEREF] = 1, [FETCH_SEXT] = 1, [FETCH_PLUS] = 2, [FETCH_MINUS] = 2,
		[FETCH_MUL] = 2,   [FETCH_DIV] = 2,  [FETCH_MOD] = 2,  [FETCH_AND] = 2,
		[FETCH_OR] = 2,	   [FETCH_XOR] = 2,  [FETCH_SHL] = 2,  [FETCH_SHR] = 2,
		[FETCH_SHRA] = 2,  [FETCH_NEG] = 1,  [FETCH_NOT] = 1,  [FETCH_EQ] = 2,
		[FETCH_NE] = 2,	   [FETCH_LT] = 2,   [FETCH_LE] = 2,   [FETCH_GT] = 2,
		[FETCH_GE] = 2,	   [FETCH_DUP] = 1,  [FETCH_DROP] = 1, [FETCH_SWAP] = 2,
		[FETCH_ROT] = 3,   [FETCH_PICK] = 1,
	};
	size_t n = *depth;
	uint64_t v = 0;
	uint16_t reg;

	*why = "a fetch program that is none";
	if (n < takes[insn->op] || n >= FETCH_MAX_DEPTH)
		return false;
	uint64_t *top = &stack[n ? n - 1 : 0], *next = &stack[n > 1 ? n - 2 : 0];
	switch (insn->op) {
	case FETCH_CONST:
		v = (uint64_t)insn->imm;
		break;
	case FETCH_REG:
		if (!register_value(p, insn->reg, &v))
			return false;
		v += (uint64_t)insn->imm;
		break;
	case FETCH_PARAM:
		if (!regs_param(p->machine, insn->reg, &reg))
			return fetch_read(p,
					  p->regs[regs_stack(p->machine)] +
						  regs_param_on_stack(p->machine, insn->reg),
					  &stack[(*depth)++], 8);
		v = p->regs[reg];
		break;
	case FETCH_RETVAL:
		v = p->regs[regs_retval(p->machine)];
		break;
	case FETCH_STATIC:
		v = p->base + (uint64_t)insn->imm;
		break;
	case FETCH_TLS: /* this machine's executables: blocks end at the thread pointer */
	case FETCH_COMM:
		*why = "not for this interpreter";
		return false;
	case FETCH_DEREF:
		*top += (uint64_t)insn->imm;
		if (insn->size && !fetch_read(p, *top, &v, insn->size)) {
			*why = "memory that cannot be read";
			return false;
		}
		if (insn->size)
			*top = v;
		return true;
	case FETCH_SEXT:
		*top = extend(*top, insn->size);
		return true;
	case FETCH_NEG:
		*top = -*top;
		return true;
	case FETCH_NOT:
		*top = ~*top;
		return true;
	case FETCH_DUP:
		v = *top;
		break;
	case FETCH_PICK:
		if ((uint64_t)insn->imm >= n)
			return false;
		v = stack[n - 1 - (size_t)insn->imm];
		break;
	case FETCH_DROP:
		--*depth;
		return true;
	case FETCH_SWAP:
		v = *top, *top = *next, *next = v;
		return true;
	case FETCH_ROT:
		v = *top;
		*top = *next;
		*next = stack[n - 3];
		stack[n - 3] = v;
		return true;
	default:
		--*depth;
		*why = "a division by 0";
		return !fetch_binary(insn->op, *next, *top, next);
	}
	stack[(*depth)++] = v;
	return true;
}

/* The bits of a piece, appended at a bit of the value. */
static bool piece_bits(const struct fetch_process *p, const struct fetch_piece *piece, uint8_t *to,
		       size_t at, size_t size, const char **why)
{
	uint64_t stack[FETCH_MAX_DEPTH + 1];
	size_t depth = 0;
	uint8_t *bytes = NULL;
	size_t n = (piece->bit_offset + piece->bit_size + 7) / 8;

	for (size_t i = 0; i < piece->n_insns; i++) {
		if (!step(p, &piece->insns[i], stack, &depth, why))
			return false;
	}
	if (!depth)
		return false;
	bytes = calloc(1, n + 8);
	if (!bytes)
		return false;
	bool ok = true;
	if (piece->gives == FETCH_VALUE)
		memcpy(bytes, &stack[depth - 1], 8);
	else
		ok = fetch_read(p, stack[depth - 1], bytes, n);
	*why = "memory that cannot be read";
	for (size_t i = 0; ok && i < piece->bit_size && (at + i) / 8 < size; i++) {
		size_t from = piece->bit_offset + i, into = at + i;

		if (bytes[from / 8] >> (from % 8) & 1)
			to[into / 8] |= (uint8_t)(1u << (into % 8));
	}
	free(bytes);
	return ok;
}

static bool string(const struct fetch_process *p, const struct fetch_value *value,
		   struct strbuf *out, const char **why)
{
	uint64_t stack[FETCH_MAX_DEPTH + 1];
	const struct fetch_piece *piece = &value->pieces[0];
	size_t depth = 0;
	char c;

	for (size_t i = 0; i < piece->n_insns; i++) {
		if (!step(p, &piece->insns[i], stack, &depth, why))
			return false;
	}
	*why = "memory that cannot be read";
	if (!depth || piece->gives != FETCH_ADDRESS)
		return false;
	size_t most = value->size ? value->size - 1 : 256;
	for (size_t i = 0; i < most; i++) {
		if (!fetch_read(p, stack[depth - 1] + i, &c, 1))
			return false;
		if (!c)
			break;
		strbuf_addch(out, c);
	}
	return true;
}

bool fetch_eval(const struct fetch_process *p, const struct fetch_value *value, struct strbuf *out,
		const char **why)
{
	if (value->kind == FETCH_STRING)
		return value->n_pieces == 1 && string(p, value, out, why);

	_cleanup_free_ uint8_t *bytes = calloc(1, value->size + 1ul);
	size_t at = 0;

	if (!bytes)
		return false;
	for (size_t i = 0; i < value->n_pieces; i++) {
		const struct fetch_piece *piece = &value->pieces[i];

		if (piece->gives != FETCH_NOTHING &&
		    !piece_bits(p, piece, bytes, at, value->size, why))
			return false;
		at += piece->bit_size;
	}
	strbuf_add(out, bytes, value->size);
	return true;
}
