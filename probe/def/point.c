// SPDX-License-Identifier: BSD-2-Clause
/*
 * What stands before the arguments. Keys are closed by a ';' each, so that what is a
 * key is known by its name alone: "exec=" is one, "place=" names the event. Which of
 * FUNC and FILE a word before ':' is, is decided by its look, as perf does it: no
 * binary is asked.
 */
#include <stdlib.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "probe/def/internal.h"

static const char *const keys[] = {"exec", "module", "inlines", "force", "unsure"};

static struct error *yes_or_no(struct def_parser *p, size_t at, const char *value, bool *out)
{
	static const char *const values[] = {"yes", "no"};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (str_equal(value, values[i])) {
			*out = !i;
			return NULL;
		}
	return def_fail_word(p, at, "value", value, values, ARRAY_SIZE(values));
}

/* Whether what stands here is meant as a key that there is not, rather than as an event's name. */
static bool looks_like_key(const struct def_parser *p, const char *name, const char *value)
{
	struct nearest near = nearest_make(name);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const size_t n = def_word_len(value, ";", NULL);

	if (value[n] != ';')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		nearest_offer(&near, keys[i]);
	return value[0] == '/' || nearest_text(&near, &text);
}

struct error *def_parse_keys(struct def_parser *p)
{
	for (;;) {
		skip_blanks(p);
		const size_t start = p->pos, n = def_ident_len(p->text + start);
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
			return def_fail_word(p, start, "key", key, keys, which);
		}
		p->pos = start + n + 1;
		const size_t at = p->pos;
		TRY(def_word(p, ";", "value", &value));
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
			bool *const flags[] = {&def->inlines, &def->force, &def->unsure};

			TRY(yes_or_no(p, at, value, flags[which - 2]));
		}
		if (def->exec && def->module)
			return fail(p, start, "exec and module cannot be used together");
	}
}

/* "[[GROUP:]EVENT=]" */
static struct error *parse_event(struct def_parser *p)
{
	const char *s = p->text + p->pos;

	if (s[def_word_len(s, "=;@+%", NULL)] != '=')
		return NULL;
	TRY(def_identifier(p, "event name", &p->def->event));
	if (accept(p, ":")) {
		p->def->group = steal_ptr(p->def->event);
		TRY(def_identifier(p, "event name", &p->def->event));
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
	const size_t n = def_word_len(s, ":;+@%", NULL);

	return (s[n] == ':' || s[n] == ';') && has_ending(s, n);
}

/* "%sdt_libc:setjmp", "sdt_libc:setjmp": perf probe's spelling of an SDT probe. */
static struct error *refuse_sdt(struct def_parser *p)
{
	const char *s = p->text + p->pos;
	const bool marked = *s == '%';
	const size_t n = def_ident_len(s + marked);
	const char *end = s + marked + n;

	if (!marked && (strncmp(s, "sdt_", 4) || *end != ':' || !starts_ident(end[1])))
		return NULL;
	return error_hint(fail(p, p->pos, "SDT probes cannot be used in a probe definition"),
			  "use a BPF program instead: SEC(\"usdt/PATH:PROVIDER:NAME\")");
}

struct error *def_parse_point(struct def_parser *p)
{
	struct probe_def *def = p->def;
	bool placed = false;

	TRY(parse_event(p));
	TRY(refuse_sdt(p));
	const bool file = is_file(p->text + p->pos);
	if (file) {
		TRY(def_word(p, ":;", "file", &def->file));
	} else {
		const size_t at = p->pos;
		TRY(def_word(p, ":+%;@", "function", &def->function));
		/* The version of a symbol: "memcpy@@GLIBC_2.14" */
		if (peek(p) == '@' && p->text[p->pos + 1] == '@') {
			_cleanup_free_ char *version = NULL;
			p->pos += 2;
			TRY(def_word(p, ":+%;@", "version", &version));
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
			TRY(def_word(p, ":+%;@", "file", &def->file));
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
			TRY(def_number(p, "offset", UINT32_MAX, &def->offset));
		} else if (c == '%') {
			static const char *const words[] = {"return"};
			_cleanup_free_ char *what = NULL;

			TRY(def_identifier(p, "\"return\"", &what));
			if (!str_equal(what, "return"))
				return def_fail_word(p, at + 1, "probe point modifier", what, words,
						     1);
			def->where = PROBE_RETURN;
		} else if (c == ':') {
			uint64_t line;

			TRY(def_number(p, "line", UINT32_MAX, &line));
			if (file && !line)
				return fail(p, at + 1, "line numbers start at 1");
			/* A function's own line is its entry. */
			if (line)
				def->where = file ? PROBE_FILE_LINE : PROBE_LINE;
			def->line = (uint32_t)line;
		} else if (c == ';') {
			def->where = PROBE_PATTERN;
			TRY(def_word(p, "", "pattern", &def->pattern));
		} else {
			return fail(p, at, "unexpected '%c'", c);
		}
	}
	if (def->is_glob && (def->where == PROBE_LINE || def->where == PROBE_PATTERN) &&
	    !def->file && str_equal(def->function, "*"))
		return fail(p, 0, "a line needs a function or a file");
	return NULL;
}

/* "vfs_read%return", "vfs_read:3", "vfs_read+4" */
static bool has_spot(const char *section)
{
	const char *s = section + def_word_len(section, ":+%;@", NULL);

	if (s == section || !*s)
		return false;
	return *s == '%' ? !strcmp(s, "%return")
			 : strchr(":+", *s) && s[1] && !s[1 + strspn(s + 1, "0123456789")];
}

bool probe_is_source(const char *word)
{
	const size_t n = def_word_len(word, ":;+@%", NULL);

	return !word[n] && has_ending(word, n);
}

bool probe_def_is(const char *section)
{
	if (section[0] == '?')
		section++;
	const size_t n = def_ident_len(section);
	if (n && section[n] == '=')
		return true;
	/* GROUP:EVENT= */
	if (n && section[n] == ':') {
		const size_t m = def_ident_len(section + n + 1);
		if (m && section[n + 1 + m] == '=')
			return true;
	}
	/* Words after the place; the library's own sections with a target have a '/'. */
	const size_t first = def_word_len(section, "", NULL);
	if (!first)
		return false;
	if (memchr(section, '/', first))
		return section[first] && is_file(section);
	return section[first] || has_spot(section);
}
