/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A prologue made from any bytes: they are read as arguments with fetch
 * programs, registers and memory. What the prologue's instructions hand to the
 * program is compared with what the fetch programs say, computed here in the
 * plainest way: bit by bit.
 */
#ifndef PROLOGUE_CASE_H
#define PROLOGUE_CASE_H

#include <elf.h>
#include <stdlib.h>

#include "bpf_machine.h"
#include "lib/base/util.h"
#include "probe/prologue/prologue.h"
#include "tests/probe/fetch_ops.h"

enum {
	CASE_VALUES = 5,
	CASE_PIECES = 3,
	CASE_INSNS = 24,
	CASE_MEMORY = 1024,
	CASE_STRUCT = 256,
};
#define CASE_BASE    0x7f0000001000ull
#define CASE_ADDRESS 0x4010ull /* of the point in its image */
#define CASE_BIAS    0xffffffff12000000ull

struct prologue_case {
	const uint8_t *at, *end; /* what is left of the bytes */
	bool only_valid;

	uint8_t mem[CASE_MEMORY];
	uint64_t regs[34]; /* arm64 has the most */
	uint64_t args[13]; /* of a typed context */
	struct fetch_value values[CASE_VALUES];
	struct fetch_piece pieces[CASE_VALUES][CASE_PIECES];
	struct fetch_insn insns[CASE_VALUES][CASE_PIECES][CASE_INSNS];
	size_t n;
	struct prologue_way way;
	struct prologue_shape shape;
	struct prologue_member members[CASE_VALUES];
	uint64_t counters[4];

	struct prologue built;
	char why[300];
};

static inline uint32_t case_byte(struct prologue_case *c)
{
	return c->at < c->end ? *c->at++ : 0;
}

static inline uint32_t case_pick(struct prologue_case *c, uint32_t n)
{
	return case_byte(c) % n;
}

static inline uint64_t case_word(struct prologue_case *c)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | case_byte(c);
	return v;
}

/* A number as programs have them: small, at an edge, an address, or any. */
static inline uint64_t case_number(struct prologue_case *c)
{
	static const uint64_t edges[] = {0,	     1,		 ~0ull,	    INT32_MAX, INT32_MIN,
					 1ull << 31, 1ull << 63, INT64_MAX, 63,	       64};

	switch (case_pick(c, 8)) {
	case 0:
		return case_word(c);
	case 1:
		return edges[case_pick(c, ARRAY_SIZE(edges))];
	case 2:
		return (uint64_t)(int64_t)(int8_t)case_byte(c);
	default:
		return CASE_BASE + (case_byte(c) << 8 | case_byte(c)) % CASE_MEMORY;
	}
}

static inline void case_world(struct prologue_case *c)
{
	uint64_t seed = case_word(c);

	for (size_t i = 0; i < CASE_MEMORY; i += 8) {
		uint64_t v = seed = seed * 6364136223846793005ull + 1442695040888963407ull;

		if (v >> 61 < 4) /* half of it are pointers into it */
			v = CASE_BASE + ((v >> 16) % CASE_MEMORY & (v >> 62 ? ~0ull : ~7ull));
		else if (v >> 61 == 4)
			v &= 0x00ff00ffff000000ull;
		memcpy(&c->mem[i], &v, 8);
	}
	for (size_t i = 0; i < ARRAY_SIZE(c->regs); i++)
		c->regs[i] = case_number(c);
	for (size_t i = 0; i < ARRAY_SIZE(c->args); i++)
		c->args[i] = case_number(c);
}

