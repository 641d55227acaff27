// SPDX-License-Identifier: BSD-2-Clause
/*
 * An object whose programs another process has loaded, from the same bytes. This process has the
 * descriptors of the maps, and reads them by the definitions and types that the object has. It
 * does not load anything, and needs no privilege.
 */
#include <bpf/bpf.h>
#include <fcntl.h>

#include "lib/object/object.h"
#include "lib/object/open_object.h"

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
