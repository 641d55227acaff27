// SPDX-License-Identifier: BSD-2-Clause
/*
 * A comparison that names what a call does not have is never true. So for each call some
 * comparisons are known before it is made, and a call that the others cannot select is not traced
 * at all.
 */
#include "trace/call_conditions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/vec.h"
#include "perf/filter/where.h"
#include "syscalls/call_constant.h"
#include "trace/call_field.h"
#include "trace/call_pattern.h"
#include "trace/call_where.h"

enum {
	NS_PER_MS = 1000000,
};

/* Over all calls. */
struct field_fit {
	bool fits;
	struct error *misfit; /* the first */
};

/* What a field's name is if it is not that of an argument: sought once, not for each call. */
struct field_constant {
	bool known;
	uint64_t v;
};

struct condition_maker {
	const struct call_table *table;
	struct where *w;
	struct where_tests tests;
	struct call_field *fields; /* of the call that is looked at */
	struct field_fit *fits;
	struct field_constant *constants;
	enum where_type *types;
	VEC(struct call_where) wheres;
	VEC(struct call_pattern) patterns;
	struct names globs; /* of the patterns */
};

static void maker_deinit(struct condition_maker *m)
{
	for (size_t i = 0; m->fits && i < where_n_fields(m->w); i++)
		error_free(m->fits[i].misfit);
	where_tests_deinit(&m->tests);
	where_free(m->w);
	free(m->fields);
	free(m->fits);
	free(m->constants);
	free(m->types);
	vec_deinit(&m->wheres);
	vec_deinit(&m->patterns);
	names_deinit(&m->globs);
}

/* ---- wrong names ---- */

static bool has_call(const struct call_table *table, const char *name)
{
	for (int abi = 0; abi < TRACE_ABIS; abi++)
		if (call_by_name(table, (enum trace_abi)abi, name))
			return true;
	return false;
}

static struct error *unknown_call(const struct condition_maker *m, size_t i)
{
	const struct where_field *f = where_field(m->w, i);
	struct nearest near = nearest_make(f->owner);

	for (int abi = 0; abi < TRACE_ABIS; abi++)
		for (uint32_t nr = 0; nr < TRACE_NRS; nr++) {
			const struct call *call = call_by_nr(m->table, (enum trace_abi)abi, nr);

			if (call)
				nearest_offer(&near, call->name);
		}
	return error_suggest(where_field_error(m->w, i, "unknown system call '%s'", f->owner),
			     &near);
}

/* An argument that no traced call has. */
static struct error *unknown_field(const struct condition_maker *m, const struct trace_call *calls,
				   size_t i)
{
	const struct where_field *f = where_field(m->w, i);
	struct nearest near = nearest_make(f->name);
	const char *owner = call_field_is_argument(f) ? NULL : f->owner;
	bool is_traced = !owner;

	if (f->index >= 0)
		return where_field_error(m->w, i, "arguments of system calls have no elements");
	if (!call_field_is_argument(f))
		call_field_offer(&near);
	for (uint32_t k = 0; k < TRACE_ABIS * TRACE_NRS; k++) {
		const struct call *call =
			call_by_nr(m->table, (enum trace_abi)(k / TRACE_NRS), k % TRACE_NRS);

		if (!call || (owner && strcmp(call->name, owner) != 0) ||
		    (!owner && !calls[k].traced))
			continue;
		is_traced |= calls[k].traced != 0;
		for (int a = 0; a < call->copies.n_args; a++)
			nearest_offer(&near, call->args[a].name);
	}
	if (owner && !is_traced)
		return error_hint(where_field_error(m->w, i, "%s is not traced", owner),
				  "-e selects other system calls");
	return error_suggest(
		owner ? where_field_error(m->w, i, "%s has no argument '%s'", owner, f->name)
		      : where_field_error(m->w, i,
					  "none of the traced system calls has an argument '%s'",
					  f->name),
		&near);
}

/* ---- comparisons ---- */

enum outcome {
	IS_FALSE,
	IS_TRUE,
	IS_OPEN, /* depends on the call */
};

/* A side of a comparison: a field or a number, and bits of it. */
struct compare_side {
	const struct call_field *field; /* NULL: a number */
	struct where_value number;
	bool masked;
	uint64_t mask;
};

