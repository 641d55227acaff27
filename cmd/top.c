// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf top: what runs now, by binary and function. On a terminal in the browser that report
 * has, else as a table each time.
 */
#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/browse.h"
#include "cmd/cmd.h"
#include "cmd/code_options.h"
#include "cmd/config.h"
#include "cmd/job.h"
#include "cmd/demangling.h"
#include "cmd/kernel_code.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "cmd/streams.h"
#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "perf/top/live_profile.h"
#include "show/perf_text.h"
#include "work/cpu_watch.h"

enum {
	OPT_STDIO = 256,
	OPT_TUI,
	OPT_CALL_GRAPH,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_COMMS,
	OPT_DSOS,
	OPT_SYMBOLS,
	OPT_FIELDS,
	OPT_FILTER,
	OPT_KALLSYMS,
	OPT_MAX_STACK,
	OPT_NO_DEMANGLE,
	OPT_DEMANGLE_KERNEL,
	OPT_PERCENTAGE,
	OPT_PERCENT_LIMIT,
	OPT_SHOW_TOTAL_PERIOD,
	OPT_IGNORE_CALLEES,
	OPT_ALL_CGROUPS,
	OPT_GROUP,
	OPT_GROUP_SORT_IDX,
	OPT_SWITCH_ON,
	OPT_SWITCH_OFF,
	OPT_SHOW_ON_OFF,
	OPT_IGNORE_VMLINUX,
	OPT_FORCE,
	OPT_NAMESPACES,
	OPT_NO_BPF_EVENT,
	OPT_SKIP_EMPTY,
	OPT_NUM_THREAD_SYNTHESIZE,
	DEFAULT_ENTRIES = 20,
};

