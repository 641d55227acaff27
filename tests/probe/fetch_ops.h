/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the operations of fetch programs compute, in the plainest way: the
 * oracles' side, which shares nothing with the code that is tested.
 */
#ifndef TESTS_PROBE_FETCH_OPS_H
#define TESTS_PROBE_FETCH_OPS_H

#include <errno.h>
#include <stdint.h>

#include "probe/fetch/fetch.h"

/* Of two entries of the stack, b on top. 0, or the errno of what failed. */
static inline int fetch_binary(enum fetch_op op, uint64_t a, uint64_t b, uint64_t *r)
{
	const int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case FETCH_PLUS:
		*r = a + b;
		break;
	case FETCH_MINUS:
		*r = a - b;
		break;
	case FETCH_MUL:
		*r = a * b;
		break;
	case FETCH_DIV:
		if (!b)
			return EDOM;
		*r = b == ~0ull ? -a : (uint64_t)(sa / sb);
		break;
	case FETCH_MOD:
		if (!b)
			return EDOM;
		*r = a % b;
		break;
	case FETCH_AND:
		*r = a & b;
		break;
	case FETCH_OR:
		*r = a | b;
		break;
	case FETCH_XOR:
		*r = a ^ b;
		break;
	case FETCH_SHL:
		*r = b < 64 ? a << b : 0;
		break;
	case FETCH_SHR:
		*r = b < 64 ? a >> b : 0;
		break;
	case FETCH_SHRA:
		*r = b < 64 ? (uint64_t)(sa >> b) : sa < 0 ? ~0ull : 0;
		break;
	case FETCH_EQ:
		*r = sa == sb;
		break;
	case FETCH_NE:
		*r = sa != sb;
		break;
	case FETCH_LT:
		*r = sa < sb;
		break;
	case FETCH_LE:
		*r = sa <= sb;
		break;
	case FETCH_GT:
		*r = sa > sb;
		break;
	case FETCH_GE:
		*r = sa >= sb;
		break;
	default:
		return EINVAL;
	}
	return 0;
}

#endif
