// SPDX-License-Identifier: BSD-2-Clause
/*
 * From BTF to a plan, and running it.
 *
 * Compiling walks the type once and leaves a list of steps: "add this text",
 * "add the 4 bytes at offset 8 as a signed number", "do the next 5 steps 16
 * times, 24 bytes further each time". All that does not depend on the value
 * (names, braces, commas) is text, and neighbouring texts are one step, so a
 * run looks nothing up in BTF.
 *
 * What it must never do: read outside of the value (each leaf is checked
 * against the type's size when compiled, and array elements lie within their
 * array), follow a type for ever (depth and number of steps are bounded: BTF
 * from a file may name a struct that holds itself), or write without end (an
 * element that has no bytes is written once).
 */
#include "show/value_text.h"

#include <stdio.h>

#include "lib/base/json.h"
#include "lib/base/json_writer.h"
#include "lib/base/vec.h"
#include "lib/btf/open.h"
#include "lib/btf/value.h"

enum {
	MAX_DEPTH = 32,
	MAX_STEPS = 30000,
	/* members without bytes need no steps */
	MAX_MEMBERS = 10 * MAX_STEPS,
	MAX_TEXT = 32 << 20, /* bytes of the plan */
};

enum step_kind {
	STEP_TEXT,   /* n bytes of the plan's text from aux */
	STEP_SCALAR, /* an enum has n names from aux */
	STEP_STRING, /* n bytes at most */
	STEP_LOOP,   /* the next aux steps, n times, size bytes apart; commas between */
};

struct plan_step {
	uint8_t kind;
	bool is_flags; /* of an enum: value_enum_is_flags() */
	struct value_scalar scalar;
	uint32_t size;
	uint32_t off; /* in the innermost loop's element */
	uint32_t n;
	uint32_t aux;
};

struct enum_name {
	uint64_t value;
	uint32_t text, len; /* with its quotes */
};

struct value_plan {
	size_t size;
	struct strbuf text;
	VEC(struct plan_step) steps;
	VEC(struct enum_name) names;
};

void value_plan_free(struct value_plan *plan)
{
	if (!plan)
		return;
	strbuf_deinit(&plan->text);
	vec_deinit(&plan->steps);
	vec_deinit(&plan->names);
	free(plan);
}

size_t value_plan_size(const struct value_plan *plan)
{
	return plan->size;
}

/* ---- compiling ---- */

struct plan_compiler {
	const struct btf *btf;
	struct value_plan *plan;
	struct json_writer json; /* writes the plan's text; steps write some of the values */
	size_t from;		 /* where the text begins that no step adds yet */
	uint32_t limit;		 /* bytes of the innermost loop's element, or of the value */
	uint32_t members;	 /* seen so far */
};

static struct error *put_step(struct plan_compiler *c, struct plan_step step)
{
	if (c->plan->steps.n >= MAX_STEPS)
		return error_new(E2BIG, "the type has too many members to show");
	struct plan_step *s = vec_push(&c->plan->steps);
	if (!s)
		return error_nomem();
	*s = step;
	return NULL;
}

/* What was written since the last step becomes one. */
static struct error *end_text(struct plan_compiler *c)
{
	const size_t from = c->from, n = c->plan->text.len - from;

	if (strbuf_failed(&c->plan->text))
		return error_nomem();
	c->from = c->plan->text.len;
	return n ? put_step(c, (struct plan_step){.kind = STEP_TEXT, .aux = from, .n = n}) : NULL;
}

static struct error *check_range(struct plan_compiler *c, uint64_t off, uint64_t size)
{
	if (off + size > c->limit)
		return error_new(EINVAL, "a member at byte %llu is outside of its type",
				 (unsigned long long)off);
	return NULL;
}

static struct error *compile_type(struct plan_compiler *c, uint32_t id, uint64_t bit, uint32_t bits,
				  const char *key, unsigned nesting);

static struct error *add_names(struct plan_compiler *c, const struct btf_type *t,
			       struct plan_step *step)
{
	if (c->plan->names.n + btf_vlen(t) > MAX_STEPS * 4)
		return error_new(E2BIG, "the type has too many names to show");
	step->aux = c->plan->names.n;
	step->n = btf_vlen(t);
	step->is_flags = value_enum_is_flags(c->btf, t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		struct enum_name *e = vec_push(&c->plan->names);
		const struct btf_enumerator from = btf_enumerator_at(c->btf, t, i);

		if (!e)
			return error_nomem();
		e->value = from.value;
		e->text = c->plan->text.len;
		json_add_string(&c->plan->text, from.name, strlen(from.name));
		e->len = c->plan->text.len - e->text;
	}
	c->from = c->plan->text.len;
	return NULL;
}

