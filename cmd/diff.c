// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf diff: how recordings differ, as perf diff prints it. */
#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "perf/hist/diff.h"
#include "show/csv.h"
#include "show/diff_text.h"
#include "show/result_json.h"

enum { MAX_FILES = 64 };

struct diff {
	struct recording_opts recording;
	struct summary_opts sums;
	struct diff_opts changes;
	struct perf_text_opts text;
	const char *files[MAX_FILES];
	size_t n;
	const char *times; /* --time, of all files or one for each */
	bool json, csv;
	struct export_opts export; /* the page alone */
	int verbose;
	struct log log;
};

/* What is kept of each recording until the results are printed. */
struct recorded {
	struct opened_recording r;
	struct summary *summary;
};

enum {
	OPT_CPU = 256,
	OPT_TIME,
	OPT_PERCENTAGE,
	OPT_JSON,
	OPT_CSV,
	OPT_HTML,
};

static const struct argp_option options[] = {
	{"compute", 'c', "METHOD", 0,
	 "Compare each recording with the baseline by delta-abs (default) or delta (change of the "
	 "share), ratio (of the periods) or wdiff:W1,W2 (new * W2 - base * W1)",
	 0},
	{"order", 'o', "N", 0, "Sort by the change of recording N (1); 0: by the baseline", 0},
	{"baseline-only", 'b', NULL, 0,
	 "Show only entries that are in the baseline and in another recording", 0},
	{"period", 'p', NULL, 0, "Show the periods", 0},
	{"formula", 'F', NULL, 0, "Show how changes are computed", 0},
	{"sort", 's', "KEY,...", 0,
	 "Compare by these keys (default dso,symbol); +KEY adds to the default", 0},
	{"comms", 'C', "COMM,...", 0, "Select samples of threads with these names", 0},
	{"dsos", 'd', "DSO,...", 0, "Select samples in these binaries", 0},
	{"cpu", OPT_CPU, "LIST", 0, "Select samples of these CPUs: 0,2-3", 0},
	{"time", OPT_TIME, "SPANS", OPTION_HIDDEN, NULL, 0}, /* the help of recording.c is below */
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Show percentages relative to the filtered samples, or of all samples (default absolute)",
	 0},
	{"field-separator", 't', "CHAR", 0,
	 "Separate columns with CHAR; CHAR in names is replaced by '.'", 0},
	{"json", OPT_JSON, NULL, 0, "Print one line of JSON per event", 0},
	{"csv", OPT_CSV, NULL, 0, "Print one table of comma-separated values per event", 0},
	{"html", OPT_HTML, "FILE", 0,
	 "Also write FILE, a page with a flame graph of each recording but the first, in red where "
	 "its share has grown, in blue where it has shrunk",
	 0},
	{"quiet", 'q', NULL, 0, "Print only rows, without headers and warnings", 0},
	{"verbose", 'v', NULL, 0, "Show addresses, paths and parameters (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS('b', struct diff, changes.baseline_only),
	OPTION_SETS('p', struct diff, changes.show_period),
	OPTION_SETS('F', struct diff, changes.show_formula),
	OPTION_SETS('s', struct diff, sums.keys.sort),
	OPTION_SETS('C', struct diff, recording.filter.comms),
	OPTION_SETS('d', struct diff, recording.filter.dsos),
	OPTION_SETS(OPT_CPU, struct diff, recording.filter.cpus),
	OPTION_SETS(OPT_TIME, struct diff, times),
	OPTION_SETS(OPT_JSON, struct diff, json),
	OPTION_SETS(OPT_CSV, struct diff, csv),
	OPTION_SETS(OPT_HTML, struct diff, export.html),
	OPTION_SETS('q', struct diff, text.quiet),
	OPTION_SETS('v', struct diff, verbose),
	{0},
};

static void add_file(struct argp_state *state, struct diff *o, const char *file)
{
	if (o->n == MAX_FILES)
		argp_error(state, "at most %d recordings can be compared", MAX_FILES);
	o->files[o->n++] = file;
}

/* As perf: without names the one before the last is compared with the last. */
static void check_options(struct argp_state *state, struct diff *o)
{
	if (o->n < 2) {
		o->files[1] = o->n ? o->files[0] : "perf.data";
		o->files[0] = "perf.data.old";
		o->n = 2;
	}
	if (o->changes.order >= o->n)
		argp_error(state, "--order: '%u' is not a number from 0 to %zu", o->changes.order,
			   o->n - 1);
	if (o->json && o->csv)
		argp_error(state, "choose one of --json and --csv");
	if (o->text.separator && (o->json || o->csv))
		argp_error(state, "--field-separator cannot be used with --json or --csv");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct diff *o = state->input;
	struct error *err = NULL;
	uint64_t number;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->recording;
		return 0;
	case ARGP_KEY_ARG:
		add_file(state, o, arg);
		return 0;
	case ARGP_KEY_END:
		check_options(state, o);
		return 0;
	case 'c':
		err = diff_method_parse(arg, &o->changes);
		break;
	case 'o':
		if (!option_number(arg, MAX_FILES, &number))
			argp_error(state, "--order: '%s' is not the number of a recording", arg);
		o->changes.order = (unsigned)number;
		return 0;
	case OPT_PERCENTAGE:
		if (strcmp(arg, "relative") && strcmp(arg, "absolute"))
			err = error_usage("--percentage: '%s' is neither relative nor absolute",
					  arg);
		o->changes.relative = arg[0] == 'r';
		break;
	case 't':
		if (!*arg || !strcmp(arg, "."))
			err = error_usage("--field-separator: '%s' cannot separate fields", arg);
		o->text.separator = arg;
		break;
	default:
		return option_set(members, key, arg, o) ? 0 : ARGP_ERR_UNKNOWN;
	}
	if (err)
		exit(cmd_fail(error_mark_usage(err)));
	return 0;
}

