// SPDX-License-Identifier: BSD-2-Clause
/*
 * An object as a string (:string). In C it is an address, and ends with 0. Other languages have an
 * address and a number of bytes, as two members of a struct, whose names differ: a table has them.
 * Fortran has an address and a length beside it.
 */
#include "probe/dwarf/dwarf_object.h"

/* What a string is not; the hint says what is. */
static struct error *no_string(const struct dwarf_object *object, const struct probe_arg *arg)
{
	return error_wrong_type(
		object, arg, "string",
		"char *, char [] and the strings of C++, D, Fortran, Go and Rust are");
}

/*
 * Strings that are an address and a number of bytes. Paths of members: of the address, and of the
 * length.
 */
static const struct string_members {
	const char *address[6], *length[3];
} counted_strings[] = {
	{{"str"}, {"len"}},					  /* Go */
	{{"data_ptr"}, {"length"}},				  /* Rust: &str, &[u8] */
	{{"Some", "__0", "data_ptr"}, {"Some", "__0", "length"}}, /* their address is 0 in None */
	{{"ptr"}, {"length"}},					  /* D */
	{{"_M_str"}, {"_M_len"}},				  /* libstdc++: std::string_view */
	{{"__data_"}, {"__size_"}}, /* libc++, which had no '_' at the end */
	{{"__data"}, {"__size"}},
	/* Rust: String, Vec<u8>; the way to the address differs between versions */
	{{"vec", "buf", "inner", "ptr", "pointer", "pointer"}, {"vec", "len"}},
	{{"vec", "buf", "ptr", "pointer", "pointer"}, {"vec", "len"}},
	{{"vec", "buf", "ptr", "pointer"}, {"vec", "len"}},
	{{"buf", "inner", "ptr", "pointer", "pointer"}, {"len"}},
	{{"buf", "ptr", "pointer", "pointer"}, {"len"}},
	{{"buf", "ptr", "pointer"}, {"len"}},
};

static struct error *copy_object(const struct dwarf_object *from, struct dwarf_object *to)
{
	*to = *from;
	to->loc = (struct dwarf_location){0};
	for (size_t i = 0; i < from->loc.parts.n; i++) {
		struct location_part *part = vec_push(&to->loc.parts);

		if (!part)
			return error_nomem();
		*part = from->loc.parts.v[i];
		part->insns = (struct insns){0};
		if (!insns_copy(&from->loc.parts.v[i].insns, &part->insns))
			return error_nomem();
	}
	return NULL;
}

/* The type at the end of a path of members; *found false: there is no such path. */
static struct error *follow_members(struct context *ctx, struct type type, const char *const *names,
				    size_t n, struct type *end, bool *found)
{
	*found = true;
	for (size_t i = 0; i < n && names[i] && *found; i++) {
		struct way way = {.n = 0};

		*found = false;
		TRY(way_find(ctx, type, names[i], &way, found));
		if (*found)
			type = type_of(&way.steps[way.n - 1]);
	}
	*end = type_peel(type);
	return NULL;
}

static struct error *object_members(struct context *ctx, struct dwarf_object *object,
				    const struct probe_arg *arg, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && names[i]; i++)
		TRY(object_member(ctx, object, arg, names[i]));
	return NULL;
}

/* The members of the struct's string; NULL: it is not one of these. */
static struct error *find_counted(struct context *ctx, struct type type,
				  const struct string_members **out)
{
	*out = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(counted_strings) && !*out; i++) {
		const struct string_members *m = &counted_strings[i];
		struct type address, length;
		enum fetch_kind kind;
		bool found;

		TRY(follow_members(ctx, type, m->address, ARRAY_SIZE(m->address), &address,
				   &found));
		if (!found || !type_is_pointer(type_tag(&address)) ||
		    !type_is_char(type_peel(type_of(&address.die))))
			continue;
		TRY(follow_members(ctx, type, m->length, ARRAY_SIZE(m->length), &length, &found));
		if (found && type_is_scalar(length, &kind) &&
		    (kind == FETCH_UINT || kind == FETCH_INT))
			*out = m;
	}
	return NULL;
}

/* The number of bytes, as the string's second piece. */
static struct error *add_length(struct dwarf_object *length, struct fetch_value *value, size_t *cap)
{
	_cleanup_(fetch_value_deinit) struct fetch_value number = {0};
	uint64_t size = 0;

	if (length->loc.obstacle)
		return value_block(value, length->loc.obstacle);
	if (!type_size(length->type, &size) || size > 8)
		return value_block(value, "the size of its length is not known");
	TRY(value_pieces(length, size * 8, true, &number));
	if (number.obstacle)
		return value_block(value, number.obstacle);
	if (number.n_pieces != 1 || number.pieces[0].gives != FETCH_VALUE)
		return value_block(value, "its length is in several pieces");
	struct fetch_piece *piece = value_add_piece(value, cap);
	if (!piece)
		return error_nomem();
	*piece = number.pieces[0];
	number.pieces[0] = (struct fetch_piece){0};
	/* A narrower one was loaded in its size; of a register the rest is not its. */
	if (size < 8) {
		struct insns insns = {piece->insns, piece->n_insns, piece->n_insns};
		const int64_t mask = (int64_t)((1ull << (size * 8)) - 1);
		bool ok = insns_add(&insns, (struct fetch_insn){.op = FETCH_CONST, .imm = mask}) &&
			  insns_add(&insns, (struct fetch_insn){.op = FETCH_AND});

		piece->insns = insns.v;
		piece->n_insns = insns.n;
		if (!ok)
			return error_nomem();
	}
	piece->bit_size = 64;
	return NULL;
}

