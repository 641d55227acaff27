// SPDX-License-Identifier: BSD-2-Clause
/*
 * O_PATH gives a descriptor of a file without opening it: what it is can be looked at
 * (fstat) before anything happens. /proc/self/fd/N then opens that very file, whatever
 * the path means by now (man 2 open, man 7 symlink).
 */
#include "lib/sys/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "lib/sys/open_in_root.h"

enum {
	MAX_LINKS = 40, /* as the kernel */
};

static struct error *check_file(const struct stat *st, const struct open_regular_opts *opts)
{
	if (S_ISLNK(st->st_mode))
		return error_new(ELOOP, "it is a symbolic link");
	if (!S_ISREG(st->st_mode))
		return error_new(S_ISDIR(st->st_mode) ? EISDIR : EINVAL, "not a regular file");
	if (!opts)
		return NULL;
	if (opts->owned && !user_is_trusted(st->st_uid) &&
	    (!opts->owner || st->st_uid != opts->owner))
		return error_new(EPERM, "it belongs to user %u", (unsigned)st->st_uid);
	if (opts->max_bytes && (uint64_t)st->st_size > opts->max_bytes)
		return error_new(EFBIG, "larger than %llu MB",
				 (unsigned long long)opts->max_bytes >> 20);
	return NULL;
}

/* Without procfs: what is opened is compared with what was looked at. */
static int open_by_name(const char *path, const struct stat *seen, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_dev == seen->st_dev && st.st_ino == seen->st_ino)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* Of "/proc/PID/root/PATH": where PATH begins; 0: it is another path. */
static int root_of_process(const char *path)
{
	int end = 0;

	return sscanf(path, "/proc/%*[0-9]/root/%n", &end) == EOF || !end ? 0 : end - 1;
}

/*
 * What a process has below its root was made by whoever runs there: links are followed as the
 * process sees them, so that none leads to a file outside.
 */
static int find_of_process(const char *path, int end, bool follow, struct path_check *check)
{
	char root[64];

	if ((size_t)end >= sizeof(root)) {
		errno = ENOENT;
		return -1;
	}
	snprintf(root, sizeof(root), "%.*s", end, path);
	_cleanup_close_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : find_in_root(dir, path + end, follow, check);
}

/* Component by component. */
static int find_checked(const char *path, bool follow, struct path_check *check)
{
	char whole[2 * PATH_MAX], here[PATH_MAX];
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0 || (*path != '/' && !getcwd(here, sizeof(here))))
		return -1;
	if (*path != '/') {
		if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", here, path) >= sizeof(whole)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		path = whole;
	}
	return find_in_root(root, path, follow, check);
}

static int find_path(const char *path, bool follow, struct path_check *check)
{
	const int end = root_of_process(path);

	if (end)
		return find_of_process(path, end, follow, check);
	return check ? find_checked(path, follow, check)
		     : open(path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
}

/* O_PATH: nothing is opened. */
static struct error *find_file(const char *path, const struct open_regular_opts *opts, int *fd,
			       struct stat *st)
{
	struct path_check check = {.user = opts ? opts->owner : 0};
	const bool owned = opts && opts->owned;
	_cleanup_close_ int found =
		find_path(path, !(opts && opts->no_link), owned ? &check : NULL);

	if (check.err)
		return check.err;
	if (found < 0 || fstat(found, st))
		return error_errno(errno, "cannot open");
	TRY(check_file(st, opts));
	*fd = steal_fd(&found);
	return NULL;
}

uint64_t file_max_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) || !user_is_trusted(st.st_uid) ? OTHERS_MAX_BYTES : UINT64_MAX;
}

/* What was found by O_PATH. */
static struct error *open_found(const char *path, int found, const struct stat *st, int flags,
				int *fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	int got = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (got < 0 && errno == ENOENT)
		got = open_by_name(path, st, flags);
	if (got < 0)
		return error_at(error_errno(errno, "cannot open"), "%s", path);
	*fd = got;
	return NULL;
}

struct error *open_regular(const char *path, const struct open_regular_opts *opts, int *fd)
{
	_cleanup_close_ int found = -1;
	struct stat st;

	TRY(error_at(find_file(path, opts, &found, &st), "%s", path));
	return open_found(path, found, &st, O_NONBLOCK, fd);
}

/* A pipe without a name comes from a shell or a parent. */
static bool is_pipe(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PIPEFS_MAGIC;
}

static struct error *check_input(int fd, const struct stat *st)
{
	if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))
		return NULL;
	if (!S_ISFIFO(st->st_mode))
		return error_new(EINVAL, "is not a file or a pipe");
	return user_is_trusted(st->st_uid) || is_pipe(fd)
		       ? NULL
		       : error_new(EPERM, "is a FIFO that belongs to neither you nor root");
}

