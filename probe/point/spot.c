// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fetch program under construction. A spot says where a value is, and is
 * moved along a path: from a pointer to what it points to, from a struct to
 * its member. Offsets are summed up and go into the next load, so that
 * "a->b.c[2].d" costs one load for each pointer.
 *
 * What is asked for at the end (":u8", ":string") changes how the last bytes
 * are read and shown, as a cast in C does: a number is read in its own size,
 * with its own sign, and then made wider or narrower. It is never read beyond
 * its type's end. Machines are little-endian here, as x86-64 and arm64 are.
 */
#include <elf.h>

#include "probe/point/internal.h"

#define COMM_SIZE 16

void spot_deinit(struct spot *spot)
{
	vec_deinit(&spot->code);
}

struct error *spot_push(struct spot *spot, struct fetch_insn insn)
{
	struct fetch_insn *slot = vec_push(&spot->code);

	if (!slot)
		return error_nomem();
	*slot = insn;
	return NULL;
}

/* The address becomes what stands there, size bytes. */
static struct error *spot_load(struct spot *spot, uint8_t size)
{
	TRY(spot_push(spot, (struct fetch_insn){.op = FETCH_DEREF,
						.size = size,
						.user = spot->user,
						.typed = spot->typed && !spot->user,
						.imm = spot->offset}));
	spot->is = SPOT_VALUE;
	spot->offset = 0;
	return NULL;
}

/* A scalar in a word becomes a value. */
static struct error *spot_settle(struct spot *spot, uint32_t size)
{
	if (spot->is != SPOT_WORDS)
		return NULL;
	const size_t word = (size_t)spot->offset / 8;
	const uint32_t byte = (uint32_t)spot->offset % 8;

	if (word >= spot->n_words || byte + size > 8)
		return error_new(EOPNOTSUPP, "it is in two registers");
	TRY(spot_push(spot, spot->words[word]));
	spot->is = SPOT_VALUE;
	spot->bit_offset += byte * 8;
	spot->offset = 0;
	return NULL;
}

struct error *spot_follow(struct spot *spot, bool typed)
{
	TRY(spot_settle(spot, 8));
	if (spot->is == SPOT_ADDRESS)
		TRY(spot_load(spot, 8));
	spot->is = SPOT_ADDRESS;
	spot->typed = typed;
	return NULL;
}

struct error *value_name(struct fetch_value *value, const char *name)
{
	free(value->name);
	value->name = strdup(name);
	return value->name ? NULL : error_nomem();
}

struct error *value_obstacle(struct fetch_value *value, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	for (size_t i = 0; i < value->n_pieces; i++)
		free(value->pieces[i].insns);
	free(value->pieces);
	value->pieces = NULL;
	value->n_pieces = 0;
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	free(value->obstacle);
	value->obstacle = strbuf_steal(&sb);
	return value->obstacle ? NULL : error_nomem();
}

/* Adds a piece made of the spot's code. */
static struct error *add_piece(struct spot *spot, enum fetch_gives gives, uint32_t bit_size,
			       struct fetch_value *value)
{
	struct fetch_piece *pieces =
		realloc(value->pieces, (value->n_pieces + 1) * sizeof(*pieces));

	if (!pieces)
		return error_nomem();
	value->pieces = pieces;
	if (spot->code.n > FETCH_MAX_INSNS)
		return value_obstacle(value, "reading it needs more than %d steps",
				      FETCH_MAX_INSNS);
	pieces[value->n_pieces++] = (struct fetch_piece){
		.insns = spot->code.v,
		.n_insns = spot->code.n,
		.gives = gives,
		.user = gives == FETCH_ADDRESS && spot->user,
		.bit_offset = spot->bit_offset,
		.bit_size = bit_size,
	};
	memset(&spot->code, 0, sizeof(spot->code));
	return NULL;
}

/* The offset that is still to be added, into the program. */
static struct error *settle_address(struct spot *spot)
{
	const int64_t offset = spot->offset;

	spot->offset = 0;
	if (!offset)
		return NULL;
	if (spot->code.n && vec_last(&spot->code)->op == FETCH_REG) {
		vec_last(&spot->code)->imm += offset;
		return NULL;
	}
	return spot_push(spot, (struct fetch_insn){.op = FETCH_DEREF, .imm = offset});
}

