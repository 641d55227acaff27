// SPDX-License-Identifier: BSD-2-Clause
/* Arguments of definitions: paths, types, and the names of their fields. */
#include <stdlib.h>

#include "lib/base/strbuf.h"
#include "probe/def/internal.h"

static struct error *parse_type(struct def_parser *p, struct probe_arg *arg)
{
	static const struct {
		const char *name;
		enum probe_type type;
		uint8_t bits;
	} types[] = {
		{"u8", PROBE_TYPE_UNSIGNED, 8},	    {"u16", PROBE_TYPE_UNSIGNED, 16},
		{"u32", PROBE_TYPE_UNSIGNED, 32},   {"u64", PROBE_TYPE_UNSIGNED, 64},
		{"s8", PROBE_TYPE_SIGNED, 8},	    {"s16", PROBE_TYPE_SIGNED, 16},
		{"s32", PROBE_TYPE_SIGNED, 32},	    {"s64", PROBE_TYPE_SIGNED, 64},
		{"x8", PROBE_TYPE_HEX, 8},	    {"x16", PROBE_TYPE_HEX, 16},
		{"x32", PROBE_TYPE_HEX, 32},	    {"x64", PROBE_TYPE_HEX, 64},
		{"u", PROBE_TYPE_UNSIGNED, 0},	    {"s", PROBE_TYPE_SIGNED, 0},
		{"x", PROBE_TYPE_HEX, 0},	    {"string", PROBE_TYPE_STRING, 0},
		{"ustring", PROBE_TYPE_USTRING, 0}, {"bool", PROBE_TYPE_BOOL, 8},
		{"char", PROBE_TYPE_CHAR, 8},
	};
	const size_t at = p->pos;
	_cleanup_free_ char *name = NULL;
	uint64_t width, shift, size;

	TRY(def_identifier(p, "type", &name));
	if (peek(p) == '[')
		return error_hint(fail(p, p->pos, "a type cannot apply to a whole array"),
				  "list the elements (a[0] a[1]), or the array without a type");
	if (str_equal(name, "symbol") || str_equal(name, "symstr"))
		return error_hint(fail(p, at, "the type 'symbol' is not supported"),
				  "x64 shows the address");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_equal(name, types[i].name)) {
			arg->type = types[i].type;
			arg->bits = types[i].bits;
			return NULL;
		}
	if (name[0] != 'b' || !isdigit((unsigned char)name[1])) {
		const char *known[ARRAY_SIZE(types) + 1];

		for (size_t i = 0; i < ARRAY_SIZE(types); i++)
			known[i] = types[i].name;
		known[ARRAY_SIZE(types)] = "bBITS@SHIFT/SIZE";
		return def_fail_word(p, at, "type", name, known, ARRAY_SIZE(known));
	}
	p->pos = at + 1;
	TRY(def_number(p, "number of bits", 64, &width));
	if (!accept(p, "@"))
		return fail(p, p->pos, "write a bit field as bBITS@SHIFT/SIZE");
	TRY(def_number(p, "shift", 63, &shift));
	if (!accept(p, "/"))
		return fail(p, p->pos, "write a bit field as bBITS@SHIFT/SIZE");
	const size_t size_at = p->pos;
	TRY(def_number(p, "size", 64, &size));
	if (size != 8 && size != 16 && size != 32 && size != 64)
		return fail(p, size_at, "the SIZE of a bit field must be 8, 16, 32 or 64 bits");
	if (!width || width + shift > size)
		return fail(p, at, "%u bits at shift %u do not fit into %u bits", (unsigned)width,
			    (unsigned)shift, (unsigned)size);
	arg->type = PROBE_TYPE_BITS;
	arg->bits = (uint8_t)size;
	arg->bit_width = (uint8_t)width;
	arg->bit_shift = (uint8_t)shift;
	return NULL;
}

static struct error *step_add(struct def_parser *p, struct probe_arg *arg,
			      enum probe_step_kind kind, size_t at, struct probe_step **out)
{
	if (arg->n_steps == PROBE_MAX_STEPS)
		return fail(p, at, "a path can have at most %d steps", PROBE_MAX_STEPS);
	struct probe_step *steps = realloc(arg->steps, (arg->n_steps + 1) * sizeof(*steps));
	if (!steps)
		return error_nomem();
	arg->steps = steps;
	*out = &steps[arg->n_steps++];
	**out = (struct probe_step){.kind = kind, .at = (uint32_t)at};
	return NULL;
}

