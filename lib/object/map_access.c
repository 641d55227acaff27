// SPDX-License-Identifier: BSD-2-Clause
/* What callers ask of maps, and set between open and load; their elements. */
#include "lib/object/open_object.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/btf/sanitize.h"

struct bpf_map *bpf_object__next_map(const struct bpf_object *obj, const struct bpf_map *map)
{
	if (!obj || !obj->maps.n)
		return NULL;
	const struct bpf_map *next = map ? map + 1 : obj->maps.v;
	return next < obj->maps.v + obj->maps.n ? (struct bpf_map *)next : NULL;
}

struct bpf_map *bpf_object__prev_map(const struct bpf_object *obj, const struct bpf_map *map)
{
	if (!obj || !obj->maps.n || map == obj->maps.v)
		return NULL;
	return map ? (struct bpf_map *)map - 1 : vec_last(&obj->maps);
}

static bool is_data(const struct bpf_map *map)
{
	return map->origin == MAP_DATA || map->origin == MAP_RODATA || map->origin == MAP_KCONFIG;
}

struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *obj, const char *name)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, obj) {
		const struct elf_section *sec = is_data(map) && map->section
							? pb_elf_section_at(obj->elf, map->section)
							: NULL;

		if (!strcmp(map->name, name) || (sec && !strcmp(sec->name, name)) ||
		    (map->origin == MAP_KCONFIG && !strcmp(name, ".kconfig")))
			return map;
	}
	return edge_null_errno(ENOENT);
}

int bpf_object__find_map_fd_by_name(const struct bpf_object *obj, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(obj, name));
}

int bpf_map__fd(const struct bpf_map *map)
{
	if (!map)
		return edge_errno(EINVAL);
	return map->fd >= 0 ? map->fd : -1;
}

/* Whether its definition can no longer be changed; see map_is_created() of libbpf. */
static bool is_settled(const struct bpf_map *map)
{
	return map->obj->state != OBJECT_OPEN || map->reused;
}

/* The descriptor keeps its number: prepared programs refer to the map by it. */
static int replace_fd(struct bpf_map *map, int fd)
{
	return fd != map->fd && dup3(fd, map->fd, O_CLOEXEC) < 0 ? -errno : 0;
}

int bpf_map__reuse_fd(struct bpf_map *map, int fd)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return -errno;
	if (map->fd >= 0) {
		const int failed = replace_fd(map, fd);

		if (failed)
			return failed;
	} else {
		map->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (map->fd < 0)
			return -errno;
	}
	map->reused = true;
	map->type = info.type;
	map->key_size = info.key_size;
	map->value_size = info.value_size;
	map->max_entries = info.max_entries;
	map->flags = info.map_flags;
	map->btf_key_type_id = info.btf_key_type_id;
	map->btf_value_type_id = info.btf_value_type_id;
	return 0;
}

bool bpf_map__autocreate(const struct bpf_map *map)
{
	return map->autocreate;
}

int bpf_map__set_autocreate(struct bpf_map *map, bool autocreate)
{
	if (is_settled(map))
		return edge_errno(EBUSY);
	map->autocreate = autocreate;
	return 0;
}

bool bpf_map__autoattach(const struct bpf_map *map)
{
	return map->autoattach;
}

int bpf_map__set_autoattach(struct bpf_map *map, bool autoattach)
{
	if (!map->ops)
		return edge_errno(EINVAL);
	map->autoattach = autoattach;
	return 0;
}

const char *bpf_map__name(const struct bpf_map *map)
{
	return map ? map->name : NULL;
}

#define MAP_ATTRIBUTE(type_, getter, setter, field)                                                \
	type_ bpf_map__##getter(const struct bpf_map *map)                                         \
	{                                                                                          \
		return map->field;                                                                 \
	}                                                                                          \
	int bpf_map__##setter(struct bpf_map *map, type_ value)                                    \
	{                                                                                          \
		if (is_settled(map))                                                               \
			return edge_errno(EBUSY);                                                  \
		map->field = value;                                                                \
		return 0;                                                                          \
	}
MAP_ATTRIBUTE(enum bpf_map_type, type, set_type, type)
MAP_ATTRIBUTE(__u32, map_flags, set_map_flags, flags)
MAP_ATTRIBUTE(__u32, numa_node, set_numa_node, numa_node)
MAP_ATTRIBUTE(__u32, ifindex, set_ifindex, ifindex)
MAP_ATTRIBUTE(__u64, map_extra, set_map_extra, extra)

__u32 bpf_map__max_entries(const struct bpf_map *map)
{
	return map->max_entries;
}

int bpf_map__set_max_entries(struct bpf_map *map, __u32 max_entries)
{
	if (is_settled(map))
		return edge_errno(EBUSY);
	/* Global data is one value. */
	if (is_data(map) && max_entries != 1)
		return edge_errno(EINVAL);
	map->max_entries = is_ring(map->type) && max_entries ? ring_size(max_entries) : max_entries;
	return 0;
}

__u32 bpf_map__key_size(const struct bpf_map *map)
{
	return map->key_size;
}

int bpf_map__set_key_size(struct bpf_map *map, __u32 size)
{
	if (is_settled(map))
		return edge_errno(EBUSY);
	map->key_size = size;
	if (map->btf_key_type_id && btf__resolve_size(map->obj->btf, map->btf_key_type_id) != size)
		map->btf_key_type_id = map->btf_value_type_id = 0;
	return 0;
}

