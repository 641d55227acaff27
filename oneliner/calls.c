// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions that count and print. Each call has a map of its own, with the view that shows what
 * it counts; its keys are the members of a struct, each named as its last name was typed.
 */
#include <stdlib.h>

#include "oneliner/internal.h"

enum function_kind {
	CALL_COUNT,
	CALL_SUM,
	CALL_HIST,
	CALL_LHIST,
	CALL_HEAT,
	CALL_STACKS,
	CALL_PRINT,
	CALL_PRINTF,
	CALL_EMIT,
	CALL_STR,  /* a string in memory */
	CALL_CAST, /* a number with a meaning */
};

struct function {
	const char *name;
	enum function_kind kind;
	const char *map;       /* the name of its first map; of CALL_CAST: the type */
	unsigned values;       /* arguments that are no keys */
	unsigned min, max;     /* of all arguments */
	const char *arguments; /* for messages */
};

static const struct function functions[] = {
	{"count", CALL_COUNT, "counts", 0, 0, VALUES_MAX, "count(KEY, ...)"},
	{"sum", CALL_SUM, "sums", 1, 1, VALUES_MAX, "sum(VALUE, KEY, ...)"},
	{"hist", CALL_HIST, "hist", 1, 1, VALUES_MAX, "hist(VALUE, KEY, ...)"},
	{"print", CALL_PRINT, "prints", 0, 1, VALUES_MAX, "print(VALUE, ...)"},
	{"printf", CALL_PRINTF, "lines", 1, 1, VALUES_MAX, "printf(\"FORMAT\", VALUE, ...)"},
	{"str", CALL_STR, NULL, 0, 1, 2, "str(ADDRESS[, SIZE])"},
	{"ksym", CALL_CAST, "perf_bpf_ksym", 0, 1, 1, "ksym(ADDRESS)"},
	{"usym", CALL_CAST, "perf_bpf_usym", 0, 1, 1, "usym(ADDRESS)"},
	{"ip", CALL_CAST, "perf_bpf_ipv4", 0, 1, 1, "ip(ADDRESS)"},
	{"err", CALL_CAST, "perf_bpf_errno", 0, 1, 1, "err(NUMBER)"},
	{"dev", CALL_CAST, "perf_bpf_dev", 0, 1, 1, "dev(NUMBER)"},
	{"ns", CALL_CAST, "perf_bpf_ns", 0, 1, 1, "ns(NUMBER)"},
	{"bytes", CALL_CAST, "perf_bpf_bytes", 0, 1, 1, "bytes(NUMBER)"},
};

const struct function *function_find(const char *text, const struct token *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (token_is(text, t, functions[i].name))
			return &functions[i];
	return NULL;
}

void functions_offer(struct nearest *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		nearest_offer(near, functions[i].name);
}

/* Tokens [from, to). */
struct argument {
	size_t from, to;
	struct value_type type;
};

struct call {
	const struct function *f;
	size_t name; /* its token */
	struct argument v[VALUES_MAX];
	size_t n;
	struct own_map *map;
	bool is_statement;
};

static const struct token *token(const struct body *b, size_t i)
{
	return &b->tokens->v[i];
}

static bool is(const struct body *b, size_t i, const char *word)
{
	return i < b->tokens->n && token_is(b->g->text, token(b, i), word);
}

static struct error *wrong(const struct body *b, size_t i, const struct function *f,
			   const char *what)
{
	return error_hint(oneliner_error(EINVAL, b->g->name, b->g->text, token(b, i)->at, "%s",
					 what),
			  "write %s", f->arguments);
}

/* Takes the arguments apart, without their types. */
static struct error *split(const struct body *b, size_t open, size_t close, struct call *c)
{
	size_t depth = 0, from = open + 1;

	for (size_t i = open + 1; i <= close; i++) {
		if (i < close && (is(b, i, "(") || is(b, i, "[") || is(b, i, "{")))
			depth++;
		else if (i < close && (is(b, i, ")") || is(b, i, "]") || is(b, i, "}")))
			depth--;
		if (i < close && (depth || !is(b, i, ",")))
			continue;
		if (from == i) {
			if (i == close && !c->n)
				break;
			return wrong(b, i, c->f, "a value is missing here");
		}
		if (c->n == VALUES_MAX)
			return wrong(b, from, c->f, "these are too many values");
		c->v[c->n++] = (struct argument){.from = from, .to = i};
		from = i + 1;
	}
	if (c->n < c->f->min)
		return wrong(b, close, c->f, "a value is missing here");
	if (c->n > c->f->max)
		return wrong(b, c->v[c->f->max].from, c->f, "this value is too much");
	return NULL;
}