static const struct argp_option options[] = {
	{"event", 'e', "EVENT", 0,
	 "Sample this event, as record -e; a comma-separated list; may be repeated", 0},
	{"filter", OPT_FILTER, "FILTER", 0,
	 "Filter the events of the preceding -e: tracepoints by their fields, others by fields of "
	 "the sample ('period > 1000, cpu == 1')",
	 0},
	{"all-cpus", 'a', NULL, 0, "Sample all processes on all CPUs: the default", 0},
	{"cpu", 'C', "LIST", 0, "Sample on these CPUs only: 0,2-3", 0},
	{"pid", 'p', "PID", 0, "Sample these processes: comma-separated", 0},
	{"tid", 't', "TID", 0, "Sample these threads: comma-separated", 0},
	{"uid", 'u', "USER", 0,
	 "Sample the processes that these users have now: names or ids, comma-separated", 0},
	{"cgroup", 'G', "PATH", 0, "Sample these cgroups and their descendants: comma-separated",
	 0},
	{"all-cgroups", OPT_ALL_CGROUPS, NULL, 0,
	 "Record the cgroup of each sample, for the sort keys that use it", 0},
	{"count", 'c', "N", 0, "Take a sample every N events", 0},
	{"freq", 'F', "HZ", 0, "Take HZ samples per second (4000); 'max' uses the kernel's limit",
	 0},
	{NULL, 'g', NULL, 0, "Sample call chains, and show them", 0},
	{"call-graph", OPT_CALL_GRAPH, "MODE[,PRINT]", 0,
	 "Sample call chains: fp (frame pointers) or dwarf[,BYTES] (copies of the stack); then how "
	 "they are shown, as report -g",
	 0},
	{"children", OPT_CHILDREN, NULL, 0,
	 "Accumulate the period of callees in callers (default with call chains)", 0},
	{"no-children", OPT_NO_CHILDREN, NULL, 0, "Count a sample only for its innermost function",
	 0},
	{"no-inherit", 'i', NULL, 0, "Do not sample child tasks", 0},
	{"mmap-pages", 'm', "PAGES", 0, "Ring size in pages, or a size such as 512K or 4M", 0},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Show at most N entries of a call chain (127)", 0},
	{"sort", 's', "KEY,...", 0, "Sort by KEYS (default dso,symbol); +KEY adds to the default",
	 0},
	{"fields", OPT_FIELDS, "KEY,...", 0, "Show these columns; +KEY adds to the default", 0},
	{"hierarchy", 'H', NULL, 0, "Show a level of rows for each sort key", 0},
	{"show-nr-samples", 'n', NULL, 0, "Show the number of samples", 0},
	{"show-total-period", OPT_SHOW_TOTAL_PERIOD, NULL, 0, "Show the sum of periods", 0},
	{"ignore-callees", OPT_IGNORE_CALLEES, "REGEX", 0,
	 "Count the callees of functions that match REGEX for these functions", 0},
	{"comms", OPT_COMMS, "COMM,...", 0, "Show only threads with these names", 0},
	{"dsos", OPT_DSOS, "DSO,...", 0, "Show only these binaries", 0},
	{"symbols", OPT_SYMBOLS, "SYMBOL,...", 0, "Show only these functions", 0},
	{"hide_kernel_symbols", 'K', NULL, 0, "Hide samples of the kernel", 0},
	{"hide_user_symbols", 'U', NULL, 0, "Hide samples of user space", 0},
	{"count-filter", 'f', "N", 0, "Show only rows with at least N samples", 0},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Show percentages relative to what is shown, or of all samples (default absolute)", 0},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0, "Hide rows below PERCENT", 0},
	{"delay", 'd', "SECONDS", 0, "Show new results every SECONDS (2)", 0},
	{"zero", 'z', NULL, 0, "Show only the samples of the last interval", 0},
	{"entries", 'E', "N", 0, "With --stdio, print N rows (20)", 0},
	{"column-widths", 'w', "N,...", 0, "With --stdio, set the column widths", 0},
	{"vmlinux", 'k', "FILE", 0, "Read the kernel's symbols from this image", 0},
	{"kallsyms", OPT_KALLSYMS, "FILE", 0, "Read the kernel's symbols from FILE", 0},
	{"ignore-vmlinux", OPT_IGNORE_VMLINUX, NULL, 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"group", OPT_GROUP, NULL, 0, "Sample all events as one group, with a column for each", 0},
	{"group-sort-idx", OPT_GROUP_SORT_IDX, "N", 0,
	 "Sort by the event N of a group, counted from 0", 0},
	{"switch-on", OPT_SWITCH_ON, "EVENT", 0,
	 "Start counting samples when this event occurs, also again after --switch-off", 0},
	{"switch-off", OPT_SWITCH_OFF, "EVENT", 0,
	 "Stop counting samples when this event occurs, until --switch-on", 0},
	{"show-on-off-events", OPT_SHOW_ON_OFF, NULL, 0,
	 "Also count the samples of the --switch-on and --switch-off events", 0},
	{"force", OPT_FORCE, NULL, 0, "Accepted for compatibility with perf; has no effect", 0},
	{"namespaces", OPT_NAMESPACES, NULL, 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"no-bpf-event", OPT_NO_BPF_EVENT, NULL, 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"skip-empty", OPT_SKIP_EMPTY, NULL, 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"num-thread-synthesize", OPT_NUM_THREAD_SYNTHESIZE, "N", 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"demangle-kernel", OPT_DEMANGLE_KERNEL, NULL, 0,
	 "Demangle C++ and Rust names of the kernel", 0},
	{"no-demangle", OPT_NO_DEMANGLE, NULL, 0, "Do not demangle C++ and Rust names", 0},
	{"realtime", 'r', "PRIORITY", 0,
	 "Read the rings as a realtime process (SCHED_FIFO) of this priority, 1 to 99", 0},
	{"tui", OPT_TUI, NULL, 0, "Show the results interactively: the default on a terminal", 0},
	{"stdio", OPT_STDIO, NULL, 0, "Print tables, also on a terminal", 0},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0},
	{0},
};

struct top_args {
	struct live_profile_opts profile;
	VEC(struct record_arg) list;
	const char *widths;
	struct code_opts code;
	bool tui, stdio, zero, no_kernel, no_user, order_given;
	double delay;
	uint64_t entries, least_samples;
	int verbose;
};

