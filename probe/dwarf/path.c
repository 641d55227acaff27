// SPDX-License-Identifier: BSD-2-Clause
/*
 * An argument's path, step by step through structs, pointers and arrays.
 *
 * What is looked at is an object: a location, a bit within it, and a type. A
 * member moves the bit; an arrow loads the pointer that the object is, and
 * goes on with the memory it points to. A pointer that was optimized away
 * while what it points to is known (DW_OP_implicit_pointer) is followed here,
 * with nothing to load.
 */
#include "probe/dwarf/dwarf_object.h"

/* ---- Members ---- */

static bool lang_derefs_by_dot(struct type type)
{
	return !type.is_void && die_lang_is_rust(&type.die);
}

/* Adds a base's or a member's place; false: it is no constant. */
static struct error *member_offset(struct context *ctx, struct dwarf_object *object,
				   Dwarf_Die *member)
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
		return dw_error(ctx->image, "in a member's location");
	if (n == 1 && ops[0].atom == DW_OP_plus_uconst) { /* DWARF 2 */
		object->bit += ops[0].number * 8;
		return NULL;
	}
	/* A virtual base: its place is in the object's table. */
	struct location_part *part = object->loc.parts.n == 1 ? &object->loc.parts.v[0] : NULL;
	if (!part || part->is != PART_MEMORY || (object->bit + part->bit_offset) % 8)
		return location_block(&object->loc,
				      "a virtual base of an object that is not in memory");
	_cleanup_location_ struct dwarf_location loc = {0};
	if (!insns_plus(&part->insns, (int64_t)((object->bit + part->bit_offset) / 8)))
		return error_nomem();
	TRY(expr_location(ctx, &attr, ops, n, &part->insns, &loc));
	location_deinit(&object->loc);
	object->loc = loc;
	loc = (struct dwarf_location){0};
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
		} else if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) {
			members_offer(&child, near, all, n, depth + 1);
		} else if (tag == DW_TAG_member || tag == DW_TAG_inheritance) {
			struct type inner = type_peel(type_of(&child));

			if (!inner.is_void && type_is_struct(type_tag(&inner)))
				members_offer(&inner.die, near, all, n, depth + 1);
		}
	} while (!die_sibling(&child));
}

/* Among the children of a struct, or of the variants in one (Rust's enumerations: "Some"). */
static struct error *members_find(struct context *ctx, Dwarf_Die *parent, const char *name,
				  struct way *way, bool *found, int depth)
{
	Dwarf_Die child;

	if (depth > 8 || way->n >= 16 || dwarf_child(parent, &child))
		return NULL;
	do {
		int tag = dwarf_tag(&child);
		const char *own = die_name(&child);

		if (tag == DW_TAG_variant_part || tag == DW_TAG_variant)
			TRY(members_find(ctx, &child, name, way, found, depth + 1));
		if (*found)
			return NULL;
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance && tag != DW_TAG_variable)
			continue;
		way->steps[way->n++] = child;
		if (tag != DW_TAG_inheritance && own && !strcmp(own, name)) {
			*found = true;
			return NULL;
		}
		if (tag == DW_TAG_inheritance || (tag == DW_TAG_member && !own))
			TRY(way_find(ctx, type_of(&child), name, way, found));
		if (*found)
			return NULL;
		way->n--;
	} while (!die_sibling(&child));
	return NULL;
}

struct error *way_find(struct context *ctx, struct type type, const char *name, struct way *way,
		       bool *found)
{
	TRY(type_complete(ctx->image, &type));
	type = type_peel(type);
	if (type.is_void || !type_is_struct(type_tag(&type)))
		return NULL;
	return members_find(ctx, &type.die, name, way, found, 0);
}

struct error *error_at_arg(struct error *err, const struct probe_arg *arg)
{
	return error_at(err, "%s", arg->text ? arg->text : arg->name);
}

static struct error *no_member(struct type type, const struct probe_arg *arg, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, all = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	size_t n = 0;

	type_text(type, &text);
	struct type peeled = type_peel(type);
	if (!peeled.is_void)
		members_offer(&peeled.die, &near, &all, &n, 0);
	struct error *err = error_new(ENOENT, "%s has no member \"%s\"", strbuf_str(&text), name);
	if (n)
		err = error_suggest_and(err, &near, "the members are: %s", strbuf_str(&all));
	else
		err = error_hint(err, "the debug information lacks its definition");
	return error_at_arg(err, arg);
}

