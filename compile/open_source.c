// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "compile/compile_object.h"
#include "lib/object/object.h"

struct error *compile_open(const char *path, const struct compile_opts *opts, const struct log *log,
			   struct bpf_object **obj, void **image)
{
	_cleanup_compiled_ struct compiled compiled = {0};

	if (!compile_is_source(path)) {
		*image = NULL;
		return object_open_file(path, NULL, log, obj);
	}
	TRY(compile_object(path, opts, &compiled));
	struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = compiled.name};
	TRY(object_open_mem_of(compiled.data, compiled.size, path, &open, log, obj));
	*image = steal_ptr(compiled.data);
	return NULL;
}
