// SPDX-License-Identifier: BSD-2-Clause
#include "probe/fetch/fetch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "probe/fetch/regs.h"

void fetch_value_deinit(struct fetch_value *value)
{
	free(value->name);
	free(value->type);
	for (size_t i = 0; i < value->n_pieces; i++)
		free(value->pieces[i].insns);
	free(value->pieces);
	free(value->obstacle);
	*value = (struct fetch_value){0};
}

/* typed is left out: it matters to fentry alone, whose programs are each for one function. */
static bool insns_equal(const struct fetch_insn *a, const struct fetch_insn *b)
{
	return a->op == b->op && a->size == b->size && a->user == b->user && a->reg == b->reg &&
	       a->imm == b->imm;
}

static bool pieces_equal(const struct fetch_piece *a, const struct fetch_piece *b)
{
	if (a->n_insns != b->n_insns || a->gives != b->gives || a->user != b->user ||
	    a->bit_offset != b->bit_offset || a->bit_size != b->bit_size)
		return false;
	for (size_t i = 0; i < a->n_insns; i++)
		if (!insns_equal(&a->insns[i], &b->insns[i]))
			return false;
	return true;
}

static bool values_equal(const struct fetch_value *a, const struct fetch_value *b)
{
	if (a->kind != b->kind || a->size != b->size || a->bit_size != b->bit_size ||
	    a->n_pieces != b->n_pieces || !a->obstacle != !b->obstacle)
		return false;
	for (size_t i = 0; i < a->n_pieces; i++)
		if (!pieces_equal(&a->pieces[i], &b->pieces[i]))
			return false;
	return true;
}

bool fetch_values_equal(const struct fetch_value *a, const struct fetch_value *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!values_equal(&a[i], &b[i]))
			return false;
	return true;
}

static void mix(uint64_t *hash, uint64_t v)
{
	*hash = hash_u64(*hash * 31 + v);
}

uint64_t fetch_values_hash(const struct fetch_value *v, size_t n)
{
	uint64_t hash = n;

	for (; n--; v++) {
		mix(&hash, (uint64_t)v->kind << 32 | v->size);
		mix(&hash, (uint64_t)v->bit_size << 32 | v->n_pieces << 1 | !!v->obstacle);
		for (size_t i = 0; i < v->n_pieces; i++) {
			const struct fetch_piece *p = &v->pieces[i];

			mix(&hash, (uint64_t)p->gives << 1 | p->user);
			mix(&hash, (uint64_t)p->bit_offset << 32 | p->bit_size);
			for (size_t j = 0; j < p->n_insns; j++) {
				const struct fetch_insn *in = &p->insns[j];

				mix(&hash, (uint64_t)in->op << 32 | (uint64_t)in->reg << 16 |
						   in->size << 8 | in->user);
				mix(&hash, (uint64_t)in->imm);
			}
		}
	}
	return hash;
}

static void add_signed(struct strbuf *out, int64_t v)
{
	const uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;

	strbuf_addf(out, size < 10 ? "%c%" PRIu64 : "%c0x%" PRIx64, v < 0 ? '-' : '+', size);
}

static void add_register(const struct regs *regs, uint16_t reg, struct strbuf *out)
{
	const char *name = regs ? regs_name(regs, reg) : NULL;

	if (name)
		strbuf_addf(out, "%%%s", name);
	else
		strbuf_addf(out, "%%r%u", reg);
}

