/* SPDX-License-Identifier: BSD-2-Clause */
/* The branches before a sample, and what its access to memory hit. */
#ifndef PB_PERF_PRINT_SAMPLE_ACCESS_H
#define PB_PERF_PRINT_SAMPLE_ACCESS_H

#include "lib/base/json_writer.h"
#include "perf/print/printer.h"

struct branch {
	uint64_t from, to;
	bool mispredicted, predicted, not_taken, in_transaction, aborts;
	unsigned cycles; /* since the branch before */
	unsigned type, new_type, speculation;
};

/* The i-th of a sample, the newest first; i < sample->branches.n / 3. */
struct branch sample_branch(const struct sample *sample, uint64_t i);
/* "COND", "CALL", …; "" if the PMU did not say it. */
const char *branch_type(const struct branch *b);
/* "P", "M": predicted or not, with "N" if it was not taken; "-": not known. */
const char *branch_event(const struct branch *b);

/* Fields brstack, brstacksym or brstackoff: the first of them that is chosen, as perf. */
void print_branches(struct script_printer *p, const struct sample *sample,
		    const struct thread *thread, uint64_t fields, struct strbuf *out);
void print_branches_json(struct script_printer *p, const struct sample *sample,
			 const struct thread *thread, uint64_t fields, struct json_writer *w);

/* A part of what an access hit: its bits, and perf's text for them. */
enum data_src_part {
	DATA_SRC_LEVEL,
	DATA_SRC_SNOOP,
	DATA_SRC_TLB,
	DATA_SRC_LOCK,
	DATA_SRC_BLOCKED,
};
unsigned data_src_bits(uint64_t data_src, enum data_src_part part);
void data_src_part_text(uint64_t data_src, enum data_src_part part, struct strbuf *out);
/* "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A" */
void data_src_text(uint64_t data_src, struct strbuf *out);
/* Field data_src. */
void print_data_src(struct script_printer *p, uint64_t data_src, struct strbuf *out);

#endif
