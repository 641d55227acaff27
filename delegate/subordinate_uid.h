/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subordinate user ids: /etc/subuid, subuid(5), gives users ranges of ids that they may map in
 * user namespaces (newuidmap(1)). A process with such an id is that user's.
 *
 *	USER:FIRST:COUNT	USER is a name or a number
 */
#ifndef PB_DELEGATE_SUBORDINATE_UID_H
#define PB_DELEGATE_SUBORDINATE_UID_H

#include <sys/types.h>

/*
 * Whose the id is by the text of the file: of the first range that has it, as newuidmap(1) takes
 * it; the id itself if there is none. Lines that are not of this form, and names that there are
 * not, count as nothing.
 */
uid_t subordinate_uid_owner(const char *text, uid_t uid);

/* The same by the file at path; one that cannot be read, or is larger than 1 MiB, has no ranges. */
uid_t subordinate_uid_owner_at(const char *path, uid_t uid);

#endif
