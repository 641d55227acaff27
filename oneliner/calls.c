// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions that count and print. Each call has a map of its own, with the view that shows what
 * it counts; its keys are the members of a struct, each named as its last name was typed.
 */
#include <stdlib.h>

#include "oneliner/internal.h"

static const struct function functions[] = {
	{"count", CALL_COUNT, "counts", 0, 0, VALUES_MAX, "count(KEY, ...)"},
	{"sum", CALL_SUM, "sums", 1, 1, VALUES_MAX, "sum(VALUE, KEY, ...)"},
	{"hist", CALL_HIST, "hist", 1, 1, VALUES_MAX, "hist(VALUE, KEY, ...)"},
	{"lhist", CALL_LHIST, "lhist", 4, 4, VALUES_MAX, "lhist(VALUE, LOW, HIGH, STEP, KEY, ...)"},
	{"stats", CALL_STATS, "stats", 1, 1, VALUES_MAX, "stats(VALUE, KEY, ...)"},
	{"avg", CALL_STATS, "averages", 1, 1, VALUES_MAX, "avg(VALUE, KEY, ...)"},
	{"min", CALL_STATS, "minima", 1, 1, VALUES_MAX, "min(VALUE, KEY, ...)"},
	{"max", CALL_STATS, "maxima", 1, 1, VALUES_MAX, "max(VALUE, KEY, ...)"},
	{"heat", CALL_HEAT, "heat", 1, 1, 1, "heat(VALUE)"},
	{"stacks", CALL_STACKS, "stacks", 0, 0, 1, "stacks() or stacks(WEIGHT)"},
	{"emit", CALL_EMIT, "events", 0, 1, VALUES_MAX, "emit(NAME = VALUE, ...)"},
	{"take", CALL_TAKE, NULL, 0, 2, VALUES_MAX, "take(MAP, KEY, ...)"},
	{"drop", CALL_DROP, NULL, 0, 2, VALUES_MAX, "drop(MAP, KEY, ...)"},
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

struct error *call_error(const struct body *b, size_t i, const struct function *f, const char *what)
{
	return error_hint(oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, i)->at, "%s",
					 what),
			  "write %s", f->arguments);
}

/* Takes the arguments apart, without their types. */
static struct error *split(const struct body *b, size_t open, size_t close, struct call *c)
{
	size_t depth = 0, from = open + 1;

	for (size_t i = open + 1; i <= close; i++) {
		if (i < close && (body_is(b, i, "(") || body_is(b, i, "[") || body_is(b, i, "{")))
			depth++;
		else if (i < close &&
			 (body_is(b, i, ")") || body_is(b, i, "]") || body_is(b, i, "}")))
			depth--;
		if (i < close && (depth || !body_is(b, i, ",")))
			continue;
		if (from == i) {
			if (i == close && !c->n)
				break;
			return call_error(b, i, c->f, "a value is missing here");
		}
		if (c->n == VALUES_MAX)
			return call_error(b, from, c->f, "these are too many values");
		c->v[c->n++] = (struct argument){.from = from, .to = i};
		from = i + 1;
	}
	if (c->n < c->f->min)
		return call_error(b, close, c->f, "a value is missing here");
	if (c->n > c->f->max)
		return call_error(b, c->v[c->f->max].from, c->f, "this value is too much");
	return NULL;
}

/* The size that str(p, SIZE) has. */
static struct error *string_size(const struct body *b, const struct call *c, size_t *size)
{
	unsigned long n;

	*size = STR_SIZE;
	if (c->n < 2)
		return NULL;
	n = strtoul(b->g->text + body_token(b, c->v[1].from)->at, NULL, 0);
	if (c->v[1].to != c->v[1].from + 1 || n < 2 || n > 4096)
		return call_error(b, c->v[1].from, c->f, "the size is not a number from 2 to 4096");
	*size = n;
	return NULL;
}

struct error *call_type(struct body *b, const struct function *f, size_t i, struct value_type *type,
			bool *known)
{
	struct call c = {.f = f, .name = i};
	size_t close;

	if (f->kind == CALL_TAKE) {
		const struct named_map *map = named_map_at(b, i + 2);

		*known = map != NULL;
		if (map)
			*type = map->value;
		return NULL;
	}
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
				 const struct map_columns *columns, char **out)
{
	_cleanup_free_ char *name = NULL;
	const struct map_column *column;

	const size_t map =
		body_is(b, a->from, "take") && body_is(b, a->from + 1, "(") ? a->from + 2 : a->from;
	const size_t to = named_map_at(b, map) ? map + 1 : a->to;

	for (size_t i = a->from; i < to; i++) {
		if (body_token(b, i)->kind != TOKEN_NAME ||
		    is_type_word(b->g->text, body_token(b, i)) || body_is(b, i + 1, "(") ||
		    constant_is(b->g, body_token(b, i)) ||
		    strchr(b->g->text + body_token(b, i)->at, '$') ==
			    b->g->text + body_token(b, i)->at)
			continue;
		free(name);
		name = strndup(b->g->text + body_token(b, i)->at, body_token(b, i)->len);
		if (!name)
			return error_nomem();
	}
	bool taken = !name;
	vec_for_each (column, columns)
		taken |= name && !strcmp(column->name, name);
	if (taken)
		*out = text_format("%s%zu", name ? name : "value", columns->n + 1);
	else
		*out = steal_ptr(name);
	return *out ? NULL : error_nomem();
}

