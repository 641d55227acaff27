// SPDX-License-Identifier: BSD-2-Clause
#include "inspect/variable.h"

#include <string.h>

#include "lib/base/names.h"
#include "lib/btf/open.h"

struct error *object_variable_find(struct bpf_object *obj, const char *name, struct map_variable *v)
{
	const struct btf *btf = bpf_object__btf(obj);
	struct nearest near = nearest_make(name);

	for (uint32_t id = btf ? btf_start_id(btf) : 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *sec = btf__type_by_id(btf, id);

		/* .data, .rodata, .bss and their kin: not "license", not ".maps" */
		if (!btf_is_datasec(sec) || btf_name(btf, sec)[0] != '.')
			continue;
		struct bpf_map *map = bpf_object__find_map_by_name(obj, btf_name(btf, sec));
		size_t size = 0;
		uint8_t *data = map ? bpf_map__initial_value(map, &size) : NULL;

		for (uint32_t i = 0; data && i < btf_vlen(sec); i++) {
			const struct btf_var_secinfo *info = btf_var_secinfos(sec) + i;
			const struct btf_type *var = btf__type_by_id(btf, info->type);
			const char *its = btf_name(btf, var);

			if (!btf_is_var(var) || strcmp(its, name)) {
				nearest_offer(&near, its);
				continue;
			}
			if ((uint64_t)info->offset + info->size > size)
				return error_new(EINVAL,
						 "variable '%s' has no initial value to set", name);
			*v = (struct map_variable){data + info->offset, var->type, info->size};
			return NULL;
		}
	}
	struct error *err = error_new(ENOENT, "the program has no global variable '%s'", name);
	if (!btf)
		return error_hint(err, "the object has no BTF: compile it with -g");
	return error_hint(error_suggest(err, &near), "declare it as in: const volatile int %s = 1;",
			  name);
}
