// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parser of conditions: one function for each line of the grammar in where.h.
 * Text, nodes and nesting are bounded, so that no text takes more than a
 * moment, or the stack.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "perf/filter/internal.h"

#define TEXT_MAX  4096
#define NODES_MAX 1024
#define DEPTH_MAX 64

struct where_parser {
	const char *text;
	size_t pos;
	unsigned depth;
	struct where *w;
};

#define fail(p, at, ...) where_error((p)->text, at, __VA_ARGS__)

static void skip_blanks(struct where_parser *p)
{
	p->pos += strspn(p->text + p->pos, " \t\r\n");
}

/* Takes an operator, and no part of a longer one. */
static bool accept(struct where_parser *p, const char *op)
{
	const size_t n = strlen(op);
	const char *s = p->text + p->pos;

	if (strncmp(s, op, n))
		return false;
	/* "&" is not the half of "&&", "<" not that of "<=", "!" not that of "!=" or "!~". */
	if (n == 1 && ((*op == '&' && s[1] == '&') || (strchr("<>!", *op) && s[1] == '=') ||
		       (*op == '!' && s[1] == '~')))
		return false;
	p->pos += n;
	skip_blanks(p);
	return true;
}

static struct error *add_node(struct where_parser *p, struct node node, uint16_t *out)
{
	if (p->w->nodes.n >= NODES_MAX)
		return fail(p, node.at, "the condition is too long");
	struct node *slot = vec_push(&p->w->nodes);
	if (!slot)
		return error_nomem();
	*slot = node;
	*out = (uint16_t)(p->w->nodes.n - 1);
	return NULL;
}

/* A condition, which is true or false; else a number, a string or a field. */
static bool is_condition(const struct where *w, uint16_t i)
{
	return w->nodes.v[i].op >= NODE_AND && w->nodes.v[i].op != NODE_MASK;
}

static bool is_string(const struct where *w, uint16_t i)
{
	return w->nodes.v[i].op == NODE_STRING;
}

static bool is_number(const struct where *w, uint16_t i)
{
	return w->nodes.v[i].op == NODE_NUMBER || w->nodes.v[i].op == NODE_MASK;
}

/* What has a truth: a condition, or a number, which is true unless it is 0. */
static struct error *check_truth(struct where_parser *p, uint16_t i)
{
	return is_string(p->w, i) ? fail(p, p->w->nodes.v[i].at,
					 "a string is neither true nor false: compare it with "
					 "something")
				  : NULL;
}

static struct error *parse_or(struct where_parser *p, uint16_t *out);

/* Digits with a fraction, from the number's first byte on. */
static struct error *parse_float(struct where_parser *p, struct node *node, bool negative)
{
	const char *s = p->text + p->pos;
	char *end;
	const size_t n = strspn(s, "0123456789.");
	_cleanup_free_ char *copy = strndup(s, n);

	if (!copy)
		return error_nomem();
	const double real = strtod(copy, &end);
	if (*end)
		return fail(p, p->pos, "this is not a number");
	node->value.is_float = true;
	node->value.real = negative ? -real : real;
	p->pos += n;
	return NULL;
}

static struct error *parse_number(struct where_parser *p, uint16_t *out)
{
	struct node node = {.op = NODE_NUMBER, .at = (uint32_t)p->pos, .value.type = WHERE_NUMBER};
	const bool negative = p->text[p->pos] == '-';
	const size_t start = p->pos += negative;
	const char *s = p->text + start;
	unsigned base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		base = 16, p->pos += 2;
	else if (s[strspn(s, "0123456789")] == '.')
		TRY(parse_float(p, &node, negative));
	else if (s[0] == '0')
		base = 8;
	const size_t digits = p->pos;
	uint64_t v = 0;
	for (; !node.value.is_float; p->pos++) {
		const unsigned char c = (unsigned char)p->text[p->pos];
		const unsigned d = isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10u : 16;

		if (d >= base)
			break;
		if (v > (UINT64_MAX - d) / base)
			return fail(p, start, "this number has more than 64 bits");
		v = v * base + d;
	}
	if (!node.value.is_float && p->pos == digits)
		return fail(p, p->pos, "expected digits here");
	if (isalnum((unsigned char)p->text[p->pos]) || p->text[p->pos] == '_' ||
	    p->text[p->pos] == '.')
		return fail(p, p->pos, "unexpected '%c' in a number", p->text[p->pos]);
	if (negative && !node.value.is_float && v > 1ull << 63)
		return fail(p, start, "this number has more than 64 bits");
	node.value.number = negative ? 0 - v : v;
	node.value.is_signed = negative;
	skip_blanks(p);
	return add_node(p, node, out);
}

