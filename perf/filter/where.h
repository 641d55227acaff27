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
 *	FIELD   := [OWNER "."] NAME ["[" NUMBER "]"]
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
 * Text in, structure out: what a name stands for is the caller's. perf/filter has the owner
 * "sample", trace has the system calls.
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
	long index;	   /* of NAME[INDEX]; -1: none */
	const char *owner; /* of OWNER.NAME; NULL: none */
	size_t at;	   /* where the text has it first */
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

/*
 * The condition as a list of comparisons, for evaluation outside of this room, for example in a BPF
 * program. Evaluation starts with the first comparison; "yes" and "no" are WHERE_SELECT,
 * WHERE_REJECT or the index of the next one, which is later in the list. "!" is already applied to
 * the comparisons. If a comparison is neither true nor false, continue with "no". Numbers must not
 * be NaN.
 */
enum where_op {
	WHERE_EQ,
	WHERE_NE,
	WHERE_LT,
	WHERE_LE,
	WHERE_GT,
	WHERE_GE,
	WHERE_MATCH,
	WHERE_NO_MATCH,
};

enum {
	WHERE_SELECT = 0xffff, /* the condition is true */
	WHERE_REJECT = 0xfffe,
};

/* A field or a literal of one side of a comparison. */
struct where_part {
	bool is_field;
	size_t field, at;
	struct where_value value; /* of a literal */
	const char *pattern;	  /* of a string: the glob */
};

struct where_test {
	enum where_op op;
	size_t at;
	/* Sides are the parts of MASK: one, or several numbers whose common bits are compared. */
	const struct where_part *left, *right;
	size_t n_left, n_right;
	uint16_t yes, no;
};

struct where_tests {
	struct where_test *v; /* what they point to lasts as long as the condition */
	size_t n;
	struct where_part *parts;
};

/* A field that stands alone is compared with 0. */
struct error *where_tests_of(const struct where *w, struct where_tests *out);
void where_tests_deinit(struct where_tests *tests);

/* An error of usage with a mark at a byte of the condition. */
struct error *where_error_at(const struct where *w, size_t at, const char *fmt, ...) _printf_(3, 4);

#endif
