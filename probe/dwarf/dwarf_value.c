// SPDX-License-Identifier: BSD-2-Clause
/*
 * An object as a value: the pieces that a program fetches, or why it cannot. A
 * number is loaded, whole; structs are addresses; what lies in
 * several parts (registers, memory) is as many pieces.
 */
#include "probe/dwarf/dwarf_object.h"

struct error *value_block(struct fetch_value *value, const char *text)
{
	for (size_t i = 0; i < value->n_pieces; i++)
		free(value->pieces[i].insns);
	free(value->pieces);
	value->pieces = NULL;
	value->n_pieces = 0;
	free(value->obstacle);
	value->obstacle = strdup(text);
	return value->obstacle ? NULL : error_nomem();
}

struct fetch_piece *value_add_piece(struct fetch_value *value, size_t *cap)
{
	if (value->n_pieces == *cap &&
	    !vec_grow((void **)&value->pieces, cap, value->n_pieces + 1, sizeof(*value->pieces)))
		return NULL;
	struct fetch_piece *piece = &value->pieces[value->n_pieces++];
	memset(piece, 0, sizeof(*piece));
	return piece;
}

/* Bits [bit, bit + n) of one part as a piece. */
static struct error *piece_of(const struct dwarf_object *object, const struct location_part *part,
			      uint64_t bit, uint64_t n, bool scalar, struct fetch_value *value,
			      size_t *cap)
{
	struct fetch_piece *piece = value_add_piece(value, cap);
	struct insns insns = {0};
	uint64_t from = part->bit_offset + bit;

	if (!piece)
		return error_nomem();
	piece->bit_size = (uint32_t)n;
	piece->gives = FETCH_NOTHING;
	if (part->is == PART_NOTHING || part->is == PART_POINTER)
		return NULL;
	if (part->is == PART_VALUE) {
		if (from + n > 64)
			return NULL;
		piece->gives = FETCH_VALUE;
		piece->bit_offset = (uint32_t)from;
	} else {
		piece->gives = FETCH_ADDRESS;
		piece->user = object->is_user;
	}
	if (!insns_copy(&part->insns, &insns)) {
		free(insns.v);
		return error_nomem();
	}
	bool ok = true;
	if (piece->gives == FETCH_ADDRESS) {
		uint64_t byte = from / 8, load = 0;

		piece->bit_offset = from % 8;
		/* Numbers are loaded: all of an aligned word that holds the bits. */
		for (uint64_t size = 1; scalar && size <= 8 && !load; size *= 2) {
			uint64_t start = byte & ~(size - 1);

			if (n == size * 8 && from % 8 == 0)
				load = size;
			else if (n != 8 && n != 16 && n != 32 && n != 64 &&
				 (from + n + 7) / 8 <= start + size) {
				load = size;
				piece->bit_offset = (uint32_t)(from - start * 8);
				byte = start;
			}
		}
		if (load) {
			piece->gives = FETCH_VALUE;
			piece->user = false;
			ok = insns_add(&insns, (struct fetch_insn){.op = FETCH_DEREF,
								   .size = (uint8_t)load,
								   .imm = (int64_t)byte,
								   .user = object->is_user});
		} else {
			ok = insns_plus(&insns, (int64_t)byte);
		}
	}
	/* gcc leaves anything above the one bit of a _Bool in a register, and in a spilled one. */
	struct type peeled = type_peel(object->type);
	enum fetch_kind kind;
	if (scalar && !object->raw && !object->followed && piece->gives == FETCH_VALUE &&
	    !piece->bit_offset && n == 8 && type_is_scalar(peeled, &kind) && kind == FETCH_BOOL) {
		ok = insns_add(&insns, (struct fetch_insn){.op = FETCH_CONST, .imm = 1}) &&
		     insns_add(&insns, (struct fetch_insn){.op = FETCH_AND});
	}
	piece->insns = insns.v;
	piece->n_insns = insns.n;
	return ok ? NULL : error_nomem();
}

/* Whether bits [from, from + n) of a type are more than padding; where that is not clear, they are.
 */
