/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of lines of which there are millions, without printf() and a check of the room for each. */
#ifndef PB_PERF_PRINT_PUT_TEXT_H
#define PB_PERF_PRINT_PUT_TEXT_H

#include "lib/base/digits.h"
#include "lib/base/strbuf.h"

/*
 * What puts something returns where it ends. There is room for it and PUT_SLACK bytes, which it may
 * overwrite.
 */
enum {
	PUT_SLACK = 16,
	INT_ROOM = 21 + PUT_SLACK, /* of put_int() with a smaller width */
	KEPT_TEXT_MAX = 64,
};

/* n spaces */
static inline char *put_pad(char *to, size_t n)
{
	char *const end = to + n;

	do {
		memset(to, ' ', PUT_SLACK);
		to += PUT_SLACK;
	} while (to < end);
	return end;
}

/* "%*d" */
static inline char *put_int(char *to, int64_t v, size_t width)
{
	const uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	const unsigned n = digits_count(u);
	const size_t len = n + (v < 0);

	if (len < width)
		to = put_pad(to, width - len);
	if (v < 0)
		*to++ = '-';
	return digits_put(to, u, n);
}

/* "%-*d" */
static inline char *put_int_left(char *to, int64_t v, size_t width)
{
	char *end = put_int(to, v, 0);

	return (size_t)(end - to) < width ? put_pad(end, width - (size_t)(end - to)) : end;
}

/* "%03d" */
static inline char *put_int3(char *to, int64_t v)
{
	if (v >= 0)
		return digits_put(to, (uint64_t)v, max_of(digits_count((uint64_t)v), 3u));
	*to = '-';
	return digits_put(to + 1, 0 - (uint64_t)v, max_of(digits_count(0 - (uint64_t)v), 2u));
}

static inline void add_pad(struct strbuf *out, size_t n)
{
	if (!strbuf_reserve(out, n))
		return;
	memset(out->str + out->len, ' ', n);
	out->len += n;
	out->str[out->len] = 0;
}

static inline void add_int(struct strbuf *out, int64_t v, size_t width)
{
	if (!strbuf_reserve(out, width + INT_ROOM))
		return;
	strbuf_cut(out, (size_t)(put_int(out->str + out->len, v, width) - out->str));
}

/* "%16x" */
static inline void add_hex16(struct strbuf *out, uint64_t v)
{
	if (!strbuf_reserve(out, 2 * 16))
		return;
	digits_put_hex16(out->str + out->len, v);
	strbuf_cut(out, out->len + 16);
}

/*
 * A short text that is printed again and again. The copy is of a fixed size: that is a few
 * instructions, and the length of a text is hard to foresee.
 */
struct kept_text {
	uint8_t size;
	char text[KEPT_TEXT_MAX];
};

/* There is room for KEPT_TEXT_MAX bytes. */
static inline char *put_kept(char *to, const struct kept_text *kept)
{
	memcpy(to, kept->text, KEPT_TEXT_MAX / 2);
	if (kept->size > KEPT_TEXT_MAX / 2)
		memcpy(to + KEPT_TEXT_MAX / 2, kept->text + KEPT_TEXT_MAX / 2, KEPT_TEXT_MAX / 2);
	return to + kept->size;
}

/* false: there was no memory for the text, or it is too long. */
static inline bool kept_text_set(struct kept_text *kept, const struct strbuf *text)
{
	if (strbuf_failed(text) || text->len > KEPT_TEXT_MAX)
		return false;
	kept->size = (uint8_t)text->len;
	memcpy(kept->text, strbuf_str(text), text->len);
	return true;
}

#endif