__u32 bpf_map__value_size(const struct bpf_map *map)
{
	return map->value_size;
}

/* Global data of another size: its bytes move, what is more is zero. */
static int resize_data(struct bpf_map *map, __u32 size)
{
	size_t old_size;
	const void *old = bpf_map__initial_value(map, &old_size);
	struct bpf_map resized = *map;

	resized.value_size = size;
	const size_t bytes = map_data_size(&resized);
	void *p = old ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
		      : MAP_FAILED;
	if (p == MAP_FAILED)
		return edge_errno(ENOMEM);
	memcpy(p, old, min_of(old_size, (size_t)size));
	munmap(map->mapped, map->mapped_size);
	map->mapped = p;
	map->mapped_size = bytes;
	/* The types go along where they can; else the map goes without. */
	struct error *err =
		map->btf_value_type_id
			? btf_resize_datasec(map->obj->btf, map->btf_value_type_id, size)
			: NULL;
	if (!err)
		return 0;
	log_warn(map->obj->log,
		 "%s: map '%s': its BTF types are dropped, as the value size is now %u bytes: %s",
		 map->obj->path, map->name, size, err->msg);
	error_free(err);
	map->btf_value_type_id = 0;
	return 0;
}

int bpf_map__set_value_size(struct bpf_map *map, __u32 size)
{
	if (is_settled(map))
		return edge_errno(EBUSY);
	if (size == map->value_size)
		return 0;
	if (is_data(map)) {
		const int failed =
			size && size <= INT32_MAX ? resize_data(map, size) : edge_errno(EINVAL);
		if (!failed)
			map->value_size = size;
		return failed;
	}
	map->value_size = size;
	map->btf_key_type_id = map->btf_value_type_id = 0;
	return 0;
}

__u32 bpf_map__btf_key_type_id(const struct bpf_map *map)
{
	return map ? map->btf_key_type_id : 0;
}

__u32 bpf_map__btf_value_type_id(const struct bpf_map *map)
{
	return map ? map->btf_value_type_id : 0;
}

bool bpf_map__is_internal(const struct bpf_map *map)
{
	return is_data(map);
}

int bpf_map__set_inner_map_fd(struct bpf_map *map, int fd)
{
	if (map->type != BPF_MAP_TYPE_ARRAY_OF_MAPS && map->type != BPF_MAP_TYPE_HASH_OF_MAPS)
		return edge_errno(EINVAL);
	if (map->inner_fd >= 0 || map->fd >= 0)
		return edge_errno(EINVAL);
	map->inner_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return map->inner_fd < 0 ? -errno : 0;
}

struct bpf_map *bpf_map__inner_map(struct bpf_map *map)
{
	return map->inner ? map->inner : edge_null_errno(EINVAL);
}

/* ---- elements ---- */

/* The bytes of a value as bpf(2) exchanges it. */
static int value_bytes(const struct bpf_map *map, uint64_t *bytes)
{
	switch ((int)map->type) {
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE: {
		const int cpus = libbpf_num_possible_cpus();

		if (cpus < 0)
			return cpus;
		*bytes = round_up(map->value_size, 8) * (uint64_t)cpus;
		return 0;
	}
	default:
		*bytes = map->value_size;
		return 0;
	}
}

static int check_sizes(const struct bpf_map *map, size_t key_sz, size_t value_sz, bool has_value)
{
	uint64_t bytes;

	if (!map || map->fd < 0)
		return edge_errno(map ? ENOENT : EINVAL);
	if (map->key_size != key_sz)
		return edge_errno(EINVAL);
	if (!has_value)
		return 0;
	const int failed = value_bytes(map, &bytes);
	return failed ? failed : bytes == value_sz ? 0 : edge_errno(EINVAL);
}

int bpf_map__lookup_elem(const struct bpf_map *map, const void *key, size_t key_sz, void *value,
			 size_t value_sz, __u64 flags)
{
	const int failed = check_sizes(map, key_sz, value_sz, true);

	return failed ? failed : bpf_map_lookup_elem_flags(map->fd, key, value, flags);
}

int bpf_map__update_elem(const struct bpf_map *map, const void *key, size_t key_sz,
			 const void *value, size_t value_sz, __u64 flags)
{
	const int failed = check_sizes(map, key_sz, value_sz, true);

	return failed ? failed : bpf_map_update_elem(map->fd, key, value, flags);
}

int bpf_map__delete_elem(const struct bpf_map *map, const void *key, size_t key_sz, __u64 flags)
{
	const int failed = check_sizes(map, key_sz, 0, false);

	return failed ? failed : bpf_map_delete_elem_flags(map->fd, key, flags);
}

int bpf_map__lookup_and_delete_elem(const struct bpf_map *map, const void *key, size_t key_sz,
				    void *value, size_t value_sz, __u64 flags)
{
	const int failed = check_sizes(map, key_sz, value_sz, true);

	return failed ? failed : bpf_map_lookup_and_delete_elem_flags(map->fd, key, value, flags);
}

int bpf_map__get_next_key(const struct bpf_map *map, const void *cur_key, void *next_key,
			  size_t key_sz)
{
	const int failed = check_sizes(map, key_sz, 0, false);

	return failed ? failed : bpf_map_get_next_key(map->fd, cur_key, next_key);
}
