/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of an object between open and load: global variables by name (--set), and the sizes of
 * maps (--map-entries).
 */
#ifndef PB_RUN_VARIABLES_H
#define PB_RUN_VARIABLES_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "lib/base/error.h"

/*
 * Sets what text says in an object that is not loaded. ENOENT, with near names: the object has no
 * such variable or map (*found false when found is not NULL: then that is not an error).
 */
typedef struct error *setting_fn(struct bpf_object *obj, const char *text, bool *found);
/* "NAME=VALUE", see object_set_variable(). */
setting_fn variable_set;
/* "NAME=N": how many entries a map has room for; of a ring N is bytes. */
setting_fn entries_set;

#endif
