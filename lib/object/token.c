// SPDX-License-Identifier: BSD-2-Clause
/*
 * BPF tokens (6.9): who is root of a user namespace only may still use bpf(2)
 * as far as the mount options of a BPF file system there delegate it. A token
 * is made of that mount and goes along with each BPF_BTF_LOAD, BPF_MAP_CREATE
 * and BPF_PROG_LOAD.
 *
 * Which mount: the option bpf_token_path, else LIBBPF_BPF_TOKEN_PATH of the
 * environment; "" in either means none. Without both, /sys/fs/bpf is tried, and
 * nothing is said when it gives none: that is the usual case.
 */
#include "lib/object/load_object.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

struct error *token_path_set(struct bpf_object *obj, const char *path)
{
	if (!path)
		path = secure_getenv("LIBBPF_BPF_TOKEN_PATH");
	if (path && !(obj->token_path = strdup(path)))
		return error_nomem();
	return NULL;
}

static struct error *explain(const char *path, int dir, int code)
{
	struct error *err = error_errno(code, "cannot create a BPF token of '%s'", path);
	struct statfs fs;

	if (fstatfs(dir, &fs) || (uint32_t)fs.f_type != BPF_FS_MAGIC)
		return error_hint(err, "give the mount point of a BPF file system");
	switch (code) {
	case ENOENT:
		return error_hint(
			err, "the file system delegates nothing: mount it with delegate_cmds=, "
			     "delegate_maps=, delegate_progs= and delegate_attachs=");
	case EOPNOTSUPP:
		return error_hint(err, "tokens do not work in the initial user namespace");
	case EPERM:
		return error_hint(err, "this needs CAP_BPF in the user namespace in which the file "
				       "system was mounted");
	case EINVAL:
		return error_hint(err, "this kernel has no BPF tokens (they need Linux 6.9), or "
				       "the path is not the root of the file system");
	default:
		return err;
	}
}

struct error *token_create(struct bpf_object *obj)
{
	const char *path = obj->token_path ? obj->token_path : "/sys/fs/bpf";

	if (!path[0])
		return NULL;
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 && obj->token_path)
		return error_errno(errno, "cannot open '%s' for a BPF token", path);
	const int fd = dir < 0 ? -ENOENT : bpf_token_create(dir, NULL);
	if (fd >= 0)
		obj->token_fd = fd;
	else if (obj->token_path)
		return explain(path, dir, -fd);
	return NULL;
}

int bpf_object__token_fd(const struct bpf_object *obj)
{
	return obj->token_fd > 0 ? obj->token_fd : -1;
}