static bool has_data(struct type type, uint64_t from, uint64_t n, int depth)
{
	struct type peeled = type_peel(type);
	Dwarf_Die child;

	if (peeled.is_void || depth > DEPTH_MAX ||
	    (type_tag(&peeled) != DW_TAG_structure_type &&
	     type_tag(&peeled) != DW_TAG_class_type) ||
	    dwarf_child(&peeled.die, &child))
		return true;
	do {
		const int tag = dwarf_tag(&child);
		uint64_t at, size, bits;

		if (tag == DW_TAG_variant_part)
			return true;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&child, DW_AT_external) ||
		    dwarf_hasattr(&child, DW_AT_declaration))
			continue;
		const struct type member = type_of(&child);
		if (!type_size(member, &size))
			return true;
		bits = size * 8;
		if (die_udata(&child, DW_AT_data_bit_offset, &at)) {
			if (!die_udata(&child, DW_AT_bit_size, &bits))
				return true;
		} else if (dwarf_hasattr(&child, DW_AT_bit_size) ||
			   !die_udata(&child, DW_AT_data_member_location, &at)) {
			return true;
		} else {
			at *= 8;
		}
		const uint64_t first = max_of(at, from), end = min_of(at + bits, from + n);
		if (first < end && has_data(member, first - at, end - first, depth + 1))
			return true;
	} while (!die_sibling(&child));
	return false;
}

/* Padding that no part holds: zeros, as they are in memory of most objects. */
static struct error *fill_padding(const struct dwarf_object *object, struct fetch_value *value)
{
	uint64_t at = object->bit;

	for (size_t i = 0; i < value->n_pieces; i++) {
		struct fetch_piece *piece = &value->pieces[i];
		struct insns zero = {0};

		if (piece->gives == FETCH_NOTHING && piece->bit_size <= 64 &&
		    !has_data(object->type, at, piece->bit_size, 0)) {
			if (!insns_add(&zero, (struct fetch_insn){.op = FETCH_CONST}))
				return error_nomem();
			piece->gives = FETCH_VALUE;
			piece->insns = zero.v;
			piece->n_insns = zero.n;
		}
		at += piece->bit_size;
	}
	return NULL;
}

struct error *value_pieces(const struct dwarf_object *object, uint64_t bits, bool scalar,
			   struct fetch_value *value)
{
	uint64_t at = 0, done = 0;
	size_t cap = 0;

	for (size_t i = 0; i < object->loc.parts.n && done < bits; i++) {
		const struct location_part *part = &object->loc.parts.v[i];
		uint64_t end = part->bits ? at + part->bits : UINT64_MAX;
		uint64_t first = object->bit + done;

		if (first < end) {
			uint64_t n = min_of(bits - done, end - first), skip = first - at;

			/* A value has 64 bits; what would be above them is not known. */
			if (part->is == PART_VALUE && part->bit_offset + skip < 64)
				n = min_of(n, 64 - part->bit_offset - skip);
			if (part->is != PART_MEMORY && n > 64 && part->is == PART_VALUE)
				n = 64;
			/* A number of more than eight bytes, and a field across them, go in halves.
			 */
			if (scalar && part->is == PART_MEMORY) {
				uint64_t in_word = (part->bit_offset + skip) % 64;
				if (n > 64)
					n = 64;
				if (object->bit_size && in_word + n > 64)
					n = 64 - in_word;
			}
			TRY(piece_of(object, part, skip, n, scalar, value, &cap));
			done += n;
			if (first + n < end && done < bits) {
				i--; /* the same part again */
				continue;
			}
		}
		at = end;
		if (end == UINT64_MAX)
			break;
	}
	if (done < bits) {
		struct fetch_piece *piece = value_add_piece(value, &cap);

		if (!piece)
			return error_nomem();
		piece->bit_size = (uint32_t)(bits - done);
		piece->gives = FETCH_NOTHING;
	}
	size_t lost = 0;
	for (size_t i = 0; i < value->n_pieces; i++) {
		lost += value->pieces[i].gives == FETCH_NOTHING;
		if (value->pieces[i].n_insns > FETCH_MAX_INSNS)
			return value_block(value, "its path is too long");
	}
	if (lost == value->n_pieces)
		return value_block(value,
				   object->loc.parts.n && object->loc.parts.v[0].is == PART_POINTER
					   ? "DW_OP_implicit_pointer: it points to a value that is "
					     "not in memory (its members can be read)"
					   : "optimized out");
	if (lost && !scalar && !object->bit) {
		TRY(fill_padding(object, value));
		lost = 0;
		for (size_t i = 0; i < value->n_pieces; i++)
			lost += value->pieces[i].gives == FETCH_NOTHING;
	}
	if (lost && scalar)
		return value_block(value, "partly optimized out");
	return lost ? value_block(value,
				  "partly optimized out (the members that are left can be read)")
		    : NULL;
}

