// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf report: a recording summed up, as perf report --stdio prints it: a
 * table for each event, its rows the combinations of the sort keys, and below
 * each row its call chains.
 */
#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "lib/base/names.h"
#include "lib/base/vec.h"
#include "perf/hist/hist.h"
#include "perf/hist/trace_keys.h"
#include "perf/print/print_header.h"
#include "perf/print/probed.h"
#include "show/perf_text.h"

#define DEFAULT_PARENT "^sys_|^do_page_fault"
#define OUT_FULL       (256 * 1024)
#define WIDTH_MAX      65535

struct report {
	/* The command line. */
	struct recording_opts recording;
	const char *sort, *fields, *separator, *widths, *symbol_filter, *parent;
	struct chain_opts chain;
	bool chain_given, chain_off, order_given, inverted;
	bool children, hide_unresolved, exclude_other, relative, quiet;
	bool show_nr_samples, show_total_period, show_cpu_utilization, show_empty;
	bool header, header_only;
	struct export_opts export;
	double percent_limit;
	int verbose;

	/* While it runs. */
	uint64_t first, last; /* ns: of the samples */
	regex_t parent_regex;
	bool has_parent_regex;
	struct log log;
	struct opened_recording opened;
	struct trace_keys keys;
	size_t n_checked; /* events that the filter knows */
	bool tracing_checked;
	struct probed probed;
	struct hist_spec spec;
	VEC(struct hist *) hists; /* by the event's index */
	struct strbuf out;
};

enum {
	OPT_STDIO = 256,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_NO_CALL_GRAPH,
	OPT_SYMBOL_FILTER,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_HEADER,
	OPT_HEADER_ONLY,
	OPT_SHOW_TOTAL_PERIOD,
	OPT_SHOW_CPU_UTILIZATION,
	OPT_NO_SKIP_EMPTY,
};

static const struct argp_option options[] = {
	{"sort", 's', "KEY,...", 0,
	 "Sort by KEYS (default comm,dso,symbol, or trace if all events are tracepoints); +KEY "
	 "adds to the default",
	 0},
	{"fields", 'F', "KEY,...", 0, "Show these columns; +KEY adds to the default", 0},
	{"call-graph", 'g', "PRINT", OPTION_ARG_OPTIONAL,
	 "Set how call chains are shown: graph, fractal, flat, folded or none, then the threshold "
	 "in percent, the limit of children, caller or callee, function or address, percent, "
	 "period or count (default graph,0.5,caller,function,percent)",
	 0},
	{"no-call-graph", OPT_NO_CALL_GRAPH, NULL, 0, "Do not show call chains", 0},
	{"children", OPT_CHILDREN, NULL, 0,
	 "Accumulate the period of callees in callers (default with call chains)", 0},
	{"no-children", OPT_NO_CHILDREN, NULL, 0, "Count a sample only for its innermost function",
	 0},
	{"inverted", 'G', NULL, 0, "Show call chains starting with the caller", 0},
	{"show-nr-samples", 'n', NULL, 0, "Show the number of samples", 0},
	{"show-total-period", OPT_SHOW_TOTAL_PERIOD, NULL, 0, "Show the sum of periods", 0},
	{"show-cpu-utilization", OPT_SHOW_CPU_UTILIZATION, NULL, 0,
	 "Show the share of kernel and user", 0},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0, "Hide entries below PERCENT", 0},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Show percentages relative to the filtered samples, or of all samples (default absolute)",
	 0},
	{"dsos", 'd', "DSO,...", 0, "Only samples in these binaries", 0},
	{"symbol-filter", OPT_SYMBOL_FILTER, "TEXT", 0,
	 "Only functions whose name holds TEXT; the same as TEXT alone", 0},
	{"parent", 'p', "REGEX", 0,
	 "Regular expression that the sort key 'parent' looks for in call chains", 0},
	{"exclude-other", 'x', NULL, 0, "Show only entries with a parent", 0},
	{"hide-unresolved", 'U', NULL, 0, "Hide addresses without a symbol", 0},
	{"field-separator", 't', "CHAR", 0,
	 "Separate columns with CHAR; CHAR in names is replaced by '.'", 0},
	{"column-widths", 'w', "N,...", 0, "Set the column widths", 0},
	{"header", OPT_HEADER, NULL, 0, "Print the recording's header first", 0},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Print only the recording's header", 0},
	{"no-skip-empty", OPT_NO_SKIP_EMPTY, NULL, 0, "Also show events without samples", 0},
	{"stdio", OPT_STDIO, NULL, 0, "Print text: the default, accepted as perf has it", 0},
	{"quiet", 'q', NULL, 0, "Print only rows, without headers and warnings", 0},
	{"verbose", 'v', NULL, 0, "Show addresses and paths (-vv for debugging)", 0},
	{0},
};

