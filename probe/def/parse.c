// SPDX-License-Identifier: BSD-2-Clause
/*
 * Probe definitions, taken apart. A definition is words between blanks: the
 * first is the place, each further one an argument. Keys stand before the
 * place, each closed by a ';', so that what is a key is known by its name
 * alone: "exec=" is one, "place=" names the event.
 *
 * In the place a character of "@:+%;=" ends a name unless it is quoted, has a
 * '\' before it, or is the ':' of a C++ "::". Which of FUNC and FILE a word
 * before ':' is, is decided by its look, as perf does it: no binary is asked.
 *
 * Every allocation belongs to the definition from the start; one that failed
 * to parse is emptied as a whole.
 */
#include "probe/def/def.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"

struct parser {
	const char *text;
	size_t pos;
	struct probe_def *def;
};

static const char *const keys[] = {"exec", "module", "inlines", "force"};

struct error *probe_def_error(const char *text, size_t at, int code, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&what, fmt, ap);
	va_end(ap);
	if (strbuf_failed(&what))
		return error_nomem();
	const size_t len = strlen(text);
	return error_new(code, "probe definition, column %zu:\n  '%s'\n   %*s\\___ %s",
			 min_of(at, len) + 1, text, (int)min_of(at, len), "", strbuf_str(&what));
}

#define fail(p, at, ...) probe_def_error((p)->text, at, EINVAL, __VA_ARGS__)

/* An error with the near ones of a few known words, else all of them, as its hint. */
static struct error *fail_word(struct parser *p, size_t at, const char *what, const char *word,
			       const char *const *known, size_t n)
{
	struct nearest near = nearest_make(word);
	_cleanup_strbuf_ struct strbuf hint = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		nearest_offer(&near, known[i]);
	struct error *err = fail(p, at, "unknown %s '%s'", what, word);
	err = error_suggest(err, &near);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&hint, "%s%s", i ? ", " : "", known[i]);
	return error_hint(err, "valid are: %s", strbuf_str(&hint));
}

static void arg_deinit(struct probe_arg *arg)
{
	free(arg->name);
	free(arg->text);
	free(arg->variable);
	for (size_t i = 0; i < arg->n_steps; i++)
		free(arg->steps[i].name);
	free(arg->steps);
}