static inline void case_insn(struct prologue_case *c, struct fetch_insn *insn, size_t *depth)
{
	static const uint8_t sizes[] = {0, 1, 2, 4, 8, 8, 8, 8};
	static const enum fetch_op pushes[] = {FETCH_CONST, FETCH_REG,	  FETCH_PARAM,
					       FETCH_REG,   FETCH_RETVAL, FETCH_STATIC};
	const bool typed = c->way.context == PROLOGUE_TYPED;
	uint32_t kind = case_pick(c, 8);

	*insn = (struct fetch_insn){0};
	if (!*depth || (kind < 2 && *depth < FETCH_MAX_DEPTH)) {
		insn->op = pushes[case_pick(c, ARRAY_SIZE(pushes))];
		if (typed && insn->op == FETCH_REG)
			insn->op = FETCH_PARAM;
		insn->reg = (uint16_t)case_pick(c, typed		     ? c->way.n_params
						   : insn->op == FETCH_PARAM ? 12
									     : 6);
		insn->imm =
			(int64_t)(insn->op == FETCH_CONST || case_pick(c, 4) ? case_number(c) : 0);
		insn->typed = typed && insn->op == FETCH_PARAM && case_pick(c, 4);
		(*depth)++;
	} else if (kind < 4) {
		insn->op = FETCH_DEREF;
		insn->size = sizes[case_pick(c, ARRAY_SIZE(sizes))];
		insn->user = case_pick(c, 2);
		insn->imm = (int8_t)case_byte(c);
		if (!case_pick(c, 16))
			insn->imm = (int64_t)case_number(c);
		insn->typed = typed && !insn->user && case_pick(c, 4);
	} else if (kind == 4 && *depth < FETCH_MAX_DEPTH) {
		insn->op = case_pick(c, 2) ? FETCH_DUP : FETCH_PICK;
		insn->imm = case_pick(c, (uint32_t)*depth);
		(*depth)++;
	} else if (*depth >= 2) {
		insn->op = FETCH_PLUS + case_pick(c, FETCH_GE - FETCH_PLUS + 1);
		if (insn->op != FETCH_NEG && insn->op != FETCH_NOT)
			(*depth)--;
		if (!case_pick(c, 6)) {
			*depth += insn->op != FETCH_NEG && insn->op != FETCH_NOT;
			insn->op = *depth >= 3 && case_pick(c, 2) ? FETCH_ROT : FETCH_SWAP;
		}
	} else {
		insn->op = case_pick(c, 8) ? FETCH_SEXT : FETCH_ENTRY;
		insn->size = insn->op == FETCH_SEXT ? sizes[1 + case_pick(c, 4)] : 0;
		insn->reg = insn->op == FETCH_SEXT ? 0 : (uint16_t)case_pick(c, FETCH_ENTRY_REGS);
		insn->imm = insn->op == FETCH_SEXT ? 0 : (int64_t)case_number(c);
	}
	if (c->only_valid)
		return;
	/* Now and then something that is none. */
	switch (case_pick(c, 200)) {
	case 1:
		insn->op = case_byte(c) % 64;
		break;
	case 2:
		insn->size = (uint8_t)case_byte(c);
		break;
	case 3:
		insn->reg = (uint16_t)case_byte(c);
		break;
	}
}

/* A walk from one typed pointer to the next, as the finder has it. */
static inline void case_walk(struct prologue_case *c, struct fetch_piece *piece,
			     struct fetch_insn *insns)
{
	static const uint8_t sizes[] = {1, 2, 4, 8};
	const uint16_t reg = (uint16_t)case_pick(c, c->way.n_params);

	piece->n_insns = 1 + case_pick(c, 5);
	insns[0] = (struct fetch_insn){.op = FETCH_PARAM, .reg = reg, .typed = true};
	c->args[reg] = CASE_BASE + 8 * case_pick(c, CASE_MEMORY / 8);
	for (size_t i = 1; i < piece->n_insns; i++) {
		insns[i] = (struct fetch_insn){
			.op = FETCH_DEREF, .size = 8, .typed = true, .imm = 8 * case_pick(c, 8)};
		/* what is no such walk any more */
		switch (case_pick(c, 12)) {
		case 1:
			insns[i].size = sizes[case_pick(c, ARRAY_SIZE(sizes))];
			break;
		case 2:
			insns[i].imm += 0x10000;
			break;
		case 3:
			insns[i].user = true;
			break;
		}
	}
	if (piece->n_insns > 1)
		insns[piece->n_insns - 1].size = sizes[case_pick(c, ARRAY_SIZE(sizes))];
}

