// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the cache lies, and how it is kept small.
 *
 *	DIR/objects/KEY		an object with its manifest (cache_entry.c)
 *	DIR/headers/HASH/bpf/	the program's own headers
 *	DIR/vmlinux/HASH/	vmlinux.h of a kernel
 *	DIR/clang/HASH		what a clang says of itself
 *	DIR/texts/HASH/		a source that was no file (compile_text.c)
 *	DIR/tmp/		a folder per running compilation
 *
 * What lies here is loaded into the kernel, so nobody else may have written
 * it: DIR and its folders belong to this user, are not symbolic links, and
 * give no one else the right to write; a folder that is otherwise is not used
 * at all. The folders above DIR (a home, /var/cache) are the administrator's
 * or the user's own affair. Files appear by rename(), whole or not at all, and
 * are never changed; so readers need no lock, and of two that write the same
 * name either may win.
 */
#include "compile/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define SCRATCH_SECONDS 3600

/* Opens the folder, made if need be; refuses what others could have written to. */
static struct error *open_own_folder(int dirfd, const char *name, int *out)
{
	if (mkdirat(dirfd, name, 0700) < 0 && errno != EEXIST)
		return error_at(error_errno(errno, "cannot be created"), "%s", name);
	_cleanup_close_ int fd =
		openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_at(error_errno(errno, "cannot be opened"), "%s", name);
	if (st.st_uid != geteuid())
		return error_at(error_new(EPERM, "belongs to user %u", st.st_uid), "%s", name);
	if (st.st_mode & 022)
		return error_at(error_new(EPERM, "others may write to it"), "%s", name);
	*out = steal_fd(&fd);
	return NULL;
}

static char *usual_place(void)
{
	const char *named = secure_getenv("PERF_BPF_CACHE_DIR");
	const char *xdg = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	char *path = NULL;
	int n = -1;

	if (named && *named)
		return strdup(named);
	if (geteuid() == 0)
		return strdup("/var/cache/perf-bpf");
	if (xdg && *xdg == '/')
		n = asprintf(&path, "%s/perf-bpf", xdg);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.cache/perf-bpf", home);
	return n < 0 ? NULL : path;
}

/* As mkdir -p for what stands above the cache. */
static void make_parents(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);

	for (char *p = copy ? strchr(copy + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(copy, 0700);
		*p = '/';
	}
}

static struct error *open_lasting(const char *path, struct cache *out)
{
	_cleanup_close_ int fd = -1;
	_cleanup_close_ int scratch = -1;

	make_parents(path);
	TRY(open_own_folder(AT_FDCWD, path, &fd));
	TRY(error_at(open_own_folder(fd, "tmp", &scratch), "%s", path));
	if (faccessat(fd, "tmp", W_OK, AT_EACCESS) < 0)
		return error_at(error_errno(errno, "cannot be written to"), "%s", path);
	out->path = realpath(path, NULL);
	return out->path ? NULL : error_errno(errno, "%s", path);
}

struct error *cache_open(const char *want, const struct log *log, struct cache *out)
{
	_cleanup_cache_ struct cache c = {.log = log};
	_cleanup_free_ char *place = want ? strdup(want) : usual_place();

	if (place) {
		_cleanup_error_ struct error *err = open_lasting(place, &c);
		if (err)
			log_info(log, "the compile cache is not used: %s: %s", err->where ?: place,
				 err->msg);
	} else {
		log_info(log, "the compile cache is not used: HOME is not set");
	}
	if (!c.path) {
		const char *tmp = secure_getenv("TMPDIR");
		if (asprintf(&c.path, "%s/perf-bpf.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp") <
		    0) {
			c.path = NULL;
			return error_nomem();
		}
		if (!mkdtemp(c.path)) {
			struct error *err = error_errno(
				errno, "cannot create a temporary directory to compile in");
			err = error_at(err, "%s", c.path);
			free(steal_ptr(c.path));
			return error_hint(err, "set TMPDIR to a directory that you can write to");
		}
		c.temporary = true;
	}
	*out = c;
	c = (struct cache){0};
	return NULL;
}

void cache_close(struct cache *c)
{
	if (c->path && c->temporary)
		tree_remove(c->path);
	free(c->path);
	*c = (struct cache){0};
}

struct error *cache_folder(const struct cache *c, const char *name, int *fd)
{
	_cleanup_free_ char *copy = strdup(name);
	_cleanup_close_ int at = -1;

	if (!copy)
		return error_nomem();
	TRY(open_own_folder(AT_FDCWD, c->path, &at));
	char *rest = copy;
	for (char *part; (part = strsep(&rest, "/"));) {
		int next = -1;
		TRY(error_at(open_own_folder(at, part, &next), "%s", c->path));
		close(at);
		at = next;
	}
	*fd = steal_fd(&at);
	return NULL;
}

struct error *cache_scratch(const struct cache *c, char **path)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *made = NULL;

	TRY(cache_folder(c, "tmp", &fd));
	if (asprintf(&made, "%s/tmp/XXXXXX", c->path) < 0) {
		made = NULL;
		return error_nomem();
	}
	if (!mkdtemp(made))
		return error_at(error_errno(errno, "cannot be created"), "%s", made);
	*path = steal_ptr(made);
	return NULL;
}

struct aged {
	char *name;
	struct timespec at;
};

static int by_newest(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	if (x->at.tv_sec != y->at.tv_sec)
		return x->at.tv_sec < y->at.tv_sec ? 1 : -1;
	return (x->at.tv_nsec < y->at.tv_nsec) - (x->at.tv_nsec > y->at.tv_nsec);
}

/* Walks a folder of the cache; the entries are the caller's, sorted, newest first. */
static size_t list_folder(const struct cache *c, const char *folder, struct aged **out)
{
	size_t n = 0, cap = 0;
	struct aged *v = NULL;
	int fd = -1;
	_cleanup_error_ struct error *err = cache_folder(c, folder, &fd);
	DIR *dir = err ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (struct dirent *d; (d = readdir(dir));) {
		struct stat st;
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (n == cap) {
			size_t more = cap ? cap * 2 : 64;
			struct aged *bigger = realloc(v, more * sizeof(*v));
			if (!bigger)
				break;
			v = bigger;
			cap = more;
		}
		char *name = strdup(d->d_name);
		if (!name)
			break;
		v[n++] = (struct aged){.name = name, .at = st.st_mtim};
	}
	closedir(dir);
	if (n)
		qsort(v, n, sizeof(*v), by_newest);
	*out = v;
	return n;
}

static void remove_entry(const struct cache *c, const char *folder, const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s/%s", c->path, folder, name) < 0)
		path = NULL;
	else
		tree_remove(path);
}

void cache_prune(const struct cache *c, const char *folder, size_t keep)
{
	struct aged *v = NULL;
	size_t n = list_folder(c, folder, &v);

	for (size_t i = 0; i < n; i++) {
		if (i >= keep)
			remove_entry(c, folder, v[i].name);
		free(v[i].name);
	}
	free(v);

	/* What a compilation left behind that was killed. */
	v = NULL;
	n = list_folder(c, "tmp", &v);
	for (size_t i = 0; i < n; i++) {
		if (v[i].at.tv_sec + SCRATCH_SECONDS < time(NULL))
			remove_entry(c, "tmp", v[i].name);
		free(v[i].name);
	}
	free(v);
}