static const struct option_member members[] = {
	OPTION_SETS('a', struct top_args, profile.record.all_cpus),
	OPTION_SETS('C', struct top_args, profile.record.cpus),
	OPTION_SETS('p', struct top_args, profile.record.pids),
	OPTION_SETS('t', struct top_args, profile.record.tids),
	OPTION_SETS('u', struct top_args, profile.record.users),
	OPTION_SETS('G', struct top_args, profile.record.cgroups.cgroups),
	OPTION_SETS(OPT_ALL_CGROUPS, struct top_args, profile.record.all_cgroups),
	OPTION_SETS('i', struct top_args, profile.record.no_inherit),
	OPTION_SETS('s', struct top_args, profile.sums.keys.sort),
	OPTION_SETS(OPT_FIELDS, struct top_args, profile.sums.keys.fields),
	OPTION_SETS('H', struct top_args, profile.sums.keys.hierarchy),
	OPTION_SETS('n', struct top_args, profile.sums.keys.show_nr_samples),
	OPTION_SETS(OPT_SHOW_TOTAL_PERIOD, struct top_args, profile.sums.keys.show_total_period),
	OPTION_SETS(OPT_IGNORE_CALLEES, struct top_args, profile.sums.ignore_callees),
	OPTION_SETS(OPT_CHILDREN, struct top_args, profile.sums.keys.children),
	OPTION_CLEARS(OPT_NO_CHILDREN, struct top_args, profile.sums.keys.children),
	OPTION_SETS(OPT_GROUP, struct top_args, profile.record.one_group),
	OPTION_SETS(OPT_SWITCH_ON, struct top_args, profile.filter.switch_on),
	OPTION_SETS(OPT_SWITCH_OFF, struct top_args, profile.filter.switch_off),
	OPTION_SETS(OPT_SHOW_ON_OFF, struct top_args, profile.filter.show_on_off),
	OPTION_SETS(OPT_COMMS, struct top_args, profile.filter.comms),
	OPTION_SETS(OPT_DSOS, struct top_args, profile.filter.dsos),
	OPTION_SETS(OPT_SYMBOLS, struct top_args, profile.filter.symbols),
	OPTION_SETS('K', struct top_args, no_kernel),
	OPTION_SETS('U', struct top_args, no_user),
	OPTION_SETS('z', struct top_args, zero),
	OPTION_SETS('k', struct top_args, profile.vmlinux),
	OPTION_SETS(OPT_KALLSYMS, struct top_args, profile.kallsyms),
	OPTION_SETS(OPT_DEMANGLE_KERNEL, struct top_args, profile.demangle_kernel),
	OPTION_SETS(OPT_NO_DEMANGLE, struct top_args, profile.no_demangle),
	OPTION_SETS(OPT_IGNORE_VMLINUX, struct top_args, profile.ignore_vmlinux),
	OPTION_SETS(OPT_TUI, struct top_args, tui),
	OPTION_SETS(OPT_STDIO, struct top_args, stdio),
	OPTION_SETS('v', struct top_args, verbose),
	{0},
};

static void add_arg(struct argp_state *state, enum record_arg_kind kind, const char *text)
{
	struct top_args *args = state->input;
	struct record_arg *arg = vec_push(&args->list);

	if (!arg)
		argp_failure(state, 1, ENOMEM, "options");
	*arg = (struct record_arg){.kind = kind, .text = text};
}

static uint64_t number(struct argp_state *state, const char *name, const char *arg, uint64_t least,
		       uint64_t most)
{
	uint64_t v;

	if (!option_number(arg, most, &v) || v < least)
		argp_error(state, "%s: '%s' is not a number from %llu on", name, arg,
			   (unsigned long long)least);
	return v;
}

static double fraction(struct argp_state *state, const char *name, const char *arg, double least)
{
	char *end;
	const double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= least && v <= 86400))
		argp_error(state, "%s: '%s' is not a number from %g on", name, arg, least);
	return v;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !strncmp(text, word, n);
}

/* As perf, "dwarf,16384,graph,1": how chains are sampled, then how they are shown; or one of both.
 */
static struct error *parse_call_graph(struct top_args *args, const char *text)
{
	const size_t first = strcspn(text, ",");
	struct live_profile_opts *p = &args->profile;
	size_t n = 0; /* bytes of how they are sampled */

