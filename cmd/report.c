// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf report: a recording summed up: a table for each event, its rows the combinations of the
 * sort keys, and below each row its call chains. On a terminal in a browser, as perf report --tui
 * has it; else as perf report --stdio prints it.
 */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/code_options.h"
#include "cmd/export.h"
#include "cmd/options.h"
#include "cmd/job.h"
#include "cmd/recording.h"
#include "cmd/report_browse.h"
#include "perf/hist/summary.h"
#include "perf/print/print_header.h"
#include "perf/print/print_script.h"
#include "perf/print/print_tasks.h"
#include "show/perf_text.h"

struct report {
	struct recording_opts recording;
	struct summary_opts sums;
	struct perf_text_opts text;
	struct export_opts export;
	struct chain_opts browser_chain;
	enum { BRANCHES_OF_RECORDING, BRANCHES, NO_BRANCHES } branches;
	struct code_opts code; /* of the browser */
	bool order_given, inverted, header, header_only, topology, dump, stats, tasks, mmaps,
		threads, raw, stdio, tui;
	struct read_counts counts;
	uint64_t around; /* struct sample_context_opts */
	int verbose;
	struct log log;
};

enum {
	OPT_STDIO = 256,
	OPT_TUI,
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
	OPT_GROUP,
	OPT_NO_GROUP,
	OPT_STATS,
	OPT_TASKS,
	OPT_MMAPS,
	OPT_PRETTY,
	OPT_IGNORE_CALLEES,
	OPT_INLINE,
	OPT_NO_INLINE,
	OPT_FULL_SOURCE_PATH,
	OPT_NS,
	OPT_TIME_QUANTUM,
	OPT_SKIP_EMPTY,
	OPT_LATENCY,
	OPT_PARALLELISM,
	OPT_NO_BRANCH_STACK,
	OPT_TOTAL_CYCLES,
	OPT_MEM_MODE,
	OPT_GROUP_SORT_IDX,
	OPT_SOCKET_FILTER,
	OPT_IGNORE_VMLINUX,
	OPT_STDIO_COLOR,
	OPT_RAW_TRACE,
	OPT_SAMPLES,
	OPT_REF_CALL_GRAPH,
	OPT_BRANCH_HISTORY,
};