static const struct argp_child children[] = {
	{&recording_filter_argp, 0, "Samples and symbols:", 1},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.children = children,
	.args_doc = "[BASELINE RECORDING...]",
	.doc = "Compare recordings with a baseline. Without names, perf.data.old is compared with "
	       "perf.data; with one, perf.data.old with it."
	       "\v--time=A:B:... sets the time ranges of the first, the second, ... recording.",
};

/* The part of --time for one recording: "A:B" has one for each. */
static struct error *time_of(const struct diff *o, size_t i, char **out)
{
	const char *part = o->times;

	*out = NULL;
	if (!part)
		return NULL;
	if (strchr(part, ':')) {
		size_t n = 1;

		for (const char *c = part; *c; c++)
			n += *c == ':';
		if (n != o->n)
			return error_usage("--time: '%s' has %zu parts for %zu recordings",
					   o->times, n, o->n);
		while (i--)
			part = strchr(part, ':') + 1;
	}
	*out = strndup(part, strcspn(part, ":"));
	return *out ? NULL : error_nomem();
}

static struct error *read_one(struct diff *o, size_t i, struct recorded *one, struct error **damage)
{
	_cleanup_free_ char *time = NULL;
	struct summary_opts sums = o->sums;

	TRY(time_of(o, i, &time));
	o->recording.input = o->files[i];
	o->recording.filter.time = time;
	TRY(recording_open(&o->recording, &o->log, &one->r));
	sums.sz = sizeof(sums);
	sums.recording = &one->r;
	TRY(summary_new(&sums, &one->summary));
	/* What was read before the damage is still worth comparing. */
	struct error *err = summary_read(one->summary);
	if (err && (err->code != EBADMSG || !summary_n_entries(one->summary)))
		return error_prefix(err, "%s", o->files[i]);
	if (!err)
		err = session_check_complete(one->r.session, one->r.path);
	session_warn_of_losses(one->r.session, one->r.path, &o->log);
	*damage = error_either(*damage, err);
	return NULL;
}

static struct error *print_results(struct diff *o, const struct results *results)
{
	_cleanup_(csv_deinit) struct csv csv = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const bool lists_files = o->verbose || (o->n > 2 && !o->text.quiet);
	const struct diff_text_opts opts = {
		.text = o->text,
		.files = lists_files ? o->files : NULL,
		.n_files = o->n,
	};

	if (o->json)
		results_json(results, true, &out);
	else if (o->csv)
		results_csv(&csv, results, &out);
	else
		diff_text(results, &opts, &out);
	struct error *err = strbuf_failed(&out) ? error_nomem() : recording_write_out(NULL, &out);
	return err == SESSION_STOP ? NULL : err;
}

/* Events without samples, which have a head in the text as in perf, are no part of a page. */
static void leave_out_empty(struct results *results)
{
	size_t n = 0;

	for (size_t i = 0; i < results->n; i++)
		if (results->v[i].kind != RESULT_TABLE || results->v[i].table.n_rows)
			results->v[n++] = results->v[i];
	if (n)
		results->n = n;
}

static struct error *compare(struct diff *o, struct recorded *all)
{
	_cleanup_results_ struct results results = {0};
	struct summary *summaries[MAX_FILES];
	struct error *damage = NULL, *err = NULL;

	for (size_t i = 0; i < o->n && !err; i++) {
		err = read_one(o, i, &all[i], &damage);
		summaries[i] = all[i].summary;
	}
	o->changes.sz = sizeof(o->changes);
	o->changes.recorded = summaries;
	o->changes.n = o->n;
	if (!err)
		err = diff_results(&o->changes, &results);
	if (!err)
		err = print_results(o, &results);
	if (!err && o->export.html)
		err = diff_stacks(&o->changes, o->files, &results);
	if (!err && o->export.html)
		leave_out_empty(&results);
	if (!err && o->export.html)
		err = export_recording(&o->export, &all[o->n - 1].r, &results);
	return error_either(err, damage);
}

static void combine_options(struct diff *o)
{
	o->log = cmd_log(o->verbose > 1 ? o->verbose - 1 : 0);
	if (o->text.quiet)
		o->log.write = NULL;
	o->recording.parameters = o->sums.long_dso = o->text.verbose = o->verbose > 0;
	o->sums.keys.diff = true;
	o->sums.no_chains = !o->export.html;
	o->recording.outputs[0] = o->export.html;
	o->changes.wide_dso = !o->text.separator && !o->recording.filter.dsos;
}

int cmd_diff(int argc, char **argv)
{
	struct diff o = {.changes = {.order = 1}};

	cmd_parse(&argp, argc, argv, 0, NULL, &o);
	combine_options(&o);
	signal(SIGPIPE, SIG_IGN);
	struct recorded *all = calloc(o.n, sizeof(*all));
	struct error *err = all ? export_check(&o.export) : error_nomem();
	if (!err)
		err = compare(&o, all);
	for (size_t i = 0; all && i < o.n; i++) {
		summary_free(all[i].summary);
		recording_close(&all[i].r);
	}
	free(all);
	return err ? cmd_fail(err) : 0;
}
