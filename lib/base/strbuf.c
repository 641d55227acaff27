// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/digits.h"

void strbuf_deinit(struct strbuf *sb)
{
	free(sb->str);
	*sb = (struct strbuf)STRBUF_INIT;
}

bool strbuf_grow(struct strbuf *sb, size_t n)
{
	if (sb->failed)
		return false;
	if (n >= SIZE_MAX / 2 - sb->len) {
		sb->failed = true;
		return false;
	}
	size_t need = sb->len + n + 1;
	size_t cap = sb->cap ? sb->cap * 2 : 64;
	if (cap < need)
		cap = need;
	char *str = realloc(sb->str, cap);
	if (!str) {
		sb->failed = true;
		return false;
	}
	sb->str = str;
	sb->cap = cap;
	return true;
}

void strbuf_add_slow(struct strbuf *sb, const void *data, size_t n)
{
	if (!strbuf_reserve(sb, n))
		return;
	if (n)
		memcpy(sb->str + sb->len, data, n);
	sb->len += n;
	sb->str[sb->len] = 0;
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;

	if (!strbuf_reserve(sb, 64))
		return;
	va_copy(again, ap);
	int n = vsnprintf(sb->str + sb->len, sb->cap - sb->len, fmt, ap);
	if (n < 0) {
		sb->failed = true;
	} else if ((size_t)n >= sb->cap - sb->len) {
		if (strbuf_reserve(sb, (size_t)n)) {
			vsnprintf(sb->str + sb->len, sb->cap - sb->len, fmt, again);
			sb->len += (size_t)n;
		}
	} else {
		sb->len += (size_t)n;
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_add_u64(struct strbuf *sb, uint64_t v)
{
	const unsigned n = digits_count(v);

	if (!strbuf_reserve(sb, n + DIGITS_SLACK))
		return;
	digits_put(sb->str + sb->len, v, n);
	strbuf_cut(sb, sb->len + n);
}

void strbuf_add_hex(struct strbuf *sb, uint64_t v)
{
	const unsigned n = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	if (!strbuf_reserve(sb, n))
		return;
	char *s = sb->str + sb->len + n;
	strbuf_cut(sb, sb->len + n);
	for (unsigned i = 0; i < n; i++, v >>= 4)
		*--s = "0123456789abcdef"[v & 15];
}

void text_bytes(char *text, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++) {
		*text++ = "0123456789abcdef"[p[i] >> 4];
		*text++ = "0123456789abcdef"[p[i] & 15];
	}
	*text = '\0';
}

void strbuf_add_bytes(struct strbuf *sb, const void *bytes, size_t n)
{
	if (!strbuf_reserve(sb, 2 * n))
		return;
	text_bytes(sb->str + sb->len, bytes, n);
	strbuf_cut(sb, sb->len + 2 * n);
}

void strbuf_add_double(struct strbuf *sb, double v)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	strbuf_adds(sb, text);
}

char *strbuf_steal(struct strbuf *sb)
{
	if (!strbuf_reserve(sb, 0))
		return NULL;
	char *str = sb->str;
	str[sb->len] = 0;
	*sb = (struct strbuf)STRBUF_INIT;
	return str;
}

char *text_format(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}