static const struct argp_option options[] = {
	{"sort", 's', "KEY,...", 0,
	 "Sort by KEYS (default comm,dso,symbol, or trace if all events are tracepoints); +KEY "
	 "adds to the default",
	 0},
	{"fields", 'F', "KEY,...", 0, "Show these columns; +KEY adds to the default", 0},
	{"call-graph", 'g', "PRINT", OPTION_ARG_OPTIONAL,
	 "Set how call chains are shown: graph, fractal, flat, folded or none, then the threshold "
	 "in percent, the limit of children, caller or callee, function, address or srcline, "
	 "percent, "
	 "period or count (default graph,0.5,caller,function,percent)",
	 0},
	{"no-call-graph", OPT_NO_CALL_GRAPH, NULL, 0, "Do not show call chains", 0},
	{"children", OPT_CHILDREN, NULL, 0,
	 "Accumulate the period of callees in callers (default with call chains)", 0},
	{"no-children", OPT_NO_CHILDREN, NULL, 0, "Count a sample only for its innermost function",
	 0},
	{"inline", OPT_INLINE, NULL, 0,
	 "Show inlined functions in call chains, by debug information (default)", 0},
	{"no-inline", OPT_NO_INLINE, NULL, 0, "Do not show inlined functions", 0},
	{"full-source-path", OPT_FULL_SOURCE_PATH, NULL, 0, "Print whole paths of source files", 0},
	{"show-ref-call-graph", OPT_REF_CALL_GRAPH, NULL, 0,
	 "Show events without call chains with those of other events of the same thread", 0},
	{"inverted", 'G', NULL, 0, "Show call chains starting with the caller", 0},
	{"show-nr-samples", 'n', NULL, 0, "Show the number of samples", 0},
	{"show-total-period", OPT_SHOW_TOTAL_PERIOD, NULL, 0, "Show the sum of periods", 0},
	{"show-cpu-utilization", OPT_SHOW_CPU_UTILIZATION, NULL, 0,
	 "Show the shares of kernel and user code", 0},
	{"showcpuutilization", OPT_SHOW_CPU_UTILIZATION, NULL, OPTION_HIDDEN, NULL, 0},
	{"latency", OPT_LATENCY, NULL, 0,
	 "Sort by latency: a period counts less while more threads run (record --latency)", 0},
	{"parallelism", OPT_PARALLELISM, "LIST", 0,
	 "Select samples taken while N threads ran: 1,3-4 (record --latency)", 0},
	{"branch-stack", 'b', NULL, 0,
	 "Count the branches before each sample instead of the sample (default for recordings of "
	 "record -b)",
	 0},
	{"no-branch-stack", OPT_NO_BRANCH_STACK, NULL, 0,
	 "Count samples, even if the recording has branch stacks", 0},
	{"branch-history", OPT_BRANCH_HISTORY, NULL, 0,
	 "Show the branches before each sample in its call chain (record -b -g)", 0},
	{"mem-mode", OPT_MEM_MODE, NULL, 0,
	 "Count accesses to memory by their weight, with keys of the data (record -d)", 0},
	{"total-cycles", OPT_TOTAL_CYCLES, NULL, 0,
	 "Print the cycles of each block of code between branches, from the branch stacks", 0},
	{"ns", OPT_NS, NULL, 0, "Show times with nine digits", 0},
	{"time-quantum", OPT_TIME_QUANTUM, "TIME", 0,
	 "Round times down to a multiple of TIME, such as 10ms (100ms); s, ms, us or ns", 0},
	{"samples", OPT_SAMPLES, "N", 0,
	 "Keep N samples of each entry, whose context the menu of the interactive view shows", 0},
	{"raw-trace", OPT_RAW_TRACE, NULL, 0,
	 "Show fields of tracepoints as they are stored, by default each in a column", 0},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0, "Hide entries below PERCENT", 0},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Show percentages relative to the filtered samples, or of all samples (default absolute)",
	 0},
	{"dsos", 'd', "DSO,...", 0, "Only samples in these binaries", 0},
	{"symbol-filter", OPT_SYMBOL_FILTER, "TEXT", 0,
	 "Show only functions whose name contains TEXT; the same as TEXT alone", 0},
	{"parent", 'p', "REGEX", 0,
	 "Regular expression that the sort key 'parent' looks for in call chains", 0},
	{"exclude-other", 'x', NULL, 0, "Show only entries with a parent", 0},
	{"ignore-callees", OPT_IGNORE_CALLEES, "REGEX", 0,
	 "Count the callees of functions that match REGEX for these functions", 0},
	{"hide-unresolved", 'U', NULL, 0, "Hide addresses without a symbol", 0},
	{"field-separator", 't', "CHAR", 0,
	 "Separate columns with CHAR; CHAR in names is replaced by '.'", 0},
	{"column-widths", 'w', "N,...", 0, "Set the column widths", 0},
	{"group", OPT_GROUP, NULL, 0,
	 "Show the events of a group as columns of one table (default); in a recording without "
	 "groups, all events",
	 0},
	{"no-group", OPT_NO_GROUP, NULL, 0, "Show a table for each event of a group", 0},
	{"group-sort-idx", OPT_GROUP_SORT_IDX, "N", 0,
	 "Sort by the event N of a group, counted from 0", 0},
	{"socket-filter", OPT_SOCKET_FILTER, "N", 0, "Only samples of the CPUs of socket N", 0},
	{"ignore-vmlinux", OPT_IGNORE_VMLINUX, NULL, 0,
	 "Do not look for the kernel's image: use its list of symbols", 0},
	{"modules", 'm', NULL, 0, "Accepted for compatibility with perf; modules are always read",
	 0},
	{"stdio-color", OPT_STDIO_COLOR, "MODE", 0,
	 "never or auto: accepted for compatibility with perf; has no effect", 0},
	{"hierarchy", 'H', NULL, 0,
	 "Show entries by the first sort key, below each of them entries by the second, and so on; "
	 "keys in braces are one level: {comm,dso},sym",
	 0},
	{"header", OPT_HEADER, NULL, 0, "Print the recording's header first", 0},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Print only the recording's header", 0},
	{"show-info", 'I', NULL, 0, "Print the machine's CPUs, caches and memory with the header",
	 0},
	{"skip-empty", OPT_SKIP_EMPTY, NULL, 0, "Do not show events without samples (default)", 0},
	{"no-skip-empty", OPT_NO_SKIP_EMPTY, NULL, 0, "Also show events without samples", 0},
	{"dump-raw-trace", 'D', NULL, 0,
	 "Print every record with its bytes, and the number of records of each type", 0},
	{"stats", OPT_STATS, NULL, 0,
	 "Print only the number of records of each type, and of samples of each event", 0},
	{"tasks", OPT_TASKS, NULL, 0, "Print only the threads, as a tree", 0},
	{"mmaps", OPT_MMAPS, NULL, 0, "Print only the threads and the mappings of their processes",
	 0},
	{"threads", 'T', NULL, 0,
	 "After the tables, print what each thread counted (record --stat)", 0},
	{"pretty", OPT_PRETTY, "normal|raw", 0,
	 "With -T, print a line for each thread (normal), or for each thread and event (raw)", 0},
	{"tui", OPT_TUI, NULL, 0, "Show the results interactively: the default on a terminal", 0},
	{"stdio", OPT_STDIO, NULL, 0, "Print text, also on a terminal", 0},
	{"quiet", 'q', NULL, 0, "Print only rows, without headers and warnings", 0},
	{"verbose", 'v', NULL, 0, "Show addresses, paths and parameters (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS('s', struct report, sums.keys.sort),
	OPTION_SETS('F', struct report, sums.keys.fields),
	OPTION_SETS(OPT_CHILDREN, struct report, sums.keys.children),
	OPTION_CLEARS(OPT_NO_CHILDREN, struct report, sums.keys.children),
	OPTION_SETS(OPT_INLINE, struct report, recording.inlines),
	OPTION_CLEARS(OPT_NO_INLINE, struct report, recording.inlines),
	OPTION_SETS(OPT_FULL_SOURCE_PATH, struct report, sums.full_paths),
	OPTION_SETS('G', struct report, inverted),
	OPTION_SETS('n', struct report, sums.keys.show_nr_samples),
	OPTION_SETS(OPT_SHOW_TOTAL_PERIOD, struct report, sums.keys.show_total_period),
	OPTION_SETS(OPT_SHOW_CPU_UTILIZATION, struct report, sums.keys.show_cpu_utilization),
	OPTION_SETS('d', struct report,
		    recording.filter.dsos), /* the letter is perf report's only */
	OPTION_SETS('p', struct report, sums.parent),
	OPTION_SETS(OPT_IGNORE_CALLEES, struct report, sums.ignore_callees),
	OPTION_SETS('x', struct report, sums.exclude_other),
	OPTION_SETS('H', struct report, sums.keys.hierarchy),
	OPTION_SETS('U', struct report, sums.hide_unresolved),
	OPTION_SETS(OPT_HEADER, struct report, header),
	OPTION_SETS(OPT_HEADER_ONLY, struct report, header_only),
	OPTION_SETS('I', struct report, topology),
	OPTION_SETS('D', struct report, dump),
	OPTION_SETS(OPT_STATS, struct report, stats),
	OPTION_SETS(OPT_TASKS, struct report, tasks),
	OPTION_SETS(OPT_MMAPS, struct report, mmaps),
	OPTION_SETS('T', struct report, threads),
	OPTION_SETS(OPT_TOTAL_CYCLES, struct report, sums.keys.blocks),
	OPTION_SETS(OPT_IGNORE_VMLINUX, struct report, recording.ignore_vmlinux),
	OPTION_SETS(OPT_MEM_MODE, struct report, sums.keys.accesses),
	OPTION_SETS(OPT_LATENCY, struct report, sums.keys.prefer_latency),
	OPTION_SETS(OPT_PARALLELISM, struct report, recording.filter.parallelism),
	OPTION_SETS(OPT_NS, struct report, sums.nanoseconds),
	OPTION_CLEARS(OPT_SKIP_EMPTY, struct report, sums.show_empty),
	OPTION_SETS(OPT_BRANCH_HISTORY, struct report, sums.keys.branch_history),
	OPTION_SETS(OPT_REF_CALL_GRAPH, struct report, sums.ref_chains),
	OPTION_SETS(OPT_RAW_TRACE, struct report, sums.keys.raw_trace),
	OPTION_SETS(OPT_STDIO, struct report, stdio),
	OPTION_SETS(OPT_TUI, struct report, tui),
	OPTION_SETS(OPT_NO_SKIP_EMPTY, struct report, sums.show_empty),
	OPTION_SETS('q', struct report, text.quiet),
	OPTION_SETS('v', struct report, verbose),
	{0},
};

