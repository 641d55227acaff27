// SPDX-License-Identifier: BSD-2-Clause
/*
 * A tracepoint's format file (kernel tree, Documentation/trace/events.rst):
 *
 *	name: sched_switch
 *	ID: 372
 *	format:
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *		…
 *	print fmt: "prev_comm=%s …", REC->prev_comm, …
 *
 * The fields, and the print format as a string and a list of expressions.
 * The text comes from a recording and may be anything: every node stands in
 * the event's list of allocations, their number and the depth are bounded.
 * libtraceevent, which does the same for perf, is no help here: a damaged
 * text makes it read past its buffers.
 *
 * What an expression means is what libtraceevent takes it for, so that what is
 * printed is what perf prints: operators of the same precedence bind to the
 * right, a right operand of lower precedence is turned outward even when it
 * stood in parentheses, "(u64)-1" is "0 - 1".
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "perf/format/internal.h"

#define NODES_MAX 65536
#define DEPTH_MAX 1000
#define TOKEN_MAX 4096

enum token_type {
	TOKEN_END,
	TOKEN_ITEM,   /* a name or number */
	TOKEN_STRING, /* without its quotes, escapes as they stand */
	TOKEN_DELIM,  /* ( ) , */
	TOKEN_OP,
	TOKEN_BAD,
};

struct format_parser {
	struct trace_event *ev;
	const char *p, *end;
	enum token_type type; /* of the token at hand */
	char *token;	      /* owned by the event */
	unsigned depth;
};

/* ---- memory ---- */

static void *keep(struct trace_event *ev, void *p)
{
	void **slot = p && ev->memory.n < NODES_MAX ? vec_push(&ev->memory) : NULL;

	if (!slot) {
		ev->tracing->no_memory |= !p || ev->memory.n < NODES_MAX;
		free(p);
		return NULL;
	}
	*slot = p;
	return p;
}

static char *keep_text(struct trace_event *ev, const char *s, size_t n)
{
	return n <= FORMAT_MAX ? keep(ev, strndup(s, n)) : NULL;
}

static struct arg *new_arg(struct format_parser *ps)
{
	return keep(ps->ev, calloc(1, sizeof(struct arg)));
}

/* ---- the fields ---- */

static bool take_line(struct cursor *c, const char **line, size_t *len)
{
	const char *p = (const char *)c->base + c->pos;
	size_t left = cursor_left(c);
	const char *nl = left ? memchr(p, '\n', left) : NULL;

	if (!left)
		return false;
	*line = p;
	*len = nl ? (size_t)(nl - p) : left;
	cursor_skip(c, *len + (nl ? 1 : 0));
	return true;
}

static bool has_prefix(const char *s, size_t len, const char *prefix, size_t *n)
{
	*n = strlen(prefix);
	return len >= *n && !memcmp(s, prefix, *n);
}

/* "offset:8;" somewhere in the line. */
static bool line_number(const char *line, const char *name, long *value)
{
	const char *at = strstr(line, name);
	char *end;

	if (!at)
		return false;
	at += strlen(name);
	errno = 0;
	*value = strtol(at, &end, 10);
	return end != at && *end == ';' && !errno;
}

/* Of a C type; 0: unknown. */
static uint32_t format_type_size(const char *type, uint32_t long_size)
{
	static const struct {
		const char *name;
		uint32_t size;
	} known[] = {
		{"u8", 1},
		{"u16", 2},
		{"u32", 4},
		{"u64", 8},
		{"s8", 1},
		{"s16", 2},
		{"s32", 4},
		{"s64", 8},
		{"char", 1},
		{"short", 2},
		{"int", 4},
		{"long long", 8},
		{"unsigned", 4},
		{"unsigned char", 1},
		{"unsigned short", 2},
		{"unsigned int", 4},
		{"unsigned long long", 8},
		{"__u8", 1},
		{"__u16", 2},
		{"__u32", 4},
		{"__u64", 8},
		{"bool", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, type))
			return known[i].size;
	return !strcmp(type, "long") || !strcmp(type, "unsigned long") ? long_size : 0;
}

