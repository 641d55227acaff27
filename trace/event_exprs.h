/* SPDX-License-Identifier: BSD-2-Clause */
/* The two kinds of what -e names: system calls, and other events. */
#ifndef PB_TRACE_EVENT_EXPRS_H
#define PB_TRACE_EVENT_EXPRS_H

#include "lib/base/error.h"
#include "lib/base/names.h"

/*
 * Adds the items of a list to those of its kind. An event has a ':' (sched:sched_switch, probe:…,
 * which is the rest of the list) or a '-' (page-faults), is FILE.c or FILE.o, or has terms or
 * braces. A list that begins with '!' has only calls.
 */
struct error *event_exprs_split(const char *list, struct names *calls, struct names *events);

#endif
