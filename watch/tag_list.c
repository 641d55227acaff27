// SPDX-License-Identifier: BSD-2-Clause
#include "watch/tag_list.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/vec.h"
#include "lib/sys/open_file.h"

enum {
	MAX_LIST_BYTES = 16 << 20,
	TAG_DIGITS = 2 * BPF_TAG_SIZE,
};

struct tag_list {
	VEC(uint64_t) tags; /* sorted */
};

void tag_list_free(struct tag_list *list)
{
	if (!list)
		return;
	vec_deinit(&list->tags);
	free(list);
}

static int compare_tags(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static struct error *add_line(struct tag_list *list, const char *line)
{
	char digits[TAG_DIGITS + 1] = "";
	uint64_t *tag;

	line += strspn(line, " \t");
	if (!*line || *line == '#' || *line == '\n')
		return NULL;
	const size_t n = strspn(line, "0123456789abcdefABCDEF");
	if (n != TAG_DIGITS || (line[n] && !isspace((unsigned char)line[n]) && line[n] != '#'))
		return error_hint(error_new(EINVAL, "expected a tag of %d hexadecimal digits",
					    TAG_DIGITS),
				  "'perf-bpf prog' and 'perf-bpf watch' show the tags of programs");
	memcpy(digits, line, TAG_DIGITS);
	tag = vec_push(&list->tags);
	if (!tag)
		return error_nomem();
	*tag = strtoull(digits, NULL, 16);
	return NULL;
}

struct error *tag_list_read(const char *path, struct tag_list **out)
{
	const struct open_regular_opts opts = {.max_bytes = MAX_LIST_BYTES};
	_cleanup_(tag_list_freep) struct tag_list *list = calloc(1, sizeof(*list));
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;

	if (!list)
		return error_nomem();
	TRY(fopen_regular(path, &opts, &f));
	for (unsigned n = 1; getline(&line, &cap, f) >= 0; n++)
		TRY(error_at(add_line(list, line), "%s:%u", path, n));
	if (ferror(f))
		return error_errno(EIO, "%s", path);
	if (list->tags.n)
		qsort(list->tags.v, list->tags.n, sizeof(*list->tags.v), compare_tags);
	*out = steal_ptr(list);
	return NULL;
}

bool tag_list_has(const struct tag_list *list, const uint8_t tag[BPF_TAG_SIZE])
{
	uint64_t wanted = 0;

	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		wanted = wanted << 8 | tag[i];
	return list->tags.n &&
	       bsearch(&wanted, list->tags.v, list->tags.n, sizeof(*list->tags.v), compare_tags);
}
