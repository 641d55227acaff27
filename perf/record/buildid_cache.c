// SPDX-License-Identifier: BSD-2-Clause
/*
 * The build-id cache is a directory of perf (~/.debug), with this layout:
 *
 *	PATH/ID/elf			a copy of the file PATH with the build-id ID
 *	[kernel.kallsyms]/ID/kallsyms	a copy of /proc/kallsyms
 *	.build-id/ID[0-1]/ID[2-]	a symbolic link to the directory PATH/ID
 *
 * Whoever builds a file chooses its build-id. So only files of root and of the
 * caller get such a link, and one of theirs takes the place of a copy of which
 * nothing says that it is theirs, too.
 *
 * perf makes hard links where it can. A file that is then overwritten in place
 * changes in the cache too; so these are copies, made within the kernel where
 * the filesystem shares blocks.
 *
 * The paths come from recordings, and the recorder may be root. Therefore every
 * directory is opened relative to the one above it, without following links,
 * and must belong to the user; and files get their name when they are complete.
 * With sudo and another user's HOME nothing is written.
 */
#include "perf/record/buildid_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "lib/sys/copied_file.h"
#include "lib/sys/open_file.h"
#include "lib/sys/open_in_root.h"

#define FILE_MAX (1ull << 30) /* larger files are not copied */

static struct error *check_owner(int fd, const char *name)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_at(error_errno(errno, "cannot be read"), "%s", name);
	if (st.st_uid != geteuid())
		return error_at(error_new(EPERM, "belongs to user %u", st.st_uid), "%s", name);
	if (st.st_mode & S_IWOTH)
		return error_at(error_new(EPERM, "is writable by all users"), "%s", name);
	return NULL;
}

static struct error *open_folder(int dir, const char *name, int *out)
{
	if (mkdirat(dir, name, 0755) && errno != EEXIST)
		return error_at(error_errno(errno, "cannot be created"), "%s", name);
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_at(error_errno(errno, "cannot be opened"), "%s", name);
	TRY(check_owner(fd, name));
	*out = steal_fd(&fd);
	return NULL;
}

/* Where the directory is created must be the user's or root's. */
static struct error *check_parent(const char *dir)
{
	_cleanup_free_ char *parent = strdup(dir);
	struct stat st;

	if (!parent)
		return error_nomem();
	for (size_t n = strlen(parent); n > 1 && parent[n - 1] == '/'; n--)
		parent[n - 1] = 0;
	char *slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = 0;
	if (stat(slash ? parent : ".", &st))
		return error_at(error_errno(errno, "cannot be read"), "%s", parent);
	if (st.st_uid != geteuid() && st.st_uid)
		return error_at(error_new(EPERM, "belongs to user %u", st.st_uid), "%s", parent);
	return NULL;
}

struct error *buildid_cache_open(const char *dir, struct buildid_cache *out)
{
	struct stat st;

	TRY(check_parent(dir));
	if (mkdir(dir, 0755) && errno != EEXIST)
		return error_at(error_errno(errno, "cannot be created"), "%s", dir);
	if (lstat(dir, &st))
		return error_at(error_errno(errno, "cannot be read"), "%s", dir);
	if (S_ISLNK(st.st_mode) && st.st_uid && st.st_uid != geteuid())
		return error_at(error_new(EPERM, "is a link of user %u", st.st_uid), "%s", dir);
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_at(error_errno(errno, "cannot be opened"), "%s", dir);
	TRY(check_owner(fd, dir));
	out->fd = steal_fd(&fd);
	return NULL;
}

void buildid_cache_close(struct buildid_cache *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* Opens the directory "a/b/c" below the cache's, created where it is missing. */
static struct error *open_path(const struct buildid_cache *c, const char *path, int *out)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int at = fcntl(c->fd, F_DUPFD_CLOEXEC, 3);
	char *rest = copy;

	if (!copy || at < 0)
		return error_nomem();
	for (char *part; (part = strsep(&rest, "/"));) {
		int next = -1;

		if (!*part)
			continue;
		if (!strcmp(part, ".") || !strcmp(part, ".."))
			return error_at(error_new(EINVAL, "is not a full path"), "%s", path);
		TRY(error_at(open_folder(at, part, &next), "%s", path));
		close(at);
		at = next;
	}
	*out = steal_fd(&at);
	return NULL;
}

/* By read(2), as procfs needs it; *named: an address that is not 0 was seen. */
static struct error *copy_text(int from, int to, bool *named)
{
	_cleanup_free_ char *buf = malloc(1 << 16);
	bool at_start = true, in_address = true;
	uint64_t total = 0;

	if (!buf)
		return error_nomem();
	for (;;) {
		const ssize_t n = read(from, buf, 1 << 16);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(errno, "cannot be read");
		if (!n)
			return NULL;
		for (ssize_t i = 0; i < n && !*named; i++) {
			in_address = at_start || (in_address && buf[i] != ' ');
			*named = in_address && buf[i] != '0' && buf[i] != ' ';
			at_start = buf[i] == '\n';
		}
		total += (uint64_t)n;
		if (total > FILE_MAX)
			return error_new(EFBIG, "is too large");
		TRY(file_write(to, buf, (size_t)n));
	}
}

