/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser of definitions: words.c has its words, point.c the keys, the event's name
 * and the probe point, arguments.c the arguments, parse_probe.c the whole.
 */
#ifndef PB_PROBE_DEF_INTERNAL_H
#define PB_PROBE_DEF_INTERNAL_H

#include <ctype.h>
#include <string.h>

#include "probe/def/def.h"

struct def_parser {
	const char *text;
	size_t pos;
	struct probe_def *def;
};

#define fail(p, at, ...) probe_def_error((p)->text, at, EINVAL, __VA_ARGS__)

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool starts_ident(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static inline bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static inline void skip_blanks(struct def_parser *p)
{
	while (is_blank(p->text[p->pos]))
		p->pos++;
}

static inline char peek(const struct def_parser *p)
{
	return p->text[p->pos];
}

static inline bool accept(struct def_parser *p, const char *s)
{
	const size_t n = strlen(s);

	if (strncmp(p->text + p->pos, s, n))
		return false;
	p->pos += n;
	return true;
}

/* ---- words.c ---- */

/* Of the identifier at s; 0: there is none. */
size_t def_ident_len(const char *s);

/*
 * The length of the word at s up to one of stop, or a blank, that is neither quoted nor escaped nor
 * within a name; a "::" is not a ':'. 0 at an open quote that nothing closes: *open.
 */
size_t def_word_len(const char *s, const char *stop, bool *open);

/*
 * The next word up to one of stop, without its quotes and without the '\' before what stop has: one
 * before a character of a glob stays. what is for messages; *out is replaced.
 */
struct error *def_word(struct def_parser *p, const char *stop, const char *what, char **out);
struct error *def_identifier(struct def_parser *p, const char *what, char **out);
/* A number without a sign, decimal or with 0x. */
struct error *def_number(struct def_parser *p, const char *what, uint64_t max, uint64_t *out);

/* An error with the near ones of a few known words, else all of them, as its hint. */
struct error *def_fail_word(struct def_parser *p, size_t at, const char *what, const char *word,
			    const char *const *known, size_t n);

/* ---- point.c ---- */

struct error *def_parse_keys(struct def_parser *p);
/* "[[GROUP:]EVENT=]FUNC[@FILE][+OFFSET|%return|:LINE|;PATTERN]" */
struct error *def_parse_point(struct def_parser *p);

/* ---- arguments.c ---- */

struct error *def_parse_arg(struct def_parser *p);
/* Gives the arguments that have the same name different ones. */
struct error *def_name_args(struct def_parser *p);

#endif
