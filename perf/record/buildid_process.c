// SPDX-License-Identifier: BSD-2-Clause
#include "perf/record/buildid_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/record/buildid_cache.h"
#include "work/writer_process.h"

struct buildid_process {
	struct buildid_cache cache; /* of the other process */
	struct error *(*confine)(void *ctx);
	void *ctx;
	struct writer_process *writer;
};

/* path follows, with its NUL. */
struct copy_request {
	uint8_t is_kallsyms, id_size;
	uint8_t id[20];
	uid_t author;
};

/* ---- in the other process ---- */

static struct error *confine_copier(void *ctx)
{
	const struct buildid_process *process = ctx;

	return process->confine ? process->confine(process->ctx) : NULL;
}

static struct error *copy(void *ctx, const void *data, size_t size, int fd)
{
	const struct buildid_process *process = ctx;
	const struct copy_request *request = data;
	const char *path = (const char *)(request + 1);

	if (size <= sizeof(*request) || path[size - sizeof(*request) - 1] || fd < 0 ||
	    request->id_size > sizeof(request->id))
		return error_new(EBADMSG, "an invalid request to copy a file");
	return request->is_kallsyms ? buildid_cache_add_kallsyms(&process->cache, fd, request->id,
								 request->id_size)
				    : buildid_cache_add(&process->cache, path, fd, request->author,
							request->id, request->id_size);
}

/* ---- in this one ---- */

struct error *buildid_process_new(const char *dir, struct error *(*confine)(void *ctx), void *ctx,
				  struct buildid_process **out)
{
	_cleanup_(buildid_process_freep) struct buildid_process *process =
		calloc(1, sizeof(*process));

	if (!process)
		return error_nomem();
	process->cache.fd = -1;
	process->confine = confine;
	process->ctx = ctx;
	TRY(buildid_cache_open(dir, &process->cache));
	const struct writer_process_opts opts = {
		.confine = confine_copier,
		.write = copy,
		.ctx = process,
		.keep = process->cache.fd,
	};
	TRY(writer_process_new(&opts, &process->writer));
	buildid_cache_close(&process->cache);
	*out = steal_ptr(process);
	return NULL;
}

void buildid_process_free(struct buildid_process *process)
{
	if (!process)
		return;
	writer_process_free(process->writer);
	buildid_cache_close(&process->cache);
	free(process);
}

static struct error *ask(struct buildid_process *process, bool is_kallsyms, const char *path,
			 int fd, uid_t author, const uint8_t *id, size_t id_size)
{
	const size_t size = strlen(path) + 1;
	struct {
		struct copy_request head;
		char path[PATH_MAX];
	} request = {.head = {.is_kallsyms = is_kallsyms,
			      .id_size = (uint8_t)id_size,
			      .author = author}};

	if (id_size > sizeof(request.head.id))
		return error_at(error_new(EINVAL, "the build id has %zu bytes", id_size), "%s",
				path);
	if (size > sizeof(request.path))
		return error_errno(ENAMETOOLONG, "%.64s...", path);
	memcpy(request.head.id, id, id_size);
	memcpy(request.path, path, size);
	return writer_process_ask(process->writer, &request, sizeof(request.head) + size, fd);
}

struct error *buildid_process_add(struct buildid_process *process, const char *path, int fd,
				  uid_t author, const uint8_t *id, size_t id_size)
{
	return process ? ask(process, false, path, fd, author, id, id_size) : NULL;
}

struct error *buildid_process_add_kallsyms(struct buildid_process *process, const uint8_t *id,
					   size_t id_size)
{
	if (!process)
		return NULL;
	_cleanup_close_ int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_at(error_errno(errno, "cannot be opened"), "/proc/kallsyms");
	return ask(process, true, "", fd, 0, id, id_size);
}