/* The object is the characters, in memory: the string's first piece. */
static struct error *add_characters(struct dwarf_object *object, bool user,
				    struct fetch_value *value, size_t *cap)
{
	if (object->loc.obstacle)
		return value_block(value, object->loc.obstacle);
	if (object->loc.parts.n != 1 || object->loc.parts.v[0].is != PART_MEMORY)
		return value_block(value, "its characters are not in memory");
	struct location_part *part = &object->loc.parts.v[0];
	struct fetch_piece *piece = value_add_piece(value, cap);
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

static struct error *counted_string(struct context *ctx, struct dwarf_object *object,
				    const struct probe_arg *arg, const struct string_members *m,
				    bool user, struct fetch_value *value)
{
	_cleanup_(pb_dwarf_object_deinit) struct dwarf_object length = {0};
	size_t cap = 0;

	TRY(copy_object(object, &length));
	TRY(object_members(ctx, object, arg, m->address, ARRAY_SIZE(m->address)));
	TRY(object_follow(ctx, object, 0));
	TRY(add_characters(object, user, value, &cap));
	if (value->obstacle)
		return NULL;
	TRY(object_members(ctx, &length, arg, m->length, ARRAY_SIZE(m->length)));
	return add_length(&length, value, &cap);
}

/* Fortran's character(len=*): the length is a variable of its own. */
static struct error *fortran_string(struct context *ctx, struct dwarf_object *object,
				    struct type peeled, bool user, struct fetch_value *value)
{
	_cleanup_(pb_dwarf_object_deinit) struct dwarf_object length = {0};
	Dwarf_Die variable;
	uint64_t size;
	size_t cap = 0;

	TRY(add_characters(object, user, value, &cap));
	if (value->obstacle)
		return NULL;
	if (die_udata(&peeled.die, DW_AT_byte_size, &size)) {
		value->size = size < 65536 ? (uint32_t)size + 1 : 0;
		return NULL;
	}
	if (!die_ref(&peeled.die, DW_AT_string_length, &variable))
		return value_block(value, "its length is not known");
	length.type = type_of(&variable);
	TRY(variable_location(ctx, &variable, &length.loc));
	return add_length(&length, value, &cap);
}

struct error *value_fortran_string(struct context *ctx, struct dwarf_object *object,
				   struct fetch_value *value)
{
	value->kind = FETCH_STRING;
	return fortran_string(ctx, object, type_peel(object->type), false, value);
}

/* libstdc++'s std::string becomes its pointer. */
static struct error *through_string(struct context *ctx, struct dwarf_object *object,
				    const struct probe_arg *arg)
{
	static const char *const members[] = {"_M_dataplus", "_M_p"};
	struct type peeled = type_peel(object->type);
	const char *name = die_name(&peeled.die);

	if (!name || strncmp(name, "basic_string<", 13) || !die_lang_is_cxx(&peeled.die))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		struct way way = {.n = 0};
		bool found = false;

		TRY(way_find(ctx, object->type, members[i], &way, &found));
		if (!found)
			return NULL;
		TRY(object_member(ctx, object, arg, members[i]));
	}
	return NULL;
}

struct error *value_string(struct context *ctx, struct dwarf_object *object,
			   const struct probe_arg *arg, struct fetch_value *value)
{
	struct type peeled = type_peel(object->type);
	size_t cap = 0;

	value->kind = FETCH_STRING;
	bool user = arg->type == PROBE_TYPE_USTRING || arg->user;
	if (!object->raw && type_is_struct(type_tag(&peeled))) {
		const struct string_members *counted;

		TRY(find_counted(ctx, object->type, &counted));
		if (counted)
			return counted_string(ctx, object, arg, counted, user, value);
		TRY(through_string(ctx, object, arg));
		peeled = type_peel(object->type);
	}
	if (!object->raw && type_tag(&peeled) == DW_TAG_string_type)
		return fortran_string(ctx, object, peeled, user, value);
	if (object->raw) {
		if (!object->behind)
			TRY(object_follow(ctx, object, 0));
	} else if (type_tag(&peeled) == DW_TAG_array_type) {
		struct type element = type_peel(type_of(&peeled.die));
		uint64_t size = 0;

		if (!type_is_char(element))
			return no_string(object, arg);
		if (type_size(peeled, &size) && size < 65536)
			value->size = (uint32_t)size + 1;
	} else if (type_is_pointer(type_tag(&peeled))) {
		struct type target = type_peel(type_of(&peeled.die));

		if (!target.is_void && !type_is_char(target))
			return no_string(object, arg);
		TRY(object_follow(ctx, object, 0));
	} else {
		uint64_t size;
		enum fetch_kind kind;

		/* An address in a number (unsigned long), as perf takes it. */
		if (!type_is_scalar(peeled, &kind) || kind == FETCH_FLOAT ||
		    !type_size(peeled, &size) || size != 8)
			return no_string(object, arg);
		TRY(object_follow(ctx, object, 0));
	}
	return add_characters(object, user, value, &cap);
}