void probe_def_deinit(struct probe_def *def)
{
	free(def->text);
	free(def->exec);
	free(def->module);
	free(def->group);
	free(def->event);
	free(def->function);
	free(def->file);
	free(def->pattern);
	for (size_t i = 0; i < def->n_args; i++)
		arg_deinit(&def->args[i]);
	free(def->args);
	*def = (struct probe_def){0};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool starts_ident(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t ident_len(const char *s)
{
	size_t n = 0;

	if (starts_ident(s[0]))
		while (is_ident(s[n]))
			n++;
	return n;
}

static void skip_blanks(struct parser *p)
{
	while (is_blank(p->text[p->pos]))
		p->pos++;
}

static char peek(const struct parser *p)
{
	return p->text[p->pos];
}

static bool accept(struct parser *p, const char *s)
{
	const size_t n = strlen(s);

	if (strncmp(p->text + p->pos, s, n))
		return false;
	p->pos += n;
	return true;
}

/* The symbol of a C++ operator, after "operator": "()", "->*"; 0: none. */
static size_t operator_len(const char *s)
{
	static const char *const symbols[] = {
		"->*", "<=>", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=",
		"&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+",
		"-",   "*",   "/",   "%",   "^",  "&",	"|",  "~",  "!",  "=",	"<",  ">",  ",",
	};

	/* A function that is called "operator", and its return. */
	if (!strncmp(s, "%return", 7) && !is_ident(s[7]))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		if (!strncmp(s, symbols[i], strlen(symbols[i])))
			return strlen(symbols[i]);
	return 0;
}

/* From a '(' or '<' to its ')' or '>'; 0: nothing closes it. */
static size_t group_len(const char *s)
{
	char closing[64];
	size_t depth = 0;

	for (size_t i = 0; s[i]; i++) {
		if (s[i] == '(' || s[i] == '<') {
			if (depth == sizeof(closing))
				return 0;
			closing[depth++] = s[i] == '(' ? ')' : '>';
		} else if ((s[i] == ')' || s[i] == '>') && (!i || s[i - 1] != '-')) {
			if (closing[--depth] != s[i])
				return 0;
			if (!depth)
				return i + 1;
		}
	}
	return 0;
}

/*
 * What belongs to a name of C++ or Rust though it has blanks or characters that end a place:
 * "operator+", "(anonymous namespace)", "<int, long>"; 0: nothing.
 */
static size_t name_part(const char *s, size_t at)
{
	static const char op[] = "operator";
	const size_t len = sizeof(op) - 1;

	if (s[at] == '(' || s[at] == '<')
		return group_len(s + at);
	if (strncmp(s + at, op, len) || (at && is_ident(s[at - 1])) || is_ident(s[at + len]))
		return 0;
	const size_t n = operator_len(s + at + len);
	return n ? len + n : 0;
}

/*
 * The length of the word at s up to one of stop, or a blank, that is neither quoted nor escaped nor
 * within a name; a "::" is no ':'. 0 at an open quote that nothing closes: *open.
 */
static size_t word_len(const char *s, const char *stop, bool *open)
{
	const bool is_name = strchr(stop, '@');
	char quote = 0;
	size_t i = 0, part;

	for (; s[i]; i++) {
		if (quote) {
			quote = s[i] == quote ? 0 : quote;
		} else if (s[i] == '\'' || s[i] == '"') {
			quote = s[i];
		} else if (s[i] == '\\' && s[i + 1]) {
			i++;
		} else if (s[i] == ':' && s[i + 1] == ':') {
			i++;
		} else if (is_name && (part = name_part(s, i))) {
			i += part - 1;
		} else if (is_blank(s[i]) || strchr(stop, s[i])) {
			break;
		}
	}
	if (open)
		*open = quote;
	return i;
}

/*
 * The next word up to one of stop, without its quotes and without the '\' before what stop has: one
 * before a character of a glob stays.
 */
static struct error *word(struct parser *p, const char *stop, const char *what, char **out)
{
	bool open;
	const size_t start = p->pos, n = word_len(p->text + start, stop, &open);
	_cleanup_free_ char *copy = malloc(n + 1);
	char quote = 0;
	size_t len = 0;

	if (!copy)
		return error_nomem();
	if (open)
		return fail(p, start, "a quote of this %s is not closed", what);
	for (const char *s = p->text + start, *end = s + n; s < end; s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"') {
			quote = quote ? 0 : *s;
			continue;
		}
		if (!quote && *s == '\\' && s + 1 < end) {
			if (strchr("*?[]\\", s[1]))
				copy[len++] = *s;
			s++;
		}
		copy[len++] = *s;
	}
	if (!len)
		return fail(p, start, "missing %s", what);
	copy[len] = 0;
	p->pos += n;
	free(*out);
	*out = steal_ptr(copy);
	return NULL;
}

static struct error *identifier(struct parser *p, const char *what, char **out)
{
	const size_t n = ident_len(p->text + p->pos);

	if (!n)
		return fail(p, p->pos, "missing %s", what);
	char *copy = strndup(p->text + p->pos, n);
	if (!copy)
		return error_nomem();
	free(*out);
	*out = copy;
	p->pos += n;
	return NULL;
}

/* A number without a sign, decimal or with 0x. */
static struct error *number(struct parser *p, const char *what, uint64_t max, uint64_t *out)
{
	const size_t start = p->pos;
	const bool hex = accept(p, "0x") || accept(p, "0X");
	const size_t digits = p->pos;
	uint64_t v = 0;

	for (;; p->pos++) {
		const unsigned char c = (unsigned char)peek(p);
		const unsigned base = hex ? 16 : 10;

		if (!(hex ? isxdigit(c) : isdigit(c)))
			break;
		const unsigned d = isdigit(c) ? c - '0' : (tolower(c) - 'a' + 10u);
		if (v > (max - d) / base || d > max)
			return fail(p, start, "this %s is too large", what);
		v = v * base + d;
	}
	if (p->pos == digits)
		return fail(p, digits, "expected a number here: the %s", what);
	if (is_ident(peek(p)))
		return fail(p, p->pos, "'%c' is not a digit", peek(p));
	*out = v;
	return NULL;
}

static struct error *yes_or_no(struct parser *p, size_t at, const char *value, bool *out)
{
	static const char *const values[] = {"yes", "no"};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (str_equal(value, values[i])) {
			*out = !i;
			return NULL;
		}
	return fail_word(p, at, "value", value, values, ARRAY_SIZE(values));
}

/* Whether what stands here is meant as a key that there is not, rather than as an event's name. */
static bool looks_like_key(const struct parser *p, const char *name, const char *value)
{
	struct nearest near = nearest_make(name);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const size_t n = word_len(value, ";", NULL);

	if (value[n] != ';')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		nearest_offer(&near, keys[i]);
	return value[0] == '/' || nearest_text(&near, &text);
}

static struct error *parse_keys(struct parser *p)
{
	for (;;) {
		skip_blanks(p);
		const size_t start = p->pos, n = ident_len(p->text + start);
		_cleanup_free_ char *key = strndup(p->text + start, n), *value = NULL;

		if (!key)
			return error_nomem();
		if (!n || p->text[start + n] != '=')
			return NULL;
		size_t which = 0;
		while (which < ARRAY_SIZE(keys) && !str_equal(key, keys[which]))
			which++;
		if (which == ARRAY_SIZE(keys)) {
			if (!looks_like_key(p, key, p->text + start + n + 1))
				return NULL;
			return fail_word(p, start, "key", key, keys, which);
		}
		p->pos = start + n + 1;
		const size_t at = p->pos;
		TRY(word(p, ";", "value", &value));
		skip_blanks(p);
		if (!accept(p, ";"))
			return error_hint(fail(p, p->pos, "';' is missing after the value of '%s'",
					       key),
					  "%s= is a key: write %s=%s;FUNCTION", key, key, value);
		struct probe_def *def = p->def;
		if (which < 2) {
			char **to = which ? &def->module : &def->exec;
			if (*to)
				return fail(p, start, "'%s' is given twice", key);
			*to = steal_ptr(value);
		} else {
			TRY(yes_or_no(p, at, value, which == 2 ? &def->inlines : &def->force));
		}
		if (def->exec && def->module)
			return fail(p, start, "exec and module cannot be used together");
	}
}

/* "[[GROUP:]EVENT=]" */
static struct error *parse_event(struct parser *p)
{
	const char *s = p->text + p->pos;

	if (s[word_len(s, "=;@+%", NULL)] != '=')
		return NULL;
	TRY(identifier(p, "event name", &p->def->event));
	if (accept(p, ":")) {
		p->def->group = steal_ptr(p->def->event);
		TRY(identifier(p, "event name", &p->def->event));
	}
	if (!accept(p, "="))
		return error_hint(fail(p, p->pos, "an event name cannot contain '%c'", peek(p)),
				  "use letters, digits and '_': GROUP:EVENT=FUNCTION");
	/* "e=exec=/bin/x;f": a key would be taken for a file, or a function. */
	const char *rest = p->text + p->pos;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const size_t n = strlen(keys[i]);

		if (!strncmp(rest, keys[i], n) && rest[n] == '=')
			return error_hint(fail(p, p->pos, "write keys before the event name"),
					  "%s=...;%s=FUNCTION", keys[i], p->def->event);
	}
	return NULL;
}