/* The size that str(p, SIZE) has. */
static struct error *string_size(const struct body *b, const struct call *c, size_t *size)
{
	unsigned long n;

	*size = STR_SIZE;
	if (c->n < 2)
		return NULL;
	n = strtoul(b->g->text + token(b, c->v[1].from)->at, NULL, 0);
	if (c->v[1].to != c->v[1].from + 1 || n < 2 || n > 4096)
		return wrong(b, c->v[1].from, c->f, "the size is not a number from 2 to 4096");
	*size = n;
	return NULL;
}

struct error *call_type(struct body *b, const struct function *f, size_t i, struct value_type *type,
			bool *known)
{
	struct call c = {.f = f, .name = i};
	size_t close;

	*known = f->kind == CALL_STR || f->kind == CALL_CAST;
	if (!*known)
		return NULL;
	TRY(body_close(b, i + 1, b->tokens->n, &close));
	TRY(split(b, i + 1, close, &c));
	*type = (struct value_type){0};
	if (f->kind == CALL_STR)
		return string_size(b, &c, &type->size);
	snprintf(type->type, sizeof(type->type), "%s", f->map);
	type->is_signed = !strcmp(f->map, "perf_bpf_errno");
	return NULL;
}

/* ---- names and types of columns ---- */

static bool is_type_word(const char *text, const struct token *t)
{
	static const char *const words[] = {
		"int",	    "unsigned", "long",	   "char",   "short", "signed",	  "sizeof",
		"struct",   "const",	"void",	   "args",   "bool",  "volatile", "register",
		"union",    "enum",	"float",   "double", "if",    "else",	  "for",
		"while",    "do",	"return",  "switch", "case",  "default",  "goto",
		"static",   "extern",	"typedef", "inline", "break", "continue", "auto",
		"restrict", "time"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token_is(text, t, words[i]))
			return true;
	return !strncmp(text + t->at, "__", 2);
}

/* The last name of the value: "prev_comm" of args->prev_comm; another one if it is taken. */
static struct error *column_name(const struct body *b, const struct argument *a,
				 const struct own_map *map, char **out)
{
	_cleanup_free_ char *name = NULL;
	const struct map_column *column;

	for (size_t i = a->from; i < a->to; i++) {
		if (token(b, i)->kind != TOKEN_NAME || is_type_word(b->g->text, token(b, i)) ||
		    is(b, i + 1, "(") ||
		    strchr(b->g->text + token(b, i)->at, '$') == b->g->text + token(b, i)->at)
			continue;
		free(name);
		name = strndup(b->g->text + token(b, i)->at, token(b, i)->len);
		if (!name)
			return error_nomem();
	}
	bool taken = !name;
	vec_for_each (column, &map->columns)
		taken |= name && !strcmp(column->name, name);
	if (taken)
		*out = text_format("%s%zu", name ? name : "value", map->columns.n + 1);
	else
		*out = steal_ptr(name);
	return *out ? NULL : error_nomem();
}

static struct error *add_column(const struct body *b, struct argument *a, struct own_map *map)
{
	char *name;

	TRY(column_name(b, a, map, &name));
	struct map_column *column = vec_push(&map->columns);
	if (!column) {
		free(name);
		return error_nomem();
	}
	*column = (struct map_column){name, a->type};
	return NULL;
}

/* A column that another event of the clause has made has to fit. */
static struct error *check_column(const struct body *b, const struct argument *a,
				  const struct map_column *column)
{
	if (!column->type.size == !a->type.size && column->type.size >= a->type.size)
		return NULL;
	return oneliner_error(EINVAL, b->g->name, b->g->text, token(b, a->from)->at,
			      "this has another type in %s", b->event);
}

static void write_columns(const struct own_map *map, const char *suffix, const char *first,
			  struct strbuf *out)
{
	const struct map_column *column;

