// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a print format, as libtraceevent parsed it, to a little program.
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
 * A shape that is not known here makes the whole event be printed by the
 * library (EVENT_SLOW); one that would have the library read where the payload
 * says without looking, as fields by name (EVENT_RAW).
 */
#include "perf/print/internal.h"

#include <ctype.h>
#include <stdlib.h>

/* More than any format has; a program that needs more is not compiled. */
#define NODES_MAX 4096
#define DEPTH_MAX 128

struct compiler {
	struct trace_event *ev;
	struct program *p;
	unsigned depth;
	bool failed;
};

static uint16_t expr_add(struct compiler *c, struct expr e)
{
	struct expr *at = c->p->exprs.n < NODES_MAX ? vec_push(&c->p->exprs) : NULL;

	if (!at) {
		c->failed = true;
		return 0;
	}
	*at = e;
	return (uint16_t)(at - c->p->exprs.v);
}

static uint16_t give_up(struct compiler *c)
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

static const struct tep_format_field *field_of(struct compiler *c, struct tep_print_arg *arg)
{
	if (arg->field.field)
		return arg->field.field;
	const struct tep_format_field *f = tep_find_any_field(c->ev->tep, arg->field.name);
	if (!f)
		c->failed = true;
	return f;
}

static bool field_in_bounds(const struct tep_format_field *f)
{
	return f->offset >= 0 && f->size >= 0 && f->offset <= PAYLOAD_MAX && f->size <= PAYLOAD_MAX;
}

static uint16_t expr_of(struct compiler *c, struct tep_print_arg *arg);

static uint16_t load_field(struct compiler *c, const struct tep_format_field *f)
{
	if (!f || !field_in_bounds(f))
		return give_up(c);
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return expr_add(c, (struct expr){.op = EX_CONST});
	return expr_add(c, (struct expr){.op = EX_LOAD,
					 .size = (uint8_t)f->size,
					 .off = (uint32_t)f->offset});
}

static uint16_t expr_of_index(struct compiler *c, struct tep_print_arg *arg)
{
	struct tep_print_arg *array = arg->op.left;
	const char *cast = NULL;
	uint16_t index = expr_of(c, arg->op.right);
	struct expr e = {.b = index, .mask = ~0ull};

	for (; array->type == TEP_PRINT_TYPE; array = array->typecast.item)
		if (!cast)
			cast = array->typecast.type;
	const struct tep_format_field *f;
	if (array->type == TEP_PRINT_DYNAMIC_ARRAY) {
		f = array->dynarray.field;
		if (!f || !field_in_bounds(f) || f->size != 4 || (f->flags & FIELD_IS_RELATIVE))
			return give_up(c);
		e.op = EX_DYN_ELEM;
		e.size = (uint8_t)(f->elementsize ? f->elementsize : c->ev->tracing->long_size);
	} else if (array->type == TEP_PRINT_FIELD) {
		f = field_of(c, array);
		if (!f || !field_in_bounds(f))
			return give_up(c);
		e.op = EX_ELEM;
		e.size = (uint8_t)f->elementsize;
		e.value = f->elementsize;
	} else {
		return give_up(c);
	}
	e.off = (uint32_t)f->offset;
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

static uint16_t expr_of_op(struct compiler *c, struct tep_print_arg *arg)
{
	struct expr e = {0};

	if (!strcmp(arg->op.op, "["))
		return expr_of_index(c, arg);
	if (!strcmp(arg->op.op, "?")) {
		struct tep_print_arg *both = arg->op.right;

		if (!both || both->type != TEP_PRINT_OP)
			return give_up(c);
		e.op = EX_COND;
		e.a = expr_of(c, arg->op.left);
		e.b = expr_of(c, both->op.left);
		e.c = expr_of(c, both->op.right);
		return expr_add(c, e);
	}
	int op = operator_of(arg->op.op);
	if (op < 0)
		return give_up(c);
	e.op = (uint8_t)op;
	if (op != EX_NOT && op != EX_INV)
		e.a = expr_of(c, arg->op.left);
	e.b = expr_of(c, arg->op.right);
	return expr_add(c, e);
}

/* The number that the library's evaluation gives for this argument. */
static uint16_t expr_of(struct compiler *c, struct tep_print_arg *arg)
{
	const struct tep_format_field *f;
	uint16_t e = 0;

	if (!arg || c->failed || ++c->depth > DEPTH_MAX)
		return give_up(c);
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		e = expr_add(c, (struct expr){.op = EX_CONST,
					      .value = strtoull(arg->atom.atom, NULL, 0)});
		break;
	case TEP_PRINT_FIELD:
		e = load_field(c, field_of(c, arg));
		break;
	case TEP_PRINT_TYPE: {
		uint64_t mask = cast_mask(arg->typecast.type);

		e = expr_of(c, arg->typecast.item);
		if (mask != ~0ull)
			e = expr_add(c, (struct expr){.op = EX_MASK, .a = e, .value = mask});
		break;
	}
	case TEP_PRINT_OP:
		e = expr_of_op(c, arg);
		break;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		f = arg->dynarray.field;
		if (!f || !field_in_bounds(f)) {
			c->failed = true;
			break;
		}
		e = expr_add(c, (struct expr){.op = EX_DYN_LEN,
					      .size = (uint8_t)f->size,
					      .off = (uint32_t)f->offset});
		break;
	case TEP_PRINT_NULL:
	case TEP_PRINT_FLAGS:
	case TEP_PRINT_SYMBOL:
	case TEP_PRINT_INT_ARRAY:
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
	case TEP_PRINT_STRING:
	case TEP_PRINT_BSTRING:
	case TEP_PRINT_BITMASK:
		e = expr_add(c, (struct expr){.op = EX_CONST});
		break;
	default: /* functions, addresses of the payload */
		c->failed = true;
	}
	c->depth--;
	return e;
}

