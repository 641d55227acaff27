/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names chosen by several globs, as perf probe's --filter has them:
 *
 *	vfs_* | ksys_*		one or the other
 *	!_* & *read		both; those that do not begin with '_'
 *	!(a* | b*)
 *
 * '!' binds closest, then '&', then '|'. A blank, or one of "|&()", ends a
 * glob, and so does '!' but within [...]; '\' takes the next character as it
 * is.
 */
#ifndef PB_PROBE_POINT_NAME_FILTER_H
#define PB_PROBE_POINT_NAME_FILTER_H

#include <stdbool.h>

#include "lib/base/error.h"

/* An error of usage when it is not a filter; the message names the column. */
struct error *name_filter_check(const char *filter);

/* Whether a filter that name_filter_check() takes lets the name through. */
bool name_filter_match(const char *filter, const char *name);

#endif