static bool is_text(const struct report *rp)
{
	return !rp->export.json && !rp->export.csv && !rp->export.folded;
}

/* "12,,40": a width for each column; none, or 0, is the one that perf chooses. */
static struct error *check_widths(const char *text)
{
	for (const char *p = text; *p; p += *p == ',') {
		char *end = (char *)p;
		unsigned long width = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;

		if (width > WIDTH_MAX || (*end && *end != ','))
			return error_hint(error_usage("--column-widths: '%s' is not a list of "
						      "widths",
						      text),
					  "write numbers up to %d: 10,30", WIDTH_MAX);
		p = end;
	}
	return NULL;
}

static struct error *parse_number(const char *what, const char *text, double *out)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !(number >= 0))
		return error_usage("%s: '%s' is not a number", what, text);
	*out = number;
	return NULL;
}

static struct error *parse_option(struct report *rp, int key, char *arg)
{
	switch (key) {
	case 's':
		rp->sort = arg;
		break;
	case 'F':
		rp->fields = arg;
		break;
	case 'g':
		rp->chain_given = true;
		TRY(chain_opts_parse(arg ? arg : "graph,0.5,caller,function,percent", &rp->chain,
				     &rp->order_given));
		if (rp->chain.mode == CHAIN_NONE) {
			rp->chain_given = false;
			rp->chain_off = true;
		}
		break;
	case OPT_NO_CALL_GRAPH:
		rp->chain.mode = CHAIN_NONE;
		rp->chain_given = false;
		rp->chain_off = true;
		break;
	case OPT_CHILDREN:
		rp->children = true;
		break;
	case OPT_NO_CHILDREN:
		rp->children = false;
		break;
	case 'G':
		rp->inverted = true;
		break;
	case 'n':
		rp->show_nr_samples = true;
		break;
	case OPT_SHOW_TOTAL_PERIOD:
		rp->show_total_period = true;
		break;
	case OPT_SHOW_CPU_UTILIZATION:
		rp->show_cpu_utilization = true;
		break;
	case OPT_PERCENT_LIMIT:
		TRY(parse_number("--percent-limit", arg, &rp->percent_limit));
		rp->chain.min_percent = rp->percent_limit;
		break;
	case OPT_PERCENTAGE:
		if (strcmp(arg, "relative") && strcmp(arg, "absolute"))
			return error_usage("--percentage: '%s' is neither relative nor absolute",
					   arg);
		rp->relative = arg[0] == 'r';
		break;
	case 'd': /* the letter is perf report's only */
		rp->recording.filter.dsos = arg;
		break;
	case OPT_SYMBOL_FILTER:
	case ARGP_KEY_ARG:
		if (rp->symbol_filter)
			return error_usage("only one symbol filter is supported: '%s'", arg);
		rp->symbol_filter = arg;
		break;
	case 'p':
		rp->parent = arg;
		break;
	case 'x':
		rp->exclude_other = true;
		break;
	case 'U':
		rp->hide_unresolved = true;
		break;
	case 't':
		if (!*arg || !strcmp(arg, "."))
			return error_usage("--field-separator: '%s' cannot separate fields", arg);
		rp->separator = arg;
		break;
	case 'w':
		rp->widths = arg;
		return check_widths(arg);
	case OPT_HEADER:
		rp->header = true;
		break;
	case OPT_HEADER_ONLY:
		rp->header = rp->header_only = true;
		break;
	case OPT_NO_SKIP_EMPTY:
		rp->show_empty = true;
		break;
	case 'q':
		rp->quiet = true;
		break;
	case 'v':
		rp->verbose++;
		break;
	default:
		break;
	}
	return NULL;
}