/* size bytes as they are; of a struct in registers a piece for each. */
static struct error *finish_bytes(struct spot *spot, uint32_t size, struct fetch_value *value)
{
	if (spot->is == SPOT_ADDRESS) {
		TRY(settle_address(spot));
		return add_piece(spot, FETCH_ADDRESS, size * 8, value);
	}
	for (uint32_t left = size; left;) {
		const size_t word = (size_t)spot->offset / 8;
		const uint32_t byte = (uint32_t)spot->offset % 8;
		const uint32_t n = min_of(left, 8 - byte);

		if (word >= spot->n_words)
			return value_obstacle(value, "it is only partly in registers");
		TRY(spot_push(spot, spot->words[word]));
		spot->bit_offset = byte * 8;
		TRY(add_piece(spot, FETCH_VALUE, n * 8, value));
		spot->offset += n;
		left -= n;
	}
	return NULL;
}

static bool is_integer(enum fetch_kind kind)
{
	return kind == FETCH_UINT || kind == FETCH_INT;
}

/*
 * A string: of an array of characters, or where a pointer points to, or an address that is kept as
 * a number.
 */
static struct error *finish_string(struct spot *spot, const struct arg_shape *shape,
				   const char *text, const struct probe_arg *arg,
				   struct fetch_value *value)
{
	value->kind = FETCH_STRING;
	value->size = 0;
	if (shape->is_array) {
		if (spot->is != SPOT_ADDRESS)
			return value_obstacle(value,
					      "an array in registers cannot be read as a string");
		/* One without a 0 gets it behind its end. */
		value->size = shape->size ? shape->size + !shape->is_ended : 0;
	} else if (!shape->is_known && spot->is == SPOT_ADDRESS &&
		   (arg->n_steps ? arg->steps[arg->n_steps - 1].kind == PROBE_DEREF
				 : arg->base == PROBE_SYMBOL)) {
		/* "+8(%di):string", "@banner:string": the text there, as kprobe_events has it. */
	} else if (shape->kind == FETCH_POINTER || !shape->is_known ||
		   (is_integer(shape->kind) && shape->size == 8 && !spot->bit_size)) {
		TRY(spot_follow(spot, false));
	} else {
		return error_hint(probe_def_error(text, arg->at, EINVAL,
						  "'%s' is %s, not a string or a pointer to one",
						  arg->text,
						  shape->type ? shape->type : "a number"),
				  "a string is an array of characters or a pointer to characters");
	}
	spot->user |= arg->user || arg->type == PROBE_TYPE_USTRING || shape->user;
	TRY(settle_address(spot));
	return add_piece(spot, FETCH_ADDRESS, 0, value);
}

/* A number of that many bytes, as a value; of a packed bit field all that its bits lie in. */
static struct error *load_number(struct spot *spot, uint32_t size, const char *text,
				 const struct probe_arg *arg)
{
	const uint32_t last = spot->bit_size ? spot->bit_offset + spot->bit_size : 0;

	if (last > 64)
		return probe_def_error(
			text, arg->at, EINVAL,
			"'%s' is a bit field of %u bits that spans more than 8 bytes", arg->text,
			spot->bit_size);
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return probe_def_error(
			text, arg->at, EINVAL,
			"'%s' has %u bytes: a type of 1, 2, 4 or 8 bytes cannot be used", arg->text,
			size);
	while (size * 8 < last)
		size *= 2;
	TRY(spot_settle(spot, size));
	return spot->is == SPOT_ADDRESS ? spot_load(spot, (uint8_t)size) : NULL;
}

/* The whole number, sign-extended where its type says so: of a bit field its bits alone. */
static struct error *widen(struct spot *spot, uint32_t bits, bool is_signed)
{
	const uint32_t up = 64 - spot->bit_offset - bits, down = 64 - bits;

	spot->bit_offset = 0;
	spot->bit_size = 0;
	if (up) {
		TRY(spot_push(spot, (struct fetch_insn){.op = FETCH_CONST, .imm = up}));
		TRY(spot_push(spot, (struct fetch_insn){.op = FETCH_SHL}));
	}
	if (!down)
		return NULL;
	TRY(spot_push(spot, (struct fetch_insn){.op = FETCH_CONST, .imm = down}));
	return spot_push(spot, (struct fetch_insn){.op = is_signed ? FETCH_SHRA : FETCH_SHR});
}