static struct error *read_side(const struct condition_maker *m, const struct where_part *parts,
			       size_t n, const struct arg_kind *other, struct compare_side *side)
{
	*side = (struct compare_side){.number.type = WHERE_NUMBER, .mask = UINT64_MAX};
	for (size_t i = 0; i < n; i++) {
		const struct call_field *f = parts[i].is_field ? &m->fields[parts[i].field] : NULL;
		struct where_value v = parts[i].value;

		if (f && f->is_constant) {
			v = (struct where_value){.type = WHERE_NUMBER, .number = f->constant};
			call_constant_find(where_field(m->w, parts[i].field)->name, other,
					   &v.number);
			v.is_signed = (int64_t)v.number < 0;
			f = NULL;
		}
		if (f && side->field)
			return where_error_at(m->w, parts[i].at,
					      "'&' takes one argument, and numbers");
		if (f && n > 1 && f->value == WHERE_DURATION)
			return where_error_at(m->w, parts[i].at, "a duration has no bits");
		if (f)
			side->field = f;
		else if (n == 1)
			side->number = v;
		else if (v.is_float)
			return where_error_at(m->w, parts[i].at, "a fraction has no bits");
		else
			side->mask &= v.number;
	}
	side->masked = n > 1;
	if (side->masked && !side->field) {
		side->number.number = side->mask;
		side->masked = false;
	}
	return NULL;
}

/* The argument that the parts have, for the names of its flags. */
static const struct arg_kind *arg_of(const struct condition_maker *m,
				     const struct where_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].is_field && m->fields[parts[i].field].arg)
			return m->fields[parts[i].field].arg;
	return NULL;
}

static uint8_t order_of(enum where_op op)
{
	switch (op) {
	case WHERE_EQ:
		return WHERE_EQUAL;
	case WHERE_NE:
		return WHERE_LESS | WHERE_GREATER;
	case WHERE_LT:
		return WHERE_LESS;
	case WHERE_LE:
		return WHERE_LESS | WHERE_EQUAL;
	case WHERE_GT:
		return WHERE_GREATER;
	default:
		return WHERE_GREATER | WHERE_EQUAL;
	}
}

/* "a < b" as "b > a" */
static uint8_t swapped(uint8_t order)
{
	return (order & WHERE_EQUAL) | (order & WHERE_LESS ? WHERE_GREATER : 0) |
	       (order & WHERE_GREATER ? WHERE_LESS : 0);
}

static void set_side(struct call_where_side *out, const struct compare_side *side)
{
	const struct call_field *f = side->field;

	out->value = f ? f->value : WHERE_LITERAL;
	if (!f)
		return;
	out->shift = (uint8_t)(64 - f->bits);
	out->is_signed = f->is_signed;
	out->masked = side->masked;
	out->mask = side->mask;
}

/* A whole number is compared with a fraction by the whole number next to it. */
static enum outcome set_literal(struct call_where_test *t, const struct compare_side *side,
				bool is_duration)
{
	const struct where_value *v = &side->number;
	double real = v->is_float    ? v->real
		      : v->is_signed ? (double)(int64_t)v->number
				     : (double)v->number;

	if (!v->is_float && !is_duration) {
		t->literal = v->number;
		t->literal_is_negative = v->is_signed && (int64_t)v->number < 0;
		return IS_OPEN;
	}
	real *= is_duration ? NS_PER_MS : 1;
	/* 2^63 */
	if (real < -9e18)
		return t->order & WHERE_GREATER ? IS_TRUE : IS_FALSE;
	if (real > 9e18)
		return t->order & WHERE_LESS ? IS_TRUE : IS_FALSE;
	const double low = floor(real);
	if (low != real) {
		if (!(t->order & WHERE_LESS) != !(t->order & WHERE_GREATER))
			/* less than 1.5 is at most 1; more than that is more than 1 */
			t->order = t->order & WHERE_LESS ? WHERE_LESS | WHERE_EQUAL : WHERE_GREATER;
		else
			return t->order & WHERE_LESS ? IS_TRUE : IS_FALSE;
	}
	t->literal = (uint64_t)(int64_t)low;
	t->literal_is_negative = low < 0;
	return IS_OPEN;
}

static struct error *make_numbers(struct condition_maker *m, const struct where_test *from,
				  struct call_where_test *t, enum outcome *outcome)
{
	struct compare_side left, right;

