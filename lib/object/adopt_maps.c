// SPDX-License-Identifier: BSD-2-Clause
/*
 * An object whose programs another process has loaded, from the same bytes. This process has the
 * descriptors of the maps, and reads them by the definitions and types that the object has. It
 * does not load anything, and needs no privilege.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "lib/object/object.h"
#include "lib/object/open_object.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* include/linux/errno.h of the kernel */
#endif

const void *object_image(const struct bpf_object *obj, size_t *size)
{
	return pb_elf_file_image(obj->elf, size);
}

static struct error *adopt(struct bpf_map *map, int fd)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return error_errno(errno, "map %s: cannot examine the descriptor that was passed",
				   map->name);
	if (info.type != map->type || info.key_size != map->key_size ||
	    info.value_size != map->value_size)
		return error_new(EPROTO, "map %s: the map that was passed is another one",
				 map->name);
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return error_errno(errno, "map %s", map->name);
	map->fd = copy;
	map->max_entries = info.max_entries; /* rings and arrays per CPU are fitted at the load */
	return NULL;
}

struct error *object_adopt_maps(struct bpf_object *obj, const int *fds, size_t n)
{
	if (obj->state != OBJECT_OPEN || n != obj->maps.n)
		return error_new(EPROTO, "the object has %zu maps, %zu were passed", obj->maps.n,
				 n);
	for (size_t i = 0; i < n; i++) {
		struct bpf_map *map = &obj->maps.v[i];

		if (fds[i] >= 0)
			TRY(adopt(map, fds[i]));
		else
			map->autocreate = false; /* as where it was loaded */
	}
	obj->state = OBJECT_LOADED;
	return NULL;
}

/*
 * A descriptor that can only read is not enough: whoever may write to a BPF file system pins it
 * there, and opens the file for writing. What the kernel cannot freeze has a lock, a timer or
 * pointers of the kernel.
 */
static struct error *freeze(struct bpf_map *map)
{
	if (map->flags & BPF_F_RDONLY_PROG || map->type == BPF_MAP_TYPE_ARENA)
		return NULL; /* it is frozen since it was filled */
	if (map->mapped && map->flags & BPF_F_MMAPABLE) {
		munmap(map->mapped, map->mapped_size);
		map->mapped = NULL;
	}
	if (bpf_map_freeze(map->fd) && errno != ENOTSUPP)
		return error_errno(errno, "map %s: cannot freeze it", map->name);
	return NULL;
}

struct error *object_pass_map(struct bpf_map *map, int *fd)
{
	const bool is_ring = map->type == BPF_MAP_TYPE_RINGBUF;
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, opts, .open_flags = is_ring ? 0 : BPF_F_RDONLY);
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);

	if (!is_ring)
		TRY(freeze(map));
	if (bpf_map_get_info_by_fd(map->fd, &info, &len))
		return error_errno(errno, "map %s", map->name);
	const int got = bpf_map_get_fd_by_id_opts(info.id, &opts);
	if (got < 0)
		return error_errno(errno, "map %s", map->name);
	*fd = got;
	return NULL;
}