	if (is_word(text, first, "fp") || is_word(text, first, "lbr")) {
		n = first;
	} else if (is_word(text, first, "dwarf")) {
		const char *size = text + first + !!text[first];
		const size_t digits = strspn(size, "0123456789");

		n = digits && (!size[digits] || size[digits] == ',') ? first + 1 + digits : first;
	}
	_cleanup_free_ char *mode = strndup(text, n);
	if (!mode)
		return error_nomem();
	TRY(select_callgraph_parse(n ? mode : NULL, &p->record.callgraph, &p->record.stack_size));
	const char *shown = text + n + (n && text[n]);
	return *shown ? chain_opts_parse(shown, &p->sums.chain, &args->order_given) : NULL;
}

/* Of errors that name the option. */
static void check(struct error *err)
{
	if (err)
		exit(cmd_fail(error_mark_usage(err)));
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct top_args *args = state->input;
	struct live_profile_opts *p = &args->profile;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->code;
		return 0;
	case 'e':
		add_arg(state, RECORD_EVENTS, arg);
		return 0;
	case OPT_FILTER:
		add_arg(state, RECORD_FILTER, arg);
		return 0;
	case 'c':
		p->record.period = option_period(state, arg);
		return 0;
	case 'F':
		p->record.freq = option_frequency(state, arg);
		return 0;
	case 'g':
		check(select_callgraph_parse(NULL, &p->record.callgraph, NULL));
		return 0;
	case OPT_CALL_GRAPH:
		check(parse_call_graph(args, arg));
		return 0;
	case 'r':
		p->record.realtime = option_realtime(state, arg);
		return 0;
	case 'w':
		check(perf_text_check_widths(arg));
		args->widths = arg;
		return 0;
	case 'm':
		option_check(state, "-m",
			     record_pages_parse(arg, sysconf(_SC_PAGESIZE), &p->record.mmap_pages));
		return 0;
	case OPT_MAX_STACK:
		p->sums.max_stack = (unsigned)number(state, "--max-stack", arg, 1, UINT_MAX);
		return 0;
	case 'f':
		args->least_samples = number(state, "-f", arg, 0, UINT64_MAX);
		return 0;
	case 'E':
		args->entries = number(state, "-E", arg, 1, UINT32_MAX);
		return 0;
	case 'd':
		args->delay = fraction(state, "-d", arg, 0.1);
		return 0;
	case OPT_GROUP_SORT_IDX:
		p->sums.group_sort = number(state, "--group-sort-idx", arg, 0, UINT16_MAX);
		return 0;
	case OPT_NUM_THREAD_SYNTHESIZE:
		number(state, "--num-thread-synthesize", arg, 1, UINT16_MAX);
		return 0;
	case OPT_FORCE:
	case OPT_NAMESPACES:
	case OPT_NO_BPF_EVENT:
	case OPT_SKIP_EMPTY:
		return 0;
	case OPT_PERCENT_LIMIT:
		p->sums.table.least_percent = p->sums.chain.min_percent =
			fraction(state, "--percent-limit", arg, 0);
		return 0;
	case OPT_PERCENTAGE:
		if (strcmp(arg, "relative") && strcmp(arg, "absolute"))
			argp_error(state, "--percentage: '%s' is neither relative nor absolute",
				   arg);
		p->sums.table.relative = arg[0] == 'r';
		return 0;
	}
	return option_set(members, key, arg, args) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {CODE_CHILD, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.children = children,
	.doc = "Show the most active functions, continuously updated.",
};

struct top {
	const struct top_args *args;
	struct loop *loop;
	struct live_profile *profile;
	struct keeper *keeper;		 /* of the next two */
	struct kernel_code *kernel_code; /* NULL: nobody can read it */
	struct demangler *demangler;
	struct tty *tty;	 /* NULL: tables are printed */
	struct browser *browser; /* of tty */
	struct browse *browse;
	struct perf_text_opts text;
	struct chain_opts chain;
	struct results results;
	struct summary_view view;
	struct live_profile_counts before; /* when the last table was printed */
	uint64_t time;			   /* likewise */
	int timer;
	bool watches; /* a function, whose code is shown */
	bool closed;  /* nobody reads the output */
};

/* ---- what is shown ---- */

static void forget_results(struct top *top)
{
	results_deinit(&top->results);
	top->results = (struct results){0};
}

static struct error *make_results(struct top *top)
{
	return live_profile_show(top->profile, &top->view, &top->results);
}

