// SPDX-License-Identifier: BSD-2-Clause
/*
 * A body as C: what was typed, a statement a line, with the calls of our functions replaced by what
 * they stand for. Strings are compared by == and !=, as numbers are. Nothing else is changed, so
 * that clang's messages are about what was typed.
 */
#include <stdlib.h>

#include "oneliner/internal.h"

static const char *text_of(const struct body *b)
{
	return b->g->text;
}

struct error *body_close(const struct body *b, size_t open, size_t end, size_t *close)
{
	size_t depth = 0;

	for (size_t i = open; i < end; i++) {
		if (body_is(b, i, "(") || body_is(b, i, "[") || body_is(b, i, "{"))
			depth++;
		if ((body_is(b, i, ")") || body_is(b, i, "]") || body_is(b, i, "}")) && !--depth) {
			*close = i;
			return NULL;
		}
	}
	return oneliner_error(EINVAL, b->g->name, text_of(b), body_token(b, open)->at,
			      "this bracket is not closed");
}

static void new_line(struct body *b, struct piece *out)
{
	strbuf_addch(&out->text, '\n');
	for (unsigned i = 0; i < b->indent; i++)
		strbuf_addch(&out->text, '\t');
}

/* A field of the event; NULL: the token names none. */
static const struct event_field *find_field(const struct body *b, size_t i)
{
	const struct event_field *f;

	if (!b->fields)
		return NULL;
	vec_for_each (f, b->fields)
		if (token_is(text_of(b), body_token(b, i), f->name))
			return f;
	return NULL;
}

static struct error *unknown_field(const struct body *b, size_t i)
{
	_cleanup_free_ char *name =
		strndup(text_of(b) + body_token(b, i)->at, body_token(b, i)->len);
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	const struct event_field *f;

	if (!name)
		return error_nomem();
	struct nearest near = nearest_make(name);
	struct error *err = oneliner_error(ENOENT, b->g->name, text_of(b), body_token(b, i)->at,
					   "%s has no field '%s'", b->event, name);
	if (!b->fields || !b->fields->n)
		return error_hint(err, "its fields are not known");
	vec_for_each (f, b->fields) {
		nearest_offer(&near, f->name);
		strbuf_addf(&all, "%s%s", all.len ? ", " : "", f->name);
	}
	return error_suggest_and(err, &near, "its fields are: %s", strbuf_str(&all));
}

/* The value of a probe that "args->CHAIN" at token i names, the longest one. */
static const struct event_field *find_chain(const struct body *b, size_t i, size_t to, size_t *n)
{
	_cleanup_strbuf_ struct strbuf chain = STRBUF_INIT;
	const struct event_field *f, *found = NULL;
	const bool is_string = i >= 2 && body_is(b, i - 2, "str") && body_is(b, i - 1, "(");

	for (size_t k = i + 2; k < to; k++) {
		if (body_token(b, k)->kind != TOKEN_NAME &&
		    body_token(b, k)->kind != TOKEN_NUMBER && !body_is(b, k, "->") &&
		    !body_is(b, k, ".") && !body_is(b, k, "[") && !body_is(b, k, "]"))
			break;
		strbuf_add(&chain, text_of(b) + body_token(b, k)->at, body_token(b, k)->len);
		if (strbuf_failed(&chain))
			break;
		vec_for_each (f, b->fields) {
			if (strcmp(f->chain, strbuf_str(&chain)) ||
			    (found && *n == k + 1 - i && !f->type.size == is_string))
				continue;
			found = f;
			*n = k + 1 - i;
		}
	}
	return found;
}

/* A value of a probe by its name alone. */
static const struct event_field *find_value(const struct body *b, size_t i)
{
	const struct event_field *f;

	vec_for_each (f, b->fields)
		if (token_is(text_of(b), body_token(b, i), f->name) && f->is_variable &&
		    !body_is(b, i + 1, "("))
			return f;
	return NULL;
}

struct error *body_field(const struct body *b, size_t i, size_t to,
			 const struct event_field **field, size_t *n)
{
	const bool fetches = b->fields && b->fields->n && b->fields->v[0].chain;

	*field = NULL;
	*n = 1;
	if (!body_outer_name(b, i))
		return NULL;
	if (fetches && !body_is(b, i, "args") && !body_declares(b, i))
		*field = find_value(b, i);
	if (*field || !body_is(b, i, "args") || i + 2 >= to || !body_is(b, i + 1, "->"))
		return NULL;
	*n = 3;
	*field = fetches ? find_chain(b, i, to, n) : NULL;
	if (!*field)
		*field = find_field(b, i + 2);
	return *field ? NULL : unknown_field(b, i + 2);
}

