// SPDX-License-Identifier: BSD-2-Clause
/*
 * Along a path through BTF's types: "file->f_path.dentry->d_name.name". Each
 * step is checked as a C compiler would; offsets and sizes are those of the
 * BTF that is given, the running kernel's, so that nothing is relocated later.
 *
 * A load is typed as long as the verifier can follow it (kernel/bpf/btf.c,
 * btf_struct_walk): within a struct that a pointer of the prototype leads to,
 * from one pointer to a struct to the next. It gives up, or takes another
 * member than was meant, at unions, bit fields, flexible arrays, and at
 * anything beyond the struct; so does this.
 */
#include "probe/point/internal.h"

static void type_text(const struct btf *btf, uint32_t id, struct strbuf *out, unsigned depth)
{
	static const char *const heads[] = {
		[BTF_KIND_STRUCT] = "struct ",	   [BTF_KIND_UNION] = "union ",
		[BTF_KIND_ENUM] = "enum ",	   [BTF_KIND_ENUM64] = "enum ",
		[BTF_KIND_CONST] = "const ",	   [BTF_KIND_VOLATILE] = "volatile ",
		[BTF_KIND_RESTRICT] = "restrict ",
	};
	const struct btf_type *t = btf__type_by_id(btf, id);
	const uint32_t kind = t ? btf_kind(t) : BTF_KIND_UNKN;

	if (!id || !t) {
		strbuf_adds(out, "void");
		return;
	}
	if (depth > TYPE_DEPTH_MAX) {
		strbuf_adds(out, "…");
		return;
	}
	const char *name = btf_name(btf, t);
	const struct btf_type *to;
	switch (kind) {
	case BTF_KIND_PTR:
		to = btf__type_by_id(btf, t->type);
		if (t->type && btf_is_func_proto(to)) {
			type_text(btf, to->type, out, depth + 1);
			strbuf_adds(out, " (*)()");
			return;
		}
		type_text(btf, t->type, out, depth + 1);
		if (t->type && btf_is_array(to)) {
			strbuf_adds(out, " (*)");
			return;
		}
		strbuf_adds(out, out->len && out->str[out->len - 1] == '*' ? "*" : " *");
		return;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
		to = btf__type_by_id(btf, t->type);
		if (t->type && btf_is_ptr(to)) {
			type_text(btf, t->type, out, depth + 1);
			strbuf_addf(out, "%.*s", (int)strlen(heads[kind]) - 1, heads[kind]);
			return;
		}
		strbuf_adds(out, heads[kind]);
		type_text(btf, t->type, out, depth + 1);
		return;
	case BTF_KIND_TYPE_TAG:
		type_text(btf, t->type, out, depth + 1);
		return;
	case BTF_KIND_ARRAY: {
		uint32_t elem = id;

		for (unsigned i = 0; i < TYPE_DEPTH_MAX && btf_is_array(btf__type_by_id(btf, elem));
		     i++)
			elem = btf_array(btf__type_by_id(btf, elem))->type;
		type_text(btf, elem, out, depth + 1);
		strbuf_addch(out, ' ');
		elem = id;
		for (unsigned i = 0; i < TYPE_DEPTH_MAX && btf_is_array(btf__type_by_id(btf, elem));
		     i++) {
			const struct btf_array *array = btf_array(btf__type_by_id(btf, elem));

			strbuf_addf(out, "[%u]", array->nelems);
			elem = array->type;
		}
		return;
	}
	case BTF_KIND_FWD:
		strbuf_adds(out, btf_kflag(t) ? "union " : "struct ");
		break;
	case BTF_KIND_FUNC_PROTO:
		type_text(btf, t->type, out, depth + 1);
		strbuf_adds(out, " ()");
		return;
	default:
		if (kind < ARRAY_SIZE(heads) && heads[kind])
			strbuf_adds(out, heads[kind]);
	}
	strbuf_adds(out, *name ? name : "{…}");
}

void btf_type_text(const struct btf *btf, uint32_t id, struct strbuf *out)
{
	type_text(btf, id, out, 0);
}

/* A walk: where it stands, and what is there. */
struct path_walk {
	const struct btf *btf;
	uint32_t type; /* as declared; 0: not known ("+8(…)") */
	struct spot spot;
	bool typed_root;  /* the parameter is a pointer, as fentry has it */
	const char *text; /* the definition's */
	const struct probe_arg *arg;
};

