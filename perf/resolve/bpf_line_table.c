// SPDX-License-Identifier: BSD-2-Clause
/*
 * The line table of a program is in the order of its BPF instructions, and its functions may be
 * anywhere in memory. So the lines of one function are picked, and sorted by their addresses.
 */
#include "perf/resolve/bpf_line_table.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/vec.h"
#include "perf/resolve/bpf_code.h"

struct bpf_line_table {
	struct bpf_code code; /* whose BTF has the names of the files */
	VEC(struct bpf_code_line) v;
};

static int compare(const void *a, const void *b)
{
	const struct bpf_code_line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

struct error *bpf_line_table_new(const struct data_header *header, uint64_t address,
				 struct bpf_line_table **out)
{
	struct bpf_line_table *lines = calloc(1, sizeof(*lines));
	struct bpf_code_line line;

	if (!lines)
		return error_nomem();
	struct error *err = bpf_code_find(header, address, &lines->code);
	if (err && err->code == ENOMEM) {
		bpf_line_table_free(lines);
		return err;
	}
	error_free(err);
	for (size_t i = 0; !err && bpf_code_line(&lines->code, i, &line); i++) {
		if (line.address - lines->code.address >= lines->code.size)
			continue;
		struct bpf_code_line *copy = vec_push(&lines->v);
		if (!copy) {
			bpf_line_table_free(lines);
			return error_nomem();
		}
		*copy = line;
	}
	if (lines->v.n)
		qsort(lines->v.v, lines->v.n, sizeof(line), compare);
	*out = lines;
	return NULL;
}

void bpf_line_table_free(struct bpf_line_table *lines)
{
	if (!lines)
		return;
	bpf_code_deinit(&lines->code);
	vec_deinit(&lines->v);
	free(lines);
}

/* The last line that begins at the address or before it. */
bool bpf_line_table_find(const struct bpf_line_table *lines, uint64_t address, const char **file,
			 uint32_t *line)
{
	size_t first = 0, end = lines ? lines->v.n : 0;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (lines->v.v[middle].address <= address)
			first = middle + 1;
		else
			end = middle;
	}
	if (!first || !lines->v.v[first - 1].number || !*lines->v.v[first - 1].file)
		return false;
	*file = lines->v.v[first - 1].file;
	*line = lines->v.v[first - 1].number;
	return true;
}
