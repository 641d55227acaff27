// SPDX-License-Identifier: BSD-2-Clause
#include "probe/point/points_codec.h"

#include <stdlib.h>

/* No array that an element of at least this many bytes makes longer than the bytes that are left.
 */
#define SMALLEST_ELEMENT 8

/* ---- numbers and texts ---- */

void encode_number(struct strbuf *out, uint64_t number)
{
	strbuf_add(out, &number, sizeof(number));
}

void encode_text(struct strbuf *out, const char *text)
{
	const size_t length = text ? strlen(text) : 0;

	encode_number(out, text ? length + 1 : 0);
	strbuf_add(out, text, length);
}

bool decode_number(struct cursor *c, uint64_t max, uint64_t *number)
{
	uint64_t read;

	if (!cursor_u64(c, &read) || read > max)
		return false;
	*number = read;
	return true;
}

bool decode_text(struct cursor *c, char **text)
{
	uint64_t length;

	if (!decode_number(c, SIZE_MAX, &length))
		return false;
	if (!length)
		return true;
	const char *bytes = cursor_bytes(c, length - 1);
	if (!bytes || memchr(bytes, 0, length - 1))
		return false;
	*text = strndup(bytes, length - 1);
	return *text != NULL;
}

static bool decode_needed_text(struct cursor *c, char **text)
{
	return decode_text(c, text) && *text;
}

/* Into a member of any unsigned type, of which max is a value. */
#define DECODE(c, max, member)                                                                     \
	({                                                                                         \
		uint64_t number_;                                                                  \
		const bool ok_ = decode_number(c, max, &number_);                                  \
		if (ok_)                                                                           \
			(member) = (__typeof__(member))number_;                                    \
		ok_;                                                                               \
	})

/* A zeroed array of *n elements; NULL: there cannot be that many, or there is no memory. */
static void *decode_array(struct cursor *c, size_t size, size_t *n)
{
	uint64_t count;

	if (!decode_number(c, cursor_left(c) / SMALLEST_ELEMENT, &count))
		return NULL;
	void *v = calloc(count + !count, size);
	if (v)
		*n = count;
	return v;
}

/* ---- how a value is fetched ---- */

static void encode_insn(struct strbuf *out, const struct fetch_insn *insn)
{
	encode_number(out, insn->op);
	encode_number(out, insn->size);
	encode_number(out, insn->user);
	encode_number(out, insn->typed);
	encode_number(out, insn->reg);
	encode_number(out, (uint64_t)insn->imm);
}

static bool decode_insn(struct cursor *c, struct fetch_insn *insn)
{
	return DECODE(c, FETCH_ENTRY, insn->op) && DECODE(c, 8, insn->size) &&
	       DECODE(c, true, insn->user) && DECODE(c, true, insn->typed) &&
	       DECODE(c, UINT16_MAX, insn->reg) && DECODE(c, UINT64_MAX, insn->imm) &&
	       !(insn->size & (insn->size - 1)) &&
	       (insn->op != FETCH_ENTRY || insn->reg < FETCH_ENTRY_REGS);
}

static void encode_piece(struct strbuf *out, const struct fetch_piece *part)
{
	encode_number(out, part->n_insns);
	for (size_t i = 0; i < part->n_insns; i++)
		encode_insn(out, &part->insns[i]);
	encode_number(out, part->gives);
	encode_number(out, part->user);
	encode_number(out, part->bit_offset);
	encode_number(out, part->bit_size);
}

static bool decode_piece(struct cursor *c, struct fetch_piece *part)
{
	part->insns = decode_array(c, sizeof(*part->insns), &part->n_insns);
	if (!part->insns || part->n_insns > FETCH_MAX_INSNS)
		return false;
	for (size_t i = 0; i < part->n_insns; i++)
		if (!decode_insn(c, &part->insns[i]))
			return false;
	return DECODE(c, FETCH_NOTHING, part->gives) && DECODE(c, true, part->user) &&
	       DECODE(c, UINT32_MAX, part->bit_offset) && DECODE(c, UINT32_MAX, part->bit_size);
}

static void encode_value(struct strbuf *out, const struct fetch_value *value)
{
	encode_text(out, value->name);
	encode_text(out, value->type);
	encode_number(out, value->kind);
	encode_number(out, value->hex);
	encode_number(out, value->size);
	encode_number(out, value->bit_size);
	encode_number(out, value->n_pieces);
	for (size_t i = 0; i < value->n_pieces; i++)
		encode_piece(out, &value->pieces[i]);
	encode_text(out, value->obstacle);
}

