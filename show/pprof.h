/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks as a profile that pprof reads: a gzipped protocol buffer, message
 * Profile of https://github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * Each map of stacks is a sample type, named as the map; each event of a recording is two: its
 * name, in the event's unit, and "NAME samples". A sample has a label
 * "who" and its functions, the innermost first. Functions are told apart by
 * name and module; a module is a mapping. Notes about lost stacks are comments.
 */
#ifndef PB_SHOW_PPROF_H
#define PB_SHOW_PPROF_H

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "show/result.h"

/* Adds the whole file. Results that are no stacks are left out. */
struct error *results_pprof(const struct results *results, struct strbuf *out);

#endif