/* Of a source file; not ".isra.0" or ".cold". */
static bool has_ending(const char *s, size_t n)
{
	size_t dot = n;

	while (dot && s[dot - 1] != '.')
		dot--;
	if (!dot)
		return false;
	const char *ending = s + dot;
	const size_t len = n - dot;
	return strspn(ending, "0123456789") < len && !(len == 4 && !strncmp(ending, "cold", 4));
}

/* Whether the word before a ':' or ';' is a source file: "shop.c", not "f.isra.0" or "f.cold". */
static bool is_file(const char *s)
{
	const size_t n = word_len(s, ":;+@%", NULL);

	return (s[n] == ':' || s[n] == ';') && has_ending(s, n);
}

/* "%sdt_libc:setjmp", "sdt_libc:setjmp": perf probe's spelling of an SDT probe. */
static struct error *refuse_sdt(struct parser *p)
{
	const char *s = p->text + p->pos;
	const bool marked = *s == '%';
	const size_t n = ident_len(s + marked);
	const char *end = s + marked + n;

	if (!marked && (strncmp(s, "sdt_", 4) || *end != ':' || !starts_ident(end[1])))
		return NULL;
	return error_hint(fail(p, p->pos, "SDT probes cannot be used in a probe definition"),
			  "use a BPF program instead: SEC(\"usdt/PATH:PROVIDER:NAME\")");
}

