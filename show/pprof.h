/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks as a profile that pprof reads: a gzipped protocol buffer, message
 * Profile of https://github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * Each map of stacks is a sample type, named as the map; each event of a recording is two: its
 * name, in the event's unit, and "NAME samples". A sample has a label
 * "who" and its locations, the innermost first. A location is an address, with the
 * function that it is in; a frame that stands for a function has the function's
 * first address. Functions are distinguished by name and module. A mapping is a
 * module at one place, with its build-id if it is known.
 */
#ifndef PB_SHOW_PPROF_H
#define PB_SHOW_PPROF_H

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "show/result.h"

/* Adds the whole file. Results that are no stacks are left out. */
struct error *results_pprof(const struct results *results, struct strbuf *out);

#endif
