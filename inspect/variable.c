// SPDX-License-Identifier: BSD-2-Clause
#include "inspect/variable.h"

#include <string.h>

#include "lib/base/names.h"
#include "lib/btf/open.h"

/* Called with each variable of the name; *done: no more are looked for. */
typedef struct error *(*variable_fn)(void *ctx, const struct map_variable *v, bool *done);

/* Names that are not the one are offered to near, if it is there. */
static struct error *for_each_of(struct bpf_object *obj, const char *name, struct nearest *near,
				 variable_fn fn, void *ctx)
{
	const struct btf *btf = bpf_object__btf(obj);
	bool done = false;

	for (uint32_t id = btf ? btf_start_id(btf) : 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *sec = btf__type_by_id(btf, id);

		/* .data, .rodata, .bss and their kin: not "license", not ".maps" */
		if (!btf_is_datasec(sec) || btf_name(btf, sec)[0] != '.')
			continue;
		struct bpf_map *map = bpf_object__find_map_by_name(obj, btf_name(btf, sec));
		size_t size = 0;
		uint8_t *data = map ? bpf_map__initial_value(map, &size) : NULL;

		for (uint32_t i = 0; data && i < btf_vlen(sec) && !done; i++) {
			const struct btf_var_secinfo *info = btf_var_secinfos(sec) + i;
			const struct btf_type *var = btf__type_by_id(btf, info->type);
			const char *its = btf_name(btf, var);

			if (!btf_is_var(var) || strcmp(its, name)) {
				if (near)
					nearest_offer(near, its);
				continue;
			}
			if ((uint64_t)info->offset + info->size > size)
				return error_new(EINVAL,
						 "variable '%s' has no initial value to set", name);
			TRY(fn(ctx,
			       &(struct map_variable){data + info->offset, var->type, info->size},
			       &done));
		}
	}
	return NULL;
}

static struct error *take_first(void *ctx, const struct map_variable *v, bool *done)
{
	*(struct map_variable *)ctx = *v;
	*done = true;
	return NULL;
}

struct error *object_variable_find(struct bpf_object *obj, const char *name, struct map_variable *v)
{
	struct nearest near = nearest_make(name);
	struct map_variable found = {0};

	TRY(for_each_of(obj, name, &near, take_first, &found));
	if (found.data) {
		*v = found;
		return NULL;
	}
	struct error *err = error_new(ENOENT, "the program has no global variable '%s'", name);
	if (!bpf_object__btf(obj))
		return error_hint(err, "the object has no BTF: compile it with -g");
	return error_hint(error_suggest(err, &near), "declare it as in: const volatile int %s = 1;",
			  name);
}

struct error *object_constants_each(struct bpf_object *obj, constant_fn *fn, void *ctx)
{
	const struct btf *btf = bpf_object__btf(obj);

	for (uint32_t id = btf ? btf_start_id(btf) : 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *sec = btf__type_by_id(btf, id);

		if (!btf_is_datasec(sec) || strncmp(btf_name(btf, sec), ".rodata", 7))
			continue;
		struct bpf_map *map = bpf_object__find_map_by_name(obj, btf_name(btf, sec));
		size_t size = 0;
		uint8_t *data = map ? bpf_map__initial_value(map, &size) : NULL;

		for (uint32_t i = 0; data && i < btf_vlen(sec); i++) {
			const struct btf_var_secinfo *info = btf_var_secinfos(sec) + i;
			const struct btf_type *var = btf__type_by_id(btf, info->type);
			const struct map_variable v = {data + info->offset, var->type, info->size};

			if (btf_is_var(var) && (uint64_t)info->offset + info->size <= size)
				TRY(fn(ctx, btf_name(btf, var), &v));
		}
	}
	return NULL;
}

struct setting {
	const char *name;
	const void *data;
	size_t size, n;
};

static struct error *check_size(void *ctx, const struct map_variable *v, bool *done)
{
	struct setting *set = ctx;

	set->n++;
	return v->size == set->size ? NULL
				    : error_new(EINVAL, "%s has %u bytes, not %zu", set->name,
						v->size, set->size);
}

static struct error *write_value(void *ctx, const struct map_variable *v, bool *done)
{
	const struct setting *set = ctx;

	memcpy(v->data, set->data, set->size);
	return NULL;
}

struct error *object_variables_set(struct bpf_object *obj, const char *name, const void *data,
				   size_t size, size_t *n)
{
	struct setting set = {.name = name, .data = data, .size = size};

	TRY(for_each_of(obj, name, NULL, check_size, &set));
	*n = set.n;
	return for_each_of(obj, name, NULL, write_value, &set);
}
