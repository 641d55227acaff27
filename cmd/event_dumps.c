// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/event_dumps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/plain_text.h"
#include "lib/base/util.h"

static struct error *name_of(const struct event_dumps *dumps, const char *event, char **out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_adds(&name, last_component(dumps->path));
	strbuf_addch(&name, '.');
	plain_adds(&name, event);
	strbuf_adds(&name, ".dump");
	if (strbuf_failed(&name))
		return error_nomem();
	for (char *p = name.str; *p; p++)
		if (*p == '/')
			*p = '_';
	*out = strdup(name.str);
	return *out ? NULL : error_nomem();
}

static struct error *find_dump(struct event_dumps *dumps, const char *event,
			       struct event_dump **out)
{
	_cleanup_free_ char *name = NULL;
	struct event_dump *dump;

	TRY(name_of(dumps, event, &name));
	vec_for_each (dump, &dumps->dumps)
		if (!strcmp(dump->name, name)) {
			*out = dump;
			return NULL;
		}
	dump = vec_push(&dumps->dumps);
	if (!dump)
		return error_nomem();
	*dump = (struct event_dump){.name = steal_ptr(name)};
	*out = dump;
	return NULL;
}

static int open_dump(const struct event_dumps *dumps, struct event_dump *dump)
{
	const int dir = dumps->out.dir_fd;
	struct stat st;

	if (*dump->temporary) {
		/* In a directory of another user it may have become another file. */
		_cleanup_close_ int again = openat(dir, dump->temporary,
						   O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
							   O_NOCTTY | O_CLOEXEC);
		if (again < 0 || fstat(again, &st))
			return -1;
		if (st.st_dev != dump->dev || st.st_ino != dump->ino) {
			errno = ESTALE;
			return -1;
		}
		return steal_fd(&again);
	}
	_cleanup_close_ int fd =
		open_temporary(dir, dump->temporary, O_WRONLY, geteuid() ? 0666 : 0600);
	if (fd < 0 || fstat(fd, &st)) {
		*dump->temporary = 0;
		return -1;
	}
	dump->dev = st.st_dev;
	dump->ino = st.st_ino;
	return steal_fd(&fd);
}

struct error *event_dumps_begin(struct event_dumps *dumps, const char *path, const char *likely)
{
	dumps->path = path;
	return output_find(likely, &dumps->out);
}

struct error *event_dumps_write(struct event_dumps *dumps, const char *event,
				const struct strbuf *text, uint64_t n)
{
	struct event_dump *dump = NULL;

	TRY(find_dump(dumps, event, &dump));
	/* There may be more events than files that may be open. */
	_cleanup_close_ int fd = open_dump(dumps, dump);
	if (fd < 0)
		return error_errno(errno, "cannot write '%s'", dump->name);
	TRY(error_at(file_write(fd, strbuf_str(text), text->len), "%s", dump->name));
	dump->bytes += text->len;
	dump->samples += n;
	return NULL;
}

struct error *event_dumps_end(struct event_dumps *dumps, struct strbuf *report)
{
	const char *slash = strrchr(dumps->path, '/');
	const int dir = dumps->out.dir_fd;
	struct event_dump *dump;

	vec_for_each (dump, &dumps->dumps) {
		if (renameat(dir, dump->temporary, dir, dump->name))
			return error_errno(errno, "cannot write '%s'", dump->name);
		*dump->temporary = 0;
		strbuf_addf(report, "[ perf script: Wrote %.3f MB ", (double)dump->bytes / 1048576);
		if (slash)
			plain_add(report, dumps->path, (size_t)(slash + 1 - dumps->path));
		strbuf_adds(report, dump->name);
		strbuf_addf(report, " (%llu samples) ]\n", (unsigned long long)dump->samples);
	}
	return NULL;
}

void event_dumps_deinit(struct event_dumps *dumps)
{
	struct event_dump *dump;

	vec_for_each (dump, &dumps->dumps) {
		if (*dump->temporary)
			unlinkat(dumps->out.dir_fd, dump->temporary, 0);
		free(dump->name);
	}
	vec_deinit(&dumps->dumps);
	output_path_deinit(&dumps->out);
}
