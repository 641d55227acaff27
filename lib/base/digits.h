/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digits written at an address, for output of which there are millions of lines: printf(), and even
 * a check of the room for each number, cost more than the digits. The caller has made the room, for
 * the digits and DIGITS_SLACK bytes behind them, which may be overwritten.
 */
#ifndef PB_BASE_DIGITS_H
#define PB_BASE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

extern const uint64_t digits_powers[20];
extern const char digits_hex[513]; /* "000102…ff" */

enum { DIGITS_SLACK = 8 };

/*
 * How many decimal digits v has, 1 to 20. The number of its bits gives an estimate that is right or
 * one too many; a power of 10 tells which.
 */
static inline unsigned digits_count(uint64_t v)
{
	const unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
	const unsigned log10 = bits * 1233 >> 12; /* 1233 / 4096 is a little more than log10(2) */

	return log10 + 1 - (v < digits_powers[log10]);
}

/*
 * v, which is below 10^8, as 8 ASCII digits: the first one is in the lowest byte. All digits are
 * made at once: v is split into two numbers of 4 digits, which stay in the two halves of the word,
 * each of these into two of 2 digits, and each of these into two digits, one per byte. A division
 * by 100 or by 10 is a multiplication and a shift, which is exact for numbers so small.
 */
static inline uint64_t digits_of8(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t tens = (x * 10486 >> 20) & 0x0000007f0000007f; /* / 100 */
	x = tens | (x - tens * 100) << 16;
	tens = (x * 103 >> 10) & 0x000f000f000f000f; /* / 10 */
	x = tens | (x - tens * 10) << 8;
	return x + 0x3030303030303030;
}

/* The last n digits of v, which is below 10^8; n is from 1 to 8. */
static inline char *digits_put_8(char *to, uint64_t v, unsigned n)
{
	const uint64_t text = htole64(digits_of8((uint32_t)v) >> 8 * (8 - n));

	memcpy(to, &text, 8);
	return to + n;
}

/* The last n decimal digits of v, 20 at most, with zeros in front; where they end. */
static inline char *digits_put(char *to, uint64_t v, unsigned n)
{
	/* From the front: what is written behind some digits is overwritten by the next ones. */
	if (n > 16) {
		to = digits_put_8(to, v / 10000000000000000, n - 16);
		n = 16;
	}
	if (n > 8) {
		to = digits_put_8(to, v / 100000000 % 100000000, n - 8);
		n = 8;
	}
	return digits_put_8(to, v % 100000000, n);
}

/*
 * v as 16 hexadecimal digits, the leading zeros as spaces. What is behind the last digit may be
 * overwritten as far as 16 bytes.
 */
static inline void digits_put_hex16(char *to, uint64_t v)
{
	const unsigned spaces = (unsigned)__builtin_clzll(v | 1) / 4;

	memset(to, ' ', 16);
	to += spaces;
	v <<= 4 * spaces;
#pragma GCC unroll 8
	for (int at = 56; at >= 0; at -= 8, to += 2)
		memcpy(to, digits_hex + 2 * (v >> at & 0xff), 2);
}

#endif