bool body_declares(const struct body *b, size_t i)
{
	for (size_t k = 1; k < i; k++) {
		if (body_token(b, k)->len != body_token(b, i)->len ||
		    memcmp(text_of(b) + body_token(b, k)->at, text_of(b) + body_token(b, i)->at,
			   body_token(b, i)->len))
			continue;
		size_t type = k - 1;
		while (type && body_is(b, type, "*"))
			type--;
		if (body_token(b, type)->kind != TOKEN_NAME || body_is(b, type, "return") ||
		    body_is(b, type, "else") || body_is(b, type, "do") ||
		    body_is(b, type, "goto") || body_is(b, type, "case") ||
		    body_is(b, type, "sizeof"))
			continue;
		/* "a * b" is a product, unless a statement begins with it. */
		if (type == k - 1 || !type || body_is(b, type - 1, ";") ||
		    body_is(b, type - 1, "{") || body_is(b, type - 1, "}") ||
		    body_is(b, type - 1, "struct") || body_is(b, type - 1, "const"))
			return true;
	}
	return false;
}

/* ---- types ---- */

/* Whether a cast begins at token i: "(TYPE)". *behind is then the token after it. */
static bool cast_type(const struct body *b, size_t i, size_t to, struct value_type *type,
		      size_t *behind)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t p = i + 1;
	bool any = false;

	if (!body_is(b, i, "("))
		return false;
	for (; p < to && !body_is(b, p, ")"); p++) {
		if (body_token(b, p)->kind != TOKEN_NAME && !body_is(b, p, "*"))
			return false;
		if (variable_find(text_of(b), body_token(b, p)) || body_is(b, p, "args"))
			return false;
		strbuf_addf(&name, "%s%.*s", name.len ? " " : "", (int)body_token(b, p)->len,
			    text_of(b) + body_token(b, p)->at);
		any = true;
	}
	if (!any || p + 1 >= to || name.len >= sizeof(type->type) || strbuf_failed(&name))
		return false;
	/* "(a) + b" and "(a)" are values. */
	const struct token *next = body_token(b, p + 1);
	if (next->kind == TOKEN_PUNCT && !body_is(b, p + 1, "(") && !body_is(b, p + 1, "~") &&
	    !body_is(b, p + 1, "!"))
		return false;
	*type = (struct value_type){0};
	memcpy(type->type, strbuf_str(&name), name.len + 1);
	type->is_signed = type->type[0] != 'u' && !strstr(type->type, "unsigned") &&
			  strncmp(type->type, "__u", 3) && strncmp(type->type, "perf_bpf_", 9);
	if (!strncmp(type->type, "perf_bpf_", 9))
		type->key = NULL;
	*behind = p + 1;
	return true;
}

/* A name's type, if its value is the whole expression. */
static struct error *single_type(struct body *b, size_t from, size_t to, struct value_type *type,
				 bool *known)
{
	const struct event_field *field;
	struct named_map *map;
	size_t n, close;

	*known = true;
	TRY(body_field(b, from, to, &field, &n));
	if (field && from + n == to && !field->length) {
		*type = field->type;
		if (field->dynamic)
			*type = (struct value_type){.size = STR_SIZE};
		return NULL;
	}
	if (from + 1 == to) {
		const struct variable *v = variable_find(text_of(b), body_token(b, from));

		if (v)
			*type = v->type;
		else if (body_token(b, from)->kind == TOKEN_STRING)
			*type = (struct value_type){.size = body_token(b, from)->len - 1};
		else
			*known = false;
		return NULL;
	}
	map = body_outer_name(b, from) && body_is(b, from + 1, "[") ? named_map_at(b, from) : NULL;
	if (map) {
		TRY(body_close(b, from + 1, to, &close));
		*type = map->value;
		*known = close + 1 == to;
		return NULL;
	}
	*known = false;
	return NULL;
}

