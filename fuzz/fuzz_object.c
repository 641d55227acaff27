// SPDX-License-Identifier: BSD-2-Clause
/* Objects: opened, and their programs laid out, without a BPF system call. */
#include <stdlib.h>
#include <string.h>

#include "lib/object/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	_cleanup_error_ struct error *err = object_open_mem(data, size, NULL, NULL, &obj);
	struct bpf_program *prog;
	struct bpf_map *map;

	if (err)
		return 0;

	/* CO-RE against the object's own types, so that nothing of the machine's is read. */
	uint32_t btf_size;
	const void *raw = obj->btf ? btf__raw_data(obj->btf, &btf_size) : NULL;
	obj->btf_custom_path = strdup("itself");
	obj->custom_btf = raw ? btf__new(raw, btf_size) : btf__new_empty();
	bpf_object__for_each_program (prog, obj) {
		char *system, *name;

		bpf_program__set_autoload(prog, true);
		struct error *failed = program_tracepoint(prog, &system, &name);
		if (!failed) {
			free(system);
			free(name);
		}
		error_free(failed);
	}
	bpf_object__for_each_map (map, obj)
		if (bpf_map__is_internal(map) && bpf_map__value_size(map) < 1 << 20)
			bpf_map__initial_value(map, NULL);
	err = programs_prepare(obj);
	return 0;
}
