// SPDX-License-Identifier: BSD-2-Clause
/*
 * Global data: each of the sections .data, .rodata, .bss and their named
 * variants (.data.mine, .rodata.str1.1) becomes an array map of one value, the
 * section's bytes. Where the kernel can, the array is mapped (5.5), so that a
 * variable is read and written without a system call. .rodata is frozen at
 * load: the verifier then takes its values for constants and drops the code
 * that they rule out.
 *
 * The bytes stay in the file until somebody asks for them by
 * bpf_map__initial_value(): then they move to memory that the map itself later
 * takes the place of, so that a pointer into them stays good.
 */
#include "lib/object/load_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/sys/uapi.h"

/* libbpf's longest prefix of the object's name in "name.rodata" is what is left of 15 bytes. */
#define KERNEL_NAME_MAX (SYS_BPF_NAME_SIZE - 1)

/* Exactly the section, or the section followed by '.' and a name. */
static bool is_variant(const char *name, const char *base)
{
	const size_t len = strlen(base);

	return !strncmp(name, base, len) && (!name[len] || name[len] == '.');
}

/*
 * "filter.rodata" for the three common sections, the bare section for named
 * ones, as libbpf has it; what is no letter or digit becomes '_'.
 */
char *data_map_name(const struct bpf_object *obj, const char *section)
{
	char *name = NULL;

	if (strchr(section + 1, '.')) {
		name = strdup(section);
	} else {
		const size_t suffix = max_of(strlen(section), (size_t)7);
		const size_t prefix =
			min_of(strlen(obj->name),
			       suffix < KERNEL_NAME_MAX ? KERNEL_NAME_MAX - suffix : (size_t)0);

		/* stdio is not woken up for it: opening an object is quick. */
		name = malloc(prefix + strlen(section) + 1);
		if (!name)
			return NULL;
		memcpy(name, obj->name, prefix);
		memcpy(name + prefix, section, strlen(section) + 1);
	}
	for (char *p = name; p && *p; p++)
		if (!(*p == '.' || *p == '_' || (*p >= '0' && *p <= '9') ||
		      ((*p | 32) >= 'a' && (*p | 32) <= 'z')))
			*p = '_';
	return name;
}

/*
 * Whether there is a variable in it that others may know by its name. Only such
 * maps can be mapped by them, as libbpf has it: a map that is pinned is found
 * again by either library if its flags are the same.
 */
static bool has_global_variable(const struct btf *btf, uint32_t datasec)
{
	const struct btf_type *t = btf__type_by_id(btf, datasec);
	const struct btf_var_secinfo *vi = btf_var_secinfos(t);

	for (unsigned i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *var = btf__type_by_id(btf, vi[i].type);

		if (var && btf_is_var(var) && btf_var(var)->linkage != BTF_VAR_STATIC)
			return true;
	}
	return false;
}

static struct error *data_map_add(struct bpf_object *obj, const struct elf_section *sec,
				  enum map_origin origin)
{
	if (sec->size > UINT32_MAX / 2)
		return pb_elf_section_error(obj->elf, sec, 0, "%" PRIu64 " bytes of global data",
					    sec->size);
	struct bpf_map *map = object_add_map(obj, origin, sec->name, 0, 0);
	if (!map)
		return error_nomem();
	obj->map_of_section[sec->index] = (uint32_t)obj->maps.n;
	map->section = sec->index;
	map->owned_name = data_map_name(obj, sec->name);
	if (!map->owned_name)
		return error_nomem();
	map->kernel_name = map->owned_name;
	map->name = map->owned_name;
	map->type = BPF_MAP_TYPE_ARRAY;
	map->key_size = sizeof(uint32_t);
	map->value_size = (uint32_t)sec->size;
	map->max_entries = 1;
	map->flags = origin == MAP_RODATA ? BPF_F_RDONLY_PROG : 0;
	map->file_data = sec->data;
	if (obj->btf) {
		const int id = btf__find_by_name_kind(obj->btf, sec->name, BTF_KIND_DATASEC);

		map->btf_value_type_id = id > 0 ? (uint32_t)id : 0;
		if (id > 0 && has_global_variable(obj->btf, (uint32_t)id))
			map->flags |= BPF_F_MMAPABLE;
	}
	return NULL;
}