/* Holes cost another user nothing, and would fill our disk. */
static bool is_hole_of_others(const struct stat *st)
{
	return !user_is_trusted(st->st_uid) &&
	       (uint64_t)st->st_blocks * 512 < (uint64_t)st->st_size / 16;
}

static struct error *copy_file(int from, int to)
{
	off_t at = 0;
	struct stat st;
	bool named = true; /* not looked for */

	if (fstat(from, &st))
		return error_errno(errno, "cannot be read");
	if ((uint64_t)st.st_size > FILE_MAX)
		return error_new(EFBIG, "is larger than %llu MB", FILE_MAX >> 20);
	if (is_hole_of_others(&st))
		return error_new(EFBIG, "is mostly a hole, and belongs to user %u",
				 (unsigned)st.st_uid);
	while (at < st.st_size) {
		const ssize_t n =
			copy_file_range(from, &at, to, NULL, (size_t)(st.st_size - at), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
	}
	if (at >= st.st_size)
		return NULL;
	/* Not between these filesystems, or the file shrinks: its build-id is compared later. */
	if (lseek(from, at, SEEK_SET) < 0)
		return error_errno(errno, "cannot be read");
	return copy_text(from, to, &named);
}

struct cached {
	int fd; /* of the file to copy */
	bool text;
	uid_t author;
};

static struct error *write_copy(int to, void *ctx)
{
	const struct cached *from = ctx;
	bool named = !from->text;

	TRY(from->text ? copy_text(from->fd, to, &named) : copy_file(from->fd, to));
	copied_file_set_author(to, from->author);
	return named ? NULL
		     : error_new(EPERM, "the kernel hides the addresses (kernel.kptr_restrict)");
}

static struct error *link_id(const struct buildid_cache *c, const char *hex, const char *path)
{
	_cleanup_strbuf_ struct strbuf target = STRBUF_INIT, folder = STRBUF_INIT;
	_cleanup_close_ int dir = -1;

	strbuf_addf(&target, "../..%s%s/%s", path[0] == '/' ? "" : "/", path, hex);
	strbuf_addf(&folder, ".build-id/%.2s", hex);
	if (strbuf_failed(&target) || strbuf_failed(&folder))
		return error_nomem();
	TRY(open_path(c, strbuf_str(&folder), &dir));
	/* One that is there leads to where the file was not found. */
	unlinkat(dir, hex + 2, 0);
	if (symlinkat(strbuf_str(&target), dir, hex + 2))
		return error_at(error_errno(errno, "cannot be created"), "%s/%s",
				strbuf_str(&folder), hex + 2);
	return NULL;
}

/* Whether the cache has the file, by somebody who is trusted, or by anybody. */
static bool has_copy(const struct buildid_cache *c, const char *path, bool of_trusted)
{
	_cleanup_close_ int fd = openat(c->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uid_t author;

	if (fd < 0 || !of_trusted)
		return fd >= 0;
	return copied_file_has_author(fd, &author) && user_is_trusted(author);
}

/* file is "elf" or "kallsyms". */
static struct error *add(const struct buildid_cache *c, const char *path, const char *file,
			 const struct cached *from, const uint8_t *id, size_t id_size, mode_t mode)
{
	_cleanup_strbuf_ struct strbuf hex = STRBUF_INIT, known = STRBUF_INIT, folder = STRBUF_INIT;
	_cleanup_close_ int dir = -1;
	const bool trusted = user_is_trusted(from->author);

	if (c->fd < 0 || id_size < 2)
		return NULL;
	strbuf_add_bytes(&hex, id, id_size);
	if (strbuf_failed(&hex))
		return error_nomem();
	strbuf_addf(&known, ".build-id/%02x/", id[0]);
	strbuf_add_bytes(&known, id + 1, id_size - 1);
	strbuf_addf(&known, "/%s", file);
	strbuf_addf(&folder, "%s/%s", path, strbuf_str(&hex));
	if (strbuf_failed(&known) || strbuf_failed(&folder))
		return error_nomem();
	if (has_copy(c, strbuf_str(&known), trusted))
		return NULL;
	TRY(open_path(c, strbuf_str(&folder), &dir));
	if (!trusted && !faccessat(dir, file, R_OK, AT_SYMLINK_NOFOLLOW))
		return NULL;
	TRY(error_at(file_replace_by(dir, file, mode, write_copy, (void *)from), "%s/%s",
		     strbuf_str(&folder), file));
	return trusted ? link_id(c, strbuf_str(&hex), path) : NULL;
}

struct error *buildid_cache_add(const struct buildid_cache *c, const char *path, int fd,
				uid_t author, const uint8_t *id, size_t id_size)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_at(error_errno(errno, "cannot be read"), "%s", path);
	const struct cached from = {
		.fd = fd,
		.author = user_is_trusted(st.st_uid) ? author : st.st_uid,
	};
	return add(c, path, "elf", &from, id, id_size, (st.st_mode & 0555) | 0200);
}

struct error *buildid_cache_add_kallsyms(const struct buildid_cache *c, int fd, const uint8_t *id,
					 size_t id_size)
{
	const struct cached from = {.fd = fd, .text = true};

	return add(c, "[kernel.kallsyms]", "kallsyms", &from, id, id_size, 0644);
}
