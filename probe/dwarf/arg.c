// SPDX-License-Identifier: BSD-2-Clause
/*
 * An argument at a place: the base's location, then step by step through
 * structs, pointers and arrays, then the kind of value that it is.
 *
 * What is looked at is an object: a location, a bit within it, and a type. A
 * member moves the bit; an arrow loads the pointer that the object is, and
 * goes on with the memory it points to. A pointer that was optimized away
 * while what it points to is known (DW_OP_implicit_pointer) is followed here,
 * with nothing to load.
 */
#include "probe/dwarf/internal.h"

struct object {
	struct location loc;
	struct type type;
	uint64_t bit;	   /* where it begins in the location */
	uint64_t bit_size; /* of a bit field; 0: the type's size */
	bool user;	   /* memory reached from here on is the process's */
	bool is_user;	   /* this object stands in it */
	bool followed;	   /* a pointer led to it */
	bool raw;	   /* a word without a type: a register, what +OFFSET(…) reads */
	bool behind;	   /* it is what stands behind an address, of +OFFSET(…) */
};

static void object_deinit(struct object *object)
{
	location_deinit(&object->loc);
}

/* ---- Members ---- */

static bool lang_derefs_by_dot(struct type type)
{
	return !type.is_void && die_lang_is_rust(&type.die);
}

/* Adds a base's or a member's place; false: it is no constant. */
static struct error *member_offset(struct context *ctx, struct object *object, Dwarf_Die *member)
{
	uint64_t offset = 0, bits;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (die_udata(member, DW_AT_data_bit_offset, &bits)) {
		object->bit += bits;
		return NULL;
	}
	if (!dwarf_hasattr(member, DW_AT_data_member_location))
		return NULL; /* a union's */
	if (die_udata(member, DW_AT_data_member_location, &offset)) {
		object->bit += offset * 8;
		return NULL;
	}
	if (!dwarf_attr(member, DW_AT_data_member_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n))
		return dw_error(ctx->image, "in a member's place");
	if (n == 1 && ops[0].atom == DW_OP_plus_uconst) { /* DWARF 2 */
		object->bit += ops[0].number * 8;
		return NULL;
	}
	/* A virtual base: its place is in the object's table. */
	struct part *part = object->loc.parts.n == 1 ? &object->loc.parts.v[0] : NULL;
	if (!part || part->is != PART_MEMORY || (object->bit + part->bit_offset) % 8)
		return location_block(&object->loc,
				      "a virtual base of an object that is not in memory");
	_cleanup_location_ struct location loc = {0};
	if (!insns_plus(&part->insns, (int64_t)((object->bit + part->bit_offset) / 8)))
		return error_nomem();
	TRY(expr_location(ctx, &attr, ops, n, &part->insns, &loc));
	location_deinit(&object->loc);
	object->loc = loc;
	loc = (struct location){0};
	object->bit = 0;
	return NULL;
}

/* Names of members, those of nameless ones and of bases too. */
static void members_offer(Dwarf_Die *type, struct nearest *near, struct strbuf *all, size_t *n,
			  int depth)
{
	Dwarf_Die child;

	if (depth > 8 || dwarf_child(type, &child))
		return;
	do {
		int tag = dwarf_tag(&child);
		const char *name = die_name(&child);

		if (tag == DW_TAG_member && name) {
			nearest_offer(near, name);
			if (*n < 24)
				strbuf_addf(all, "%s%s", all->len ? ", " : "", name);
			else if (*n == 24)
				strbuf_adds(all, ", ...");
			++*n;
		} else if (tag == DW_TAG_member || tag == DW_TAG_inheritance) {
			struct type inner = type_peel(type_of(&child));

			if (!inner.is_void && type_is_struct(type_tag(&inner)))
				members_offer(&inner.die, near, all, n, depth + 1);
		}
	} while (!die_sibling(&child));
}

/* The way to a member: itself last, the nameless ones and bases around it before. */
struct way {
	Dwarf_Die steps[16];
	int n;
};

