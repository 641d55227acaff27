// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a parsed print format to a little program.
 *
 *	"fd: 0x%08lx, buf: 0x%08lx", ((unsigned long)(REC->fd)), …
 *
 * becomes items: literal text, numbers and texts; an item's value is an
 * expression, whose nodes stand in one array and name each other by index.
 * A number's conversion is taken apart once. libtraceevent walks its tree for
 * every record, with a printf call and a heap buffer for each argument.
 *
 * The text that comes out is libtraceevent's, with all its habits: fields are
 * read without their sign, casts only cut off bits, a comparison is unsigned.
 * An event with a shape that is not known here is printed field by field, as
 * the library does with formats that it cannot parse.
 */
#include "perf/format/internal.h"

#include <ctype.h>
#include <stdlib.h>

#include "lib/base/plain_text.h"

/* More than any format has; a program that needs more is not compiled. */
#define NODES_MAX 4096
#define DEPTH_MAX 128

struct format_compiler {
	struct trace_event *ev;
	struct print_program *p;
	unsigned depth;
	bool failed;
};

/* A part of the program that vec_push() has made; NULL: there are too many, or no memory. */
static void *made(struct format_compiler *c, void *part, size_t n)
{
	if (!part) {
		c->failed = true;
		c->ev->tracing->no_memory |= n < NODES_MAX;
	}
	return part;
}

static bool is_constant(const struct format_compiler *c, uint16_t index)
{
	return c->p->exprs.v[index].op == EX_CONST;
}

/* The states of sched_switch, say, are or'ed from ten numbers: once, and not for each sample. */
static void fold(const struct format_compiler *c, struct expr *e)
{
	const struct expr *v = c->p->exprs.v;
	uint64_t value;

	if (e->op == EX_MASK && is_constant(c, e->a))
		value = v[e->a].value & e->value;
	else if (e->op == EX_NOT && is_constant(c, e->b))
		value = !v[e->b].value;
	else if (e->op == EX_INV && is_constant(c, e->b))
		value = ~v[e->b].value;
	else if (e->op >= EX_NE && is_constant(c, e->a) && is_constant(c, e->b))
		value = expr_operate(e->op, v[e->a].value, v[e->b].value);
	else
		return;
	*e = (struct expr){.op = EX_CONST, .value = value};
}

static uint16_t expr_add(struct format_compiler *c, struct expr e)
{
	/* What failed has no operands. */
	if (!c->failed)
		fold(c, &e);
	const size_t n = c->p->exprs.n;
	struct expr *at = made(c, n < NODES_MAX ? vec_push(&c->p->exprs) : NULL, n);

	if (!at)
		return 0;
	*at = e;
	return (uint16_t)(at - c->p->exprs.v);
}

static uint16_t give_up(struct format_compiler *c)
{
	c->failed = true;
	return 0;
}

/* What a cast to this type leaves of a value. */
static uint64_t cast_mask(const char *type)
{
	size_t len = strlen(type);
	static const struct {
		const char *name;
		uint64_t mask;
	} known[] = {
		{"u8", 0xff},	 {"s8", 0xff},	      {"u16", 0xffff},
		{"s16", 0xffff}, {"u32", 0xffffffff}, {"s32", 0xffffffff},
		{"char", 0xff},	 {"short", 0xffff},   {"int", 0xffffffff},
	};

	if (len && type[len - 1] == '*')
		return ~0ull;
	if (!strncmp(type, "unsigned ", 9))
		type += 9;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(type, known[i].name))
			return known[i].mask;
	return ~0ull;
}

/* Of what a pointer of this type points to. */
static uint64_t pointee_mask(const char *type)
{
	char name[64];
	size_t len = strlen(type);

	if (len < 3 || len >= sizeof(name) || type[len - 1] != '*')
		return ~0ull;
	memcpy(name, type, len - 2);
	name[len - 2] = 0;
	return cast_mask(name);
}

static uint16_t expr_of(struct format_compiler *c, struct arg *arg);

static uint16_t load_field(struct format_compiler *c, const struct format_field *f)
{
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return expr_add(c, (struct expr){.op = EX_CONST});
	return expr_add(c,
			(struct expr){.op = EX_LOAD, .size = (uint8_t)f->size, .off = f->offset});
}

