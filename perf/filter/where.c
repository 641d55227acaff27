// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditions, evaluated. A tree of at most a thousand nodes, walked by recursion: chains
 * of "&&" and "||" go down on their left side, one level each, which is what the
 * bound on nodes is for.
 */
#include "perf/filter/where.h"

#include <stdarg.h>
#include <string.h>

#include "perf/filter/internal.h"

enum truth {
	NO,
	YES,
	UNKNOWN,
};

struct where_run {
	const struct where *w;
	where_value_fn *value;
	void *ctx;
};

size_t where_n_fields(const struct where *w)
{
	return w->fields.n;
}

const struct where_field *where_field(const struct where *w, size_t i)
{
	return &w->fields.v[i];
}

static struct error *mark_error(const struct where *w, size_t at, const char *fmt, va_list ap)
{
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;

	strbuf_vaddf(&what, fmt, ap);
	if (strbuf_failed(&what))
		return error_nomem();
	return where_error(w->text, at, "%s", strbuf_str(&what));
}

struct error *where_error_at(const struct where *w, size_t at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = mark_error(w, at, fmt, ap);
	va_end(ap);
	return err;
}

struct error *where_field_error(const struct where *w, size_t i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = mark_error(w, w->fields.v[i].at, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- types ---- */

static enum where_type type_of(const struct where *w, uint16_t i, const enum where_type *types)
{
	const struct node *n = &w->nodes.v[i];

	if (n->op == NODE_FIELD)
		return types[n->a];
	return n->op == NODE_STRING ? WHERE_STRING : WHERE_NUMBER;
}

static struct error *check_operand(const struct where *w, uint16_t operand, enum where_type want,
				   const enum where_type *types, size_t *misfit)
{
	const enum where_type got = type_of(w, operand, types);
	const struct node *field = &w->nodes.v[operand];

	if (got == want || got == WHERE_NOTHING || field->op != NODE_FIELD)
		return NULL;
	*misfit = field->a;
	return where_error(w->text, field->at, "field '%s' is a %s but is used as a %s",
			   w->fields.v[field->a].name, got == WHERE_STRING ? "string" : "number",
			   got == WHERE_STRING ? "number" : "string");
}

static struct error *check_comparison(const struct where *w, const struct node *n,
				      const enum where_type *types, size_t *misfit)
{
	enum where_type a = type_of(w, n->a, types), b = type_of(w, n->b, types);

	switch (n->op) {
	case NODE_MATCH:
	case NODE_NO_MATCH:
		return check_operand(w, n->a, WHERE_STRING, types, misfit);
	case NODE_EQ:
	case NODE_NE:
		/* By the literal; of two fields, by the first one. */
		if (w->nodes.v[n->a].op == NODE_FIELD && w->nodes.v[n->b].op != NODE_FIELD)
			return check_operand(w, n->a, b, types, misfit);
		return a == WHERE_NOTHING ? NULL : check_operand(w, n->b, a, types, misfit);
	default:
		TRY(check_operand(w, n->a, WHERE_NUMBER, types, misfit));
		return check_operand(w, n->b, WHERE_NUMBER, types, misfit);
	}
}

struct error *where_check(const struct where *w, const enum where_type *types, size_t *misfit)
{
	for (size_t i = 0; i < w->nodes.n; i++) {
		const struct node *n = &w->nodes.v[i];

		if (n->op >= NODE_EQ)
			TRY(check_comparison(w, n, types, misfit));
		else if (n->op == NODE_NOT || n->op == NODE_AND || n->op == NODE_OR)
			TRY(check_operand(w, n->a, WHERE_NUMBER, types, misfit));
		if (n->op == NODE_AND || n->op == NODE_OR)
			TRY(check_operand(w, n->b, WHERE_NUMBER, types, misfit));
	}
	return check_operand(w, w->root, WHERE_NUMBER, types, misfit);
}

/* ---- values ---- */

static enum truth truth_of(const struct where_run *r, uint16_t i);

static struct where_value value_of(const struct where_run *r, uint16_t i)
{
	const struct node *n = &r->w->nodes.v[i];
	const struct where_value none = {.type = WHERE_NOTHING};

	if (n->op == NODE_FIELD)
		return r->value(r->ctx, n->a);
	if (n->op != NODE_MASK)
		return n->value;
	const struct where_value a = value_of(r, n->a), b = value_of(r, n->b);
	if (a.type != WHERE_NUMBER || b.type != WHERE_NUMBER || a.is_float || b.is_float)
		return none;
	return (struct where_value){.type = WHERE_NUMBER, .number = a.number & b.number};
}

static bool is_negative(const struct where_value *v)
{
	return v->is_signed && (int64_t)v->number < 0;
}

static long double real_of(const struct where_value *v)
{
	if (v->is_float)
		return v->real;
	return v->is_signed ? (long double)(int64_t)v->number : (long double)v->number;
}

static enum truth truth(bool yes)
{
	return yes ? YES : NO;
}

static enum truth compare_numbers(enum node_op op, const struct where_value *a,
				  const struct where_value *b)
{
	bool less, equal;

	if (a->is_float || b->is_float) {
		const long double x = real_of(a), y = real_of(b);

		less = x < y;
		equal = x == y;
		/* NaN is neither, and not greater. */
		if (!less && !equal && !(x > y))
			return truth(op == NODE_NE);
	} else if (is_negative(a) != is_negative(b)) {
		less = is_negative(a);
		equal = false;
	} else {
		/* Of one sign: two's complement has the order of unsigned numbers. */
		less = a->number < b->number;
		equal = a->number == b->number;
	}
	switch (op) {
	case NODE_EQ:
		return truth(equal);
	case NODE_NE:
		return truth(!equal);
	case NODE_LT:
		return truth(less);
	case NODE_LE:
		return truth(less || equal);
	case NODE_GT:
		return truth(!less && !equal);
	default:
		return truth(!less);
	}
}

static enum truth compare_strings(enum node_op op, const struct where_value *a,
				  const struct where_value *b)
{
	const bool equal = a->len == b->len && (!a->len || !memcmp(a->str, b->str, a->len));

	return op == NODE_EQ ? truth(equal) : op == NODE_NE ? truth(!equal) : UNKNOWN;
}

/* A field's bytes end without a NUL. */
static enum truth matches(const char *pattern, const struct where_value *v)
{
	_cleanup_free_ char *text = strndup(v->len ? v->str : "", v->len);

	return text ? truth(glob_match(pattern, text)) : UNKNOWN;
}

static enum truth compare(const struct where_run *r, const struct node *n)
{
	const struct where_value a = value_of(r, n->a), b = value_of(r, n->b);

	if (a.type == WHERE_NOTHING || b.type != a.type)
		return UNKNOWN;
	if (n->op == NODE_MATCH || n->op == NODE_NO_MATCH) {
		const enum truth is =
			a.type == WHERE_STRING ? matches(r->w->nodes.v[n->b].pattern, &a) : UNKNOWN;

		return is == UNKNOWN || n->op == NODE_MATCH ? is : truth(is == NO);
	}
	return a.type == WHERE_STRING ? compare_strings(n->op, &a, &b)
				      : compare_numbers(n->op, &a, &b);
}

static enum truth truth_of(const struct where_run *r, uint16_t i)
{
	const struct node *n = &r->w->nodes.v[i];
	enum truth a, b;

	switch (n->op) {
	case NODE_AND:
	case NODE_OR: {
		const enum truth ends = n->op == NODE_AND ? NO : YES;

		a = truth_of(r, n->a);
		if (a == ends)
			return a;
		b = truth_of(r, n->b);
		return b == ends || a == UNKNOWN ? (b == ends ? b : a) : b;
	}
	case NODE_NOT:
		a = truth_of(r, n->a);
		return a == UNKNOWN ? a : truth(a == NO);
	case NODE_NUMBER:
	case NODE_STRING:
	case NODE_FIELD:
	case NODE_MASK: {
		const struct where_value v = value_of(r, i);

		if (v.type != WHERE_NUMBER)
			return UNKNOWN;
		return truth(v.is_float ? v.real != 0 : v.number != 0);
	}
	default:
		return compare(r, n);
	}
}

bool where_is_true(const struct where *w, where_value_fn *value, void *ctx)
{
	const struct where_run r = {.w = w, .value = value, .ctx = ctx};

	return truth_of(&r, w->root) == YES;
}
