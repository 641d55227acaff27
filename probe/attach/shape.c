// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program's prototype says how it wants its arguments:
 *
 *	int prog(void *ctx)
 *	int prog(void *ctx, int err, T a, T b, T c)	values of registers, in order
 *	int prog(void *ctx, struct NAME *args)		members of their names
 *
 * Sizes are those that the program declares: a number is made as wide or as
 * narrow as an assignment in C would. A pointer is never cut, and a struct or an
 * array fits exactly or not at all.
 */
#include <bpf/btf.h>

#include "lib/base/names.h"
#include "probe/attach/internal.h"

void shape_deinit(struct attach_shape *shape)
{
	free(shape->members);
	free(shape->args);
	*shape = (struct attach_shape){0};
}

static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_number(const struct btf_type *t)
{
	return t && (btf_is_int(t) || btf_is_any_enum(t) || btf_is_ptr(t) || btf_is_float(t));
}

static bool is_text(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_type *of = btf_is_array(t) ? plain(btf, btf_array(t)->type) : NULL;

	return of && btf_is_int(of) && of->size == 1;
}

/* "file, count" */
static const char *arg_names(const struct probe_points *points, struct strbuf *sb)
{
	for (size_t i = 0; i < points->n_args; i++)
		strbuf_addf(sb, "%s%s", i ? ", " : "", points->names[i]);
	return points->n_args ? strbuf_str(sb) : "none";
}

/* The argument's value where it can be read; NULL: nowhere. */
static const struct fetch_value *some_value(const struct probe_points *points, size_t arg)
{
	for (size_t i = 0; i < points->n; i++)
		if (!points->v[i].args[arg].obstacle)
			return &points->v[i].args[arg];
	return NULL;
}

/* Of all points: what does not fit into a register, if that is anywhere so. */
static const struct fetch_value *widest_value(const struct probe_points *points, size_t arg)
{
	for (size_t i = 0; i < points->n; i++) {
		const struct fetch_value *value = &points->v[i].args[arg];

		if (!value->obstacle && (value->kind == FETCH_STRING || value->size > 8))
			return value;
	}
	return some_value(points, arg);
}

/* What the program must declare for it. */
static void declare(const struct fetch_value *value, const char *name, struct strbuf *sb)
{
	if (!value)
		strbuf_addf(sb, "unsigned long %s", name);
	else if (value->kind == FETCH_STRING)
		strbuf_addf(sb, "char %s[%u]", name, value->size ? value->size : 64);
	else if (value->size > 8)
		strbuf_addf(sb, "char %s[%u]", name, value->size);
	else
		strbuf_addf(sb, "unsigned long %s", name);
}

/* "struct NAME { int err; char name[64]; unsigned long count; }" */
static struct error *hint_struct(struct error *err, const struct probe_points *points)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "struct NAME { int err;");
	for (size_t i = 0; i < points->n_args && i < 8; i++) {
		strbuf_addch(&sb, ' ');
		declare(some_value(points, i), points->names[i], &sb);
		strbuf_addch(&sb, ';');
	}
	strbuf_adds(&sb, points->n_args > 8 ? " … }" : " }");
	return error_hint(err, "int prog(void *ctx, struct NAME *args), with %s", strbuf_str(&sb));
}

/* The value's bits mean something else in a number of a program than those of an integer. */
static uint32_t float_size(const struct fetch_value *value)
{
	return value->kind == FETCH_FLOAT ? value->size : 0;
}

static const char *type_name(const struct fetch_value *value)
{
	return value->type ? value->type : "a number";
}

/*
 * A member or parameter is read as one type: integers of all sizes become what it is declared as,
 * but the bits of a float and of a double, or of a float and an int, cannot be told apart.
 */
static struct error *check_floats(const struct probe_points *points, size_t arg)
{
	const struct probe_point *first = NULL;

	for (size_t i = 0; i < points->n; i++) {
		const struct probe_point *point = &points->v[i];
		const struct fetch_value *value = &point->args[arg];

		if (value->obstacle)
			continue;
		if (!first)
			first = point;
		if (float_size(value) == float_size(&first->args[arg]))
			continue;
		return error_hint(error_new(EINVAL,
					    "argument %s is %s in %s but %s in %s; the program "
					    "cannot distinguish them",
					    points->names[arg], type_name(&first->args[arg]),
					    first->function, type_name(value), point->function),
				  "match fewer functions, and write a program for each type");
	}
	return NULL;
}

/* In the order of the arguments, which is that of err_mask's bits. */
static void add_member(struct attach_shape *shape, const struct prologue_member *member, size_t arg)
{
	size_t i = shape->n++;

	for (; i && shape->args[i - 1] > arg; i--) {
		shape->members[i] = shape->members[i - 1];
		shape->args[i] = shape->args[i - 1];
	}
	shape->members[i] = *member;
	shape->args[i] = arg;
}

