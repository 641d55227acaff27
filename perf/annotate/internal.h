/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that make the lines of an annotation share. */
#ifndef PB_PERF_ANNOTATE_INTERNAL_H
#define PB_PERF_ANNOTATE_INTERNAL_H

#include "perf/annotate/function_lines.h"

/* What the lines of one function are made with. */
struct line_maker {
	const struct function_lines_opts *opts;
	const struct counted_function *f;
	const struct function_code *code;
	struct annotation *out;
	struct symtab *symbols; /* of the file; NULL: there are none */
	struct strbuf text;	/* scratch: of the next line */
	/* The source line of the last instruction. */
	const char *file, *place;
	uint32_t number;
	/* The function of the last instruction, and, if it is inlined, where it is called. */
	const struct symbol *function;
	const char *call_file;
	uint32_t call_line;
	/* Of a BPF program: the next line of its table, and the first instruction after the last.
	 */
	size_t next_bpf_line, next_bpf_insn;
	bool call_base_tried;
	uint64_t call_base; /* the kernel's __bpf_call_base; 0: not known */
};

/* A line whose text is that of the maker; NULL: no memory. */
struct annotation_line *line_maker_push(struct line_maker *m, enum annotation_line_kind kind);

/*
 * Of a BPF program: its source lines, and their BPF instructions, for which the machine code begins
 * at or before the address and that were not added yet.
 */
struct error *bpf_lines_add(struct line_maker *m, uint64_t address);

#endif
