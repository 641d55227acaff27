// SPDX-License-Identifier: BSD-2-Clause
#include "show/branch_counts.h"

#include <inttypes.h>

void branch_counts_add(struct branch_counts *to, const struct branch_counts *other)
{
	if (other->branches)
		to->is_to = other->is_to;
	to->branches += other->branches;
	to->predicted += other->predicted;
	to->aborts += other->aborts;
	to->types |= other->types;
	to->cycles += other->cycles;
	to->iterations += other->iterations;
	to->iteration_cycles += other->iteration_cycles;
	to->froms += other->froms;
}

/* " (" before the first word, a blank before the others. */
static void begin_word(struct strbuf *out, bool *any)
{
	strbuf_adds(out, *any ? " " : " (");
	*any = true;
}

static void add_word(struct strbuf *out, bool *any, const char *word)
{
	begin_word(out, any);
	strbuf_adds(out, word);
}

static void add_percent(struct strbuf *out, bool *any, const char *name, double percent)
{
	begin_word(out, any);
	strbuf_addf(out, "%s:%.1f%%", name, percent);
}

static void add_number(struct strbuf *out, bool *any, const char *name, uint64_t number)
{
	begin_word(out, any);
	strbuf_addf(out, "%s:%" PRIu64, name, number);
}

static void add_types(uint64_t types, struct strbuf *out, bool *any)
{
	if (types & BRANCH_FORWARD)
		add_word(out, any, "COND_FWD");
	if (types & BRANCH_BACKWARD)
		add_word(out, any, "COND_BWD");
	for (unsigned t = 0; t < N_BRANCH_TYPES; t++)
		if (types & BRANCH_OF_TYPE(t) && t != BRANCH_TYPE_COND)
			add_word(out, any, branch_type_name(t, 0));
	for (unsigned t = 0; t < N_BRANCH_TYPES; t++)
		if (types & BRANCH_OF_NEW(t))
			add_word(out, any, branch_type_name(BRANCH_TYPE_EXTEND_ABI, t));
	if (types & BRANCH_TO_PAGE)
		add_word(out, any, "CROSS_4K");
	if (types & BRANCH_TO_2M)
		add_word(out, any, "CROSS_2M");
}

static double percent_of(uint64_t part, uint64_t whole)
{
	return (double)part * 100.0 / (double)whole;
}

void branch_counts_text(const struct branch_counts *counts, struct strbuf *out)
{
	bool any = false;

	if (!counts->branches) {
		strbuf_adds(out, " (calltrace)");
		return;
	}
	if (counts->is_to) {
		const double aborts = percent_of(counts->aborts, counts->branches);

		add_types(counts->types, out, &any);
		if (counts->predicted < counts->branches)
			add_percent(out, &any, "predicted",
				    percent_of(counts->predicted, counts->branches));
		if (aborts >= 0.1)
			add_percent(out, &any, "abort", aborts);
	} else {
		const uint64_t cycles = counts->cycles / counts->branches;
		const uint64_t iterations = counts->froms ? counts->iterations / counts->froms : 0;

		if (cycles)
			add_number(out, &any, "cycles", cycles);
		if (iterations) {
			add_number(out, &any, "iter", iterations);
			add_number(out, &any, "avg_cycles",
				   counts->iteration_cycles / counts->iterations);
		}
	}
	if (any)
		strbuf_addch(out, ')');
}
