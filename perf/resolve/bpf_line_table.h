/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of the addresses of a function of a BPF program, as the recording has them. */
#ifndef PB_PERF_RESOLVE_BPF_LINE_TABLE_H
#define PB_PERF_RESOLVE_BPF_LINE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/data/data.h"

struct bpf_line_table;

/* Without lines if the recording does not have the code of the function; it must last as long. */
struct error *bpf_line_table_new(const struct data_header *header, uint64_t address,
				 struct bpf_line_table **out);
void bpf_line_table_free(struct bpf_line_table *lines);

/* The line of an address; false: not known. The file's name lives as long as the lines. */
bool bpf_line_table_find(const struct bpf_line_table *lines, uint64_t address, const char **file,
			 uint32_t *line);

#endif
