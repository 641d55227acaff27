// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/plain_text.h"
#include "lib/base/utf8.h"

/* Whether all of eight bytes are ASCII without controls, quotes and backslashes. */
static inline bool is_plain(uint64_t v)
{
	const uint64_t ones = 0x0101010101010101ull;
	const uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';

	return !((v | (v + ones) | (v - ones * 0x20) | (quote - ones) | (slash - ones)) &
		 ones << 7);
}

/* By pieces of a constant size that overlap: a call of memcpy() costs more. */
bool json_copy_plain(char *to, const char *from, size_t n)
{
	const char *const end = from + n;
	uint32_t first, last;
	uint64_t v;
	bool plain = true;

	if (n >= 8) {
		for (; from + 8 < end; from += 8, to += 8) {
			memcpy(&v, from, 8);
			memcpy(to, &v, 8);
			plain &= is_plain(v);
		}
		memcpy(&v, end - 8, 8);
		memcpy(to + (end - from) - 8, &v, 8);
		return plain & is_plain(v);
	}
	if (n >= 4) {
		memcpy(&first, from, 4);
		memcpy(&last, end - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + n - 4, &last, 4);
		return is_plain((uint64_t)first << 32 | last);
	}
	if (!n)
		return true;
	to[0] = from[0];
	to[n / 2] = from[n / 2];
	to[n - 1] = from[n - 1];
	return is_plain(0x2020202020000000ull | (uint32_t)(uint8_t)from[0] << 16 |
			(uint32_t)(uint8_t)from[n / 2] << 8 | (uint8_t)from[n - 1]);
}

/* A character that must not reach a terminal as it is; those above U+FFFF take two escapes. */
static void add_escape(struct strbuf *out, uint32_t c)
{
	if (c > 0xffff) {
		strbuf_addf(out, "\\u%04x", 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	strbuf_addf(out, "\\u%04x", c);
}

/* For text that is not plain. */
static void add_escaped(struct strbuf *out, const char *str, size_t len)
{
	const uint8_t *s = (const uint8_t *)str;
	size_t start = 0, i = 0;

	strbuf_addch(out, '"');
	while (i < len) {
		/* Eight bytes at a time that need no thought: ASCII but for " \ and controls. */
		while (i + 8 <= len) {
			const uint64_t ones = 0x0101010101010101ull, high = ones << 7;
			uint64_t w;

			memcpy(&w, s + i, 8);
			uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
			if (((w - ones * 0x20) | (quote - ones) | (slash - ones) | w | (w + ones)) &
			    high)
				break;
			i += 8;
		}
		if (i == len)
			break;
		uint8_t c = s[i];
		size_t n = 1;

		if (c >= 0x80 && (n = utf8_length(s + i, len - i)) > 0) {
			const uint32_t character = utf8_decode(s + i, n);

			if (character_acts(character)) {
				strbuf_add(out, s + start, i - start);
				add_escape(out, character);
				start = i + n;
			}
			i += n;
			continue;
		}
		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			i++;
			continue;
		}
		strbuf_add(out, s + start, i - start);
		if (c == '"' || c == '\\') {
			strbuf_addch(out, '\\');
			strbuf_addch(out, (char)c);
		} else if (c == '\n') {
			strbuf_add(out, "\\n", 2);
		} else if (c == '\t') {
			strbuf_add(out, "\\t", 2);
		} else {
			strbuf_addf(out, "\\u%04x", c >= 0x80 ? 0xdc00u + c : c);
		}
		start = ++i;
	}
	strbuf_add(out, s + start, len - start);
	strbuf_addch(out, '"');
}

void json_add_string(struct strbuf *out, const char *str, size_t len)
{
	if (!strbuf_reserve(out, len + 2))
		return;
	char *p = out->str + out->len;
	if (!json_copy_plain(p + 1, str, len)) {
		add_escaped(out, str, len);
		return;
	}
	p[0] = p[len + 1] = '"';
	strbuf_cut(out, out->len + len + 2);
}

void json_add_i64(struct strbuf *out, int64_t v)
{
	if (v < 0)
		strbuf_addch(out, '-');
	strbuf_add_u64(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void json_add_address(struct strbuf *out, uint64_t v)
{
	strbuf_add(out, "\"0x", 3);
	strbuf_add_hex(out, v);
	strbuf_addch(out, '"');
}

void json_add_bytes(struct strbuf *out, const void *data, size_t n)
{
	const uint8_t *bytes = data;

	strbuf_addch(out, '"');
	for (size_t i = 0; i < n; i++) {
		strbuf_addch(out, "0123456789abcdef"[bytes[i] >> 4]);
		strbuf_addch(out, "0123456789abcdef"[bytes[i] & 15]);
	}
	strbuf_addch(out, '"');
}

void json_add_float(struct strbuf *out, const void *p, size_t size)
{
	long double v = 0;
	char text[64];

	if (size == sizeof(float)) {
		float f;

		memcpy(&f, p, sizeof(f));
		v = f;
		snprintf(text, sizeof(text), "%.*g", FLT_DIG, f);
		if (strtof(text, NULL) != f)
			snprintf(text, sizeof(text), "%.*g", FLT_DECIMAL_DIG, f);
	} else if (size == sizeof(double)) {
		double d;

		memcpy(&d, p, sizeof(d));
		v = d;
		snprintf(text, sizeof(text), "%.*g", DBL_DIG, d);
		if (strtod(text, NULL) != d)
			snprintf(text, sizeof(text), "%.*g", DBL_DECIMAL_DIG, d);
	} else {
		memcpy(&v, p, sizeof(v));
		snprintf(text, sizeof(text), "%.*Lg", LDBL_DECIMAL_DIG, v);
	}
	if (isnan(v) || isinf(v))
		json_add_string(out,
				isnan(v) ? "nan"
				: v < 0	 ? "-inf"
					 : "inf",
				v < 0 && !isnan(v) ? 4 : 3);
	else
		strbuf_adds(out, text);
}