static bool decode_value(struct cursor *c, struct fetch_value *value)
{
	if (!decode_needed_text(c, &value->name) || !decode_text(c, &value->type) ||
	    !DECODE(c, FETCH_BYTES, value->kind) || !DECODE(c, true, value->hex) ||
	    !DECODE(c, UINT32_MAX, value->size) || !DECODE(c, UINT32_MAX, value->bit_size))
		return false;
	value->pieces = decode_array(c, sizeof(*value->pieces), &value->n_pieces);
	if (!value->pieces)
		return false;
	for (size_t i = 0; i < value->n_pieces; i++)
		if (!decode_piece(c, &value->pieces[i]))
			return false;
	return decode_text(c, &value->obstacle) && (value->n_pieces || value->obstacle);
}

/* ---- points ---- */

static void encode_point(struct strbuf *out, const struct probe_point *point, size_t n_args)
{
	encode_text(out, point->function);
	encode_text(out, point->shown);
	encode_text(out, point->inlined);
	encode_number(out, point->address);
	encode_number(out, point->offset);
	encode_number(out, point->file_offset);
	encode_number(out, point->at_return);
	encode_number(out, point->source);
	encode_number(out, point->btf_id);
	encode_number(out, point->n_words);
	encode_text(out, point->module);
	encode_text(out, point->file);
	encode_number(out, point->line);
	encode_text(out, point->refused);
	encode_number(out, point->next_offset);
	for (size_t i = 0; i < n_args; i++)
		encode_value(out, &point->args[i]);
}

static bool decode_point(struct cursor *c, struct probe_point *point, size_t n_args)
{
	if (!decode_needed_text(c, &point->function) || !decode_text(c, &point->shown) ||
	    !decode_text(c, &point->inlined) || !DECODE(c, UINT64_MAX, point->address) ||
	    !DECODE(c, UINT64_MAX, point->offset) || !DECODE(c, UINT64_MAX, point->file_offset) ||
	    !DECODE(c, true, point->at_return) || !DECODE(c, POINT_SYMBOLS, point->source) ||
	    !DECODE(c, UINT32_MAX, point->btf_id) || !DECODE(c, UINT16_MAX, point->n_words) ||
	    !decode_text(c, &point->module) || !decode_text(c, &point->file) ||
	    !DECODE(c, UINT32_MAX, point->line) || !decode_text(c, &point->refused) ||
	    !DECODE(c, UINT64_MAX, point->next_offset))
		return false;
	point->args = calloc(n_args + !n_args, sizeof(*point->args));
	for (size_t i = 0; point->args && i < n_args; i++)
		if (!decode_value(c, &point->args[i]))
			return false;
	return point->args != NULL;
}

void encode_points(struct strbuf *out, const struct probe_points *points)
{
	encode_text(out, points->path);
	encode_number(out, points->machine);
	encode_number(out, points->bias);
	encode_number(out, points->n_args);
	for (size_t i = 0; i < points->n_args; i++)
		encode_text(out, points->names[i]);
	encode_number(out, points->n);
	for (size_t i = 0; i < points->n; i++)
		encode_point(out, &points->v[i], points->n_args);
}

static bool decode_all(struct cursor *c, struct probe_points *points)
{
	if (!decode_text(c, &points->path) || !DECODE(c, UINT16_MAX, points->machine) ||
	    !DECODE(c, UINT64_MAX, points->bias))
		return false;
	points->names = decode_array(c, sizeof(*points->names), &points->n_args);
	if (!points->names)
		return false;
	for (size_t i = 0; i < points->n_args; i++)
		if (!decode_needed_text(c, &points->names[i]))
			return false;
	points->v = decode_array(c, sizeof(*points->v), &points->n);
	if (!points->v)
		return false;
	points->cap = points->n;
	for (size_t i = 0; i < points->n; i++)
		if (!decode_point(c, &points->v[i], points->n_args))
			return false;
	return points->n && cursor_end(c);
}

struct error *decode_points(struct cursor *c, struct probe_points *points)
{
	_cleanup_probe_points_ struct probe_points read = {0};

	if (!decode_all(c, &read))
		return cursor_error(c, "invalid probe points");
	*points = read;
	read = (struct probe_points){0};
	return NULL;
}