static bool is_text(const struct report *rp)
{
	return !rp->export.json && !rp->export.csv && !rp->export.folded;
}

/* "-g WORDS" means "-gWORDS", as perf has it; argp knows only the latter. */
static const char *call_graph_words(struct argp_state *state, const char *arg)
{
	const char *option = state->argv[state->next - 1];
	const char *next = state->next < state->argc ? state->argv[state->next] : NULL;

	if (!arg && next && *next != '-' &&
	    (!strcmp(option, "-g") || !strcmp(option, "--call-graph"))) {
		state->next++;
		arg = next;
	}
	return arg && *arg ? arg : "graph,0.5,caller,function,percent";
}

static struct error *parse_percent_limit(struct report *rp, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0))
		return error_usage("--percent-limit: '%s' is not a number", text);
	rp->sums.table.least_percent = rp->sums.chain.min_percent = percent;
	return NULL;
}

/* "100ms"; a number alone is of nanoseconds, as in perf. */
static struct error *parse_time_quantum(struct report *rp, const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	unsigned long number;
	int used = 0;

	if (sscanf(text, "%9lu%n", &number, &used) == 1 && number && text[0] != '-')
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			if (strcmp(text + used, units[i].name))
				continue;
			rp->sums.time_quantum = number * units[i].ns;
			return NULL;
		}
	return error_hint(error_usage("--time-quantum: '%s' is not a time", text),
			  "write a number and a unit: 10ms, 500us");
}