struct error *object_member(struct context *ctx, struct dwarf_object *object,
			    const struct probe_arg *arg, const char *name)
{
	struct type type = object->type;
	struct way way = {.n = 0};
	bool found = false;
	uint64_t bits, bit_offset, storage;

	TRY(type_complete(ctx->image, &type));
	TRY(way_find(ctx, type, name, &way, &found));
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

struct error *object_follow(struct context *ctx, struct dwarf_object *object, int64_t plus)
{
	struct type pointer = type_peel(object->type);
	struct dwarf_location *loc = &object->loc;
	uint64_t at = 0;
	struct location_part *part = NULL;

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
struct error *object_through_references(struct context *ctx, struct dwarf_object *object)
{
	struct type peeled = type_peel(object->type);

	for (int i = 0; i < 4 && is_reference(peeled); i++) {
		TRY(object_follow(ctx, object, 0));
		peeled = type_peel(object->type);
	}
	return NULL;
}

struct error *error_wrong_type(const struct dwarf_object *object, const struct probe_arg *arg,
			       const char *what, const char *hint)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	type_text(object->type, &text);
	struct error *err = error_new(EINVAL, "%s is not a %s", strbuf_str(&text), what);
	if (hint)
		err = error_hint(err, "%s", hint);
	return error_at_arg(err, arg);
}

static struct error *step_index(struct context *ctx, struct dwarf_object *object,
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
			return error_wrong_type(object, arg,
						"pointer to something whose size is known", NULL);
		int64_t plus;
		if (__builtin_mul_overflow(index, (int64_t)size, &plus))
			return error_at_arg(error_new(EINVAL, "index [%lld] is too large",
						      (long long)index),
					    arg);
		return object_follow(ctx, object, plus);
	}
	if (type_tag(&peeled) != DW_TAG_array_type)
		return error_wrong_type(object, arg, "array or pointer", NULL);
	if (!array_dimensions(&peeled.die, dims, &n))
		return error_wrong_type(object, arg, "array whose bounds are constant", NULL);
	/* Of several dimensions the first is taken away: the rest is still this type. */
	struct type element = type_of(&peeled.die);
	if (!type_size(element, &step))
		return error_wrong_type(object, arg, "array of something whose size is known",
					NULL);
	die_udata(&peeled.die, DW_AT_byte_stride, &step);
	if (n > 1)
		return error_at_arg(
			error_new(EINVAL, "an array with %zu dimensions needs as many indexes", n),
			arg);
	if (index < dims[0].lower ||
	    (dims[0].count && (uint64_t)index - (uint64_t)dims[0].lower >= dims[0].count)) {
		struct error *err =
			error_new(EINVAL, "index [%lld] is out of bounds", (long long)index);

		if (dims[0].count)
			err = error_hint(err, "the array has %llu elements, starting at [%lld]",
					 (unsigned long long)dims[0].count,
					 (long long)dims[0].lower);
		return error_at_arg(err, arg);
	}
	object->bit += (uint64_t)(index - dims[0].lower) * step * 8;
	object->type = element;
	return NULL;
}

/* Several [n] in a row into an array of several dimensions; *used of them are taken. */
static struct error *step_indexes(struct context *ctx, struct dwarf_object *object,
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
		return error_wrong_type(object, arg, "array of something whose size is known",
					NULL);
	if (have < n)
		return error_at_arg(
			error_new(EINVAL, "an array with %zu dimensions needs as many indexes", n),
			arg);
	uint64_t flat = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t index = arg->steps[at + i].index;

		if (index < dims[i].lower ||
		    (dims[i].count && (uint64_t)index - (uint64_t)dims[i].lower >= dims[i].count))
			return error_at_arg(error_new(EINVAL, "index [%lld] is out of bounds",
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
static struct error *step_deref(struct context *ctx, struct dwarf_object *object,
				const struct probe_arg *arg, int64_t plus)
{
	struct type peeled = type_peel(object->type);
	enum fetch_kind kind;
	uint64_t size;

	if (!object->raw && (!type_is_scalar(peeled, &kind) || kind == FETCH_FLOAT ||
			     !type_size(peeled, &size) || size != 8 || object->bit_size))
		return error_wrong_type(object, arg, "address", NULL);
	TRY(object_follow(ctx, object, plus));
	object->type = (struct type){.is_void = true};
	object->raw = object->behind = true;
	return NULL;
}

struct error *object_walk(struct context *ctx, struct dwarf_object *object,
			  const struct probe_arg *arg)
{
	for (size_t i = 0; i < arg->n_steps;) {
		const struct probe_step *step = &arg->steps[i];
		size_t used = 1;

		TRY(object_through_references(ctx, object));
		struct type peeled = type_peel(object->type);
		bool pointer = type_tag(&peeled) == DW_TAG_pointer_type;
		if (step->kind == PROBE_DEREF) {
			TRY(step_deref(ctx, object, arg, step->index));
			i++;
			continue;
		}
		if (object->raw)
			return error_at_arg(
				error_new(EINVAL, "a value without a type has no members"), arg);
		switch (step->kind) {
		case PROBE_ARROW:
			if (!pointer)
				return error_wrong_type(
					object, arg, "pointer",
					!peeled.is_void && type_is_struct(type_tag(&peeled))
						? "use \".\" instead of \"->\""
						: NULL);
			TRY(object_follow(ctx, object, 0));
			TRY(object_member(ctx, object, arg, step->name));
			break;
		case PROBE_MEMBER:
			if (pointer && !lang_derefs_by_dot(peeled))
				return error_wrong_type(object, arg, "struct",
							"use \"->\" instead of \".\"");
			while (pointer) {
				TRY(object_follow(ctx, object, 0));
				peeled = type_peel(object->type);
				pointer = type_tag(&peeled) == DW_TAG_pointer_type;
			}
			TRY(object_member(ctx, object, arg, step->name));
			break;
		case PROBE_INDEX:
			TRY(step_indexes(ctx, object, arg, i, &used));
			break;
		case PROBE_DEREF:
			break;
		}
		i += used;
	}
	return object_through_references(ctx, object);
}