static struct error *member_find(struct context *ctx, struct type type, const char *name,
				 struct way *way, bool *found)
{
	Dwarf_Die child;

	TRY(type_complete(ctx->image, &type));
	type = type_peel(type);
	if (type.is_void || !type_is_struct(type_tag(&type)) || way->n >= 16 ||
	    dwarf_child(&type.die, &child))
		return NULL;
	do {
		int tag = dwarf_tag(&child);
		const char *own = die_name(&child);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance && tag != DW_TAG_variable)
			continue;
		way->steps[way->n++] = child;
		if (tag != DW_TAG_inheritance && own && !strcmp(own, name)) {
			*found = true;
			return NULL;
		}
		if (tag == DW_TAG_inheritance || (tag == DW_TAG_member && !own))
			TRY(member_find(ctx, type_of(&child), name, way, found));
		if (*found)
			return NULL;
		way->n--;
	} while (!die_sibling(&child));
	return NULL;
}

static struct error *at_step(struct error *err, const struct probe_arg *arg)
{
	return error_at(err, "%s", arg->text ? arg->text : arg->name);
}

static struct error *no_member(struct type type, const struct probe_arg *arg, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, near_text = STRBUF_INIT,
				       all = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	size_t n = 0;

	type_text(type, &text);
	struct type peeled = type_peel(type);
	if (!peeled.is_void)
		members_offer(&peeled.die, &near, &all, &n, 0);
	struct error *err = error_new(ENOENT, "%s has no member \"%s\"", strbuf_str(&text), name);
	if (nearest_text(&near, &near_text))
		err = error_hint(err, "did you mean %s? It has: %s", strbuf_str(&near_text),
				 strbuf_str(&all));
	else if (n)
		err = error_hint(err, "it has: %s", strbuf_str(&all));
	else
		err = error_hint(err, "its definition is not in this debug information");
	return at_step(err, arg);
}

static struct error *step_member(struct context *ctx, struct object *object,
				 const struct probe_arg *arg, const char *name)
{
	struct type type = object->type;
	struct way way = {.n = 0};
	bool found = false;
	uint64_t bits, bit_offset, storage;

	TRY(type_complete(ctx->image, &type));
	TRY(member_find(ctx, type, name, &way, &found));
	if (!found)
		return no_member(object->type, arg, name);
	Dwarf_Die *last = &way.steps[way.n - 1];
	object->type = type_of(last);
	object->bit_size = 0;
	if (dwarf_tag(last) == DW_TAG_variable || die_flag(last, DW_AT_external) ||
	    (die_flag(last, DW_AT_declaration))) {
		/* A class's static member: a global variable. */
		location_deinit(&object->loc);
		object->bit = 0;
		return variable_location(ctx, last, &object->loc);
	}
	for (int i = 0; i < way.n && !object->loc.obstacle; i++)
		TRY(member_offset(ctx, object, &way.steps[i]));
	if (die_udata(last, DW_AT_bit_size, &bits)) {
		object->bit_size = bits;
		/* DWARF 2 and 3 count from the storage's high end. */
		if (die_udata(last, DW_AT_bit_offset, &bit_offset)) {
			if (!die_udata(last, DW_AT_byte_size, &storage) &&
			    !type_size(object->type, &storage))
				storage = 0;
			object->bit += storage * 8 - bit_offset - bits;
		}
	}
	return NULL;
}

/* ---- Pointers ---- */

/*
 * Goes to what the pointer points to: the new location is the memory there,
 * plus offset bytes.
 */
static struct error *follow(struct context *ctx, struct object *object, int64_t plus)
{
	struct type pointer = type_peel(object->type);
	struct location *loc = &object->loc;
	uint64_t at = 0;
	struct part *part = NULL;

