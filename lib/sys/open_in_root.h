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

/*
 * Opens by O_PATH what is at the path; root is a descriptor of the directory. follow: also if the
 * last component is a link. -1 and errno: ENOENT, ENOTDIR, ELOOP (more than 40 links),
 * ENAMETOOLONG (also for more than 128 directories).
 */
int find_in_root(int root, const char *path, bool follow);

#endif