struct error *open_input(const char *path, bool force, int *fd)
{
	_cleanup_close_ int found = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (found < 0 || fstat(found, &st))
		return error_at(error_errno(errno, "cannot open"), "%s", path);
	if (!force)
		TRY(error_at(check_input(found, &st), "%s", path));
	return open_found(path, found, &st, 0, fd);
}

struct error *fopen_regular(const char *path, const struct open_regular_opts *opts, FILE **out)
{
	_cleanup_close_ int fd = -1;

	TRY(open_regular(path, opts, &fd));
	FILE *file = fdopen(fd, "r");
	if (!file)
		return error_nomem();
	fd = -1;
	*out = file;
	return NULL;
}

/* ---- output ---- */

/* A path on the way: what is left of it after dir_fd. */
struct path_walk {
	const char *path; /* the whole */
	int dir_fd;
	unsigned links;
	bool takes_dir; /* the last component may be a directory */
	char left[PATH_MAX];
};

static struct error *cannot_write(const struct path_walk *w, int code)
{
	return error_errno(code, "cannot write '%s'", w->path);
}

static struct error *enter(struct path_walk *w, const char *name)
{
	int fd = openat(w->dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return cannot_write(w, errno);
	closep(&w->dir_fd);
	w->dir_fd = fd;
	return NULL;
}

/* Puts what a link holds before the rest of the path. */
static struct error *follow(struct path_walk *w, const char *name, uid_t owner, const char *rest)
{
	char path[PATH_MAX];