/* Behind the operand that begins at token i, with its members, elements and calls. */
static size_t skip_operand(const struct body *b, size_t i, size_t to)
{
	bool first = true;

	while (i < to) {
		if (body_is(b, i, "(") || body_is(b, i, "[")) {
			size_t close;
			_cleanup_error_ struct error *err = body_close(b, i, to, &close);

			i = err ? to : close + 1;
		} else if (body_is(b, i, "->") || body_is(b, i, ".")) {
			i += 2;
		} else if (first) {
			i++;
		} else {
			break;
		}
		first = false;
	}
	return min_of(i, to);
}

/* take(MAP, ...), whose type is that of the map. */
static bool is_function_name(const struct body *b, size_t i)
{
	return body_is(b, i, "take") && body_is(b, i + 1, "(");
}

/* Numbers: unsigned if all names in it are, with a unit if a difference of times is taken. */
static struct error *arithmetic_type(struct body *b, size_t from, size_t to,
				     struct value_type *type)
{
	bool is_unsigned = true, any = false, logical = false;
	const char *unit = NULL;

	for (size_t i = from; i < to; i++) {
		const struct event_field *field;
		const struct variable *v;
		size_t n;

		if (body_is(b, i, "==") || body_is(b, i, "!=") || body_is(b, i, "<") ||
		    body_is(b, i, ">") || body_is(b, i, "<=") || body_is(b, i, ">=") ||
		    body_is(b, i, "&&") || body_is(b, i, "||"))
			logical = true;
		TRY(body_field(b, i, to, &field, &n));
		if (field) {
			is_unsigned &= !field->type.is_signed;
			unit = field->type.unit ? field->type.unit : unit;
			any = true;
			i += n - 1;
			continue;
		}
		if (!body_outer_name(b, i) || constant_is(b->g, body_token(b, i)))
			continue;
		const struct named_map *map = named_map_at(b, i);
		if (map || is_function_name(b, i)) {
			is_unsigned &= !map || !map->value.is_signed;
			unit = map && map->value.unit ? map->value.unit : unit;
			any = true;
			if (body_is(b, i + 1, "["))
				i = skip_operand(b, i, to) - 1;
			continue;
		}
		v = variable_find(text_of(b), body_token(b, i));
		is_unsigned &= v && !v->type.is_signed;
		unit = v && v->type.unit ? v->type.unit : unit;
		any = true;
	}
	*type = (struct value_type){.is_signed = !any || !is_unsigned || logical};
	type->unit = logical ? NULL : unit;
	strcpy(type->type, type->is_signed ? "__s64" : "__u64");
	if (unit && !logical && !strcmp(unit, "ns"))
		type->key = "perf_bpf_ns";
	return NULL;
}

struct error *body_type(struct body *b, size_t from, size_t to, struct value_type *type)
{
	bool known;
	size_t behind, close;

	while (from < to && body_is(b, from, "(") && to - from > 2) {
		TRY(body_close(b, from, to, &close));
		if (close + 1 != to)
			break;
		from++;
		to--;
	}
	TRY(single_type(b, from, to, type, &known));
	if (known)
		return NULL;
	if (cast_type(b, from, to, type, &behind) && skip_operand(b, behind, to) == to)
		return NULL;
	const struct function *f = body_outer_name(b, from) && body_is(b, from + 1, "(")
					   ? function_find(text_of(b), body_token(b, from))
					   : NULL;
	if (f && skip_operand(b, from, to) == to) {
		TRY(call_type(b, f, from, type, &known));
		if (known)
			return NULL;
	}
	return arithmetic_type(b, from, to, type);
}

/* ---- what is written ---- */

/* A field that is elsewhere in the event cannot be a value of its own: it has a function's place.
 */
static struct error *write_field(struct body *b, size_t i, size_t n,
				 const struct event_field *field, struct piece *out)
{
	if (field->dynamic)
		return error_hint(oneliner_error(EINVAL, b->g->name, text_of(b),
						 body_token(b, i)->at,
						 "this string cannot be used in an expression"),
				  "give it to a function that counts or prints");
	if (field->chain) {
		const struct token name = {.at = body_token(b, i)->at, .len = 0};

		piece_typed(out, text_of(b), &name);
		strbuf_addf(&out->text, "args->%s", field->name);
		return NULL;
	}
	for (size_t k = 0; k < n; k++)
		piece_typed(out, text_of(b), body_token(b, i + k));
	return NULL;
}