static struct error *compile_scalar(struct plan_compiler *c, const struct btf_type *t, uint64_t bit,
				    uint32_t bits, const char *key)
{
	if (!bits && btf_is_int(t) && btf_int_bits(t) < t->size * 8) {
		bits = btf_int_bits(t);
		bit += btf_int_offset(t);
	}
	struct value_scalar v = value_scalar_of(c->btf, t, bit, bits);
	struct plan_step step = {.kind = STEP_SCALAR, .off = bit / 8};
	const bool whole = v.size == 1 || v.size == 2 || v.size == 4 || v.size == 8;

	if (btf_is_int(t) && !whole && (v.kind != VALUE_WIDE || v.size != 16))
		return error_new(EINVAL, "integers of %u bytes are not supported", v.size);
	if (v.kind == VALUE_FLOAT && (v.bits || !value_is_float_size(v.size)))
		return error_new(EINVAL, "floats of %u bytes are not supported", v.size);
	if (v.bits > 64)
		return error_new(EINVAL, "bit fields of %u bits are not supported", v.bits);
	if (v.bits && v.kind != VALUE_ENUM && v.kind != VALUE_BOOL)
		v.kind = VALUE_INT;
	TRY(check_range(c, step.off, value_scalar_bytes(&v)));
	jw_value(&c->json, key);
	TRY(end_text(c));
	if (v.kind == VALUE_ENUM && (whole || v.bits))
		TRY(add_names(c, t, &step));
	step.scalar = v;
	return put_step(c, step);
}

static struct error *compile_array(struct plan_compiler *c, const struct btf_type *t, uint64_t bit,
				   const char *key, unsigned nesting)
{
	const struct btf_array *a = btf_array(t);
	int64_t size = btf__resolve_size(c->btf, a->type);

	if (size < 0 || bit % 8)
		return error_new(EINVAL, "array element type %u has no size", a->type);
	if (btf_is_char(c->btf, a->type) && a->nelems) {
		TRY(check_range(c, bit / 8, a->nelems));
		jw_value(&c->json, key);
		TRY(end_text(c));
		return put_step(
			c, (struct plan_step){.kind = STEP_STRING, .off = bit / 8, .n = a->nelems});
	}
	jw_array(&c->json, key);
	if (a->nelems && size) {
		TRY(check_range(c, bit / 8, (uint64_t)size * a->nelems));
		TRY(end_text(c));
		const size_t loop = c->plan->steps.n;
		TRY(put_step(c, (struct plan_step){.kind = STEP_LOOP,
						   .off = bit / 8,
						   .size = size,
						   .n = a->nelems}));

		/* the body knows one element */
		uint32_t limit = c->limit;
		c->limit = size;
		TRY(compile_type(c, a->type, 0, 0, NULL, nesting + 1));
		TRY(end_text(c));
		c->limit = limit;
		c->plan->steps.v[loop].aux = c->plan->steps.n - loop - 1;
	}
	jw_end(&c->json);
	return NULL;
}

static struct error *compile_members(struct plan_compiler *c, const struct btf_type *t,
				     uint64_t bit, unsigned nesting)
{
	if (nesting > MAX_DEPTH)
		return error_new(E2BIG, "the types are nested more than %d deep", MAX_DEPTH);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		uint64_t at = bit + btf_member_bit_offset(t, i);
		const char *name = btf__name_by_offset(c->btf, m->name_off);
		const struct btf_type *inner = btf_skip_mods_and_typedefs(c->btf, m->type, NULL);

		if (++c->members > MAX_MEMBERS || c->plan->text.len > MAX_TEXT)
			return error_new(E2BIG, "the type has too many members to show");
		if (name && *name)
			TRY(error_prefix(compile_type(c, m->type, at,
						      btf_member_bitfield_size(t, i), name,
						      nesting + 1),
					 "member %s", name));
		else if (btf_is_composite(inner))
			TRY(compile_members(c, inner, at, nesting + 1));
		/* else padding: int :0 */
	}
	return NULL;
}

static struct error *compile_variables(struct plan_compiler *c, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *var = btf__type_by_id(c->btf, v[i].type);

		if (!var || !btf_is_var(var))
			continue;
		TRY(error_prefix(compile_type(c, var->type, (uint64_t)v[i].offset * 8, 0,
					      btf_name(c->btf, var), 1),
				 "variable %s", btf_name(c->btf, var)));
	}
	return NULL;
}

static struct error *compile_type(struct plan_compiler *c, uint32_t id, uint64_t bit, uint32_t bits,
				  const char *key, unsigned nesting)
{
	if (nesting > MAX_DEPTH)
		return error_new(E2BIG, "the types are nested more than %d deep", MAX_DEPTH);
	const struct btf_type *t = btf_skip_mods_and_typedefs(c->btf, id, NULL);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_PTR:
	case BTF_KIND_FLOAT:
		return compile_scalar(c, t, bit, bits, key);
	case BTF_KIND_ARRAY:
		return compile_array(c, t, bit, key, nesting);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
		jw_object(&c->json, key);
		TRY(btf_is_datasec(t) ? compile_variables(c, t)
				      : compile_members(c, t, bit, nesting));
		jw_end(&c->json);
		return NULL;
	case BTF_KIND_VAR:
		return compile_type(c, t->type, bit, bits, key, nesting + 1);
	default:
		return error_new(EINVAL, "a %s has no value", btf_kind_name(btf_kind(t)));
	}
}

