/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls with a condition, as an argument of -e:
 *
 *	openat,openat2 { return args->flags & O_CREAT; }
 *
 * The body is that of a program typed as text (oneliner/), as far as the conditions of
 * call_conditions.h can say it: it returns an expression of comparisons.
 */
#ifndef PB_TRACE_CALL_BODY_H
#define PB_TRACE_CALL_BODY_H

#include <stdbool.h>

#include "lib/base/error.h"

/* Whether the argument has a body: groups of events, {cycles,instructions}, have none. */
bool call_body_is(const char *text);

/*
 * The calls, and the condition as call_conditions_make() takes it: args.NAME is an argument of the
 * call. It has the columns of the text. Both are the caller's. Errors are of usage.
 */
struct error *call_body_read(const char *text, char **calls, char **condition);

#endif
