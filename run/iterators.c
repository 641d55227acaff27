// SPDX-License-Identifier: BSD-2-Clause
#include "run/iterators.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cleanup.h"

enum {
	CHUNK = 64 << 10,
	MAX_OUTPUT = 64 << 20, /* an iterator that never ends must not take all memory */
};

static const struct result_column columns[] = {{.name = "output"}};

struct error *iterators_add(struct iterators *iterators, const struct bpf_program *prog,
			    const struct bpf_link *link)
{
	struct iterator *it = vec_push(&iterators->list);

	if (!it)
		return error_nomem();
	*it = (struct iterator){.prog = prog, .link = link, .output = STRBUF_INIT};
	return NULL;
}

void iterators_forget(struct iterators *iterators, const struct bpf_link *link)
{
	struct iterator *it;

	vec_for_each (it, &iterators->list)
		if (it->link == link)
			it->link = NULL;
}

static struct error *read_output(struct iterator *it, int fd)
{
	while (it->output.len < MAX_OUTPUT) {
		if (!strbuf_reserve(&it->output, CHUNK))
			return error_nomem();
		ssize_t n = read(fd, it->output.str + it->output.len, CHUNK);

		/* The kernel pauses a walk over many objects that write nothing with EAGAIN. */
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return error_errno(errno, "cannot read the iterator of program %s",
					   bpf_program__name(it->prog));
		if (!n)
			return NULL;
		it->output.len += (size_t)n;
	}
	it->is_cut = true;
	return NULL;
}

struct error *iterators_read(struct iterators *iterators)
{
	struct iterator *it;

	vec_for_each (it, &iterators->list) {
		if (!it->link)
			continue;
		_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(it->link));

		if (fd < 0)
			return error_errno(-fd, "cannot open the iterator of program %s",
					   bpf_program__name(it->prog));
		strbuf_reset(&it->output);
		it->is_cut = false;
		TRY(read_output(it, fd));
	}
	return NULL;
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = len && text[len - 1] != '\n';

	for (const char *p = text; len && (p = memchr(p, '\n', len - (size_t)(p - text))); p++)
		n++;
	return n;
}

static struct error *fill_lines(const struct iterator *it, struct results *results,
				struct result_table *table)
{
	const char *p = it->output.str, *end = p + it->output.len;

	for (size_t i = 0; i < table->n_rows; i++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((newline ? newline : end) - p);
		char *line = arena_alloc(&results->arena, len + 1);

		if (!line)
			return error_nomem();
		memcpy(line, p, len);
		line[len] = 0;
		/* bpf_seq_write() writes any bytes; the text must not end at the first 0. */
		for (char *zero; (zero = memchr(line, 0, len));)
			*zero = ' ';
		table->cells[i] = cell_of_text(line);
		p += len + (newline != NULL);
	}
	return NULL;
}

static struct error *add_result(const struct iterator *it, size_t top, struct results *results)
{
	struct result *r = results_add(results, RESULT_TABLE, bpf_program__name(it->prog));
	const size_t n = count_lines(it->output.str, it->output.len);

	if (!r)
		return error_nomem();
	r->table.columns = columns;
	r->table.n_columns = ARRAY_SIZE(columns);
	r->table.n_rows = top && top < n ? top : n;
	r->table.left_out = n - r->table.n_rows;
	r->table.cells =
		arena_alloc(&results->arena, (r->table.n_rows + 1) * sizeof(struct result_cell));
	if (!r->table.cells)
		return error_nomem();
	if (it->is_cut) {
		r->note = arena_strdup(&results->arena, "the output is longer than 64 MiB, the "
							"rest is not shown");
		if (!r->note)
			return error_nomem();
	}
	return fill_lines(it, results, &r->table);
}

struct error *iterators_add_results(const struct iterators *iterators, size_t top,
				    struct results *results)
{
	const struct iterator *it;

	vec_for_each (it, &iterators->list)
		TRY(add_result(it, top, results));
	return NULL;
}

void iterators_deinit(struct iterators *iterators)
{
	struct iterator *it;

	vec_for_each (it, &iterators->list)
		strbuf_deinit(&it->output);
	vec_deinit(&iterators->list);
}
