// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf annotate: the functions of a recording, instruction by instruction, with their samples
 * and source lines: on a terminal in the browser that report has, else as perf annotate --stdio
 * prints them.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/code_options.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/report_browse.h"
#include "lib/base/hash.h"
#include "perf/annotate/annotate.h"

struct annotate {
	struct recording_opts recording;
	struct code_opts shown;
	struct annotator_opts code;
	const char *symbol; /* NULL: all */
	struct annotation_text_opts text;
	bool quiet, stdio, tui;
	int verbose;
	struct log log;
};

enum {
	OPT_STDIO = 256,
	OPT_TUI,
	OPT_PERCENT_LIMIT,
	OPT_GROUP,
	OPT_NO_GROUP,
	OPT_SHOW_TOTAL_PERIOD,
	OPT_OBJDUMP,
};

static const struct argp_option options[] = {
	{"symbol", 's', "SYMBOL", 0, "Annotate only this function; the same as SYMBOL alone", 0},
	{"dsos", 'd', "DSO,...", 0, "Annotate only functions in these binaries", 0},
	{"show-nr-samples", 'n', NULL, 0, "Show the number of samples instead of percentages", 0},
	{"show-total-period", OPT_SHOW_TOTAL_PERIOD, NULL, 0,
	 "Show the sum of periods instead of percentages", 0},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0,
	 "Skip functions with less than PERCENT of the period", 0},
	{"print-line", 'l', NULL, 0,
	 "Print the source line after each instruction, and a summary of lines", 0},
	{"full-paths", 'P', NULL, 0, "Print whole paths instead of file names", 0},
	{"group", OPT_GROUP, NULL, 0,
	 "Show the events of a group side by side (default); in a recording without groups, all "
	 "events",
	 0},
	{"no-group", OPT_NO_GROUP, NULL, 0, "Show each event of a group by itself", 0},
	{"objdump", OPT_OBJDUMP, "PROGRAM", 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"stdio", OPT_STDIO, NULL, 0, "Print text, also on a terminal", 0},
	{"tui", OPT_TUI, NULL, 0, "Show the code interactively: the default on a terminal", 0},
	{"quiet", 'q', NULL, 0, "Do not print warnings", 0},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS('d', struct annotate, recording.filter.dsos),
	OPTION_SETS('n', struct annotate, text.samples),
	OPTION_SETS(OPT_SHOW_TOTAL_PERIOD, struct annotate, text.periods),
	OPTION_SETS('l', struct annotate, text.places),
	OPTION_SETS('P', struct annotate, text.full_paths),
	OPTION_SETS(OPT_STDIO, struct annotate, stdio),
	OPTION_SETS(OPT_TUI, struct annotate, tui),
	OPTION_SETS('q', struct annotate, quiet),
	OPTION_SETS('v', struct annotate, verbose),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct annotate *o = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->recording;
		state->child_inputs[1] = &o->shown;
		return 0;
	case OPT_PERCENT_LIMIT:
		o->code.least_percent = strtod(arg, &end);
		if (end == arg || *end || !(o->code.least_percent >= 0))
			argp_error(state, "--percent-limit: '%s' is not a number", arg);
		return 0;
	case OPT_GROUP:
		o->code.groups = GROUPS_ALL;
		return 0;
	case OPT_NO_GROUP:
		o->code.groups = GROUPS_NONE;
		return 0;
	case OPT_OBJDUMP:
		return 0;
	case 's':
	case ARGP_KEY_ARG:
		if (o->symbol)
			argp_error(state, "only one symbol is supported: '%s'", arg);
		o->symbol = arg;
		return 0;
	}
	return option_set(members, key, arg, o) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {RECORDING_CHILD, CODE_CHILD, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.children = children,
	.args_doc = "[SYMBOL]",
	.doc = "Show the samples of each instruction of a recording's functions.",
};

/* Why functions were skipped; each reason is printed once. */
struct skipped {
	struct arena arena;
	struct strmap reasons;
	size_t n;
};

static void skipped_deinit(struct skipped *skipped)
{
	strmap_deinit(&skipped->reasons);
	arena_deinit(&skipped->arena);
}

static void skip_function(struct annotate *o, struct skipped *skipped, const char *name,
			  const struct error *err)
{
	char *reason = arena_strdup(&skipped->arena, err->msg);

	skipped->n++;
	if (reason && strmap_get(&skipped->reasons, reason))
		return;
	log_warn(&o->log, "cannot annotate %s: %s%s%s%s%s", name, err->where ? err->where : "",
		 err->where ? ": " : "", err->msg, err->hint ? "; " : "",
		 err->hint ? err->hint : "");
	if (reason)
		strmap_put(&skipped->reasons, reason, reason);
}

static struct error *print_function(struct annotate *o, struct annotator *a, size_t i)
{
	_cleanup_annotation_ struct annotation annotation = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	TRY(annotator_function(a, i, &annotation));
	annotation_text(&annotation, &o->text, &out);
	return strbuf_failed(&out) ? error_nomem() : recording_write_out(NULL, &out);
}

static struct error *print_functions(struct annotate *o, struct annotator *a)
{
	_cleanup_(skipped_deinit) struct skipped skipped = {0};
	const size_t n = annotator_size(a);

	for (size_t i = 0; i < n; i++) {
		struct error *err = print_function(o, a, i);

		if (err == SESSION_STOP)
			return NULL;
		if (err && (n == 1 || err->code == ENOMEM || err->code == EPIPE))
			return error_prefix(err, "cannot annotate %s", annotator_name(a, i));
		if (err)
			skip_function(o, &skipped, annotator_name(a, i), err);
		error_free(err);
	}
	return n && skipped.n == n
		       ? error_new(ENODATA, "none of the %zu functions can be annotated", n)
		       : NULL;
}

