// SPDX-License-Identifier: BSD-2-Clause
/*
 * A value: its pieces put together, as wide as its kind says, at its place in
 * the frame. Bit fields, strings, and structs that are copied.
 */
#include "probe/prologue/internal.h"

#include <errno.h>

enum {
	MAX_PROLOGUE = 65536, /* instructions */
};

/* dst = bits of the memory at entry 0, from bit_offset on; at most 64. */
static void read_bits(struct prologue_gen *g, int dst, const struct fetch_piece *piece,
		      uint32_t bits)
{
	const uint32_t first = piece->bit_offset / 8, shift = piece->bit_offset % 8;
	const uint32_t n = (shift + bits + 7) / 8;

	emit_mov(g, R3, entry_read(g, 0, R3));
	emit_add(g, R3, first, R2);
	if (n <= 8) {
		emit_read_number(g, dst, n, piece->user);
		if (shift)
			emit_alu_imm(g, BPF_RSH, dst, (int32_t)shift);
		return;
	}
	/* Nine bytes: the last has what the first eight lack. entry 1 is free. */
	emit_read_number(g, ENTRY1, 8, piece->user);
	emit_alu_imm(g, BPF_RSH, ENTRY1, (int32_t)shift);
	emit_mov(g, R3, entry_read(g, 0, R3));
	emit_add(g, R3, (int64_t)first + 8, R2);
	emit_read_number(g, R1, 1, piece->user);
	emit_alu_imm(g, BPF_LSH, R1, 64 - (int32_t)shift);
	emit_alu(g, BPF_OR, R1, ENTRY1);
	emit_mov(g, dst, R1);
}

/* r1 = the piece's bits, and zeros above. */
static struct error *piece_number(struct prologue_gen *g, const struct fetch_piece *piece,
				  uint32_t bits)
{
	TRY(stack_run(g, piece));
	if (g->failed)
		return NULL;
	if (piece->gives == FETCH_ADDRESS) {
		read_bits(g, R1, piece, bits);
	} else {
		if (piece->bit_offset >= 64)
			return error_new(EINVAL, "it begins at bit %u of a register",
					 piece->bit_offset);
		emit_mov(g, R1, entry_read(g, 0, R1));
		if (piece->bit_offset)
			emit_alu_imm(g, BPF_RSH, R1, (int32_t)piece->bit_offset);
	}
	if (bits < 64)
		emit_extend(g, R1, 64 - (int32_t)bits, BPF_RSH);
	return NULL;
}

static uint32_t value_bits(const struct fetch_value *value)
{
	return value->bit_size ? value->bit_size : value->size * 8;
}

/* r1 = a value of at most 64 bits, as wide as its kind says. */
static struct error *number(struct prologue_gen *g, const struct fetch_value *value)
{
	const uint32_t bits = value_bits(value);
	uint32_t at = 0;

	if (value->n_pieces > 1)
		emit_store_imm(g, g->sum, 0, 8);
	for (size_t i = 0; i < value->n_pieces && at < bits && !g->failed; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		uint32_t want = piece->bit_size ? piece->bit_size : bits - at;

		want = min_of(want, bits - at);
		TRY(piece_number(g, piece, want));
		if (value->n_pieces > 1) {
			if (at)
				emit_alu_imm(g, BPF_LSH, R1, (int32_t)at);
			emit_load(g, R2, FP, g->sum, 8);
			emit_alu(g, BPF_OR, R1, R2);
			emit_store(g, g->sum, R1, 8);
		}
		at += want;
	}
	if (at < bits && !g->failed)
		return error_new(EINVAL, "its pieces have only %u of %u bits", at, bits);
	if (value->kind == FETCH_INT && bits < 64)
		emit_extend(g, R1, 64 - (int32_t)bits, BPF_ARSH);
	return NULL;
}

/* A value that is copied as it is, into n bytes at a place of the frame. */
static struct error *copy(struct prologue_gen *g, const struct fetch_value *value, int32_t to,
			  uint32_t n)
{
	const uint32_t bits = value->size * 8;
	uint32_t at = 0;

	for (size_t i = 0; i < value->n_pieces && at < bits && !g->failed; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		uint32_t want = piece->bit_size && value->n_pieces > 1 ? piece->bit_size : bits;

		want = min_of(want, bits - at);
		if (at % 8 || want % 8)
			return error_new(EOPNOTSUPP, "a piece of it begins within a byte");
		/* what the member has no room for is not read */
		const uint32_t have = at / 8 < n ? min_of(want / 8, n - at / 8) : 0;
		if (have && piece->gives == FETCH_ADDRESS && !(piece->bit_offset % 8)) {
			TRY(stack_run(g, piece));
			if (g->failed)
				break;
			emit_mov(g, R3, entry_read(g, 0, R3));
			emit_add(g, R3, piece->bit_offset / 8, R2);
			emit_read(g, to + (int32_t)at / 8, have, piece->user);
		} else if (have) {
			if (want > 64)
				return error_new(EINVAL, "a piece of it has %u bits in a register",
						 want);
			TRY(piece_number(g, piece, want));
			emit_bytes(g, to + (int32_t)at / 8, have, R1);
		}
		at += want;
	}
	if (at < bits && !g->failed)
		return error_new(EINVAL, "its pieces have only %u of %u bits", at, bits);
	return NULL;
}