static inline void case_piece(struct prologue_case *c, struct fetch_piece *piece,
			      struct fetch_insn *insns, bool must_be_address)
{
	size_t depth = 0;

	piece->insns = insns;
	piece->n_insns = 1 + case_pick(c, 3 + case_pick(c, CASE_INSNS - 3));
	for (size_t i = 0; i < piece->n_insns; i++)
		case_insn(c, &insns[i], &depth);
	if (c->way.context == PROLOGUE_TYPED && !case_pick(c, 4))
		case_walk(c, piece, insns);
	piece->gives = must_be_address || case_pick(c, 2) ? FETCH_ADDRESS : FETCH_VALUE;
	if (!must_be_address && !case_pick(c, 40))
		piece->gives = FETCH_NOTHING;
	piece->user = case_pick(c, 2);
	if (!c->only_valid && !case_pick(c, 100))
		piece->bit_offset = case_byte(c) * 3;
}

/* A number of one piece, which may be a bit field. */
static inline void case_single(struct prologue_case *c, struct fetch_value *v)
{
	static const uint8_t sizes[] = {1, 2, 4, 8, 8, 3, 5, 7};

	v->size = sizes[case_pick(c, ARRAY_SIZE(sizes))];
	case_piece(c, v->pieces, v->pieces->insns, false);
	if (case_pick(c, 3)) {
		v->pieces->bit_size = v->size * 8;
		return;
	}
	v->bit_size = 1 + case_pick(c, 64);
	v->size = (v->bit_size + 7) / 8;
	v->pieces->bit_size = v->bit_size;
	v->pieces->bit_offset =
		v->pieces->gives == FETCH_VALUE ? case_pick(c, 65 - v->bit_size) : case_byte(c);
}

static inline void case_several(struct prologue_case *c, struct fetch_value *v, bool whole_bytes)
{
	uint32_t bits = 0;

	v->n_pieces = 2 + case_pick(c, CASE_PIECES - 1);
	for (size_t i = 0; i < v->n_pieces; i++) {
		struct fetch_piece *piece = &v->pieces[i];
		const uint32_t room = 64 / (uint32_t)v->n_pieces;

		case_piece(c, piece, piece->insns, false);
		piece->bit_size =
			whole_bytes ? 8 * (1 + case_pick(c, piece->gives == FETCH_ADDRESS ? 20 : 8))
				    : 1 + case_pick(c, room);
		if (!whole_bytes)
			piece->bit_offset = case_pick(c, 65 - piece->bit_size);
		else if (piece->gives == FETCH_ADDRESS)
			piece->bit_offset = 8 * case_pick(c, 4);
		bits += piece->bit_size;
	}
	if (whole_bytes)
		v->size = bits / 8;
	else
		v->bit_size = bits, v->size = (bits + 7) / 8;
}

static inline void case_value(struct prologue_case *c, size_t i)
{
	static char names[CASE_VALUES][2] = {"a", "b", "c", "d", "e"};
	static char obstacle[] = "optimized out";
	struct fetch_value *v = &c->values[i];

	v->name = names[i];
	v->pieces = c->pieces[i];
	v->n_pieces = 1;
	for (size_t k = 0; k < CASE_PIECES; k++)
		v->pieces[k].insns = c->insns[i][k];
	v->kind = case_pick(c, FETCH_ENUM + 1);
	switch (case_pick(c, c->shape.in_struct ? 6 : 3)) {
	case 0:
		case_several(c, v, false);
		break;
	case 3: /* an array or struct in memory */
		v->kind = FETCH_BYTES;
		v->size = 9 + case_pick(c, 40);
		case_piece(c, v->pieces, v->pieces->insns, true);
		v->pieces->bit_size = v->size * 8;
		break;
	case 4:
		v->kind = FETCH_STRING;
		v->size = case_pick(c, 2) ? 1 + case_pick(c, 24) : 0;
		if (!case_pick(c, 8)) {
			v->pieces->n_insns = 1;
			v->pieces->insns[0] = (struct fetch_insn){.op = FETCH_COMM};
			v->pieces->gives = FETCH_ADDRESS;
		} else {
			case_piece(c, v->pieces, v->pieces->insns, true);
		}
		break;
	case 5:
		v->kind = FETCH_BYTES;
		case_several(c, v, true);
		break;
	default:
		case_single(c, v);
	}
	if (!case_pick(c, 50))
		v->obstacle = obstacle;
}