struct error *column_add(const struct body *b, const struct argument *a,
			 struct map_columns *columns)
{
	char *name = NULL;

	TRY(column_name(b, a, columns, &name));
	struct map_column *column = vec_push(columns);
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
	return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, a->from)->at,
			      "this has another type in %s", b->event);
}

void columns_write(const char *name, const struct map_columns *columns, const char *suffix,
		   const char *first, struct strbuf *out)
{
	const struct map_column *column;

	strbuf_addf(out, "struct %s_%s {\n%s", name, suffix, first);
	vec_for_each (column, columns) {
		const struct value_type *t = &column->type;

		if (t->size)
			strbuf_addf(out, "\tchar %s[%zu];\n", column->name, t->size);
		else
			strbuf_addf(out, "\t%s%s%s;\n", t->key ? t->key : t->type,
				    !t->key && strchr(t->type, '*') ? "" : " ", column->name);
	}
	strbuf_adds(out, "};\n\n");
}

/* Of a call's map. */
static void write_columns(const struct own_map *map, const char *suffix, const char *first,
			  struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf before = STRBUF_INIT;

	strbuf_adds(&before, first);
	if (map->adds_pid)
		strbuf_adds(&before, "\tperf_bpf_pid process; /* of the addresses */\n");
	columns_write(map->name, &map->columns, suffix, strbuf_str(&before), out);
	out->failed |= strbuf_failed(&before);
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
		if (i > from && body_token(b, i)->spaced)
			strbuf_addch(out, ' ');
		add_quoted(out, b->g->text + body_token(b, i)->at, body_token(b, i)->len);
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

/* A key, or with emit() a value behind its name. */
static struct error *add_key(const struct body *b, const struct argument *a, struct own_map *map)
{
	TRY(column_add(b, a, &map->columns));
	if (a->from < 2 || !body_is(b, a->from - 1, "=") ||
	    body_token(b, a->from - 2)->kind != TOKEN_NAME ||
	    is_type_word(b->g->text, body_token(b, a->from - 2)))
		return NULL;
	struct map_column *column = vec_last(&map->columns);
	char *name = strndup(b->g->text + body_token(b, a->from - 2)->at,
			     body_token(b, a->from - 2)->len);
	if (!name)
		return error_nomem();
	for (size_t i = 0; i + 1 < map->columns.n; i++) {
		if (strcmp(map->columns.v[i].name, name))
			continue;
		free(name);
		return oneliner_error(EINVAL, b->g->name, b->g->text,
				      body_token(b, a->from - 2)->at, "this name is there twice");
	}
	free(column->name);
	column->name = name;
	return NULL;
}

/* emit(NAME = VALUE): the values begin behind their names. */
static struct error *skip_names(const struct body *b, struct call *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].to < c->v[i].from + 3 ||
		    body_token(b, c->v[i].from)->kind != TOKEN_NAME ||
		    !body_is(b, c->v[i].from + 1, "="))
			return call_error(b, c->v[i].from, c->f,
					  "the name of this value is missing");
		c->v[i].from += 2;
	}
	return NULL;
}

/* The call's map: a new one, or that of the same call for another event. */
static struct error *find_map(struct body *b, struct call *c)
{
	struct generator *g = b->g;
	struct own_map *map;
	const size_t at = body_token(b, c->name)->at;
	size_t k = 0;