static error_t parse_argp(int key, char *arg, struct argp_state *state)
{
	struct report *rp = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &rp->recording;
		state->child_inputs[1] = &rp->export;
		return 0;
	case ARGP_KEY_END:
		if (rp->export.json + rp->export.csv + rp->export.folded > 1)
			argp_error(state, "choose one of --json, --csv and --folded");
		if (is_text(rp))
			return 0;
		if (rp->header && !rp->header_only)
			argp_error(state, "--header cannot be used with --json, --csv or --folded; "
					  "--header-only prints the header alone");
		if (rp->separator || rp->widths)
			argp_error(state, "--field-separator and --column-widths cannot be used "
					  "with --json, --csv or --folded");
		return 0;
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_ERROR:
	case ARGP_KEY_FINI:
	case ARGP_KEY_NO_ARGS:
		return 0;
	default:
		break;
	}
	if (key < 0x1000000 && key != ARGP_KEY_ARG && !(key > 0 && key < 512))
		return ARGP_ERR_UNKNOWN;
	struct error *err = parse_option(rp, key, arg);
	if (err)
		exit(cmd_fail(error_mark_usage(err)));
	return 0;
}

static const struct argp_child children[] = {
	RECORDING_CHILD,
	{&export_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_argp,
	.children = children,
	.args_doc = "[SYMBOL-FILTER]",
	.doc = "Summarize a recording by command, binary and function.",
};

/* "-g WORDS" means "-gWORDS", as perf has it; argp knows only the latter. */
static char **join_call_graph(int *argc, char **argv, struct names *owner)
{
	char **out = calloc((size_t)*argc + 1, sizeof(*out));
	int n = 0;

	for (int i = 0; out && i < *argc; i++) {
		bool is_short = !strcmp(argv[i], "-g"), is_long = !strcmp(argv[i], "--call-graph");

		if (!strcmp(argv[i], "--")) {
			while (i < *argc)
				out[n++] = argv[i++];
			break;
		}
		if ((is_short || is_long) && i + 1 < *argc && argv[i + 1][0] != '-') {
			_cleanup_strbuf_ struct strbuf joined = STRBUF_INIT;

			strbuf_addf(&joined, "%s%s%s", argv[i], is_long ? "=" : "", argv[i + 1]);
			if (strbuf_failed(&joined) || !names_add(owner, strbuf_str(&joined))) {
				free(out);
				return NULL;
			}
			out[n++] = owner->v[owner->n - 1];
			i++;
		} else {
			out[n++] = argv[i];
		}
	}
	*argc = n;
	return out;
}

static struct error *setup_parent(struct report *rp)
{
	char text[256];
	int code;

	if (!rp->spec.has[HIST_PARENT])
		return NULL;
	const char *pattern = rp->parent ? rp->parent : DEFAULT_PARENT;
	code = regcomp(&rp->parent_regex, pattern, REG_EXTENDED);
	if (code) {
		regerror(code, &rp->parent_regex, text, sizeof(text));
		return error_usage("--parent: '%s': %s", pattern, text);
	}
	rp->has_parent_regex = true;
	rp->spec.parent = &rp->parent_regex;
	return NULL;
}

static bool has_chain(const struct session_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
}

/* Keys and columns, by the options and by what the recording has. */
static struct error *setup_spec(struct report *rp)
{
	struct hist_spec_opts opts = {
		.sz = sizeof(opts),
		.sort = rp->sort,
		.fields = rp->fields,
		.tracepoints_only = session_n_events(rp->opened.session) > 0,
		.children = rp->children,
		.show_nr_samples = rp->show_nr_samples,
		.show_total_period = rp->show_total_period,
		.show_cpu_utilization = rp->show_cpu_utilization,
		.add_parent = rp->parent != NULL,
		.has_field = trace_keys_have,
		.each_field = trace_keys_offer,
		.field_ctx = &rp->keys,
	};
	/* A pipe's events are not known yet: perf then expects chains, but no children. */
	bool is_pipe = session_header(rp->opened.session)->pipe, any_chain = false;

	for (size_t i = 0; i < session_n_events(rp->opened.session); i++) {
		const struct session_event *event = session_event(rp->opened.session, i);

		opts.tracepoints_only &= event->attr.type == PERF_TYPE_TRACEPOINT;
		any_chain |= has_chain(event);
	}
	TRY(hist_spec_init(&rp->spec, &opts));
	struct hist_spec *spec = &rp->spec;
	if (rp->exclude_other && !spec->has[HIST_PARENT]) {
		/* Entries are told apart by their parents, which no column shows. */
		opts.add_parent = true;
		TRY(hist_spec_init(spec, &opts));
		spec->elide[HIST_PARENT] = true;
	}
	if (!any_chain)
		hist_spec_cancel_children(spec);
	any_chain |= is_pipe;
	if (!any_chain && spec->has[HIST_PARENT])
		return error_hint(error_usage("%s needs call chains, and the recording has none",
					      rp->exclude_other ? "--exclude-other"
								: "the key parent"),
				  "record with -g");
	if (!any_chain && rp->chain_given)
		return error_hint(error_usage("--call-graph needs call chains, and the "
					      "recording has none"),
				  "record with -g");
	spec->chain = rp->chain;
	if (rp->inverted || (rp->children && !rp->order_given))
		spec->chain.caller = true;
	spec->use_chain = any_chain && !rp->chain_off;
	spec->hide_unresolved = rp->hide_unresolved;
	spec->exclude_other = rp->exclude_other;
	spec->symbol_filter = rp->symbol_filter;
	spec->long_dso = rp->verbose > 0;
	spec->max_stack = rp->recording.max_stack ? min_of(rp->recording.max_stack, 1024u) : 127;
	spec->trace = trace_keys_text;
	spec->field = trace_keys_value;
	spec->trace_ctx = &rp->keys;
	return setup_parent(rp);
}

/* A filter that leaves one value needs no column; it is told in the head. */
static void setup_elide(struct report *rp)
{
	const struct {
		enum hist_field field;
		const char *only, *title;
	} filters[] = {
		{HIST_COMM, filter_only_comm(rp->opened.filter), "comm"},
		{HIST_DSO, filter_only_dso(rp->opened.filter), "dso"},
		{HIST_SYMBOL, filter_only_symbol(rp->opened.filter), "symbol"},
	};
	bool left = false;

	for (size_t i = 0; i < rp->spec.n_out; i++) {
		enum hist_field field = rp->spec.out[i];

		if (field < HIST_N_MEASURES)
			continue;
		for (size_t f = 0; f < ARRAY_SIZE(filters); f++) {
			if (filters[f].field != field || !filters[f].only)
				continue;
			if (is_text(rp))
				strbuf_addf(&rp->out, "# %s: %s\n", filters[f].title,
					    filters[f].only);
			rp->spec.elide[field] = true;
		}
		left |= !rp->spec.elide[field];
	}
	if (!left)
		memset(rp->spec.elide, 0, sizeof(rp->spec.elide));
}

static struct error *hist_of(struct report *rp, const struct session_event *event,
			     struct hist **out)
{
	while (rp->hists.n <= (size_t)event->index)
		if (!vec_push(&rp->hists))
			return error_nomem();
	struct hist **slot = &rp->hists.v[event->index];
	if (!*slot)
		TRY(hist_new(&rp->spec, rp->opened.resolver, slot));
	*out = *slot;
	return NULL;
}

/* In a pipe, events and format files come as records before they are needed. */
static struct error *check_filter(struct report *rp)
{
	const bool has_tracing = session_tracing(rp->opened.session);
	const size_t n = session_n_events(rp->opened.session);

	if (rp->n_checked == n && rp->tracing_checked == has_tracing)
		return NULL;
	rp->n_checked = n;
	rp->tracing_checked = has_tracing;
	TRY(trace_keys_open(&rp->keys));
	return filter_check(rp->opened.filter, rp->opened.session, rp->keys.tracing);
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct report *rp = tool->ctx;
	struct location leaf;
	struct hist *h;

	TRY(check_filter(rp));
	rp->first = rp->first ? min_of(rp->first, sample->time) : sample->time;
	rp->last = max_of(rp->last, sample->time);
	rp->keys.sample = sample;
	rp->keys.event = event;
	rp->keys.thread = thread;
	sample = probed_sample(&rp->probed, trace_keys_event(&rp->keys, event), rp->opened.resolver,
			       thread, sample);
	resolve_addr(rp->opened.resolver, thread, sample->cpumode, sample->ip, &leaf);
	if (rp->hide_unresolved && !leaf.sym)
		return NULL;
	const struct filter_input in = {
		.sample = sample, .event = event, .thread = thread, .leaf = &leaf};
	const enum filter_verdict verdict = filter_sample(rp->opened.filter, &in);
	if (verdict == FILTER_DROP)
		return NULL;
	TRY(hist_of(rp, event, &h));
	/* Samples that are hidden still count for the totals, as in perf. */
	return hist_add(h, sample, event, thread, &leaf, verdict == FILTER_HIDE);
}

static void out_flush(struct report *rp)
{
	fwrite(strbuf_str(&rp->out), 1, rp->out.len, stdout);
	strbuf_reset(&rp->out);
}

/* Whether more than text is wanted. */
static bool wants_data(const struct report *rp)
{
	return !is_text(rp) || rp->export.html || rp->export.pprof;
}

/* "cpu-clock" counts nanoseconds. */
static const char *unit_of(const struct session_event *event)
{
	bool is_clock = event->attr.type == PERF_TYPE_SOFTWARE &&
			(event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			 event->attr.config == PERF_COUNT_SW_TASK_CLOCK);

	return is_clock ? "ns" : "events";
}

/* When the file was written, which is when the recording ended; a pipe has no such time. */
static void set_time(struct report *rp, struct results *results)
{
	struct stat st;

	if (session_header(rp->opened.session)->pipe || stat(rp->opened.path, &st))
		return;
	results->time = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	results->span = rp->last > rp->first ? rp->last - rp->first : 0;
}

static struct error *make_results(struct report *rp, struct results *results)
{
	results->subject = RESULTS_OF_EVENTS;
	results->lost = session_losses(rp->opened.session).lost_samples;
	set_time(rp, results);
	for (size_t i = 0; i < session_n_events(rp->opened.session); i++) {
		const struct session_event *event = session_event(rp->opened.session, i);
		const struct hist_results_opts opts = {
			.name = event->name,
			.unit = unit_of(event),
			.relative = rp->relative,
			.least_percent = rp->percent_limit,
			.origins = rp->verbose > 0,
			.stacks = wants_data(rp),
			.wide_dso = !rp->widths && !rp->separator && !rp->recording.filter.dsos,
		};
		struct hist *h;

		TRY(hist_of(rp, event, &h));
		if (hist_totals(h)->samples || rp->show_empty)
			TRY(hist_results(h, &opts, results));
	}
	return NULL;
}

static void print_text(struct report *rp, const struct results *results)
{
	const struct perf_text_opts text = {
		.chain = &rp->spec.chain,
		.separator = rp->separator,
		.widths = rp->widths,
		.times = rp->recording.filter.time,
		.quiet = rp->quiet,
		.verbose = rp->verbose > 0,
		.first_frame_is_known = rp->sort && !rp->fields && !strncmp(rp->sort, "sym", 3),
	};

	perf_text_begin(results, &text, &rp->out);
	for (size_t i = 0; i < results->n; i++) {
		if (results->v[i].kind != RESULT_TABLE)
			continue;
		perf_text_table(&results->v[i], &text, &rp->out);
		if (rp->out.len > OUT_FULL)
			out_flush(rp);
	}
}

/* The head of the page is of the machine that the recording was made on. */
static struct error *write_page(struct report *rp, const struct results *results)
{
	const struct data_header *header = session_header(rp->opened.session);
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;
	struct html_events none = {0};

	for (size_t i = 0; i < header->n_cmdline; i++)
		strbuf_addf(&command, "%s%s", i ? " " : "", header->cmdline[i]);
	if (strbuf_failed(&command))
		return error_nomem();
	const struct html_about about = {
		.title = rp->opened.path,
		.command = command.len ? command.str : NULL,
		.host = header->hostname,
		.kernel = header->osrelease,
		.version = "perf-bpf " PERF_BPF_VERSION,
	};
	return export_html(&rp->export, results, &about, &none);
}

static struct error *print_all(struct report *rp)
{
	_cleanup_results_ struct results results = {0};
	struct csv csv = {0};
	size_t entries = 0;

	for (size_t i = 0; i < rp->hists.n; i++) {
		if (!rp->hists.v[i])
			continue;
		TRY(hist_finish(rp->hists.v[i]));
		entries += hist_size(rp->hists.v[i]);
	}
	if (!entries) {
		out_flush(rp);
		if (!rp->quiet)
			fprintf(stderr, "perf-bpf: %s has no samples\n", rp->opened.path);
		if (!wants_data(rp))
			return NULL;
	}
	TRY(make_results(rp, &results));
	/* first, since nobody may be reading what is printed */
	if (rp->export.pprof)
		TRY(export_pprof(&rp->export, &results));
	if (rp->export.html)
		TRY(write_page(rp, &results));
	if (!export_print(&rp->export, &results, true, &csv, &rp->out) && entries)
		print_text(rp, &results);
	csv_deinit(&csv);
	return NULL;
}

static struct error *report_run(struct report *rp)
{
	struct session_tool tool = {.ctx = rp, .sample = on_sample};

	TRY(export_check(&rp->export));
	TRY(recording_open(&rp->recording, &rp->log, &rp->opened));
	rp->keys = (struct trace_keys){
		.session = rp->opened.session,
		.resolver = rp->opened.resolver,
		.log = &rp->log,
	};
	TRY(setup_spec(rp));
	if (rp->header && !rp->quiet && (is_text(rp) || rp->header_only))
		print_header(session_header(rp->opened.session), rp->opened.path, &rp->out);
	else if (!rp->quiet && is_text(rp))
		strbuf_adds(&rp->out, "# To display the perf.data header info, please use "
				      "--header/--header-only options.\n#\n");
	if (!rp->header_only) {
		setup_elide(rp);
		TRY(check_filter(rp));
		struct error *err = session_process(rp->opened.session, &tool);
		if (!err)
			err = filter_end(rp->opened.filter);
		/* What was read before the damage is still worth a report. */
		if (err && err->code == EBADMSG && rp->hists.n) {
			struct error *print = print_all(rp);

			if (print) {
				error_free(err);
				return print;
			}
			out_flush(rp);
			return err;
		}
		TRY(err);
		TRY(print_all(rp));
	}
	if (strbuf_failed(&rp->out))
		return error_nomem();
	out_flush(rp);
	if (fflush(stdout) || ferror(stdout))
		return error_errno(errno ? errno : EIO, "cannot write the report");
	return NULL;
}

static void report_deinit(struct report *rp)
{
	struct hist **h;

	vec_for_each (h, &rp->hists)
		hist_free(*h);
	vec_deinit(&rp->hists);
	trace_keys_deinit(&rp->keys);
	probed_deinit(&rp->probed);
	recording_close(&rp->opened);
	if (rp->has_parent_regex)
		regfree(&rp->parent_regex);
	strbuf_deinit(&rp->out);
}

int cmd_report(int argc, char **argv)
{
	_cleanup_(report_deinit) struct report rp = {
		.children = true,
		.chain = {.mode = CHAIN_GRAPH, .min_percent = 0.5},
	};
	_cleanup_names_ struct names joined = {0};
	_cleanup_free_ char **args = join_call_graph(&argc, argv, &joined);

	if (!args)
		return cmd_fail(error_nomem());
	if (cmd_parse(&argp, argc, args, 0, NULL, &rp))
		return 2;
	rp.log = cmd_log(rp.verbose > 1 ? rp.verbose - 1 : 0);
	if (rp.quiet)
		rp.log.write = NULL;
	struct error *err = report_run(&rp);
	return err ? cmd_fail(err) : 0;
}
