// SPDX-License-Identifier: BSD-2-Clause
/*
 * The layout is that of perf annotate --stdio 6.1, but for the lines that perf takes over from
 * objdump: a section's name, empty lines, and numbers that count objdump's own lines.
 */
#include "show/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/plain_text.h"

/* Below this share in percent, perf neither names an instruction's line nor sums it up. */
#define LEAST_PERCENT 0.5

#define SHARE_WIDTH  8
#define PERIOD_WIDTH 12

void annotation_deinit(struct annotation *a)
{
	vec_deinit(&a->lines);
	arena_deinit(&a->arena);
}

static bool copy_text(struct arena *arena, const char *from, const char **to)
{
	*to = from ? arena_strdup(arena, from) : NULL;
	return *to || !from;
}

static bool copy_counts(struct arena *arena, const struct annotation_count *from, size_t n,
			const struct annotation_count **to)
{
	struct annotation_count *copy = from ? arena_alloc(arena, n * sizeof(*from)) : NULL;

	if (copy)
		memcpy(copy, from, n * sizeof(*from));
	*to = copy;
	return copy || !from;
}

static bool copy_events(const struct annotation *from, struct annotation *to)
{
	struct annotation_event *events = arena_alloc(&to->arena, from->n_events * sizeof(*events));
	bool ok = events;

	for (size_t i = 0; i < from->n_events && ok; i++) {
		events[i] = from->events[i];
		ok = copy_text(&to->arena, from->events[i].name, &events[i].name);
	}
	to->events = events;
	to->n_events = from->n_events;
	return ok;
}

static bool copy_lines(const struct annotation *from, struct annotation *to)
{
	const char *place = NULL, *copied = NULL;
	bool ok = true;

	for (size_t i = 0; i < from->lines.n && ok; i++) {
		const struct annotation_line *line = &from->lines.v[i];
		struct annotation_line *copy = vec_push(&to->lines);

		if (!copy)
			return false;
		*copy = *line;
		if (line->place && line->place != place)
			ok = copy_text(&to->arena, line->place, &copied);
		if (line->place)
			place = line->place;
		copy->place = line->place ? copied : NULL;
		ok = ok && copy_text(&to->arena, line->text, &copy->text) &&
		     copy_text(&to->arena, line->called, &copy->called) &&
		     copy_counts(&to->arena, line->counts, from->n_events, &copy->counts);
	}
	return ok;
}

bool annotation_copy(const struct annotation *from, struct annotation *to)
{
	*to = (struct annotation){.address = from->address};
	const bool ok = copy_text(&to->arena, from->symbol, &to->symbol) &&
			copy_text(&to->arena, from->dso, &to->dso) &&
			copy_text(&to->arena, from->event, &to->event) && copy_events(from, to) &&
			copy_lines(from, to);

	if (!ok) {
		annotation_deinit(to);
		*to = (struct annotation){0};
	}
	return ok;
}

double annotation_share(const struct annotation_event *event, struct annotation_count count,
			struct annotation_percent of)
{
	const struct annotation_count *whole = of.global ? &event->all : &event->function;
	const uint64_t part = of.hits ? count.samples : count.period;
	const uint64_t total = of.hits ? whole->samples : whole->period;

	return total ? 100.0 * (double)part / (double)total : 0;
}

static double line_share(const struct annotation *a, const struct annotation_line *line,
			 size_t event, const struct annotation_text_opts *opts)
{
	return line->counts
		       ? annotation_share(&a->events[event], line->counts[event], opts->percent)
		       : 0;
}

static double largest_share(const struct annotation *a, const struct annotation_line *line,
			    const struct annotation_text_opts *opts)
{
	double largest = 0;

	for (size_t i = 0; i < a->n_events; i++)
		largest = max_of(largest, line_share(a, line, i, opts));
	return largest;
}

static const char *shown_path(const char *path, const struct annotation_text_opts *opts)
{
	return opts->full_paths ? path : last_component(path);
}

/* ---- the summary of lines ---- */

struct place_sum {
	const char *place;
	double *shares; /* for each event */
};

static int place_sum_cmp(const void *a, const void *b)
{
	const struct place_sum *x = a, *y = b;

	if (*x->shares != *y->shares)
		return *x->shares < *y->shares ? 1 : -1;
	return strcmp(x->place, y->place);
}

static int place_cmp(const void *a, const void *b)
{
	return strcmp(((const struct place_sum *)a)->place, ((const struct place_sum *)b)->place);
}

/* Adds up what has the same place, next to each other; returns how many are left. */
static size_t merge_places(struct place_sum *sums, size_t n, size_t n_events)
{
	size_t kept = 0;

	qsort(sums, n, sizeof(*sums), place_cmp);
	for (size_t i = 0; i < n; i++) {
		if (!kept || strcmp(sums[kept - 1].place, sums[i].place)) {
			sums[kept++] = sums[i];
			continue;
		}
		for (size_t e = 0; e < n_events; e++)
			sums[kept - 1].shares[e] += sums[i].shares[e];
	}
	return kept;
}

static void add_summary(const struct annotation *a, const struct annotation_text_opts *opts,
			struct strbuf *out)
{
	_cleanup_arena_ struct arena arena = {0};
	struct place_sum *sums = arena_alloc(&arena, a->lines.n * sizeof(*sums));
	double *shares = arena_alloc(&arena, a->lines.n * a->n_events * sizeof(*shares));
	size_t n = 0;

