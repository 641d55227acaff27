// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/source_text.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/vec.h"
#include "lib/sys/open_file.h"

/* The largest files that people compile, generated ones, have some MB. */
#define MAX_BYTES ((uint64_t)64 << 20)

struct source_text {
	struct source_text *next; /* the same path, named by another author */
	uid_t author;
	char *text;
	VEC(char *) lines; /* in text */
};

void source_texts_deinit(struct source_texts *texts)
{
	for (size_t i = 0; texts->files.slots && i <= texts->files.mask; i++) {
		struct source_text *file = texts->files.slots[i].value;

		for (; file; file = file->next) {
			free(file->text);
			vec_deinit(&file->lines);
		}
	}
	strmap_deinit(&texts->files);
	arena_deinit(&texts->arena);
}

static bool read_all(FILE *in, char **text, size_t *size)
{
	_cleanup_free_ char *bytes = NULL;
	size_t cap = 0, n = 0, got;

	do {
		if (n > MAX_BYTES || !vec_grow((void **)&bytes, &cap, n + 65537, 1))
			return false;
		got = fread(bytes + n, 1, 65536, in);
		n += got;
	} while (got);
	bytes[n] = 0;
	*text = steal_ptr(bytes);
	*size = n;
	return true;
}

void source_prefix_apply(const struct source_prefix *prefix, const char *path, struct strbuf *out)
{
	const char *rest = path;
	size_t len = prefix->text && path[0] == '/' ? strlen(prefix->text) : 0;

	for (unsigned i = 0; len && i < prefix->strip; i++) {
		const char *next = strchr(rest + 1, '/');

		if (!next)
			break;
		rest = next;
	}
	while (len && prefix->text[len - 1] == '/')
		len--;
	strbuf_add(out, len ? prefix->text : "", len);
	strbuf_adds(out, rest);
}

/* Without the file, or without memory, there are no lines. */
static void read_lines(const struct source_texts *texts, struct source_text *file, const char *path,
		       uid_t author)
{
	_cleanup_strbuf_ struct strbuf where = STRBUF_INIT;
	const struct open_regular_opts opts = {
		.owned = true, .owner = author, .max_bytes = MAX_BYTES};
	_cleanup_fclose_ FILE *in = NULL;
	size_t size = 0;

	/* A relative path is relative to the folder of the compiler, which this one is not. */
	if (path[0] != '/')
		return;
	source_prefix_apply(&texts->prefix, path, &where);
	if (strbuf_failed(&where))
		return;
	error_free(fopen_regular(strbuf_str(&where), &opts, &in));
	if (!in || !read_all(in, &file->text, &size))
		return;
	for (char *line = file->text; line < file->text + size;) {
		char *end = memchr(line, '\n', (size_t)(file->text + size - line));
		char **slot = vec_push(&file->lines);

		if (!slot)
			return;
		*slot = line;
		if (!end)
			break;
		*end = 0;
		line = end + 1;
	}
}

/* Whether a file is read depends on who names it, so each author has a text of its own. */
static struct source_text *find_text(struct source_texts *texts, const char *path, uid_t author)
{
	struct source_text *first = strmap_get(&texts->files, path), *file = first;

	while (file && file->author != author)
		file = file->next;
	if (file)
		return file;
	const char *key = first ? NULL : arena_strdup(&texts->arena, path);
	file = first || key ? arena_alloc(&texts->arena, sizeof(*file)) : NULL;
	if (!file)
		return NULL;
	file->author = author;
	if (first) {
		file->next = first->next;
		first->next = file;
	} else if (!strmap_put(&texts->files, key, file)) {
		return NULL;
	}
	read_lines(texts, file, path, author);
	return file;
}

const char *source_texts_line(struct source_texts *texts, const char *path, uid_t author,
			      uint32_t number)
{
	const struct source_text *file = find_text(texts, path, author);

	return file && number && number <= file->lines.n ? file->lines.v[number - 1] : NULL;
}