static struct error *parse_place(struct parser *p)
{
	struct probe_def *def = p->def;
	bool placed = false;

	TRY(parse_event(p));
	TRY(refuse_sdt(p));
	const bool file = is_file(p->text + p->pos);
	if (file) {
		TRY(word(p, ":;", "file", &def->file));
	} else {
		const size_t at = p->pos;
		TRY(word(p, ":+%;@", "function", &def->function));
		/* The version of a symbol: "memcpy@@GLIBC_2.14" */
		if (peek(p) == '@' && p->text[p->pos + 1] == '@') {
			_cleanup_free_ char *version = NULL;
			p->pos += 2;
			TRY(word(p, ":+%;@", "version", &version));
			char *full = text_format("%s@%s", def->function, version);
			if (!full)
				return error_nomem();
			free(def->function);
			def->function = full;
		}
		if (!strncmp(p->text + p->pos, "@plt", 4) && !is_ident(p->text[p->pos + 4]) &&
		    p->text[p->pos + 4] != '.') {
			char *full = text_format("%s@plt", def->function);
			if (!full)
				return error_nomem();
			free(def->function);
			def->function = full;
			p->pos += 4;
		}
		if (def->function[0] == '*' && isdigit((unsigned char)def->function[1]))
			return fail(p, at,
				    "a probe point cannot be an address: use FUNCTION+OFFSET");
		def->is_glob = glob_is_pattern(def->function);
	}
	for (;;) {
		const size_t at = p->pos;
		const char c = peek(p);

		if (!c || is_blank(c))
			break;
		if (c == '@') {
			p->pos++;
			if (def->file)
				return fail(p, at, "the file is given twice");
			TRY(word(p, ":+%;@", "file", &def->file));
			continue;
		}
		if (placed)
			return fail(
				p, at,
				"only one of +OFFSET, %%return, :LINE and ;PATTERN can be used");
		placed = true;
		p->pos++;
		if (c == '+') {
			def->where = PROBE_OFFSET;
			TRY(number(p, "offset", UINT32_MAX, &def->offset));
		} else if (c == '%') {
			static const char *const words[] = {"return"};
			_cleanup_free_ char *what = NULL;

			TRY(identifier(p, "\"return\"", &what));
			if (!str_equal(what, "return"))
				return fail_word(p, at + 1, "probe point modifier", what, words, 1);
			def->where = PROBE_RETURN;
		} else if (c == ':') {
			uint64_t line;

			TRY(number(p, "line", UINT32_MAX, &line));
			if (file && !line)
				return fail(p, at + 1, "line numbers start at 1");
			/* A function's own line is its entry. */
			if (line)
				def->where = file ? PROBE_FILE_LINE : PROBE_LINE;
			def->line = (uint32_t)line;
		} else if (c == ';') {
			def->where = PROBE_PATTERN;
			TRY(word(p, "", "pattern", &def->pattern));
		} else {
			return fail(p, at, "unexpected '%c'", c);
		}
	}
	if (def->is_glob && (def->where == PROBE_LINE || def->where == PROBE_PATTERN) &&
	    !def->file && str_equal(def->function, "*"))
		return fail(p, 0, "a line needs a function or a file");
	return NULL;
}

