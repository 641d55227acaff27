/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine instruction of a sample, those between the branches before it, and source code. */
#ifndef PB_PERF_PRINT_SAMPLE_CODE_H
#define PB_PERF_PRINT_SAMPLE_CODE_H

#include "lib/base/json_writer.h"
#include "perf/print/printer.h"

/* ENOTSUP: a field needs a disassembler, which this perf-bpf does not have. */
struct error *sample_code_new(const struct field_choice *fields, struct sample_code **out);
void sample_code_free(struct sample_code *code);

/* Fields insnlen, insn, disasm, and brstackinsn, brstackinsnlen and brstackdisasm. */
void print_code(struct script_printer *p, const struct sample *sample,
		const struct session_event *event, const struct thread *thread, uint64_t fields,
		struct strbuf *out);
/* The first three. */
void print_code_json(struct script_printer *p, const struct sample *sample,
		     const struct thread *thread, uint64_t fields, struct json_writer *w);

/* What opts.python_fields has of them: "insn":"4889e5","source":["main.c",12,"	i++;"]. */
void print_code_python(struct script_printer *p, const struct sample *sample,
		       const struct thread *thread, struct json_writer *w);

/*
 * Field srccode: the source line of the sample's address, unless it is the last one that was
 * printed for the thread.
 */
void print_source_code(struct script_printer *p, const struct sample *sample,
		       const struct thread *thread, struct strbuf *out);

#endif