/* "char prev_comm[16]", "__data_loc char[] name", "const char * buf" */
static struct error *parse_declaration(struct trace_event *ev, char *text, struct format_field *f)
{
	size_t n = strlen(text);
	char *bracket = strrchr(text, '[');
	char *name;

	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = 0;
	bool dynamic = !strncmp(text, "__data_loc ", 11),
	     relative = !strncmp(text, "__rel_loc ", 10);
	if (bracket && text[n - 1] == ']' && !dynamic && !relative) {
		f->array_len = (uint32_t)strtoul(bracket + 1, NULL, 0);
		f->flags |= FIELD_ARRAY;
		n = (size_t)(bracket - text);
		while (n && isspace((unsigned char)text[n - 1]))
			n--;
		text[n] = 0;
	} else if (dynamic || relative) {
		f->flags |= FIELD_ARRAY | FIELD_DYNAMIC | (relative ? FIELD_RELATIVE : 0);
	}
	name = text + n;
	while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
		name--;
	if (!*name || name == text || isdigit((unsigned char)*name))
		return error_new(EBADMSG, "a field has no name: '%s'", text);
	f->name = keep_text(ev, name, strlen(name));
	while (name > text && isspace((unsigned char)name[-1]))
		name--;
	*name = 0;
	if (strchr(text, '*'))
		f->flags |= FIELD_POINTER;
	if (strstr(text, "long"))
		f->flags |= FIELD_LONG;
	if (f->flags & FIELD_ARRAY &&
	    (strstr(text, "char") || strstr(text, "u8") || strstr(text, "s8")))
		f->flags |= FIELD_STRING;
	f->type = keep_text(ev, text, strlen(text));
	if (!f->name || !f->type)
		return error_nomem();
	if (dynamic || relative) {
		/* Of the element, between the keyword and the brackets. */
		char element[64] = "";
		const char *from = text + (dynamic ? 11 : 10);
		size_t len = strcspn(from, "[");

		while (len && from[len - 1] == ' ')
			len--;
		if (len < sizeof(element))
			memcpy(element, from, len);
		f->element_size = format_type_size(element, ev->tracing->long_size);
	}
	return NULL;
}

static struct error *parse_field(struct trace_event *ev, const char *line, size_t len)
{
	_cleanup_free_ char *copy = strndup(line, len);
	long offset, size, is_signed = 0;
	size_t skip;

	if (!copy)
		return error_nomem();
	char *semi = strchr(copy, ';'), *from = strchr(copy, ':');
	if (!semi || !from || from > semi || !line_number(semi, "offset:", &offset) ||
	    !line_number(semi, "size:", &size))
		return error_new(EBADMSG, "invalid field line: '%.80s'", copy);
	line_number(semi, "signed:", &is_signed);
	if (offset < 0 || size < 0 || offset > PAYLOAD_MAX || size > PAYLOAD_MAX - offset)
		return error_new(EBADMSG,
				 "a field at offset %ld with %ld bytes is outside of any payload",
				 offset, size);
	*semi = 0;
	for (from++; isspace((unsigned char)*from); from++)
		;
	struct format_field *f = keep(ev, calloc(1, sizeof(*f)));
	if (!f)
		return error_new(E2BIG, "too many fields");
	f->offset = (uint32_t)offset;
	f->size = (uint32_t)size;
	if (is_signed)
		f->flags |= FIELD_SIGNED;
	TRY(parse_declaration(ev, from, f));
	if (!(f->flags & FIELD_ARRAY))
		f->element_size = f->size;
	else if (f->array_len)
		f->element_size = f->size / f->array_len;
	else if (f->flags & FIELD_STRING && !(f->flags & FIELD_DYNAMIC))
		f->element_size = 1;
	else if (f->flags & FIELD_LONG && !(f->flags & FIELD_DYNAMIC))
		f->element_size = ev->tracing->long_size;
	f->common = has_prefix(f->name, strlen(f->name), "common_", &skip);
	ev->extent = max_of(ev->extent, f->offset + f->size);
	struct format_field **slot = vec_push(&ev->format_fields);
	if (!slot)
		return error_nomem();
	*slot = f;
	return NULL;
}

struct format_field *format_find_field(const struct trace_event *ev, const char *name)
{
	for (size_t i = 0; i < ev->format_fields.n; i++)
		if (!strcmp(ev->format_fields.v[i]->name, name))
			return ev->format_fields.v[i];
	return NULL;
}

