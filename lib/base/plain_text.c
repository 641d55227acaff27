// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/plain_text.h"

#include "lib/base/utf8.h"

bool character_acts(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x1f},	  {0x7f, 0x9f},	    {0x061c, 0x061c},
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

#define EACH_BYTE(value) (0x0101010101010101ull * (value))

/* Not 0: one of the eight bytes is below ' ' or above '~'. */
static inline uint64_t not_printable(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return ((v - EACH_BYTE(' ')) | v | (v + EACH_BYTE(1))) & EACH_BYTE(0x80);
}

/*
 * How many bytes from p on are printable ASCII. Names are printed for every sample, and nearly all
 * are: eight bytes are looked at together, the last eight of them together with some before.
 */
static inline size_t printable_length(const uint8_t *p, size_t n)
{
	size_t i = 0;

	if (n >= 8) {
		while (i + 8 <= n && !not_printable(p + i))
			i += 8;
		if (i + 8 > n && !not_printable(p + n - 8))
			return n;
	}
	while (i < n && p[i] >= ' ' && p[i] < 0x7f)
		i++;
	return i;
}

bool text_is_plain(const char *s, size_t n)
{
	return printable_length((const uint8_t *)s, n) == n;
}

void plain_add(struct strbuf *out, const char *s, size_t n)
{
	const uint8_t *p = (const uint8_t *)s;

	if (printable_length(p, n) == n) {
		strbuf_add(out, s, n);
		return;
	}
	for (size_t i = 0; i < n;) {
		const size_t plain = printable_length(p + i, n - i);

		strbuf_add(out, s + i, plain);
		i += plain;
		if (i == n)
			break;
		size_t len = utf8_length(p + i, n - i);
		if (len && !character_acts(utf8_decode(p + i, len))) {
			strbuf_add(out, s + i, len);
			i += len;
			continue;
		}
		for (len = max_of(len, (size_t)1); len; len--)
			strbuf_addf(out, "\\x%02x", p[i++]);
	}
}

void plain_whole_since(struct strbuf *sb, size_t from)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (sb->len <= from || text_is_plain(sb->str + from, sb->len - from))
		return;
	strbuf_add(&text, sb->str + from, sb->len - from);
	strbuf_cut(sb, from);
	sb->failed |= strbuf_failed(&text);
	plain_add(sb, strbuf_str(&text), text.len);
}

void plain_since(struct strbuf *sb, size_t from, bool lines)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *s = strbuf_str(sb);
	size_t i = from;

	for (;;) {
		i += printable_length((const uint8_t *)s + i, sb->len - i);
		if (i >= sb->len)
			return;
		if (s[i] != '\t' && (s[i] != '\n' || (!lines && i + 1 < sb->len)))
			break;
		i++;
	}
	/* rare: again, into a copy */
	strbuf_add(&text, s + i, sb->len - i);
	strbuf_cut(sb, i);
	sb->failed |= strbuf_failed(&text);
	s = strbuf_str(&text);
	for (i = 0; i < text.len;) {
		size_t n = i;

		while (n < text.len && s[n] != '\t' &&
		       (s[n] != '\n' || (!lines && n + 1 < text.len)))
			n++;
		plain_add(sb, s + i, n - i);
		if (n < text.len)
			strbuf_addch(sb, s[n++]);
		i = n;
	}
}