static inline void case_shape(struct prologue_case *c)
{
	uint32_t at = 16; /* err, err_mask */

	c->shape.err_offset = 0;
	c->shape.err_mask_offset = 8;
	c->shape.ip_offset = -1;
	c->shape.members = c->members;
	for (size_t i = 0; i < c->n; i++) {
		struct prologue_member *m = &c->members[i];

		if (c->shape.in_struct)
			m->size = c->values[i].size && case_pick(c, 2) ? c->values[i].size
								       : 1 + case_pick(c, 40);
		else
			m->size = 1u << case_pick(c, 4);
		at += case_pick(c, 9);
		m->offset = at;
		at += m->size;
	}
	c->shape.size = min_of(at, (uint32_t)CASE_STRUCT);
}

static inline void case_make(struct prologue_case *c)
{
	struct prologue_way *way = &c->way;

	case_world(c);
	way->context = case_pick(c, 3) ? PROLOGUE_PT_REGS : PROLOGUE_TYPED;
	way->regs = regs_of(case_pick(c, 2) ? EM_X86_64 : EM_AARCH64);
	way->user = case_pick(c, 2) && way->context == PROLOGUE_PT_REGS;
	way->at_return = case_pick(c, 2);
	way->sleepable = !case_pick(c, 4);
	way->keeps_return = case_pick(c, 2);
	way->n_params = (uint16_t)(1 + case_pick(c, 8));
	way->has_func_arg = case_pick(c, 2);
	way->direct = case_byte(c);
	way->has_func_ip = true;
	way->address = CASE_ADDRESS;
	way->bias = CASE_BIAS;
	way->counter = (struct prologue_counter){
		.wanted = case_pick(c, 2),
		.map_fd = 77,
		.by_cookie = case_pick(c, 2),
		.index = case_pick(c, 5),
	};
	way->entries = 78;
	c->shape.in_struct = case_pick(c, 2);
	c->n = 1 + case_pick(c, c->shape.in_struct ? CASE_VALUES : 3);
	for (size_t i = 0; i < c->n; i++)
		case_value(c, i);
	case_shape(c);
}

/* ---- what the fetch programs say ---- */

#define CASE_FUNC_IP (CASE_ADDRESS + 0x555500000000ull)

static inline uint64_t case_reg(const struct prologue_case *c, uint16_t reg)
{
	uint16_t off = 0;

	regs_offset(c->way.regs, reg, &off);
	return *(const uint64_t *)((const uint8_t *)c->regs + off);
}

static inline bool case_read(const struct prologue_case *c, uint64_t at, uint64_t n, void *to)
{
	if (at < CASE_BASE || at - CASE_BASE > CASE_MEMORY || n > CASE_MEMORY - (at - CASE_BASE))
		return false;
	memcpy(to, &c->mem[at - CASE_BASE], n);
	return true;
}

