/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of counters. The rule for all of them: a sum never wraps. Where its type has no room for
 * it, it is the nearest number of the type, and the function returns false; the caller keeps that
 * and says it beside the number.
 */
#ifndef PB_BASE_SUM_H
#define PB_BASE_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* Adds to a sum of 64 bits without a sign. */
static inline bool sum_add(uint64_t *sum, uint64_t by)
{
	if (!__builtin_add_overflow(*sum, by, sum))
		return true;
	*sum = UINT64_MAX;
	return false;
}

/* The integer of 1 to 8 bytes that is nearest to v. */
static inline bool sum_fit(__int128 v, unsigned bytes, bool is_signed, uint64_t *fit)
{
	const __int128 high = ((__int128)1 << (bytes * 8 - is_signed)) - 1;
	const __int128 low = is_signed ? -high - 1 : 0;
	const __int128 nearest = v < low ? low : v > high ? high : v;

	*fit = (uint64_t)nearest;
	return nearest == v;
}

/* Adds to an integer of 16 bytes, or subtracts from it. */
static inline bool sum_wide(unsigned __int128 *sum, unsigned __int128 by, bool add, bool is_signed)
{
	const unsigned __int128 top = (unsigned __int128)1 << 127;
	const bool by_negative = is_signed && by >= top;
	__int128 s = (__int128)*sum;
	bool wraps;

	if (is_signed) {
		wraps = add ? __builtin_add_overflow(s, (__int128)by, &s)
			    : __builtin_sub_overflow(s, (__int128)by, &s);
		*sum = !wraps ? (unsigned __int128)s : add == by_negative ? top : top - 1;
		return !wraps;
	}
	wraps = add ? __builtin_add_overflow(*sum, by, sum) : __builtin_sub_overflow(*sum, by, sum);
	if (wraps)
		*sum = add ? ~(unsigned __int128)0 : 0;
	return !wraps;
}

#endif
