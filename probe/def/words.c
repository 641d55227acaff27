// SPDX-License-Identifier: BSD-2-Clause
/*
 * The words of definitions. In the probe point a character of "@:+%;=" ends a name
 * unless it is quoted, has a '\' before it, or is the ':' of a C++ "::".
 */
#include <stdlib.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "probe/def/internal.h"

size_t def_ident_len(const char *s)
{
	size_t n = 0;

	if (starts_ident(s[0]))
		while (is_ident(s[n]))
			n++;
	return n;
}

struct error *def_fail_word(struct def_parser *p, size_t at, const char *what, const char *word,
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

size_t def_word_len(const char *s, const char *stop, bool *open)
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

struct error *def_word(struct def_parser *p, const char *stop, const char *what, char **out)
{
	bool open;
	const size_t start = p->pos, n = def_word_len(p->text + start, stop, &open);
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

struct error *def_identifier(struct def_parser *p, const char *what, char **out)
{
	const size_t n = def_ident_len(p->text + p->pos);

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

struct error *def_number(struct def_parser *p, const char *what, uint64_t max, uint64_t *out)
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