static const char *cast_text(const struct probe_arg *arg, uint32_t size)
{
	static const char *const texts[2][9] = {
		{[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"},
		{[1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64"},
	};

	if (arg->type == PROBE_TYPE_BOOL)
		return "bool";
	if (arg->type == PROBE_TYPE_CHAR)
		return "char";
	return size <= 8 ? texts[arg->type == PROBE_TYPE_SIGNED][size] : NULL;
}

/* A number that was asked for in a type of its own. */
static struct error *finish_cast(struct spot *spot, const struct arg_shape *shape, const char *text,
				 const struct probe_arg *arg, struct fetch_value *value)
{
	/* What is there: without a type as many bytes as are asked for. */
	const bool is_number = shape->is_known && shape->kind != FETCH_BYTES &&
			       shape->kind != FETCH_STRING && shape->kind != FETCH_FLOAT;
	const uint32_t asked = arg->bits ? arg->bits / 8 : shape->is_known ? shape->size : 8;
	const uint32_t have = is_number ? shape->size : asked;
	const uint32_t bits = spot->bit_size ? spot->bit_size : have * 8;

	if (shape->is_known && shape->size && !is_number && asked > shape->size)
		return probe_def_error(text, arg->at, EINVAL,
				       "'%s' has only %u bytes, fewer than the type", arg->text,
				       shape->size);
	value->kind = arg->type == PROBE_TYPE_SIGNED ? FETCH_INT
		      : arg->type == PROBE_TYPE_BOOL ? FETCH_BOOL
		      : arg->type == PROBE_TYPE_CHAR ? FETCH_CHAR
						     : FETCH_UINT;
	value->hex = arg->type == PROBE_TYPE_HEX;
	value->size = asked;
	if (arg->type == PROBE_TYPE_BITS) {
		if (asked > have)
			return probe_def_error(text, arg->at, EINVAL,
					       "'%s' has only %u bytes, fewer than the type",
					       arg->text, have);
		if (spot->bit_size && (uint32_t)arg->bit_shift + arg->bit_width > spot->bit_size)
			return probe_def_error(text, arg->at, EINVAL, "'%s' has %u bits", arg->text,
					       spot->bit_size);
		TRY(load_number(spot, spot->bit_size ? have : asked, text, arg));
		spot->bit_offset += arg->bit_shift;
		value->bit_size = arg->bit_width;
		return add_piece(spot, FETCH_VALUE, arg->bit_width, value);
	}
	/* "x" or "u" of a bit field leave its width. */
	if (spot->bit_size && !arg->bits) {
		value->bit_size = spot->bit_size;
		TRY(load_number(spot, have, text, arg));
		return add_piece(spot, FETCH_VALUE, spot->bit_size, value);
	}
	if (asked <= have && !spot->bit_size && arg->type != PROBE_TYPE_BOOL) {
		/* The low bytes are the first ones. */
		TRY(load_number(spot, asked, text, arg));
		return add_piece(spot, FETCH_VALUE, asked * 8, value);
	}
	TRY(load_number(spot, have, text, arg));
	TRY(widen(spot, bits, shape->is_known && shape->is_signed));
	if (arg->type == PROBE_TYPE_BOOL) {
		TRY(spot_push(spot, (struct fetch_insn){.op = FETCH_CONST}));
		TRY(spot_push(spot, (struct fetch_insn){.op = FETCH_NE}));
	}
	return add_piece(spot, FETCH_VALUE, asked * 8, value);
}

/* As the type has it. */
static struct error *finish_plain(struct spot *spot, const struct arg_shape *shape,
				  const char *text, const struct probe_arg *arg,
				  struct fetch_value *value)
{
	value->kind = shape->is_known ? shape->kind : FETCH_UINT;
	value->size = shape->is_known ? shape->size : 8;
	value->hex = !shape->is_known || shape->kind == FETCH_POINTER;
	if (shape->is_text) {
		value->kind = FETCH_STRING;
		value->size = shape->size ? shape->size + !shape->is_ended : 0;
		if (spot->is == SPOT_ADDRESS) {
			TRY(settle_address(spot));
			return add_piece(spot, FETCH_ADDRESS, 0, value);
		}
		value->kind = FETCH_BYTES;
		value->size = shape->size;
	}
	if (value->kind == FETCH_BYTES) {
		if (!value->size)
			return value_obstacle(value, "it has no size: use an element or a type");
		return finish_bytes(spot, value->size, value);
	}
	if (spot->bit_size) {
		value->bit_size = spot->bit_size;
		TRY(load_number(spot, value->size, text, arg));
		return add_piece(spot, FETCH_VALUE, spot->bit_size, value);
	}
	/* __int128, long double */
	if (value->size > 8)
		return finish_bytes(spot, value->size, value);
	TRY(load_number(spot, value->size, text, arg));
	return add_piece(spot, FETCH_VALUE, value->size * 8, value);
}

struct error *spot_finish(struct spot *spot, const struct arg_shape *shape, const char *text,
			  const struct probe_arg *arg, struct fetch_value *value)
{
	const char *type = shape->type;

	TRY(value_name(value, arg->name));
	/* A pointer that is not followed becomes a number: the verifier's own must not. */
	if (shape->kind == FETCH_POINTER && arg->type != PROBE_TYPE_STRING &&
	    arg->type != PROBE_TYPE_USTRING) {
		spot->typed = false;
		for (size_t i = 0; i < SPOT_MAX_WORDS; i++)
			spot->words[i].typed = false;
	}
	spot->user |= arg->user && spot->is == SPOT_ADDRESS;
	switch (arg->type) {
	case PROBE_TYPE_NONE:
		TRY(finish_plain(spot, shape, text, arg, value));
		if (!type && !shape->is_known)
			type = "u64";
		break;
	case PROBE_TYPE_STRING:
	case PROBE_TYPE_USTRING:
		TRY(finish_string(spot, shape, text, arg, value));
		if (!type)
			type = "char *";
		break;
	default:
		TRY(finish_cast(spot, shape, text, arg, value));
		type = cast_text(arg, value->size);
	}
	if (type) {
		value->type = strdup(type);
		if (!value->type)
			return error_nomem();
	}
	return NULL;
}

/* ---- without types ---- */

bool arg_is_untyped(const struct probe_arg *arg)
{
	switch (arg->base) {
	case PROBE_REGISTER:
	case PROBE_COMM:
	case PROBE_STACK:
	case PROBE_SYMBOL:
		return true;
	default:
		return false;
	}
}

static struct error *no_register(const struct untyped *where, const struct probe_arg *arg)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	const char *name;

	for (uint16_t i = 0; (name = regs_name(where->regs, i)); i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", name);
	return error_hint(probe_def_error(where->text, arg->at, ENOENT, "unknown register '%s'",
					  arg->variable),
			  "the registers are %s", strbuf_str(&names));
}

static struct error *untyped_base(const struct untyped *where, const struct probe_arg *arg,
				  struct spot *spot, struct arg_shape *shape,
				  struct fetch_value *value)
{
	struct fetch_insn insn = {0};
	uint64_t address;

	switch (arg->base) {
	case PROBE_REGISTER:
		insn.op = FETCH_REG;
		if (!regs_by_name(where->regs, arg->variable, &insn.reg))
			return no_register(where, arg);
		break;
	case PROBE_STACK:
		insn = (struct fetch_insn){.op = FETCH_REG, .reg = regs_stack(where->regs)};
		if (arg->index >= 0) {
			spot->is = SPOT_ADDRESS;
			spot->offset = arg->index * 8;
			spot->user = where->user;
		}
		break;
	case PROBE_COMM:
		insn.op = FETCH_COMM;
		spot->is = SPOT_ADDRESS;
		*shape = (struct arg_shape){.kind = FETCH_STRING,
					    .size = COMM_SIZE,
					    .is_known = true,
					    .is_array = true,
					    .is_text = true,
					    .is_ended = true,
					    .type = "char [16]"};
		break;
	case PROBE_SYMBOL:
		if (!where->symbol || !where->symbol(where->ctx, arg->variable, &address))
			return error_hint(probe_def_error(where->text, arg->at, ENOENT,
							  "unknown or hidden symbol '%s'",
							  arg->variable),
					  where->user ? "'nm' lists the symbols"
						      : "/proc/kallsyms lists the symbols");
		insn = (struct fetch_insn){.op = where->user ? FETCH_STATIC : FETCH_CONST,
					   .imm = (int64_t)address};
		spot->is = SPOT_ADDRESS;
		spot->user = where->user;
		break;
	case PROBE_PARAM:
		if (!where->at_entry)
			return value_obstacle(value,
					      "parameters are available only at function entry");
		insn = (struct fetch_insn){.op = FETCH_PARAM, .reg = (uint16_t)arg->index};
		break;
	case PROBE_RETVAL:
		if (!where->at_return)
			return value_obstacle(
				value, "return values are available only with FUNCTION%%return");
		insn.op = FETCH_RETVAL;
		break;
	default:
		return error_new(EINVAL, "%s needs debug information", arg->text);
	}
	return spot_push(spot, insn);
}

struct error *untyped_value(const struct untyped *where, const struct probe_arg *arg,
			    struct fetch_value *value)
{
	_cleanup_spot_ struct spot spot = {0};
	struct arg_shape shape = {0};

	TRY(value_name(value, arg->name));
	TRY(untyped_base(where, arg, &spot, &shape, value));
	if (value->obstacle)
		return NULL;
	for (size_t i = 0; i < arg->n_steps; i++) {
		const struct probe_step *step = &arg->steps[i];

		if (step->kind != PROBE_DEREF)
			return error_hint(
				probe_def_error(
					where->text, step->at, EINVAL,
					"the type of the expression before it is not known"),
				"without a type, write +OFFSET(%s)", arg->text);
		TRY(spot_follow(&spot, false));
		spot.offset = step->index;
		spot.user = where->user || arg->user;
	}
	return spot_finish(&spot, &shape, where->text, arg, value);
}
