// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arenas (6.9): a map of type arena is memory that a program and processes
 * share, at the same place for both: map_extra, or where it was mapped first,
 * without which the verifier takes no program that uses it. So it is mapped as
 * soon as it is created; max_entries are its pages. (lib/base/arena.h is
 * another thing.)
 *
 * Variables of address space 1 (__arena) stand in section .addr_space.1 and are
 * the arena's first bytes.
 */
#include "lib/object/load_object.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/sys/uapi.h"

static uint64_t mapped_bytes(const struct bpf_map *map)
{
	return (uint64_t)map->max_entries * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct error *arena_find(struct bpf_object *obj)
{
	const struct elf_section *sec = pb_elf_section_find(obj->elf, ".addr_space.1");
	struct bpf_map *map, *arena = NULL;

	if (!sec || !sec->size)
		return NULL;
	vec_for_each (map, &obj->maps) {
		if (map->type != BPF_MAP_TYPE_ARENA)
			continue;
		if (arena)
			return error_hint(
				error_new(
					EINVAL,
					"the object has two arenas, '%s' and '%s', so it is "
					"unclear which one holds the variables of address space 1",
					arena->name, map->name),
				"define only one map of type BPF_MAP_TYPE_ARENA");
		arena = map;
	}
	if (!arena)
		return error_hint(
			pb_elf_section_error(
				obj->elf, sec, 0,
				"the object has variables in address space 1, but no arena"),
			"add a map of type BPF_MAP_TYPE_ARENA");
	if (sec->size > UINT32_MAX / 2 || sec->size > mapped_bytes(arena))
		return error_hint(
			pb_elf_section_error(obj->elf, sec, 0,
					     "%" PRIu64
					     " bytes of variables do not fit into the %" PRIu64
					     " bytes of arena '%s'",
					     sec->size, mapped_bytes(arena), arena->name),
			"max_entries is the arena's size in pages");
	obj->map_of_section[sec->index] = (uint32_t)(arena - obj->maps.v) + 1;
	arena->arena_data = sec->data; /* NULL: zeros */
	arena->arena_data_size = (uint32_t)sec->size;
	return NULL;
}

void *arena_initial_value(struct bpf_map *map, size_t *size)
{
	const size_t bytes = map->arena_data_size;

	if (!map->mapped) {
		void *p = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
				: MAP_FAILED;

		if (p == MAP_FAILED)
			return NULL;
		if (map->arena_data)
			memcpy(p, map->arena_data, bytes);
		map->mapped = p;
		map->mapped_size = bytes;
	}
	if (size)
		*size = bytes;
	return map->mapped;
}

struct error *arena_map(struct bpf_map *map)
{
	const uint64_t bytes = mapped_bytes(map);
	void *wanted = (void *)(uintptr_t)map->extra;

	if (bytes > SIZE_MAX || map->extra > UINTPTR_MAX || map->arena_data_size > bytes)
		return error_new(E2BIG, "arena '%s': cannot map %" PRIu64 " bytes", map->name,
				 bytes);
	void *p = mmap(wanted, (size_t)bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | (wanted ? MAP_FIXED : 0), map->fd, 0);
	if (p == MAP_FAILED)
		return error_hint(error_errno(errno, "arena '%s': cannot map its %" PRIu64 " bytes",
					      map->name, bytes),
				  "map_extra must be page-aligned, the arena must not cross a 4 "
				  "GiB boundary, and every process maps it at the same address");
	const void *data = map->mapped ? map->mapped : map->arena_data;
	if (data)
		memcpy(p, data, map->arena_data_size);
	if (map->mapped)
		munmap(map->mapped, map->mapped_size);
	map->mapped = p;
	map->mapped_size = (size_t)bytes;
	return NULL;
}
