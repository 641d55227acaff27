// SPDX-License-Identifier: BSD-2-Clause
/*
 * The grammar of `-e`, as select.h has it, read by recursive descent over the
 * bytes of the text. There is no table of names here: which words are events
 * is found out later (resolve_events.c), with one exception. "a:b" is a tracepoint
 * unless `a` is one of the names that perf knows by itself, when b is a list
 * of modifiers; so the parser asks select_name_known().
 *
 * A path and a PMU with terms look alike ("dir/filter.c/x=1/", "cpu/x=1/").
 * An item is a path when, before the next comma or brace and before any '=',
 * ".c" or ".o" ends it: at the end of the item, or before '|', or before a
 * '/' whose terms are closed by another '/'.
 */
#include "perf/select/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"

struct events_parser {
	const char *text;
	size_t pos;
};

static void term_deinit(struct select_term *term)
{
	free(term->name);
	free(term->value);
}

static void item_deinit(struct select_item *item)
{
	struct select_term *term;

	free(item->text);
	free(item->system);
	free(item->name);
	free(item->prog.path);
	vec_for_each (term, &item->terms)
		term_deinit(term);
	vec_deinit(&item->terms);
}

void select_list_deinit(struct select_list *list)
{
	struct select_item *item;

	vec_for_each (item, &list->items)
		item_deinit(item);
	vec_deinit(&list->items);
	free(list->text);
	list->text = NULL;
}

static char peek(const struct events_parser *p)
{
	return p->text[p->pos];
}

static bool accept(struct events_parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->pos++;
	return true;
}

static struct error *copy(const char *from, size_t n, char **to)
{
	char *s = strndup(from, n);

	if (!s)
		return error_nomem();
	free(*to);
	*to = s;
	return NULL;
}

static bool ends_item(char c)
{
	return !c || c == ',' || c == '}';
}

/*
 * The end of a term's value: a comma or slash outside of brackets and quotes.
 * A map's index list holds commas: value[0,3-5].
 */
static struct error *value_end(struct events_parser *p, size_t *end)
{
	size_t open = 0;
	bool in_brackets = false;

	for (size_t i = p->pos;; i++) {
		char c = p->text[i];

		if (!c && in_brackets)
			return select_error(p->text, open, "this bracket is not closed");
		if (c == '[' && !in_brackets) {
			in_brackets = true;
			open = i;
		} else if (c == ']') {
			in_brackets = false;
		} else if (!c || (!in_brackets && (c == ',' || c == '/'))) {
			*end = i;
			return NULL;
		}
	}
}

static struct error *parse_term(struct events_parser *p, struct select_item *item)
{
	size_t start = p->pos, end;
	struct select_term *term = vec_push(&item->terms);

	if (!term)
		return error_nomem();
	term->pos = start;
	/* The name ends at '='; an index list may stand before it. */
	bool in_brackets = false;
	for (end = start; p->text[end]; end++) {
		char c = p->text[end];

		if (c == '[')
			in_brackets = true;
		else if (c == ']')
			in_brackets = false;
		else if (c == '=' || (!in_brackets && (c == ',' || c == '/')))
			break;
	}
	if (in_brackets)
		return select_error(p->text, start, "a bracket of this term is not closed");
	if (end == start)
		return select_error(p->text, start, "expected a term here");
	TRY(copy(p->text + start, end - start, &term->name));
	p->pos = end;
	if (!accept(p, '='))
		return NULL;
	if (accept(p, '\'')) {
		const char *close = strchr(p->text + p->pos, '\'');

		if (!close)
			return select_error(p->text, p->pos - 1, "this quote is not closed");
		end = close - p->text;
		TRY(copy(p->text + p->pos, end - p->pos, &term->value));
		p->pos = end + 1;
		return NULL;
	}
	TRY(value_end(p, &end));
	if (end == p->pos)
		return select_error(p->text, p->pos, "'%s' has no value", term->name);
	TRY(copy(p->text + p->pos, end - p->pos, &term->value));
	p->pos = end;
	return NULL;
}

/* TERMS '/', after the first slash; none at all are allowed ("cpu//"). */
static struct error *parse_terms(struct events_parser *p, struct select_item *item)
{
	size_t open = p->pos - 1;

	if (accept(p, '/'))
		return NULL;
	for (;;) {
		TRY(parse_term(p, item));
		if (accept(p, '/'))
			return NULL;
		if (!peek(p))
			return select_error(p->text, open, "the terms have no closing '/'");
		if (!accept(p, ','))
			return select_error(p->text, p->pos, "expected ',' or '/' here");
	}
}

static struct error *parse_modifiers(struct events_parser *p, struct select_modifiers *m)
{
	size_t start = p->pos;

