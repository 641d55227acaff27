// SPDX-License-Identifier: BSD-2-Clause
#include "trace/trace_report.h"

#include <inttypes.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/json_writer.h"
#include "show/csv.h"
#include "show/result_json.h"
#include "show/text_tables.h"

static void add_text(struct call_sums *sums, const struct summary_opts *opts,
		     const struct results *results, struct strbuf *out)
{
	call_sums_text(sums, opts->errors, out);
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];
		const struct results one = {
			.subject = results->subject, .v = (struct result *)r, .n = 1};

		if (r->kind == RESULT_HIST)
			results_text(&one, &(struct text_opts){0}, out);
	}
}

struct error *trace_report_sums(const struct trace_run *run, const struct summary_opts *opts,
				struct strbuf *out)
{
	struct call_sums *sums = trace_run_sums(run);
	_cleanup_results_ struct results results = {
		.subject = RESULTS_OF_CALLS,
		.time = clock_ns(CLOCK_REALTIME),
	};
	struct csv csv = {0};

	if (!sums)
		return NULL;
	TRY(call_sums_results(sums, opts->errors, opts->histograms, &results));
	switch (opts->format) {
	case SUMMARY_JSON:
		results_json(&results, true, out);
		break;
	case SUMMARY_CSV:
		results_csv(&csv, &results, out);
		csv_deinit(&csv);
		break;
	case SUMMARY_TEXT:
		add_text(sums, opts, &results, out);
		break;
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}

void trace_report_losses_json(const struct trace_stats *stats, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);

	if (!stats->lost)
		return;
	jw_object(&w, NULL);
	jw_text(&w, "type", "lost");
	jw_u64(&w, "n", stats->lost);
	jw_array(&w, "calls");
	for (size_t i = 0; i < stats->n_losses; i++) {
		const struct lost_calls *loss = &stats->losses[i];

		jw_object(&w, NULL);
		if (loss->name)
			jw_text(&w, "syscall", loss->name);
		else
			jw_textf(&w, "syscall", "syscall_%u", loss->nr);
		jw_u64(&w, "n", loss->n);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

void trace_report_losses(const struct trace_stats *stats, struct strbuf *out)
{
	if (!stats->lost)
		return;
	strbuf_addf(out, "LOST %" PRIu64 " events", stats->lost);
	for (size_t i = 0; i < stats->n_losses; i++) {
		const struct lost_calls *loss = &stats->losses[i];

		strbuf_addf(out, "%s%" PRIu64 " ", i ? ", " : ": ", loss->n);
		if (loss->name)
			strbuf_adds(out, loss->name);
		else
			strbuf_addf(out, "syscall_%u", loss->nr);
	}
	strbuf_adds(out, "; a larger ring (-m) or fewer calls (-e) may help\n");
}

void trace_report_stats(const struct trace_stats *stats, struct strbuf *out)
{
	strbuf_addf(out,
		    "Stats:\n"
		    "  vfs_getname : %" PRIu64 "\n"
		    " proc_getname: %" PRIu64 "\n"
		    "      records: %" PRIu64 " (%" PRIu64 " bytes, read in %" PRIu64 " batches)\n"
		    "        lines: %" PRIu64 "\n"
		    "         lost: %" PRIu64 "\n",
		    stats->fds_from_records, stats->fds_from_proc, stats->records,
		    stats->record_bytes, stats->drains, stats->lines, stats->lost);
}