/* STRING == "text", and != */
static struct error *write_comparison(struct body *b, size_t from, size_t to, size_t *next,
				      struct piece *out)
{
	const struct event_field *field;
	struct value_type type;
	bool known;
	size_t op, n;

	*next = from;
	TRY(body_field(b, from, to, &field, &n));
	op = from + n;
	if (op + 1 >= to || !(body_is(b, op, "==") || body_is(b, op, "!=")) ||
	    body_token(b, op + 1)->kind != TOKEN_STRING)
		return NULL;
	TRY(single_type(b, from, op, &type, &known));
	if (!known || !type.size || (field && field->dynamic))
		return NULL;
	strbuf_adds(&out->text, body_is(b, op, "!=") ? "!perf_bpf_str_is(" : "perf_bpf_str_is(");
	if (field)
		TRY(write_field(b, from, n, field, out));
	else
		piece_typed(out, text_of(b), body_token(b, from));
	strbuf_adds(&out->text, ", ");
	piece_typed(out, text_of(b), body_token(b, op + 1));
	strbuf_addch(&out->text, ')');
	b->g->uses_values = true;
	*next = op + 2;
	return NULL;
}

static struct error *unknown_function(const struct body *b, size_t i)
{
	_cleanup_free_ char *name =
		strndup(text_of(b) + body_token(b, i)->at, body_token(b, i)->len);
	struct nearest near;

	if (!name)
		return error_nomem();
	near = nearest_make(name);
	functions_offer(&near);
	if (!near.n)
		return NULL;
	return error_suggest(oneliner_error(ENOENT, b->g->name, text_of(b), body_token(b, i)->at,
					    "unknown function '%s'", name),
			     &near);
}

/* Names that C or the headers have, whatever ours they resemble. */
static bool is_known_call(const struct body *b, size_t i)
{
	static const char *const words[] = {"if",     "while",	"for", "switch",
					    "return", "sizeof", "do",  "typeof"};
	const char *name = text_of(b) + body_token(b, i)->at;

	for (size_t k = 0; k < ARRAY_SIZE(words); k++)
		if (token_is(text_of(b), body_token(b, i), words[k]))
			return true;
	return !strncmp(name, "bpf_", 4) || !strncmp(name, "perf_bpf_", 9) ||
	       !strncmp(name, "__", 2) || !strncmp(name, "BPF_", 4);
}

/* As a string, which a key has room for. */
static void write_event_name(const struct body *b, struct piece *out)
{
	strbuf_addch(&out->text, '"');
	for (size_t k = 0; b->event[k] && k < STR_SIZE - 1; k++)
		strbuf_addf(&out->text, b->event[k] == '"' || b->event[k] == '\\' ? "\\%c" : "%c",
			    b->event[k]);
	strbuf_addch(&out->text, '"');
}

/* One operand or operator at token i, up to *next. */
static struct error *write_token(struct body *b, size_t i, size_t to, bool is_statement,
				 size_t *next, struct piece *out)
{
	const struct event_field *field;
	struct named_map *map;
	size_t close, n;

	TRY(write_comparison(b, i, to, next, out));
	if (*next != i)
		return NULL;
	*next = i + 1;
	TRY(body_field(b, i, to, &field, &n));
	if (field) {
		*next = i + n;
		return write_field(b, i, n, field, out);
	}
	map = body_outer_name(b, i) && body_is(b, i + 1, "[") ? named_map_at(b, i) : NULL;
	if (map)
		return named_map_write(b, map, i, to, next, out);
	if (body_outer_name(b, i) && (body_is(b, i, "kstack") || body_is(b, i, "ustack")) &&
	    !body_declares(b, i)) {
		b->g->uses_stack_ids = b->g->uses_values = true;
		strbuf_addf(&out->text, "bpf_get_stackid(%s, &stack_ids, %s)", b->ctx,
			    body_is(b, i, "ustack") ? "BPF_F_USER_STACK" : "0");
		return NULL;
	}
	if (body_outer_name(b, i) && body_is(b, i, "event") && !body_declares(b, i)) {
		write_event_name(b, out);
		return NULL;
	}
	if (body_outer_name(b, i) && body_is(b, i + 1, "(")) {
		const struct function *f = function_find(text_of(b), body_token(b, i));

		if (f) {
			TRY(body_close(b, i + 1, to, &close));
			is_statement = is_statement && body_is(b, close + 1, ";");
			*next = close + 1 + is_statement;
			return call_write(b, f, i, close, is_statement, out);
		}
		if (!is_known_call(b, i))
			TRY(unknown_function(b, i));
	}
	piece_typed(out, text_of(b), body_token(b, i));
	return NULL;
}