static struct error *parse_string(struct where_parser *p, uint16_t *out)
{
	struct node node = {.op = NODE_STRING, .at = (uint32_t)p->pos, .value.type = WHERE_STRING};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, pattern = STRBUF_INIT;
	const char quote = p->text[p->pos++];

	for (; p->text[p->pos] != quote; p->pos++) {
		char c = p->text[p->pos];

		if (c == '\\' && p->text[p->pos + 1]) {
			strbuf_addch(&pattern, c);
			c = p->text[++p->pos];
		}
		if (!c)
			return fail(p, node.at, "this string is not closed");
		strbuf_addch(&pattern, c);
		strbuf_addch(&text, c);
	}
	p->pos++;
	skip_blanks(p);
	if (strbuf_failed(&text) || !names_add_n(&p->w->strings, strbuf_str(&text), text.len))
		return error_nomem();
	node.value.str = p->w->strings.v[p->w->strings.n - 1];
	if (strbuf_failed(&pattern) || !names_add(&p->w->strings, strbuf_str(&pattern)))
		return error_nomem();
	node.pattern = p->w->strings.v[p->w->strings.n - 1];
	node.value.len = text.len;
	return add_node(p, node, out);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "[3]": its number. */
static struct error *parse_index(struct where_parser *p, long *index)
{
	const size_t open = p->pos++;
	long v = 0;

	skip_blanks(p);
	const size_t digits = p->pos;
	for (; isdigit((unsigned char)p->text[p->pos]); p->pos++)
		if ((v = v * 10 + (p->text[p->pos] - '0')) > 65535)
			return fail(p, digits, "the index is too large");
	if (p->pos == digits)
		return fail(p, digits, "expected a number here");
	skip_blanks(p);
	if (p->text[p->pos] != ']')
		return fail(p, p->pos, "']' is missing for the '[' in column %zu", open + 1);
	p->pos++;
	*index = v;
	return NULL;
}

static struct error *parse_name(struct where_parser *p, const char **name)
{
	struct names *strings = &p->w->strings;
	size_t n = 0;

	while (is_name(p->text[p->pos + n]))
		n++;
	if (!n)
		return fail(p, p->pos, "expected a field name here");
	if (!names_add_n(strings, p->text + p->pos, n))
		return error_nomem();
	*name = strings->v[strings->n - 1];
	p->pos += n;
	return NULL;
}

static bool is_same_field(const struct where_field *a, const struct where_field *b)
{
	return !strcmp(a->name, b->name) && a->index == b->index &&
	       !strcmp(a->owner ? a->owner : "", b->owner ? b->owner : "");
}

static struct error *parse_field(struct where_parser *p, uint16_t *out)
{
	struct node node = {.op = NODE_FIELD, .at = (uint32_t)p->pos};
	struct where_field field = {.index = -1, .at = p->pos};
	struct where *w = p->w;

	TRY(parse_name(p, &field.name));
	if (p->text[p->pos] == '.') {
		p->pos++;
		field.owner = field.name;
		TRY(parse_name(p, &field.name));
	}
	if (p->text[p->pos] == '[')
		TRY(parse_index(p, &field.index));
	skip_blanks(p);

	while (node.a < w->fields.n && !is_same_field(&w->fields.v[node.a], &field))
		node.a++;
	if (node.a == w->fields.n) {
		struct where_field *slot = vec_push(&w->fields);
		if (!slot)
			return error_nomem();
		*slot = field;
	}
	return add_node(p, node, out);
}

static struct error *parse_value(struct where_parser *p, uint16_t *out)
{
	const size_t at = p->pos;
	const char c = p->text[at];

	if (c == '"' || c == '\'')
		return parse_string(p, out);
	if (isdigit((unsigned char)c) || (c == '-' && isdigit((unsigned char)p->text[at + 1])))
		return parse_number(p, out);
	if (isalpha((unsigned char)c) || c == '_')
		return parse_field(p, out);
	if (!accept(p, "("))
		return fail(p, at, "expected a value here");
	if (++p->depth > DEPTH_MAX)
		return fail(p, at, "the condition is nested too deeply");
	TRY(parse_or(p, out));
	if (!accept(p, ")"))
		return fail(p, p->pos, "')' is missing for the '(' in column %zu", at + 1);
	p->depth--;
	return NULL;
}

static struct error *parse_mask(struct where_parser *p, uint16_t *out)
{
	TRY(parse_value(p, out));
	for (;;) {
		struct node node = {.op = NODE_MASK, .a = *out, .at = (uint32_t)p->pos};

		if (!accept(p, "&"))
			return NULL;
		TRY(parse_value(p, &node.b));
		if (is_condition(p->w, node.a) || is_condition(p->w, node.b) ||
		    is_string(p->w, node.a) || is_string(p->w, node.b))
			return fail(p, node.at,
				    "'&' takes bits of numbers: use '&&' between "
				    "conditions");
		TRY(add_node(p, node, out));
	}
}

/* What can be known before fields have their types. */
static struct error *check_comparison(struct where_parser *p, const struct node *node)
{
	const struct where *w = p->w;
	const bool matches = node->op == NODE_MATCH || node->op == NODE_NO_MATCH;

