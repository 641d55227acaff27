// SPDX-License-Identifier: BSD-2-Clause
/*
 * BPF_PROG_INFO as a recording may have it: the machine code of each function that a program's
 * arrays tell of, and all lines. What is handed out lies within the arrays.
 *
 * An input has a byte of flags, for each array a byte with the size of an element and two with that
 * of the array, then the arrays, one behind the other, and the BTF.
 */
#include <string.h>

#include "lib/base/cursor.h"
#include "perf/resolve/bpf_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SWAP = 1, HEAD = 1 + 3 * SYS_PROG_ARRAYS };

static void check(const struct data_header *header, uint64_t address)
{
	const struct data_bytes *image = &header->bpf_progs->arrays[SYS_PROG_JITED_INSNS];
	struct bpf_code code = {0};
	struct bpf_code_line line;
	struct error *err = bpf_code_find(header, address, &code);

	if (err) {
		error_free(err);
		return;
	}
	if (code.bytes < image->p || code.size > image->size ||
	    (size_t)(code.bytes - image->p) > image->size - code.size ||
	    address - code.address >= code.size)
		__builtin_trap();
	for (size_t i = 0; i < 4096 && bpf_code_line(&code, i, &line); i++)
		if (strlen(line.file) > 1 << 20 || strlen(line.text) > 1 << 20)
			__builtin_trap();
	bpf_code_line(&code, SIZE_MAX, &line);
	bpf_code_function(&code, SIZE_MAX / 8);
	bpf_code_deinit(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct data_bpf_prog prog = {.btf_id = 1};
	struct data_btf btf = {.id = 1};
	struct data_header header = {
		.bpf_progs = &prog, .n_bpf_progs = 1, .btfs = &btf, .n_btfs = 1};

	if (size < HEAD)
		return 0;
	const uint8_t *next = data + HEAD, *end = data + size;
	header.swap = data[0] & SWAP;
	for (size_t i = 0; i < SYS_PROG_ARRAYS; i++) {
		const uint8_t *head = data + 1 + 3 * i;
		const size_t n = min_of((size_t)(head[1] | head[2] << 8), (size_t)(end - next));

		prog.rec_size[i] = head[0];
		prog.arrays[i] = (struct data_bytes){.p = next, .size = (uint32_t)n};
		next += n;
	}
	btf.data = (struct data_bytes){.p = next, .size = (uint32_t)(end - next)};
	/* The functions, and what is within them, as samples have it. */
	const struct bpf_code all = {.prog = &prog, .swap = header.swap};
	for (size_t i = 0; i < 16; i++) {
		const uint64_t start = bpf_code_function(&all, i);

		check(&header, start);
		check(&header, start + i);
	}
	return 0;
}
