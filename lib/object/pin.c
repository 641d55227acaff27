// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pinning: a program or map stays in the kernel while a file of a BPF file
 * system holds it.
 */
#include "lib/object/open_object.h"

#include <libgen.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Makes the last folder of a path to a file, and checks that it can hold pins. */
static struct error *prepare_dir(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct statfs fs;

	if (!copy)
		return error_nomem();
	const char *dir = dirname(copy);
	if (mkdir(dir, 0700) && errno != EEXIST)
		return error_errno(errno, "cannot create directory '%s'", dir);
	if (statfs(dir, &fs))
		return error_errno(errno, "cannot access '%s'", dir);
	if ((uint32_t)fs.f_type != BPF_FS_MAGIC)
		return error_hint(error_new(EINVAL, "'%s' is not in a BPF file system", path),
				  "mount -t bpf bpf /sys/fs/bpf");
	return NULL;
}

struct error *pin_fd(int fd, const char *path)
{
	TRY(prepare_dir(path));
	return bpf_obj_pin(fd, path) ? error_errno(errno, "cannot pin at '%s'", path) : NULL;
}

/* "DIR/NAME", dots of internal maps' names made '_' as libbpf does; NULL: no memory. */
static char *pin_path_in(const char *dir, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	for (char *p = path + strlen(dir) + 1; *p; p++)
		if (*p == '.' || *p == '/')
			*p = '_';
	return path;
}

/* ---- programs ---- */

int bpf_program__pin(struct bpf_program *prog, const char *path)
{
	if (prog->fd < 0)
		return edge_int(program_error_at(prog, error_new(EINVAL, "it is not loaded")));
	return edge_int(program_error_at(prog, pin_fd(prog->fd, path)));
}

int bpf_program__unpin(struct bpf_program *prog, const char *path)
{
	return unlink(path) ? -errno : 0;
}

/* ---- maps ---- */

int bpf_map__set_pin_path(struct bpf_map *map, const char *path)
{
	char *copy = path ? strdup(path) : NULL;

	if (path && !copy)
		return edge_errno(ENOMEM);
	free(map->pin_path);
	map->pin_path = copy;
	return 0;
}

const char *bpf_map__pin_path(const struct bpf_map *map)
{
	return map->pin_path;
}

const char *bpf_map__get_pin_path(const struct bpf_map *map)
{
	return bpf_map__pin_path(map);
}

bool bpf_map__is_pinned(const struct bpf_map *map)
{
	return map->pinned;
}

int bpf_map__pin(struct bpf_map *map, const char *path)
{
	if (!path)
		path = map->pin_path;
	if (!path || map->fd < 0)
		return edge_int(error_new(EINVAL, "map '%s': %s", map->name,
					  path ? "it is not created" : "it has no pin path"));
	if (map->pinned)
		return map->pin_path && !strcmp(path, map->pin_path) ? 0 : edge_errno(EINVAL);
	if (map->pin_path && strcmp(path, map->pin_path))
		return edge_int(error_new(EINVAL, "map '%s': its pin path is '%s', not '%s'",
					  map->name, map->pin_path, path));
	struct error *err = error_prefix(pin_fd(map->fd, path), "map '%s'", map->name);
	if (err)
		return edge_int(err);
	map->pinned = true;
	return map->pin_path ? 0 : bpf_map__set_pin_path(map, path);
}

int bpf_map__unpin(struct bpf_map *map, const char *path)
{
	if (!path)
		path = map->pin_path;
	if (!path)
		return edge_errno(EINVAL);
	if (map->pin_path && strcmp(path, map->pin_path))
		return edge_errno(EINVAL);
	if (unlink(path))
		return -errno;
	map->pinned = false;
	return 0;
}

/* ---- all of an object ---- */

/* Where a map goes: below dir, or, dir NULL, where it wants to; *path NULL: nowhere. */
static struct error *map_path(const struct bpf_map *map, const char *dir, char **path)
{
	*path = NULL;
	if (!dir && !map->pin_path)
		return NULL;
	*path = dir ? pin_path_in(dir, map->name) : strdup(map->pin_path);
	return *path ? NULL : error_nomem();
}

int bpf_object__unpin_maps(struct bpf_object *obj, const char *dir)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, obj) {
		_cleanup_free_ char *path = NULL;
		struct error *err = map_path(map, dir, &path);

		if (err)
			return edge_int(err);
		const int failed = path ? bpf_map__unpin(map, path) : 0;
		if (failed)
			return failed;
	}
	return 0;
}

int bpf_object__pin_maps(struct bpf_object *obj, const char *dir)
{
	struct bpf_map *map;

	if (obj->state != OBJECT_LOADED && obj->state != OBJECT_PREPARED)
		return edge_int(object_error_at(obj, error_new(ENOENT, "it is not loaded")));
	bpf_object__for_each_map (map, obj) {
		_cleanup_free_ char *path = NULL;
		struct error *err = map->fd >= 0 ? map_path(map, dir, &path) : NULL;
		int failed = err ? edge_int(err) : path ? bpf_map__pin(map, path) : 0;

		if (!failed)
			continue;
		while ((map = bpf_object__prev_map(obj, map)))
			if (map->pinned && map->pin_path)
				bpf_map__unpin(map, NULL);
		return failed;
	}
	return 0;
}

int bpf_object__unpin_programs(struct bpf_object *obj, const char *dir)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj) {
		_cleanup_free_ char *path = pin_path_in(dir, prog->fn->name);
		const int failed = path ? bpf_program__unpin(prog, path) : edge_errno(ENOMEM);

		if (failed)
			return failed;
	}
	return 0;
}

int bpf_object__pin_programs(struct bpf_object *obj, const char *dir)
{
	struct bpf_program *prog;

	if (obj->state != OBJECT_LOADED)
		return edge_int(object_error_at(obj, error_new(ENOENT, "it is not loaded")));
	bpf_object__for_each_program (prog, obj) {
		_cleanup_free_ char *path = pin_path_in(dir, prog->fn->name);
		const int failed = path ? bpf_program__pin(prog, path) : edge_errno(ENOMEM);

		if (!failed)
			continue;
		while ((prog = bpf_object__prev_program(obj, prog))) {
			_cleanup_free_ char *undo = pin_path_in(dir, prog->fn->name);

			if (undo)
				bpf_program__unpin(prog, undo);
		}
		return failed;
	}
	return 0;
}

int bpf_object__pin(struct bpf_object *obj, const char *path)
{
	const int failed = bpf_object__pin_maps(obj, path);

	if (failed)
		return failed;
	const int programs_failed = bpf_object__pin_programs(obj, path);
	if (programs_failed)
		bpf_object__unpin_maps(obj, path);
	return programs_failed;
}

int bpf_object__unpin(struct bpf_object *obj, const char *path)
{
	const int failed = bpf_object__unpin_programs(obj, path);

	return failed ? failed : bpf_object__unpin_maps(obj, path);
}