static struct error *parse_call_graph(struct report *rp, const char *text)
{
	TRY(chain_opts_parse(text, &rp->sums.chain, &rp->order_given));
	rp->sums.needs_chains = rp->sums.chain.mode != CHAIN_NONE;
	rp->sums.no_chains |= !rp->sums.needs_chains;
	return NULL;
}

/* What is printed instead of the tables; NULL: they are. */
static const char *instead(const struct report *rp)
{
	return rp->dump	   ? "--dump-raw-trace"
	       : rp->stats ? "--stats"
	       : rp->tasks ? "--tasks"
	       : rp->mmaps ? "--mmaps"
			   : NULL;
}

static void check_options(struct argp_state *state, const struct report *rp)
{
	if (rp->export.json + rp->export.csv + rp->export.folded > 1)
		argp_error(state, "choose one of --json, --csv and --folded");
	if (instead(rp) && (!is_text(rp) || rp->export.html || rp->export.pprof))
		argp_error(state,
			   "%s cannot be used with --json, --csv, --folded, --html or --pprof",
			   instead(rp));
	if (rp->threads && (!is_text(rp) || instead(rp)))
		argp_error(state, "--threads cannot be used with %s",
			   is_text(rp) ? instead(rp) : "--json, --csv or --folded");
	if (rp->sums.keys.blocks && (rp->export.folded || rp->export.html || rp->export.pprof ||
				     rp->sums.keys.hierarchy || rp->branches == NO_BRANCHES))
		argp_error(state, "--total-cycles cannot be used with --folded, --html, --pprof, "
				  "--hierarchy or --no-branch-stack");
	if (rp->sums.keys.accesses && (rp->branches == BRANCHES || rp->sums.keys.blocks))
		argp_error(state,
			   "--mem-mode cannot be used with --branch-stack or --total-cycles");
	if (rp->sums.keys.branch_history &&
	    (rp->branches == BRANCHES || rp->sums.keys.blocks || rp->sums.keys.accesses ||
	     rp->sums.keys.hierarchy || rp->sums.ignore_callees))
		argp_error(state, "--branch-history cannot be used with --branch-stack, "
				  "--total-cycles, --mem-mode, --hierarchy or --ignore-callees");
	if (rp->sums.keys.hierarchy && rp->sums.keys.fields)
		argp_error(state, "--hierarchy and --fields cannot be used together");
	if (is_text(rp))
		return;
	if (rp->header && !rp->header_only)
		argp_error(state, "--header cannot be used with --json, --csv or --folded; "
				  "--header-only prints the header alone");
	if (rp->text.separator || rp->text.widths)
		argp_error(state, "--field-separator and --column-widths cannot be used "
				  "with --json, --csv or --folded");
}

