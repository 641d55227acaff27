// SPDX-License-Identifier: BSD-2-Clause
#include "show/result.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/vec.h"

void results_deinit(struct results *results)
{
	vec_deinit(results);
	arena_deinit(&results->arena);
}

const char *results_subject_name(const struct results *results)
{
	switch (results->subject) {
	case RESULTS_OF_MAPS:
		break;
	case RESULTS_OF_EVENTS:
		return "event";
	case RESULTS_OF_CALLS:
		return "summary";
	}
	return "map";
}

struct result *results_add(struct results *results, enum result_kind kind, const char *name)
{
	char *copy = arena_text(&results->arena, name, strlen(name));
	struct result *r = copy ? vec_push(results) : NULL;

	if (!r)
		return NULL;
	r->kind = kind;
	r->name = copy;
	return r;
}

void bound_add(struct strbuf *out, uint64_t bound, bool log2)
{
	if (log2)
		strbuf_add_u64(out, bound);
	else
		strbuf_addf(out, "%" PRId64, (int64_t)bound);
}

void cell_add_symbol(const struct result_cell *cell, struct strbuf *out)
{
	if (cell->text)
		strbuf_adds(out, cell->text);
	else
		strbuf_addf(out, "0x%" PRIx64, cell->u);
	strbuf_adds(out, cell->is_inlined ? " (inlined)" : "");
}

static const struct result_totals *totals_of(const struct result_profile *profile, size_t member)
{
	const bool is_member = member < profile->n_members;
	const struct result_totals *all = is_member ? &profile->members[member].all : &profile->all;
	const struct result_totals *shown =
		is_member ? &profile->members[member].shown : &profile->shown;

	return profile->relative ? shown : all;
}

uint64_t result_whole(const struct result_profile *profile, size_t member)
{
	return totals_of(profile, member)->period;
}

double result_percent(const struct result_profile *profile, const struct result_column *column,
		      uint64_t value)
{
	const struct result_totals *totals = totals_of(profile, column->member);
	const uint64_t whole = column->is_latency ? totals->latency : totals->period;

	return whole ? 100.0 * (double)value / (double)whole : 0;
}

bool result_row_shown(const struct result_table *table, size_t row)
{
	const struct result_profile *profile = table->profile;

	if (!profile)
		return true;
	uint64_t whole = result_whole(profile, 0);
	/* with perf's precision */
	float percent = whole ? (double)profile->rows[row].period * 100.0 / (double)whole : 0;
	return percent >= (float)profile->least_percent;
}
