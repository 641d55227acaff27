// SPDX-License-Identifier: BSD-2-Clause
/*
 * A line of the log against a pattern. The kernel's sentences are its printf
 * formats filled in, so a pattern looks like one; it matches a line's
 * beginning, because kernels append.
 */
#include "lib/verifier/internal.h"

#include <ctype.h>

bool piece_starts(struct piece p, const char *with)
{
	const size_t n = strlen(with);

	return p.len >= n && !memcmp(p.at, with, n);
}

bool piece_has(struct piece p, const char *what)
{
	return p.at && memmem(p.at, p.len, what, strlen(what));
}

bool piece_is(struct piece p, const char *what)
{
	return p.at && p.len == strlen(what) && !memcmp(p.at, what, p.len);
}

static struct piece rest(struct piece p, size_t from)
{
	return (struct piece){p.at + from, p.len - from};
}

/* A number, decimal or "0x…", from the beginning; its length, 0: none. */
static size_t take_number(struct piece p, int64_t *value)
{
	const bool negative = p.len && p.at[0] == '-';
	size_t i = negative, first;
	uint64_t v = 0;
	unsigned base = 10;

	if (p.len >= i + 3 && p.at[i] == '0' && p.at[i + 1] == 'x') {
		base = 16;
		i += 2;
	}
	for (first = i; i < p.len && isxdigit((unsigned char)p.at[i]); i++) {
		const char c = (char)tolower((unsigned char)p.at[i]);
		const unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);

		if (digit >= base)
			break;
		v = v * base + digit;
	}
	if (i == first)
		return 0;
	*value = (int64_t)(negative ? 0 - v : v);
	return i;
}

bool piece_number(struct piece p, int64_t *value)
{
	return p.at && take_number(p, value);
}

/* Offsets and sizes are computed with: nothing real is larger. */
static int64_t clamp(int64_t v)
{
	const int64_t most = 1ll << 40;

	return v > most ? most : v < -most ? -most : v;
}

/* The pattern has no '*' here. Each %s takes as little as it can: no going back. */
static bool match_here(struct piece line, const char *pattern, struct match *m)
{
	size_t n_d = 0, n_s = 0;

	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'd') {
			int64_t value;
			const size_t n = take_number(line, &value);

			if (!n)
				return false;
			if (n_d < ARRAY_SIZE(m->d))
				m->d[n_d++] = clamp(value);
			line = rest(line, n);
			pattern++;
		} else if (pattern[0] == '%' && pattern[1] == 's') {
			const char *next = pattern + 2;
			const size_t n_next = strcspn(next, "%");
			const char *end = n_next ? memmem(line.at, line.len, next, n_next)
						 : line.at + line.len;

			if (!end)
				return false;
			if (n_s < ARRAY_SIZE(m->s))
				m->s[n_s++] = (struct piece){line.at, (size_t)(end - line.at)};
			line = rest(line, (size_t)(end - line.at));
			pattern++;
		} else {
			if (!line.len || line.at[0] != *pattern)
				return false;
			line = rest(line, 1);
		}
	}
	return true;
}

bool match_line(struct piece line, const char *pattern, struct match *m)
{
	*m = (struct match){0};
	if (!line.at)
		return false;
	if (pattern[0] != '*')
		return match_here(line, pattern, m);
	for (size_t i = 0; i < line.len; i++)
		if (match_here(rest(line, i), pattern + 1, m))
			return true;
	return false;
}
