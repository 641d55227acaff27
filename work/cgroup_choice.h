/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cgroups that somebody named by --cgroup, --container and --pod: which they are now, and
 * whether one that is made later is among them.
 *
 *	struct chosen_cgroups chosen = {0};
 *	TRY(cgroups_choose(&choice, root, &chosen));
 *	…
 *	chosen_cgroups_deinit(&chosen);
 */
#ifndef PB_WORK_CGROUP_CHOICE_H
#define PB_WORK_CGROUP_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/vec.h"

/* Each is a list with commas; NULL: not given. */
struct cgroup_choice {
	const char *cgroups;	/* folders, names below the root, or ids */
	const char *containers; /* ids, or what one of them alone begins with */
	const char *pods;	/* uids */
};

bool cgroup_choice_any(const struct cgroup_choice *choice);

struct chosen_cgroup {
	uint64_t id;
	char *path; /* of its folder */
};

struct chosen_cgroups {
	struct chosen_cgroup *v;
	size_t n, cap;
};

void chosen_cgroups_deinit(struct chosen_cgroups *chosen);

/*
 * root: of the hierarchy (lib/sys/cgroup_paths.h); NULL: none is mounted, an error. None of the
 * chosen ones is below another, as each stands for its descendants too. ENOENT, with near names:
 * there is no such cgroup, container or pod; EINVAL: an id that is not unique, a folder of another
 * hierarchy.
 */
struct error *cgroups_choose(const struct cgroup_choice *choice, const char *root,
			     struct chosen_cgroups *chosen);

/* Whether a cgroup with this path in the tree is one of a container or pod that is named. */
bool cgroup_choice_has(const struct cgroup_choice *choice, const char *path);

#endif
