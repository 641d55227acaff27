/* SPDX-License-Identifier: BSD-2-Clause */
/* How many entries a map has room for, other than its author said: --map-entries. */
#ifndef PB_RUN_ENTRIES_H
#define PB_RUN_ENTRIES_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "lib/base/error.h"

/*
 * "NAME=N" for the maps of an object that is not loaded; of a ring N is bytes.
 * ENOENT, with near names: it has no such map (*found false when found is not
 * NULL: then that is no error).
 */
struct error *entries_set(struct bpf_object *obj, const char *text, bool *found);

#endif
