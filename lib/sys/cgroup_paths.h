/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The paths of cgroups by their ids. The id that BPF programs and perf.data have is the inode
 * number of the cgroup's folder in the cgroup2 hierarchy (kernfs, on machines of 64 bits since
 * 5.5).
 */
#ifndef PB_SYS_CGROUP_PATHS_H
#define PB_SYS_CGROUP_PATHS_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/sys/sys.h"

/* All zero: nothing was looked up yet. */
struct cgroup_paths {
	struct arena arena;
	struct u64map by_id; /* to texts of the arena; "": not known */
};

void cgroup_paths_deinit(struct cgroup_paths *paths);

/*
 * "/system.slice", and "/" for the root; "" for a cgroup that does not exist any more; NULL: no
 * memory. The text lives as long as paths. The tree is read at the first call, and again for an
 * id that is not in it.
 */
const char *cgroup_paths_get(struct cgroup_paths *paths, const struct sys_roots *roots,
			     uint64_t id);

#endif