/* ---- arguments ---- */

static struct error *parse_type(struct parser *p, struct probe_arg *arg)
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

	TRY(identifier(p, "type", &name));
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
		return fail_word(p, at, "type", name, known, ARRAY_SIZE(known));
	}
	p->pos = at + 1;
	TRY(number(p, "number of bits", 64, &width));
	if (!accept(p, "@"))
		return fail(p, p->pos, "write a bit field as bBITS@SHIFT/SIZE");
	TRY(number(p, "shift", 63, &shift));
	if (!accept(p, "/"))
		return fail(p, p->pos, "write a bit field as bBITS@SHIFT/SIZE");
	const size_t size_at = p->pos;
	TRY(number(p, "size", 64, &size));
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

void probe_type_text(const struct probe_arg *arg, struct strbuf *out)
{
	static const char letters[] = {
		[PROBE_TYPE_UNSIGNED] = 'u', [PROBE_TYPE_SIGNED] = 's', [PROBE_TYPE_HEX] = 'x'};

	switch (arg->type) {
	case PROBE_TYPE_NONE:
		break;
	case PROBE_TYPE_UNSIGNED:
	case PROBE_TYPE_SIGNED:
	case PROBE_TYPE_HEX:
		strbuf_addch(out, letters[arg->type]);
		if (arg->bits)
			strbuf_add_u64(out, arg->bits);
		break;
	case PROBE_TYPE_STRING:
		strbuf_adds(out, "string");
		break;
	case PROBE_TYPE_USTRING:
		strbuf_adds(out, "ustring");
		break;
	case PROBE_TYPE_BITS:
		strbuf_addf(out, "b%u@%u/%u", arg->bit_width, arg->bit_shift, arg->bits);
		break;
	case PROBE_TYPE_BOOL:
		strbuf_adds(out, "bool");
		break;
	case PROBE_TYPE_CHAR:
		strbuf_adds(out, "char");
		break;
	}
}

static struct error *step_add(struct parser *p, struct probe_arg *arg, enum probe_step_kind kind,
			      size_t at, struct probe_step **out)
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

static struct error *signed_number(struct parser *p, const char *what, int64_t *out)
{
	const bool negative = accept(p, "-");
	uint64_t v;

	TRY(number(p, what, INT32_MAX, &v));
	*out = negative ? -(int64_t)v : (int64_t)v;
	return NULL;
}

/* "$retval", "$stack2" */
static struct error *parse_special(struct parser *p, struct probe_arg *arg)
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
	const size_t n = ident_len(p->text + p->pos);
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
			TRY(number(p, "number", 4095, &v));
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
	return shown ? fail_word(p, at, "special variable", shown, known, ARRAY_SIZE(known))
		     : error_nomem();
}

/* "order", "Shop::count" */
static struct error *parse_variable(struct parser *p, struct probe_arg *arg)
{
	size_t n = 0;

	for (;;) {
		const size_t more = ident_len(p->text + p->pos + n);

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

static struct error *parse_base(struct parser *p, struct probe_arg *arg)
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
		return identifier(p, "register", &arg->variable);
	}
	if (c == '@') {
		p->pos++;
		arg->base = PROBE_SYMBOL;
		return parse_variable(p, arg);
	}
	arg->base = PROBE_VARIABLE;
	if (!starts_ident(c))
		return c && !is_blank(c) ? fail(p, at, "a variable cannot begin with '%c'", c)
					 : fail(p, at, "expected a variable here");
	return parse_variable(p, arg);
}