/* Losses, and samples for which there was no room; since: those before are omitted. */
static void add_losses(const struct live_profile_counts *now,
		       const struct live_profile_counts *since, struct strbuf *out)
{
	const uint64_t thinned = now->thinned - since->thinned;

	strbuf_addf(out, "%" PRIu64 "%s lost", now->lost.samples - since->lost.samples,
		    now->lost.accuracy == LOST_NOT_COUNTED ? " or more" : "");
	if (now->lost.sideband > since->lost.sideband)
		strbuf_addf(out, ", %" PRIu64 " side-band records (comm, mmap, fork, exit) lost",
			    now->lost.sideband - since->lost.sideband);
	if (thinned)
		strbuf_addf(out, ", %" PRIu64 " omitted", thinned);
	if (now->offline_ns > since->offline_ns)
		strbuf_addf(out, ", CPUs offline for %.1f s",
			    (double)(now->offline_ns - since->offline_ns) / 1e9);
}

/* --stdio: the rows that are wanted, below a line about the interval. */
static struct error *print_table(struct top *top)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	forget_results(top);
	TRY(make_results(top));
	const struct live_profile_counts counts = live_profile_counts(top->profile);
	const uint64_t time = clock_ns(CLOCK_MONOTONIC);
	strbuf_addf(&out, "# perf-bpf top: %" PRIu64 " samples in %.1f s, ",
		    counts.samples - top->before.samples, (double)(time - top->time) / 1e9);
	add_losses(&counts, &top->before, &out);
	strbuf_addch(&out, '\n');
	/* The kernel counts what the rings lost; their records of it, which come late, are part. */
	top->results.lost = counts.lost.samples;
	top->results.lost_unknown = counts.lost.accuracy == LOST_NOT_COUNTED;
	top->before = counts;
	top->time = time;
	for (size_t i = 0; i < top->results.n; i++) {
		struct result *r = &top->results.v[i];

		if (r->kind == RESULT_TABLE && !r->table.profile->n_levels)
			r->table.n_rows = min_of(r->table.n_rows, (size_t)top->args->entries);
	}
	TRY(perf_text(&top->results, &top->text, NULL, &out));
	if (strbuf_failed(&out))
		return error_nomem();
	TRY(cmd_write_out(strbuf_str(&out), out.len, &top->closed));
	if (top->closed)
		loop_end(top->loop);
	return NULL;
}

static struct error *set_status(struct top *top)
{
	const struct live_profile_counts counts = live_profile_counts(top->profile);
	const struct live_profile_counts none = {0};
	_cleanup_strbuf_ struct strbuf status = STRBUF_INIT;

	add_losses(&counts, &none, &status);
	return browser_set_status(top->browser, strbuf_str(&status));
}

static struct summary_view view_of(const struct browser_view *from)
{
	return (struct summary_view){
		.sort = from->sort,
		.zoom =
			{
				.comm = from->comm,
				.tid = from->tid,
				.no_kernel = from->no_kernel,
				.no_user = from->no_user,
				.dso = from->dso,
				.symbol = from->symbol,
				.has_socket = from->has_socket,
				.socket = from->socket,
				.least_samples = from->least_samples,
			},
		.symbol_filter = from->filter,
		.has_group_sort = from->has_group_sort,
		.group_sort = from->group_sort,
		/* as in perf top, what is hidden from the start is no part of all */
		.relative = from->relative || from->no_kernel || from->no_user,
		.least_percent = from->least_percent,
	};
}

static struct error *show_browser(struct top *top)
{
	TRY(browser_set_results(top->browser, NULL));
	forget_results(top);
	TRY(make_results(top));
	TRY(set_status(top));
	return browser_set_results(top->browser, &top->results);
}

/* A key has changed the view. */
static struct error *show(void *ctx)
{
	struct top *top = ctx;
	const struct browser_view *view = browser_view(top->browser);

	top->view = view_of(view);
	top->chain.min_percent = view->least_percent > 0
					 ? view->least_percent
					 : top->args->profile.sums.chain.min_percent;
	TRY(loop_timer_set(top->timer, view->delay_ms * 1000000, true));
	struct error *err = show_browser(top);
	if (!err || err->code != EINVAL)
		return err;
	/* Keys that are not known: what was shown is shown again. */
	browser_undo(top->browser);
	top->view = view_of(browser_view(top->browser));
	struct error *late = show_browser(top);
	if (!late)
		return err;
	error_free(err);
	return late;
}

