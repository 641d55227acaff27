// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/config_safety.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"

/*
 * A user's own group, which the user's files get where the umask is 002 (Debian's ssh allows it,
 * too): it has the number and the name of the user, and no other members.
 */
static bool is_group_of(gid_t gid, uid_t uid)
{
	if (!uid || gid != uid)
		return false;
	const struct group *gr = getgrgid(gid);
	const struct passwd *pw = getpwuid(uid);
	if (!gr || !pw || strcmp(gr->gr_name, pw->pw_name))
		return false;
	for (char *const *member = gr->gr_mem; *member; member++)
		if (strcmp(*member, pw->pw_name))
			return false;
	return true;
}

/* what: it is, or is in, path */
static bool is_safe(const char *path, const char *what, const struct stat *st,
		    const struct log *log)
{
	const char *it = strcmp(path, what) ? what : "it";

	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		log_warn(log, "%s is ignored: %s belongs to user %u, who is neither you nor root",
			 path, it, (unsigned)st->st_uid);
		return false;
	}
	if (st->st_mode & S_IWOTH ||
	    (st->st_mode & S_IWGRP && !is_group_of(st->st_gid, st->st_uid))) {
		log_warn(log, "%s is ignored: others can write to %s (chmod go-w %s)", path, it,
			 what);
		return false;
	}
	return true;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* at: the path whose directories are looked at; it is changed. */
static bool parents_are_safe(const char *path, char *at, const struct stat *home,
			     const struct log *log)
{
	struct stat st;
	char *slash;

	while (*at == '/' && at[1] && (slash = strrchr(at, '/'))) {
		slash[slash == at] = 0;
		if (stat(at, &st) || !is_safe(path, at, &st, log))
			return false;
		if (is_same(&st, home))
			return true;
	}
	return true;
}

bool config_dirs_are_safe(const char *path, const char *home, const struct log *log)
{
	_cleanup_free_ char *at = strdup(path), *real = realpath(path, NULL);
	struct stat st = {0};

	stat(home, &st);
	return at && parents_are_safe(path, at, &st, log) &&
	       (!real || !strcmp(real, path) || parents_are_safe(path, real, &st, log));
}

bool config_file_is_safe(const char *path, int fd, const struct log *log)
{
	struct stat st;

	return !fstat(fd, &st) && is_safe(path, path, &st, log);
}