	if (!user_is_trusted(owner))
		return error_hint(
			error_new(EPERM,
				  "cannot write '%s': the symbolic link '%s' belongs to user %u",
				  w->path, name, (unsigned)owner),
			"remove the link, or write to a directory of your own");
	if (++w->links > MAX_LINKS)
		return cannot_write(w, ELOOP);
	const ssize_t n = readlinkat(w->dir_fd, name, path, sizeof(path));
	if (n < 0)
		return cannot_write(w, errno);
	if ((size_t)n + strlen(rest) + 2 > sizeof(path))
		return cannot_write(w, ENAMETOOLONG);
	path[n] = 0;
	if (*rest) {
		path[n] = '/';
		strcpy(path + n + 1, rest);
	}
	if (path[0] == '/')
		TRY(enter(w, "/"));
	strcpy(w->left, path);
	return NULL;
}

/* What /proc/PID/fd/N refers to need not have a name: it is followed by the kernel only. */
static bool is_magic(const struct path_walk *w)
{
	struct statfs fs;

	return !fstatfs(w->dir_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static struct error *find_last(const struct path_walk *w, const struct stat *st,
			       struct output_path *out)
{
	if (S_ISDIR(st->st_mode) && !w->takes_dir)
		return cannot_write(w, EISDIR);
	if (S_ISFIFO(st->st_mode) && !out->is_magic && !user_is_trusted(st->st_uid))
		return error_new(EPERM, "cannot write '%s': the FIFO belongs to user %u", w->path,
				 (unsigned)st->st_uid);
	out->exists = true;
	out->is_dir = S_ISDIR(st->st_mode);
	out->is_special = out->is_magic || (!S_ISREG(st->st_mode) && !out->is_dir);
	out->is_ours = st->st_uid == geteuid() && (out->is_dir || st->st_nlink == 1);
	out->mode = st->st_mode & 0777;
	return NULL;
}

/* The next component; *done when it was the last. */
static struct error *walk_one(struct path_walk *w, struct output_path *out, bool *done)
{
	const char *name = w->left + strspn(w->left, "/");
	const size_t len = strcspn(name, "/");
	const bool is_last = !name[len];
	char rest[PATH_MAX];
	struct stat st;

	if (len >= sizeof(out->name))
		return cannot_write(w, ENAMETOOLONG);
	memcpy(out->name, name, len);
	out->name[len] = 0;
	strcpy(rest, name + len + strspn(name + len, "/"));
	strcpy(w->left, rest);
	if (!len)
		return cannot_write(w, *w->path ? EISDIR : ENOENT);
	if (!strcmp(out->name, ".") || !strcmp(out->name, ".."))
		return is_last ? cannot_write(w, EISDIR) : enter(w, out->name);
	if (fstatat(w->dir_fd, out->name, &st, AT_SYMLINK_NOFOLLOW)) {
		*done = true;
		return is_last && errno == ENOENT ? NULL : cannot_write(w, errno);
	}
	if (S_ISLNK(st.st_mode)) {
		if (!is_last || !is_magic(w))
			return follow(w, out->name, st.st_uid, rest);
		out->is_magic = true;
		if (fstatat(w->dir_fd, out->name, &st, 0))
			return cannot_write(w, errno);
	}
	if (!is_last)
		return enter(w, out->name);
	*done = true;
	return find_last(w, &st, out);
}

static struct error *walk_path(struct path_walk *w, struct output_path *out)
{
	if (strlen(w->path) >= sizeof(w->left))
		return cannot_write(w, ENAMETOOLONG);
	strcpy(w->left, w->path);
	w->dir_fd = open(w->path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->dir_fd < 0)
		return cannot_write(w, errno);
	for (bool done = false; !done;)
		TRY(walk_one(w, out, &done));
	out->dir_fd = steal_fd(&w->dir_fd);
	return NULL;
}

static struct error *find(struct path_walk *w, struct output_path *out)
{
	struct output_path found = {.dir_fd = -1};
	struct error *err = walk_path(w, &found);

	closep(&w->dir_fd);
	if (!err)
		*out = found;
	return err;
}

struct error *output_find(const char *path, struct output_path *out)
{
	struct path_walk w = {.path = path, .dir_fd = -1};

	return find(&w, out);
}

struct error *output_find_dir(const char *path, struct output_path *out)
{
	struct path_walk w = {.path = path, .dir_fd = -1, .takes_dir = true};

	return find(&w, out);
}

void output_path_deinit(struct output_path *out)
{
	closep(&out->dir_fd);
	out->dir_fd = -1;
}

/* Empties what is still the caller's. */
static int open_ours(const struct output_path *out, int flags)
{
	_cleanup_close_ int fd = openat(out->dir_fd, out->name,
					flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1) {
		errno = EEXIST;
		return -1;
	}
	return ftruncate(fd, 0) ? -1 : steal_fd(&fd);
}

struct error *output_create(const struct output_path *out, const char *path, int flags, mode_t mode,
			    int *fd)
{
	int got = -1;

	if (out->exists && out->is_ours) {
		got = open_ours(out, flags);
		if (got < 0 && errno != ENOENT)
			return error_errno(errno, "cannot write '%s'", path);
	} else if (out->exists && unlinkat(out->dir_fd, out->name, 0) && errno != ENOENT) {
		return error_errno(errno, "cannot write '%s'", path);
	}
	if (got < 0)
		got = openat(out->dir_fd, out->name, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (got < 0)
		return error_errno(errno, "cannot write '%s'", path);
	*fd = got;
	return NULL;
}

/* offset -1: the file's own */
static struct error *write_bytes(int fd, const char *p, size_t n, off_t offset)
{
	while (n > 0) {
		const ssize_t done = offset < 0 ? write(fd, p, n) : pwrite(fd, p, n, offset);

		if (done < 0 && errno != EINTR)
			return error_errno(errno, "cannot be written");
		if (done > 0) {
			p += done;
			n -= (size_t)done;
			offset += offset < 0 ? 0 : done;
		}
	}
	return NULL;
}

struct error *file_write(int fd, const void *data, size_t n)
{
	return write_bytes(fd, data, n, -1);
}

struct error *file_write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	return write_bytes(fd, data, n, (off_t)offset);
}

int open_temporary(int dir_fd, char name[TEMPORARY_NAME_SIZE], int flags, mode_t mode)
{
	int fd = -1;

	for (unsigned try = 0; fd < 0 && try < 100; try++) {
		snprintf(name, TEMPORARY_NAME_SIZE, ".perf-bpf.%d.%u", getpid(), try);
		fd = openat(dir_fd, name, flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

struct error *file_replace_by(int dir_fd, const char *name, mode_t mode, file_content_fn *content,
			      void *ctx)
{
	char temp[TEMPORARY_NAME_SIZE];
	const int fd = open_temporary(dir_fd, temp, O_WRONLY, mode);

	if (fd < 0)
		return error_errno(errno, "cannot write '%s'", name);
	struct error *err = content(fd, ctx);
	if ((close(fd) < 0 || (!err && renameat(dir_fd, temp, dir_fd, name) < 0)) && !err)
		err = error_errno(errno, "cannot write '%s'", name);
	if (err)
		unlinkat(dir_fd, temp, 0);
	return err;
}

struct new_content {
	const char *name;
	const void *data;
	size_t n;
};

static struct error *write_content(int fd, void *ctx)
{
	const struct new_content *c = ctx;
	_cleanup_error_ struct error *err = file_write(fd, c->data, c->n);

	return err ? error_errno(err->code, "cannot write '%s'", c->name) : NULL;
}

struct error *file_replace(int dir_fd, const char *name, const void *data, size_t n, mode_t mode)
{
	struct new_content c = {name, data, n};

	return file_replace_by(dir_fd, name, mode, write_content, &c);
}