/* The function whose code is shown, until a key leaves it. */
static struct error *update_code(struct top *top)
{
	const struct annotation *code;

	if (!top->watches || !browser_shows_code(top->browser)) {
		top->watches = false;
		return live_profile_watch(top->profile, 0, NULL, NULL);
	}
	struct error *err = live_profile_code(top->profile, &code);
	if (!err)
		return browser_update_annotation(top->browser, code);
	top->watches = false;
	browser_leave_code(top->browser);
	return browse_say(top->browse, error_prefix(err, "cannot show the code"));
}

/* Samples at its instructions are counted from now on. */
static struct error *annotate(void *ctx, const struct browser_choice *choice)
{
	const struct annotation *code;
	struct top *top = ctx;

	const char *function = choice->is_call ? choice->callee : choice->function;
	if (!function)
		return error_new(ENOENT, "the called function is unknown");
	if (!choice->module)
		return error_new(ENOENT, "%s is in no file", function);
	TRY(live_profile_watch(top->profile, choice->event, choice->module, function));
	TRY(error_prefix(live_profile_code(top->profile, &code), "cannot show %s", function));
	top->watches = true;
	return browser_show_annotation(top->browser, code);
}

static struct error *on_tick(void *ctx, uint32_t events)
{
	struct top *top = ctx;
	const struct browser_view *view = top->browser ? browser_view(top->browser) : NULL;
	const bool zero = view ? view->zero : top->args->zero;

	if (view && view->frozen)
		return NULL;
	if (!zero)
		live_profile_fade(top->profile, false);
	TRY(view ? show_browser(top) : print_table(top));
	if (view)
		TRY(update_code(top));
	if (zero) /* what comes until the next time is shown alone */
		live_profile_fade(top->profile, true);
	return view ? browse_draw(top->browse) : NULL;
}

/* ---- running ---- */

static struct error *open_browser(struct top *top)
{
	const struct top_args *args = top->args;
	const struct browser_opts opts = {.sz = sizeof(opts),
					  .text = &top->text,
					  .live = true,
					  .annotates = true,
					  .look = {.percent = args->code.percent},
					  .command = "top"};

	TRY(browser_new(&opts, &top->browser));
	struct browser_view *view = browser_view(top->browser);
	view->delay_ms = (uint64_t)(args->delay * 1000);
	view->zero = args->zero;
	view->no_kernel = args->no_kernel;
	view->no_user = args->no_user;
	view->least_samples = args->least_samples;
	view->least_percent = args->profile.sums.table.least_percent;
	view->relative = args->profile.sums.table.relative;
	const struct browse_opts browse_opts = {
		.tty = top->tty,
		.loop = top->loop,
		.browser = top->browser,
		.show = show,
		.annotate = annotate,
		.ctx = top,
	};
	TRY(tty_listen(top->tty));
	TRY(browse_new(&browse_opts, &top->browse));
	return browse_draw(top->browse);
}

static void log_counts(const struct top *top, const struct log *log)
{
	const struct live_profile_counts counts = live_profile_counts(top->profile);

	log_info(log,
		 "%" PRIu64 " samples, %" PRIu64 " lost, %" PRIu64 " omitted; at the end %zu "
		 "threads, %zu different samples in %zu KiB",
		 counts.samples, counts.lost.samples, counts.thinned, counts.threads, counts.stacks,
		 counts.bytes / 1024);
}

/* Processes that are forked would keep events that are open. */
static struct error *fork_others(struct top *top, const struct log *log)
{
	const struct live_profile_opts *p = &top->args->profile;

	TRY(tty_begin(top->tty));
	return p->vmlinux || p->kallsyms ? NULL
					 : kernel_code_new(top->keeper, log, &top->kernel_code);
}

static struct error *run(struct top *top, struct log *log)
{
	const struct code_opts *code = &top->args->code;
	struct live_profile_opts opts = top->args->profile;