static uint16_t text_add(struct compiler *c, struct text t)
{
	struct text *at = c->p->texts.n < NODES_MAX ? vec_push(&c->p->texts) : NULL;

	if (!at)
		return give_up(c);
	*at = t;
	return (uint16_t)(at - c->p->texts.v);
}

/* The value of a flag or symbol; names that libtraceevent knows stand for numbers. */
static int64_t flag_value(const char *text)
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

	if (isdigit((unsigned char)text[0]))
		return (int64_t)strtoull(text, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, text))
			return known[i].value;
	return -1;
}

static void flags_add(struct compiler *c, struct text *t, const struct tep_print_flag_sym *flag)
{
	t->first_flag = (uint32_t)c->p->flags.n;
	for (; flag; flag = flag->next) {
		const char *str = flag->str ? flag->str : "";
		struct flag *f = vec_push(&c->p->flags);

		if (!f) {
			c->failed = true;
			return;
		}
		*f = (struct flag){flag_value(flag->value), str, (uint32_t)strlen(str)};
	}
	t->n_flags = (uint32_t)c->p->flags.n - t->first_flag;
}

/* The bytes that __print_hex() and __print_array() walk. */
static void text_set_bytes(struct compiler *c, struct text *t, struct tep_print_arg *arg)
{
	const struct tep_format_field *f = NULL;

	if (arg && arg->type == TEP_PRINT_DYNAMIC_ARRAY) {
		f = arg->dynarray.field;
		t->dynamic = true;
	} else if (arg && arg->type == TEP_PRINT_FIELD) {
		f = field_of(c, arg);
	}
	if (!f || !field_in_bounds(f) || (t->dynamic && (f->flags & FIELD_IS_RELATIVE))) {
		c->failed = true;
		return;
	}
	t->off = (uint32_t)f->offset;
	t->size = (uint8_t)f->size;
}

/* By name: libtraceevent before 1.6 (Ubuntu 22.04) does not keep the field there. */
static void text_set_dynamic(struct compiler *c, struct text *t, const char *name)
{
	const struct tep_format_field *f = tep_find_any_field(c->ev->tep, name);

	if (!f) {
		t->kind = TEXT_NOTHING;
		return;
	}
	if (!field_in_bounds(f)) {
		c->failed = true;
		return;
	}
	t->off = (uint32_t)f->offset;
	t->len = (uint32_t)f->size;
	t->relative = f->flags & FIELD_IS_RELATIVE;
}

