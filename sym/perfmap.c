// SPDX-License-Identifier: BSD-2-Clause
/*
 * /tmp/perf-PID.map: the symbols a JIT wrote for perf, "START SIZE NAME" with
 * hexadecimal numbers (tools/perf/Documentation/jit-interface.txt). Lines that
 * are not so are skipped.
 */
#include "sym/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error *perf_map_line(struct symtab *st, char *line)
{
	char *end;

	line[strcspn(line, "\n")] = 0;
	errno = 0;
	if (!isxdigit((unsigned char)line[0]))
		return NULL;
	uint64_t start = strtoull(line, &end, 16);
	if (*end != ' ' || !isxdigit((unsigned char)end[1]))
		return NULL;
	uint64_t size = strtoull(end + 1, &end, 16);
	if (errno || *end != ' ' || !end[1])
		return NULL;
	const char *name = symtab_strdup(st, end + 1, strlen(end + 1));
	if (!name || !symtab_add(st, start, size, STB_GLOBAL, STT_FUNC, name))
		return error_nomem();
	vec_last(&st->syms)->lazy = 0;
	return NULL;
}

struct error *symtab_load_perf_map(const char *path, struct symtab **out)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;

	if (!st)
		return error_nomem();
	if (!f)
		return error_at(error_errno(errno, "cannot be opened"), "%s", path);
	while (getline(&line, &cap, f) > 0)
		TRY(perf_map_line(st, line));
	if (!st->syms.n)
		return error_at(error_new(ENODATA, "it has no symbols"), "%s", path);
	st->origin = 'j';
	if (!symtab_sort(st) || !symtab_finish(st))
		return error_nomem();
	*out = steal_ptr(st);
	return NULL;
}