static const struct btf_type *peel(const struct path_walk *w, uint32_t id, uint32_t *real)
{
	return btf_skip_mods_and_typedefs(w->btf, id, real);
}

/* Whether a pointer's target has a tag such as __user. */
static bool has_tag(const struct btf *btf, uint32_t id, const char *tag)
{
	for (unsigned i = 0; id && i < TYPE_DEPTH_MAX; i++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return false;
		if (btf_is_type_tag(t) && str_equal(btf_name(btf, t), tag))
			return true;
		id = t->type;
	}
	return false;
}

static struct error *walk_error(const struct path_walk *w, const struct probe_step *step, int code,
				const char *what, const char *is, uint32_t type)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	btf_type_text(w->btf, type, &sb);
	return probe_def_error(w->text, step ? step->at : w->arg->at, code, "%s%s%s", what, is,
			       strbuf_str(&sb));
}

/* From a pointer to what it points to. */
static struct error *follow(struct path_walk *w, const struct btf_type *ptr)
{
	const struct btf_type *to = peel(w, ptr->type, NULL);
	const bool user = has_tag(w->btf, ptr->type, "user");
	const bool from = w->spot.is == SPOT_ADDRESS ? w->spot.typed : w->typed_root;

	TRY(spot_follow(&w->spot, from && ptr->type && btf_is_composite(to) && !user &&
					  !has_tag(w->btf, ptr->type, "percpu")));
	w->spot.user = user || w->arg->user;
	w->type = ptr->type;
	return NULL;
}

struct path_member {
	uint64_t bit_offset; /* from the outermost struct */
	uint32_t bit_size;   /* of a bit field, else 0 */
	uint32_t type;
	bool in_union;
};

/* The member of that name, also within members that have none. */
static bool find_member(const struct btf *btf, uint32_t id, const char *name, unsigned depth,
			struct path_member *out)
{
	uint32_t real;
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, &real);

	if (!btf_is_composite(t) || depth > TYPE_DEPTH_MAX)
		return false;
	const struct btf_member *m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *got = btf__name_by_offset(btf, m[i].name_off);
		struct path_member inner = *out;

		inner.bit_offset += btf_member_bit_offset(t, i);
		inner.in_union |= btf_is_union(t);
		if (got && *got) {
			if (!str_equal(got, name))
				continue;
			inner.type = m[i].type;
			inner.bit_size = btf_member_bitfield_size(t, i);
			const struct btf_type *mt =
				btf_skip_mods_and_typedefs(btf, m[i].type, NULL);
			/* The form of before kernel 5.0: the type has the bits. */
			if (!btf_kflag(t) && btf_is_int(mt) && btf_int_bits(mt) != mt->size * 8) {
				inner.bit_size = btf_int_bits(mt);
				inner.bit_offset += btf_int_offset(mt);
			}
			*out = inner;
			return true;
		}
		if (find_member(btf, m[i].type, name, depth + 1, &inner)) {
			*out = inner;
			return true;
		}
	}
	return false;
}

static void offer_members(const struct btf *btf, uint32_t id, unsigned depth, struct nearest *near,
			  struct strbuf *all, size_t *n)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	if (!btf_is_composite(t) || depth > TYPE_DEPTH_MAX)
		return;
	const struct btf_member *m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		if (!name || !*name) {
			offer_members(btf, m[i].type, depth + 1, near, all, n);
			continue;
		}
		nearest_offer(near, name);
		if (*n < 24)
			strbuf_addf(all, "%s%s", *n ? ", " : "", name);
		++*n;
	}
}

static struct error *no_member(const struct path_walk *w, const struct probe_step *step)
{
	struct nearest near = nearest_make(step->name);
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	_cleanup_free_ char *what = text_format("unknown member '%s' of ", step->name);
	size_t n = 0;

	if (!what)
		return error_nomem();
	offer_members(w->btf, w->type, 0, &near, &all, &n);
	uint32_t real;
	peel(w, w->type, &real);
	struct error *err = walk_error(w, step, ENOENT, what, "", real);
	return error_suggest_and(err, &near, "the members are: %s%s", strbuf_str(&all),
				 n > 24 ? ", …" : "");
}