static struct error *no_samples(const struct annotate *o, const char *path)
{
	return error_hint(
		error_new(ENOENT, "%s has no samples in a function '%s'", path, o->symbol),
		"show the functions that have samples: perf-bpf report -i %s --sort symbol", path);
}

/* What has no code to show. */
static struct error *check_samples(struct annotate *o, struct annotator *a, const char *path)
{
	const uint64_t n = annotator_n_samples(a), n_unknown = annotator_n_unknown(a);

	if (!n && o->symbol)
		return no_samples(o, path);
	if (!n)
		log_warn(&o->log, "%s has no samples", path);
	if (n_unknown)
		log_warn(&o->log,
			 "%llu of %llu samples are at addresses without a symbol and are not shown",
			 (unsigned long long)n_unknown, (unsigned long long)n);
	return NULL;
}

static struct error *annotate_text(struct annotate *o, struct opened_recording *r,
				   struct annotator *a)
{
	/* What was read before the damage is still worth showing. */
	struct error *damage = annotator_read(a);
	if (damage && (damage->code != EBADMSG || !annotator_n_samples(a)))
		return damage;
	if (!damage)
		damage = session_check_complete(r->session, r->path);
	session_warn_of_losses(r->session, r->path, &o->log);
	struct error *err = check_samples(o, a, r->path);
	if (!err)
		err = print_functions(o, a);
	return error_either(err, damage);
}

/* ---- on a terminal ---- */

static struct error *count_address(void *ctx, const struct session_event *event,
				   const struct location *at, const struct sample *sample)
{
	return annotator_add(ctx, event, at, sample->period);
}

/* The table of functions, or the code of the one that is named. */
static struct error *browse(struct annotate *o, struct opened_recording *r, struct annotator *a,
			    struct tty *tty, struct summary *summary,
			    const struct summary_opts *sums)
{
	struct chain_opts chain = sums->chain;
	const struct perf_text_opts text = {.chain = &chain};
	const struct report_browse_opts opts = {
		.tty = tty,
		.log = &o->log,
		.recording = r,
		.annotator = a,
		.summary = summary,
		.sums = sums,
		.text = &text,
		.chain = &chain,
		.command = "annotate",
		.opens_code = true,
		.symbol = o->symbol,
		.look = {.unit = o->text.periods   ? CODE_PERIODS
				 : o->text.samples ? CODE_SAMPLES
						   : CODE_PERCENT,
			 .percent = o->text.percent,
			 .places = o->text.places},
	};
	bool is_known = !o->symbol;

	TRY(annotator_end(a));
	for (size_t i = 0; i < annotator_size(a) && !is_known; i++)
		is_known = !strcmp(annotator_name(a, i), o->symbol);
	return is_known ? report_browse(&opts) : no_samples(o, r->path);
}

static struct error *annotate_on(struct annotate *o, struct opened_recording *r,
				 struct annotator *a, struct tty *tty)
{
	_cleanup_(summary_freep) struct summary *summary = NULL;
	const struct summary_opts sums = {
		.sz = sizeof(sums),
		.recording = r,
		.keys = {.sort = "sym,dso", .show_nr_samples = true},
		.table = {.least_percent = o->code.least_percent},
		.chain = {.mode = CHAIN_NONE},
		.no_chains = true,
		.groups = o->code.groups,
		.keeps = true,
		.each = count_address,
		.each_ctx = a,
	};

	TRY(summary_new(&sums, &summary));
	struct error *damage = summary_read(summary);
	if (damage && (damage->code != EBADMSG || !summary_n_entries(summary)))
		return damage;
	if (!damage)
		damage = session_check_complete(r->session, r->path);
	session_warn_of_losses(r->session, r->path, &o->log);
	struct error *err = summary_n_entries(summary) ? browse(o, r, a, tty, summary, &sums)
						       : check_samples(o, a, r->path);
	return error_either(err, damage);
}

static bool wants_browser(const struct annotate *o)
{
	return !o->stdio && (o->tui || !(o->quiet || recording_is_input(&o->recording)));
}

static struct error *annotate(struct annotate *o)
{
	_cleanup_(tty_freep) struct tty *tty = NULL;
	_cleanup_recording_ struct opened_recording r = {0};
	_cleanup_(annotator_freep) struct annotator *a = NULL;

	if (wants_browser(o))
		TRY(report_browse_terminal(&tty));
	o->code.sz = sizeof(o->code);
	o->code.recording = &r;
	o->code.source = !o->shown.no_source;
	o->code.raw = o->shown.raw;
	o->code.intel = o->shown.intel;
	o->code.prefix = o->shown.prefix;
	o->text.percent = o->shown.percent;
	/* in the browser, a key shows them; and calls lead to other functions */
	o->code.places = o->text.places || tty;
	o->code.symbol = tty ? NULL : o->symbol;
	o->recording.lines = o->code.source || o->code.places;
	o->recording.inlines = o->code.source;
	o->recording.code = true;
	o->recording.interactive = tty;
	TRY(recording_open(&o->recording, &o->log, &r));
	TRY(annotator_new(&o->code, &a));
	return tty ? annotate_on(o, &r, a, tty) : annotate_text(o, &r, a);
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate o = {0};

	cmd_parse(&argp, argc, argv, 0, NULL, &o);
	o.log = cmd_log(o.verbose);
	if (o.quiet)
		o.log.write = NULL;
	o.recording.parameters = o.verbose > 0;
	signal(SIGPIPE, SIG_IGN);
	struct error *err = annotate(&o);
	return err ? cmd_fail(err) : 0;
}