	if (!sums || !shares) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < a->lines.n; i++) {
		const struct annotation_line *line = &a->lines.v[i];

		if (!line->place || largest_share(a, line, opts) <= LEAST_PERCENT)
			continue;
		sums[n] = (struct place_sum){shown_path(line->place, opts), shares};
		for (size_t e = 0; e < a->n_events; e++)
			*shares++ = line_share(a, line, e, opts);
		n++;
	}
	n = n ? merge_places(sums, n, a->n_events) : 0;
	if (n)
		qsort(sums, n, sizeof(*sums), place_sum_cmp);
	strbuf_adds(out, "\nSorted summary for file ");
	plain_adds(out, a->dso);
	strbuf_adds(out, "\n----------------------------------------------\n\n");
	if (!n)
		strbuf_addf(out, " Nothing higher than %.1f%%\n", LEAST_PERCENT);
	for (size_t i = 0; i < n; i++) {
		for (size_t e = 0; e < a->n_events; e++)
			strbuf_addf(out, " %7.2f", sums[i].shares[e]);
		strbuf_addch(out, ' ');
		plain_adds(out, sums[i].place);
		strbuf_addch(out, '\n');
	}
}

/* ---- the code ---- */

static const char *percent_name(struct annotation_percent percent)
{
	if (percent.global)
		return percent.hits ? "global hits" : "global period";
	return percent.hits ? "local hits" : "local period";
}

static int column_width(const struct annotation *a, const struct annotation_text_opts *opts)
{
	return (int)(a->n_events * (opts->periods ? PERIOD_WIDTH : SHARE_WIDTH));
}

static void add_head(const struct annotation *a, const struct annotation_text_opts *opts,
		     struct strbuf *out)
{
	const size_t from = out->len;
	const char *title = opts->periods ? "Period" : opts->samples ? "Samples" : "Percent";

	strbuf_addf(out, " %-*s|\tSource code & Disassembly of ", column_width(a, opts), title);
	plain_adds(out, shown_path(a->dso, opts));
	strbuf_adds(out, " for ");
	plain_adds(out, a->event);
	strbuf_addf(out, " (%llu samples, percent: %s)\n",
		    (unsigned long long)a->events[0].function.samples, percent_name(opts->percent));
	const size_t width = out->len - from + strlen("----");
	for (size_t i = 0; i < width; i++)
		strbuf_addch(out, '-');
	strbuf_addch(out, '\n');
}

static void add_counts(const struct annotation *a, const struct annotation_line *line,
		       const struct annotation_text_opts *opts, struct strbuf *out)
{
	for (size_t i = 0; i < a->n_events; i++) {
		const struct annotation_count count =
			line->counts ? line->counts[i] : (struct annotation_count){0};

		if (opts->periods)
			strbuf_addf(out, " %11llu", (unsigned long long)count.period);
		else if (opts->samples)
			strbuf_addf(out, " %7llu", (unsigned long long)count.samples);
		else
			strbuf_addf(out, " %7.2f", line_share(a, line, i, opts));
	}
}

static int address_width(const struct annotation *a)
{
	uint64_t last = a->address;
	int width = 1;

	for (size_t i = a->lines.n; i-- && last == a->address;)
		if (a->lines.v[i].kind == ANNOTATION_CODE)
			last = a->lines.v[i].address;
	while (last >>= 4)
		width++;
	return width;
}

/* What has no counts is indented as far as the code. */
static void add_other_line(const struct annotation *a, const struct annotation_line *line,
			   const struct annotation_text_opts *opts, int width, struct strbuf *out)
{
	strbuf_addf(out, " %*s: ", column_width(a, opts), "");
	if (line->kind == ANNOTATION_BPF)
		strbuf_addf(out, "%*u: ", width, line->number);
	else if (line->number)
		strbuf_addf(out, "%-*u ", width, line->number);
	else
		strbuf_addf(out, "%*s ", width, "");
	const size_t from = out->len;
	strbuf_adds(out, line->text);
	plain_since(out, from, false); /* keeps tabs */
	strbuf_addch(out, '\n');
}

void annotation_text(const struct annotation *a, const struct annotation_text_opts *opts,
		     struct strbuf *out)
{
	const int width = address_width(a);
	const char *last = NULL;

	if (opts->places)
		add_summary(a, opts, out);
	add_head(a, opts, out);
	strbuf_addf(out, " %*s: %016llx <", column_width(a, opts), "",
		    (unsigned long long)a->address);
	plain_adds(out, a->symbol);
	strbuf_adds(out, ">:\n");
	for (size_t i = 0; i < a->lines.n; i++) {
		const struct annotation_line *line = &a->lines.v[i];

		if (line->kind != ANNOTATION_CODE) {
			add_other_line(a, line, opts, width, out);
			continue;
		}
		add_counts(a, line, opts, out);
		strbuf_addf(out, " :   %*llx: ", width, (unsigned long long)line->address);
		const size_t from = out->len;
		strbuf_adds(out, line->text);
		plain_since(out, from, false); /* names of functions come from the binary */
		/* once for instructions of one line that are next to each other */
		if (opts->places && line->place && line->place != last &&
		    largest_share(a, line, opts) > LEAST_PERCENT) {
			last = line->place;
			strbuf_adds(out, " // ");
			plain_adds(out, shown_path(last, opts));
		}
		strbuf_addch(out, '\n');
	}
}