static uint64_t small_number(struct argp_state *state, const char *option, const char *arg)
{
	uint64_t number;

	if (!option_number(arg, UINT16_MAX, &number))
		argp_error(state, "%s: '%s' is not a number", option, arg);
	return number;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report *rp = state->input;
	struct error *err = NULL;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &rp->recording;
		state->child_inputs[1] = &rp->export;
		state->child_inputs[2] = &rp->code;
		return 0;
	case ARGP_KEY_END:
		check_options(state, rp);
		return 0;
	case 'g':
		err = parse_call_graph(rp, call_graph_words(state, arg));
		break;
	case OPT_NO_CALL_GRAPH:
		err = parse_call_graph(rp, "none");
		break;
	case OPT_PERCENT_LIMIT:
		err = parse_percent_limit(rp, arg);
		break;
	case OPT_TIME_QUANTUM:
		err = parse_time_quantum(rp, arg);
		break;
	case OPT_PERCENTAGE:
		if (strcmp(arg, "relative") && strcmp(arg, "absolute"))
			err = error_usage("--percentage: '%s' is neither relative nor absolute",
					  arg);
		rp->sums.table.relative = arg[0] == 'r';
		break;
	case OPT_GROUP_SORT_IDX:
		rp->sums.group_sort = (size_t)small_number(state, "--group-sort-idx", arg);
		break;
	case OPT_SAMPLES:
		rp->sums.n_samples = (uint32_t)small_number(state, "--samples", arg);
		break;
	case OPT_SOCKET_FILTER:
		rp->sums.socket = (int32_t)small_number(state, "--socket-filter", arg);
		rp->sums.has_socket = true;
		rp->text.socket = arg;
		break;
	case 'm':
		break;
	case OPT_STDIO_COLOR:
		if (strcmp(arg, "never") && strcmp(arg, "auto"))
			err = error_hint(error_usage("--stdio-color: text has no colors"),
					 "the browser has some: report --tui");
		break;
	case OPT_PRETTY:
		if (strcmp(arg, "normal") && strcmp(arg, "raw"))
			err = error_usage("--pretty: '%s' is neither normal nor raw", arg);
		rp->raw = arg[0] == 'r';
		break;
	case OPT_SYMBOL_FILTER:
	case ARGP_KEY_ARG:
		if (rp->sums.symbol_filter)
			err = error_usage("only one symbol filter is supported: '%s'", arg);
		rp->sums.symbol_filter = arg;
		break;
	case 't':
		if (!*arg || !strcmp(arg, "."))
			err = error_usage("--field-separator: '%s' cannot separate fields", arg);
		rp->text.separator = arg;
		break;
	case 'w':
		err = perf_text_check_widths(arg);
		rp->text.widths = arg;
		break;
	case 'b':
		rp->branches = BRANCHES;
		break;
	case OPT_NO_BRANCH_STACK:
		rp->branches = NO_BRANCHES;
		break;
	case OPT_GROUP:
		rp->sums.groups = GROUPS_ALL;
		break;
	case OPT_NO_GROUP:
		rp->sums.groups = GROUPS_NONE;
		break;
	default:
		return option_set(members, key, arg, rp) ? 0 : ARGP_ERR_UNKNOWN;
	}
	if (err)
		exit(cmd_fail(error_mark_usage(err)));
	return 0;
}

