// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

void strbuf_deinit(struct strbuf *sb)
{
	free(sb->str);
	*sb = (struct strbuf)STRBUF_INIT;
}

bool strbuf_reserve(struct strbuf *sb, size_t n)
{
	if (sb->failed)
		return false;
	if (n >= SIZE_MAX / 2 - sb->len) {
		sb->failed = true;
		return false;
	}
	size_t need = sb->len + n + 1;
	if (need <= sb->cap)
		return true;

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

static void add_digits(struct strbuf *sb, uint64_t v, unsigned int base)
{
	char digits[24];
	size_t i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	strbuf_add(sb, digits + i, sizeof(digits) - i);
}

void strbuf_add_u64(struct strbuf *sb, uint64_t v)
{
	add_digits(sb, v, 10);
}

void strbuf_add_hex(struct strbuf *sb, uint64_t v)
{
	add_digits(sb, v, 16);
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