static bool is_comm(const struct fetch_value *value)
{
	return value->n_pieces == 1 && value->pieces[0].n_insns == 1 &&
	       value->pieces[0].insns[0].op == FETCH_COMM;
}

/* r0 = what the helper says of the string at entry 0. */
static void read_string(struct prologue_gen *g, const struct fetch_piece *piece, int32_t to,
			uint32_t n, int32_t helper)
{
	emit_mov(g, R3, entry_read(g, 0, R3));
	emit_add(g, R3, piece->bit_offset / 8, R2);
	emit_stack_address(g, R1, to);
	emit_alu_imm(g, BPF_MOV, R2, (int32_t)n);
	emit_call(g, helper);
}

/*
 * r0 is the length of the string that was read, with its 0. What has more than n - 4 characters
 * ends in "...": so a mark is always true, and needs no second look at the string.
 */
static void mark_cut(struct prologue_gen *g, int32_t to, uint32_t n)
{
	const size_t over = emit_jump(g, BPF_JSLE, R0, (int32_t)n - 3);

	for (uint32_t i = 0; i < 3; i++)
		emit_store_imm(g, to + (int32_t)(n - 4 + i), '.', 1);
	emit_store_imm(g, to + (int32_t)n - 1, 0, 1);
	emit_land(g, over);
}

/* r2 = the length that is kept, but what the member has room for at most */
static void load_length(struct prologue_gen *g, uint32_t n)
{
	emit_load(g, R2, FP, g->sum, 8);
	const size_t fits = emit_jump(g, BPF_JLE, R2, (int32_t)n - 1);
	emit_alu_imm(g, BPF_MOV, R2, (int32_t)n - 1);
	emit_land(g, fits);
}

/* A string whose length a second piece gives; what follows it in the member is 0 already. */
static struct error *counted_string(struct prologue_gen *g, const struct fetch_value *value,
				    int32_t to, uint32_t n)
{
	const struct fetch_piece *piece = &value->pieces[0];

	TRY(piece_number(g, &value->pieces[1], 64));
	if (g->failed)
		return NULL;
	emit_store(g, g->sum, R1, 8);
	TRY(stack_run(g, piece));
	if (g->failed)
		return NULL;
	emit_mov(g, R3, entry_read(g, 0, R3));
	emit_add(g, R3, piece->bit_offset / 8, R2);
	load_length(g, n);
	/* An empty one may point to nothing. */
	const size_t empty = emit_jump(g, BPF_JEQ, R2, 0);
	emit_stack_address(g, R1, to);
	emit_call(g, !is_user_memory(g, piece->user) ? BPF_FUNC_probe_read_kernel
		     : g->way->sleepable	     ? BPF_FUNC_copy_from_user
						     : BPF_FUNC_probe_read_user);
	emit_fail_if(g, BPF_JNE, 0);
	if (g->shape->marks_cut && n > 4) {
		emit_load(g, R2, FP, g->sum, 8);
		const size_t whole = emit_jump(g, BPF_JLE, R2, (int32_t)n - 1);
		for (uint32_t i = 0; i < 3; i++)
			emit_store_imm(g, to + (int32_t)(n - 4 + i), '.', 1);
		emit_land(g, whole);
	}
	emit_land(g, empty);
	return NULL;
}

static struct error *string(struct prologue_gen *g, const struct fetch_value *value, int32_t to,
			    uint32_t n)
{
	/* The characters of an array end with it. */
	const bool may_be_cut = !value->size || value->size > n;

	if (is_comm(value)) {
		emit_stack_address(g, R1, to);
		emit_alu_imm(g, BPF_MOV, R2, (int32_t)min_of(n, 16u));
		emit_call(g, BPF_FUNC_get_current_comm);
		emit_fail_if(g, BPF_JNE, 0);
		return NULL;
	}
	if (value->n_pieces == 2 && value->pieces[0].gives == FETCH_ADDRESS &&
	    value->pieces[1].gives == FETCH_VALUE)
		return counted_string(g, value, to, n);
	if (value->n_pieces != 1 || value->pieces[0].gives != FETCH_ADDRESS)
		return error_new(EINVAL, "a string must be at one address");
	const struct fetch_piece *piece = &value->pieces[0];
	TRY(stack_run(g, piece));
	if (g->failed)
		return NULL;
	if (!is_user_memory(g, piece->user)) {
		read_string(g, piece, to, n, BPF_FUNC_probe_read_kernel_str);
		/* A pointer of a system call is the process's, and its type does not say so. */
		const size_t over = emit_jump(g, BPF_JSGE, R0, 0);
		read_string(g, piece, to, n, BPF_FUNC_probe_read_user_str);
		emit_land(g, over);
	} else if (g->way->sleepable) {
		/* Up to n there may be less mapped: nobody looks at what was read. */
		read_string(g, piece, to, n, BPF_FUNC_copy_from_user);
	} else {
		read_string(g, piece, to, n, BPF_FUNC_probe_read_user_str);
	}
	emit_fail_if(g, BPF_JSLT, 0);
	if (g->shape->marks_cut && may_be_cut && n > 4)
		mark_cut(g, to, n);
	return NULL;
}