	for (;; p->pos++) {
		switch (peek(p)) {
		case 'u':
			m->given_levels = m->user = true;
			break;
		case 'k':
			m->given_levels = m->kernel = true;
			break;
		case 'h':
			m->given_levels = m->hv = true;
			break;
		case 'G':
			m->given_hosts = m->guest = true;
			break;
		case 'H':
			m->given_hosts = m->host = true;
			break;
		case 'I':
			m->idle_excluded = true;
			break;
		case 'p':
			if (m->precise == 3)
				return select_error(p->text, p->pos,
						    "at most three 'p' are allowed");
			m->precise++;
			break;
		case 'P':
			m->precise_max = true;
			break;
		case 'S':
			m->sample_read = true;
			break;
		case 'D':
			m->pinned = true;
			break;
		case 'e':
			m->exclusive = true;
			break;
		case 'W':
			m->weak = true;
			break;
		default:
			if (!ends_item(peek(p)) && peek(p) != '|')
				return select_error(
					p->text, p->pos,
					"invalid modifier '%c' (valid are u k h G H I p P S D e W)",
					peek(p));
			if (p->pos == start)
				return select_error(p->text, start, "expected a modifier here");
			return NULL;
		}
	}
}

static struct error *parse_number(struct events_parser *p, uint32_t *number)
{
	size_t start = p->pos;
	uint64_t v = 0;

	while (isdigit((unsigned char)peek(p)) && v <= UINT32_MAX)
		v = v * 10 + (p->text[p->pos++] - '0');
	if (p->pos == start || v > INT32_MAX)
		return select_error(p->text, start, "expected a number here");
	*number = v;
	return NULL;
}

/* bpf_fd=N| and its like, after the first bar. */
static struct error *parse_prog(struct events_parser *p, struct select_prog *prog)
{
	size_t start = p->pos;

	if (!strncmp(p->text + start, "bpf_fd=", 7)) {
		p->pos += 7;
		prog->kind = SELECT_PROG_FD;
		TRY(parse_number(p, &prog->number));
	} else if (!strncmp(p->text + start, "bpf_id=", 7)) {
		p->pos += 7;
		prog->kind = SELECT_PROG_ID;
		TRY(parse_number(p, &prog->number));
	} else if (!strncmp(p->text + start, "bpf_pin=", 8)) {
		p->pos += 8;
		prog->kind = SELECT_PROG_PIN;
		size_t n = strcspn(p->text + p->pos, "|");
		if (!n)
			return select_error(p->text, p->pos, "expected a path here");
		TRY(copy(p->text + p->pos, n, &prog->path));
		p->pos += n;
	} else {
		return select_error(p->text, start, "expected bpf_fd=N, bpf_id=N or bpf_pin=PATH");
	}
	if (!accept(p, '|'))
		return select_error(p->text, p->pos, "expected a closing '|' here");
	return NULL;
}

/* Where the path that begins here ends; 0: no path does. */
static size_t path_end(const struct events_parser *p)
{
	const char *s = p->text + p->pos;
	size_t limit = strcspn(s, ",{}=|");

	for (size_t i = 1; i + 1 < limit; i++) {
		if (s[i] != '.' || (s[i + 1] != 'c' && s[i + 1] != 'o'))
			continue;
		char after = s[i + 2];
		if (ends_item(after) || after == '|')
			return p->pos + i + 2;
		if (after != '/')
			continue;
		/* Terms close with a slash that ends the item. */
		bool in_brackets = false;
		for (size_t k = i + 3; s[k]; k++) {
			if (s[k] == '[')
				in_brackets = true;
			else if (s[k] == ']')
				in_brackets = false;
			else if (s[k] == '/' && !in_brackets &&
				 (ends_item(s[k + 1]) || s[k + 1] == '|'))
				return p->pos + i + 2;
		}
	}
	return 0;
}

/*
 * "probe:" and a definition (see probe/def/def.h), which may hold blanks, commas
 * in quotes and slashes: it is all the rest. A bare name may be a tracepoint that somebody
 * made by perf probe: resolve_events.c looks.
 */
static bool is_probe(const struct events_parser *p)
{
	const char *s = p->text + p->pos;

	if (strncmp(s, "probe:", 6))
		return false;
	s += 6;
	const char *colon = strchr(s, ':');
	return strpbrk(s, " \t;%+@=$>/\\'\"") || (colon && isdigit((unsigned char)colon[1]));
}

static bool is_raw(const char *s, size_t n, uint64_t *raw)
{
	char buf[17], *end;

	if (n < 2 || n > 17 || s[0] != 'r')
		return false;
	memcpy(buf, s + 1, n - 1);
	buf[n - 1] = 0;
	if (!isxdigit((unsigned char)buf[0]))
		return false;
	*raw = strtoull(buf, &end, 16);
	return !*end;
}

/* A glob's brackets may stand in a name; nothing else that means something. */
static size_t word_len(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_-.*?![]^", s[n])))
		n++;
	return n;
}

static struct error *parse_event(struct events_parser *p, struct select_item *item)
{
	size_t start = p->pos, n = word_len(p->text + start);

