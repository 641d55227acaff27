// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events and bodies. An event's text ends at a comma or at the brace of its body; quotes and
 * brackets keep both, for the paths and names in probe definitions. A probe definition has words,
 * and may have commas: it is the last event of its clause.
 */
#include <ctype.h>

#include "oneliner/internal.h"

void clauses_deinit(struct clauses *clauses)
{
	struct clause *c;

	vec_for_each (c, clauses) {
		struct event *e;

		vec_for_each (e, &c->resolved)
			clause_event_deinit(e);
		vec_deinit(&c->resolved);
		vec_deinit(&c->events);
		vec_deinit(&c->tokens);
	}
	vec_deinit(clauses);
}

/* C++'s names of what has none have braces: main::{lambda(int)#1}::operator() */
static bool is_in_name(const char *text, size_t brace)
{
	return brace >= 2 && text[brace - 1] == ':' && text[brace - 2] == ':';
}

const char *oneliner_body(const char *text)
{
	const char *brace = strchr(text, '{');

	while (brace && is_in_name(text, (size_t)(brace - text)))
		brace = strchr(brace + 1, '{');
	return brace;
}

bool oneliner_is(const char *word)
{
	const char *brace = oneliner_body(word);

	return brace && strchr(brace, '}');
}

/* The end of an event's text that begins at `at`. */
static struct error *event_end(const char *name, const char *text, size_t at, size_t *end)
{
	const bool is_probe = !strncmp(text + at, "probe:", 6);
	size_t p = at;

	for (; text[p] && (text[p] != '{' || is_in_name(text, p)) && (is_probe || text[p] != ',');
	     p++) {
		const char quote = text[p];

		if (text[p] == '\\' && text[p + 1])
			p++;
		if (quote != '"' && quote != '\'')
			continue;
		const char *close = strchr(text + p + 1, quote);
		if (!close)
			return oneliner_error(EINVAL, name, text, p, "this quote is not closed");
		p = close - text;
	}
	if (!text[p])
		return error_hint(oneliner_error(EINVAL, name, text, at,
						 "this event has no body in { }"),
				  "syscalls:sys_exit_read { hist(args->ret); }");
	*end = p;
	return NULL;
}

/* Behind a string, a character or a comment that begins at p; p + 1: nothing of these begins. */
static size_t skip_opaque(const char *text, size_t p)
{
	const char c = text[p];

	if (c == '"' || c == '\'') {
		for (p++; text[p] && text[p] != c && text[p] != '\n'; p++)
			if (text[p] == '\\' && text[p + 1])
				p++;
	} else if (c == '/' && text[p + 1] == '/') {
		p += strcspn(text + p, "\n");
	} else if (c == '/' && text[p + 1] == '*') {
		const char *close = strstr(text + p + 2, "*/");

		p = close ? (size_t)(close - text) + 1 : strlen(text);
	}
	return text[p] ? p + 1 : p;
}

/* The brace that closes the one at `at`. What is behind it is not C. */
static struct error *body_end(const char *name, const char *text, size_t at, size_t *end)
{
	size_t depth = 0;

	for (size_t p = at; text[p]; p = skip_opaque(text, p)) {
		if (text[p] == '{')
			depth++;
		if (text[p] != '}' || --depth)
			continue;
		*end = p;
		return NULL;
	}
	return oneliner_error(EINVAL, name, text, at, "this brace is not closed");
}

static size_t skip_space(const char *text, size_t p)
{
	while (isspace((unsigned char)text[p]))
		p++;
	if (text[p] == '/' && (text[p + 1] == '/' || text[p + 1] == '*'))
		return skip_space(text, skip_opaque(text, p));
	return p;
}

static struct error *read_clause(const char *name, const char *text, size_t *p, struct clause *c)
{
	for (;;) {
		size_t end = *p;

		TRY(event_end(name, text, *p, &end));
		struct event_name *e = vec_push(&c->events);
		if (!e)
			return error_nomem();
		*e = (struct event_name){*p, end - *p};
		while (e->len && isspace((unsigned char)text[e->at + e->len - 1]))
			e->len--;
		if (!e->len)
			return oneliner_error(EINVAL, name, text, *p, "an event is missing here");
		*p = end;
		if (text[end] == '{')
			break;
		*p = skip_space(text, end + 1);
	}
	TRY(body_end(name, text, *p, &c->body_end));
	c->body = *p + 1;
	*p = skip_space(text, c->body_end + 1);
	return NULL;
}

struct error *clauses_read(const char *name, const char *text, struct clauses *out)
{
	size_t p = 0;

	if (strlen(text) > TEXT_MAX)
		return error_new(E2BIG, "%s: the text is longer than %d bytes", name, TEXT_MAX);
	if (!strncmp(text, "#!", 2))
		p = strcspn(text, "\n");
	p = skip_space(text, p);
	do {
		struct clause *c = vec_push(out);

		if (!c)
			return error_nomem();
		*c = (struct clause){0};
		TRY(read_clause(name, text, &p, c));
	} while (text[p]);
	return NULL;
}