	if (!pointer.is_void)
		object->type = type_of(&pointer.die);
	if (loc->obstacle)
		return NULL;
	for (size_t i = 0; i < loc->parts.n; i++) {
		part = &loc->parts.v[i];
		if (!part->bits || object->bit < at + part->bits)
			break;
		at += part->bits;
		part = NULL;
	}
	if (!part || part->is == PART_NOTHING)
		return location_block(loc, "optimized out");
	uint64_t shift = object->bit - at + part->bit_offset;
	if (part->bits && object->bit - at + 64 > part->bits)
		return location_block(loc, "a pointer in several pieces");
	if (part->is == PART_POINTER) {
		Dwarf_Die target = part->die;
		int64_t offset = part->offset + plus;

		if (object->bit != at || offset < 0)
			return location_block(loc, "DW_OP_implicit_pointer with an odd offset");
		if (++ctx->depth > 16)
			return location_block(loc, "DW_OP_implicit_pointer in a circle");
		location_deinit(loc);
		object->bit = (uint64_t)offset * 8;
		return variable_location(ctx, &target, loc);
	}
	struct insns insns = part->insns;
	part->insns = (struct insns){0};
	bool ok = true;
	if (part->is == PART_MEMORY) {
		if (shift % 8) {
			free(insns.v);
			return location_block(loc, "a pointer at an odd bit");
		}
		ok = insns_add(&insns, (struct fetch_insn){.op = FETCH_DEREF,
							   .size = 8,
							   .imm = (int64_t)(shift / 8),
							   .user = object->is_user});
	} else if (shift) {
		free(insns.v);
		return location_block(loc, "a pointer in a part of a register");
	}
	ok = ok && insns_plus(&insns, plus);
	location_deinit(loc);
	part = ok ? vec_push(&loc->parts) : NULL;
	if (!part) {
		free(insns.v);
		return error_nomem();
	}
	part->is = PART_MEMORY;
	part->insns = insns;
	object->followed = true;
	object->bit = 0;
	object->bit_size = 0;
	object->is_user = object->user;
	return NULL;
}

static bool is_reference(struct type peeled)
{
	int tag = type_tag(&peeled);

	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* A reference is what it refers to. */
static struct error *through_references(struct context *ctx, struct object *object)
{
	struct type peeled = type_peel(object->type);

	for (int i = 0; i < 4 && is_reference(peeled); i++) {
		TRY(follow(ctx, object, 0));
		peeled = type_peel(object->type);
	}
	return NULL;
}

static struct error *wrong_type(const struct object *object, const struct probe_arg *arg,
				const char *what, const char *hint)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	type_text(object->type, &text);
	struct error *err = error_new(EINVAL, "%s is no %s", strbuf_str(&text), what);
	if (hint)
		err = error_hint(err, "%s", hint);
	return at_step(err, arg);
}

static struct error *step_index(struct context *ctx, struct object *object,
				const struct probe_arg *arg, int64_t index)
{
	struct type peeled = type_peel(object->type);
	struct dimension dims[DIMENSIONS_MAX];
	uint64_t size, step;
	size_t n;

	if (type_tag(&peeled) == DW_TAG_pointer_type) {
		struct type target = type_of(&peeled.die);
		TRY(type_complete(ctx->image, &target));
		if (!type_size(target, &size))
			return wrong_type(object, arg, "pointer to something whose size is known",
					  NULL);
		int64_t plus;
		if (__builtin_mul_overflow(index, (int64_t)size, &plus))
			return at_step(error_new(EINVAL, "[%lld] is too far", (long long)index),
				       arg);
		return follow(ctx, object, plus);
	}
	if (type_tag(&peeled) != DW_TAG_array_type)
		return wrong_type(object, arg, "array or pointer", NULL);
	if (!array_dimensions(&peeled.die, dims, &n))
		return wrong_type(object, arg, "array whose bounds are constant", NULL);
	/* Of several dimensions the first is taken away: the rest is still this type. */
	struct type element = type_of(&peeled.die);
	if (!type_size(element, &step))
		return wrong_type(object, arg, "array of something whose size is known", NULL);
	die_udata(&peeled.die, DW_AT_byte_stride, &step);
	if (n > 1)
		return at_step(error_new(EINVAL, "an array of %zu dimensions wants as many indexes",
					 n),
			       arg);
	if (index < dims[0].lower ||
	    (dims[0].count && (uint64_t)index - (uint64_t)dims[0].lower >= dims[0].count)) {
		struct error *err =
			error_new(EINVAL, "[%lld] is outside of the array", (long long)index);

		if (dims[0].count)
			err = error_hint(err, "it has %llu elements, from [%lld] on",
					 (unsigned long long)dims[0].count,
					 (long long)dims[0].lower);
		return at_step(err, arg);
	}
	object->bit += (uint64_t)(index - dims[0].lower) * step * 8;
	object->type = element;
	return NULL;
}