static inline uint64_t case_push(const struct prologue_case *c, const struct fetch_insn *insn,
				 bool *fault)
{
	const bool typed = c->way.context == PROLOGUE_TYPED;
	const uint64_t imm = (uint64_t)insn->imm;
	uint64_t at, word = 0;
	uint16_t reg = 0;

	switch (insn->op) {
	case FETCH_CONST:
		return imm;
	case FETCH_REG:
		return case_reg(c, insn->reg) + imm;
	case FETCH_PARAM:
		if (typed)
			return c->args[insn->reg];
		if (regs_param(c->way.regs, insn->reg, &reg))
			return case_reg(c, reg);
		/* the seventh, or on arm64 the ninth */
		at = case_reg(c, regs_stack(c->way.regs));
		at += regs_stack(c->way.regs) == 31 ? (insn->reg - 8) * 8 : (insn->reg - 5) * 8;
		*fault = !case_read(c, at, 8, &word);
		return word;
	case FETCH_RETVAL:
		return typed ? c->args[c->way.n_params] : case_reg(c, regs_retval(c->way.regs));
	default: /* FETCH_STATIC */
		if (!c->way.user)
			return imm + CASE_BIAS;
		if (c->way.at_return)
			return imm + 0x555500000000ull;
		return imm + case_reg(c, regs_ip(c->way.regs)) - CASE_ADDRESS;
	}
}

/* How many entries there must be. */
static inline size_t case_takes(const struct fetch_insn *insn)
{
	if (insn->op <= FETCH_COMM)
		return 0;
	switch (insn->op) {
	case FETCH_PICK:
		return (uint64_t)insn->imm < FETCH_MAX_DEPTH ? (size_t)insn->imm + 1 : 64;
	case FETCH_ROT:
		return 3;
	case FETCH_DEREF:
	case FETCH_SEXT:
		return insn->size <= 8 ? 1 : 64;
	case FETCH_NEG:
	case FETCH_NOT:
	case FETCH_DUP:
	case FETCH_DROP:
	case FETCH_ENTRY:
		return 1;
	default:
		return 2;
	}
}

static inline int case_eval(const struct prologue_case *c, const struct fetch_piece *piece,
			    uint64_t *result)
{
	uint64_t s[64] = {0}, t;
	size_t d = 0;
	bool fault;
	int err;

	for (size_t i = 0; i < piece->n_insns; i++) {
		const struct fetch_insn *insn = &piece->insns[i];

		/* What follows a sure failure was not looked at. */
		if (d < case_takes(insn) || d > FETCH_MAX_DEPTH)
			return EDOM;
		switch (insn->op) {
		case FETCH_TLS:
		case FETCH_COMM:
			return EDOM;
		case FETCH_CONST:
		case FETCH_REG:
		case FETCH_PARAM:
		case FETCH_RETVAL:
		case FETCH_STATIC:
			fault = false;
			s[d++] = case_push(c, insn, &fault);
			if (fault)
				return EFAULT;
			break;
		case FETCH_DEREF:
			t = s[d - 1] + (uint64_t)insn->imm;
			s[d - 1] = insn->size ? 0 : t;
			if (!case_read(c, t, insn->size, &s[d - 1]) && insn->size)
				return EFAULT;
			break;
		case FETCH_SEXT:
			if (s[d - 1] >> (insn->size * 8 - 1) & 1)
				s[d - 1] |= insn->size == 8 ? 0 : ~0ull << insn->size * 8;
			else if (insn->size < 8)
				s[d - 1] &= (1ull << insn->size * 8) - 1;
			break;
		case FETCH_ENTRY:
			if (s[d - 1] & 1)
				return ENOENT;
			s[d - 1] = machine_entry((uint32_t)insn->imm, s[d - 1], insn->reg);
			break;
		case FETCH_NEG:
			s[d - 1] = -s[d - 1];
			break;
		case FETCH_NOT:
			s[d - 1] = ~s[d - 1];
			break;
		case FETCH_DUP:
			s[d] = s[d - 1];
			d++;
			break;
		case FETCH_PICK:
			s[d] = s[d - 1 - (size_t)insn->imm];
			d++;
			break;
		case FETCH_DROP:
			d--;
			break;
		case FETCH_SWAP:
			t = s[d - 1];
			s[d - 1] = s[d - 2];
			s[d - 2] = t;
			break;
		case FETCH_ROT:
			t = s[d - 1];
			s[d - 1] = s[d - 2];
			s[d - 2] = s[d - 3];
			s[d - 3] = t;
			break;
		default:
			err = fetch_binary(insn->op, s[d - 2], s[d - 1], &t);
			if (err)
				return err;
			s[--d - 1] = t;
		}
	}
	*result = s[d - 1];
	return 0;
}