static struct error *take_member(struct path_walk *w, const struct probe_step *step)
{
	const struct btf_type *t = peel(w, w->type, NULL);
	struct path_member member = {0};
	bool through_pointer = false;

	if (btf_is_array(t) && step->kind == PROBE_ARROW) {
		w->type = btf_array(t)->type; /* an array is the address of its first element */
		t = peel(w, w->type, NULL);
		through_pointer = true;
	}
	if (btf_is_ptr(t) && !through_pointer) {
		if (step->kind == PROBE_MEMBER)
			return error_hint(walk_error(w, step, EINVAL,
						     "the expression before it is a pointer, ", "",
						     w->type),
					  "write ->%s", step->name);
		TRY(follow(w, t));
		t = peel(w, w->type, NULL);
		through_pointer = true;
	}
	if (!btf_is_composite(t) || !w->type)
		return walk_error(w, step, EINVAL,
				  "the expression before it has no members: it is ", "", w->type);
	if (step->kind == PROBE_ARROW && !through_pointer)
		return error_hint(walk_error(w, step, EINVAL,
					     "the expression before it is not a pointer: ", "",
					     w->type),
				  "write .%s", step->name);
	if (!find_member(w->btf, w->type, step->name, 0, &member))
		return no_member(w, step);
	w->type = member.type;
	w->spot.typed &= !member.in_union && !member.bit_size;
	w->spot.bit_size = member.bit_size;
	if (!member.bit_size) {
		w->spot.offset += (int64_t)(member.bit_offset / 8);
		return NULL;
	}
	/* The unit of the declared type that holds it, as compilers lay it out; else the least. */
	const int64_t size = btf__resolve_size(w->btf, member.type);
	const uint64_t unit = size > 0 && size <= 8 ? (uint64_t)size * 8 : 8;
	uint64_t first = member.bit_offset / unit * unit;
	if (member.bit_offset + member.bit_size > first + unit)
		first = member.bit_offset / 8 * 8;
	w->spot.offset += (int64_t)(first / 8);
	w->spot.bit_offset = (uint32_t)(member.bit_offset - first);
	return NULL;
}

static struct error *take_element(struct path_walk *w, const struct probe_step *step)
{
	const struct btf_type *t = peel(w, w->type, NULL);
	uint32_t elem;

	if (btf_is_array(t)) {
		const struct btf_array *array = btf_array(t);

		elem = array->type;
		if (array->nelems && (step->index < 0 || step->index >= array->nelems))
			return probe_def_error(w->text, step->at, EINVAL,
					       "the array has elements 0 to %u", array->nelems - 1);
		if (!array->nelems)
			w->spot.typed = false;
	} else if (btf_is_ptr(t)) {
		TRY(follow(w, t));
		elem = t->type;
		if (step->index)
			w->spot.typed = false;
	} else {
		return walk_error(w, step, EINVAL,
				  "the expression before it has no elements: it is ", "", w->type);
	}
	const int64_t size = elem ? btf__resolve_size(w->btf, elem) : -1;
	if (size <= 0)
		return walk_error(w, step, EINVAL, "the elements have no size: they are ", "",
				  elem);
	w->type = elem;
	w->spot.offset += step->index * size;
	return NULL;
}

/* "+8(…)": what stands before is an address, whatever its type. */
static struct error *take_deref(struct path_walk *w, const struct probe_step *step)
{
	const struct btf_type *t = w->type ? peel(w, w->type, NULL) : NULL;

	if (t && !btf_is_ptr(t) && !(btf_is_int(t) && t->size == 8))
		return walk_error(w, step, EINVAL,
				  "the expression in the brackets is not an address: ", "",
				  w->type);
	if (w->spot.bit_size)
		return probe_def_error(w->text, step->at, EINVAL, "a bit field is not an address");
	if (t && btf_is_ptr(t))
		TRY(follow(w, t));
	else
		TRY(spot_follow(&w->spot, false));
	w->spot.typed = false;
	w->spot.user |= w->arg->user;
	w->spot.offset = step->index;
	w->type = 0;
	return NULL;
}