static struct error *signed_number(struct def_parser *p, const char *what, int64_t *out)
{
	const bool negative = accept(p, "-");
	uint64_t v;

	TRY(def_number(p, what, INT32_MAX, &v));
	*out = negative ? -(int64_t)v : (int64_t)v;
	return NULL;
}

/* "$retval", "$stack2" */
static struct error *parse_special(struct def_parser *p, struct probe_arg *arg)
{
	static const struct {
		const char *name;
		enum probe_base base;
		bool number; /* one may follow, or must */
	} specials[] = {
		{"retval", PROBE_RETVAL, false}, {"params", PROBE_PARAMS, false},
		{"vars", PROBE_VARS, false},	 {"comm", PROBE_COMM, false},
		{"stack", PROBE_STACK, true},	 {"arg", PROBE_PARAM, true},
	};
	const size_t at = p->pos - 1;
	const size_t n = def_ident_len(p->text + p->pos);
	_cleanup_free_ char *name = strndup(p->text + p->pos, n);

	if (!name)
		return error_nomem();
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++) {
		const size_t len = strlen(specials[i].name);
		uint64_t v;

		if (strncmp(name, specials[i].name, len) ||
		    (n > len && !(specials[i].number && isdigit((unsigned char)name[len]))))
			continue;
		arg->base = specials[i].base;
		p->pos += len;
		if (n > len) {
			const size_t number_at = p->pos;
			TRY(def_number(p, "number", 4095, &v));
			if (arg->base == PROBE_PARAM && !v)
				return fail(p, number_at, "the first parameter is $arg1");
			arg->index = (int64_t)v - (arg->base == PROBE_PARAM);
		} else if (arg->base == PROBE_PARAM) {
			continue;
		} else if (arg->base == PROBE_STACK) {
			arg->index = -1;
		}
		return NULL;
	}
	const char *known[] = {"$retval", "$params", "$vars", "$comm",
			       "$stack",  "$stackN", "$argN"};
	_cleanup_free_ char *shown = text_format("$%s", name);
	return shown ? def_fail_word(p, at, "special variable", shown, known, ARRAY_SIZE(known))
		     : error_nomem();
}

/* "order", "Shop::count", "~r0": Go's name of a result that has none */
static struct error *parse_variable(struct def_parser *p, struct probe_arg *arg)
{
	size_t n = peek(p) == '~';

	for (;;) {
		const size_t more = def_ident_len(p->text + p->pos + n);

		if (!more)
			return fail(p, p->pos + n, "expected a variable here");
		n += more;
		if (strncmp(p->text + p->pos + n, "::", 2))
			break;
		n += 2;
	}
	arg->variable = strndup(p->text + p->pos, n);
	p->pos += n;
	return arg->variable ? NULL : error_nomem();
}

static struct error *parse_base(struct def_parser *p, struct probe_arg *arg)
{
	const char c = peek(p);
	const size_t at = p->pos;

	if (c == '$') {
		p->pos++;
		return parse_special(p, arg);
	}
	if (c == '%') {
		p->pos++;
		arg->base = PROBE_REGISTER;
		return def_identifier(p, "register", &arg->variable);
	}
	if (c == '@') {
		p->pos++;
		arg->base = PROBE_SYMBOL;
		return parse_variable(p, arg);
	}
	arg->base = PROBE_VARIABLE;
	if (!starts_ident(c) && !(c == '~' && starts_ident(p->text[p->pos + 1])))
		return c && !is_blank(c) ? fail(p, at, "a variable cannot begin with '%c'", c)
					 : fail(p, at, "expected a variable here");
	return parse_variable(p, arg);
}

