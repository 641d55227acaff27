/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as they lie in the memory of a BTF type: integers of any size, bit
 * fields, enums and floats, in the host's byte order. Everybody who reads a
 * value by its type stands on this, so that all read the same.
 *
 * The caller has checked that the bytes are there: of n bits from a bit on,
 * value_bytes(bit, n) of them.
 */
#ifndef PB_BTF_VALUE_H
#define PB_BTF_VALUE_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/strbuf.h"

/* The lowest bits of v as a signed number; 0 or 64 and more bits: v as it is. */
static inline int64_t value_sign_extend(uint64_t v, uint32_t bits)
{
	return bits && bits < 64 ? (int64_t)(v << (64 - bits)) >> (64 - bits) : (int64_t)v;
}

/* The integer of size bytes at p, at most 8; 0 bytes: 0. */
static inline uint64_t value_uint(const void *p, uint32_t size)
{
	uint64_t v64 = 0;
	uint32_t v32;
	uint16_t v16;

	switch (size) {
	case 8:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return v32;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return v16;
	case 1:
		return *(const uint8_t *)p;
	default: /* of a size that no integer has */
		size = size < 8 ? size : 8;
		for (uint32_t i = 0; i < size; i++)
			v64 |= (uint64_t)((const uint8_t *)p)[i]
			       << 8 * (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? size - 1 - i : i);
		return v64;
	}
}

static inline int64_t value_int(const void *p, uint32_t size)
{
	return value_sign_extend(value_uint(p, size), size * 8);
}

/* Stores the lowest size bytes of v, at most 8. */
static inline void value_put_uint(void *p, uint32_t size, uint64_t v)
{
	const char *from = (const char *)&v;

	memcpy(p, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? from + 8 - size : from, size);
}

/* An integer of 16 bytes. */
static inline unsigned __int128 value_wide(const void *p)
{
	unsigned __int128 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Bytes that n bits from a bit on touch; bits are counted from p's first byte. */
static inline uint64_t value_bytes(uint64_t bit, uint32_t n)
{
	return (bit + n + 7) / 8;
}

/*
 * n bits, at most 64, from a bit on, which is a byte's lowest on little-endian
 * machines, else its highest, as the compilers for them count.
 */
uint64_t value_bits(const void *p, uint64_t bit, uint32_t n);
/* Stores the lowest n bits of v there, and leaves those around them. */
void value_put_bits(void *p, uint64_t bit, uint32_t n, uint64_t v);

/* What a type without members or elements is. */
enum value_kind {
	VALUE_NONE, /* it has some, or no value can be of it */
	VALUE_INT,  /* an integer, of 8 bytes at most */
	VALUE_WIDE, /* a whole integer of more: 16 bytes is value_wide() */
	VALUE_BOOL,
	VALUE_ENUM, /* value_enum_is_flags() tells sets of flags */
	VALUE_POINTER,
	VALUE_FLOAT, /* value_is_float_size() tells whether the host has it */
};

struct value_scalar {
	enum value_kind kind;
	bool is_signed;
	uint32_t size; /* of the type, bytes; 0: "enum e;" alone */
	uint32_t bit;  /* of a bit field: its first bit, in the first byte … */
	uint32_t bits; /* … and its width, which may be more than 64; 0: no bit field */
};

/*
 * Classifies t, which is neither a modifier nor a typedef. The value begins at a bit, and is a bit
 * field of so many bits, or 0; what does not begin at a byte is one, too.
 */
struct value_scalar value_scalar_of(const struct btf *btf, const struct btf_type *t, uint64_t bit,
				    uint32_t bits);

/* Bytes that it touches, from its first byte on. */
static inline uint64_t value_scalar_bytes(const struct value_scalar *s)
{
	return s->bits ? value_bytes(s->bit, s->bits) : s->size;
}

/* Its number, of 64 bits at most, sign-extended if it is signed; p: its first byte. */
static inline uint64_t value_number(const struct value_scalar *s, const void *p)
{
	const uint64_t v = s->bits ? value_bits(p, s->bit, s->bits) : value_uint(p, s->size);

	return s->is_signed ? (uint64_t)value_sign_extend(v, s->bits ? s->bits : s->size * 8) : v;
}

/* Whether the host has floats of that size: 4, 8, and what a long double has. */
bool value_is_float_size(uint32_t size);
/* The float of size bytes at p; 0 for a size that is not one. */
long double value_float(const void *p, uint32_t size);
/*
 * -1, 0 or 1: a is less than b, the same (0 and -0 are), or more. What is not a
 * number is less than all that are.
 */
int value_compare_floats(const void *a, const void *b, uint32_t size);

/* The name of value v of an ENUM or ENUM64, sign-extended if that is signed; NULL: it has none. */
const char *value_enum_name(const struct btf *btf, const struct btf_type *t, uint64_t v);

/*
 * Flag enums. BTF does not say which enums are sets of flags, and bpftool and pahole show the
 * number of a value without a name. Here an enum is one of flags if
 *
 *	- two of its values are single bits,
 *	- each other value but 0 is a combination of those ("ALL = A | B"), and
 *	- its values are not simply 1, 2, 3 … to the largest: then 3 is the third
 *	  value of a list, not the first two together. {1, 2} is such a list, too.
 *
 * A value that has a name of its own is shown by that, also a combination. Any other is shown
 * as its bits in the order of the enum, with the bits that have no name at the end:
 * "READ|WRITE|0x40". A value without a bit that has a name remains a number.
 */
bool value_enum_is_flags(const struct btf *btf, const struct btf_type *t);

/* An enumerator that is a single bit, which is one of v's. */
static inline bool value_is_flag_of(uint64_t enumerator, uint64_t v)
{
	return enumerator & v && !(enumerator & (enumerator - 1));
}

/* v without the bits that an enum of size bytes does not have: those of its sign. */
static inline uint64_t value_enum_bits(uint64_t v, uint32_t size)
{
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* Adds the name of v, or the names of its flags; false: there are none, and nothing was added. */
bool value_enum_add(const struct btf *btf, const struct btf_type *t, uint64_t v,
		    struct strbuf *out);

#endif
