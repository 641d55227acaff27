/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digits written at an address, for output of which there are millions of lines: printf(), and even
 * a check of the room for each number, cost more than the digits. The caller has made the room.
 */
#ifndef PB_BASE_DIGITS_H
#define PB_BASE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

extern const uint64_t digits_powers[20];
extern const char digits_pairs[200];

/* How many decimal digits v has, 1 to 20: an estimate by its bits, which is one too many or right.
 */
static inline unsigned digits_count(uint64_t v)
{
	const unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
	const unsigned log10 = bits * 1233 >> 12; /* 1233 / 4096 is a little more than log10(2) */

	return log10 + 1 - (v < digits_powers[log10]);
}

/* The last n decimal digits of v, with zeros in front; where they end. */
static inline char *digits_put(char *to, uint64_t v, unsigned n)
{
	char *s = to + n;

	for (; s - to >= 2; v /= 100) {
		s -= 2;
		memcpy(s, digits_pairs + 2 * (v % 100), 2);
	}
	if (s > to)
		*to = (char)('0' + v % 10);
	return to + n;
}

/* The last 8 hexadecimal digits of v. */
static inline void digits_put_hex8(char *to, uint64_t v)
{
	/* one digit in each byte; then '0' for all, and 'a' - '0' - 10 more for those above 9 */
	uint64_t x = v & 0xffffffff;
	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
	const uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	x = htobe64(x + 0x3030303030303030 + letters * 39);
	memcpy(to, &x, sizeof(x));
}

#endif
