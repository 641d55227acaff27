// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/plain_text.h"

#include "lib/base/utf8.h"

/* What acts instead of being seen. */
static bool acts(uint32_t c)
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

/* How many bytes from p on are printable ASCII; eight at a time, since names are printed often. */
static size_t printable_length(const uint8_t *p, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t v;

		memcpy(&v, p + i, sizeof(v));
		/* the top bit of a byte: it is below ' ', above 0x7f, or 0x7f */
		const uint64_t low = v - EACH_BYTE(' '), high = v + EACH_BYTE(1);
		if ((low | v | high) & EACH_BYTE(0x80))
			break;
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

	for (size_t i = 0; i < n;) {
		const size_t plain = printable_length(p + i, n - i);

		strbuf_add(out, s + i, plain);
		i += plain;
		if (i == n)
			break;
		size_t len = utf8_length(p + i, n - i);
		if (len && !acts(utf8_decode(p + i, len))) {
			strbuf_add(out, s + i, len);
			i += len;
			continue;
		}
		for (len = max_of(len, (size_t)1); len; len--)
			strbuf_addf(out, "\\x%02x", p[i++]);
	}
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
