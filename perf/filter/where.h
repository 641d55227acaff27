/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions on the fields of samples:
 *
 *	count > 4096 && comm == "dd"
 *	filename ~ "*.so" || !(ret >= 0)
 *	sample.pid == 17 && args[1] & 0x40
 *
 *	OR      := AND ["||" AND]...
 *	AND     := NOT ["&&" NOT]...
 *	NOT     := "!" NOT | COMPARE
 *	COMPARE := MASK [("==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~") MASK]
 *	MASK    := VALUE ["&" VALUE]...
 *	VALUE   := "(" OR ")" | NUMBER | STRING | FIELD
 *	FIELD   := NAME | NAME "[" NUMBER "]" | "sample." NAME
 *
 * '&' binds more tightly than a comparison: "flags & 3 == 2" looks at two bits.
 * NUMBER is decimal, hexadecimal (0x) or octal (0), with '-' before it or with
 * a fraction. STRING is quoted by "" or ''; '\' takes the next character as it is.
 * '~' compares a string with a glob.
 *
 * Numbers compare by their values, whatever their size and sign: a signed -1 is
 * less than an unsigned 0. A sample without the field (another event's, or a
 * probe's argument that could not be read) makes a comparison neither true nor
 * false; only what is true selects, so that neither "count > 1" nor
 * "!(count > 1)" selects an event without count.
 *
 * Text in, structure out: what a name stands for is the caller's.
 */
#ifndef PB_PERF_FILTER_WHERE_H
#define PB_PERF_FILTER_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

struct where;

enum where_type {
	WHERE_NOTHING, /* the sample has no such field */
	WHERE_NUMBER,
	WHERE_STRING,
};

struct where_value {
	enum where_type type;
	bool is_signed, is_float; /* of a number */
	uint64_t number;	  /* sign-extended when signed */
	double real;		  /* when is_float */
	const char *str;	  /* of a string; borrowed, len bytes, maybe without a NUL */
	size_t len;
};

/* A field that the condition names; equal ones are one. */
struct where_field {
	const char *name;
	long index;  /* of NAME[INDEX]; -1: none */
	bool sample; /* "sample.NAME" */
	size_t at;   /* where the text has it first */
};

/*
 * Takes a condition apart. An error of usage has the text, a mark below the place
 * where it is wrong, and what is wrong there.
 */
struct error *where_parse(const char *text, struct where **out);
void where_free(struct where *w);
DEFINE_FREEP(struct where, where_free)

size_t where_n_fields(const struct where *w);
const struct where_field *where_field(const struct where *w, size_t i);

/* An error of usage with a mark at the field. */
struct error *where_field_error(const struct where *w, size_t i, const char *fmt, ...)
	_printf_(3, 4);

/*
 * Whether the condition fits fields of these types, which are in the order of
 * where_field(); WHERE_NOTHING fits everywhere. On an error *field is the one that
 * does not fit.
 */
struct error *where_check(const struct where *w, const enum where_type *types, size_t *field);

/* The value of the i-th field; what a string points to lasts until the next call for it. */
typedef struct where_value where_value_fn(void *ctx, size_t i);

/* Whether the condition is true. Never fails: what does not fit is neither true nor false. */
bool where_is_true(const struct where *w, where_value_fn *value, void *ctx);

#endif
