// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditions and C differ in the order of their operators: '&' and '!' are refused where that would
 * make a difference.
 */
#include "trace/call_body.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"

enum {
	DEPTH_MAX = 64, /* of brackets */
};

/* An operand of && and ||: which operators it has. */
struct operand {
	bool has_mask, has_not, compares;
};

struct body_reader {
	const char *text;
	size_t at, end;
	struct strbuf out;
	struct operand operands[DEPTH_MAX];
	unsigned depth;
};

static struct error *wrong(const struct body_reader *r, size_t at, const char *what)
{
	return error_mark_usage(error_in_text(EINVAL, "-e", r->text, at, "%s", what));
}

bool call_body_is(const char *text)
{
	const char *brace = strchr(text, '{');

	if (!brace || !strchr(brace, '}') || !strncmp(text, "probe:", 6))
		return false;
	while (brace > text && isspace((unsigned char)brace[-1]))
		brace--;
	return brace > text && brace[-1] != ',';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t skip_blanks(const struct body_reader *r, size_t at)
{
	while (at < r->end && isspace((unsigned char)r->text[at]))
		at++;
	return at;
}

static void add_blanks(struct body_reader *r, size_t n)
{
	while (n--)
		strbuf_addch(&r->out, ' ');
}

/* args->NAME becomes args.NAME, str(NAME) and retval are what conditions call NAME and ret. */
static void read_name(struct body_reader *r)
{
	const char *name = r->text + r->at;
	size_t n = 0;

	while (r->at + n < r->end && is_name(name[n]))
		n++;
	const size_t next = skip_blanks(r, r->at + n);
	if (n == 4 && !strncmp(name, "args", 4) && !strncmp(r->text + next, "->", 2)) {
		const size_t member = skip_blanks(r, next + 2);

		add_blanks(r, member - r->at - 5);
		strbuf_adds(&r->out, "args.");
		r->at = member;
		return;
	}
	if (n == 3 && !strncmp(name, "str", 3) && r->text[next] == '(')
		add_blanks(r, n);
	else if (n == 6 && !strncmp(name, "retval", 6))
		strbuf_adds(&r->out, "ret   ");
	else
		strbuf_add(&r->out, name, n);
	r->at += n;
}

static struct error *read_string(struct body_reader *r)
{
	const size_t begin = r->at;

	for (r->at++; r->at < r->end && r->text[r->at] != '"'; r->at++)
		r->at += r->text[r->at] == '\\';
	if (r->at >= r->end)
		return wrong(r, begin, "this string is not closed");
	r->at++;
	strbuf_add(&r->out, r->text + begin, r->at - begin);
	return NULL;
}

static struct error *check_operand(const struct body_reader *r, size_t at)
{
	const struct operand *o = &r->operands[r->depth];

	if (o->has_mask && o->compares)
		return wrong(r, at,
			     "in C, a comparison comes before '&': put one of them in brackets");
	if (o->has_not && (o->has_mask || o->compares))
		return wrong(r, at, "in C, '!' comes first: put what it is for in brackets");
	return NULL;
}

/* Brackets and operators: what they mean for the operand, which keeps their text. */
static struct error *read_operator(struct body_reader *r)
{
	const char *p = r->text + r->at;
	struct operand *o = &r->operands[r->depth];
	const size_t at = r->at;
	size_t n = 1;

	if (!strncmp(p, "&&", 2) || !strncmp(p, "||", 2)) {
		*o = (struct operand){0};
		n = 2;
	} else if (!strncmp(p, "==", 2) || !strncmp(p, "!=", 2) || !strncmp(p, "<=", 2) ||
		   !strncmp(p, ">=", 2)) {
		o->compares = true;
		n = 2;
	} else if (*p == '<' || *p == '>') {
		o->compares = true;
	} else if (*p == '&') {
		o->has_mask = true;
	} else if (*p == '!') {
		o->has_not = true;
	} else if (*p == '(') {
		if (++r->depth == DEPTH_MAX)
			return wrong(r, at, "these are too many brackets");
		r->operands[r->depth] = (struct operand){0};
	} else if (*p == ')') {
		if (!r->depth)
			return wrong(r, at, "no '(' is open here");
		r->depth--;
	} else if (!isspace((unsigned char)*p) && *p != '-') {
		return error_hint(wrong(r, at, "this is not possible in a body of trace"),
				  "it returns comparisons of arguments with numbers and strings, "
				  "with &, !, && and ||; perf-bpf run takes all of C");
	}
	strbuf_add(&r->out, p, n);
	r->at += n;
	return check_operand(r, at);
}

static struct error *read_condition(struct body_reader *r)
{
	while (r->at < r->end && r->text[r->at] != ';') {
		if (r->text[r->at] == '"')
			TRY(read_string(r));
		else if (is_name(r->text[r->at]))
			read_name(r);
		else
			TRY(read_operator(r));
	}
	if (r->at >= r->end)
		return wrong(r, r->end, "';' is missing here");
	const size_t behind = skip_blanks(r, r->at + 1);
	return behind == r->end ? NULL
				: error_hint(wrong(r, behind, "nothing can follow the value"),
					     "a body of trace is { return CONDITION; }");
}

struct error *call_body_read(const char *text, char **calls, char **condition)
{
	const char *brace = strchr(text, '{'), *close = strrchr(text, '}');
	struct body_reader r = {
		.text = text, .at = brace - text + 1, .end = close - text, .out = STRBUF_INIT};
	_cleanup_free_ char *names = NULL;
	size_t n = brace - text;

	if (close[1 + strspn(close + 1, " \t\n")])
		return wrong(&r, r.end + 1 + strspn(close + 1, " \t\n"),
			     "an argument of -e has one body");
	r.at = skip_blanks(&r, r.at);
	if (strncmp(text + r.at, "return", 6) != 0 || is_name(text[r.at + 6]))
		return error_hint(wrong(&r, r.at, "'return' is missing here"),
				  "a body of trace is { return CONDITION; }");
	r.at += 6;
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	names = strndup(text, n);
	add_blanks(&r, r.at);
	struct error *err = names ? read_condition(&r) : error_nomem();
	if (!err && strbuf_failed(&r.out))
		err = error_nomem();
	if (err) {
		strbuf_deinit(&r.out);
		return err;
	}
	*condition = strbuf_steal(&r.out);
	*calls = steal_ptr(names);
	return NULL;
}