/* A string, or what is larger than a register: it is read to where it belongs. */
static bool is_copied(const struct fetch_value *value)
{
	return value->kind == FETCH_STRING || (!value->bit_size && value->size > 8);
}

static struct error *fetch(struct prologue_gen *g, const struct fetch_value *value,
			   const struct prologue_member *member)
{
	const int32_t to = g->args + (int32_t)member->offset;

	if (value->obstacle) {
		g->failed = ENODATA;
		return NULL;
	}
	for (size_t i = 0; i < value->n_pieces; i++)
		if (value->pieces[i].gives == FETCH_NOTHING)
			g->failed = ENODATA;
	if (g->failed)
		return NULL;
	if (is_copied(value) && !g->shape->in_struct)
		return error_hint(
			error_new(E2BIG, "it does not fit into a register"),
			"pass a struct to the program: int prog(void *ctx, struct NAME *args)");
	if (value->kind == FETCH_STRING) {
		const uint32_t n = value->size ? min_of(value->size, member->size) : member->size;

		return string(g, value, to, n);
	}
	if (!value_bits(value) || value->bit_size > 64)
		return error_new(EINVAL, "it has no size");
	if (is_copied(value))
		return copy(g, value, to, min_of(member->size, value->size));
	TRY(number(g, value));
	if (g->failed)
		return NULL;
	if (g->shape->in_struct) {
		emit_bytes(g, to, min_of(member->size, 8u), R1);
		return NULL;
	}
	/* As who calls a function extends an argument to a register. */
	if (member->size < 8)
		emit_extend(g, R1, 64 - (int32_t)member->size * 8,
			    value->kind == FETCH_INT ? BPF_ARSH : BPF_RSH);
	emit_store(g, to, R1, 8);
	return NULL;
}

/*
 * The errno is in r0, or known. The mask is changed by the byte: before 6.8, what
 * the verifier knows of a whole word on this stack is lost when the program looks
 * at it through its pointer. It took masks with different bits for the same, and
 * removed the program's code for those that it had not seen.
 */
static void note_failure(struct prologue_gen *g, size_t i)
{
	const int32_t mask = g->shape->err_mask_offset;

	if (g->failed)
		emit_alu_imm(g, BPF_MOV, ERR, -g->failed);
	else
		emit_mov(g, ERR, R0);
	if (!g->shape->in_struct || mask < 0 || i >= 64)
		return;
	const int32_t byte = g->args + mask + (int32_t)(i / 8);
	emit_load(g, R1, FP, byte, 1);
	emit_alu_imm(g, BPF_OR, R1, 1 << i % 8);
	emit_store(g, byte, R1, 1);
}

bool value_is_direct(const struct prologue_gen *g, size_t i)
{
	return i < 64 && g->way->direct >> i & 1;
}

struct error *value_fetch(struct prologue_gen *g, const struct fetch_value *value, size_t i)
{
	const struct prologue_member *member = &g->shape->members[i];
	const size_t start = g->code.n;

	g->failures.n = 0;
	g->failed = 0;
	g->direct = value_is_direct(g, i);
	TRY(fetch(g, value, member));
	if (g->failed) {
		g->code.n = start;
		note_failure(g, i);
	} else if (g->failures.n) {
		const size_t over = emit_jump(g, BPF_JA, 0, 0);

		for (size_t k = 0; k < g->failures.n; k++)
			emit_land(g, g->failures.v[k]);
		note_failure(g, i);
		/* Parts of it may have been read. */
		if (is_copied(value))
			emit_zeros(g, g->args + (int32_t)member->offset, member->size);
		emit_land(g, over);
	}
	if (g->no_memory)
		return error_nomem();
	if (g->code.n - start > INT16_MAX || g->code.n > MAX_PROLOGUE)
		return error_new(E2BIG, "its code is too long");
	return NULL;
}
