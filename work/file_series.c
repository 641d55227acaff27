// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process is that of writer_process.h. It knows the directory and the name before anything of
 * others is read. All that it does is in that directory, with names without slashes: the next file
 * is new (O_EXCL), and what names a complete one is digits; a name that exists is not taken.
 */
#include "work/file_series.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/open_file.h"
#include "work/writer_process.h"

struct request {
	char date[CLOCK_DATE_SIZE]; /* "": the next file is to be created */
};

struct file_series {
	struct writer_process *writer;
	struct timespec free_date; /* the first one that is not taken */
	/* Of the other process. */
	struct file_series_opts opts;
	struct output_path path;
	char next[TEMPORARY_NAME_SIZE]; /* "": there is none */
	int next_fd;			/* to be passed; -1: none */
	VEC(char *) made;		/* the oldest first, if there is an end to them */
};

/* ---- in the other process ---- */

static struct error *confine_series(void *ctx)
{
	const struct file_series *s = ctx;

	return s->opts.confine ? s->opts.confine(s->opts.confine_ctx) : NULL;
}

static struct error *create_next(struct file_series *s)
{
	if (*s->next)
		return error_new(EPROTO, "there is a next file already");
	s->next_fd = open_temporary(s->path.dir_fd, s->next, O_RDWR, 0600);
	if (s->next_fd >= 0)
		return NULL;
	*s->next = 0;
	return error_errno(errno, "cannot create the next file");
}

/* Where rename(2) does not know RENAME_NOREPLACE, another one may come in between. */
static int rename_new(int dir, const char *from, const char *to)
{
	struct stat st;

	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (!fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW))
		return EEXIST;
	return renameat(dir, from, dir, to) ? errno : 0;
}

/* Takes the name. */
static struct error *keep(struct file_series *s, char *name)
{
	char **slot = s->opts.max_files ? vec_push(&s->made) : NULL;

	if (!slot) {
		free(name);
		return s->opts.max_files ? error_nomem() : NULL;
	}
	*slot = name;
	while (s->made.n > s->opts.max_files) {
		unlinkat(s->path.dir_fd, s->made.v[0], 0);
		free(s->made.v[0]);
		s->made.n--;
		memmove(s->made.v, s->made.v + 1, s->made.n * sizeof(*s->made.v));
	}
	return NULL;
}

static struct error *complete(struct file_series *s, const char *date)
{
	const int dir = s->path.dir_fd;
	_cleanup_free_ char *name = text_format("%s.%s", s->path.name, date);

	if (!name)
		return error_nomem();
	const int code = rename_new(dir, s->path.name, name);
	if (code)
		return error_errno(code, "cannot rename '%s'", s->path.name);
	if (*s->next && renameat(dir, s->next, dir, s->path.name))
		return error_errno(errno, "cannot name '%s'", s->path.name);
	*s->next = 0;
	return keep(s, steal_ptr(name));
}

static bool is_date(const char date[CLOCK_DATE_SIZE])
{
	size_t n = 0;

	while (n < CLOCK_DATE_SIZE && isdigit((unsigned char)date[n]))
		n++;
	return n && n < CLOCK_DATE_SIZE && !date[n];
}

static struct error *serve(void *ctx, const void *data, size_t size, int fd)
{
	struct file_series *s = ctx;
	const struct request *request = data;

	if (size != sizeof(*request))
		return error_new(EPROTO, "the request is invalid");
	if (!*request->date)
		return create_next(s);
	return is_date(request->date) ? complete(s, request->date)
				      : error_new(EPROTO, "the date is invalid");
}

static int give_next(void *ctx)
{
	return steal_fd(&((struct file_series *)ctx)->next_fd);
}

static void remove_next(void *ctx)
{
	const struct file_series *s = ctx;

	if (*s->next)
		unlinkat(s->path.dir_fd, s->next, 0);
}

/* ---- in this one ---- */

struct error *file_series_new(const struct file_series_opts *opts, struct file_series **out)
{
	_cleanup_(file_series_freep) struct file_series *s = calloc(1, sizeof(*s));

	if (!s)
		return error_nomem();
	s->path.dir_fd = s->next_fd = -1;
	s->opts = *opts;
	TRY(output_find(opts->path, &s->path));
	if (s->path.is_special)
		return error_new(EINVAL, "'%s' is not a regular file", opts->path);
	const struct writer_process_opts writer_opts = {
		.confine = confine_series,
		.write = serve,
		.give = give_next,
		.end = remove_next,
		.ctx = s,
		.keep = s->path.dir_fd,
	};
	TRY(writer_process_new(&writer_opts, &s->writer));
	*out = steal_ptr(s);
	return NULL;
}

void file_series_free(struct file_series *s)
{
	if (!s)
		return;
	writer_process_free(s->writer);
	output_path_deinit(&s->path);
	free(s);
}

struct error *file_series_open(struct file_series *s, int *fd)
{
	const struct request request = {0};
	int passed = -1;

	TRY(writer_process_get(s->writer, &request, sizeof(request), &passed));
	if (passed < 0)
		return error_new(EPROTO, "the next file is missing");
	*fd = passed;
	return NULL;
}

/* Two in one hundredth of a second: the second one has the next, also if the first is removed. */
struct error *file_series_next(struct file_series *s, char date[CLOCK_DATE_SIZE])
{
	struct request request;
	struct timespec when;
	struct error *err = NULL;

	clock_gettime(CLOCK_REALTIME, &when);
	if (timespec_ns(when) < timespec_ns(s->free_date))
		when = s->free_date;
	for (unsigned i = 0; i < 100 && (!i || (err && err->code == EEXIST)); i++) {
		error_free(err);
		memset(&request, 0, sizeof(request));
		err = clock_date(when, request.date)
			      ? writer_process_ask(s->writer, &request, sizeof(request), -1)
			      : error_new(EOVERFLOW, "the date is not known");
		when.tv_nsec += 10000000;
		when.tv_sec += when.tv_nsec / 1000000000;
		when.tv_nsec %= 1000000000;
	}
	s->free_date = when;
	if (!err)
		memcpy(date, request.date, sizeof(request.date));
	return err;
}