static uint16_t expr_of_index(struct format_compiler *c, struct arg *arg)
{
	struct arg *array = arg->left;
	const char *cast = NULL;
	uint16_t index = expr_of(c, arg->right);
	struct expr e = {.b = index, .mask = ~0ull};

	for (; array->type == ARG_TYPE; array = array->left)
		if (!cast)
			cast = array->text;
	if (array->type != ARG_DYNAMIC_ARRAY && array->type != ARG_FIELD)
		return give_up(c);
	const struct format_field *f = array->field;
	e.off = f->offset;
	if (array->type == ARG_FIELD) {
		e.op = EX_ELEM;
		e.size = f->element_size <= 8 ? (uint8_t)f->element_size : 0;
		e.value = f->element_size;
	} else {
		e.op = EX_DYN_ELEM;
		e.value = f->flags & FIELD_RELATIVE ? f->offset + f->size : 0;
		e.size = f->element_size ? (uint8_t)f->element_size : c->ev->tracing->long_size;
	}
	if (cast)
		e.mask = pointee_mask(cast);
	return expr_add(c, e);
}

static int operator_of(const char *op)
{
	static const struct {
		const char *text;
		enum expr_op op;
	} known[] = {
		{"!", EX_NOT},	{"~", EX_INV},	   {"!=", EX_NE}, {"==", EX_EQ},  {"||", EX_OROR},
		{"|", EX_OR},	{"&&", EX_ANDAND}, {"&", EX_AND}, {"<", EX_LT},	  {"<=", EX_LE},
		{"<<", EX_SHL}, {">", EX_GT},	   {">=", EX_GE}, {">>", EX_SHR}, {"-", EX_SUB},
		{"+", EX_ADD},	{"/", EX_DIV},	   {"%", EX_MOD}, {"*", EX_MUL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(op, known[i].text))
			return known[i].op;
	return -1;
}

static uint16_t expr_of_op(struct format_compiler *c, struct arg *arg)
{
	struct expr e = {0};

	if (!strcmp(arg->text, "["))
		return expr_of_index(c, arg);
	if (!strcmp(arg->text, "?")) {
		e.op = EX_COND;
		e.a = expr_of(c, arg->left);
		e.b = expr_of(c, arg->right->left);
		e.c = expr_of(c, arg->right->right);
		return expr_add(c, e);
	}
	/* A single sign has nothing to its left, which counts as 0. */
	int op = operator_of(arg->text);
	if (op < 0)
		return give_up(c);
	e.op = (uint8_t)op;
	if (op != EX_NOT && op != EX_INV)
		e.a = expr_of(c, arg->left);
	e.b = expr_of(c, arg->right);
	return expr_add(c, e);
}

/* The number that the library's evaluation gives for this argument. */
static uint16_t expr_of(struct format_compiler *c, struct arg *arg)
{
	uint16_t e = 0;

	if (!arg || c->failed || ++c->depth > DEPTH_MAX)
		return give_up(c);
	switch (arg->type) {
	case ARG_ATOM:
		e = expr_add(c,
			     (struct expr){.op = EX_CONST, .value = strtoull(arg->text, NULL, 0)});
		break;
	case ARG_FIELD:
		e = load_field(c, arg->field);
		break;
	case ARG_TYPE: {
		uint64_t mask = cast_mask(arg->text);

		e = expr_of(c, arg->left);
		if (mask != ~0ull)
			e = expr_add(c, (struct expr){.op = EX_MASK, .a = e, .value = mask});
		break;
	}
	case ARG_OP:
		e = expr_of_op(c, arg);
		break;
	case ARG_DYNAMIC_ARRAY_LEN:
		e = expr_add(c, (struct expr){.op = EX_DYN_LEN,
					      .size = (uint8_t)arg->field->size,
					      .off = arg->field->offset});
		break;
	case ARG_DYNAMIC_ARRAY: /* the address of our own memory: never printed */
		return give_up(c);
	default:
		e = expr_add(c, (struct expr){.op = EX_CONST});
	}
	c->depth--;
	return e;
}

static uint16_t text_add(struct format_compiler *c, struct text t)
{
	const size_t n = c->p->texts.n;
	struct text *at = made(c, n < NODES_MAX ? vec_push(&c->p->texts) : NULL, n);

	if (!at)
		return 0;
	*at = t;
	return (uint16_t)(at - c->p->texts.v);
}

static void flags_add(struct format_compiler *c, struct text *t, const struct flag_name *flag)
{
	t->first_flag = (uint32_t)c->p->flags.n;
	for (; flag; flag = flag->next) {
		struct flag *f = made(c, vec_push(&c->p->flags), 0);

		if (!f)
			return;
		*f = (struct flag){flag->value, flag->name, (uint32_t)strlen(flag->name)};
	}
	t->n_flags = (uint32_t)c->p->flags.n - t->first_flag;
}

/* The bytes that __print_hex() and __print_array() walk. */
static void text_set_bytes(struct format_compiler *c, struct text *t, struct arg *arg)
{
	while (arg->type == ARG_TYPE)
		arg = arg->left;
	if (arg->type != ARG_DYNAMIC_ARRAY && arg->type != ARG_FIELD) {
		c->failed = true;
		return;
	}
	t->dynamic = arg->type == ARG_DYNAMIC_ARRAY;
	t->relative = arg->field->flags & FIELD_RELATIVE;
	t->off = arg->field->offset;
	t->len = arg->field->size;
}

static void text_set_dynamic(struct text *t, const struct format_field *f)
{
	if (!f) {
		t->kind = TEXT_NOTHING;
		return;
	}
	t->off = f->offset;
	t->len = f->size;
	t->relative = f->flags & FIELD_RELATIVE;
}

/* What the library prints for this argument where the format has %s. */
static uint16_t text_of(struct format_compiler *c, struct arg *arg)
{
	struct text t = {.kind = TEXT_NOTHING};

	if (!arg || c->failed || ++c->depth > DEPTH_MAX)
		return give_up(c);
	switch (arg->type) {
	case ARG_ATOM:
		t.kind = TEXT_LITERAL;
		t.str = arg->text;
		t.len = (uint32_t)strlen(t.str);
		break;
	case ARG_FIELD:
		t.off = arg->field->offset;
		t.len = arg->field->size;
		t.kind = TEXT_FIELD;
		if (!(arg->field->flags & FIELD_ARRAY) && t.len == c->ev->tracing->long_size)
			t.kind = TEXT_POINTER;
		break;
	case ARG_FLAGS:
		t.kind = TEXT_FLAGS;
		t.a = expr_of(c, arg->left);
		t.str = arg->text ? arg->text : "";
		t.len = (uint32_t)strlen(t.str);
		flags_add(c, &t, arg->flags);
		break;
	case ARG_SYMBOL:
		t.kind = TEXT_SYMBOL;
		t.a = expr_of(c, arg->left);
		flags_add(c, &t, arg->flags);
		break;
	case ARG_HEX:
	case ARG_HEX_STR:
		t.kind = TEXT_HEX;
		t.spaces = arg->type == ARG_HEX;
		text_set_bytes(c, &t, arg->left);
		t.a = expr_of(c, arg->right);
		break;
	case ARG_INT_ARRAY:
		t.kind = TEXT_ARRAY;
		text_set_bytes(c, &t, arg->left);
		t.a = expr_of(c, arg->right);
		t.b = expr_of(c, arg->third);
		break;
	case ARG_STRING:
		t.kind = TEXT_DYN;
		text_set_dynamic(&t, arg->field);
		break;
	case ARG_BITMASK:
		t.kind = TEXT_BITMASK;
		text_set_dynamic(&t, arg->field);
		break;
	case ARG_CPUMASK:
		t.kind = TEXT_CPUMASK;
		text_set_dynamic(&t, arg->field);
		break;
	case ARG_OP:
		if (arg->text[0] != '?')
			break;
		t.kind = TEXT_COND;
		t.a = expr_of(c, arg->left);
		t.left = text_of(c, arg->right->left);
		t.right = text_of(c, arg->right->right);
		break;
	default:
		break;
	}
	c->depth--;
	return text_add(c, t);
}

/* Takes a conversion apart; *p points past its '%' and is moved past it. false: unknown. */
static bool conv_parse(const char **p, struct conv *c)
{
	const char *s = *p;

	*c = (struct conv){.prec = -1};
	for (;; s++) {
		if (*s == '-')
			c->left = true;
		else if (*s == '0')
			c->zero = true;
		else if (*s == '#')
			c->alt = true;
		else
			break;
	}
	if (*s == '*') {
		c->width_arg = true;
		s++;
	}
	for (; isdigit((unsigned char)*s); s++)
		c->width = c->width > 4096 ? c->width : c->width * 10 + *s - '0';
	if (*s == '.') {
		s++;
		c->prec = 0;
		if (*s == '*') {
			c->prec_arg = true;
			s++;
		}
		for (; isdigit((unsigned char)*s); s++)
			c->prec = c->prec > 4096 ? c->prec : c->prec * 10 + *s - '0';
	}
	if (s[0] == 'h' && s[1] == 'h') {
		c->mod = 'H';
		s += 2;
	} else if (s[0] == 'l' && s[1] == 'l') {
		c->mod = 'l';
		s += 2;
	} else if (*s == 'l' || *s == 'L') {
		c->mod = 'l';
		s++;
	} else if (*s == 'h') {
		c->mod = 'h';
		s++;
	} else if (*s == 'z' || *s == 'Z') {
		c->mod = 'z'; /* the library takes it for an int, and passes a long */
		s++;
	}
	if (c->width > 4096 || c->prec > 4096 || (c->width_arg && c->prec_arg))
		return false;
	if (!*s || !strchr("diuxXospc", *s) || (strchr("spc", *s) && c->mod))
		return false;
	c->conv = *s == 'i' ? 'd' : *s;
	*p = s + 1;
	return true;
}

static struct item *item_add(struct format_compiler *c, enum item_kind kind)
{
	const size_t n = c->p->items.n;
	struct item *it = made(c, n < NODES_MAX ? vec_push(&c->p->items) : NULL, n);

	if (it)
		it->kind = (uint8_t)kind;
	return it;
}

/* Literal text with its escapes, up to the next conversion. */
static void compile_literal(struct format_compiler *c, const char **p)
{
	struct strbuf text = STRBUF_INIT;
	const char *s = *p;

	for (; *s; s++) {
		char ch = *s;

		if (ch == '\\' && s[1]) {
			ch = *++s;
			ch = ch == 'n' ? '\n' : ch == 't' ? '\t' : ch == 'r' ? '\r' : ch;
		} else if (ch == '%') {
			if (s[1] != '%')
				break;
			s++;
		}
		strbuf_addch(&text, ch);
	}
	*p = s;
	size_t len = text.len;
	char *str = strbuf_steal(&text);
	char **owned = made(c, str ? vec_push(&c->p->strings) : NULL, 0);
	if (!owned) {
		free(str);
		return;
	}
	*owned = str;
	struct item *it = item_add(c, ITEM_LITERAL);
	if (it) {
		it->str = str;
		it->n = (uint32_t)len;
	}
}

static bool conv_is_plain(const struct conv *v)
{
	return !v->left && !v->zero && !v->alt && !v->width_arg && !v->prec_arg && !v->width &&
	       v->prec < 0;
}

/* Behind a %p: what kind of address, and where its bytes are. */
static bool compile_pointer(struct format_compiler *c, const char **p, struct arg *arg,
			    struct item *it)
{
	static const struct {
		const char *letters;
		enum pointer_kind kind;
	} kinds[] = {
		/* The longer before the shorter. */
		{"ISpc", POINTER_SOCKADDR}, {"ISc", POINTER_SOCKADDR}, {"ISp", POINTER_SOCKADDR},
		{"IS", POINTER_SOCKADDR},   {"I6c", POINTER_IP6},      {"I6", POINTER_IP6},
		{"i6", POINTER_IP6},	    {"I4", POINTER_IP4},       {"i4", POINTER_IP4},
		{"MF", POINTER_MAC},	    {"M", POINTER_MAC},	       {"m", POINTER_MAC},
		{"UB", POINTER_UUID},	    {"Ub", POINTER_UUID},      {"UL", POINTER_UUID},
		{"Ul", POINTER_UUID},	    {"U", POINTER_UUID},
	};

	if (it->has_len) {
		c->failed = true;
		return false;
	}
	it->kind = ITEM_POINTER;
	if (**p == 's' || **p == 'S' || **p == 'f' || **p == 'F') {
		it->kind = ITEM_FUNCTION;
		it->offset = **p == 'S' || **p == 'F';
		(*p)++;
	}
	for (size_t i = 0; it->kind == ITEM_POINTER && i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].letters);

		if (strncmp(*p, kinds[i].letters, n))
			continue;
		while (arg->type == ARG_TYPE)
			arg = arg->left;
		if (arg->type != ARG_FIELD) {
			c->failed = true;
			return false;
		}
		it->kind = ITEM_BYTES;
		it->bits = (uint8_t)kinds[i].kind;
		it->str = kinds[i].letters;
		it->n = arg->field->offset;
		it->conv.width = (int)arg->field->size;
		*p += n;
		return true;
	}
	it->expr = expr_of(c, arg);
	return !c->failed;
}