static const struct argp_child children[] = {
	RECORDING_CHILD,
	{&export_argp, 0, NULL, 0},
	CODE_CHILD,
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.children = children,
	.args_doc = "[SYMBOL-FILTER]",
	.doc = "Summarize a recording by command, binary and function.",
};

/* What several options come to together. */
static void combine_options(struct report *rp)
{
	struct summary_opts *sums = &rp->sums;
	const struct hist_spec_opts *keys = &sums->keys;

	rp->log = cmd_log(rp->verbose > 1 ? rp->verbose - 1 : 0);
	if (rp->text.quiet)
		rp->log.write = NULL;
	if (rp->inverted || (keys->children && !rp->order_given))
		sums->chain.caller = true;
	if (keys->branch_history) {
		sums->chain.order = STACK_BY_ADDRESS;
		if (!keys->sort)
			sums->keys.sort = "srcline,symbol,dso,callchain_branch_predicted,"
					  "callchain_branch_abort,callchain_branch_cycles";
	}
	sums->long_dso = sums->table.origins = rp->text.verbose = rp->verbose > 0;
	rp->recording.parameters = rp->verbose > 0;
	sums->table.stacks = !is_text(rp) || rp->export.html || rp->export.pprof;
	sums->table.wide_dso =
		!rp->text.widths && !rp->text.separator && !rp->recording.filter.dsos;
	sums->counts = rp->threads ? &rp->counts : NULL;
	sums->max_stack = rp->recording.max_stack;
	sums->parallelism = rp->recording.filter.parallelism;
	rp->recording.lines = sums->chain.order != STACK_BY_FUNCTION;
	rp->text.chain = &sums->chain;
	rp->text.times = rp->recording.filter.time;
	rp->text.first_frame_is_known =
		keys->sort && !keys->fields && !strncmp(keys->sort, "sym", 3);
}

static void print_head(const struct report *rp, const struct opened_recording *r,
		       struct strbuf *out)
{
	if (rp->text.quiet || !(is_text(rp) || rp->header_only))
		return;
	if (rp->header || rp->header_only)
		print_header(session_header(r->session), r->path, rp->topology, out);
	else if (!rp->stats)
		strbuf_adds(out, "# To display the perf.data header info, please use "
				 "--header/--header-only options.\n#\n");
}

static struct error *write_out(const struct strbuf *out)
{
	if (strbuf_failed(out))
		return error_nomem();
	if (fwrite(strbuf_str(out), 1, out->len, stdout) != out->len || fflush(stdout))
		return error_errno(errno ? errno : EIO, "cannot write the report");
	return NULL;
}

static struct error *print_results(struct report *rp, const struct opened_recording *r,
				   struct summary *summary, struct strbuf *out)
{
	_cleanup_results_ struct results results = {0};
	_cleanup_(csv_deinit) struct csv csv = {0};
	const bool any = summary_n_entries(summary);

	TRY(summary_results(summary, &results));
	if (is_text(rp))
		perf_text_only(&results, out);
	if (!any && !rp->text.quiet)
		fprintf(stderr, "perf-bpf: %s has no samples\n", r->path);
	/* first, since nobody may be reading what is printed */
	TRY(export_recording(&rp->export, r, &results));
	if (!export_print(&rp->export, &results, true, &csv, out) && any)
		TRY(perf_text(&results, &rp->text, write_out, out));
	if (rp->threads && rp->counts.counts.n)
		TRY(read_counts_print(&rp->counts, rp->raw, out));
	else if (rp->threads)
		log_warn(&rp->log,
			 "%s has no counts of threads; record --stat writes them when a thread or "
			 "child ends",
			 r->path);
	if (is_text(rp) && rp->sums.keys.branches)
		summary_print_branches(summary, out);
	return NULL;
}