struct error *value_typed(struct dwarf_object *object, const struct probe_arg *arg,
			  struct fetch_value *value)
{
	struct type peeled = type_peel(object->type);
	enum fetch_kind own = FETCH_BYTES;
	uint64_t size = 0;
	bool scalar = type_is_scalar(peeled, &own);

	if (!type_size(object->type, &size) || size > 8 || !size)
		size = 8;
	uint64_t bits = arg->bits						       ? arg->bits
			: arg->type == PROBE_TYPE_BOOL || arg->type == PROBE_TYPE_CHAR ? 8
			: object->bit_size ? round_up(object->bit_size, 8)
					   : size * 8;
	if (bits == 24)
		bits = 32;
	else if (bits > 32)
		bits = 64;

	switch (arg->type) {
	case PROBE_TYPE_SIGNED:
		value->kind = FETCH_INT;
		break;
	case PROBE_TYPE_BOOL:
		value->kind = FETCH_BOOL;
		break;
	case PROBE_TYPE_CHAR:
		value->kind = FETCH_CHAR;
		break;
	case PROBE_TYPE_HEX:
		value->hex = true;
		value->kind = FETCH_UINT;
		break;
	default:
		value->kind = FETCH_UINT;
		value->hex = arg->type == PROBE_TYPE_NONE;
		break;
	}
	free(value->type);
	value->type = NULL;
	if (arg->type == PROBE_TYPE_BITS) {
		object->bit += arg->bit_shift;
		object->bit_size = arg->bit_width;
		value->bit_size = arg->bit_width;
		value->size = (uint32_t)(bits / 8);
		return value_pieces(object, arg->bit_width, true, value);
	}
	value->size = (uint32_t)(bits / 8);
	/* A narrower number is extended by its own sign first, as a conversion in C does it. */
	uint64_t have = object->bit_size ? object->bit_size : scalar ? size * 8 : bits;
	if (have < bits) {
		bool is_signed = own == FETCH_INT;
		uint64_t encoding = 0;

		if (own == FETCH_CHAR && die_udata(&peeled.die, DW_AT_encoding, &encoding))
			is_signed = encoding == DW_ATE_signed_char;
		TRY(value_pieces(object, have, true, value));
		if (value->obstacle || value->n_pieces != 1 ||
		    value->pieces[0].gives != FETCH_VALUE)
			return value->obstacle ? NULL
					       : value_block(value, "it is in several pieces");
		struct fetch_piece *piece = &value->pieces[0];
		struct insns insns = {piece->insns, piece->n_insns, piece->n_insns};
		bool ok = insns_add(&insns,
				    (struct fetch_insn){
					    .op = FETCH_CONST,
					    .imm = (int64_t)(64 - have - piece->bit_offset)}) &&
			  insns_add(&insns, (struct fetch_insn){.op = FETCH_SHL}) &&
			  insns_add(&insns, (struct fetch_insn){.op = FETCH_CONST,
								.imm = (int64_t)(64 - have)}) &&
			  insns_add(&insns,
				    (struct fetch_insn){.op = is_signed ? FETCH_SHRA : FETCH_SHR});
		piece->insns = insns.v;
		piece->n_insns = insns.n;
		piece->bit_offset = 0;
		piece->bit_size = (uint32_t)bits;
		return ok ? NULL : error_nomem();
	}
	return value_pieces(object, bits, true, value);
}

struct error *value_natural(struct context *ctx, struct dwarf_object *object,
			    struct fetch_value *value)
{
	uint64_t size = 0;

	TRY(type_complete(ctx->image, &object->type));
	struct type peeled = type_peel(object->type);
	if (peeled.is_void)
		return value_block(value, "its type is void");
	bool scalar = type_is_scalar(peeled, &value->kind);
	bool known = type_size(object->type, &size);
	/* Fortran's character(len=*) has its length elsewhere. */
	if (!known && type_tag(&peeled) == DW_TAG_string_type)
		return value_fortran_string(ctx, object, value);
	if (!known || !size)
		return value_block(value,
				   known ? "its size is 0" : "the size of its type is not known");
	if (size > 65536)
		return value_block(value, "it is larger than 64 KiB");
	value->size = (uint32_t)size;
	value->hex = value->kind == FETCH_POINTER;
	value->bit_size = (uint32_t)object->bit_size;
	if (object->bit_size > size * 8 || object->bit_size > 64)
		return value_block(value, "the bit field is wider than its type");
	if (scalar && size > 8)
		scalar = false; /* as bytes, in the order that they have in memory */
	return value_pieces(object, object->bit_size ? object->bit_size : size * 8, scalar, value);
}