static bool is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	return btf_is_int(t) && t->size == 1 &&
	       (btf_int_encoding(t) == BTF_INT_CHAR || str_equal(btf_name(btf, t), "char"));
}

static struct arg_shape shape_of(const struct path_walk *w)
{
	const struct btf_type *t = peel(w, w->type, NULL);
	struct arg_shape shape = {.is_known = w->type != 0};
	const int64_t size = w->type ? btf__resolve_size(w->btf, w->type) : 0;

	if (!w->type)
		return shape;
	shape.size = size > 0 && size <= UINT32_MAX ? (uint32_t)size : 0;
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		shape.is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
		shape.kind = btf_int_encoding(t) & BTF_INT_BOOL ? FETCH_BOOL
			     : is_char(w->btf, w->type)		? FETCH_CHAR
			     : shape.is_signed			? FETCH_INT
								: FETCH_UINT;
		/* x86's and arm64's compilers differ in the sign of "char"; so does BTF. */
		if (shape.size > 8)
			shape.kind = FETCH_BYTES;
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		shape.kind = FETCH_ENUM;
		shape.is_signed = btf_kflag(t);
		break;
	case BTF_KIND_PTR:
		shape.kind = FETCH_POINTER;
		shape.user = has_tag(w->btf, t->type, "user");
		break;
	case BTF_KIND_FLOAT:
		shape.kind = FETCH_FLOAT;
		break;
	case BTF_KIND_ARRAY: {
		const uint32_t elem = btf_array(t)->type;
		const struct btf_type *e = peel(w, elem, NULL);

		shape.kind = FETCH_BYTES;
		shape.is_array = btf_is_int(e) && e->size == 1;
		shape.is_text = is_char(w->btf, elem);
		break;
	}
	default:
		shape.kind = FETCH_BYTES;
	}
	return shape;
}

static struct error *walk_steps(struct path_walk *w)
{
	const struct probe_arg *arg = w->arg;

	for (size_t i = 0; i < arg->n_steps; i++) {
		const struct probe_step *step = &arg->steps[i];

		if (!w->type && step->kind != PROBE_DEREF)
			return error_hint(
				probe_def_error(
					w->text, step->at, EINVAL,
					"the type of the expression before it is not known"),
				"without a type, write +OFFSET(…)");
		switch (step->kind) {
		case PROBE_MEMBER:
		case PROBE_ARROW:
			TRY(take_member(w, step));
			break;
		case PROBE_INDEX:
			TRY(take_element(w, step));
			break;
		case PROBE_DEREF:
			TRY(take_deref(w, step));
			break;
		}
	}
	return NULL;
}

static struct error *walk_run(struct path_walk *w, const struct param *param,
			      struct fetch_value *value)
{
	w->type = param->type;
	if (param->in_memory) {
		w->spot.is = SPOT_ADDRESS;
		TRY(spot_push(&w->spot, param->words[0]));
	} else {
		w->spot.is = SPOT_WORDS;
		memcpy(w->spot.words, param->words, sizeof(w->spot.words));
		w->spot.n_words = param->n_words;
		w->typed_root = param->words[0].op == FETCH_PARAM && param->words[0].typed &&
				btf_is_ptr(peel(w, w->type, NULL));
	}
	TRY(walk_steps(w));

	_cleanup_strbuf_ struct strbuf type = STRBUF_INIT;
	struct arg_shape shape = shape_of(w);
	if (w->type) {
		btf_type_text(w->btf, w->type, &type);
		if (strbuf_failed(&type))
			return error_nomem();
		shape.type = strbuf_str(&type);
	}
	return spot_finish(&w->spot, &shape, w->text, w->arg, value);
}

struct error *btf_value(const struct btf *btf, const struct param *param, const char *text,
			const struct probe_arg *arg, struct fetch_value *value)
{
	struct path_walk w = {.btf = btf, .text = text, .arg = arg};

	TRY(value_name(value, arg->name));
	if (param->obstacle)
		return value_obstacle(value, "%s", param->obstacle);
	struct error *err = walk_run(&w, param, value);
	spot_deinit(&w.spot);
	if (err && err->code == EOPNOTSUPP) {
		struct error *failed = value_obstacle(value, "%s", err->msg);
		error_free(err);
		return failed;
	}
	return err;
}