	c->map = NULL;
	vec_for_each (map, &g->maps)
		if (map->at == at)
			c->map = map;
	const size_t first = c->f->kind == CALL_STACKS ? c->n : c->f->values;
	for (size_t i = first; i < c->n; i++)
		TRY(body_type(b, c->v[i].from, c->v[i].to, &c->v[i].type));
	if (c->map) {
		for (size_t i = first; i < c->n; i++, k++)
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
	for (size_t i = first; i < c->n; i++)
		TRY(add_key(b, &c->v[i], c->map));
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
	const struct event_field *field = NULL;
	size_t n;

	new_line(b, indent, out);
	if (!a->type.size) {
		strbuf_addf(&out->text, "%s%s = ", to, column->name);
		TRY(body_expression(b, a->from, a->to, out));
		strbuf_addch(&out->text, ';');
		return NULL;
	}
	TRY(body_field(b, a->from, a->to, &field, &n));
	if (field && field->dynamic) {
		strbuf_addf(&out->text, "perf_bpf_kernel_str(%s%s, ", to, column->name);
		strbuf_addf(&out->text, "(void *)args + (args->__data_loc_%s & 0xffff));",
			    field->name);
		b->g->uses_values = true;
		return NULL;
	}
	if (named_map_at(b, a->from)) {
		strbuf_addf(&out->text, "perf_bpf_str(%s%s, ", to, column->name);
		TRY(body_expression(b, a->from, a->to, out));
		strbuf_adds(&out->text, ");");
		b->g->uses_values = true;
		return NULL;
	}
	if (body_is(b, a->from, "str") && body_is(b, a->from + 1, "(")) {
		struct call c = {.f = function_find(b->g->text, body_token(b, a->from))};

		TRY(split(b, a->from + 1, a->to - 1, &c));
		TRY(body_field(b, c.v[0].from, c.v[0].to, &field, &n));
		if (field && field->type.size) { /* a probe has fetched it */
			strbuf_addf(&out->text,
				    "__builtin_memcpy(%s%s, args->%s, sizeof(args->%s));", to,
				    column->name, field->name, field->name);
			return NULL;
		}
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
	strbuf_addf(&out->text, "%s(%s%s, &%s_key, ", function, c->f->kind == CALL_LHIST ? "" : "&",
		    map, map);
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
		if (body_is(b, at, "kstack"))
			*kernel = true;
		else if (body_is(b, at, "ustack"))
			*user = true;
		else if (!body_is(b, at, "comm") && !body_is(b, at, "pid"))
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
	strbuf_addf(&out->text, "perf_bpf_%sstack_add(%s, %s, ",
		    kernel && user ? ""
		    : kernel	   ? "kernel_"
				   : "user_",
		    b->ctx, c->map->name);
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

/* A number that is typed as a digit sequence, perhaps with a sign. */
static struct error *constant(const struct body *b, const struct call *c, size_t i, long *out)
{
	size_t from = c->v[i].from;
	const bool minus = body_is(b, from, "-");
	char *end;

	from += minus;
	if (c->v[i].to != from + 1 || body_token(b, from)->kind != TOKEN_NUMBER)
		return call_error(b, c->v[i].from, c->f, "this is not a number");
	errno = 0;
	*out = strtol(b->g->text + body_token(b, from)->at, &end, 0);
	if (errno || end != b->g->text + body_token(b, from)->at + body_token(b, from)->len)
		return call_error(b, c->v[i].from, c->f, "this is not a whole number");
	*out = minus ? -*out : *out;
	return NULL;
}

static struct error *write_lhist(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	const bool keyed = c->n > 4;
	long low, high, step;

	TRY(constant(b, c, 1, &low));
	TRY(constant(b, c, 2, &high));
	TRY(constant(b, c, 3, &step));
	if (step <= 0 || high <= low || low < -(1l << 48) || high > 1l << 48 ||
	    (high - low) / step > 1000)
		return call_error(b, c->v[1].from, c->f,
				  "the ranges are not 1 to 1000 steps from low to high");
	const long n = (high - low + step - 1) / step;
	if (is_new) {
		_cleanup_strbuf_ struct strbuf types = STRBUF_INIT;

		if (keyed) {
			write_columns(c->map, "key", "", &b->g->types.text);
			strbuf_addf(&types, "struct %s_key, 16384, ", c->map->name);
		}
		strbuf_addf(&types, "%ld, %ld, %ld, ", low, step, n);
		add_map(b, c, keyed ? "PERF_BPF_LINEAR_BY" : "PERF_BPF_LINEAR", strbuf_str(&types),
			c->v[0].type.unit, "");
		b->g->map_text.failed |= strbuf_failed(&types);
		b->g->uses_values |= keyed;
	}
	if (keyed)
		return write_keyed(b, c, "perf_bpf_linear_by", out);
	strbuf_addf(&out->text, "perf_bpf_linear(%s, ", c->map->name);
	TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	strbuf_adds(&out->text, c->is_statement ? ");" : ")");
	return NULL;
}

static struct error *write_heat(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	if (is_new)
		add_map(b, c, "PERF_BPF_HEATMAP", "", c->v[0].type.unit, "");
	return write_plain(b, c, "perf_bpf_heat", out);
}

/* stats(), avg(), min(), max() */
static struct error *write_stats(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	const bool keyed = c->n > 1;
	_cleanup_free_ char *type = text_format("struct perf_bpf_%s, ", c->f->map);
	_cleanup_free_ char *function = text_format("perf_bpf_%s_add", c->f->map);

	if (!type || !function)
		return error_nomem();
	b->g->uses_values = true;
	if (is_new && keyed)
		add_keyed_map(b, c, "PERF_BPF_TABLE", type, c->v[0].type.unit, "");
	if (is_new && !keyed) {
		_cleanup_strbuf_ struct strbuf types = STRBUF_INIT;

		strbuf_addf(&types, "perf_bpf_all, %s1, ", type);
		add_map(b, c, "PERF_BPF_TABLE", strbuf_str(&types), c->v[0].type.unit, "");
		b->g->map_text.failed |= strbuf_failed(&types);
	}
	if (keyed)
		return write_keyed(b, c, function, out);
	strbuf_addf(&out->text, "%s(&%s, &(perf_bpf_all){0}, ", function, c->map->name);
	TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	strbuf_adds(&out->text, c->is_statement ? ");" : ")");
	return NULL;
}

static struct error *write_all_stacks(struct body *b, struct call *c, bool is_new,
				      struct piece *out)
{
	if (is_new)
		add_map(b, c, "PERF_BPF_STACKS", "4096, ", NULL, "stacks of ");
	strbuf_addf(&out->text, "perf_bpf_stack_add(%s, %s, ", b->ctx, c->map->name);
	if (c->n)
		TRY(body_expression(b, c->v[0].from, c->v[0].to, out));
	else
		strbuf_addch(&out->text, '1');
	strbuf_adds(&out->text, c->is_statement ? ");" : ")");
	return NULL;
}

/* take(), drop() */
static struct error *write_named(struct body *b, struct call *c, struct piece *out)
{
	struct named_map *map = named_map_at(b, c->v[0].from);

	if (!map || c->v[0].to != c->v[0].from + 1)
		return call_error(b, c->v[0].from, c->f, "this is not the name of a map");
	for (size_t i = 1; i < c->n; i++)
		TRY(body_type(b, c->v[i].from, c->v[i].to, &c->v[i].type));
	TRY(named_map_call(b, map, c->v + 1, c->n - 1, c->name, c->f->kind == CALL_TAKE, out));
	if (c->is_statement)
		strbuf_addch(&out->text, ';');
	return NULL;
}

/* The event that print() and printf() submit. */
static struct error *write_event(struct body *b, struct call *c, bool is_new, struct piece *out)
{
	const char *map = c->map->name;
	/* A line without values is an event with its time. */
	const bool has_time = c->f->kind != CALL_PRINTF || !c->map->columns.n;
	struct strbuf *maps = &b->g->map_text;

	if (is_new) {
		write_columns(c->map, "event", has_time ? "\tperf_bpf_time time;\n" : "",
			      &b->g->types.text);
		if (c->f->kind == CALL_PRINTF) {
			b->g->uses_values = true;
			strbuf_addf(maps, "PERF_BPF_LINES(%s, struct %s_event, 1024 * 1024, ", map,
				    map);
			format_write(b, &c->v[0], maps);
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
	if (has_time) {
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
						 body_token(b, c->name)->at,
						 "str() cannot be used in an expression"),
				  "give it to a function that counts or prints");
	if (c->f->kind == CALL_TAKE || c->f->kind == CALL_DROP)
		return write_named(b, c, out);
	if (c->f->kind == CALL_EMIT)
		TRY(skip_names(b, c));
	if (c->f->kind == CALL_PRINTF)
		TRY(format_check(b, c));
	else if (c->f->values)
		TRY(body_type(b, c->v[0].from, c->v[0].to, &c->v[0].type));
	if (c->f->values && c->f->kind != CALL_PRINTF && c->v[0].type.size)
		return call_error(b, c->v[0].from, c->f, "this is a string, not a number");
	TRY(find_map(b, c));
	const bool is_new = b->g->maps.n != n;
	switch (c->f->kind) {
	case CALL_COUNT:
	case CALL_SUM:
		return write_sum(b, c, is_new, out);
	case CALL_HIST:
		return write_hist(b, c, is_new, out);
	case CALL_LHIST:
		return write_lhist(b, c, is_new, out);
	case CALL_HEAT:
		return write_heat(b, c, is_new, out);
	case CALL_STACKS:
		return write_all_stacks(b, c, is_new, out);
	case CALL_STATS:
		return write_stats(b, c, is_new, out);
	default:
		return write_event(b, c, is_new, out);
	}
}

struct error *call_write(struct body *b, const struct function *f, size_t i, size_t close,
			 bool is_statement, struct piece *out)
{
	struct call c = {.f = f, .name = i, .is_statement = is_statement};

	if (b->depth == DEPTH_MAX)
		return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, i)->at,
				      "these calls are too deep");
	TRY(split(b, i + 1, close, &c));
	const struct token name = {.at = body_token(b, i)->at};
	piece_typed(out, b->g->text, &name); /* what it becomes comes from here */
	b->depth++;
	struct error *err = write_call(b, &c, out);
	b->depth--;
	return err;
}