struct error *data_maps_find(struct bpf_object *obj)
{
	obj->map_of_section = calloc(pb_elf_section_count(obj->elf), sizeof(*obj->map_of_section));
	if (!obj->map_of_section)
		return error_nomem();
	for (size_t i = 1; i < pb_elf_section_count(obj->elf); i++) {
		const struct elf_section *sec = pb_elf_section_at(obj->elf, i);

		if (!sec->size || !(sec->flags & SHF_ALLOC) || (sec->flags & SHF_EXECINSTR))
			continue;
		if (sec->type == SHT_PROGBITS && is_variant(sec->name, ".rodata"))
			TRY(data_map_add(obj, sec, MAP_RODATA));
		else if ((sec->type == SHT_PROGBITS && is_variant(sec->name, ".data")) ||
			 (sec->type == SHT_NOBITS && is_variant(sec->name, ".bss")))
			TRY(data_map_add(obj, sec, MAP_DATA));
	}
	return NULL;
}

static bool is_data(const struct bpf_map *map)
{
	return map->origin == MAP_DATA || map->origin == MAP_RODATA || map->origin == MAP_KCONFIG;
}

size_t map_data_size(const struct bpf_map *map)
{
	/* An array's values are rounded up to 8 bytes each, and the whole to pages. */
	const uint64_t bytes = round_up(map->value_size, 8) * map->max_entries;

	return round_up(bytes ? bytes : 1, (uint64_t)sysconf(_SC_PAGESIZE));
}

/* Moves the bytes out of the file; false: no memory. */
static bool data_map_unfold(struct bpf_map *map)
{
	const size_t size = map_data_size(map);
	const bool live = map->fd >= 0 && (map->flags & BPF_F_MMAPABLE);

	if (map->mapped)
		return true;
	if (live) {
		const int prot = PROT_READ | (map->flags & BPF_F_RDONLY_PROG ? 0 : PROT_WRITE);
		void *p = mmap(NULL, size, prot, MAP_SHARED, map->fd, 0);

		if (p == MAP_FAILED)
			return false;
		map->mapped = p;
	} else {
		void *p =
			mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return false;
		map->mapped = p;
		if (map->file_data)
			memcpy(p, map->file_data, map->value_size);
	}
	map->mapped_size = size;
	return true;
}

void *bpf_map__initial_value(const struct bpf_map *map, size_t *psize)
{
	if (map && map->ops) {
		if (psize)
			*psize = map->ops->size;
		return map->ops->data;
	}
	if (map && map->type == BPF_MAP_TYPE_ARENA)
		return arena_initial_value((struct bpf_map *)map, psize);
	if (!map || !is_data(map) || !data_map_unfold((struct bpf_map *)map))
		return edge_null_errno(map && is_data(map) ? ENOMEM : EINVAL);
	if (psize)
		*psize = map->value_size;
	return map->mapped;
}

int bpf_map__set_initial_value(struct bpf_map *map, const void *data, size_t size)
{
	if (!map || !data || !is_data(map) || map->reused || size != map->value_size)
		return edge_errno(EINVAL);
	if (map->fd >= 0)
		return edge_errno(EBUSY);
	if (!data_map_unfold(map))
		return edge_errno(ENOMEM);
	memcpy(map->mapped, data, size);
	return 0;
}

struct error *data_map_fill(struct bpf_map *map)
{
	const void *bytes = map->mapped ? map->mapped : map->file_data;
	const uint32_t zero = 0;

	if (bytes && bpf_map_update_elem(map->fd, &zero, bytes, 0))
		return error_errno(errno, "map '%s': cannot set its initial value", map->name);
	if (map->flags & BPF_F_RDONLY_PROG && bpf_map_freeze(map->fd))
		return error_errno(errno, "map '%s': cannot freeze it", map->name);
	if (!map->mapped || !(map->flags & BPF_F_MMAPABLE))
		return NULL;

	/* The map takes the place of the bytes it was made from. */
	const int prot = PROT_READ | (map->flags & BPF_F_RDONLY_PROG ? 0 : PROT_WRITE);
	if (mmap(map->mapped, map->mapped_size, prot, MAP_SHARED | MAP_FIXED, map->fd, 0) ==
	    MAP_FAILED)
		return error_errno(errno, "map '%s': cannot map it", map->name);
	return NULL;
}
