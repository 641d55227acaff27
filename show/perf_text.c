// SPDX-License-Identifier: BSD-2-Clause
#include "show/perf_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"
#include "show/perf_cells.h"
#include "show/perf_hierarchy.h"

enum {
	LEFT_MARGIN = 12,
	WIDTH_MAX = 65535,
	LONG_TEXT = 64 * 1024, /* bytes that are written at once */
};

struct stack_text_opts perf_text_chains(const struct result_profile *profile,
					const struct result_sum *sum,
					const struct perf_text_opts *opts)
{
	const struct chain_opts *chain = opts->chain;

	return (struct stack_text_opts){
		.chain = chain,
		.total = profile->n_levels ? result_whole(profile, 0) : profile->all.period,
		.part = sum->period,
		.least = count_of_share((double)(chain->mode == CHAIN_FRACTAL ? sum->period
						 : profile->relative ? profile->shown.chain_period
								     : profile->all.chain_period) *
					(chain->min_percent / 100)),
		.margin = LEFT_MARGIN,
		.skip_first = opts->first_frame_is_known,
		.as_addresses = true,
		.separator = opts->separator,
	};
}

static void add_chains(const struct table_printer *p, const struct result_sum *sum,
		       struct strbuf *out)
{
	const struct stack_text_opts opts = perf_text_chains(p->t->profile, sum, p->opts);

	if (sum->tree)
		stack_text(sum->tree, &opts, out);
}

static uint64_t samples_of(const struct result_profile *profile, const struct result_totals *all,
			   const struct result_totals *shown)
{
	return profile->relative ? shown->samples : all->samples;
}

struct perf_text_totals perf_text_totals(const struct result_profile *profile)
{
	uint64_t samples = samples_of(profile, &profile->all, &profile->shown);
	struct perf_text_totals totals = {.unit = ' ', .period = result_whole(profile, 0)};

	for (size_t i = 1; i < profile->n_members; i++) {
		samples +=
			samples_of(profile, &profile->members[i].all, &profile->members[i].shown);
		sum_add(&totals.period, result_whole(profile, i));
	}
	double shown = (double)samples;
	for (const char *units = "KMG"; *units && shown > 1000; units++) {
		shown /= 1000;
		totals.unit = *units;
	}
	totals.samples = (uint64_t)shown;
	return totals;
}

static void add_head(const struct table_printer *p, const struct result *r, struct strbuf *out)
{
	const struct result_profile *profile = p->t->profile;
	const struct perf_text_totals totals = perf_text_totals(profile);

	strbuf_addf(out, "# Samples: %" PRIu64 "%c of event%s '%s'", totals.samples, totals.unit,
		    profile->is_leader ? "s" : "", r->name);
	if (p->opts->times)
		strbuf_addf(out, " (time slices: %s)", p->opts->times);
	if (profile->ref_chains)
		strbuf_adds(out, ", show reference callgraph");
	strbuf_addf(out, "\n# %s: %s%" PRIu64 "\n",
		    profile->weights_by ? "Total weight " : "Event count (approx.)",
		    totals.period == UINT64_MAX ? "at least " : "", totals.period);
	if (profile->weights_by)
		strbuf_addf(out, "# Sort order   : %s\n", profile->weights_by);
	if (p->opts->socket)
		strbuf_addf(out, "# Processor Socket: %s\n", p->opts->socket);
	strbuf_adds(out, "#\n");
}

static struct error *add_table(const struct result *r, const struct perf_text_opts *opts,
			       struct error *(*write)(const struct strbuf *out), struct strbuf *out)
{
	_cleanup_(table_printer_deinit) struct table_printer p;

	table_printer_init(&p, &r->table, opts);
	struct show_table table = {p.columns, p.n, opts->separator};
	const bool hierarchy = p.t->profile->n_levels;
	if (!opts->quiet) {
		add_head(&p, r, out);
		if (hierarchy)
			perf_hierarchy_head(&p, out);
		else
			show_table_head(&table, out);
	}
	for (size_t i = 0; i < p.t->n_rows; i++) {
		if (!result_row_shown(p.t, i))
			continue;
		if (hierarchy)
			perf_hierarchy_row(&p, i, out);
		else
			table_printer_row(&p, &table, i, out);
		add_chains(&p, &p.t->profile->rows[i], out);
		if (hierarchy)
			perf_hierarchy_note(&p, i, out);
		if (!write || out->len < LONG_TEXT)
			continue;
		TRY(write(out));
		strbuf_reset(out);
	}
	strbuf_adds(out, "\n\n");
	return NULL;
}

void perf_text_only(const struct results *results, struct strbuf *out)
{
	for (size_t i = 0; i < results->n_only; i++)
		strbuf_addf(out, "# %s: %s\n", results->only[i].title, results->only[i].value);
}

static void add_lost(const struct results *results, struct strbuf *out)
{
	strbuf_adds(out, "#\n# Total Lost Samples: ");
	if (results->lost_unknown && results->lost)
		strbuf_addf(out, "at least %" PRIu64 "\n#\n", results->lost);
	else if (results->lost_unknown)
		strbuf_adds(out, "not counted\n#\n");
	else
		strbuf_addf(out, "%" PRIu64 "\n#\n", results->lost);
}

struct error *perf_text(const struct results *results, const struct perf_text_opts *opts,
			struct error *(*write)(const struct strbuf *out), struct strbuf *out)
{
	if (!opts->quiet)
		add_lost(results, out);
	for (size_t i = 0; i < results->n; i++)
		if (results->v[i].kind == RESULT_TABLE)
			TRY(add_table(&results->v[i], opts, write, out));
	return NULL;
}

/* "12,,40": a width for each column; none, or 0, is the one that perf chooses. */
struct error *perf_text_check_widths(const char *widths)
{
	for (const char *p = widths; *p; p += *p == ',') {
		char *end = (char *)p;
		unsigned long width = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;

		if (width > WIDTH_MAX || (*end && *end != ','))
			return error_hint(error_usage("--column-widths: '%s' is not a list of "
						      "widths",
						      widths),
					  "write numbers up to %d: 10,30", WIDTH_MAX);
		p = end;
	}
	return NULL;
}
