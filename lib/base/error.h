/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can fail inside returns a struct error *: NULL means it went well. An
 * error carries a positive errno, a message in the user's terms, the place
 * ("filter.o: section maps: offset 0x40") and, where there is one, a hint
 * that says what to do. Only cmd/ turns it into text for people:
 *
 *	perf-bpf: error: WHERE: MESSAGE
 *	hint: HINT
 *
 * The caller owns the error and frees it with error_free(). On failure every
 * out-parameter is left untouched.
 */
#ifndef PB_BASE_ERROR_H
#define PB_BASE_ERROR_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"

struct failure;

struct error {
	int code;		 /* positive errno */
	bool usage;		 /* the command line is wrong: the program exits with 2 */
	char *msg;		 /* never NULL */
	char *where;		 /* NULL: no place to name */
	char *hint;		 /* NULL: none */
	struct failure *failure; /* owned; lib/base/failure.h; NULL: nothing more is known */
};

/* A new error; never NULL: out of memory gives a static error of ENOMEM. */
struct error *error_new(int code, const char *fmt, ...) _printf_(2, 3) _cold_;
struct error *error_vnew(int code, const char *fmt, va_list ap) _cold_;

/* As error_new(), with ": strerror(code)" appended to the message. */
struct error *error_errno(int code, const char *fmt, ...) _printf_(2, 3) _cold_;

/*
 * A wrong command line: an option's value, a word too many. EINVAL, marked as
 * usage, so that nobody has to guess it from the code.
 */
struct error *error_usage(const char *fmt, ...) _printf_(1, 2) _cold_;
/* Marks an error of a room below, which was given a word of the command line. NULL stays NULL. */
struct error *error_mark_usage(struct error *err);

/*
 * An error in a text that somebody wrote, a condition for example, with a mark below the byte "at":
 *
 *	condition, column 7:
 *	  'prev_x > 5'
 *	         \___ unknown operator
 *
 * A place past the end is the end; control characters are shown as blanks.
 */
struct error *error_in_text(int code, const char *title, const char *text, size_t at,
			    const char *fmt, ...) _printf_(5, 6) _cold_;

/* The static out-of-memory error. */
struct error *error_nomem(void) _cold_;

/*
 * Add the place from the inside out: each call puts its text and ": " before
 * the place named so far. Returns err, so that it may stand in a return.
 * NULL stays NULL.
 */
struct error *error_at(struct error *err, const char *fmt, ...) _printf_(2, 3);

/* Put text and ": " before the message. NULL stays NULL. */
struct error *error_prefix(struct error *err, const char *fmt, ...) _printf_(2, 3);

/* Set the hint, unless an inner one stands already. NULL stays NULL. */
struct error *error_hint(struct error *err, const char *fmt, ...) _printf_(2, 3);

/* Returns the first of two errors that is not NULL and frees the other one. */
struct error *error_either(struct error *first, struct error *second);

/* 0 for NULL, else the negative errno, for the libbpf-compatible edge. */
int error_to_errno(const struct error *err);

/* Frees err (NULL and the static error too). */
void error_free(struct error *err);
DEFINE_FREEP(struct error, error_free)
#define _cleanup_error_ _cleanup_(error_freep)

/* Return from the enclosing function when expr fails. */
#define TRY(expr)                                                                                  \
	do {                                                                                       \
		struct error *try_err_ = (expr);                                                   \
		if (try_err_)                                                                      \
			return try_err_;                                                           \
	} while (0)

#endif