/* Several [n] in a row into an array of several dimensions; *used of them are taken. */
static struct error *step_indexes(struct context *ctx, struct object *object,
				  const struct probe_arg *arg, size_t at, size_t *used)
{
	struct type peeled = type_peel(object->type);
	struct dimension dims[DIMENSIONS_MAX];
	uint64_t step;
	size_t n, have = 0;

	*used = 1;
	if (type_tag(&peeled) != DW_TAG_array_type || !array_dimensions(&peeled.die, dims, &n) ||
	    n < 2)
		return step_index(ctx, object, arg, arg->steps[at].index);
	while (at + have < arg->n_steps && have < n && arg->steps[at + have].kind == PROBE_INDEX)
		have++;
	struct type element = type_of(&peeled.die);
	if (!type_size(element, &step))
		return wrong_type(object, arg, "array of something whose size is known", NULL);
	if (have < n)
		return at_step(error_new(EINVAL, "an array of %zu dimensions wants as many indexes",
					 n),
			       arg);
	uint64_t flat = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t index = arg->steps[at + i].index;

		if (index < dims[i].lower ||
		    (dims[i].count && (uint64_t)index - (uint64_t)dims[i].lower >= dims[i].count))
			return at_step(error_new(EINVAL, "[%lld] is outside of the array",
						 (long long)index),
				       arg);
		flat = flat * dims[i].count + (uint64_t)(index - dims[i].lower);
	}
	object->bit += flat * step * 8;
	object->type = element;
	*used = n;
	return NULL;
}

/* "+OFFSET(…)": the inner value is an address, whatever its type says. */
static struct error *step_deref(struct context *ctx, struct object *object,
				const struct probe_arg *arg, int64_t plus)
{
	struct type peeled = type_peel(object->type);
	enum fetch_kind kind;
	uint64_t size;

	if (!object->raw && (!type_is_scalar(peeled, &kind) || kind == FETCH_FLOAT ||
			     !type_size(peeled, &size) || size != 8 || object->bit_size))
		return wrong_type(object, arg, "address", NULL);
	TRY(follow(ctx, object, plus));
	object->type = (struct type){.is_void = true};
	object->raw = object->behind = true;
	return NULL;
}

static struct error *walk_path(struct context *ctx, struct object *object,
			       const struct probe_arg *arg)
{
	for (size_t i = 0; i < arg->n_steps;) {
		const struct probe_step *step = &arg->steps[i];
		size_t used = 1;

		TRY(through_references(ctx, object));
		struct type peeled = type_peel(object->type);
		bool pointer = type_tag(&peeled) == DW_TAG_pointer_type;
		if (step->kind == PROBE_DEREF) {
			TRY(step_deref(ctx, object, arg, step->index));
			i++;
			continue;
		}
		if (object->raw)
			return at_step(error_new(EINVAL, "a word without a type has no members"),
				       arg);
		switch (step->kind) {
		case PROBE_ARROW:
			if (!pointer)
				return wrong_type(object, arg, "pointer",
						  !peeled.is_void &&
								  type_is_struct(type_tag(&peeled))
							  ? "use \".\" instead of \"->\""
							  : NULL);
			TRY(follow(ctx, object, 0));
			TRY(step_member(ctx, object, arg, step->name));
			break;
		case PROBE_MEMBER:
			if (pointer && !lang_derefs_by_dot(peeled))
				return wrong_type(object, arg, "struct",
						  "use \"->\" instead of \".\"");
			while (pointer) {
				TRY(follow(ctx, object, 0));
				peeled = type_peel(object->type);
				pointer = type_tag(&peeled) == DW_TAG_pointer_type;
			}
			TRY(step_member(ctx, object, arg, step->name));
			break;
		case PROBE_INDEX:
			TRY(step_indexes(ctx, object, arg, i, &used));
			break;
		case PROBE_DEREF:
			break;
		}
		i += used;
	}
	return through_references(ctx, object);
}

