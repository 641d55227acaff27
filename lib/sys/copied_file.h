/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who wrote a file. The owner of a file is its author, unless it is a copy: the copy belongs to
 * whoever made it, and what the original says (the source files that its debug information names)
 * is still said by its author. A copy that record makes for the build-id cache has the author in an
 * extended attribute, which is set before the file has a name. Copies without it, those of perf for
 * example, count as nobody's.
 */
#ifndef PB_SYS_COPIED_FILE_H
#define PB_SYS_COPIED_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* An author who is not known: owns no file, and can read what everybody can. */
#define AUTHOR_UNKNOWN ((uid_t)-1)

/* Says who wrote what the open file is a copy of. A file system without attributes is no error. */
void copied_file_set_author(int fd, uid_t author);

/* What it says; false: nothing, so that the author is not known. */
bool copied_file_has_author(int fd, uid_t *author);

/* The author of an open file. is_copy: it is in a cache that the caller, or root, has filled. */
uid_t file_author(int fd, bool is_copy);

/*
 * Whether a path leads below the root directory of another process, "/proc/PID/root/…", and that is
 * another directory than ours. In a container, user 0 need not be our root. What is open
 * ("/proc/self/fd/N") because it cannot be found here counts as well.
 */
bool path_is_in_other_root(const char *path);

#endif