/* Instead of the tables. */
static struct error *dump(const struct report *rp, const struct opened_recording *r,
			  const struct summary *summary)
{
	_cleanup_results_ struct results none = {0};
	_cleanup_strbuf_ struct strbuf head = STRBUF_INIT;
	struct field_choice fields;

	signal(SIGPIPE, SIG_IGN);
	field_choice_init(&fields);
	print_head(rp, r, &head);
	summary_only(summary, &none);
	perf_text_only(&none, &head);
	if (strbuf_failed(&head))
		return error_nomem();
	return script_print(&(struct script_opts){
		.sz = sizeof(struct script_opts),
		.recording = r,
		.fields = &fields,
		.hide_chain = true,
		.dump = rp->dump ? DUMP_REPORT : DUMP_STATS,
		.count_empty = rp->sums.show_empty,
		.dump_features = rp->header || rp->topology,
		.topology = rp->topology,
		.head = strbuf_str(&head),
		.write = recording_write_out,
	});
}

/* Also instead of the tables, of all threads whatever a filter selects. */
static struct error *show_tasks(const struct report *rp, const struct opened_recording *r)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct session_tool none = {0};

	signal(SIGPIPE, SIG_IGN);
	/* What was read before the damage is still worth a tree. */
	struct error *damage = session_process(r->session, &none);
	if (damage && damage->code != EBADMSG)
		return damage;
	if (!damage)
		damage = session_check_complete(r->session, r->path);
	session_warn_of_losses(r->session, r->path, &rp->log);
	if (rp->header)
		print_header(session_header(r->session), r->path, rp->topology, &out);
	struct error *err = print_tasks(r->session, rp->mmaps, &out);
	if (!err)
		err = recording_write_out(NULL, &out);
	return error_either(err == SESSION_STOP ? NULL : err, damage);
}

/*
 * Whether the results are for a browser: where perf has one, and nothing else than the tables is
 * asked for.
 */
static bool wants_browser(const struct report *rp)
{
	const bool tables_only = is_text(rp) && !instead(rp) && !rp->header_only && !rp->threads &&
				 !rp->sums.keys.blocks && !rp->text.separator && !rp->export.html &&
				 !rp->export.pprof;

	if (rp->stdio || !tables_only)
		return false;
	return rp->tui || !(rp->header || rp->topology || rp->text.quiet ||
			    (rp->recording.input && !strcmp(rp->recording.input, "-")));
}

/* The browser shows the code of functions: their addresses are counted on the way. */
static struct error *count_address(void *ctx, const struct session_event *event,
				   const struct location *at, const struct sample *sample)
{
	return annotator_add(ctx, event, at, sample->period);
}

static struct error *annotator_of(struct report *rp, const struct opened_recording *r,
				  struct annotator **out)
{
	const struct annotator_opts opts = {
		.sz = sizeof(opts),
		.recording = r,
		.groups = rp->sums.groups,
		.source = !rp->code.no_source,
		.raw = rp->code.raw,
		.intel = rp->code.intel,
		.prefix = rp->code.prefix,
		.places = true,
	};

	TRY(annotator_new(&opts, out));
	rp->sums.each = count_address;
	rp->sums.each_ctx = *out;
	return NULL;
}

static struct error *browse_results(struct report *rp, const struct opened_recording *r,
				    struct summary *summary, struct annotator *annotator,
				    struct tty *tty)
{
	const struct sample_context_opts context = {
		.recording = &rp->recording,
		.around = rp->around,
	};
	const struct report_browse_opts opts = {
		.tty = tty,
		.log = &rp->log,
		.context = rp->sums.n_samples ? &context : NULL,
		.recording = r,
		.annotator = annotator,
		.summary = summary,
		.sums = &rp->sums,
		.text = &rp->text,
		.chain = &rp->browser_chain,
		.command = "report",
		.look = {.percent = rp->code.percent},
	};