/* ---- The value ---- */

static struct error *obstacle(struct fetch_value *value, const char *text)
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

static struct fetch_piece *add_piece(struct fetch_value *value, size_t *cap)
{
	if (value->n_pieces == *cap &&
	    !vec_grow((void **)&value->pieces, cap, value->n_pieces + 1, sizeof(*value->pieces)))
		return NULL;
	struct fetch_piece *piece = &value->pieces[value->n_pieces++];
	memset(piece, 0, sizeof(*piece));
	return piece;
}

/* Bits [bit, bit + n) of one part as a piece. */
static struct error *piece_of(const struct object *object, const struct part *part, uint64_t bit,
			      uint64_t n, bool scalar, struct fetch_value *value, size_t *cap)
{
	struct fetch_piece *piece = add_piece(value, cap);
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

/* The object's bits, from all the parts that hold some. */
static struct error *pieces_of(const struct object *object, uint64_t bits, bool scalar,
			       struct fetch_value *value)
{
	uint64_t at = 0, done = 0;
	size_t cap = 0;

	for (size_t i = 0; i < object->loc.parts.n && done < bits; i++) {
		const struct part *part = &object->loc.parts.v[i];
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
		struct fetch_piece *piece = add_piece(value, &cap);

		if (!piece)
			return error_nomem();
		piece->bit_size = (uint32_t)(bits - done);
		piece->gives = FETCH_NOTHING;
	}
	size_t lost = 0;
	for (size_t i = 0; i < value->n_pieces; i++) {
		lost += value->pieces[i].gives == FETCH_NOTHING;
		if (value->pieces[i].n_insns > FETCH_MAX_INSNS)
			return obstacle(value, "its path is too long");
	}
	if (lost == value->n_pieces)
		return obstacle(
			value,
			object->loc.parts.n && object->loc.parts.v[0].is == PART_POINTER
				? "DW_OP_implicit_pointer: it points to what is not in memory "
				  "(its members may be read)"
				: "optimized out");
	if (lost && scalar)
		return obstacle(value, "partly optimized out");
	return NULL;
}

static struct error *string_value(struct context *ctx, struct object *object,
				  const struct probe_arg *arg, struct fetch_value *value)
{
	struct type peeled = type_peel(object->type);
	size_t cap = 0;

	value->kind = FETCH_STRING;
	bool user = arg->type == PROBE_TYPE_USTRING || arg->user;
	if (object->raw) {
		if (!object->behind)
			TRY(follow(ctx, object, 0));
	} else if (type_tag(&peeled) == DW_TAG_array_type) {
		struct type element = type_peel(type_of(&peeled.die));
		uint64_t size = 0;

		if (!type_is_char(element))
			return wrong_type(object, arg, "string", "char * and char [] are");
		if (type_size(peeled, &size) && size < 65536)
			value->size = (uint32_t)size + 1;
	} else if (type_is_pointer(type_tag(&peeled))) {
		struct type target = type_peel(type_of(&peeled.die));

		if (!target.is_void && !type_is_char(target))
			return wrong_type(object, arg, "string", "char * and char [] are");
		TRY(follow(ctx, object, 0));
	} else {
		uint64_t size;
		enum fetch_kind kind;

		/* An address in a number (unsigned long), as perf takes it. */
		if (!type_is_scalar(peeled, &kind) || kind == FETCH_FLOAT ||
		    !type_size(peeled, &size) || size != 8)
			return wrong_type(object, arg, "string", "char * and char [] are");
		TRY(follow(ctx, object, 0));
	}
	if (object->loc.obstacle)
		return obstacle(value, object->loc.obstacle);
	if (object->loc.parts.n != 1 || object->loc.parts.v[0].is != PART_MEMORY)
		return obstacle(value, "its characters are not in memory");
	struct part *part = &object->loc.parts.v[0];
	struct fetch_piece *piece = add_piece(value, &cap);
	if (!piece)
		return error_nomem();
	if (!insns_plus(&part->insns, (int64_t)((part->bit_offset + object->bit) / 8)))
		return error_nomem();
	piece->gives = FETCH_ADDRESS;
	piece->user = user || object->is_user;
	piece->insns = part->insns.v;
	piece->n_insns = part->insns.n;
	part->insns = (struct insns){0};
	return NULL;
}

/* A type that was written: the number's low bits, or the memory's. */
static struct error *typed_value(struct object *object, const struct probe_arg *arg,
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
		return pieces_of(object, arg->bit_width, true, value);
	}
	value->size = (uint32_t)(bits / 8);
	/* A narrower number is extended by its own sign first, as a conversion in C does it. */
	uint64_t have = object->bit_size ? object->bit_size : scalar ? size * 8 : bits;
	if (have < bits) {
		bool is_signed = own == FETCH_INT;
		uint64_t encoding = 0;

		if (own == FETCH_CHAR && die_udata(&peeled.die, DW_AT_encoding, &encoding))
			is_signed = encoding == DW_ATE_signed_char;
		TRY(pieces_of(object, have, true, value));
		if (value->obstacle || value->n_pieces != 1 ||
		    value->pieces[0].gives != FETCH_VALUE)
			return value->obstacle ? NULL : obstacle(value, "it is in several pieces");
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
	return pieces_of(object, bits, true, value);
}

static struct error *natural_value(struct context *ctx, struct object *object,
				   struct fetch_value *value)
{
	uint64_t size = 0;

	TRY(type_complete(ctx->image, &object->type));
	struct type peeled = type_peel(object->type);
	if (peeled.is_void)
		return obstacle(value, "its type is void");
	bool scalar = type_is_scalar(peeled, &value->kind);
	bool known = type_size(object->type, &size);
	if (!known || !size)
		return obstacle(value,
				known ? "it has no bytes" : "the size of its type is not known");
	if (size > 65536)
		return obstacle(value, "it is larger than 64 KiB");
	value->size = (uint32_t)size;
	value->hex = value->kind == FETCH_POINTER;
	value->bit_size = (uint32_t)object->bit_size;
	if (object->bit_size > size * 8 || object->bit_size > 64)
		return obstacle(value, "a bit field wider than its type");
	if (scalar && size > 8)
		scalar = false; /* as bytes, in the order that they have in memory */
	return pieces_of(object, object->bit_size ? object->bit_size : size * 8, scalar, value);
}

static struct error *no_variable(struct context *ctx, const char *name, const struct probe_arg *arg)
{
	_cleanup_variables_ struct variables vars = {0};
	_cleanup_strbuf_ struct strbuf near_text = STRBUF_INIT, all = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	const char *function = die_name(&ctx->instance);

	TRY(variables_in_scope(ctx, &vars));
	for (size_t i = 0; i < vars.n; i++) {
		const char *other = die_name(&vars.v[i].die);

		if (!other)
			continue;
		nearest_offer(&near, other);
		if (i < 24)
			strbuf_addf(&all, "%s%s", all.len ? ", " : "", other);
		else if (i == 24)
			strbuf_adds(&all, ", ...");
	}
	struct error *err = error_new(ENOENT, "%s has no variable \"%s\" in sight",
				      function ? function : "the function", name);
	if (nearest_text(&near, &near_text))
		err = error_hint(err, "did you mean %s? There are: %s", strbuf_str(&near_text),
				 strbuf_str(&all));
	else if (vars.n)
		err = error_hint(err, "there are: %s", strbuf_str(&all));
	else
		err = error_hint(err, "it has no variables");
	return at_step(err, arg);
}

static struct error *base_register(struct context *ctx, const struct probe_arg *arg,
				   struct object *object)
{
	uint16_t reg, offset;

	if (!regs_by_name(ctx->image->regs, arg->variable, &reg) ||
	    !regs_offset(ctx->image->regs, reg, &offset))
		return at_step(error_new(ENOENT, "no register %%%s", arg->variable), arg);
	object->type = (struct type){.is_void = true};
	object->raw = true;
	struct part *part = vec_push(&object->loc.parts);
	if (!part)
		return error_nomem();
	part->is = PART_VALUE;
	return insns_add(&part->insns, (struct fetch_insn){.op = FETCH_REG, .reg = reg})
		       ? NULL
		       : error_nomem();
}

/* "@SYMBOL": a global variable, or what stands at a symbol that has no type. */
static struct error *base_symbol(struct context *ctx, const struct probe_arg *arg,
				 struct object *object)
{
	struct dwarf_image *image = ctx->image;
	struct nearest near = nearest_make(arg->variable);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct dwarf_symbol *s;
	struct context none = {.image = image};
	struct variable var;
	bool found;

	TRY(global_find(image, NULL, arg->variable, &var, &found));
	if (found) {
		object->type = type_of(&var.die);
		return variable_location(&none, &var.die, &object->loc);
	}
	TRY(image_need_symbols(image));
	vec_for_each (s, &image->symbols) {
		nearest_offer(&near, s->name);
		if (strcmp(s->name, arg->variable))
			continue;
		struct part *part = vec_push(&object->loc.parts);
		if (!part)
			return error_nomem();
		part->is = PART_MEMORY;
		object->type = (struct type){.is_void = true};
		object->raw = object->behind = true;
		return insns_add(&part->insns,
				 (struct fetch_insn){.op = FETCH_STATIC, .imm = (int64_t)s->start})
			       ? NULL
			       : error_nomem();
	}
	struct error *err = error_new(ENOENT, "no symbol \"%s\"", arg->variable);
	if (nearest_text(&near, &text))
		err = error_hint(err, "did you mean %s?", strbuf_str(&text));
	return at_step(err, arg);
}

/* "$argN" */
static struct error *base_param(struct context *ctx, const struct probe_arg *arg,
				struct object *object)
{
	_cleanup_variables_ struct variables vars = {0};
	int64_t n = 0;

	TRY(variables_in_scope(ctx, &vars));
	for (size_t i = 0; i < vars.n; i++) {
		if (!vars.v[i].is_parameter || n++ != arg->index)
			continue;
		object->type = type_of(&vars.v[i].die);
		if (vars.v[i].absent)
			return location_block(&object->loc, "optimized out");
		return variable_location(ctx, &vars.v[i].die, &object->loc);
	}
	return at_step(error_new(ENOENT, "it has %lld parameters", (long long)n), arg);
}

static struct error *base_variable(struct context *ctx, const struct probe_arg *arg,
				   struct object *object)
{
	struct variable var, self;
	bool found;

	TRY(scope_variable_find(ctx, arg->variable, &var, &found));
	if (!found) {
		/* A method names its object's members without "this->". */
		struct way way = {.n = 0};

		TRY(scope_variable_find(ctx, "this", &self, &found));
		if (!found)
			return no_variable(ctx, arg->variable, arg);
		object->type = type_of(&self.die);
		TRY(self.absent ? location_block(&object->loc, "optimized out")
				: variable_location(ctx, &self.die, &object->loc));
		TRY(follow(ctx, object, 0));
		found = false;
		TRY(member_find(ctx, object->type, arg->variable, &way, &found));
		if (!found)
			return no_variable(ctx, arg->variable, arg);
		return step_member(ctx, object, arg, arg->variable);
	}
	object->type = type_of(&var.die);
	if (var.absent)
		return location_block(&object->loc, "optimized out");
	return variable_location(ctx, &var.die, &object->loc);
}

struct error *dwarf_place_arg(struct dwarf_image *image, const struct dwarf_place *place,
			      const struct probe_arg *arg, struct fetch_value *value)
{
	_cleanup_(object_deinit) struct object object = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_(fetch_value_deinit) struct fetch_value made = {0};
	struct context ctx;

	TRY(place_context(image, place, &ctx));
	object.user = arg->user;
	made.name = strdup(arg->name ? arg->name : arg->variable ? arg->variable : "arg");
	if (!made.name)
		return error_nomem();
	switch (arg->base) {
	case PROBE_REGISTER:
		TRY(base_register(&ctx, arg, &object));
		break;
	case PROBE_SYMBOL:
		TRY(base_symbol(&ctx, arg, &object));
		break;
	case PROBE_PARAM:
		TRY(base_param(&ctx, arg, &object));
		break;
	case PROBE_VARIABLE:
		TRY(base_variable(&ctx, arg, &object));
		break;
	case PROBE_RETVAL:
		if (!place->at_return)
			return at_step(error_new(EINVAL, "$retval is there only at %%return"), arg);
		object.type = type_of(&ctx.function);
		if (object.type.is_void)
			return at_step(error_new(ENOENT, "%s returns nothing", place->shown), arg);
		TRY(abi_returned(&ctx, object.type, &object.loc));
		break;
	default:
		return at_step(error_new(EINVAL, "no variable"), arg);
	}
	TRY(walk_path(&ctx, &object, arg));
	if (!object.raw) {
		type_text(object.type, &text);
		made.type = strbuf_steal(&text);
		if (!made.type)
			return error_nomem();
	}
	if (object.loc.obstacle)
		TRY(obstacle(&made, object.loc.obstacle));
	if (arg->type == PROBE_TYPE_STRING || arg->type == PROBE_TYPE_USTRING) {
		if (!made.obstacle)
			TRY(string_value(&ctx, &object, arg, &made));
		made.kind = FETCH_STRING;
	} else if (arg->type != PROBE_TYPE_NONE || object.raw) {
		_cleanup_free_ char *why = steal_ptr(made.obstacle);

		TRY(typed_value(&object, arg, &made));
		if (why)
			TRY(obstacle(&made, why));
	} else {
		_cleanup_free_ char *why = steal_ptr(made.obstacle);

		TRY(natural_value(&ctx, &object, &made));
		if (why)
			TRY(obstacle(&made, why));
	}
	*value = made;
	made = (struct fetch_value){0};
	return NULL;
}

struct error *dwarf_place_variables(struct dwarf_image *image, const struct dwarf_place *place,
				    bool with_globals, dwarf_variable_fn *fn, void *ctx_)
{
	_cleanup_variables_ struct variables vars = {0};
	struct context ctx;
	Dwarf_Die unit;

	TRY(place_context(image, place, &ctx));
	TRY(variables_in_scope(&ctx, &vars));
	size_t n_local = vars.n;
	if (with_globals && dwarf_diecu(&ctx.instance, &unit, NULL, NULL)) {
		_cleanup_variables_ struct variables globals = {0};

		TRY(variables_of_unit(image, &unit, &globals));
		for (size_t i = 0; i < globals.n; i++) {
			struct variable *var = vec_push(&vars);

			if (!var)
				return error_nomem();
			*var = globals.v[i];
		}
	}
	for (size_t i = 0; i < vars.n; i++) {
		_cleanup_(object_deinit) struct object object = {.type = type_of(&vars.v[i].die)};
		_cleanup_(fetch_value_deinit) struct fetch_value value = {0};
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (vars.v[i].absent)
			TRY(location_block(&object.loc, "optimized out"));
		else
			TRY(variable_location(&ctx, &vars.v[i].die, &object.loc));
		type_text(object.type, &text);
		TRY(through_references(&ctx, &object));
		if (object.loc.obstacle)
			TRY(obstacle(&value, object.loc.obstacle));
		else
			TRY(natural_value(&ctx, &object, &value));
		struct dwarf_variable shown = {
			.name = die_name(&vars.v[i].die),
			.type = strbuf_str(&text),
			.obstacle = value.obstacle,
			.is_parameter = vars.v[i].is_parameter,
			.is_global = i >= n_local,
		};
		TRY(fn(ctx_, &shown));
	}
	return NULL;
}
