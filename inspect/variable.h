/* SPDX-License-Identifier: BSD-2-Clause */
/* The global variables of an object between open and load, by name. */
#ifndef PB_INSPECT_VARIABLE_H
#define PB_INSPECT_VARIABLE_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include "lib/base/error.h"

/* Where a variable's initial value is; type is its own in the object's BTF, below the VAR. */
struct map_variable {
	uint8_t *data;
	uint32_t type, size;
};

/*
 * ENOENT, with near names: the object has none of that name in its data
 * sections. v is left alone then.
 */
struct error *object_variable_find(struct bpf_object *obj, const char *name,
				   struct map_variable *v);

/*
 * Each constant with an initial value ("const volatile"), which --set of run is meant for, in the
 * order of the object's BTF.
 */
typedef struct error *constant_fn(void *ctx, const char *name, const struct map_variable *v);
struct error *object_constants_each(struct bpf_object *obj, constant_fn *fn, void *ctx);

/*
 * Writes size bytes of data to each variable of that name: where objects were linked, static ones
 * are there once for each of them. *n: how many there are, which may be none. EINVAL: one has
 * another size; then none is written.
 */
struct error *object_variables_set(struct bpf_object *obj, const char *name, const void *data,
				   size_t size, size_t *n);

#endif
