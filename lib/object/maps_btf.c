// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps as BTF definitions: variables of section .maps whose type is a struct
 * that is never read, only looked at. Its members say by their types what the
 * map is like:
 *
 *	int (*type)[BPF_MAP_TYPE_HASH];	a number: the length of an array that
 *					the member points to (__uint)
 *	enum { unique = N } map_extra;	a number beyond 32 bits (__ulong)
 *	struct key *key;		a type: what the member points to (__type)
 *	struct inner *values[];		the shape of inner maps (__array)
 */
#include "lib/object/open_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/sys/uapi.h"

#define PIN_NONE    0
#define PIN_BY_NAME 1

struct definition {
	struct bpf_object *obj;
	const char *map;
	bool is_inner;
};

static struct error *bad(const struct definition *def, const char *member, const char *what)
{
	return error_new(EINVAL, "map '%s': attribute '%s' %s", def->map, member, what);
}

/* The number that a member's type stands for. */
static struct error *read_number(const struct definition *def, const char *member, uint32_t type_id,
				 uint64_t *value)
{
	const struct btf *btf = def->obj->btf;
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, type_id, NULL);

	if (t && btf_is_enum(t) && btf_vlen(t) == 1) {
		*value = (uint32_t)btf_enum(t)->val;
		return NULL;
	}
	if (t && btf_is_enum64(t) && btf_vlen(t) == 1) {
		*value = btf_enum64_value(btf_enum64(t));
		return NULL;
	}
	if (!t || !btf_is_ptr(t))
		return bad(def, member, "is not written with __uint()");
	t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_array(t))
		return bad(def, member, "is not written with __uint()");
	*value = btf_array(t)->nelems;
	return NULL;
}

/* The type that a member points to, and its size in bytes. */
static struct error *read_type(const struct definition *def, const char *member, uint32_t type_id,
			       uint32_t *pointee, uint32_t *size)
{
	const struct btf *btf = def->obj->btf;
	const struct btf_type *t = btf__type_by_id(btf, type_id);

	if (!t || !btf_is_ptr(t))
		return bad(def, member, "is not written with __type()");
	const int64_t bytes = btf__resolve_size(btf, t->type);
	if (bytes < 0 || bytes > UINT32_MAX)
		return bad(def, member, "points to a type without a size");
	if (*size && *size != bytes)
		return bad(def, member, "has another size than its size attribute");
	*pointee = t->type;
	*size = (uint32_t)bytes;
	return NULL;
}

static struct error *read_struct(const struct definition *def, const struct btf_type *t,
				 struct bpf_map *map);

/* "values": a flexible array of pointers to the inner maps' definition, or to programs. */
static struct error *read_values(const struct definition *def, const struct btf_member *m,
				 struct bpf_map *map)
{
	const struct btf *btf = def->obj->btf;
	const struct btf_type *t = btf__type_by_id(btf, m->type);

	if (def->is_inner)
		return bad(def, "values", "is inside an inner map: maps nest only one level deep");
	if (!t || !btf_is_array(t) || btf_array(t)->nelems)
		return bad(def, "values", "is not written with __array()");
	t = btf_skip_mods_and_typedefs(btf, btf_array(t)->type, NULL);
	if (t && btf_is_ptr(t))
		t = btf_skip_mods_and_typedefs(btf, t->type, NULL);
	map->values_offset = m->offset / 8;
	if (map->type == BPF_MAP_TYPE_PROG_ARRAY) {
		if (!t || !btf_is_func_proto(t))
			return bad(def, "values", "is not an array of programs");
		map->value_size = sizeof(uint32_t);
		if (!map->key_size)
			map->key_size = sizeof(uint32_t);
		return NULL;
	}
	if (!t || !btf_is_struct(t))
		return bad(def, "values", "is not an array of map definitions");

	map->inner = calloc(1, sizeof(*map->inner));
	if (!map->inner)
		return error_nomem();
	map->inner->obj = map->obj;
	map->inner->origin = MAP_INNER;
	map->inner->name = map->inner->kernel_name = map->name;
	map->inner->fd = map->inner->inner_fd = -1;
	map->inner->autocreate = true;
	const struct definition inner = {.obj = def->obj, .map = def->map, .is_inner = true};
	TRY(read_struct(&inner, t, map->inner));
	map->value_size = sizeof(uint32_t);
	if (!map->key_size)
		map->key_size = sizeof(uint32_t);
	return NULL;
}

static struct error *read_pinning(const struct definition *def, uint64_t how, struct bpf_map *map)
{
	if (how == PIN_NONE)
		return NULL;
	if (how != PIN_BY_NAME)
		return bad(def, "pinning", "is neither LIBBPF_PIN_NONE nor LIBBPF_PIN_BY_NAME");
	if (def->is_inner)
		return bad(def, "pinning", "is inside an inner map");
	if (asprintf(&map->pin_path, "%s/%s", def->obj->pin_root, map->name) < 0) {
		map->pin_path = NULL;
		return error_nomem();
	}
	return NULL;
}

static struct error *unknown_member(const struct definition *def, const char *member)
{
	static const char *const known[] = {
		"type",	     "key",	  "value",     "key_size", "value_size", "max_entries",
		"map_flags", "numa_node", "map_extra", "pinning",  "values",
	};
	struct nearest near = nearest_make(member);

