// SPDX-License-Identifier: BSD-2-Clause
/* C, as far as is needed to find names, calls and brackets. Comments are blanks. */
#include <ctype.h>

#include "oneliner/internal.h"

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

struct reader {
	const char *name, *text;
	size_t at, end;
};

static char look(const struct reader *r, size_t ahead)
{
	return r->at + ahead < r->end ? r->text[r->at + ahead] : 0;
}

/* Blanks and comments. */
static struct error *skip_blanks(struct reader *r)
{
	while (r->at < r->end) {
		if (isspace((unsigned char)look(r, 0))) {
			r->at++;
		} else if (look(r, 0) == '/' && look(r, 1) == '/') {
			while (r->at < r->end && look(r, 0) != '\n')
				r->at++;
		} else if (look(r, 0) == '/' && look(r, 1) == '*') {
			const size_t begin = r->at;

			for (r->at += 2; look(r, 0) != '*' || look(r, 1) != '/'; r->at++)
				if (r->at >= r->end)
					return oneliner_error(EINVAL, r->name, r->text, begin,
							      "this comment is not closed");
			r->at += 2;
		} else {
			break;
		}
	}
	return NULL;
}

static struct error *read_quoted(struct reader *r, char quote)
{
	const size_t begin = r->at++;

	for (; r->at < r->end && look(r, 0) != quote && look(r, 0) != '\n'; r->at++)
		if (look(r, 0) == '\\')
			r->at++;
	if (r->at >= r->end || look(r, 0) != quote)
		return oneliner_error(EINVAL, r->name, r->text, begin, "this %s is not closed",
				      quote == '"' ? "string" : "character");
	r->at++;
	return NULL;
}

/* The longest operators first. */
static size_t operator_length(const struct reader *r)
{
	static const char *const operators[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
						"<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
						"*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		const size_t len = strlen(operators[i]);

		if (r->end - r->at >= len && !memcmp(r->text + r->at, operators[i], len))
			return len;
	}
	return 1;
}

/* Digits, and what C calls a preprocessing number: 0x1f, 1e-3, 10ull. */
static void read_number(struct reader *r)
{
	while (is_name(look(r, 0)) || look(r, 0) == '.' ||
	       ((look(r, 0) == '+' || look(r, 0) == '-') && strchr("eEpP", r->text[r->at - 1]) &&
		r->text[r->at - 1]))
		r->at++;
}

static struct error *read_token(struct reader *r, struct token *t)
{
	const char c = look(r, 0);

	if (c == '"' || c == '\'') {
		t->kind = c == '"' ? TOKEN_STRING : TOKEN_CHAR;
		return read_quoted(r, c);
	}
	if (c == '#') {
		t->kind = TOKEN_LINE;
		while (r->at < r->end && (look(r, 0) != '\n' || r->text[r->at - 1] == '\\'))
			r->at++;
		return NULL;
	}
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)look(r, 1)))) {
		t->kind = TOKEN_NUMBER;
		read_number(r);
	} else if (is_name(c)) {
		t->kind = TOKEN_NAME;
		while (is_name(look(r, 0)))
			r->at++;
	} else {
		t->kind = TOKEN_PUNCT;
		r->at += operator_length(r);
	}
	return NULL;
}

struct error *tokens_read(const char *name, const char *text, size_t at, size_t end,
			  struct tokens *out)
{
	struct reader r = {name, text, at, end};

	for (;;) {
		const size_t before = r.at;

		TRY(skip_blanks(&r));
		struct token *t = vec_push(out);
		if (!t)
			return error_nomem();
		*t = (struct token){.at = r.at, .spaced = r.at != before};
		if (r.at >= end) {
			out->n--;
			return NULL;
		}
		TRY(read_token(&r, t));
		t->len = min_of(r.at, end) - t->at;
	}
}

bool token_is(const char *text, const struct token *t, const char *word)
{
	return t->kind != TOKEN_END && t->len == strlen(word) &&
	       !memcmp(text + t->at, word, t->len);
}
