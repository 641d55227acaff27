// SPDX-License-Identifier: BSD-2-Clause
#include "trace/call_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"

/* Adds a character of the glob, which may be "?" or a set: the bytes that match it. */
static void add_character(struct call_pattern *p, const char *token)
{
	const unsigned i = ++p->n;

	for (unsigned c = 0; c < 256; c++) {
		const char text[] = {(char)c, '\0'};

		if (c ? glob_match(token, text) : *token == '?')
			p->next[c][i / 64] |= 1ull << i % 64;
	}
}

struct error *call_pattern_make(const char *glob, struct call_pattern *pattern)
{
	_cleanup_free_ struct call_pattern *p = calloc(1, sizeof(*p));

	if (!p)
		return error_nomem();
	for (size_t n; *glob; glob += n) {
		n = glob_token(glob);
		if (*glob == '*') {
			p->stay[p->n / 64] |= 1ull << p->n % 64;
			continue;
		}
		_cleanup_free_ char *token = strndup(glob, n);
		if (!token)
			return error_nomem();
		if (p->n == CALL_PATTERN_MAX)
			return error_new(E2BIG, "a text can be compared with at most %d characters",
					 CALL_PATTERN_MAX);
		add_character(p, token);
	}
	p->wide = p->n >= 64;
	memcpy(pattern, p, sizeof(*p));
	return NULL;
}