static void add_insn(const struct fetch_insn *in, const struct regs *regs, struct strbuf *out)
{
	static const char *const names[] = {
		[FETCH_COMM] = "comm", [FETCH_PLUS] = "+",    [FETCH_MINUS] = "-",
		[FETCH_MUL] = "*",     [FETCH_DIV] = "/",     [FETCH_MOD] = "%",
		[FETCH_AND] = "&",     [FETCH_OR] = "|",      [FETCH_XOR] = "^",
		[FETCH_SHL] = "<<",    [FETCH_SHR] = ">>",    [FETCH_SHRA] = ">>a",
		[FETCH_NEG] = "neg",   [FETCH_NOT] = "~",     [FETCH_EQ] = "==",
		[FETCH_NE] = "!=",     [FETCH_LT] = "<",      [FETCH_LE] = "<=",
		[FETCH_GT] = ">",      [FETCH_GE] = ">=",     [FETCH_DUP] = "dup",
		[FETCH_DROP] = "drop", [FETCH_SWAP] = "swap", [FETCH_ROT] = "rot",
	};

	switch (in->op) {
	case FETCH_CONST:
		strbuf_addf(out, in->imm >= -9 && in->imm <= 9 ? "%" PRId64 : "0x%" PRIx64,
			    in->imm);
		break;
	case FETCH_REG:
		add_register(regs, in->reg, out);
		if (in->imm)
			add_signed(out, in->imm);
		break;
	case FETCH_PARAM:
		strbuf_addf(out, "arg%u", in->reg + 1);
		break;
	case FETCH_RETVAL:
		strbuf_adds(out, "retval");
		break;
	case FETCH_STATIC:
		strbuf_addf(out, "image+0x%" PRIx64, (uint64_t)in->imm);
		break;
	case FETCH_TLS:
		strbuf_addf(out, "tls+0x%" PRIx64, (uint64_t)in->imm);
		break;
	case FETCH_DEREF:
		if (in->imm)
			add_signed(out, in->imm);
		if (in->size)
			strbuf_addf(out, "%s→ %su%u", in->imm ? " " : "", in->user ? "user " : "",
				    in->size * 8);
		else if (!in->imm)
			strbuf_adds(out, "+0");
		break;
	case FETCH_SEXT:
		strbuf_addf(out, "s%u", in->size * 8);
		break;
	case FETCH_PICK:
		strbuf_addf(out, "pick%" PRId64, in->imm);
		break;
	case FETCH_ENTRY:
		strbuf_addf(out, "arg%u@entry", in->reg + 1);
		break;
	default:
		strbuf_adds(out, (size_t)in->op < ARRAY_SIZE(names) && names[in->op] ? names[in->op]
										     : "?");
	}
}

static void add_piece(const struct fetch_value *value, const struct fetch_piece *piece,
		      const struct regs *regs, struct strbuf *out)
{
	static const char *const kinds[] = {
		[FETCH_UINT] = "u",    [FETCH_INT] = "s",	  [FETCH_BOOL] = "bool",
		[FETCH_CHAR] = "char", [FETCH_FLOAT] = "f",	  [FETCH_POINTER] = "ptr",
		[FETCH_ENUM] = "enum", [FETCH_STRING] = "string", [FETCH_BYTES] = "bytes"};
	const bool number =
		value->kind == FETCH_UINT || value->kind == FETCH_INT || value->kind == FETCH_FLOAT;

	if (piece->gives == FETCH_NOTHING) {
		strbuf_adds(out, "optimized out");
	} else {
		for (size_t i = 0; i < piece->n_insns; i++) {
			if (i)
				strbuf_addch(out, ' ');
			add_insn(&piece->insns[i], regs, out);
		}
		strbuf_adds(out, piece->gives == FETCH_ADDRESS ? " → " : " ");
		if (piece->user && piece->gives == FETCH_ADDRESS)
			strbuf_adds(out, "user ");
		/* a string's length is a number */
		strbuf_adds(out, value->kind == FETCH_STRING && piece->gives == FETCH_VALUE
					 ? "u64"
					 : kinds[value->kind]);
		if (number)
			strbuf_addf(out, "%u", value->size * 8);
		else if (value->kind == FETCH_BYTES)
			strbuf_addf(out, "[%u]", value->size);
	}
	const uint32_t whole = value->bit_size ? value->bit_size : value->size * 8;
	if (value->kind != FETCH_STRING &&
	    (piece->bit_offset || piece->bit_size != whole || value->bit_size))
		strbuf_addf(out, " bits %u-%u", piece->bit_offset,
			    piece->bit_offset + (piece->bit_size ? piece->bit_size - 1 : 0));
}

void fetch_value_text(const struct fetch_value *value, const struct regs *regs, struct strbuf *out)
{
	if (value->obstacle) {
		strbuf_adds(out, value->obstacle);
		return;
	}
	for (size_t i = 0; i < value->n_pieces; i++) {
		const bool is_length = i && value->kind == FETCH_STRING;

		if (i)
			strbuf_adds(out, is_length ? " of length " : " | ");
		add_piece(value, &value->pieces[i], regs, out);
	}
}