	strbuf_addf(out, "struct %s_%s {\n%s", map->name, suffix, first);
	vec_for_each (column, &map->columns) {
		const struct value_type *t = &column->type;

		if (t->size)
			strbuf_addf(out, "\tchar %s[%zu];\n", column->name, t->size);
		else
			strbuf_addf(out, "\t%s %s;\n", t->key ? t->key : t->type, column->name);
	}
	if (map->adds_pid)
		strbuf_adds(out, "\tperf_bpf_pid process; /* of the addresses */\n");
	strbuf_adds(out, "};\n\n");
}

/* ---- titles ---- */

/* Typed text in a string of C. */
static void add_quoted(struct strbuf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = text[i];

		if (c == '"' || c == '\\')
			strbuf_addf(out, "\\%c", c);
		else
			strbuf_addch(out, c < ' ' || c == 0x7f ? ' ' : (char)c);
	}
}

static void add_typed(const struct body *b, size_t from, size_t to, struct strbuf *out)
{
	for (size_t i = from; i < to; i++) {
		if (i > from && token(b, i)->spaced)
			strbuf_addch(out, ' ');
		add_quoted(out, b->g->text + token(b, i)->at, token(b, i)->len);
	}
}

/* "args->ret by comm" */
static void add_title(const struct body *b, const struct call *c, const char *before,
		      struct strbuf *out)
{
	const unsigned values = c->f->values;

	strbuf_adds(out, before);
	if (values)
		add_typed(b, c->v[0].from, c->v[0].to, out);
	else
		add_quoted(out, b->clause.at, b->clause.len);
	for (size_t i = values; i < c->n; i++) {
		strbuf_adds(out, i == values ? " by " : ", ");
		add_typed(b, c->v[i].from, c->v[i].to, out);
	}
}

/* ---- printf ---- */

/* The format, for the view: backslashes stay, and the line ends without one. */
static void add_format(const struct body *b, const struct argument *a, struct strbuf *out)
{
	const struct token *t = token(b, a->from);
	const char *text = b->g->text + t->at;
	size_t len = t->len;

	if (len >= 4 && !memcmp(text + len - 3, "\\n\"", 3))
		len -= 3;
	else
		len--;
	strbuf_addch(out, '"');
	for (size_t i = 1; i < len; i++)
		strbuf_addf(out, text[i] == '\\' || text[i] == '"' ? "\\%c" : "%c", text[i]);
	strbuf_addch(out, '"');
}

/* Behind a conversion that begins at text[i] ('%'); *conv is its letter, 0: it is none. */
static size_t read_conversion(const char *text, size_t i, size_t len, char *conv)
{
	i++;
	while (i < len && strchr("-+ #0123456789.", text[i]))
		i++;
	while (i < len && strchr("hlzj", text[i]))
		i++;
	*conv = i < len && strchr("diuxXocsp%", text[i]) ? text[i] : 0;
	return i + 1;
}

/* printf()'s format is a string whose conversions are those of the values. */
static struct error *check_format(struct body *b, const struct call *c)
{
	const struct token *t = token(b, c->v[0].from);
	size_t n = 1;
	char conv;

	if (t->kind != TOKEN_STRING || c->v[0].to != c->v[0].from + 1)
		return wrong(b, c->v[0].from, c->f, "the format is not a string in quotes");
	for (size_t i = 1, next; i + 1 < t->len; i = next) {
		struct value_type type;
		const size_t at = t->at + i;

		next = i + 1;
		if (b->g->text[at] != '%')
			continue;
		next = read_conversion(b->g->text + t->at, i, t->len - 1, &conv);
		if (!conv)
			return oneliner_error(
				EINVAL, b->g->name, b->g->text, at,
				"unknown conversion (%%d, %%u, %%x, %%o, %%c, %%s, %%p)");
		if (conv == '%')
			continue;
		if (n == c->n)
			return oneliner_error(EINVAL, b->g->name, b->g->text, at,
					      "the value for this conversion is missing");
		TRY(body_type(b, c->v[n].from, c->v[n].to, &type));
		if (type.size && conv != 's')
			return oneliner_error(EINVAL, b->g->name, b->g->text, at,
					      "this conversion is for numbers, and the value is a "
					      "string");
		n++;
	}
	if (n != c->n)
		return wrong(b, c->v[n].from, c->f, "the format has no conversion for this value");
	return NULL;
}

/* ---- maps ---- */

/* "hist", "hist_2": a name that no map has. */
static struct error *map_name(const struct generator *g, const char *base, char **out)
{
	size_t n = 1;
	const struct own_map *map;
	bool taken;

