/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind information of a file as a table, for walks of the stack in the kernel
 * (<bpf/perf_bpf_unwind.h>): rows by address, each with the number of a rule. Files have few
 * different rules, so they share them.
 *
 *	TRY(unwind_rules_new(max, &rules));
 *	TRY(unwind_table_new(image, rules, &table));
 */
#ifndef PB_PERF_UNWIND_UNWIND_TABLE_H
#define PB_PERF_UNWIND_UNWIND_TABLE_H

#include <bpf/perf_bpf_unwind_types.h>

#include "lib/base/keyset.h"
#include "lib/base/vec.h"
#include "perf/unwind/unwind_image.h"

/* Rules of all files, each once; the first is PERF_BPF_CFA_UNKNOWN. */
struct unwind_rules {
	VEC(struct perf_bpf_unwind_rule) rules;
	struct keyset set;
	size_t max;
	uint64_t left_out; /* rows whose rule had no room, and that have the first one */
};

struct error *unwind_rules_new(size_t max, struct unwind_rules **out);
void unwind_rules_free(struct unwind_rules *rules);
DEFINE_FREEP(struct unwind_rules, unwind_rules_free)

struct unwind_table {
	uint64_t base; /* the virtual address for which rows have pc 0 */
	VEC(struct perf_bpf_unwind_row) rows;
	uint64_t not_expressible; /* rows of the file that no rule can express */
	uint64_t left_out;	  /* rows that are more than a table can have, or 4 GiB away */
};

struct error *unwind_table_new(const struct unwind_image *image, struct unwind_rules *rules,
			       struct unwind_table **out);
/* The same without the entries of PLTs that have no unwind information. */
struct error *unwind_table_of_cfi(struct cfi *cfi, bool is_arm64, struct unwind_rules *rules,
				  struct unwind_table **out);
void unwind_table_free(struct unwind_table *table);
DEFINE_FREEP(struct unwind_table, unwind_table_free)

/* The number of the rule for an address, as the walk finds it; 0: there is none. */
uint32_t unwind_table_find(const struct unwind_table *table, uint64_t addr);

/* A row as a rule; false: a rule cannot express it. */
bool unwind_rule_of_row(const struct cfi *cfi, const struct cfi_row *row, bool is_arm64,
			struct perf_bpf_unwind_rule *rule);

#endif