static struct error *in_registers(const struct btf *btf, const struct btf_type *proto,
				  const struct probe_points *points, struct attach_shape *shape)
{
	const size_t given = btf_vlen(proto) > 2 ? btf_vlen(proto) - 2u : 0;
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	if (given != points->n_args) {
		struct error *err =
			error_new(EINVAL, "it takes %zu argument%s, but the definition has %zu: %s",
				  given, given == 1 ? "" : "s", points->n_args,
				  arg_names(points, &names));
		return points->n_args > 3
			       ? hint_struct(err, points)
			       : error_hint(
					 err,
					 "the first two parameters are the context and the error: "
					 "int prog(void *ctx, int err, unsigned long a, …)");
	}
	for (size_t i = 0; i < given; i++) {
		const struct btf_type *t = plain(btf, btf_params(proto)[i + 2].type);
		const int64_t size = btf__resolve_size(btf, btf_params(proto)[i + 2].type);
		const struct fetch_value *value = widest_value(points, i);

		if (!is_number(t) || size < 1 || size > 8 || (size & (size - 1)))
			return error_new(
				EINVAL,
				"its parameter %zu, for %s, is not a number of at most 8 bytes",
				i + 3, points->names[i]);
		if (value && (value->kind == FETCH_STRING || value->size > 8))
			return hint_struct(error_new(EINVAL, "%s does not fit into a register",
						     points->names[i]),
					   points);
		TRY(check_floats(points, i));
		const struct prologue_member member = {.size = (uint32_t)size};
		add_member(shape, &member, i);
	}
	return NULL;
}

/* Whether the member can hold what is fetched. */
static struct error *check_member(const struct btf *btf, const struct btf_member *m,
				  const char *name, uint32_t size, const struct fetch_value *value)
{
	const struct btf_type *t = plain(btf, m->type);

	if (value->kind == FETCH_STRING)
		return is_text(btf, t) ? NULL
				       : error_hint(error_new(EINVAL, "%s is a string", name),
						    "declare 'char %s[64];'", name);
	if (!is_number(t) && size != value->size)
		return error_hint(error_new(EINVAL, "%s has %u bytes, but its member has %u", name,
					    value->size, size),
				  "declare a member of the same size");
	if (is_number(t) && value->size > 8)
		return error_hint(error_new(EINVAL, "%s has %u bytes and is not a number", name,
					    value->size),
				  "declare 'char %s[%u];'", name, value->size);
	if (value->kind == FETCH_POINTER && size < 8)
		return error_new(EINVAL, "%s is a pointer, but its member has %u bytes", name,
				 size);
	return NULL;
}

/* The same at all points, which may have different types. */
static struct error *check_members(const struct btf *btf, const struct btf_member *m, uint32_t size,
				   const struct probe_points *points, size_t arg)
{
	for (size_t i = 0; i < points->n; i++) {
		const struct fetch_value *value = &points->v[i].args[arg];

		if (!value->obstacle)
			TRY(check_member(btf, m, points->names[arg], size, value));
	}
	return check_floats(points, arg);
}

/* err, err_mask and __probe_ip. */
static bool is_special(const char *name, uint32_t offset, int64_t size, struct attach_shape *shape)
{
	if (!strcmp(name, "err") && size == 4) {
		shape->prologue.err_offset = (int32_t)offset;
		return true;
	}
	if (!strcmp(name, "err_mask") && size == 8) {
		shape->prologue.err_mask_offset = (int32_t)offset;
		return true;
	}
	if (!strcmp(name, "__probe_ip") && size == 8) {
		shape->prologue.ip_offset = (int32_t)offset;
		/* It is the program of perf-bpf record: people read its strings, and no code does.
		 */
		shape->prologue.marks_cut = true;
		return true;
	}
	return false;
}

static size_t arg_called(const struct probe_points *points, const char *name)
{
	size_t i = 0;

	while (i < points->n_args && strcmp(points->names[i], name))
		i++;
	return i;
}

static struct error *no_such_argument(const struct probe_points *points, const char *name)
{
	struct nearest near = nearest_make(name);
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	struct error *err =
		error_new(EINVAL,
			  "its struct has a member %s, but the definition has no such argument",
			  name);

	if (!strcmp(name, "err"))
		return error_hint(err, "declare 'int err;'");
	if (!strcmp(name, "err_mask"))
		return error_hint(err, "declare '__u64 err_mask;'");
	if (!strcmp(name, "__probe_ip"))
		return error_hint(err, "declare '__u64 __probe_ip;'");
	for (size_t i = 0; i < points->n_args; i++)
		nearest_offer(&near, points->names[i]);
	return error_hint(error_suggest(err, &near), "its arguments are %s",
			  arg_names(points, &names));
}