/* ---- tokens ---- */

static bool is_item(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void bad_token(struct format_parser *ps)
{
	ps->type = TOKEN_BAD;
	ps->token = (char *)"";
}

/* Strings that follow one another are one. */
static void read_string(struct format_parser *ps)
{
	struct strbuf text = STRBUF_INIT;
	char quote = *ps->p;

	while (ps->p < ps->end && *ps->p == quote) {
		for (ps->p++; ps->p < ps->end && *ps->p != quote; ps->p++) {
			if (*ps->p == '\\' && ps->p + 1 < ps->end)
				strbuf_addch(&text, *ps->p++);
			strbuf_addch(&text, *ps->p);
		}
		if (ps->p == ps->end) { /* no end */
			strbuf_deinit(&text);
			bad_token(ps);
			return;
		}
		ps->p++;
		const char *ahead = ps->p;
		while (ahead < ps->end && isspace((unsigned char)*ahead))
			ahead++;
		if (quote != '"' || ahead == ps->end || *ahead != '"')
			break;
		ps->p = ahead;
	}
	ps->type = TOKEN_STRING;
	ps->token = keep(ps->ev, strbuf_steal(&text));
	if (!ps->token)
		bad_token(ps);
}

static void next_token(struct format_parser *ps)
{
	while (ps->p < ps->end && isspace((unsigned char)*ps->p))
		ps->p++;
	ps->token = (char *)"";
	if (ps->p == ps->end) {
		ps->type = TOKEN_END;
		return;
	}
	const char *from = ps->p;
	char c = *from, next = from + 1 < ps->end ? from[1] : 0;
	if (c == '"' || c == '\'') {
		read_string(ps);
		return;
	}
	if (is_item(c)) {
		ps->type = TOKEN_ITEM;
		while (ps->p < ps->end && is_item(*ps->p))
			ps->p++;
	} else if (c == '(' || c == ')' || c == ',') {
		ps->type = TOKEN_DELIM;
		ps->p++;
	} else if (isprint((unsigned char)c)) {
		ps->type = TOKEN_OP;
		ps->p++;
		if (c == '-' && next == '>')
			ps->p++;
		else if (strchr("-+|&<>", c) && next == c)
			ps->p++;
		else if (strchr("-+|&<>!=", c) && next == '=')
			ps->p++;
	} else {
		bad_token(ps);
		return;
	}
	if (ps->p - from > TOKEN_MAX ||
	    !(ps->token = keep_text(ps->ev, from, (size_t)(ps->p - from))))
		bad_token(ps);
}

static bool at(const struct format_parser *ps, enum token_type type, const char *text)
{
	return ps->type == type && !strcmp(ps->token, text);
}

/* Some signs only end an expression. */
static bool at_operator(const struct format_parser *ps)
{
	return ps->type == TOKEN_OP && !strchr(":]{}", ps->token[0]);
}

/* The token at hand must be this one; takes the next. */
static bool expect(struct format_parser *ps, enum token_type type, const char *text)
{
	if (!at(ps, type, text))
		return false;
	next_token(ps);
	return true;
}

/* ---- expressions; each leaves the token behind at hand ---- */

static int precedence(const char *op)
{
	static const struct {
		char op[3];
		int prio;
	} known[] = {
		{"~", 4},   {"!", 4},  {"*", 6},  {"/", 6},  {"%", 6},	 {"+", 7},   {"-", 7},
		{">>", 8},  {"<<", 8}, {">", 9},  {"<", 9},  {">=", 9},	 {"<=", 9},  {"==", 10},
		{"!=", 10}, {"&", 11}, {"^", 12}, {"|", 13}, {"&&", 14}, {"||", 15}, {"?", 16},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].op, op))
			return known[i].prio;
	return -1;
}

static bool parse_primary(struct format_parser *ps, struct arg *arg);
static bool parse_operator(struct format_parser *ps, struct arg *arg);

/* A primary and all operators behind it. */
static bool parse_expression(struct format_parser *ps, struct arg *arg)
{
	if (!parse_primary(ps, arg))
		return false;
	while (at_operator(ps))
		if (!parse_operator(ps, arg))
			return false;
	return ps->type != TOKEN_BAD;
}