	TRY(annotator_end(annotator));
	rp->browser_chain = rp->sums.chain;
	rp->text.chain = &rp->browser_chain;
	return report_browse(&opts);
}

/* Where perf counts branches if not told otherwise: it does not unwind copied stacks for them. */
static bool counts_branches(const struct report *rp, const struct opened_recording *r)
{
	bool counts = data_has_feature(session_header(r->session), DATA_BRANCH_STACK);

	if (rp->sums.keys.accesses || rp->sums.keys.branch_history)
		return false;
	if (rp->branches != BRANCHES_OF_RECORDING || rp->sums.keys.blocks)
		return rp->branches == BRANCHES || rp->sums.keys.blocks;
	for (size_t i = 0; i < session_n_events(r->session); i++)
		counts &=
			!(session_event(r->session, i)->attr.sample_type & PERF_SAMPLE_STACK_USER);
	return counts;
}

static struct error *report_run(struct report *rp)
{
	_cleanup_(tty_freep) struct tty *tty = NULL;
	_cleanup_recording_ struct opened_recording r = {0};
	_cleanup_(annotator_freep) struct annotator *annotator = NULL;
	_cleanup_(summary_freep) struct summary *summary = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *err = NULL, *damage = NULL;

	TRY(export_check(&rp->export));
	if (wants_browser(rp))
		TRY(report_browse_terminal(&tty));
	if (tty && rp->sums.n_samples)
		TRY(sample_context_configure(&rp->log, &rp->around));
	rp->sums.keeps = rp->recording.interactive = rp->recording.code = tty;
	rp->recording.lines |= rp->sums.keeps;
	rp->recording.outputs[0] = rp->export.html;
	rp->recording.outputs[1] = rp->export.pprof;
	TRY(recording_open(&rp->recording, &rp->log, &r));
	if ((rp->tasks || rp->mmaps) && !rp->dump && !rp->stats && !rp->header_only)
		return show_tasks(rp, &r);
	rp->sums.sz = sizeof(rp->sums);
	rp->sums.recording = &r;
	rp->sums.keys.branches = counts_branches(rp, &r);
	if (tty)
		TRY(annotator_of(rp, &r, &annotator));
	TRY(summary_new(&rp->sums, &summary));
	if ((rp->dump || rp->stats) && !rp->header_only)
		return dump(rp, &r, summary);
	/* The records of a pipe say what the header of a file says. */
	const bool is_pipe = session_header(r.session)->pipe;
	if (!is_pipe)
		print_head(rp, &r, &out);
	if (!rp->header_only || is_pipe) {
		/* What was read before the damage is still worth a report. */
		damage = summary_read(summary);
		if (damage && (damage->code != EBADMSG || !summary_n_entries(summary)))
			return damage;
		if (!damage)
			damage = session_check_complete(r.session, r.path);
		if (is_pipe)
			print_head(rp, &r, &out);
	} else {
		damage = session_check_complete(r.session, r.path);
	}
	if (!rp->header_only) {
		session_warn_of_losses(r.session, r.path, &rp->log);
		summary_warn_of_stacks(summary);
		if (tty && summary_n_entries(summary))
			return error_either(browse_results(rp, &r, summary, annotator, tty),
					    damage);
		err = print_results(rp, &r, summary, &out);
	}
	if (!err)
		err = write_out(&out);
	return error_either(err, damage);
}

int cmd_report(int argc, char **argv)
{
	struct report rp = {
		.recording.inlines = true,
		.sums = {.keys.children = true, .chain = {.mode = CHAIN_GRAPH, .min_percent = 0.5}},
	};

	if (cmd_parse(&argp, argc, argv, 0, NULL, &rp))
		return 2;
	combine_options(&rp);
	struct error *err = report_run(&rp);
	read_counts_deinit(&rp.counts);
	return err ? cmd_fail(err) : 0;
}
