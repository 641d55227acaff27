// SPDX-License-Identifier: BSD-2-Clause
#include "trace/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/json_writer.h"
#include "show/csv.h"
#include "show/result_json.h"
#include "show/text_tables.h"
#include "trace/thread_counts.h"

static struct error *add_text(const struct trace_run *run, const struct summary_opts *opts,
			      const struct results *results, struct strbuf *out)
{
	TRY(call_sums_text(trace_run_sums(run), opts->errors, trace_run_counts(run), out));
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];
		const struct results one = {
			.subject = results->subject, .v = (struct result *)r, .n = 1};

		if (r->kind == RESULT_HIST)
			results_text(&one, &(struct text_opts){0}, out);
	}
	return NULL;
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
	TRY(call_sums_results(sums, opts->errors, opts->histograms, trace_run_counts(run),
			      &results));
	switch (opts->format) {
	case SUMMARY_JSON:
		results_json(&results, true, out);
		break;
	case SUMMARY_CSV:
		results_csv(&csv, &results, out);
		csv_deinit(&csv);
		break;
	case SUMMARY_TEXT:
		TRY(add_text(run, opts, &results, out));
		break;
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/* ---- losses ---- */

static void add_name(const struct lost_calls *loss, struct strbuf *out)
{
	if (loss->name)
		strbuf_adds(out, loss->name);
	else
		strbuf_addf(out, "syscall_%u", loss->nr);
}

static uint64_t lost_of(const struct trace_stats *stats, enum trace_loss_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < stats->n_losses; i++)
		if (stats->losses[i].kind == kind)
			n += stats->losses[i].n;
	return n;
}

/* By call and CPU. */
static void add_losses_json(const struct trace_stats *stats, enum trace_loss_kind kind,
			    const char *name, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);
	_cleanup_strbuf_ struct strbuf call = STRBUF_INIT;
	const uint64_t n = lost_of(stats, kind);

	if (!n)
		return;
	jw_object(&w, NULL);
	jw_text(&w, "type", "lost");
	jw_u64(&w, "n", n);
	jw_text(&w, "kind", name);
	jw_array(&w, "calls");
	for (size_t i = 0; i < stats->n_losses; i++) {
		const struct lost_calls *loss = &stats->losses[i];

		if (loss->kind != kind)
			continue;
		strbuf_reset(&call);
		add_name(loss, &call);
		jw_object(&w, NULL);
		jw_text(&w, "syscall", strbuf_str(&call));
		jw_u64(&w, "cpu", loss->cpu);
		jw_u64(&w, "n", loss->n);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

static const struct {
	const char *json, *what, *why;
} loss_kinds[TRACE_LOST_KINDS] = {
	[TRACE_LOST_RECORD] = {"events", "events",
			       "a larger ring (-m) or fewer calls (-e) may help"},
	[TRACE_LOST_THREAD] = {"threads", "calls", "out of memory for the state of their threads"},
	[TRACE_LOST_PIECES] = {"arguments", "calls' strings and buffers",
			       "too many calls with large arguments ran at the same time"},
	[TRACE_LOST_ROW] = {"sums", "calls of the summary", "out of memory for more rows"},
	[TRACE_LOST_STACK] = {"stacks", "call chains of calls",
			      "larger rings (-m), fewer calls (-e) or smaller copies "
			      "(--call-graph dwarf,BYTES) may help"},
	[TRACE_LOST_ERRNO] = {"errors", "errors of the error summary",
			      "out of memory for more rows"},
};

/* Of which the kernel does not say what they were. */
static void add_lost_json(const char *kind, uint64_t n, bool more, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);

	jw_object(&w, NULL);
	jw_text(&w, "type", "lost");
	jw_u64(&w, "n", n);
	jw_text(&w, "kind", kind);
	if (more)
		jw_bool(&w, "more", true);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

static void add_lost_events_json(const struct trace_stats *stats, struct strbuf *out)
{
	const struct record_no_room *lost = &stats->lost_events;

	if (lost->samples || lost->accuracy == LOST_NOT_COUNTED)
		add_lost_json("other-events", lost->samples, lost->accuracy == LOST_NOT_COUNTED,
			      out);
	if (lost->sideband)
		add_lost_json("side-band", lost->sideband, false, out);
}

void trace_report_losses_json(const struct trace_stats *stats, struct strbuf *out)
{
	add_lost_events_json(stats, out);
	for (int kind = 0; kind < TRACE_LOST_KINDS; kind++)
		add_losses_json(stats, kind, loss_kinds[kind].json, out);
}

static int compare_losses(const void *x, const void *y)
{
	const struct lost_calls *a = x, *b = y;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

/* The calls that lost most come first; what CPUs lost is added up. */
static void add_losses_by_call(const struct trace_stats *stats, enum trace_loss_kind kind,
			       struct strbuf *out)
{
	struct lost_calls *calls = calloc(stats->n_losses + 1, sizeof(*calls));
	size_t n = 0, at;

	for (size_t i = 0; calls && i < stats->n_losses; i++) {
		const struct lost_calls *loss = &stats->losses[i];

		if (loss->kind != kind)
			continue;
		for (at = 0; at < n; at++)
			if (calls[at].nr == loss->nr && calls[at].abi == loss->abi)
				break;
		if (at == n)
			calls[n++] = *loss;
		else
			calls[at].n += loss->n;
	}
	if (n)
		qsort(calls, n, sizeof(*calls), compare_losses);
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(out, "%s%" PRIu64 " ", i ? ", " : ": ", calls[i].n);
		add_name(&calls[i], out);
	}
	free(calls);
}

/* A ring was full at the end, and this kernel does not count what came after. */
static const char *lost_more_of(const struct trace_stats *stats)
{
	return stats->lost_events.accuracy == LOST_NOT_COUNTED ? " or more" : "";
}

void trace_report_losses(const struct trace_stats *stats, struct strbuf *out)
{
	const char *more = lost_more_of(stats);

	if (stats->lost_events.samples || *more)
		strbuf_addf(out,
			    "LOST %" PRIu64 "%s events that are not system calls; fewer events "
			    "(-e) or larger buffers (-m) may help\n",
			    stats->lost_events.samples, more);
	if (stats->lost_events.sideband)
		strbuf_addf(out,
			    "LOST %" PRIu64 " records of processes (comm, mmap, fork, exit); names "
			    "and call chains can be wrong\n",
			    stats->lost_events.sideband);
	for (int kind = 0; kind < TRACE_LOST_KINDS; kind++) {
		const uint64_t n = lost_of(stats, kind);

		if (!n)
			continue;
		strbuf_addf(out, "LOST %" PRIu64 " %s", n, loss_kinds[kind].what);
		add_losses_by_call(stats, kind, out);
		strbuf_addf(out, "; %s\n", loss_kinds[kind].why);
	}
}

void trace_report_stats(const struct trace_stats *stats, struct strbuf *out)
{
	strbuf_addf(out,
		    "Stats:\n"
		    "  vfs_getname : %" PRIu64 "\n"
		    " proc_getname: 0\n"
		    "      records: %" PRIu64 " (%" PRIu64 " bytes, read in %" PRIu64 " batches)\n"
		    "        lines: %" PRIu64 "\n"
		    "         lost: %" PRIu64 "\n",
		    stats->fd_paths, stats->records, stats->record_bytes, stats->drains,
		    stats->lines, stats->lost);
}
