// SPDX-License-Identifier: BSD-2-Clause
#include "perf/annotate/function_code.h"

/* A recording may say that a function has any size. All functions are below by far. */
#define MAX_FUNCTION ((uint64_t)16 << 20)

struct error *function_code_find(struct code_files *files, struct resolver *r,
				 const struct counted_function *f, struct function_code *out)
{
	const struct location start = {.map = f->map, .sym = f->sym, .dso_addr = f->sym->start};
	const uint64_t size = f->sym->end - f->sym->start;
	const bool is_bpf = f->map->dso->kind == DSO_BPF;
	struct code_bytes code;

	if (size > MAX_FUNCTION)
		return error_new(EFBIG, "it has %llu bytes, more than %llu",
				 (unsigned long long)size, (unsigned long long)MAX_FUNCTION);
	TRY(code_bytes_find(files, r, &start, &code));
	*out = (struct function_code){
		.bytes = code.bytes,
		.size = is_bpf ? code.size : min_of(size, code.size),
		.address = code.address,
		.machine = code.machine,
		.bpf = is_bpf ? &files->bpf : NULL,
		.in_kernel = code.in_kernel,
		.module = code.module,
	};
	return NULL;
}
