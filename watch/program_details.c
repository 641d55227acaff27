// SPDX-License-Identifier: BSD-2-Clause
#include "watch/program_details.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"
#include "lib/btf/open.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/prog_info.h"

/*
 * Programs of one tool have the same targets, so the kernel's own types and those of one module or
 * program are kept.
 */
struct target_names {
	struct btf *vmlinux, *other;
	uint32_t other_id;
};

struct error *target_names_new(struct target_names **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? NULL : error_nomem();
}

void target_names_free(struct target_names *names)
{
	if (!names)
		return;
	btf__free(names->other);
	btf__free(names->vmlinux);
	free(names);
}

static bool is_vmlinux(uint32_t btf_id)
{
	char name[16] = "";
	struct bpf_btf_info info = {.name = (uintptr_t)name, .name_len = sizeof(name)};
	uint32_t len = sizeof(info);
	_cleanup_close_ int fd = bpf_btf_get_fd_by_id(btf_id);

	return fd >= 0 && !bpf_btf_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
	       !strcmp(name, "vmlinux");
}

static const struct btf *btf_of(struct target_names *names, uint32_t btf_id)
{
	if (names->other && names->other_id == btf_id)
		return names->other;
	if (is_vmlinux(btf_id)) {
		if (!names->vmlinux)
			names->vmlinux = btf__load_vmlinux_btf();
		return names->vmlinux;
	}
	btf__free(names->other);
	names->other_id = btf_id;
	/* types of a module are numbered after those of vmlinux */
	if (!names->vmlinux)
		names->vmlinux = btf__load_vmlinux_btf();
	names->other = btf__load_from_kernel_by_id_split(btf_id, names->vmlinux);
	if (!names->other)
		names->other = btf__load_from_kernel_by_id(btf_id);
	return names->other;
}

/* The target's name, the caller's; NULL if there is none. */
static char *target_of(struct target_names *names, const struct sys_prog_info *all)
{
	const struct bpf_prog_info *info = &all->info;

	if (!info->attach_btf_id || !info->attach_btf_obj_id)
		return NULL;
	const struct btf *btf = btf_of(names, info->attach_btf_obj_id);
	const struct btf_type *t = btf ? btf__type_by_id(btf, info->attach_btf_id) : NULL;
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;
	return name && *name ? strdup(name) : NULL;
}

static void read_map_name(struct used_map *map)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	_cleanup_close_ int fd = bpf_map_get_fd_by_id(map->id);

	if (fd >= 0 && !bpf_map_get_info_by_fd(fd, &info, &len))
		memcpy(map->name, info.name, sizeof(map->name) - 1);
}

void program_details_free(struct program_details *details)
{
	if (!details)
		return;
	free(details->target);
	free(details->maps);
	free(details);
}

struct error *program_details_read(uint32_t id, struct target_names *names,
				   struct program_details **out)
{
	_cleanup_(program_details_freep) struct program_details *d = calloc(1, sizeof(*d));
	_cleanup_prog_info_ struct sys_prog_info all = {0};
	_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);

	if (!d)
		return error_nomem();
	if (fd < 0)
		return fd == -EPERM ? sys_hint_caps(error_errno(-fd, "BPF program %u", id), NULL,
						    SYS_CAP(SYS_CAP_SYS_ADMIN), NULL)
				    : error_errno(-fd, "BPF program %u", id);
	TRY(sys_prog_info_read(fd, 1u << SYS_PROG_MAP_IDS, &all));
	d->type = all.info.type;
	memcpy(d->name, all.info.name, sizeof(d->name) - 1);
	memcpy(d->tag, all.info.tag, sizeof(d->tag));
	d->uid = all.info.created_by_uid;
	d->bytes_xlated = all.info.xlated_prog_len;
	d->bytes_jited = all.info.jited_prog_len;
	d->target = target_of(names, &all);
	d->n_maps = sys_prog_info_count(&all, SYS_PROG_MAP_IDS);
	d->maps = d->n_maps ? calloc(d->n_maps, sizeof(*d->maps)) : NULL;
	if (d->n_maps && !d->maps)
		return error_nomem();
	for (size_t i = 0; i < d->n_maps; i++) {
		d->maps[i].id = ((const uint32_t *)all.arrays[SYS_PROG_MAP_IDS])[i];
		read_map_name(&d->maps[i]);
	}
	*out = steal_ptr(d);
	return NULL;
}
