// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs of a cgroup, for the processes in it and below (links: 5.7). A
 * cgroup is a folder of the version 2 tree.
 */
#include <linux/magic.h>
#include <sys/vfs.h>

#include "lib/attach/internal.h"

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

static struct error *explain(struct error *err, int cgroup_fd)
{
	struct statfs fs;

	if (!err || (err->code != EBADF && err->code != EINVAL))
		return err;
	if (fstatfs(cgroup_fd, &fs) || (uint32_t)fs.f_type != CGROUP2_SUPER_MAGIC)
		return error_hint(err, "pass an open directory of the cgroup v2 file system ('grep "
				       "cgroup2 /proc/mounts' shows where it is)");
	return err->code == EINVAL
		       ? error_hint(err, "check that the program has a cgroup program type; an "
					 "order relative to other programs needs Linux 6.17")
		       : err;
}

static struct error *cgroup_attach(const struct bpf_program *prog, int cgroup_fd,
				   const struct bpf_cgroup_opts *user, struct bpf_link **link)
{
	TRY(OPTS_CHECK(user, bpf_cgroup_opts));
	const uint32_t fd = OPTS_GET(user, relative_fd, 0);
	const uint32_t id = OPTS_GET(user, relative_id, 0);
	if (fd && id)
		return error_new(EINVAL, "relative_fd and relative_id cannot be used together");
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = OPTS_GET(user, flags, 0),
		    .cgroup.relative_fd = fd, .cgroup.relative_id = id,
		    .cgroup.expected_revision = OPTS_GET(user, expected_revision, 0));
	return explain(link_attach(prog, cgroup_fd, "the cgroup", &opts, link), cgroup_fd);
}

struct bpf_link *bpf_program__attach_cgroup_opts(const struct bpf_program *prog, int cgroup_fd,
						 const struct bpf_cgroup_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_error_at(prog, cgroup_attach(prog, cgroup_fd, opts, &link));

	return err ? edge_null(err) : link;
}

struct bpf_link *bpf_program__attach_cgroup(const struct bpf_program *prog, int cgroup_fd)
{
	return bpf_program__attach_cgroup_opts(prog, cgroup_fd, NULL);
}
