/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls of Landlock, in our own words: <linux/landlock.h> came with 5.13, and each
 * later version of the interface (its ABI) added names. Sources: the kernel's documentation,
 * userspace-api/landlock.rst, and landlock(7). tests/checks/test_uapi.sh compares the values
 * with the system's header.
 */
#ifndef PB_UAPI_LINUX_LANDLOCK_H
#define PB_UAPI_LINUX_LANDLOCK_H

#include <linux/types.h>

/* Older kernels take the first members only; sizes say how many. */
struct landlock_ruleset_attr {
	__u64 handled_access_fs;
	__u64 handled_access_net; /* ABI 4 */
	__u64 scoped;		  /* ABI 6 */
};

struct landlock_path_beneath_attr {
	__u64 allowed_access;
	__s32 parent_fd;
} __attribute__((packed));

#define LANDLOCK_CREATE_RULESET_VERSION (1U << 0)

enum landlock_rule_type {
	LANDLOCK_RULE_PATH_BENEATH = 1,
};

#define LANDLOCK_ACCESS_FS_EXECUTE     (1ULL << 0)
#define LANDLOCK_ACCESS_FS_WRITE_FILE  (1ULL << 1)
#define LANDLOCK_ACCESS_FS_READ_FILE   (1ULL << 2)
#define LANDLOCK_ACCESS_FS_READ_DIR    (1ULL << 3)
#define LANDLOCK_ACCESS_FS_REMOVE_DIR  (1ULL << 4)
#define LANDLOCK_ACCESS_FS_REMOVE_FILE (1ULL << 5)
#define LANDLOCK_ACCESS_FS_MAKE_CHAR   (1ULL << 6)
#define LANDLOCK_ACCESS_FS_MAKE_DIR    (1ULL << 7)
#define LANDLOCK_ACCESS_FS_MAKE_REG    (1ULL << 8)
#define LANDLOCK_ACCESS_FS_MAKE_SOCK   (1ULL << 9)
#define LANDLOCK_ACCESS_FS_MAKE_FIFO   (1ULL << 10)
#define LANDLOCK_ACCESS_FS_MAKE_BLOCK  (1ULL << 11)
#define LANDLOCK_ACCESS_FS_MAKE_SYM    (1ULL << 12)
#define LANDLOCK_ACCESS_FS_REFER       (1ULL << 13) /* ABI 2 */
#define LANDLOCK_ACCESS_FS_TRUNCATE    (1ULL << 14) /* ABI 3 */
#define LANDLOCK_ACCESS_FS_IOCTL_DEV   (1ULL << 15) /* ABI 5 */

#define LANDLOCK_ACCESS_NET_BIND_TCP	(1ULL << 0) /* ABI 4 */
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)

#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0) /* ABI 6 */
#define LANDLOCK_SCOPE_SIGNAL		    (1ULL << 1)

#endif
