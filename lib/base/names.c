// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/names.h"

#include <ctype.h>
#include <stdlib.h>

#include "lib/base/util.h"
#include "lib/base/vec.h"

void names_deinit(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	vec_deinit(names);
}

bool names_add_n(struct names *names, const char *name, size_t len)
{
	char *copy = strndup(name, len);

	if (!copy || !vec_reserve(names, names->n + 1)) {
		free(copy);
		return false;
	}
	names->v[names->n++] = copy;
	return true;
}

bool names_add(struct names *names, const char *name)
{
	return names_add_n(names, name, strlen(name));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names)
{
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), compare_names);
}

bool glob_is_pattern(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

/*
 * Matches the set at p, which points past its '['. Returns where the pattern
 * goes on, or NULL when the set has no end: then the '[' stands for itself.
 */
static const char *match_set(const char *p, unsigned char c, bool *matches)
{
	bool negated = *p == '!' || *p == '^';
	bool found = false;

	if (negated)
		p++;
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		unsigned char from = *p, to = *p;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			to = p[2];
			p += 2;
		}
		found |= from <= c && c <= to;
	}
	if (*p != ']')
		return NULL;
	*matches = found != negated;
	return p + 1;
}

/*
 * A mismatch goes back to the last star only, which takes one character more:
 * what an earlier star took cannot matter once a later one was reached.
 */
bool glob_match(const char *pattern, const char *name)
{
	const char *star = NULL, *star_name = NULL;

	while (*name) {
		const char *next = pattern + 1;
		bool matches = false;

		if (*pattern == '*') {
			star = next;
			star_name = name;
			pattern = next;
			continue;
		}
		if (*pattern == '?') {
			matches = true;
		} else if (*pattern == '[') {
			const char *end = match_set(next, *name, &matches);

			if (end)
				next = end;
			else
				matches = *name == '[';
		} else if (*pattern == '\\' && pattern[1]) {
			matches = pattern[1] == *name;
			next = pattern + 2;
		} else if (*pattern) {
			matches = *pattern == *name;
		}
		if (matches) {
			pattern = next;
			name++;
		} else if (star) {
			pattern = star;
			name = ++star_name;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

size_t glob_token(const char *pattern)
{
	bool matches;
	const char *end = *pattern == '[' ? match_set(pattern + 1, 0, &matches) : NULL;

	if (end)
		return (size_t)(end - pattern);
	return *pattern == '\\' && pattern[1] ? 2 : *pattern != '\0';
}

enum {
	/* Longer names are not compared: no tracepoint, symbol or option is that long. */
	NAME_MAX_COMPARED = 128,
};

static unsigned char lower(char c)
{
	return (unsigned char)tolower((unsigned char)c);
}

unsigned name_distance(const char *a, const char *b, unsigned limit)
{
	size_t la = strnlen(a, NAME_MAX_COMPARED + 1), lb = strnlen(b, NAME_MAX_COMPARED + 1);
	size_t longer = la > lb ? la : lb, shorter = la > lb ? lb : la;
	/* Three rows of the table: a swap looks two rows back. */
	unsigned rows[3][NAME_MAX_COMPARED + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	if (longer > NAME_MAX_COMPARED || longer - shorter > limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		last[j] = before[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned least = row[0] = (unsigned)i;

		for (size_t j = 1; j <= lb; j++) {
			unsigned cost = lower(a[i - 1]) != lower(b[j - 1]);
			unsigned d = min_of(last[j - 1] + cost, min_of(last[j], row[j - 1]) + 1);

			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				d = min_of(d, before[j - 2] + 1);
			row[j] = d;
			least = min_of(least, d);
		}
		if (least > limit)
			return limit + 1;
		unsigned *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[lb] > limit ? limit + 1 : last[lb];
}

struct nearest nearest_make(const char *want)
{
	size_t len = strlen(want);

	return (struct nearest){.want = want, .limit = len < 3 ? 1 : (unsigned)(len + 2) / 3};
}

void nearest_offer(struct nearest *near, const char *candidate)
{
	nearest_offer_as(near, candidate, candidate);
}

void nearest_offer_as(struct nearest *near, const char *candidate, const char *label)
{
	unsigned score = name_distance(near->want, candidate, near->limit);

	if (score > near->limit) {
		size_t want_len = strlen(near->want), len = strlen(candidate);

		/* One holds the other: worse than any typo, best when little is missing. */
		if (want_len < 3 || len < 3 ||
		    !(strcasestr(candidate, near->want) || strcasestr(near->want, candidate)))
			return;
		score = near->limit + 1 +
			(unsigned)(len > want_len ? len - want_len : want_len - len);
	}
	for (size_t i = 0; i < near->n; i++)
		if (str_equal(near->best[i].name, label))
			return;
	size_t at = near->n;
	while (at > 0 && score < near->best[at - 1].score)
		at--;
	if (at == ARRAY_SIZE(near->best))
		return;
	if (near->n < ARRAY_SIZE(near->best))
		near->n++;
	for (size_t i = near->n - 1; i > at; i--)
		near->best[i] = near->best[i - 1];
	near->best[at].name = label;
	near->best[at].score = score;
}

bool nearest_text(const struct nearest *near, struct strbuf *sb)
{
	size_t n = near->n;

	/* What is much farther than the best one is no help. */
	while (n > 1 && near->best[n - 1].score > 2 * near->best[0].score + 1)
		n--;
	for (size_t i = 0; i < n; i++) {
		const char *between = !i ? "" : i + 1 == n ? " or " : ", ";

		strbuf_addf(sb, "%s'%s'", between, near->best[i].name);
	}
	return near->n > 0;
}

static struct error *suggest(struct error *err, const struct nearest *near, char *sentence)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	if (!nearest_text(near, &names) || strbuf_failed(&names))
		return sentence[0] ? error_hint(err, "%s", sentence) : err;
	sentence[0] = (char)toupper((unsigned char)sentence[0]);
	return error_hint(err, "did you mean %s?%s%s", strbuf_str(&names), sentence[0] ? " " : "",
			  sentence);
}

struct error *error_suggest(struct error *err, const struct nearest *near)
{
	return suggest(err, near, (char[1]){0});
}

struct error *error_suggest_and(struct error *err, const struct nearest *near, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sentence = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sentence, fmt, ap);
	va_end(ap);
	return sentence.len && !strbuf_failed(&sentence) ? suggest(err, near, sentence.str)
							 : error_suggest(err, near);
}

const char *type_or_number(const char *name, uint32_t type, char unknown[TYPE_TEXT_SIZE])
{
	if (!name)
		snprintf(unknown, TYPE_TEXT_SIZE, "type %u", type);
	return name ? name : unknown;
}