	if (def->obj->relaxed_maps) {
		log_warn(def->obj->log, "%s: map %s: attribute '%s' is ignored", def->obj->path,
			 def->map, member);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		nearest_offer(&near, known[i]);
	struct error *err = bad(def, member, "is not known");
	return error_suggest(err, &near);
}

static struct error *read_member(const struct definition *def, const struct btf_member *m,
				 struct bpf_map *map)
{
	static const struct {
		const char *name;
		size_t offset;
	} numbers[] = {
		{"type", offsetof(struct bpf_map, type)},
		{"key_size", offsetof(struct bpf_map, key_size)},
		{"value_size", offsetof(struct bpf_map, value_size)},
		{"max_entries", offsetof(struct bpf_map, max_entries)},
		{"map_flags", offsetof(struct bpf_map, flags)},
		{"numa_node", offsetof(struct bpf_map, numa_node)},
	};
	const char *name = btf__name_by_offset(def->obj->btf, m->name_off);
	uint64_t number;

	if (!name || !name[0])
		return error_new(EINVAL, "map '%s': an attribute without a name", def->map);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!str_equal(name, numbers[i].name))
			continue;
		TRY(read_number(def, name, m->type, &number));
		uint32_t *field = (uint32_t *)((char *)map + numbers[i].offset);
		if (number > UINT32_MAX)
			return bad(def, name, "is more than 32 bits");
		if (*field && *field != number)
			return bad(def, name, "has another size than the type");
		*field = (uint32_t)number;
		return NULL;
	}
	if (str_equal(name, "map_extra"))
		return read_number(def, name, m->type, &map->extra);
	if (str_equal(name, "key"))
		return read_type(def, name, m->type, &map->btf_key_type_id, &map->key_size);
	if (str_equal(name, "value"))
		return read_type(def, name, m->type, &map->btf_value_type_id, &map->value_size);
	if (str_equal(name, "values"))
		return read_values(def, m, map);
	if (str_equal(name, "pinning")) {
		TRY(read_number(def, name, m->type, &number));
		return read_pinning(def, number, map);
	}
	return unknown_member(def, name);
}

static struct error *read_struct(const struct definition *def, const struct btf_type *t,
				 struct bpf_map *map)
{
	const struct btf_member *m = btf_members(t);

	for (unsigned i = 0; i < btf_vlen(t); i++)
		TRY(read_member(def, &m[i], map));
	if (map->type == BPF_MAP_TYPE_UNSPEC)
		return error_hint(error_new(EINVAL, "map '%s' has no type", def->map),
				  "add __uint(type, BPF_MAP_TYPE_…)");
	if (is_ring(map->type) && map->max_entries)
		map->max_entries = ring_size(map->max_entries);
	return NULL;
}

static struct error *map_read(struct bpf_object *obj, const struct btf_type *var,
			      const struct elf_symbol *sym)
{
	const struct definition def = {.obj = obj, .map = sym->name};
	const struct btf_type *t = btf_skip_mods_and_typedefs(obj->btf, var->type, NULL);

	if (!t || !btf_is_struct(t))
		return error_new(EINVAL, "map '%s' is not a struct", sym->name);
	struct bpf_map *map = object_add_map(obj, MAP_BTF, sym->name, sym->section, sym->value);
	if (!map)
		return error_nomem();
	return read_struct(&def, t, map);
}

static struct error *maps_read(struct bpf_object *obj, const struct btf_type *datasec)
{
	struct strmap _cleanup_(strmap_deinit) symbols = {0};
	struct elf_symbol *sym;

	vec_for_each (sym, &obj->symbols) {
		if (sym->section == obj->btf_maps_section->index && sym->name[0] &&
		    sym->type != STT_SECTION && !strmap_put(&symbols, sym->name, sym))
			return error_nomem();
	}
	if (!vec_reserve(&obj->maps, obj->maps.n + btf_vlen(datasec)))
		return error_nomem();

	const struct btf_var_secinfo *vi = btf_var_secinfos(datasec);
	for (unsigned i = 0; i < btf_vlen(datasec); i++) {
		const struct btf_type *var = btf__type_by_id(obj->btf, vi[i].type);
		const char *name = var && btf_is_var(var) ? btf_name(obj->btf, var) : "";
		const struct elf_symbol *found = strmap_get(&symbols, name);

		if (!found)
			return error_new(EBADMSG, "map '%s' has no symbol", name);
		if (object_map_at(obj, found->section, found->value) >= 0)
			return error_new(EBADMSG, "map '%s' is defined twice", name);
		TRY(map_read(obj, var, found));
	}
	return NULL;
}

struct error *maps_btf_find(struct bpf_object *obj)
{
	const struct elf_section *sec = obj->btf_maps_section;

	if (!sec)
		return NULL;
	const int id = obj->btf ? btf__find_by_name_kind(obj->btf, ".maps", BTF_KIND_DATASEC) : -1;
	if (id < 0)
		return error_hint(error_at(error_new(EINVAL, "the object has no BTF for its maps"),
					   "section .maps"),
				  "compile with clang -g, which generates BTF for -target bpf");
	return error_at(maps_read(obj, btf__type_by_id(obj->btf, (uint32_t)id)), "section .maps");
}