	if (!n)
		return select_error(p->text, start, "expected an event here");
	TRY(copy(p->text + start, n, &item->name));
	p->pos += n;
	if (is_raw(item->name, n, &item->raw))
		item->kind = SELECT_RAW;
	else
		item->kind = SELECT_NAMED;
	if (peek(p) == ':' && item->kind == SELECT_NAMED && !select_name_known(item->name)) {
		item->kind = SELECT_TRACEPOINT;
		item->system = steal_ptr(item->name);
		p->pos++;
		n = word_len(p->text + p->pos);
		if (!n)
			return select_error(p->text, p->pos, "expected a tracepoint name here");
		TRY(copy(p->text + p->pos, n, &item->name));
		p->pos += n;
	}
	size_t end = p->pos;
	if (accept(p, '/')) {
		if (item->kind == SELECT_NAMED && !select_name_known(item->name))
			item->kind = SELECT_PMU;
		TRY(parse_terms(p, item));
		if (item->kind == SELECT_PMU)
			end = p->pos;
		/* perf takes "cpu/…/u" and "cpu/…/:u". */
		if (isalpha((unsigned char)peek(p)))
			TRY(parse_modifiers(p, &item->modifiers));
	}
	size_t mods = p->pos;
	if (accept(p, ':')) {
		const size_t start = p->pos;

		TRY(parse_modifiers(p, &item->modifiers));
		if (item->modifiers.weak)
			return select_error(p->text, start,
					    "the modifier W is for groups: {a,b}:W");
	}
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	strbuf_add(&text, p->text + start, end - start);
	strbuf_add(&text, p->text + mods, p->pos - mods);
	item->text = strbuf_steal(&text);
	return item->text ? NULL : error_nomem();
}

static struct error *parse_item(struct events_parser *p, struct select_list *list, int group)
{
	struct select_item *item = vec_push(&list->items);

	if (!item)
		return error_nomem();
	item->pos = p->pos;
	item->group = group;
	if (is_probe(p)) {
		if (group >= 0)
			return select_error(p->text, p->pos, "a probe cannot be in a group");
		item->kind = SELECT_PROBE;
		TRY(copy(p->text + p->pos, strlen(p->text + p->pos), &item->text));
		TRY(copy(item->text + 6, strlen(item->text + 6), &item->name));
		p->pos += strlen(item->text);
		return NULL;
	}
	size_t end = path_end(p);
	if (end) {
		if (group >= 0)
			return select_error(p->text, p->pos, "a BPF object cannot be in a group");
		item->kind = SELECT_OBJECT;
		TRY(copy(p->text + p->pos, end - p->pos, &item->name));
		TRY(copy(p->text + p->pos, end - p->pos, &item->text));
		p->pos = end;
		if (accept(p, '/'))
			TRY(parse_terms(p, item));
	} else {
		TRY(parse_event(p, item));
	}
	if (peek(p) == '|') {
		if (item->kind == SELECT_OBJECT)
			return select_error(p->text, p->pos,
					    "a BPF object already contains its programs");
		p->pos++;
		TRY(parse_prog(p, &item->prog));
	}
	if (!ends_item(peek(p)))
		return select_error(p->text, p->pos, "unexpected '%c'", peek(p));
	return NULL;
}

/* What a group's modifiers say holds for each of its events. */
static void add_modifiers(struct select_modifiers *m, const struct select_modifiers *more)
{
	m->given_levels |= more->given_levels;
	m->user |= more->user;
	m->kernel |= more->kernel;
	m->hv |= more->hv;
	m->given_hosts |= more->given_hosts;
	m->guest |= more->guest;
	m->host |= more->host;
	m->idle_excluded |= more->idle_excluded;
	m->precise = max_of(m->precise, more->precise);
	m->precise_max |= more->precise_max;
	m->sample_read |= more->sample_read;
	m->pinned |= more->pinned;
	m->exclusive |= more->exclusive;
	m->weak |= more->weak;
}

static struct error *parse_group(struct events_parser *p, struct select_list *list)
{
	size_t open = p->pos - 1, first = list->items.n;
	int group = list->n_groups++;

	do {
		TRY(parse_item(p, list, group));
	} while (accept(p, ','));
	if (!accept(p, '}'))
		return select_error(p->text, open, "this brace is not closed");
	if (accept(p, ':')) {
		struct select_modifiers m = {0};

		TRY(parse_modifiers(p, &m));
		for (size_t i = first; i < list->items.n; i++)
			add_modifiers(&list->items.v[i].modifiers, &m);
	}
	return NULL;
}

static struct error *parse_list(struct events_parser *p, struct select_list *list)
{
	do {
		if (accept(p, '{'))
			TRY(parse_group(p, list));
		else
			TRY(parse_item(p, list, -1));
	} while (accept(p, ','));
	if (peek(p))
		return select_error(p->text, p->pos, "unexpected '%c'", peek(p));
	return NULL;
}

struct error *select_parse(const char *text, struct select_list *list)
{
	struct select_list l = {.text = strdup(text)};
	struct events_parser p = {.text = text};

	if (!l.text)
		return error_nomem();
	struct error *err = parse_list(&p, &l);
	if (err) {
		select_list_deinit(&l);
		return err;
	}
	*list = l;
	return NULL;
}