	if (is_condition(w, node->a) || is_condition(w, node->b))
		return fail(p, node->at, "only numbers, strings and fields can be compared");
	if (matches && !is_string(w, node->b))
		return fail(p, w->nodes.v[node->b].at, "'~' takes a pattern in quotes: \"*.so\"");
	if (matches && is_number(w, node->a))
		return fail(p, w->nodes.v[node->a].at, "'~' takes a string");
	if ((is_string(w, node->a) && is_number(w, node->b)) ||
	    (is_number(w, node->a) && is_string(w, node->b)))
		return fail(p, node->at, "a string is compared with a number");
	if ((is_string(w, node->a) || is_string(w, node->b)) && node->op >= NODE_LT &&
	    node->op <= NODE_GE)
		return fail(p, node->at, "strings have no order: use ==, != or ~");
	return NULL;
}

static struct error *parse_compare(struct where_parser *p, uint16_t *out)
{
	static const struct {
		const char *text;
		enum node_op op;
	} ops[] = {
		{"==", NODE_EQ}, {"!=", NODE_NE},	{"<=", NODE_LE}, {">=", NODE_GE},
		{"<", NODE_LT},	 {"!~", NODE_NO_MATCH}, {">", NODE_GT},	 {"~", NODE_MATCH},
	};
	size_t i = 0;

	TRY(parse_mask(p, out));
	struct node node = {.a = *out, .at = (uint32_t)p->pos};
	while (i < ARRAY_SIZE(ops) && !accept(p, ops[i].text))
		i++;
	if (i == ARRAY_SIZE(ops)) {
		if (p->text[p->pos] == '=')
			return fail(p, p->pos, "'=' does not compare: write '=='");
		return NULL;
	}
	node.op = ops[i].op;
	TRY(parse_mask(p, &node.b));
	TRY(check_comparison(p, &node));
	return add_node(p, node, out);
}

static struct error *parse_not(struct where_parser *p, uint16_t *out)
{
	struct node node = {.op = NODE_NOT, .at = (uint32_t)p->pos};

	if (!accept(p, "!"))
		return parse_compare(p, out);
	if (++p->depth > DEPTH_MAX)
		return fail(p, node.at, "the condition is nested too deeply");
	TRY(parse_not(p, &node.a));
	TRY(check_truth(p, node.a));
	p->depth--;
	return add_node(p, node, out);
}

/* Operands of one kind of operator, from the left. */
static struct error *
parse_chain(struct where_parser *p, const char *text, enum node_op op,
	    struct error *(*parse_operand)(struct where_parser *p, uint16_t *out), uint16_t *out)
{
	TRY(parse_operand(p, out));
	for (;;) {
		struct node node = {.op = op, .a = *out, .at = (uint32_t)p->pos};

		if (!accept(p, text))
			return NULL;
		TRY(check_truth(p, node.a));
		TRY(parse_operand(p, &node.b));
		TRY(check_truth(p, node.b));
		TRY(add_node(p, node, out));
	}
}

static struct error *parse_and(struct where_parser *p, uint16_t *out)
{
	return parse_chain(p, "&&", NODE_AND, parse_not, out);
}

static struct error *parse_or(struct where_parser *p, uint16_t *out)
{
	return parse_chain(p, "||", NODE_OR, parse_and, out);
}

static struct error *parse(struct where_parser *p)
{
	skip_blanks(p);
	if (!p->text[p->pos])
		return fail(p, p->pos, "the condition is empty");
	TRY(parse_or(p, &p->w->root));
	if (p->text[p->pos])
		return fail(p, p->pos, "unexpected '%c'", p->text[p->pos]);
	return check_truth(p, p->w->root);
}

struct error *where_parse(const char *text, struct where **out)
{
	_cleanup_(where_freep) struct where *w = calloc(1, sizeof(*w));
	struct where_parser p = {.text = text, .w = w};

	if (!w)
		return error_nomem();
	if (strlen(text) > TEXT_MAX)
		return error_usage("a condition can have at most %d characters", TEXT_MAX);
	w->text = strdup(text);
	if (!w->text)
		return error_nomem();
	TRY(parse(&p));
	*out = steal_ptr(w);
	return NULL;
}

void where_free(struct where *w)
{
	if (!w)
		return;
	free(w->text);
	vec_deinit(&w->nodes);
	vec_deinit(&w->fields);
	names_deinit(&w->strings);
	free(w);
}
