// SPDX-License-Identifier: BSD-2-Clause
/*
 * /tmp/perf-PID.map: the symbols a JIT wrote for perf, "START SIZE NAME" with
 * hexadecimal numbers (tools/perf/Documentation/jit-interface.txt). Other lines
 * are skipped.
 *
 * Every user may write such a file for a process that root looks at. So whoever opens it sees to
 * it that it is a regular file of that process's user, and how much is read and kept is limited: a
 * sparse file may claim terabytes, in one line, and a line of six bytes becomes a symbol of forty.
 */
#include "sym/internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_SIZE = 256 << 20, /* of the file */
	MAX_LINE = 64 << 10,  /* longer ones are skipped */
};

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

static struct error *too_large(void)
{
	return error_new(EFBIG, "larger than %d MB", MAX_SIZE >> 20);
}

/* The file may grow meanwhile, so what is read is counted too. */
static struct error *read_lines(struct symtab *st, size_t room, FILE *f)
{
	_cleanup_free_ char *line = malloc(MAX_LINE);
	bool is_start = true;

	if (!line)
		return error_nomem();
	for (size_t total = 0; fgets(line, MAX_LINE, f);) {
		const size_t n = strlen(line);
		const bool is_end = n && line[n - 1] == '\n';

		if (is_start && (is_end || feof(f)))
			TRY(perf_map_line(st, line));
		is_start = is_end;
		total += is_end ? n : MAX_LINE; /* there may be NULs in it */
		if (total > MAX_SIZE)
			return too_large();
		if (symtab_memory(st) > room)
			return error_new(EFBIG, "its symbols need more than %zu MB", room >> 20);
	}
	return NULL;
}

struct error *symtab_read_perf_map(FILE *f, size_t room, struct symtab **out)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	if (!st)
		return error_nomem();
	TRY(read_lines(st, room, f));
	if (!st->syms.n)
		return error_new(ENODATA, "it has no symbols");
	st->origin = 'j';
	if (!symtab_sort(st) || !symtab_finish(st))
		return error_nomem();
	*out = steal_ptr(st);
	return NULL;
}

struct error *symtab_load_perf_map(int fd, const char *name, size_t room, struct symtab **out)
{
	_cleanup_close_ int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct stat st;

	if (own < 0 || fstat(own, &st))
		return error_at(error_errno(errno, "cannot be read"), "%s", name);
	if (st.st_size > MAX_SIZE)
		return error_at(too_large(), "%s", name);
	_cleanup_fclose_ FILE *f = fdopen(own, "r");
	if (!f)
		return error_nomem();
	steal_fd(&own);
	return error_at(symtab_read_perf_map(f, room, out), "%s", name);
}
