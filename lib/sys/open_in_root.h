/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A path as a process sees it whose root directory is another one. Links are followed inside of
 * that directory, whatever they lead to: "/etc/passwd" and "../../etc/passwd" are the files of the
 * container. As openat2(2) with RESOLVE_IN_ROOT, which is missing before Linux 5.6 and cannot be
 * allowed by a filter of system calls without allowing to write.
 */
#ifndef PB_SYS_OPEN_IN_ROOT_H
#define PB_SYS_OPEN_IN_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/error.h"

/*
 * A path from the data of a user, who may have chosen it: every link on the way belongs to root, to
 * the caller or to this user, and if the user is somebody else, what is found is the user's, or can
 * be reached and read by the user too, as far as the modes of files and directories say. Groups are
 * not looked at: what only a group may read is refused.
 */
struct path_check {
	uid_t user;
	struct error *err; /* NULL, or why the path is refused (EPERM); the caller's */
};

/* Root or the caller. */
bool user_is_trusted(uid_t uid);

/*
 * Opens by O_PATH what is at the path; root is a descriptor of the directory. follow: also if the
 * last component is a link. check: NULL, any path. -1 and errno: ENOENT, ENOTDIR, ELOOP (more than
 * 40 links), ENAMETOOLONG (also for more than 128 directories), EPERM: see check.
 */
int find_in_root(int root, const char *path, bool follow, struct path_check *check);

#endif
