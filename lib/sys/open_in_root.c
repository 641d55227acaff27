// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/open_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"

enum {
	MAX_LINKS = 40, /* as the kernel */
	MAX_DEPTH = 128,
};

/*
 * The directories from the root to where the walk is. ".." goes back to the one that the walk came
 * from, even if somebody moves it meanwhile, so it never leaves the root.
 */
struct walk {
	int dirs[MAX_DEPTH];
	unsigned n;
	char rest[2 * PATH_MAX]; /* of the path */
	unsigned links;
	struct path_check *check;
};

bool user_is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

static void walk_back(struct walk *w, unsigned n)
{
	while (w->n > n)
		close(w->dirs[--w->n]);
}

static void walk_deinit(struct walk *w)
{
	const int code = errno;

	walk_back(w, 0);
	errno = code;
}

static int fail_with(int code)
{
	errno = code;
	return -1;
}

static bool is_link_refused(const struct walk *w, uid_t owner)
{
	struct path_check *check = w->check;

	if (!check || user_is_trusted(owner) || owner == check->user)
		return false;
	check->err = error_new(EPERM, "the symbolic link belongs to user %u", (unsigned)owner);
	errno = EPERM;
	return true;
}

/* What only its owner or a group may use, though the user chose the path. */
static bool is_closed(const struct walk *w, const struct stat *st, unsigned bit)
{
	struct path_check *check = w->check;

	if (st->st_uid == check->user || (st->st_mode & bit))
		return false;
	check->err = error_new(EPERM, "user %u, whose data names this path, cannot read it",
			       (unsigned)check->user);
	errno = EPERM;
	return true;
}

static bool is_found_refused(const struct walk *w, int found)
{
	struct stat st;

	if (!w->check || user_is_trusted(w->check->user))
		return false;
	if (fstat(found, &st))
		return true;
	/* a link is not what is read */
	if (S_ISLNK(st.st_mode) || st.st_uid == w->check->user)
		return false;
	if (is_closed(w, &st, S_IROTH))
		return true;
	for (unsigned i = 0; i < w->n; i++)
		if (fstat(w->dirs[i], &st) || is_closed(w, &st, S_IXOTH))
			return true;
	return false;
}

/* The link's target goes on with what is left of the path. */
static int enter_link(struct walk *w, int link, const char *left)
{
	char target[PATH_MAX], whole[2 * PATH_MAX];
	const ssize_t n = readlinkat(link, "", target, sizeof(target));

	if (n < 0)
		return -1;
	if (++w->links > MAX_LINKS)
		return fail_with(ELOOP);
	if ((size_t)n >= sizeof(target) || (size_t)snprintf(whole, sizeof(whole), "%.*s/%s", (int)n,
							    target, left) >= sizeof(whole))
		return fail_with(ENAMETOOLONG);
	if (n && target[0] == '/')
		walk_back(w, 1);
	memcpy(w->rest, whole, sizeof(whole));
	return 0;
}

/* One component. *found: what the path leads to, if it was the last one. */
static int step(struct walk *w, const char *name, const char *left, bool follow, int *found)
{
	const bool is_last = !*left;
	struct stat st;

	if (!strcmp(name, "..")) {
		if (w->n > 1)
			walk_back(w, w->n - 1);
		memmove(w->rest, left, strlen(left) + 1);
		return 0;
	}
	_cleanup_close_ int fd = openat(w->dirs[w->n - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (S_ISLNK(st.st_mode) && (!is_last || follow))
		return is_link_refused(w, st.st_uid) ? -1 : enter_link(w, fd, left);
	if (is_last) {
		*found = steal_fd(&fd);
		return 0;
	}
	if (!S_ISDIR(st.st_mode))
		return fail_with(ENOTDIR);
	if (w->n == MAX_DEPTH)
		return fail_with(ENAMETOOLONG);
	w->dirs[w->n++] = steal_fd(&fd);
	memmove(w->rest, left, strlen(left) + 1);
	return 0;
}

int find_in_root(int root, const char *path, bool follow, struct path_check *check)
{
	__attribute__((cleanup(walk_deinit))) struct walk w = {.check = check};
	char name[NAME_MAX + 1];
	_cleanup_close_ int found = -1;

	if (strlen(path) >= PATH_MAX)
		return fail_with(ENAMETOOLONG);
	memcpy(w.rest, path, strlen(path) + 1);
	w.dirs[0] = fcntl(root, F_DUPFD_CLOEXEC, 3);
	if (w.dirs[0] < 0)
		return -1;
	w.n = 1;
	while (found < 0) {
		const char *at = w.rest + strspn(w.rest, "/");
		const size_t len = strcspn(at, "/");
		const char *left = at + len + strspn(at + len, "/");

		if (!len) /* the path ends with a directory */
			return fcntl(w.dirs[w.n - 1], F_DUPFD_CLOEXEC, 3);
		if (len > NAME_MAX)
			return fail_with(ENAMETOOLONG);
		memcpy(name, at, len);
		name[len] = '\0';
		if (!strcmp(name, "."))
			memmove(w.rest, left, strlen(left) + 1);
		else if (step(&w, name, left, follow, &found))
			return -1;
	}
	return is_found_refused(&w, found) ? -1 : steal_fd(&found);
}