	TRY(read_side(m, from->left, from->n_left, arg_of(m, from->right, from->n_right), &left));
	TRY(read_side(m, from->right, from->n_right, arg_of(m, from->left, from->n_left), &right));
	t->kind = WHERE_NUMBERS;
	t->order = order_of(from->op);
	if (!left.field) {
		struct compare_side number = left;

		if (!right.field)
			return where_error_at(m->w, from->at,
					      "this comparison has no argument of a system call");
		left = right;
		right = number;
		t->order = swapped(t->order);
	}
	const bool is_duration = left.field->value == WHERE_DURATION;
	if (right.field && is_duration != (right.field->value == WHERE_DURATION))
		return where_error_at(m->w, from->at,
				      "a duration can be compared only with a number");
	set_side(&t->left, &left);
	set_side(&t->right, &right);
	t->needs = left.field->needs | (right.field ? right.field->needs : 0);
	if (!right.field)
		*outcome = set_literal(t, &right, is_duration);
	return NULL;
}

/* ---- patterns ---- */

/* The glob that only this text matches. */
static struct error *quote(const struct where_value *v, struct strbuf *glob)
{
	for (size_t i = 0; i < v->len; i++) {
		if (strchr("*?[\\", v->str[i]))
			strbuf_addch(glob, '\\');
		strbuf_addch(glob, v->str[i]);
	}
	return strbuf_failed(glob) ? error_nomem() : NULL;
}

static struct error *add_pattern(struct condition_maker *m, size_t at, const char *glob,
				 __u64 *number)
{
	for (size_t i = 0; i < m->globs.n; i++)
		if (!strcmp(m->globs.v[i], glob)) {
			*number = i;
			return NULL;
		}
	struct call_pattern *p = vec_push(&m->patterns);
	if (!p)
		return error_nomem();
	_cleanup_error_ struct error *err = call_pattern_make(glob, p);
	if (err && err->code == E2BIG)
		return where_error_at(m->w, at, "%s", err->msg);
	TRY(steal_ptr(err));
	if (!names_add(&m->globs, glob))
		return error_nomem();
	*number = m->globs.n - 1;
	return NULL;
}

static struct error *make_texts(struct condition_maker *m, const struct where_test *from,
				struct call_where_test *t)
{
	const bool swap = !from->left->is_field;
	const struct where_part *field = swap ? from->right : from->left,
				*literal = swap ? from->left : from->right;
	_cleanup_strbuf_ struct strbuf glob = STRBUF_INIT;

	if (literal->is_field)
		return where_error_at(m->w, from->at, "two texts cannot be compared");
	const struct call_field *f = &m->fields[field->field];
	t->kind = f->kind;
	t->needs = f->needs;
	t->left.value = f->value;
	t->length = f->length;
	t->negate = from->op == WHERE_NE || from->op == WHERE_NO_MATCH;
	if (from->op == WHERE_MATCH || from->op == WHERE_NO_MATCH)
		return add_pattern(m, literal->at, literal->pattern, &t->literal);
	TRY(quote(&literal->value, &glob));
	return add_pattern(m, literal->at, strbuf_str(&glob), &t->literal);
}

/* ---- calls ---- */

/* The type of a side; WHERE_NOTHING: it has something that the call does not have. */
static enum where_type type_of(const struct condition_maker *m, const struct where_part *parts,
			       size_t n)
{
	enum where_type type = WHERE_NOTHING;

	for (size_t i = 0; i < n; i++) {
		type = parts[i].is_field ? m->fields[parts[i].field].type : parts[i].value.type;
		if (type == WHERE_NOTHING)
			return type;
	}
	return type;
}

static struct error *make_test(struct condition_maker *m, const struct where_test *from,
			       struct call_where_test *t, enum outcome *outcome)
{
	const enum where_type left = type_of(m, from->left, from->n_left),
			      right = type_of(m, from->right, from->n_right);

	*outcome = IS_FALSE;
	if (left == WHERE_NOTHING || left != right)
		return NULL;
	*outcome = IS_OPEN;
	return left == WHERE_STRING ? make_texts(m, from, t) : make_numbers(m, from, t, outcome);
}

/* Where the way leads that goes on with a comparison, past those that are known. */
static uint16_t follow(const struct condition_maker *m, const enum outcome *outcomes, uint16_t i)
{
	while (i < m->tests.n && outcomes[i] != IS_OPEN)
		i = outcomes[i] == IS_TRUE ? m->tests.v[i].yes : m->tests.v[i].no;
	return i;
}