	do {
		_cleanup_free_ char *name = n > 1 ? text_format("%s_%zu", base, n) : strdup(base);

		if (!name)
			return error_nomem();
		taken = false;
		vec_for_each (map, &g->maps)
			taken |= map->name && !strcmp(map->name, name);
		if (!taken)
			*out = steal_ptr(name);
		n++;
	} while (taken);
	return NULL;
}

static bool has_stacks(const struct own_map *map)
{
	const struct map_column *column;

	vec_for_each (column, &map->columns)
		if (column->type.key && (!strcmp(column->type.key, "perf_bpf_kstack") ||
					 !strcmp(column->type.key, "perf_bpf_ustack")))
			return true;
	return false;
}

/* User addresses are shown as functions of the process beside them. */
static bool needs_pid(const struct own_map *map)
{
	const struct map_column *column;
	bool has_address = false, has_pid = false;

	vec_for_each (column, &map->columns) {
		const char *type = column->type.key ? column->type.key : column->type.type;

		has_address |= !strcmp(type, "perf_bpf_ustack") || !strcmp(type, "perf_bpf_usym");
		has_pid |= !strcmp(type, "perf_bpf_pid");
	}
	return has_address && !has_pid;
}

/* The call's map: a new one, or that of the same call for another event. */
static struct error *find_map(struct body *b, struct call *c)
{
	struct generator *g = b->g;
	struct own_map *map;
	const size_t at = token(b, c->name)->at;
	size_t k = 0;

	c->map = NULL;
	vec_for_each (map, &g->maps)
		if (map->at == at)
			c->map = map;
	for (size_t i = c->f->values; i < c->n; i++)
		TRY(body_type(b, c->v[i].from, c->v[i].to, &c->v[i].type));
	if (c->map) {
		for (size_t i = c->f->values; i < c->n; i++, k++)
			TRY(check_column(b, &c->v[i], &c->map->columns.v[k]));
		return NULL;
	}
	char *name = NULL;
	TRY(map_name(g, c->f->map, &name));
	c->map = vec_push(&g->maps);
	if (!c->map) {
		free(name);
		return error_nomem();
	}
	*c->map = (struct own_map){.name = name, .at = at};
	for (size_t i = c->f->values; i < c->n; i++)
		TRY(add_column(b, &c->v[i], c->map));
	c->map->adds_pid = needs_pid(c->map);
	return NULL;
}

/* What the map's macro is called with behind the name: its types, unit and title. */
static void add_map(struct body *b, const struct call *c, const char *macro, const char *types,
		    const char *unit, const char *before)
{
	struct strbuf *out = &b->g->map_text;

	strbuf_addf(out, "%s(%s, %s\"%s\", \"", macro, c->map->name, types, unit ? unit : "");
	add_title(b, c, before, out);
	strbuf_adds(out, "\");\n");
}

static void add_keyed_map(struct body *b, const struct call *c, const char *macro,
			  const char *value, const char *unit, const char *before)
{
	_cleanup_strbuf_ struct strbuf types = STRBUF_INIT;

	write_columns(c->map, "key", "", &b->g->types.text);
	strbuf_addf(&types, "struct %s_key, %s16384, ", c->map->name, value);
	if (has_stacks(c->map) && !strcmp(macro, "PERF_BPF_TABLE")) {
		macro = "PERF_BPF_STACK_TABLE";
		strbuf_adds(&types, "stack_ids, ");
	}
	add_map(b, c, macro, strbuf_str(&types), unit, before);
	b->g->map_text.failed |= strbuf_failed(&types);
}

/* ---- what a call becomes ---- */

static void new_line(const struct body *b, unsigned more, struct piece *out)
{
	strbuf_addch(&out->text, '\n');
	for (unsigned i = 0; i < b->indent + more; i++)
		strbuf_addch(&out->text, '\t');
}

/* "to = VALUE;", or what copies a string there. */
static struct error *write_member(struct body *b, const struct argument *a, const char *to,
				  const struct map_column *column, unsigned indent,
				  struct piece *out)
{
	const struct variable *v = variable_find(b->g->text, token(b, a->from));
	const struct event_field *dynamic = NULL;