static struct error *parse_steps(struct def_parser *p, struct probe_arg *arg)
{
	for (;;) {
		const size_t at = p->pos;
		struct probe_step *step;

		if (accept(p, "->")) {
			TRY(step_add(p, arg, PROBE_ARROW, at, &step));
			TRY(def_identifier(p, "member", &step->name));
		} else if (accept(p, ".")) {
			TRY(step_add(p, arg, PROBE_MEMBER, at, &step));
			TRY(def_identifier(p, "member", &step->name));
		} else if (accept(p, "[")) {
			TRY(step_add(p, arg, PROBE_INDEX, at, &step));
			TRY(signed_number(p, "index", &step->index));
			if (!accept(p, "]"))
				return fail(p, p->pos, "']' is missing for the '[' in column %zu",
					    at + 1);
		} else {
			return NULL;
		}
	}
}

/*
 * "+8(+0x10(ARG))": the inner one is read first. "*": an element [0] when all else of the path is
 * done.
 */
static struct error *parse_path(struct def_parser *p, struct probe_arg *arg)
{
	struct {
		int64_t offset;
		size_t at;
	} outer[PROBE_MAX_STEPS];
	size_t n_outer = 0, stars = 0;
	struct probe_step *step;

	while (peek(p) == '+' || (peek(p) == '-' && p->text[p->pos + 1] != '>')) {
		const size_t at = p->pos;
		const bool negative = peek(p) == '-';

		if (n_outer == PROBE_MAX_STEPS)
			return fail(p, at, "a path can have at most %d steps", PROBE_MAX_STEPS);
		p->pos++;
		arg->user |= accept(p, "u");
		uint64_t offset;
		TRY(def_number(p, "offset", INT32_MAX, &offset));
		if (!accept(p, "("))
			return fail(p, p->pos, "expected '(' and an address: +OFFSET(%%di)");
		outer[n_outer].offset = negative ? -(int64_t)offset : (int64_t)offset;
		outer[n_outer++].at = at;
	}
	const size_t stars_at = p->pos;
	while (accept(p, "*"))
		stars++;
	TRY(parse_base(p, arg));
	TRY(parse_steps(p, arg));
	for (; stars; stars--)
		TRY(step_add(p, arg, PROBE_INDEX, stars_at + stars - 1, &step));
	while (n_outer) {
		n_outer--;
		if (!accept(p, ")"))
			return fail(p, p->pos, "')' is missing for the '(' in column %zu",
				    outer[n_outer].at + 1);
		TRY(step_add(p, arg, PROBE_DEREF, outer[n_outer].at, &step));
		step->index = outer[n_outer].offset;
	}
	return NULL;
}

static bool is_special(const struct probe_arg *arg)
{
	return arg->base == PROBE_PARAMS || arg->base == PROBE_VARS || arg->base == PROBE_COMM;
}

/* What the field is called when it has no name of its own. */
static struct error *default_name(struct probe_arg *arg)
{
	static const char *const of_base[] = {[PROBE_RETVAL] = "retval",
					      [PROBE_PARAMS] = "params",
					      [PROBE_VARS] = "vars",
					      [PROBE_COMM] = "comm"};
	const char *name = arg->variable;

	for (size_t i = 0; i < arg->n_steps; i++)
		if (arg->steps[i].name)
			name = arg->steps[i].name;
	if (name) {
		const char *last = strrchr(name, ':');
		name = last ? last + 1 : name;
		arg->name = strdup(*name == '~' ? name + 1 : name);
	} else if (arg->base == PROBE_PARAM) {
		arg->name = text_format("arg%d", (int)arg->index + 1);
	} else if (arg->base == PROBE_STACK) {
		arg->name =
			arg->index < 0 ? strdup("stack") : text_format("stack%d", (int)arg->index);
	} else {
		arg->name = strdup(of_base[arg->base]);
	}
	return arg->name ? NULL : error_nomem();
}

struct error *def_parse_arg(struct def_parser *p)
{
	struct probe_def *def = p->def;
	const size_t at = p->pos;

	if (def->n_args == PROBE_MAX_ARGS)
		return fail(p, at, "a definition can have at most %d arguments", PROBE_MAX_ARGS);
	struct probe_arg *args = realloc(def->args, (def->n_args + 1) * sizeof(*args));
	if (!args)
		return error_nomem();
	def->args = args;
	struct probe_arg *arg = &args[def->n_args++];
	*arg = (struct probe_arg){.at = (uint32_t)at};

