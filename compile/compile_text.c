// SPDX-License-Identifier: BSD-2-Clause
#include "compile/internal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lib/sys/open_file.h"

#define KEEP_TEXTS	200
#define TEXT_SOURCE_MAX (16u << 20)

struct compile_text {
	struct cache cache;
	char *path;
};

void compile_text_free(struct compile_text *t)
{
	if (!t)
		return;
	cache_close(&t->cache);
	free(t->path);
	free(t);
}

const char *compile_text_path(const struct compile_text *t)
{
	return t->path;
}

static struct error *write_text(struct compile_text *t, const char *folder, const char *file,
				const char *text)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *is = NULL;
	size_t size;

	TRY(cache_folder(&t->cache, folder, &fd));
	_cleanup_error_ struct error *err = file_read(fd, file, TEXT_SOURCE_MAX, &is, &size);
	if (!err && size == strlen(text) && !memcmp(is, text, size)) {
		utimensat(fd, ".", NULL, 0); /* the newest are kept */
		return NULL;
	}
	TRY(file_replace(fd, file, text, strlen(text), 0600));
	cache_prune(&t->cache, "texts", KEEP_TEXTS);
	return NULL;
}

struct error *compile_text_new(const char *text, const char *name, const struct compile_opts *opts,
			       struct compile_text **out)
{
	_cleanup_(compile_text_freep) struct compile_text *t = calloc(1, sizeof(*t));
	const struct digest digest = digest_of(text, strlen(text));
	_cleanup_free_ char *folder = text_format("texts/%s", digest.hex);
	_cleanup_free_ char *file = text_format("%s.bpf.c", name);

	if (!t || !folder || !file)
		return error_nomem();
	TRY(cache_open(opts->cache_dir, opts->log, &t->cache));
	TRY(write_text(t, folder, file, text));
	t->path = text_format("%s/%s/%s", t->cache.path, folder, file);
	if (!t->path)
		return error_nomem();
	*out = steal_ptr(t);
	return NULL;
}