/* The number of a comparison among those of the call. */
static uint8_t number_of(const uint8_t *numbers, uint16_t i)
{
	return i == WHERE_SELECT   ? CALL_WHERE_SELECT
	       : i == WHERE_REJECT ? CALL_WHERE_REJECT
				   : numbers[i];
}

static struct error *add_where(struct condition_maker *m, const struct call_where *where,
			       uint16_t *number)
{
	for (size_t i = 0; i < m->wheres.n; i++)
		if (!memcmp(&m->wheres.v[i], where, sizeof(*where))) {
			*number = (uint16_t)(i + 1);
			return NULL;
		}
	struct call_where *slot = vec_push(&m->wheres);
	if (!slot)
		return error_nomem();
	memcpy(slot, where, sizeof(*where));
	*number = (uint16_t)m->wheres.n;
	return NULL;
}

/* Numbers the comparisons that can be reached; *selects: one of them selects. */
static struct error *number_tests(const struct condition_maker *m, const enum outcome *outcomes,
				  uint8_t *numbers, uint32_t *n, bool *selects)
{
	_cleanup_free_ bool *reached = calloc(m->tests.n, sizeof(*reached));
	const uint16_t first = follow(m, outcomes, 0);

	if (!reached)
		return error_nomem();
	*n = 0;
	*selects = first == WHERE_SELECT;
	if (first < m->tests.n)
		reached[first] = true;
	for (uint16_t i = 0; i < m->tests.n; i++) {
		if (!reached[i])
			continue;
		if (*n == CALL_WHERE_TESTS)
			return where_error_at(m->w, m->tests.v[i].at,
					      "a condition can have at most %d comparisons",
					      CALL_WHERE_TESTS);
		numbers[i] = (uint8_t)(*n)++;
		for (int yes = 0; yes <= 1; yes++) {
			const uint16_t next =
				follow(m, outcomes, yes ? m->tests.v[i].yes : m->tests.v[i].no);

			*selects |= next == WHERE_SELECT;
			if (next < m->tests.n)
				reached[next] = true;
		}
	}
	return NULL;
}

static struct error *make_where(struct condition_maker *m, struct trace_call *call)
{
	_cleanup_free_ struct call_where_test *tests = calloc(m->tests.n, sizeof(*tests));
	_cleanup_free_ enum outcome *outcomes = calloc(m->tests.n, sizeof(*outcomes));
	_cleanup_free_ uint8_t *numbers = malloc(m->tests.n);
	struct call_where where;
	bool selects = false;

	if (!tests || !outcomes || !numbers)
		return error_nomem();
	memset(&where, 0, sizeof(where)); /* it is compared byte by byte */
	memset(numbers, 0xff, m->tests.n);
	for (size_t i = 0; i < m->tests.n; i++)
		TRY(make_test(m, &m->tests.v[i], &tests[i], &outcomes[i]));
	TRY(number_tests(m, outcomes, numbers, &where.n, &selects));
	if (!selects)
		call->traced = 0;
	if (!selects || !where.n)
		return NULL;
	for (uint16_t i = 0; i < m->tests.n; i++) {
		if (numbers[i] == 0xff)
			continue;
		tests[i].yes = number_of(numbers, follow(m, outcomes, m->tests.v[i].yes));
		tests[i].no = number_of(numbers, follow(m, outcomes, m->tests.v[i].no));
		where.tests[numbers[i]] = tests[i];
	}
	return add_where(m, &where, &call->where);
}

/* What the fields are in a call; notes which of them fit. */
static void bind_call(struct condition_maker *m, const struct call *call)
{
	const size_t n = where_n_fields(m->w);
	size_t misfit = 0;

	for (size_t i = 0; i < n; i++) {
		call_field_find(m->table, where_field(m->w, i), call,
				m->constants[i].known ? &m->constants[i].v : NULL, &m->fields[i]);
		m->types[i] = m->fields[i].type;
	}
	struct error *err = where_check(m->w, m->types, &misfit);
	for (size_t i = 0; !err && i < n; i++)
		m->fits[i].fits |= m->types[i] != WHERE_NOTHING;
	if (err && !m->fits[misfit].misfit)
		m->fits[misfit].misfit = error_hint(err, "it is one in %s", call->name);
	else
		error_free(err);
}

/*
 * One pass over all traced calls: what the fields are, or also the conditions. Those of calls
 * without a name are the same in all of them of an ABI.
 */