struct error *value_plan_new(const struct btf *btf, uint32_t type, enum value_style style,
			     unsigned depth, struct value_plan **plan)
{
	const struct btf_type *t = btf__type_by_id(btf, type);
	int64_t size;

	if (!t)
		return error_new(EINVAL, "the BTF has no type %u", type);
	/* the loader fills in a data section's size; an object's BTF may have 0 */
	size = btf_is_datasec(t) ? t->size : btf__resolve_size(btf, type);
	if (size < 0 || size > INT32_MAX)
		return error_new(EINVAL, "a %s has no value", btf_kind_name(btf_kind(t)));

	_cleanup_(value_plan_freep) struct value_plan *p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem();
	p->size = size;
	struct plan_compiler c = {
		.btf = btf,
		.plan = p,
		.json = json_writer_make(&p->text),
		.limit = size,
	};
	c.json.pretty = style == VALUE_PRETTY;
	c.json.indent = depth;
	c.json.unique = false; /* BTF may have a name twice */
	TRY(compile_type(&c, type, 0, 0, NULL, 0));
	json_writer_finish(&c.json);
	TRY(end_text(&c));
	*plan = steal_ptr(p);
	return NULL;
}

/* ---- running ---- */

static void add_wide(const uint8_t *p, struct strbuf *out)
{
	const unsigned __int128 v = value_wide(p);
	const uint64_t low = (uint64_t)v, high = (uint64_t)(v >> 64);

	if (high)
		strbuf_addf(out, "\"0x%llx%016llx\"", (unsigned long long)high,
			    (unsigned long long)low);
	else
		json_add_address(out, low);
}

/* As value_enum_add(), by the plan's names. */
static bool add_flags(const struct value_plan *plan, const struct plan_step *s, uint64_t v,
		      struct strbuf *out)
{
	uint64_t rest = value_enum_bits(v, s->scalar.size);
	bool any = false;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct enum_name *e = &plan->names.v[s->aux + i];
		const uint64_t bit = value_enum_bits(e->value, s->scalar.size);

		if (e->len <= 2 || !value_is_flag_of(bit, rest))
			continue;
		strbuf_addch(out, any ? '|' : '"');
		strbuf_add(out, plan->text.str + e->text + 1, e->len - 2);
		rest &= ~bit;
		any = true;
	}
	if (any && rest) {
		strbuf_adds(out, "|0x");
		strbuf_add_hex(out, rest);
	}
	if (any)
		strbuf_addch(out, '"');
	return any;
}

static bool add_enum(const struct value_plan *plan, const struct plan_step *s, uint64_t v,
		     struct strbuf *out)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct enum_name *e = &plan->names.v[s->aux + i];

		if (e->value != v)
			continue;
		strbuf_add(out, plan->text.str + e->text, e->len);
		return true;
	}
	return s->is_flags && add_flags(plan, s, v, out);
}

static void add_scalar(const struct value_plan *plan, const struct plan_step *s, const uint8_t *p,
		       struct strbuf *out)
{
	const struct value_scalar *scalar = &s->scalar;
	const uint64_t v = value_number(scalar, p);

	if (scalar->kind == VALUE_BOOL)
		strbuf_adds(out, v ? "true" : "false");
	else if (scalar->kind == VALUE_POINTER)
		json_add_address(out, v);
	else if (scalar->kind == VALUE_WIDE)
		add_wide(p, out);
	else if (scalar->kind == VALUE_FLOAT)
		json_add_float(out, p, scalar->size);
	else if (scalar->kind == VALUE_ENUM && add_enum(plan, s, v, out))
		return;
	else if (scalar->is_signed)
		json_add_i64(out, (int64_t)v);
	else
		strbuf_add_u64(out, v);
}

static void run(const struct value_plan *plan, const struct plan_step *s,
		const struct plan_step *end, const uint8_t *data, struct strbuf *out)
{
	for (; s < end; s++) {
		const uint8_t *p = data ? data + s->off : NULL; /* no data: all of it is text */

		switch ((enum step_kind)s->kind) {
		case STEP_TEXT:
			strbuf_add(out, plan->text.str + s->aux, s->n);
			break;
		case STEP_SCALAR:
			add_scalar(plan, s, p, out);
			break;
		case STEP_STRING:
			json_add_string(out, (const char *)p, strnlen((const char *)p, s->n));
			break;
		case STEP_LOOP:
			for (uint32_t i = 0; i < s->n; i++) {
				if (i)
					strbuf_addch(out, ',');
				run(plan, s + 1, s + 1 + s->aux, p + (size_t)i * s->size, out);
			}
			s += s->aux;
			break;
		}
	}
}

void value_plan_json(const struct value_plan *plan, const void *data, struct strbuf *out)
{
	run(plan, plan->steps.v, plan->steps.v + plan->steps.n, data, out);
}
