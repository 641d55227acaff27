/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing string. It is always NUL-terminated once something was added.
 * Lack of memory is remembered: later adds do nothing, strbuf_failed() tells,
 * and strbuf_steal() returns NULL; so a caller checks once, at the end.
 */
#ifndef PB_BASE_STRBUF_H
#define PB_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/util.h"

struct strbuf {
	char *str; /* NULL while empty and nothing was reserved */
	size_t len;
	size_t cap;
	bool failed;
};

#define STRBUF_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

void strbuf_deinit(struct strbuf *sb);
#define _cleanup_strbuf_ __attribute__((cleanup(strbuf_deinit)))

bool strbuf_grow(struct strbuf *sb, size_t n);

/* Room for n more bytes and the NUL; false: no memory. */
static inline bool strbuf_reserve(struct strbuf *sb, size_t n)
{
	return (n < sb->cap - sb->len && !sb->failed) || strbuf_grow(sb, n);
}

void strbuf_add_slow(struct strbuf *sb, const void *data, size_t n);

static inline void strbuf_add(struct strbuf *sb, const void *data, size_t n)
{
	if (sb->len + n < sb->cap && !sb->failed) {
		if (n) /* memcpy() wants no NULL, even for nothing */
			memcpy(sb->str + sb->len, data, n);
		sb->len += n;
		sb->str[sb->len] = 0;
	} else {
		strbuf_add_slow(sb, data, n);
	}
}

static inline void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

static inline void strbuf_addch(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...) _printf_(2, 3);
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap);

/* Digits without printf's cost, for hot output paths. */
void strbuf_add_u64(struct strbuf *sb, uint64_t v);
void strbuf_add_hex(struct strbuf *sb, uint64_t v);
/* Two digits for each byte, as build ids and tags are written. */
void strbuf_add_bytes(struct strbuf *sb, const void *bytes, size_t n);
/* The same and a NUL into text, which has 2 * n + 1 bytes. */
void text_bytes(char *text, const void *bytes, size_t n);
/* The fewest digits that are read back as v: "0.1", not "0.10000000000000001". */
void strbuf_add_double(struct strbuf *sb, double v);

static inline void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->str)
		sb->str[0] = 0;
}

/* Back to its first len bytes; it has at least as many. */
static inline void strbuf_cut(struct strbuf *sb, size_t len)
{
	sb->len = len;
	if (sb->str)
		sb->str[len] = 0;
}

static inline bool strbuf_failed(const struct strbuf *sb)
{
	return sb->failed;
}

/* "" when nothing was added. */
static inline const char *strbuf_str(const struct strbuf *sb)
{
	return sb->str ? sb->str : "";
}

/* The string, now the caller's; NULL: some add ran out of memory. */
char *strbuf_steal(struct strbuf *sb);

/* A formatted string of its own, the caller's to free(); NULL: no memory. */
char *text_format(const char *fmt, ...) _printf_(1, 2);

#endif