static void compile_conversion(struct format_compiler *c, const char **p, struct arg **arg)
{
	struct conv v;

	(*p)++;
	if (!conv_parse(p, &v) || (!*arg && v.conv != 'c')) {
		c->failed = true;
		return;
	}
	if (v.conv == 'c') { /* the library knows no %c, and leaves the argument to the next */
		struct item *at = item_add(c, ITEM_LITERAL);

		if (at) {
			at->str = ">c<";
			at->n = 3;
		}
		return;
	}
	uint16_t len = 0;
	bool has_len = v.width_arg || v.prec_arg;
	if (has_len) {
		len = expr_of(c, *arg);
		*arg = (*arg)->next;
		if (!*arg) {
			c->failed = true;
			return;
		}
	}
	struct item it = {.conv = v, .has_len = has_len, .len = len};
	switch (v.conv) {
	case 's':
		it.kind = ITEM_TEXT;
		it.expr = text_of(c, *arg);
		break;
	case 'p':
		if (!compile_pointer(c, p, *arg, &it))
			return;
		break;
	default:
		it.bits = v.mod == 'H'			 ? 8
			  : v.mod == 'h'		 ? 16
			  : v.mod == 'l' || v.mod == 'z' ? 64
							 : 32;
		it.kind = ITEM_NUMBER;
		it.expr = expr_of(c, *arg);
		if (*arg && (*arg)->type == ARG_FIELD && format_is_float((*arg)->field)) {
			it.kind = ITEM_FLOAT;
			it.bits = (uint8_t)((*arg)->field->size * 8);
			break;
		}
		if (it.bits >= 32 && conv_is_plain(&v) && v.conv == 'd')
			it.kind = ITEM_DECIMAL;
		else if (it.bits >= 32 && conv_is_plain(&v) && v.conv == 'u')
			it.kind = ITEM_UNSIGNED;
		else if (it.bits >= 32 && v.conv == 'x' && !v.left && !v.alt && !has_len &&
			 v.prec < 0 && v.width <= 16 && (v.zero || !v.width))
			it.kind = ITEM_HEX;
	}
	*arg = (*arg)->next;
	if (c->failed)
		return;
	struct item *at = item_add(c, it.kind);
	if (at)
		*at = it;
}