static struct error *parse_steps(struct parser *p, struct probe_arg *arg)
{
	for (;;) {
		const size_t at = p->pos;
		struct probe_step *step;

		if (accept(p, "->")) {
			TRY(step_add(p, arg, PROBE_ARROW, at, &step));
			TRY(identifier(p, "member", &step->name));
		} else if (accept(p, ".")) {
			TRY(step_add(p, arg, PROBE_MEMBER, at, &step));
			TRY(identifier(p, "member", &step->name));
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
static struct error *parse_path(struct parser *p, struct probe_arg *arg)
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
		TRY(number(p, "offset", INT32_MAX, &offset));
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
		arg->name = strdup(last ? last + 1 : name);
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

static struct error *parse_arg(struct parser *p)
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

	const size_t n = ident_len(p->text + p->pos);
	if (n && p->text[p->pos + n] == '=') {
		TRY(identifier(p, "name", &arg->name));
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

		TRY(identifier(p, "\"user\"", &user));
		if (!str_equal(user, "user"))
			return fail_word(p, user_at, "address space", user, words, 1);
		arg->user = true;
	}
	if (peek(p) && !is_blank(peek(p)))
		return fail(p, p->pos, "unexpected '%c'", peek(p));
	if (is_special(arg) && (arg->n_steps || (p->pos > type_at && arg->base != PROBE_COMM)))
		return fail(p, start, "%s cannot have members or a type", arg->text);
	if (arg->named && (arg->base == PROBE_PARAMS || arg->base == PROBE_VARS))
		return fail(p, at, "%s stands for several arguments and cannot have a name",
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

static struct error *name_args(struct parser *p)
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

static struct error *parse(struct parser *p)
{
	TRY(parse_keys(p));
	if (!peek(p))
		return fail(p, p->pos, "expected a function here");
	TRY(parse_place(p));
	for (;;) {
		skip_blanks(p);
		if (!peek(p))
			break;
		TRY(parse_arg(p));
	}
	return name_args(p);
}

struct error *probe_def_parse(const char *text, struct probe_def *def)
{
	struct probe_def new = {.inlines = true};
	struct parser p = {.text = text, .def = &new};

	new.text = strdup(text);
	if (!new.text)
		return error_nomem();
	struct error *err = strlen(text) > 1 << 16
				    ? error_new(E2BIG, "the probe definition is larger than 64 KiB")
				    : parse(&p);
	if (err) {
		probe_def_deinit(&new);
		return err;
	}
	*def = new;
	return NULL;
}

/* "vfs_read%return", "vfs_read:3", "vfs_read+4" */
static bool has_spot(const char *section)
{
	const char *s = section + word_len(section, ":+%;@", NULL);

	if (s == section || !*s)
		return false;
	return *s == '%' ? !strcmp(s, "%return")
			 : strchr(":+", *s) && s[1] && !s[1 + strspn(s + 1, "0123456789")];
}

bool probe_is_source(const char *word)
{
	const size_t n = word_len(word, ":;+@%", NULL);

	return !word[n] && has_ending(word, n);
}

bool probe_def_is(const char *section)
{
	if (section[0] == '?')
		section++;
	const size_t n = ident_len(section);
	if (n && section[n] == '=')
		return true;
	/* GROUP:EVENT= */
	if (n && section[n] == ':') {
		const size_t m = ident_len(section + n + 1);
		if (m && section[n + 1 + m] == '=')
			return true;
	}
	/* Words after the place; the library's own sections with a target have a '/'. */
	const size_t first = word_len(section, "", NULL);
	if (!first)
		return false;
	if (memchr(section, '/', first))
		return section[first] && is_file(section);
	return section[first] || has_spot(section);
}