static bool parse_paren(struct format_parser *ps, struct arg *arg)
{
	next_token(ps);
	if (!parse_primary(ps, arg))
		return false;
	if (at_operator(ps) && !parse_operator(ps, arg))
		return false;
	if (!expect(ps, TOKEN_DELIM, ")"))
		return false;
	if (ps->type != TOKEN_ITEM && ps->type != TOKEN_STRING && !at(ps, TOKEN_DELIM, "("))
		return true;
	/* Something follows: it was a cast. */
	if (arg->type != ARG_ATOM)
		return false;
	arg->type = ARG_TYPE;
	arg->left = new_arg(ps);
	return arg->left && parse_primary(ps, arg->left);
}

/* __get_str(NAME) and its like. */
static bool parse_named(struct format_parser *ps, struct arg *arg, enum arg_type type)
{
	if (ps->type != TOKEN_ITEM)
		return false;
	arg->type = type;
	arg->text = ps->token;
	arg->field = format_find_field(ps->ev, ps->token);
	next_token(ps);
	return expect(ps, TOKEN_DELIM, ")") &&
	       (arg->field || (type != ARG_DYNAMIC_ARRAY && type != ARG_DYNAMIC_ARRAY_LEN));
}

/* The constant that a flag's value is, as libtraceevent folds it. */
static bool fold(const struct arg *arg, unsigned depth, int64_t *value)
{
	int64_t a = 0, b = 0;

	if (depth > DEPTH_MAX)
		return false;
	switch (arg->type) {
	case ARG_ATOM:
		*value = (int64_t)strtoull(arg->text, NULL, 0);
		return true;
	case ARG_TYPE:
		return fold(arg->left, depth + 1, value);
	case ARG_OP:
		break;
	default:
		return false;
	}
	if (arg->left->type != ARG_NULL && !fold(arg->left, depth + 1, &a))
		return false;
	if (!arg->right || !fold(arg->right, depth + 1, &b))
		return false;
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	switch (arg->text[0]) {
	case '|':
		*value = arg->text[1] ? a || b : (int64_t)(ua | ub);
		return true;
	case '&':
		*value = arg->text[1] ? a && b : (int64_t)(ua & ub);
		return true;
	case '^':
		*value = (int64_t)(ua ^ ub);
		return true;
	case '<':
		*value = arg->text[1] == '<'   ? (int64_t)(ua << (ub & 63))
			 : arg->text[1] == '=' ? a <= b
					       : a < b;
		return true;
	case '>':
		*value = arg->text[1] == '>'   ? a >> (ub & 63)
			 : arg->text[1] == '=' ? a >= b
					       : a > b;
		return true;
	case '=':
		*value = a == b;
		return true;
	case '!':
		*value = arg->text[1] ? a != b : !b;
		return true;
	case '~':
		*value = (int64_t)~ub;
		return true;
	case '-':
		*value = (int64_t)(ua - ub);
		return true;
	case '+':
		*value = (int64_t)(ua + ub);
		return true;
	case '*':
		*value = (int64_t)(ua * ub);
		return true;
	default:
		return false;
	}
}

/*
 * libtraceevent keeps the values as text and knows a number by its first
 * digit: what is negative or an unknown name counts as -1.
 */