/* Bits of a piece, from its first on, to out at bit `to`. */
static inline int case_bits(const struct prologue_case *c, const struct fetch_piece *piece,
			    uint32_t bits, uint8_t *out, uint32_t to)
{
	uint8_t source[64] = {0};
	uint64_t top;
	const uint32_t first = piece->bit_offset / 8, from = piece->bit_offset % 8;
	int err = case_eval(c, piece, &top);

	if (err)
		return err;
	if (piece->gives == FETCH_VALUE)
		memcpy(source, &top, 8);
	else if (!case_read(c, top + first, (from + bits + 7) / 8, source))
		return EFAULT;
	for (uint32_t i = 0; i < bits; i++) {
		const uint32_t bit = piece->gives == FETCH_VALUE ? piece->bit_offset + i : from + i;

		if (source[bit / 8] >> bit % 8 & 1)
			out[(to + i) / 8] |= (uint8_t)(1 << (to + i) % 8);
	}
	return 0;
}

static inline int case_string(const struct prologue_case *c, const struct fetch_value *v,
			      uint32_t room, uint8_t *out)
{
	uint64_t top;
	int err;

	room = v->size ? min_of(v->size, room) : room;
	if (v->pieces->insns[0].op == FETCH_COMM) {
		memcpy(out, "fifteen-letters", min_of(room, 16u) - 1);
		return 0;
	}
	err = case_eval(c, v->pieces, &top);
	if (err)
		return err;
	top += v->pieces->bit_offset / 8;
	/* Only to page it in: its bytes, wherever it ends. */
	if (c->way.sleepable && (c->way.user || v->pieces->user))
		return case_read(c, top, room, out) ? 0 : EFAULT;
	for (uint32_t i = 0; i < room; i++) {
		if (!case_read(c, top + i, 1, &out[i]) && (i < room - 1 || room == 1)) {
			memset(out, 0, room);
			return EFAULT;
		}
		if (!out[i])
			break;
	}
	out[room - 1] = 0;
	return 0;
}

/* What must stand in the value's member; out is 0. 0, or the errno. */
static inline int case_expect(const struct prologue_case *c, size_t i, uint8_t *out)
{
	const struct fetch_value *v = &c->values[i];
	const uint32_t room = c->members[i].size;
	const uint32_t bits = v->bit_size ? v->bit_size : v->size * 8;
	uint8_t all[512] = {0};
	uint32_t at = 0;

	if (v->obstacle)
		return ENODATA;
	for (size_t k = 0; k < v->n_pieces; k++)
		if (v->pieces[k].gives == FETCH_NOTHING)
			return ENODATA;
	if (v->kind == FETCH_STRING)
		return case_string(c, v, room, out);
	const bool copied = !v->bit_size && v->size > 8;
	for (size_t k = 0; k < v->n_pieces && at < bits; k++) {
		const struct fetch_piece *piece = &v->pieces[k];
		uint32_t want = min_of(piece->bit_size, bits - at);
		uint32_t have = want;

		/* Memory that there is no room for is not read. */
		if (copied)
			have = at / 8 < room ? min_of(want, room * 8 - at) : 0;
		if (copied && (piece->gives == FETCH_VALUE || piece->bit_offset % 8) && have)
			have = want;
		const int err = have ? case_bits(c, piece, have, all, at) : 0;
		if (err)
			return err;
		at += want;
	}
	if (copied) {
		memcpy(out, all, min_of(room, v->size));
		return 0;
	}
	if (v->kind == FETCH_INT && (all[(bits - 1) / 8] >> (bits - 1) % 8 & 1))
		for (uint32_t b = bits; b < 64; b++)
			all[b / 8] |= (uint8_t)(1 << b % 8);
	memcpy(out, all, min_of(room, 8u));
	if (!c->shape.in_struct && v->kind == FETCH_INT && out[room - 1] & 0x80)
		memset(out + room, 0xff, 8 - room);
	return 0;
}

