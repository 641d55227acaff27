// SPDX-License-Identifier: BSD-2-Clause
/*
 * struct_ops maps, attached. The value goes into the map; a map made with
 * BPF_F_LINK (6.4) is then put to use by a BPF link, which can be updated with
 * another map. Without, setting the value registers the struct, and deleting it
 * is what ends that: the kernel keeps it while nobody does.
 */
#include <fcntl.h>

#include "lib/attach/internal.h"

/* When a link without BPF_F_LINK is destroyed; ctx is a descriptor of the map. */
static void unregister(void *ctx, bool detached)
{
	const int fd = (int)(intptr_t)ctx;
	const uint32_t zero = 0;

	if (detached)
		bpf_map_delete_elem(fd, &zero);
	close(fd);
}

static struct error *attach_value(const struct bpf_map *map, struct bpf_link **link)
{
	_cleanup_close_ int fd = fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 3);
	const int for_end = fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 3);
	const uint32_t zero = 0;

	*link = fd >= 0 && for_end >= 0 ? link_new(fd) : NULL;
	if (!*link) {
		if (for_end >= 0)
			close(for_end);
		bpf_map_delete_elem(bpf_map__fd(map), &zero);
		return error_nomem();
	}
	fd = -1;
	link_on_destroy(*link, unregister, (void *)(intptr_t)for_end);
	return NULL;
}

static struct error *struct_ops_attach(const struct bpf_map *map, struct bpf_link **link)
{
	TRY(struct_ops_set(map));
	if (!(bpf_map__map_flags(map) & BPF_F_LINK))
		return attach_value(map, link);
	const int fd =
		bpf_link_create(bpf_map__fd(map), 0, (enum bpf_attach_type)BPF_STRUCT_OPS, NULL);
	if (fd >= 0)
		return link_of(fd, link);
	struct error *err = error_errno(-fd, "struct '%s': cannot attach it", bpf_map__name(map));
	if (fd == -EEXIST)
		return error_hint(err, "one with this name is already registered");
	if (fd == -EBUSY)
		return error_hint(err, "only one can be registered at a time");
	return err;
}

struct bpf_link *bpf_map__attach_struct_ops(const struct bpf_map *map)
{
	struct bpf_link *link = NULL;
	struct error *err =
		map ? struct_ops_attach(map, &link) : error_new(EINVAL, "the map is NULL");

	return err ? edge_null(err) : link;
}

static struct error *update_map(struct bpf_link *link, const struct bpf_map *map)
{
	TRY(struct_ops_set(map));
	if (!(bpf_map__map_flags(map) & BPF_F_LINK))
		return error_hint(error_new(EINVAL, "struct '%s' cannot be attached by a link",
					    bpf_map__name(map)),
				  "write SEC(\".struct_ops.link\")");
	const int failed = bpf_link_update(bpf_link__fd(link), bpf_map__fd(map), NULL);
	if (!failed)
		return NULL;
	struct error *err = error_errno(-failed, "cannot replace the link's struct with '%s'",
					bpf_map__name(map));
	return failed == -EINVAL
		       ? error_hint(err, "the link must come from a .struct_ops.link map, and both "
					 "structs must have the same type and name")
		       : err;
}

int bpf_link__update_map(struct bpf_link *link, const struct bpf_map *map)
{
	return link && map ? edge_int(update_map(link, map)) : edge_errno(EINVAL);
}

int bpf_program__assoc_struct_ops(struct bpf_program *prog, struct bpf_map *map,
				  struct bpf_prog_assoc_struct_ops_opts *opts)
{
	int prog_fd;
	struct error *err = program_fd(prog, &prog_fd);

	if (!err && bpf_program__type(prog) == BPF_PROG_TYPE_STRUCT_OPS)
		err = error_new(EINVAL, "it is itself a struct_ops program");
	if (!err && (!map || bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS || bpf_map__fd(map) < 0))
		err = error_new(EINVAL, "the map is not a struct_ops map, or it is not created");
	if (!err) {
		const int failed = bpf_prog_assoc_struct_ops(prog_fd, bpf_map__fd(map), opts);

		if (failed)
			err = error_errno(-failed, "cannot associate it with struct '%s'",
					  bpf_map__name(map));
	}
	return edge_int(attach_error_at(prog, err));
}
