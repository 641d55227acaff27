// SPDX-License-Identifier: BSD-2-Clause
/*
 * Landlock: a process forbids itself kinds of access to files, with exceptions below directories
 * that it names. Each version of the interface (ABI) knows more kinds, and a kernel refuses those
 * that it does not know. Reading is not handled, so it stays as it is: symbols come from anywhere.
 *
 * The kernel closes to a process in Landlock the procfs files of processes outside of it that
 * ptrace(2) would reach (maps, root, exe).
 */
#include <errno.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys/confine_internal.h"

/* The same on every architecture. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

#define FILE_ACCESS (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
/* Below a directory: what file_replace_by() does. */
#define DIR_ACCESS    (FILE_ACCESS | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define FOLDER_ACCESS (LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM)

int landlock_abi(void)
{
	const long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

/* What is handled, and therefore forbidden; *size: as much of the struct as the kernel knows. */
static struct landlock_ruleset_attr ruleset_of(int abi, size_t *size)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				     LANDLOCK_ACCESS_FS_REMOVE_DIR |
				     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
				     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
				     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
				     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM,
	};

	*size = offsetof(struct landlock_ruleset_attr, handled_access_net);
	if (abi >= 2)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi >= 4) {
		attr.handled_access_net =
			LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
		*size = offsetof(struct landlock_ruleset_attr, scoped);
	}
	if (abi >= 5)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	if (abi >= 6) {
		attr.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
		*size = sizeof(attr);
	}
	return attr;
}

static struct error *allow_writing(int ruleset, int fd, uint64_t access)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_errno(errno, "cannot examine an output file");
	const struct landlock_path_beneath_attr rule = {
		.allowed_access = S_ISDIR(st.st_mode) ? access : access & FILE_ACCESS,
		.parent_fd = fd,
	};
	/* EBADFD: a pipe or a socket, which Landlock lets alone */
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) &&
	    errno != EBADFD)
		return error_errno(errno, "cannot add a rule to Landlock");
	return NULL;
}

struct error *confine_files(const struct confine_opts *opts, struct confined *done)
{
	const int abi = landlock_abi();
	size_t size;

	if (!abi)
		return NULL;
	struct landlock_ruleset_attr attr = ruleset_of(abi, &size);
	if (opts->signals)
		attr.scoped &= ~(uint64_t)LANDLOCK_SCOPE_SIGNAL;
	_cleanup_close_ int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (ruleset < 0)
		return error_errno(errno, "cannot create a ruleset of Landlock");
	const uint64_t access =
		attr.handled_access_fs & (DIR_ACCESS | (opts->creates_folders ? FOLDER_ACCESS : 0));
	for (size_t i = 0; i < opts->n_write_fds; i++)
		TRY(allow_writing(ruleset, opts->write_fds[i], access));
	if (syscall(SYS_landlock_restrict_self, ruleset, 0)) {
		if (errno == E2BIG) /* in 16 of them already */
			return NULL;
		return error_errno(errno, "cannot enter Landlock");
	}
	done->landlock_abi = abi;
	return NULL;
}