#define CASE_FAIL(c, ...)                                                                          \
	do {                                                                                       \
		snprintf((c)->why, sizeof((c)->why), __VA_ARGS__);                                 \
		return false;                                                                      \
	} while (0)

static inline bool case_compare(struct prologue_case *c, const struct machine *m)
{
	const uint8_t *args = (const uint8_t *)(uintptr_t)m->r[2];
	const bool in_struct = c->shape.in_struct;
	uint64_t failed = 0, mask = 0;
	int err = 0;

	if (in_struct)
		args = m->frame + (m->r[2] - (uint64_t)(uintptr_t)m->stack);
	for (size_t i = 0; i < c->n; i++) {
		uint8_t want[600] = {0};
		const int code = case_expect(c, i, want);
		const uint8_t *got =
			in_struct ? args + c->members[i].offset : (const uint8_t *)&m->r[3 + i];

		failed |= (uint64_t)(code != 0) << i;
		if (code)
			memset(want, 0, sizeof(want));
		if (memcmp(want, got, in_struct ? c->members[i].size : 8))
			CASE_FAIL(c, "value %zu (errno %d) is %016llx, not %016llx", i, code,
				  (unsigned long long)*(const uint64_t *)got,
				  (unsigned long long)*(const uint64_t *)want);
	}
	if (in_struct) {
		memcpy(&err, args, 4);
		memcpy(&mask, args + 8, 8);
		if (mask != failed)
			CASE_FAIL(c, "failed are %#llx, not %#llx", (unsigned long long)mask,
				  (unsigned long long)failed);
	} else {
		err = (int)m->r[2];
	}
	if (failed ? err != -EFAULT && err != -EDOM && err != -ENODATA && err != -ENOENT : err != 0)
		CASE_FAIL(c, "err is %d, and %#llx failed", err, (unsigned long long)failed);
	return true;
}

/* true: it was built, and does what it must; *built false: it was refused. */
static inline bool case_run(struct prologue_case *c, bool *built)
{
	struct machine m = {.ctx = c->regs, .ctx_size = sizeof(c->regs)};

	case_make(c);
	struct error *err = prologue_build(c->values, c->n, &c->way, &c->shape, &c->built);
	*built = !err;
	if (err) {
		snprintf(c->why, sizeof(c->why), "%d: %s", err->code, err->msg);
		const bool known =
			err->code == E2BIG || err->code == EINVAL || err->code == EOPNOTSUPP;
		error_free(err);
		return known;
	}
	if (c->way.context == PROLOGUE_TYPED) {
		m.ctx = c->args;
		m.ctx_size = sizeof(c->args);
	}
	m.insns = c->built.insns;
	m.n = c->built.n;
	m.base = CASE_BASE;
	m.mem = c->mem;
	m.mem_size = CASE_MEMORY;
	m.mem_is_user = c->way.user;
	m.func_ip = CASE_FUNC_IP;
	m.cookie = 2;
	m.counters = c->counters;
	m.n_counters = ARRAY_SIZE(c->counters);
	m.args = c->args;
	m.n_args = c->way.n_params;
	m.retval = c->args[c->way.n_params];
	m.program_returns = 5;
	if (!machine_run(&m))
		CASE_FAIL(c, "it would be refused: %s", m.why);
	if (!m.called || m.r[1] != (uint64_t)(uintptr_t)m.ctx)
		CASE_FAIL(c, "the program was not called with its context");
	const bool returns = c->way.keeps_return && c->way.context == PROLOGUE_PT_REGS;
	if (m.returned != (returns ? 5 : 0))
		CASE_FAIL(c, "it returns %llu", (unsigned long long)m.returned);
	const struct prologue_counter *counter = &c->way.counter;
	const uint32_t index = counter->by_cookie ? 2 : counter->index;
	for (uint32_t i = 0; i < 4; i++)
		if (c->counters[i] != (counter->wanted && i == index))
			CASE_FAIL(c, "counter %u is %llu", i, (unsigned long long)c->counters[i]);
	return case_compare(c, &m);
}

#endif