	new_line(b, indent, out);
	if (a->from + 1 == a->to && v && !v->declaration) {
		b->g->uses_stack_ids = b->g->uses_values = true;
		strbuf_addf(&out->text, "%s%s = bpf_get_stackid(args, &stack_ids, %s);", to,
			    column->name, !strcmp(v->name, "ustack") ? "BPF_F_USER_STACK" : "0");
		return NULL;
	}
	if (!a->type.size) {
		strbuf_addf(&out->text, "%s%s = ", to, column->name);
		TRY(body_expression(b, a->from, a->to, out));
		strbuf_addch(&out->text, ';');
		return NULL;
	}
	if (is(b, a->from, "args"))
		TRY(body_field(b, a->from, a->to, &dynamic));
	if (dynamic && dynamic->dynamic) {
		strbuf_addf(&out->text, "perf_bpf_kernel_str(%s%s, ", to, column->name);
		strbuf_addf(&out->text, "(void *)args + (args->__data_loc_%s & 0xffff));",
			    dynamic->name);
		b->g->uses_values = true;
		return NULL;
	}
	if (is(b, a->from, "str") && is(b, a->from + 1, "(")) {
		struct call c = {.f = function_find(b->g->text, token(b, a->from))};

		TRY(split(b, a->from + 1, a->to - 1, &c));
		strbuf_addf(&out->text, "perf_bpf_str(%s%s, ", to, column->name);
		TRY(body_expression(b, c.v[0].from, c.v[0].to, out));
		strbuf_adds(&out->text, ");");
		b->g->uses_values = true;
		return NULL;
	}
	strbuf_addf(&out->text, "__builtin_memcpy(%s%s, ", to, column->name);
	TRY(body_expression(b, a->from, a->to, out));
	strbuf_adds(&out->text, ", sizeof(");
	TRY(body_expression(b, a->from, a->to, out));
	strbuf_adds(&out->text, "));");
	return NULL;
}

static struct error *write_members(struct body *b, const struct call *c, const char *to,
				   unsigned indent, struct piece *out)
{
	for (size_t i = c->f->values; i < c->n; i++)
		TRY(write_member(b, &c->v[i], to, &c->map->columns.v[i - c->f->values], indent,
				 out));
	if (!c->map->adds_pid)
		return NULL;
	new_line(b, indent, out);
	strbuf_addf(&out->text, "%sprocess = perf_bpf_pid_tgid() >> 32;", to);
	return NULL;
}

static void begin_block(const struct body *b, const struct call *c, struct piece *out)
{
	(void)b;
	strbuf_adds(&out->text, c->is_statement ? "{" : "({");
}

static void end_block(const struct body *b, const struct call *c, struct piece *out)
{
	new_line(b, 0, out);
	strbuf_adds(&out->text, c->is_statement ? "}" : "})");
}

/* Whether it is a histogram of numbers that can be below 0. */
static bool has_negatives(const struct call *c)
{
	return c->f->kind == CALL_HIST && c->v[0].type.is_signed;
}

/* "const __s64 M_value = VALUE;" */
static struct error *write_value(struct body *b, const struct call *c, struct piece *out)
{
	new_line(b, 1, out);
	strbuf_addf(&out->text, "const __s64 %s_value = ", c->map->name);
	TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	strbuf_addch(&out->text, ';');
	return NULL;
}

/* "{ struct M_key M_key = {}; … FUNCTION(&M, &M_key, VALUE); }" */
static struct error *write_keyed(struct body *b, const struct call *c, const char *function,
				 struct piece *out)
{
	const char *map = c->map->name;
	_cleanup_free_ char *to = text_format("%s_key.", map);

	if (!to)
		return error_nomem();
	begin_block(b, c, out);
	new_line(b, 1, out);
	strbuf_addf(&out->text, "struct %s_key %s_key = {};\n", map, map);
	TRY(write_members(b, c, to, 1, out));
	if (has_negatives(c)) {
		TRY(write_value(b, c, out));
		new_line(b, 1, out);
		strbuf_addf(&out->text, "if (%s_value < 0)", map);
		new_line(b, 2, out);
		strbuf_addf(&out->text, "perf_bpf_table_add(&%s_negative, &%s_key, 1);", map, map);
		new_line(b, 1, out);
		strbuf_adds(&out->text, "else");
		new_line(b, 2, out);
		strbuf_addf(&out->text, "%s(&%s, &%s_key, %s_value);", function, map, map, map);
		end_block(b, c, out);
		return NULL;
	}
	new_line(b, 1, out);
	strbuf_addf(&out->text, "%s(&%s, &%s_key, ", function, map, map);
	if (c->f->values)
		TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	else
		strbuf_addch(&out->text, '1');
	strbuf_adds(&out->text, ");");
	end_block(b, c, out);
	return NULL;
}