/* What the library prints for this argument where the format has %s. */
static uint16_t text_of(struct compiler *c, struct tep_print_arg *arg)
{
	const struct tep_format_field *f;
	struct text t = {.kind = TEXT_NOTHING};

	if (!arg || c->failed || ++c->depth > DEPTH_MAX)
		return give_up(c);
	switch (arg->type) {
	case TEP_PRINT_NULL:
		break;
	case TEP_PRINT_ATOM:
		t.kind = TEXT_LITERAL;
		t.str = arg->atom.atom;
		t.len = (uint32_t)strlen(t.str);
		break;
	case TEP_PRINT_BSTRING:
		t.kind = TEXT_LITERAL;
		t.str = arg->string.string;
		t.len = (uint32_t)strlen(t.str);
		break;
	case TEP_PRINT_FIELD:
		f = field_of(c, arg);
		if (!f || !field_in_bounds(f))
			return give_up(c);
		t.off = (uint32_t)f->offset;
		t.len = (uint32_t)f->size;
		t.kind = TEXT_FIELD;
		if (!(f->flags & TEP_FIELD_IS_ARRAY) && f->size == c->ev->tracing->long_size) {
			t.kind = TEXT_POINTER;
			t.size = (uint8_t)f->size;
		}
		break;
	case TEP_PRINT_FLAGS:
		t.kind = TEXT_FLAGS;
		t.a = expr_of(c, arg->flags.field);
		t.str = arg->flags.delim;
		t.len = t.str ? (uint32_t)strlen(t.str) : 0;
		flags_add(c, &t, arg->flags.flags);
		break;
	case TEP_PRINT_SYMBOL:
		t.kind = TEXT_SYMBOL;
		t.a = expr_of(c, arg->symbol.field);
		flags_add(c, &t, arg->symbol.symbols);
		break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		t.kind = TEXT_HEX;
		t.spaces = arg->type == TEP_PRINT_HEX;
		text_set_bytes(c, &t, arg->hex.field);
		t.a = expr_of(c, arg->hex.size);
		break;
	case TEP_PRINT_INT_ARRAY:
		t.kind = TEXT_ARRAY;
		text_set_bytes(c, &t, arg->int_array.field);
		t.a = expr_of(c, arg->int_array.count);
		t.b = expr_of(c, arg->int_array.el_size);
		break;
	case TEP_PRINT_STRING:
		t.kind = TEXT_DYN;
		text_set_dynamic(c, &t, arg->string.string);
		break;
	case TEP_PRINT_BITMASK:
		t.kind = TEXT_BITMASK;
		text_set_dynamic(c, &t, arg->bitmask.bitmask);
		break;
	case TEP_PRINT_OP:
		if (arg->op.op[0] != '?')
			break;
		if (!arg->op.right || arg->op.right->type != TEP_PRINT_OP)
			return give_up(c);
		t.kind = TEXT_COND;
		t.a = expr_of(c, arg->op.left);
		t.left = text_of(c, arg->op.right->op.left);
		t.right = text_of(c, arg->op.right->op.right);
		break;
	case TEP_PRINT_TYPE:
	case TEP_PRINT_DYNAMIC_ARRAY:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		break;
	default:
		return give_up(c);
	}
	c->depth--;
	return text_add(c, t);
}

bool conv_parse(const char **p, struct conv *c)
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
	if (!*s || !strchr("diuxXosp", *s) || (strchr("sp", *s) && c->mod))
		return false;
	c->conv = *s == 'i' ? 'd' : *s;
	*p = s + 1;
	return true;
}

static struct item *item_add(struct compiler *c, enum item_kind kind)
{
	struct item *it = c->p->items.n < NODES_MAX ? vec_push(&c->p->items) : NULL;

	if (it)
		it->kind = (uint8_t)kind;
	else
		c->failed = true;
	return it;
}

