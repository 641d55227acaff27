// SPDX-License-Identifier: BSD-2-Clause
/*
 * Widths: wcwidth(3) knows nothing in the C locale, in which tools run under
 * cron and in tests. What terminals agree on is little: marks that combine
 * take no column; East Asian wide and full-width characters, and emoji, take
 * two (Unicode Standard Annex 11, EastAsianWidth.txt, its blocks).
 */
#include "show/plain.h"

#include "lib/base/utf8.h"

struct row_range {
	uint32_t first, last;
};

static bool is_in(uint32_t c, const struct row_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

static size_t width_of(uint32_t c)
{
	static const struct row_range none[] = {
		{0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd}, {0x064b, 0x065f},
		{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},   {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
		{0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
	};
	static const struct row_range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0x33ff},   {0x3400, 0x4dbf},
		{0x4e00, 0x9fff},   {0xa000, 0xa4cf},	{0xac00, 0xd7a3},   {0xf900, 0xfaff},
		{0xfe30, 0xfe6f},   {0xff00, 0xff60},	{0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
		{0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	};

	if (c < 0x300)
		return 1;
	if (is_in(c, none, ARRAY_SIZE(none)))
		return 0;
	return is_in(c, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

/* The next character's bytes; bytes that begin none stand alone and take a column. */
static size_t next_char(const char *s, size_t left, size_t *columns)
{
	const uint8_t *p = (const uint8_t *)s;
	size_t len;

	*columns = 1;
	if (*p < 0x80)
		return 1;
	len = utf8_length(p, left);

	*columns = len ? width_of(utf8_decode(p, len)) : 1;
	return len ? len : 1;
}

size_t plain_width(const char *s, size_t n)
{
	size_t width = 0, columns;

	for (size_t i = 0; i < n; width += columns)
		i += next_char(s + i, n - i, &columns);
	return width;
}

size_t plain_add_cut(struct strbuf *out, const char *s, size_t n, size_t columns, bool ascii)
{
	size_t taken = 0, i = 0, c;

	if (plain_width(s, n) <= columns) {
		strbuf_add(out, s, n);
		return plain_width(s, n);
	}
	if (!columns)
		return 0;
	while (i < n) {
		size_t len = next_char(s + i, n - i, &c);

		if (taken + c > columns - 1)
			break;
		taken += c;
		i += len;
	}
	strbuf_add(out, s, i);
	strbuf_adds(out, ascii ? "~" : "…");
	return taken + 1;
}

/* An escape sequence that sets colours: ESC, [, digits and semicolons, m. 0: none is here. */
static size_t sequence_length(const char *s, size_t n)
{
	size_t i = 2;

	if (n < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (i < n && ((s[i] >= '0' && s[i] <= '9') || s[i] == ';'))
		i++;
	return i < n && s[i] == 'm' ? i + 1 : 0;
}

/* One line without its end. What is coloured where it is cut becomes plain again. */
static void cut_line(struct strbuf *out, const char *s, size_t n, size_t columns, bool ascii)
{
	_cleanup_strbuf_ struct strbuf bare = STRBUF_INIT;
	size_t taken = 0, c;
	bool coloured = false;

	for (size_t i = 0; i < n;) {
		size_t len = sequence_length(s + i, n - i);

		if (!len)
			strbuf_addch(&bare, s[i]);
		i += len ? len : 1;
	}
	out->failed |= strbuf_failed(&bare);
	bool fits = plain_width(strbuf_str(&bare), bare.len) <= columns;
	for (size_t i = 0; i < n;) {
		size_t len = sequence_length(s + i, n - i);

		if (len) {
			coloured = len != 4; /* ESC [ 0 m is the end */
			strbuf_add(out, s + i, len);
			i += len;
			continue;
		}
		len = next_char(s + i, n - i, &c);
		if (!fits && taken + c > columns - 1)
			break;
		strbuf_add(out, s + i, len);
		taken += c;
		i += len;
	}
	if (coloured)
		strbuf_adds(out, "\033[0m");
	if (!fits && columns)
		strbuf_adds(out, ascii ? "~" : "…");
}

void plain_cut_lines(struct strbuf *out, const char *text, size_t n, size_t columns, bool ascii)
{
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) : n;

		cut_line(out, text, len, columns, ascii);
		if (end)
			strbuf_addch(out, '\n');
		text += len + !!end;
		n -= len + !!end;
	}
}