/* "FUNCTION(&M, VALUE);" */
static struct error *write_plain(struct body *b, const struct call *c, const char *function,
				 struct piece *out)
{
	if (has_negatives(c)) {
		begin_block(b, c, out);
		TRY(write_value(b, c, out));
		strbuf_addch(&out->text, '\n');
		new_line(b, 1, out);
		strbuf_addf(&out->text, "if (%s_value < 0)", c->map->name);
		new_line(b, 2, out);
		strbuf_addf(&out->text, "perf_bpf_count(&%s_negative, 1);", c->map->name);
		new_line(b, 1, out);
		strbuf_adds(&out->text, "else");
		new_line(b, 2, out);
		strbuf_addf(&out->text, "%s(&%s, %s_value);", function, c->map->name, c->map->name);
		end_block(b, c, out);
		return NULL;
	}
	strbuf_addf(&out->text, "%s(&%s, ", function, c->map->name);
	if (c->f->values)
		TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	else
		strbuf_addch(&out->text, '1');
	strbuf_adds(&out->text, c->is_statement ? ");" : ")");
	return NULL;
}

/* Whether its keys are stacks, and whose they are besides: stacks have a view of their own. */
static bool counts_stacks(const struct body *b, const struct call *c, bool *kernel, bool *user)
{
	*kernel = *user = false;
	for (size_t i = c->f->values; i < c->n; i++) {
		const size_t at = c->v[i].from;

		if (c->v[i].to != at + 1)
			return false;
		if (is(b, at, "kstack"))
			*kernel = true;
		else if (is(b, at, "ustack"))
			*user = true;
		else if (!is(b, at, "comm") && !is(b, at, "pid"))
			return false;
	}
	return *kernel || *user;
}

static struct error *write_stacks(struct body *b, const struct call *c, bool kernel, bool user,
				  bool is_new, struct piece *out)
{
	if (is_new)
		add_map(b, c, "PERF_BPF_STACKS", "4096, ", c->v[0].type.unit,
			c->f->values ? "sum of " : "");
	strbuf_addf(&out->text, "perf_bpf_%sstack_add(args, %s, ",
		    kernel && user ? ""
		    : kernel	   ? "kernel_"
				   : "user_",
		    c->map->name);
	if (c->f->values)
		TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	else
		strbuf_addch(&out->text, '1');
	strbuf_adds(&out->text, c->is_statement ? ");" : ")");
	return NULL;
}

/* count(), sum() */
static struct error *write_sum(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	const char *before = c->f->values ? "sum of " : "";
	const char *unit = c->f->values ? c->v[0].type.unit : NULL;
	bool kernel, user;

	if (counts_stacks(b, c, &kernel, &user))
		return write_stacks(b, c, kernel, user, is_new, out);
	if (c->n == c->f->values) {
		if (is_new)
			add_map(b, c, "PERF_BPF_COUNT", "", unit, before);
		return write_plain(b, c, "perf_bpf_count", out);
	}
	if (is_new)
		add_keyed_map(b, c, "PERF_BPF_TABLE", "__u64, ", unit, before);
	return write_keyed(b, c, "perf_bpf_table_add", out);
}

/* Ranges are powers of two: values below 0 are counted in a map of their own. */
static void add_negative_map(struct body *b, const struct call *c)
{
	struct strbuf *out = &b->g->map_text;

	if (c->n > 1)
		strbuf_addf(out,
			    "PERF_BPF_TABLE(%s_negative, struct %s_key, __u64, 16384, \"\", \"",
			    c->map->name, c->map->name);
	else
		strbuf_addf(out, "PERF_BPF_COUNT(%s_negative, \"\", \"", c->map->name);
	add_title(b, c, "below 0: ", out);
	strbuf_adds(out, "\");\n");
}