struct error *body_expression(struct body *b, size_t from, size_t to, struct piece *out)
{
	for (size_t i = from, next; i < to; i = next) {
		if (i > from && body_token(b, i)->spaced)
			strbuf_addch(&out->text, ' ');
		TRY(write_token(b, i, to, false, &next, out));
	}
	return NULL;
}

/* Whether a statement can begin behind token i. */
static bool ends_statement(const struct body *b, size_t i)
{
	return body_is(b, i, ";") || body_is(b, i, "{") || body_is(b, i, "}") ||
	       body_is(b, i, "else") || body_is(b, i, "do");
}

/* "if (…)" and its like: the index of the bracket's end; 0: token i is none. */
static struct error *head_end(const struct body *b, size_t i, size_t *end)
{
	*end = 0;
	if (!(body_is(b, i, "if") || body_is(b, i, "while") || body_is(b, i, "for") ||
	      body_is(b, i, "switch")) ||
	    !body_is(b, i + 1, "("))
		return NULL;
	return body_close(b, i + 1, b->tokens->n, end);
}

/* Brackets in pairs: else the braces that we write close something else. */
static struct error *check_brackets(const struct body *b)
{
	VEC(size_t) open = {0};
	struct error *err = NULL;

	for (size_t i = 0; i < b->tokens->n && !err; i++) {
		if (body_is(b, i, "(") || body_is(b, i, "[") || body_is(b, i, "{")) {
			size_t *slot = vec_push(&open);

			if (slot)
				*slot = i;
			else
				err = error_nomem();
		}
		const char *want = body_is(b, i, ")")	? "("
				   : body_is(b, i, "]") ? "["
				   : body_is(b, i, "}") ? "{"
							: NULL;
		if (!want)
			continue;
		if (open.n && !body_is(b, open.v[open.n - 1], want))
			break;
		if (!open.n)
			err = oneliner_error(EINVAL, b->g->name, text_of(b), body_token(b, i)->at,
					     "no '%s' is open here", want);
		else
			open.n--;
	}
	if (!err && open.n)
		err = oneliner_error(EINVAL, b->g->name, text_of(b),
				     body_token(b, open.v[open.n - 1])->at,
				     "this '%.1s' is not closed",
				     text_of(b) + body_token(b, open.v[open.n - 1])->at);
	vec_deinit(&open);
	return err;
}

struct error *body_write(struct body *b)
{
	struct piece *out = b->out;
	size_t parens = 0, head = 0;
	bool begins = true;

	TRY(check_brackets(b));
	for (size_t i = 0, next; i < b->tokens->n; i = next) {
		size_t end;

		if (body_is(b, i, "}") && b->indent > 1)
			b->indent--;
		if (begins || body_token(b, i)->kind == TOKEN_LINE)
			new_line(b, out);
		else if (body_token(b, i)->spaced ||
			 (i && body_is(b, i - 1, ")") && !parens && i == head + 1))
			strbuf_addch(&out->text, ' ');
		TRY(head_end(b, i, &end));
		if (end)
			head = end;
		if (body_is(b, i, "return") && body_is(b, i + 1, ";")) {
			piece_typed(out, text_of(b), body_token(b, i));
			strbuf_adds(&out->text, " 0");
			next = i + 1;
			begins = false;
			continue;
		}
		TRY(write_token(b, i, b->tokens->n,
				!parens &&
					(!i || ends_statement(b, i - 1) || (head && i == head + 1)),
				&next, out));
		parens += next == i + 1 && (body_is(b, i, "(") || body_is(b, i, "["));
		parens -= next == i + 1 && parens && (body_is(b, i, ")") || body_is(b, i, "]"));
		if (next == i + 1 && body_is(b, i, "{"))
			b->indent++;
		begins = !parens &&
			 (ends_statement(b, next - 1) && !body_is(b, next - 1, "else") &&
			  !body_is(b, next - 1, "do")) &&
			 !(body_is(b, next - 1, "}") && body_is(b, next, "else"));
		begins |= body_token(b, i)->kind == TOKEN_LINE;
	}
	return NULL;
}