	TRY(keeper_new(&top->keeper));
	if (top->tty)
		TRY(fork_others(top, log));
	TRY(demangling_begin(top->keeper, log, &top->demangler));
	TRY(keeper_start(top->keeper));
	opts.demangler = top->demangler;
	opts.code.shown = top->tty;
	opts.code.no_source = code->no_source;
	opts.code.raw = code->raw;
	opts.code.intel = code->intel;
	opts.code.prefix = code->prefix;
	opts.kernel_code = top->kernel_code ? kernel_code_read : NULL;
	opts.kernel_code_ctx = top->kernel_code;
	TRY(live_profile_new(&opts, top->loop, &top->profile));
	TRY(loop_timer(top->loop, on_tick, top, &top->timer));
	TRY(live_profile_start(top->profile));
	top->time = clock_ns(CLOCK_MONOTONIC);
	TRY(privileges_of_top(live_profile_opens_later(top->profile),
			      live_profile_filters_tasks(top->profile), top->kernel_code, log));
	if (top->tty && tty_has_keys(top->tty)) {
		TRY(open_browser(top));
		*log = browse_log(top->browser);
	} else {
		tty_free(steal_ptr(top->tty));
	}
	TRY(loop_timer_set(top->timer, (uint64_t)(top->args->delay * 1e9), true));
	while (!loop_ended(top->loop))
		TRY(loop_turn(top->loop, -1));
	if (!top->browser)
		log_counts(top, log);
	return NULL;
}

/* What several options come to together. */
static void combine_options(struct top_args *args, const struct log *log)
{
	struct live_profile_opts *p = &args->profile;
	struct record_opts *record = &p->record;

	p->log = record->log = log;
	record->confine_finder = privileges_of_finder;
	record->args = args->list.v;
	record->n_args = args->list.n;
	record->all_cpus |= !record->pids && !record->tids && !record->users &&
			    !cgroup_choice_any(&record->cgroups);
	if (!args->order_given)
		p->sums.chain.caller = p->sums.keys.children;
	p->sums.no_chains = p->sums.chain.mode == CHAIN_NONE;
}

static struct error *top_run(struct top_args *args, struct log *log)
{
	struct compile_opts compile = {0};
	_cleanup_config_ struct config *config = NULL;
	_cleanup_(loop_freep) struct loop *loop = NULL;
	const struct live_profile_opts *p = &args->profile;
	struct top top = {
		.args = args,
		.chain = p->sums.chain,
		.text = {.chain = &top.chain, .widths = args->widths},
		.view = {.zoom = {.no_kernel = args->no_kernel,
				  .no_user = args->no_user,
				  .least_samples = args->least_samples},
			 .relative = p->sums.table.relative || args->no_kernel || args->no_user,
			 .least_percent = p->sums.table.least_percent},
	};

	args->profile.record.compile = &compile;
	TRY(config_load_compile(log, NULL, &config, &compile));
	if (!args->stdio)
		TRY(tty_new(&top.tty));
	TRY(loop_new(&loop));
	TRY(loop_end_if_busy(loop));
	top.loop = loop;
	const struct log before = *log;
	struct error *err = run(&top, log);
	if (top.tty)
		tty_end(top.tty);
	*log = before;
	if (!err)
		cpu_watch_warn(live_profile_cpus(top.profile), log);
	browse_free(top.browse);
	browser_free(top.browser);
	results_deinit(&top.results);
	live_profile_free(top.profile);
	kernel_code_free(top.kernel_code);
	demangler_free(top.demangler);
	keeper_free(top.keeper);
	tty_free(top.tty);
	return err;
}

int cmd_top(int argc, char **argv)
{
	struct top_args args = {
		.profile = {.sz = sizeof(args.profile),
			    .record = {.sz = sizeof(args.profile.record)},
			    .sums = {.sz = sizeof(args.profile.sums),
				     .keys = {.sort = "dso,sym", .children = true},
				     .chain = {.mode = CHAIN_GRAPH, .min_percent = 0.5}}},
		.delay = 2,
		.entries = DEFAULT_ENTRIES,
	};

	cmd_parse(&argp, argc, argv, 0, NULL, &args);
	struct log log = cmd_log(args.verbose);
	combine_options(&args, &log);
	job_begin();
	streams_begin();
	struct error *err = top_run(&args, &log);
	vec_deinit(&args.list);
	return err ? cmd_fail(err) : 0;
}