/* Literal text with its escapes, up to the next conversion. */
static void compile_literal(struct compiler *c, const char **p)
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
	char **owned = str ? vec_push(&c->p->strings) : NULL;
	if (!owned) {
		free(str);
		c->failed = true;
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

static void compile_conversion(struct compiler *c, const char **p, struct tep_print_arg **arg)
{
	struct conv v;

	(*p)++;
	if (!conv_parse(p, &v) || !*arg) {
		c->failed = true;
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
		if (has_len || (*arg)->type == TEP_PRINT_BSTRING) {
			c->failed = true;
			return;
		}
		if (isalnum((unsigned char)**p)) {
			char kind = *(*p)++;

			/* %pK and others print as %p in the library, their letter as text. */
			if (kind != 's' && kind != 'S' && kind != 'f' && kind != 'F') {
				c->failed = true;
				return;
			}
			it.kind = ITEM_FUNCTION;
			it.offset = kind == 'S' || kind == 'F';
		} else {
			it.kind = ITEM_POINTER;
		}
		it.expr = expr_of(c, *arg);
		break;
	default:
		it.bits = v.mod == 'H'			 ? 8
			  : v.mod == 'h'		 ? 16
			  : v.mod == 'l' || v.mod == 'z' ? 64
							 : 32;
		it.kind = ITEM_NUMBER;
		it.expr = expr_of(c, *arg);
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

/* A constant from 1 to max. */
static bool is_small(const struct tep_print_arg *arg, uint64_t max)
{
	return arg && arg->type == TEP_PRINT_ATOM && strtoull(arg->atom.atom, NULL, 0) <= max &&
	       strcmp(arg->atom.atom, "0");
}

/*
 * May the library print this argument? Not where it would follow a number of
 * the payload without looking where to: indices, lengths, divisors.
 */
static bool library_is_safe(const struct tep_print_arg *arg, unsigned depth)
{
	if (depth > DEPTH_MAX)
		return false;
	for (; arg; arg = arg->next) {
		switch (arg->type) {
		case TEP_PRINT_NULL:
		case TEP_PRINT_ATOM:
		case TEP_PRINT_FIELD:
		case TEP_PRINT_STRING:
		case TEP_PRINT_BSTRING:
		case TEP_PRINT_BITMASK:
		case TEP_PRINT_DYNAMIC_ARRAY_LEN:
			break;
		case TEP_PRINT_TYPE:
			if (!library_is_safe(arg->typecast.item, depth + 1))
				return false;
			break;
		case TEP_PRINT_FLAGS:
			if (!library_is_safe(arg->flags.field, depth + 1))
				return false;
			break;
		case TEP_PRINT_SYMBOL:
			if (!library_is_safe(arg->symbol.field, depth + 1))
				return false;
			break;
		case TEP_PRINT_HEX:
		case TEP_PRINT_HEX_STR:
			if (arg->hex.field->type != TEP_PRINT_FIELD ||
			    !is_small(arg->hex.size, PAYLOAD_MAX))
				return false;
			break;
		case TEP_PRINT_OP:
			if (strchr("[/%", arg->op.op[0]) && !is_small(arg->op.right, 64))
				return false;
			if (!library_is_safe(arg->op.left, depth + 1) ||
			    !library_is_safe(arg->op.right, depth + 1))
				return false;
			break;
		case TEP_PRINT_DYNAMIC_ARRAY:
			/* An address of our own memory: never to be printed. */
			return false;
		default:
			return false;
		}
	}
	return true;
}

/* Conversions that read no memory but the field's own and 16 bits' reach. */
static bool format_is_safe(const char *fmt)
{
	for (; (fmt = strchr(fmt, '%')) != NULL; fmt++) {
		if (fmt[1] == '%') {
			fmt++;
			continue;
		}
		const char *p = fmt + 1;
		while (*p && strchr("-#0123456789.hlLzZ", *p))
			p++;
		if (*p == '*' || !*p || !strchr("diuxXospc", *p))
			return false;
		if (*p == 'p' && p[1] && !strchr("sSfFMmUIi", p[1]) && isalnum((unsigned char)p[1]))
			return false;
	}
	return true;
}

bool program_library_is_safe(const struct trace_event *ev)
{
	/* printk's own events follow pointers in the payload. */
	if (ev->tep->flags & (TEP_EVENT_FL_ISBPRINT | TEP_EVENT_FL_PRINTRAW))
		return false;
	return ev->tep->flags & TEP_EVENT_FL_FAILED ||
	       (ev->tep->print_fmt.format && format_is_safe(ev->tep->print_fmt.format) &&
		library_is_safe(ev->tep->print_fmt.args, 0));
}

void program_compile(struct trace_event *ev)
{
	struct tep_event *tep = ev->tep;
	struct compiler c = {.ev = ev, .p = &ev->program};
	struct tep_print_arg *arg = tep->print_fmt.args;
	const char *p = tep->print_fmt.format;

	/* printk's own events follow pointers in the payload. */
	if (!p ||
	    (tep->flags & (TEP_EVENT_FL_FAILED | TEP_EVENT_FL_ISBPRINT | TEP_EVENT_FL_PRINTRAW))) {
		ev->state = tep->flags & TEP_EVENT_FL_FAILED ? EVENT_SLOW : EVENT_RAW;
		return;
	}
	while (*p && !c.failed) {
		if (*p == '%' && p[1] != '%')
			compile_conversion(&c, &p, &arg);
		else
			compile_literal(&c, &p);
	}
	if (!c.failed) {
		ev->state = EVENT_COMPILED;
		return;
	}
	program_deinit(&ev->program);
	ev->state = format_is_safe(tep->print_fmt.format) && library_is_safe(tep->print_fmt.args, 0)
			    ? EVENT_SLOW
			    : EVENT_RAW;
}

void program_deinit(struct program *p)
{
	for (size_t i = 0; i < p->strings.n; i++)
		free(p->strings.v[i]);
	vec_deinit(&p->strings);
	vec_deinit(&p->items);
	vec_deinit(&p->exprs);
	vec_deinit(&p->texts);
	vec_deinit(&p->flags);
}