	const size_t n = def_ident_len(p->text + p->pos);
	if (n && p->text[p->pos + n] == '=') {
		TRY(def_identifier(p, "name", &arg->name));
		arg->named = true;
		p->pos++;
	}
	const size_t start = p->pos;
	TRY(parse_path(p, arg));
	arg->text = strndup(p->text + start, p->pos - start);
	if (!arg->text)
		return error_nomem();
	const size_t type_at = p->pos;
	if (accept(p, ":"))
		TRY(parse_type(p, arg));
	if (accept(p, "@")) {
		static const char *const words[] = {"user"};
		const size_t user_at = p->pos;
		_cleanup_free_ char *user = NULL;

		TRY(def_identifier(p, "\"user\"", &user));
		if (!str_equal(user, "user"))
			return def_fail_word(p, user_at, "address space", user, words, 1);
		arg->user = true;
	}
	if (peek(p) && !is_blank(peek(p)))
		return fail(p, p->pos, "unexpected '%c'", peek(p));
	if (is_special(arg) && (arg->n_steps || (p->pos > type_at && arg->base != PROBE_COMM)))
		return fail(p, start, "%s cannot have members or a type", arg->text);
	if (arg->named && (arg->base == PROBE_PARAMS || arg->base == PROBE_VARS))
		return fail(p, at, "%s expands to several arguments and cannot have a name",
			    arg->text);
	return arg->named ? NULL : default_name(arg);
}

/* "a->b.len" is "a_b_len" */
static struct error *path_name(struct probe_arg *arg)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	for (const char *s = arg->text; *s; s++)
		if (is_ident(*s))
			strbuf_addch(&name, *s);
		else if (name.len && name.str[name.len - 1] != '_' && is_ident(s[1]))
			strbuf_addch(&name, '_');
	if (!name.len || isdigit((unsigned char)name.str[0]))
		return NULL;
	char *full = strbuf_steal(&name);
	if (!full)
		return error_nomem();
	free(arg->name);
	arg->name = full;
	return NULL;
}

static bool clashes(const struct probe_def *def, size_t i)
{
	for (size_t j = 0; j < def->n_args; j++)
		if (j != i && str_equal(def->args[j].name, def->args[i].name))
			return true;
	return false;
}

/* The first argument that was given the name of the i-th. */
static size_t first_named(const struct probe_def *def, size_t i)
{
	size_t j = 0;

	while (j < i && !(def->args[j].named && str_equal(def->args[j].name, def->args[i].name)))
		j++;
	return j;
}

/* Whether it may keep its name: no other was given it, and no earlier one has it. */
static bool is_first(const struct probe_def *def, size_t i)
{
	for (size_t j = 0; j < def->n_args; j++)
		if (j != i && (j < i || def->args[j].named) &&
		    str_equal(def->args[j].name, def->args[i].name))
			return false;
	return true;
}

/* "count_2" */
static struct error *number_name(struct probe_def *def, size_t i)
{
	char *base = def->args[i].name;

	for (unsigned k = 2; k < 2 + 2 * PROBE_MAX_ARGS; k++) {
		char *name = text_format("%s_%u", base, k);

		if (!name) {
			def->args[i].name = base;
			return error_nomem();
		}
		def->args[i].name = name;
		if (!clashes(def, i)) {
			free(base);
			return NULL;
		}
		free(name);
		def->args[i].name = base;
	}
	return error_new(EINVAL, "too many arguments have the name '%s'", base);
}

struct error *def_name_args(struct def_parser *p)
{
	struct probe_def *def = p->def;
	bool longer[PROBE_MAX_ARGS] = {0};

	for (size_t i = 0; i < def->n_args; i++)
		longer[i] = !def->args[i].named && clashes(def, i);
	for (size_t i = 0; i < def->n_args; i++)
		if (longer[i])
			TRY(path_name(&def->args[i]));
	for (size_t i = 0; i < def->n_args; i++)
		if (def->args[i].named && clashes(def, i) && first_named(def, i) != i)
			return fail(p, def->args[i].at, "two arguments have the name '%s'",
				    def->args[i].name);
	for (size_t i = 0; i < def->n_args; i++)
		if (!def->args[i].named && clashes(def, i) && !is_first(def, i))
			TRY(number_name(def, i));
	return NULL;
}
