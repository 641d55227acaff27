/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cgroups: where their trees are mounted, and their paths by their ids. The id that BPF programs
 * and perf.data have is the inode number of the cgroup's folder (kernfs, on machines of 64 bits
 * since 5.5). BPF programs know the cgroups of version 2. perf events know those of the hierarchy
 * that has the controller perf_event: version 2, unless version 1 is mounted with it.
 */
#ifndef PB_SYS_CGROUP_PATHS_H
#define PB_SYS_CGROUP_PATHS_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/sys/sys.h"

/* The folder of the hierarchy of version 2, the caller's; NULL: it is not mounted, or no memory. */
char *cgroup_root(const struct sys_roots *roots);
/* That of perf events. */
char *cgroup_root_of_perf(const struct sys_roots *roots);

/*
 * Calls fn for each cgroup below the folder, a parent before its children, with its path in the
 * tree: "/" for the root. fn returns false to stop. Cgroups may come and go meanwhile.
 */
void cgroup_walk(const char *root, bool (*fn)(void *ctx, uint64_t id, const char *path), void *ctx);

/* All zero: nothing was looked up yet. */
struct cgroup_paths {
	struct arena arena;
	struct u64map by_id; /* to texts of the arena; "": not known */
};

void cgroup_paths_deinit(struct cgroup_paths *paths);

/*
 * Of version 2: "/system.slice", and "/" for the root; "" for a cgroup that does not exist any
 * more; NULL: no memory. The text lives as long as paths. The tree is read at the first call, and
 * again for an id that is not in it.
 */
const char *cgroup_paths_get(struct cgroup_paths *paths, const struct sys_roots *roots,
			     uint64_t id);

#endif