static bool flag_value(const struct arg *arg, int64_t *value)
{
	static const struct {
		const char *name;
		int value;
	} known[] = {
		{"HI_SOFTIRQ", 0},	{"TIMER_SOFTIRQ", 1},	  {"NET_TX_SOFTIRQ", 2},
		{"NET_RX_SOFTIRQ", 3},	{"BLOCK_SOFTIRQ", 4},	  {"IRQ_POLL_SOFTIRQ", 5},
		{"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},	  {"HRTIMER_SOFTIRQ", 8},
		{"RCU_SOFTIRQ", 9},	{"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
	};

	while (arg->type == ARG_TYPE)
		arg = arg->left;
	if (arg->type == ARG_ATOM && !isdigit((unsigned char)arg->text[0])) {
		*value = -1;
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (!strcmp(known[i].name, arg->text))
				*value = known[i].value;
		return true;
	}
	if (!fold(arg, 0, value))
		return false;
	if (*value < 0 && arg->type == ARG_OP)
		*value = -1;
	return true;
}

/* { VALUE, "NAME" }, … ) */
static bool parse_flags(struct format_parser *ps, struct arg *arg)
{
	struct flag_name **last = &arg->flags;

	while (true) {
		struct flag_name *flag = keep(ps->ev, calloc(1, sizeof(*flag)));
		struct arg *value = new_arg(ps), *name = new_arg(ps);

		if (!flag || !value || !name || !expect(ps, TOKEN_OP, "{") ||
		    !parse_expression(ps, value) || !flag_value(value, &flag->value) ||
		    !expect(ps, TOKEN_DELIM, ",") || !parse_primary(ps, name) ||
		    !expect(ps, TOKEN_OP, "}"))
			return false;
		while (name->type == ARG_TYPE) /* "((void *)0)" ends some lists */
			name = name->left;
		if (name->type != ARG_ATOM)
			return false;
		flag->name = name->text;
		*last = flag;
		last = &flag->next;
		if (!at(ps, TOKEN_DELIM, ","))
			return expect(ps, TOKEN_DELIM, ")");
		next_token(ps);
		if (at(ps, TOKEN_DELIM, ")")) /* a comma too many */
			return expect(ps, TOKEN_DELIM, ")");
	}
}

static bool parse_two(struct format_parser *ps, struct arg *arg, enum arg_type type, bool third)
{
	arg->type = type;
	arg->left = new_arg(ps);
	arg->right = new_arg(ps);
	arg->third = new_arg(ps);
	if (!arg->left || !arg->right || !arg->third || !parse_expression(ps, arg->left) ||
	    !expect(ps, TOKEN_DELIM, ",") || !parse_expression(ps, arg->right))
		return false;
	if (third && (!expect(ps, TOKEN_DELIM, ",") || !parse_expression(ps, arg->third)))
		return false;
	return expect(ps, TOKEN_DELIM, ")");
}

static bool parse_print_flags(struct format_parser *ps, struct arg *arg, bool delimiter)
{
	arg->type = delimiter ? ARG_FLAGS : ARG_SYMBOL;
	arg->left = new_arg(ps);
	if (!arg->left || !parse_expression(ps, arg->left) || !expect(ps, TOKEN_DELIM, ","))
		return false;
	if (delimiter) {
		if (ps->type == TOKEN_STRING || ps->type == TOKEN_ITEM) {
			arg->text = ps->token;
			next_token(ps);
		}
		if (!expect(ps, TOKEN_DELIM, ","))
			return false;
	}
	return parse_flags(ps, arg);
}

/* sizeof(u64), sizeof(REC->field) */
static bool parse_sizeof(struct format_parser *ps, struct arg *arg)
{
	struct arg *of = new_arg(ps);
	char number[16];

	if (!of || !parse_expression(ps, of) || !expect(ps, TOKEN_DELIM, ")"))
		return false;
	uint32_t size = of->type == ARG_FIELD ? of->field->size
			: of->type == ARG_ATOM
				? format_type_size(of->text, ps->ev->tracing->long_size)
				: 0;
	snprintf(number, sizeof(number), "%u", size);
	arg->type = ARG_ATOM;
	arg->text = keep_text(ps->ev, number, strlen(number));
	return size && arg->text;
}

static bool parse_function(struct format_parser *ps, struct arg *arg, const char *name)
{
	static const struct {
		const char *name;
		enum arg_type type;
	} named[] = {
		{"__get_str", ARG_STRING},
		{"__get_rel_str", ARG_STRING},
		{"__get_bitmask", ARG_BITMASK},
		{"__get_rel_bitmask", ARG_BITMASK},
		{"__get_cpumask", ARG_CPUMASK},
		{"__get_rel_cpumask", ARG_CPUMASK},
		{"__get_dynamic_array", ARG_DYNAMIC_ARRAY},
		{"__get_rel_dynamic_array", ARG_DYNAMIC_ARRAY},
		{"__get_dynamic_array_len", ARG_DYNAMIC_ARRAY_LEN},
		{"__get_rel_dynamic_array_len", ARG_DYNAMIC_ARRAY_LEN},
	};

	next_token(ps); /* past the parenthesis */
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (!strcmp(named[i].name, name))
			return parse_named(ps, arg, named[i].type);
	if (!strcmp(name, "__print_flags"))
		return parse_print_flags(ps, arg, true);
	if (!strcmp(name, "__print_symbolic"))
		return parse_print_flags(ps, arg, false);
	if (!strcmp(name, "__print_hex"))
		return parse_two(ps, arg, ARG_HEX, false);
	if (!strcmp(name, "__print_hex_str"))
		return parse_two(ps, arg, ARG_HEX_STR, false);
	if (!strcmp(name, "__print_array"))
		return parse_two(ps, arg, ARG_INT_ARRAY, true);
	if (!strcmp(name, "sizeof"))
		return parse_sizeof(ps, arg);
	if (!strcmp(name, "__builtin_expect")) {
		struct arg *hint = new_arg(ps);

		return hint && parse_expression(ps, arg) && expect(ps, TOKEN_DELIM, ",") &&
		       parse_expression(ps, hint) && expect(ps, TOKEN_DELIM, ")");
	}
	return false;
}

static bool parse_item(struct format_parser *ps, struct arg *arg)
{
	char *name = ps->token;

	next_token(ps);
	if (!strcmp(name, "REC")) {
		if (!expect(ps, TOKEN_OP, "->") || ps->type != TOKEN_ITEM)
			return false;
		arg->type = ARG_FIELD;
		arg->text = ps->token;
		arg->field = format_find_field(ps->ev, ps->token);
		next_token(ps);
		return arg->field;
	}
	if (at(ps, TOKEN_DELIM, "("))
		return parse_function(ps, arg, name);
	/* "unsigned long" is one atom. */
	arg->type = ARG_ATOM;
	while (ps->type == TOKEN_ITEM) {
		size_t a = strlen(name), b = strlen(ps->token);
		char *both = a + b < TOKEN_MAX ? keep(ps->ev, malloc(a + b + 2)) : NULL;

		if (!both)
			return false;
		memcpy(both, name, a);
		both[a] = ' ';
		memcpy(both + a + 1, ps->token, b + 1);
		name = both;
		next_token(ps);
	}
	arg->text = name;
	return true;
}

static bool parse_primary(struct format_parser *ps, struct arg *arg)
{
	bool good = false;

	if (++ps->depth > DEPTH_MAX)
		return false;
	if (ps->type == TOKEN_ITEM) {
		good = parse_item(ps, arg);
	} else if (ps->type == TOKEN_STRING) {
		arg->type = ARG_ATOM;
		arg->text = ps->token;
		next_token(ps);
		good = true;
	} else if (at(ps, TOKEN_DELIM, "(")) {
		good = parse_paren(ps, arg);
	} else if (ps->type == TOKEN_OP && strchr("~!+-", ps->token[0]) && !ps->token[1]) {
		/* A single operator: there is nothing to its left. */
		arg->type = ARG_OP;
		arg->text = ps->token;
		arg->left = new_arg(ps);
		arg->right = new_arg(ps);
		next_token(ps);
		good = arg->left && arg->right && parse_primary(ps, arg->right);
		/* What follows may be of any precedence: it takes this as its left. */
		if (good && at_operator(ps))
			good = parse_operator(ps, strcmp(ps->token, "[") ? arg : arg->right);
	}
	ps->depth--;
	return good && ps->type != TOKEN_BAD;
}

/* C ? A : B; the operand before the question mark is in arg. */
static bool parse_condition(struct format_parser *ps, struct arg *arg)
{
	struct arg *both = new_arg(ps);

	if (!both || !(both->left = new_arg(ps)) || !(both->right = new_arg(ps)))
		return false;
	next_token(ps);
	if (!parse_primary(ps, both->left))
		return false;
	while (at_operator(ps))
		if (!parse_operator(ps, both->left))
			return false;
	both->type = ARG_OP;
	both->text = ":";
	if (!expect(ps, TOKEN_OP, ":") || !parse_primary(ps, both->right))
		return false;
	arg->right = both;
	arg->prio = 0;
	return true;
}

/* The operator at hand, with arg as its left operand; arg becomes the result. */
static bool parse_operator_inner(struct format_parser *ps, struct arg *arg)
{
	const char *op = ps->token;
	int prio = precedence(op);
	struct arg *left = new_arg(ps), *right = NULL;

	if (!left)
		return false;
	*left = *arg;
	*arg = (struct arg){.type = ARG_OP, .text = op, .left = left, .next = left->next};
	left->next = NULL;

	if (!strcmp(op, "?")) {
		if (!parse_condition(ps, arg))
			return false;
	} else if (!strcmp(op, "[")) {
		next_token(ps);
		arg->right = new_arg(ps);
		if (!arg->right || !parse_expression(ps, arg->right) || !expect(ps, TOKEN_OP, "]"))
			return false;
	} else {
		if (prio < 6) /* no binary operator */
			return false;
		arg->prio = prio;
		next_token(ps);
		if (!strcmp(op, "*") && at(ps, TOKEN_DELIM, ")")) {
			/* The star of a pointer type. */
			char *text = left->type == ARG_ATOM ? malloc(strlen(left->text) + 3) : NULL;

			if (left->type == ARG_ATOM && !text)
				ps->ev->tracing->no_memory = true;
			if (!text)
				return false;
			sprintf(text, "%s *", left->text);
			*arg = (struct arg){.type = ARG_ATOM, .text = keep(ps->ev, text)};
			return arg->text;
		}
		right = new_arg(ps);
		if (!right || !parse_primary(ps, right))
			return false;
		arg->right = right;
		if (right->type == ARG_OP && prio < precedence(right->text)) {
			/* The right operand's operator binds less: it goes outward. */
			struct arg turned = *right;

			arg->right = right->left;
			*right = *arg;
			right->next = NULL;
			turned.next = arg->next;
			*arg = turned;
			arg->left = right;
		}
	}
	if (!at_operator(ps))
		return true;
	if (precedence(ps->token) > arg->prio)
		return parse_operator(ps, arg);
	return right ? parse_operator(ps, right) : parse_operator(ps, arg);
}

static bool parse_operator(struct format_parser *ps, struct arg *arg)
{
	bool good = ++ps->depth <= DEPTH_MAX && parse_operator_inner(ps, arg);

	ps->depth--;
	return good;
}

/* "FORMAT", EXPRESSION, … */
static bool parse_print(struct trace_event *ev, const char *text, size_t len)
{
	struct format_parser ps = {.ev = ev, .p = text, .end = text + len};
	struct arg **last = &ev->args;

	next_token(&ps);
	if (ps.type != TOKEN_STRING)
		return false;
	ev->print = ps.token;
	next_token(&ps);
	while (at(&ps, TOKEN_DELIM, ",")) {
		struct arg *arg = new_arg(&ps);

		next_token(&ps);
		if (!arg || !parse_primary(&ps, arg))
			return false;
		while (at_operator(&ps))
			if (!parse_operator(&ps, arg))
				return false;
		*last = arg;
		last = &arg->next;
	}
	return ps.type == TOKEN_END;
}

struct error *format_parse(struct trace_event *ev, const char *text, size_t size)
{
	struct cursor c = cursor_make(text, size, NULL);
	const char *line;
	bool has_id = false;
	size_t len, n;

	if (size > FORMAT_MAX || memchr(text, 0, size))
		return error_new(EBADMSG, "not a format file");
	while (take_line(&c, &line, &len)) {
		if (has_prefix(line, len, "name: ", &n)) {
			ev->name = keep_text(ev, line + n, len - n);
		} else if (has_prefix(line, len, "ID: ", &n)) {
			char number[24] = "";

			memcpy(number, line + n, min_of(len - n, sizeof(number) - 1));
			ev->id = strtoul(number, NULL, 10);
			has_id = true;
		} else if (has_prefix(line, len, "\tfield:", &n) ||
			   has_prefix(line, len, "\tfield special:", &n)) {
			TRY(parse_field(ev, line, len));
		} else if (has_prefix(line, len, "print fmt: ", &n)) {
			/* It may hold newlines: it is the last. */
			ev->parsed = parse_print(ev, line + n, (size_t)(text + size - line) - n);
			break;
		}
	}
	if (!ev->name || !*ev->name || !has_id)
		return error_new(EBADMSG, "the format file lacks its name or ID");
	return NULL;
}