/* Whether the arguments were asked for one by one: then none is left out. */
static bool is_listed(const struct probe_def *def)
{
	for (size_t i = 0; i < def->n_args; i++)
		if (def->args[i].base == PROBE_PARAMS || def->args[i].base == PROBE_VARS)
			return false;
	return true;
}

static struct error *no_such_member(const struct btf *btf, const struct btf_type *st,
				    const struct probe_points *points, const char *name)
{
	struct nearest near = nearest_make(name);
	struct error *err = error_new(EINVAL, "struct %s has no member for argument %s",
				      btf__name_by_offset(btf, st->name_off)
					      ? btf__name_by_offset(btf, st->name_off)
					      : "",
				      name);

	for (uint32_t i = 0; i < btf_vlen(st); i++) {
		const char *member = btf__name_by_offset(btf, btf_members(st)[i].name_off);

		if (arg_called(points, member) == points->n_args)
			nearest_offer(&near, member);
	}
	err = error_suggest(err, &near);
	return hint_struct(err, points);
}

/* A member of that name could be the one or the other. */
static struct error *check_names(const struct probe_points *points)
{
	static const char *const taken[] = {"err", "err_mask", "__probe_ip"};

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (arg_called(points, taken[i]) < points->n_args)
			return error_hint(
				error_new(EINVAL,
					  "argument %s has the name of a reserved member of the "
					  "struct",
					  taken[i]),
				"rename it in the definition, as in error=%s, and in the struct",
				taken[i]);
	return NULL;
}

static struct error *in_struct(const struct btf *btf, const struct btf_type *st,
			       const struct probe_def *def, const struct probe_points *points,
			       struct attach_shape *shape)
{
	_cleanup_free_ bool *seen = calloc(points->n_args + 1, sizeof(*seen));

	if (!seen)
		return error_nomem();
	shape->prologue.in_struct = true;
	shape->prologue.size = st->size;
	for (uint32_t i = 0; i < btf_vlen(st); i++) {
		const struct btf_member *m = &btf_members(st)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);
		const int64_t size = btf__resolve_size(btf, m->type);
		const uint32_t bit = btf_member_bit_offset(st, i);
		const size_t arg = arg_called(points, name);

		if (btf_member_bitfield_size(st, i) || bit % 8 || size < 1)
			return error_new(EINVAL, "member %s of its struct is a bit field, or empty",
					 name);
		if (arg == points->n_args) {
			if (is_special(name, bit / 8, size, shape))
				continue;
			return no_such_argument(points, name);
		}
		TRY(check_members(btf, m, (uint32_t)size, points, arg));
		const struct prologue_member member = {bit / 8, (uint32_t)size};
		if (!seen[arg])
			add_member(shape, &member, arg);
		seen[arg] = true;
	}
	for (size_t i = 0; i < points->n_args && is_listed(def); i++)
		if (!seen[i])
			return no_such_member(btf, st, points, points->names[i]);
	return NULL;
}

struct error *shape_of(const struct btf *btf, const char *function, const struct probe_def *def,
		       const struct probe_points *points, bool own_struct, struct attach_shape *out)
{
	_cleanup_(shape_deinit) struct attach_shape shape = {0};
	const int id = btf ? btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) : -1;

	if (id < 0)
		return error_hint(error_new(ENODATA, "the object has no BTF for the program, so "
						     "its parameters are not known"),
				  "compile it with clang -g");
	const struct btf_type *proto =
		btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type);
	shape.members = calloc(points->n_args + 1, sizeof(*shape.members));
	shape.args = calloc(points->n_args + 1, sizeof(*shape.args));
	if (!shape.members || !shape.args)
		return error_nomem();
	shape.prologue.err_offset = shape.prologue.err_mask_offset = -1;
	shape.prologue.ip_offset = -1;
	shape.prologue.members = shape.members;
	const struct btf_type *second =
		btf_vlen(proto) >= 2 ? plain(btf, btf_params(proto)[1].type) : NULL;
	const struct btf_type *st = second && btf_is_ptr(second) ? plain(btf, second->type) : NULL;
	if (second && btf_is_ptr(second) && (!st || !btf_is_struct(st)))
		return hint_struct(error_new(EINVAL,
					     "its second parameter does not point to a struct"),
				   points);
	if (st && !own_struct)
		TRY(check_names(points));
	TRY(st ? in_struct(btf, st, def, points, &shape)
	       : in_registers(btf, proto, points, &shape));
	*out = shape;
	shape = (struct attach_shape){0};
	return NULL;
}