static bool prints_only_numbers(const struct print_program *p)
{
	const struct item *it;

	vec_for_each (it, &p->items) {
		if (it->kind == ITEM_TEXT || it->kind == ITEM_FUNCTION || it->kind == ITEM_BYTES)
			return false;
		if (it->kind == ITEM_NUMBER && it->conv.conv == 'c')
			return false;
		if (it->kind == ITEM_LITERAL && !text_is_plain(it->str, it->n))
			return false;
	}
	return true;
}

void program_compile(struct trace_event *ev)
{
	struct format_compiler c = {.ev = ev, .p = &ev->program};
	struct arg *arg = ev->args;
	const char *p = ev->print;

	ev->state = EVENT_BY_FIELD;
	if (!ev->parsed)
		return;
	while (*p && !c.failed) {
		if (*p == '%' && p[1] != '%')
			compile_conversion(&c, &p, &arg);
		else
			compile_literal(&c, &p);
	}
	if (c.failed)
		program_deinit(&ev->program);
	else
		ev->state = EVENT_COMPILED;
	ev->only_numbers = !c.failed && prints_only_numbers(&ev->program);
}

void program_deinit(struct print_program *p)
{
	for (size_t i = 0; i < p->strings.n; i++)
		free(p->strings.v[i]);
	vec_deinit(&p->strings);
	vec_deinit(&p->items);
	vec_deinit(&p->exprs);
	vec_deinit(&p->texts);
	vec_deinit(&p->flags);
}