static struct error *write_hist(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	const bool keyed = c->n > 1;

	if (is_new && keyed)
		add_keyed_map(b, c, "PERF_BPF_LOG2_BY", "", c->v[0].type.unit, "");
	else if (is_new)
		add_map(b, c, "PERF_BPF_LOG2", "", c->v[0].type.unit, "");
	if (is_new && c->v[0].type.is_signed)
		add_negative_map(b, c);
	return keyed ? write_keyed(b, c, "perf_bpf_log2_by", out)
		     : write_plain(b, c, "perf_bpf_log2", out);
}

/* The event that print() and printf() submit. */
static struct error *write_event(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	const char *map = c->map->name;
	struct strbuf *maps = &b->g->map_text;

	if (is_new) {
		write_columns(c->map, "event",
			      c->f->kind == CALL_PRINTF ? "" : "\tperf_bpf_time time;\n",
			      &b->g->types.text);
		if (c->f->kind == CALL_PRINTF) {
			b->g->uses_values = true;
			strbuf_addf(maps, "PERF_BPF_LINES(%s, struct %s_event, 1024 * 1024, ", map,
				    map);
			add_format(b, &c->v[0], maps);
			strbuf_adds(maps, ");\n");
		} else {
			strbuf_addf(maps, "PERF_BPF_EVENTS(%s, struct %s_event, 1024 * 1024, \"",
				    map, map);
			add_quoted(maps, b->clause.at, b->clause.len);
			strbuf_adds(maps, "\");\n");
		}
	}
	_cleanup_free_ char *to = text_format("%s_event->", map);
	if (!to)
		return error_nomem();
	begin_block(b, c, out);
	new_line(b, 1, out);
	strbuf_addf(&out->text, "struct %s_event *%s_event =", map, map);
	new_line(b, 2, out);
	strbuf_addf(&out->text, "perf_bpf_event_reserve(&%s, struct %s_event);\n", map, map);
	new_line(b, 1, out);
	strbuf_addf(&out->text, "if (%s_event) {", map);
	if (c->f->kind != CALL_PRINTF) {
		new_line(b, 2, out);
		strbuf_addf(&out->text, "%s_event->time = bpf_ktime_get_ns();", map);
	}
	TRY(write_members(b, c, to, 2, out));
	new_line(b, 2, out);
	strbuf_addf(&out->text, "perf_bpf_event_submit(%s_event);", map);
	new_line(b, 1, out);
	strbuf_addch(&out->text, '}');
	end_block(b, c, out);
	return NULL;
}

/* A number with a meaning, in an expression: the number. */
static struct error *write_cast(struct body *b, const struct call *c, struct piece *out)
{
	strbuf_addf(&out->text, "(%s)(", c->f->map);
	TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	strbuf_addch(&out->text, ')');
	return NULL;
}

static struct error *write_call(struct body *b, struct call *c, struct piece *out)
{
	const size_t n = b->g->maps.n;

	if (c->f->kind == CALL_CAST)
		return write_cast(b, c, out);
	if (c->f->kind == CALL_STR)
		return error_hint(oneliner_error(EINVAL, b->g->name, b->g->text,
						 token(b, c->name)->at,
						 "str() cannot be used in an expression"),
				  "give it to a function that counts or prints");
	if (c->f->kind == CALL_PRINTF)
		TRY(check_format(b, c));
	else if (c->f->values)
		TRY(body_type(b, c->v[0].from, c->v[0].to, &c->v[0].type));
	if (c->f->values && c->f->kind != CALL_PRINTF && c->v[0].type.size)
		return wrong(b, c->v[0].from, c->f, "this is a string, not a number");
	TRY(find_map(b, c));
	const bool is_new = b->g->maps.n != n;
	switch (c->f->kind) {
	case CALL_COUNT:
	case CALL_SUM:
		return write_sum(b, c, is_new, out);
	case CALL_HIST:
		return write_hist(b, c, is_new, out);
	default:
		return write_event(b, c, is_new, out);
	}
}

struct error *call_write(struct body *b, const struct function *f, size_t i, size_t close,
			 bool is_statement, struct piece *out)
{
	struct call c = {.f = f, .name = i, .is_statement = is_statement};

	if (b->depth == DEPTH_MAX)
		return oneliner_error(EINVAL, b->g->name, b->g->text, token(b, i)->at,
				      "these calls are too deep");
	TRY(split(b, i + 1, close, &c));
	b->depth++;
	struct error *err = write_call(b, &c, out);
	b->depth--;
	return err;
}
