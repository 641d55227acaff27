/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bounded cursor: every byte from outside (ELF, BTF, perf.data, tracefs,
 * rings) is read through it. A read that would leave the bounds changes
 * nothing and returns false or NULL; no read needs alignment. With swap set,
 * integers come out in the other byte order.
 *
 * The cursor borrows the bytes and the name; both outlive it.
 */
#ifndef PB_BASE_CURSOR_H
#define PB_BASE_CURSOR_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/error.h"

struct cursor {
	const uint8_t *base;
	size_t size;	  /* bytes from base that may be read */
	size_t pos;	  /* <= size */
	bool swap;	  /* the bytes are in the other byte order */
	const char *name; /* for errors: "perf.data", "section .BTF"; may be NULL */
	uint64_t origin;  /* offset of base in what name names, for errors */
};

static inline struct cursor cursor_make(const void *base, size_t size, const char *name)
{
	return (struct cursor){.base = base, .size = size, .name = name};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->size - c->pos;
}

static inline bool cursor_end(const struct cursor *c)
{
	return c->pos == c->size;
}

/* The next n bytes, without a copy; NULL: fewer are left. n = 0 is not NULL. */
static inline const void *cursor_bytes(struct cursor *c, size_t n)
{
	static const uint8_t nothing[1];

	if (n > c->size - c->pos)
		return NULL;
	const uint8_t *p = c->base ? c->base + c->pos : nothing;
	c->pos += n;
	return p;
}

static inline bool cursor_skip(struct cursor *c, size_t n)
{
	if (n > c->size - c->pos)
		return false;
	c->pos += n;
	return true;
}

/* To an absolute position; one past the last byte is allowed. */
static inline bool cursor_seek(struct cursor *c, size_t pos)
{
	if (pos > c->size)
		return false;
	c->pos = pos;
	return true;
}

/* Copies n raw bytes, never swapped. */
static inline bool cursor_copy(struct cursor *c, void *to, size_t n)
{
	if (n > c->size - c->pos)
		return false;
	if (n)
		memcpy(to, c->base + c->pos, n);
	c->pos += n;
	return true;
}

static inline bool cursor_u8(struct cursor *c, uint8_t *v)
{
	return cursor_copy(c, v, 1);
}

#define CURSOR_DEFINE_INT(bits)                                                                    \
	static inline bool cursor_u##bits(struct cursor *c, uint##bits##_t *v)                     \
	{                                                                                          \
		uint##bits##_t raw;                                                                \
		if (!cursor_copy(c, &raw, sizeof(raw)))                                            \
			return false;                                                              \
		*v = c->swap ? bswap_##bits(raw) : raw;                                            \
		return true;                                                                       \
	}
CURSOR_DEFINE_INT(16)
CURSOR_DEFINE_INT(32)
CURSOR_DEFINE_INT(64)
#undef CURSOR_DEFINE_INT

/*
 * The NUL-terminated string at the position, which moves past the NUL; NULL
 * when there is no NUL within the bounds.
 */
static inline const char *cursor_cstr(struct cursor *c)
{
	if (c->pos >= c->size)
		return NULL;
	const char *s = (const char *)c->base + c->pos;
	const char *nul = (const char *)memchr(s, 0, c->size - c->pos);
	if (!nul)
		return NULL;
	c->pos += (size_t)(nul - s) + 1;
	return s;
}

/* A cursor over len bytes at off of c's bounds, whatever c's position. */
static inline bool cursor_sub(const struct cursor *c, uint64_t off, uint64_t len,
			      struct cursor *sub)
{
	if (off > c->size || len > c->size - off)
		return false;
	*sub = (struct cursor){
		.base = c->base ? c->base + off : NULL,
		.size = (size_t)len,
		.swap = c->swap,
		.name = c->name,
		.origin = c->origin + off,
	};
	return true;
}

/* A cursor over the next len bytes, which c moves past. */
static inline bool cursor_take(struct cursor *c, uint64_t len, struct cursor *sub)
{
	if (!cursor_sub(c, c->pos, len, sub))
		return false;
	c->pos += (size_t)len;
	return true;
}

/* An EBADMSG error at the cursor's place: "NAME: offset 0x…: MESSAGE". */
struct error *cursor_error(const struct cursor *c, const char *fmt, ...) _printf_(2, 3) _cold_;

#endif