static struct error *bind_calls(struct condition_maker *m, struct trace_call *calls, bool make)
{
	const struct trace_call *nameless[TRACE_ABIS] = {NULL};

	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++) {
		const enum trace_abi abi = (enum trace_abi)(i / TRACE_NRS);
		const struct call *call = call_by_nr(m->table, abi, i % TRACE_NRS);
		const struct call none = {.name = "a call without a name", .abi = abi};

		if (!calls[i].traced)
			continue;
		if (!call && nameless[abi]) {
			calls[i].traced = nameless[abi]->traced;
			calls[i].where = nameless[abi]->where;
			continue;
		}
		bind_call(m, call ? call : &none);
		if (make)
			TRY(make_where(m, &calls[i]));
		if (!call)
			nameless[abi] = &calls[i];
	}
	return NULL;
}

static struct error *make_wheres(struct condition_maker *m, struct trace_call *calls)
{
	const size_t n = where_n_fields(m->w);

	for (size_t i = 0; i < n; i++)
		if (where_field(m->w, i)->owner && !call_field_is_argument(where_field(m->w, i)) &&
		    !has_call(m->table, where_field(m->w, i)->owner))
			return unknown_call(m, i);
	/* the errors of names are clearer than those of comparisons: first all names */
	TRY(bind_calls(m, calls, false));
	for (size_t i = 0; i < n; i++) {
		if (!m->fits[i].fits && m->fits[i].misfit)
			return steal_ptr(m->fits[i].misfit);
		if (!m->fits[i].fits)
			return unknown_field(m, calls, i);
	}
	return bind_calls(m, calls, true);
}

static bool selects_any(const struct trace_call *calls)
{
	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++)
		if (calls[i].traced)
			return true;
	return false;
}

/* The numbers in what is added begin behind those that are there. */
static struct error *add_conditions(struct condition_maker *m, struct trace_call *calls,
				    struct call_conditions *out)
{
	const size_t n_wheres = out->n_wheres + m->wheres.n,
		     n_patterns = out->n_patterns + m->patterns.n;
	struct call_where *wheres = reallocarray(out->wheres, n_wheres + 1, sizeof(*wheres));
	struct call_pattern *patterns;
	struct call_where *where;

	if (!wheres)
		return error_nomem();
	out->wheres = wheres;
	patterns = reallocarray(out->patterns, n_patterns + 1, sizeof(*patterns));
	if (!patterns)
		return error_nomem();
	out->patterns = patterns;
	vec_for_each (where, &m->wheres)
		for (size_t k = 0; k < where->n; k++)
			if (where->tests[k].kind != WHERE_NUMBERS)
				where->tests[k].literal += out->n_patterns;
	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++)
		if (calls[i].traced && calls[i].where)
			calls[i].where += (uint16_t)out->n_wheres;
	if (m->wheres.n)
		memcpy(wheres + out->n_wheres, m->wheres.v, m->wheres.n * sizeof(*wheres));
	if (m->patterns.n)
		memcpy(patterns + out->n_patterns, m->patterns.v,
		       m->patterns.n * sizeof(*patterns));
	out->n_wheres = n_wheres;
	out->n_patterns = n_patterns;
	return NULL;
}

struct error *call_conditions_make(const char *text, const struct call_table *table,
				   struct trace_call *calls, struct call_conditions *out)
{
	__attribute__((cleanup(maker_deinit))) struct condition_maker m = {.table = table};

	TRY(where_parse(text, &m.w));
	TRY(where_tests_of(m.w, &m.tests));
	const size_t n = where_n_fields(m.w);
	m.fields = calloc(n + 1, sizeof(*m.fields));
	m.fits = calloc(n + 1, sizeof(*m.fits));
	m.types = calloc(n + 1, sizeof(*m.types));
	m.constants = calloc(n + 1, sizeof(*m.constants));
	if (!m.fields || !m.fits || !m.types || !m.constants)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		m.constants[i].known =
			call_constant_find(where_field(m.w, i)->name, NULL, &m.constants[i].v);
	TRY(make_wheres(&m, calls));
	if (!selects_any(calls))
		return error_hint(where_error_at(m.w, 0, "it is not true for any traced call"),
				  "it may combine arguments of different system calls by '&&'");
	return add_conditions(&m, calls, out);
}

void call_conditions_deinit(struct call_conditions *conditions)
{
	free(conditions->wheres);
	free(conditions->patterns);
	*conditions = (struct call_conditions){0};
}
