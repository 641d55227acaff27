// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf trace: system calls as they happen, as perf trace or strace print them, and their sums.
 */
#include <argp.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/config.h"
#include "cmd/job.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "cmd/streams.h"
#include "cmd/trace_delegated.h"
#include "cmd/trace_strace.h"
#include "lib/base/vec.h"
#include "lib/sys/bpf_syscall.h"
#include "perf/record/record.h"
#include "trace/trace_report.h"
#include "trace/trace_run.h"
#include "work/workload.h"

enum {
	OPT_EXPR = 256,
	OPT_NO_INHERIT,
	OPT_WHERE,
	OPT_FILTER_PIDS,
	OPT_DURATION,
	OPT_FAILURE,
	OPT_MAX_EVENTS,
	OPT_STRACE,
	OPT_NO_ABBREV,
	OPT_STRINGS_IN_HEX,
	OPT_CONSTANTS,
	OPT_JSON,
	OPT_CSV,
	OPT_LOG,
	OPT_RECORD,
	OPT_RAW,
	OPT_STRING_SIZE,
	OPT_COMM,
	OPT_NO_COMM,
	OPT_ERRNO_SUMMARY,
	OPT_SUMMARY_MODE,
	OPT_BPF_SUMMARY,
	OPT_NO_BPF_SUMMARY,
	OPT_FORCE_BTF,
	OPT_DUMP_MAP,
	OPT_HISTOGRAMS,
	OPT_SORT_EVENTS,
	OPT_TOOL_STATS,
	OPT_SYSCALLS,
	OPT_NO_SYSCALLS,
	OPT_SCHED,
	OPT_CALL_GRAPH,
	OPT_KERNEL_GRAPH,
	OPT_MAX_STACK,
	OPT_MIN_STACK,
	OPT_CONTAINER,
	OPT_POD,
};

enum {
	MAX_FRAMES = 1024, /* of --max-stack */
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Which calls:", 1},
	{"event", 'e', "LIST", 0,
	 "Trace these calls: names, globs and classes (%file, %network, ...), comma-separated; '!' "
	 "in front of the list: all but these; LIST { return CONDITION; }: only if it is true; "
	 "also "
	 "tracepoints and other events of record; may be repeated",
	 1},
	{"expr", OPT_EXPR, "LIST", 0, "The same as -e", 1},
	{"where", OPT_WHERE, "CONDITION", 0,
	 "Trace only calls for which this is true: 'openat.filename ~ \"/etc/*\" && ret < 0'", 1},
	{"pf", 'F', "WHICH", 0, "Also trace page faults: 'all', 'maj' or 'min'", 1},
	{"syscalls", OPT_SYSCALLS, NULL, 0, "Trace system calls (the default)", 1},
	{"no-syscalls", OPT_NO_SYSCALLS, NULL, 0,
	 "Trace only page faults (-F) and other events (-e)", 1},
	{"failure", OPT_FAILURE, NULL, 0, "Trace only calls that fail", 1},
	{"duration", OPT_DURATION, "MS", 0,
	 "Trace only calls that take longer than MS milliseconds", 1},
	{NULL, 0, NULL, 0, "Which processes:", 2},
	{"all-cpus", 'a', NULL, 0, "Trace all processes, also if there is a COMMAND", 2},
	{"pid", 'p', "PID", 0, "Trace these processes: comma-separated", 2},
	{"tid", 't', "TID", 0, "Trace these threads: comma-separated", 2},
	{"uid", 'u', "USER", 0, "Trace only these users: comma-separated names or uids", 2},
	{"cgroup", 'G', "PATH", 0, "Trace only this cgroup (v2) and its descendants", 2},
	{"container", OPT_CONTAINER, "ID", 0,
	 "Trace only this container; the first digits of its id are enough", 2},
	{"pod", OPT_POD, "UID", 0, "Trace only this pod", 2},
	{"cpu", 'C', "LIST", 0, "Print only calls that end on these CPUs: 0,2-3", 2},
	{"filter-pids", OPT_FILTER_PIDS, "PID", 0, "Do not trace these processes: comma-separated",
	 2},
	{"no-inherit", OPT_NO_INHERIT, NULL, 0, "Do not trace child processes", 2},
	{"delay", 'D', "MS", 0, "Start tracing MS milliseconds after the command starts", 2},
	{NULL, 0, NULL, 0, "Output:", 3},
	{"strace", OPT_STRACE, NULL, 0, "Print the calls as strace does", 3},
	{"no-abbrev", OPT_NO_ABBREV, NULL, 0,
	 "With --strace: print structs and arrays in full (-v of strace)", 3},
	{"strings-in-hex", OPT_STRINGS_IN_HEX, "WHICH", OPTION_ARG_OPTIONAL,
	 "With --strace: print 'all' strings in hexadecimal (the default), or 'non-ascii'", 3},
	{"const-print-style", OPT_CONSTANTS, "STYLE", 0,
	 "With --strace: print constants as names ('abbrev'), numbers ('raw'), or both ('verbose')",
	 3},
	{"json", OPT_JSON, NULL, 0, "Print one line of JSON per call", 3},
	{"csv", OPT_CSV, NULL, 0, "Print the summary as CSV", 3},
	{"input", 'i', "FILE", 0, "Print the calls of FILE, which 'trace record' wrote", 3},
	{"force", 'f', NULL, 0,
	 "Read a file that belongs to another user; with --strace: follow child processes (the "
	 "default)",
	 3},
	{"output", 'o', "FILE", 0,
	 "Write calls and summary to FILE, not to standard error; '-' is standard output; of "
	 "'trace record': the recording",
	 3},
	{"log", OPT_LOG, "FILE", 0, "The same as -o, also of 'trace record'", 3},
	{"record", OPT_RECORD, "FILE", 0,
	 "Write the calls to FILE, a perf.data file, instead of printing them; '-' is standard "
	 "output",
	 3},
	{"decode-fds", 'y', NULL, 0, "With --strace: print paths of file descriptors", 3},
	{"raw", OPT_RAW, NULL, 0, "Print arguments as hexadecimal numbers", 3},
	{"string-size", OPT_STRING_SIZE, "N", 0,
	 "Show at most N bytes of strings and buffers (default 32)", 3},
	{"time", 'T', NULL, 0, "Print the time since boot, not since the first call", 3},
	{"comm", OPT_COMM, NULL, 0, "Print the names of threads (the default)", 3},
	{"no-comm", OPT_NO_COMM, NULL, 0, "Print only the numbers of threads", 3},
	{"call-graph", OPT_CALL_GRAPH, "MODE", 0,
	 "Print the call chain below each call and event: 'fp' by frame pointers, 'dwarf[,BYTES]' "
	 "from copies of the stack",
	 3},
	{NULL, 'g', NULL, 0, "The same as --call-graph fp", 3},
	{"kernel-syscall-graph", OPT_KERNEL_GRAPH, NULL, 0,
	 "Also print the kernel's frames of calls", 3},
	{"max-stack", OPT_MAX_STACK, "N", 0,
	 "Print at most N frames (default 127); implies --call-graph dwarf", 3},
	{"min-stack", OPT_MIN_STACK, "N", 0,
	 "Skip calls and events with fewer than N frames; implies --call-graph dwarf", 3},
	{"max-events", OPT_MAX_EVENTS, "N", 0, "End after N calls", 3},
	{"sort-events", OPT_SORT_EVENTS, NULL, 0,
	 "Accepted for compatibility: calls are always sorted by the time when they ended", 3},
	{NULL, 0, NULL, 0, "Summary:", 4},
	{"summary", 's', NULL, 0, "Print only a summary: counts and durations by thread and call",
	 4},
	{"with-summary", 'S', NULL, 0, "Print the calls and the summary", 4},
	{NULL, 'c', NULL, 0, "With --strace: print only a summary, of all threads together", 4},
	{"errno-summary", OPT_ERRNO_SUMMARY, NULL, 0, "Also print how often each error occurred",
	 4},
	{"summary-mode", OPT_SUMMARY_MODE, "MODE", 0,
	 "Sum by 'thread' (the default), by 'cgroup', or in 'total'", 4},
	{"sched", OPT_SCHED, NULL, 0, "Also print how long each thread ran", 4},
	{"histograms", OPT_HISTOGRAMS, NULL, 0, "Also print histograms of the durations", 4},
	{"bpf-summary", OPT_BPF_SUMMARY, NULL, 0,
	 "Accepted for compatibility: the kernel always keeps the sums", 4},
	{"no-bpf-summary", OPT_NO_BPF_SUMMARY, NULL, 0, "Accepted for compatibility", 4},
	{NULL, 0, NULL, 0, "Other:", 5},
	{"dump-map", OPT_DUMP_MAP, "NAME", 0,
	 "Print the entries of this map of the BPF program at the end, for example pids_filtered",
	 5},
	{"map-dump", OPT_DUMP_MAP, "NAME", OPTION_ALIAS | OPTION_HIDDEN, NULL, 5},
	{"force-btf", OPT_FORCE_BTF, NULL, 0,
	 "Use only BTF to show structs, enumerators and typedefs", 3},
	{"mmap-pages", 'm', "PAGES", 0, "Ring size in pages, or a size such as 512K or 4M", 5},
	{"tool_stats", OPT_TOOL_STATS, NULL, 0, "Print at the end what the trace itself did", 5},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 5},
	{0},
};

struct trace_args {
	struct trace_run_opts opts;
	VEC(const char *) calls;
	const char *log_file, *dump_map;
	bool summary_only, with_summary, errno_summary, histograms;
	bool strace, json, csv, tool_stats, decode_fds, count;
	bool records; /* 'trace record' */
	bool ignored;
	int verbose;
	int out_fd;
	const struct trace_run *run; /* while it runs */
	struct config *config;
	struct compile_opts compile; /* refers to it */
};

static const struct option_member members[] = {
	OPTION_SETS(OPT_FAILURE, struct trace_args, opts.failed_only),
	OPTION_SETS(OPT_WHERE, struct trace_args, opts.where),
	OPTION_SETS('a', struct trace_args, opts.everyone),
	OPTION_SETS('p', struct trace_args, opts.pids),
	OPTION_SETS('t', struct trace_args, opts.tids),
	OPTION_SETS('u', struct trace_args, opts.users),
	OPTION_SETS('G', struct trace_args, opts.cgroups.cgroups),
	OPTION_SETS(OPT_CONTAINER, struct trace_args, opts.cgroups.containers),
	OPTION_SETS(OPT_POD, struct trace_args, opts.cgroups.pods),
	OPTION_SETS(OPT_FILTER_PIDS, struct trace_args, opts.exclude),
	OPTION_SETS(OPT_NO_INHERIT, struct trace_args, opts.no_inherit),
	OPTION_SETS(OPT_STRACE, struct trace_args, strace),
	OPTION_SETS(OPT_NO_ABBREV, struct trace_args, opts.full),
	OPTION_SETS(OPT_JSON, struct trace_args, json),
	OPTION_SETS(OPT_CSV, struct trace_args, csv),
	OPTION_SETS('i', struct trace_args, opts.input),
	OPTION_SETS('f', struct trace_args, opts.force),
	OPTION_SETS('c', struct trace_args, count),
	OPTION_SETS(OPT_LOG, struct trace_args, log_file),
	OPTION_SETS(OPT_RECORD, struct trace_args, opts.output),
	OPTION_SETS('y', struct trace_args, decode_fds),
	OPTION_SETS(OPT_RAW, struct trace_args, opts.raw),
	OPTION_SETS('T', struct trace_args, opts.full_time),
	OPTION_CLEARS(OPT_COMM, struct trace_args, opts.no_comm),
	OPTION_SETS(OPT_NO_COMM, struct trace_args, opts.no_comm),
	OPTION_SETS(OPT_SORT_EVENTS, struct trace_args, ignored),
	OPTION_SETS('s', struct trace_args, summary_only),
	OPTION_SETS('S', struct trace_args, with_summary),
	OPTION_SETS(OPT_ERRNO_SUMMARY, struct trace_args, errno_summary),
	OPTION_SETS(OPT_HISTOGRAMS, struct trace_args, histograms),
	OPTION_SETS(OPT_DUMP_MAP, struct trace_args, dump_map),
	OPTION_SETS('C', struct trace_args, opts.cpus),
	OPTION_SETS(OPT_NO_BPF_SUMMARY, struct trace_args, ignored),
	OPTION_SETS(OPT_FORCE_BTF, struct trace_args, opts.prefer_btf),
	OPTION_SETS(OPT_BPF_SUMMARY, struct trace_args, ignored),
	OPTION_CLEARS(OPT_SYSCALLS, struct trace_args, opts.no_calls),
	OPTION_SETS(OPT_NO_SYSCALLS, struct trace_args, opts.no_calls),
	OPTION_SETS(OPT_SCHED, struct trace_args, opts.runtime),
	OPTION_SETS(OPT_KERNEL_GRAPH, struct trace_args, opts.kernel_frames),
	OPTION_SETS(OPT_TOOL_STATS, struct trace_args, tool_stats),
	OPTION_SETS('v', struct trace_args, verbose),
	{0},
};

/* "0.5": milliseconds as ns. */
static bool parse_ms(const char *text, uint64_t *ns)
{
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	const double ms = strtod(text, &end);
	*ns = ms >= 0 && ms <= 1e12 ? (uint64_t)(ms * 1e6) : 0;
	return !*end && end != text && ms <= 1e12;
}

static error_t parse_summary_mode(struct argp_state *state, struct trace_args *args,
				  const char *arg)
{
	static const char *const modes[] = {
		[TRACE_SUMS_BY_THREAD] = "thread",
		[TRACE_SUMS_TOTAL] = "total",
		[TRACE_SUMS_BY_CGROUP] = "cgroup",
	};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(arg, modes[i])) {
			args->opts.sums_by = (enum trace_sums_by)i;
			return 0;
		}
	argp_error(state, "--summary-mode %s: expected thread, cgroup or total", arg);
	return EINVAL;
}

/* Options of strace's layout. */
static error_t parse_layout(struct argp_state *state, struct trace_run_opts *o, int key,
			    const char *arg)
{
	static const char *const styles[] = {
		[CONSTANTS_NAMED] = "abbrev",
		[CONSTANTS_RAW] = "raw",
		[CONSTANTS_VERBOSE] = "verbose",
	};

	if (key == OPT_STRINGS_IN_HEX) {
		if (arg && strcmp(arg, "all") != 0 && strcmp(arg, "non-ascii") != 0)
			argp_error(state, "--strings-in-hex %s: expected all or non-ascii", arg);
		o->hex_strings = arg && !strcmp(arg, "non-ascii") ? 1 : 2;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(styles); i++)
		if (!strcmp(arg, styles[i])) {
			o->constants = (enum call_constants)i;
			return 0;
		}
	argp_error(state, "--const-print-style %s: expected abbrev, raw or verbose", arg);
	return EINVAL;
}

/* Options of call chains. */
static struct error *check_stacks(struct trace_args *args)
{
	struct trace_run_opts *o = &args->opts;

	if ((o->max_stack || o->min_stack) && !o->callgraph)
		o->callgraph = SELECT_CALLGRAPH_DWARF;
	if (o->kernel_frames && !o->callgraph)
		return error_usage("--kernel-syscall-graph is for --call-graph");
	if (o->kernel_frames && o->input)
		return error_usage("-i: the recording has the kernel's frames if it was made with "
				   "--kernel-syscall-graph");
	if (!o->callgraph)
		return NULL;
	if (args->summary_only)
		return error_usage("a summary has no call chains; use -S with --call-graph");
	if (o->output && (o->max_stack || o->min_stack))
		return error_hint(error_usage("--max-stack and --min-stack cannot be used with "
					      "--record, which writes call chains as they are"),
				  "use them with -i, or --call-graph dwarf,BYTES with --record");
	return NULL;
}

/* The options of strace, whatever their order. */
static struct error *take_strace(struct trace_args *args)
{
	size_t left = 0;

	args->opts.signals = UINT64_MAX;
	if (args->count && !args->strace)
		return error_hint(error_usage("-c is for --strace"), "-s prints a summary");
	if (args->count) {
		args->summary_only = true;
		args->opts.sums_by = TRACE_SUMS_TOTAL;
	}
	for (size_t i = 0; i < args->calls.n; i++) {
		const char *expr = args->calls.v[i];
		struct strace_expr strace = {.calls = expr};

		if (is_strace_expr(expr) && !args->strace)
			return error_hint(error_usage("-e %s: this is for --strace", expr),
					  "-e openat,close selects calls");
		if (is_strace_expr(expr))
			TRY(strace_expr_parse(expr, &strace));
		args->opts.failed_only |= strace.failed_only;
		args->opts.full |= strace.full;
		args->opts.raw |= strace.raw;
		if (strace.has_signals)
			args->opts.signals = strace.signals;
		if (strace.calls)
			args->calls.v[left++] = strace.calls;
	}
	args->calls.n = left;
	return NULL;
}

/* Options that exclude each other, and what they imply. */
static struct error *check_together(struct trace_args *args)
{
	TRY(take_strace(args));
	if ((args->errno_summary || args->histograms || args->csv) && !args->with_summary)
		args->summary_only = true;
	if (args->opts.runtime && !args->summary_only)
		args->with_summary = true;
	if (args->strace + args->json + args->csv > 1)
		return error_usage("--strace, --json and --csv cannot be used together");
	if (!args->strace && (args->opts.full || args->opts.hex_strings || args->opts.constants))
		return error_usage("--no-abbrev, --strings-in-hex and --const-print-style are for "
				   "--strace");
	if (args->csv && args->with_summary)
		return error_usage("--csv prints the summary alone; use -s");
	if (args->opts.cpus && (args->summary_only || args->with_summary))
		return error_usage("-C cannot be used with a summary, which covers all CPUs");
	if (args->opts.output && args->summary_only)
		return error_usage("-s omits the single calls, but --record writes them; use -S");
	return check_stacks(args);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct trace_args *args = state->input;
	struct trace_run_opts *o = &args->opts;
	struct error *err;
	size_t pages = 0;
	uint64_t v;

	switch (key) {
	case 'e':
	case OPT_EXPR: {
		const char **slot = vec_push(&args->calls);

		if (!slot)
			argp_failure(state, 1, ENOMEM, "options");
		*slot = arg;
		return 0;
	}
	case 'o':
		*(args->records ? &o->output : &args->log_file) = arg;
		return 0;
	case OPT_DURATION:
		if (!parse_ms(arg, &o->min_ns))
			argp_error(state, "--duration %s: expected milliseconds, such as 0.5", arg);
		return 0;
	case 'D':
		if (!option_number(arg, INT32_MAX, &o->delay_ms))
			argp_error(state, "-D %s: expected milliseconds", arg);
		return 0;
	case OPT_STRING_SIZE:
		if (!option_number(arg, TRACE_DATA_MAX, &v))
			argp_error(state, "--string-size %s: expected a number up to %d", arg,
				   TRACE_DATA_MAX);
		o->string_size = (uint32_t)v;
		return 0;
	case 'F':
		if (strcmp(arg, "all") != 0 && strcmp(arg, "maj") != 0 && strcmp(arg, "min") != 0)
			argp_error(state, "-F %s: expected all, maj or min", arg);
		o->major_faults |= *arg == 'a' || !strcmp(arg, "maj");
		o->minor_faults |= *arg == 'a' || !strcmp(arg, "min");
		return 0;
	case 'g':
	case OPT_CALL_GRAPH:
		err = select_callgraph_parse(arg, &o->callgraph, &o->stack_size);
		if (!err && o->callgraph == SELECT_CALLGRAPH_LBR)
			err = error_usage("--call-graph lbr is not supported: system calls have no "
					  "branch records; use fp or dwarf");
		if (err)
			exit(cmd_fail(err));
		return 0;
	case OPT_MAX_STACK:
	case OPT_MIN_STACK:
		if (!option_number(arg, MAX_FRAMES, &v) || !v)
			argp_error(state, "--%s-stack %s: expected a number from 1 to %d",
				   key == OPT_MAX_STACK ? "max" : "min", arg, MAX_FRAMES);
		*(key == OPT_MAX_STACK ? &o->max_stack : &o->min_stack) = (unsigned)v;
		return 0;
	case OPT_MAX_EVENTS:
		if (!option_number(arg, INT64_MAX, &o->max_lines) || !o->max_lines)
			argp_error(state, "--max-events %s: expected a number of at least 1", arg);
		return 0;
	case 'm':
		option_check(state, "-m", record_pages_parse(arg, sysconf(_SC_PAGESIZE), &pages));
		if (pages > UINT32_MAX / 2 / sysconf(_SC_PAGESIZE))
			argp_error(state, "-m %s: the ring would be too large", arg);
		o->ring_bytes = (uint32_t)(pages * sysconf(_SC_PAGESIZE));
		return 0;
	case OPT_STRINGS_IN_HEX:
	case OPT_CONSTANTS:
		return parse_layout(state, o, key, arg);
	case OPT_SUMMARY_MODE:
		return parse_summary_mode(state, args, arg);
	}
	return option_set(members, key, arg, args) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARGS]]\nrecord [-- COMMAND [ARGS]]",
	.doc = "Trace system calls: of COMMAND, of processes, or of the whole system.\vWithout "
	       "COMMAND, -p and -t all processes are traced, until Ctrl-C.",
};

/* What selects tasks, sums or files has no meaning for a recording that is read. */
static struct error *check_input(const struct trace_args *args)
{
	const struct trace_run_opts *o = &args->opts;

	if (!o->input)
		return NULL;
	if (o->workload || o->everyone || o->pids || o->tids || o->users ||
	    cgroup_choice_any(&o->cgroups) || o->exclude || o->delay_ms)
		return error_usage("-i: a recording is read; it cannot be used with a command or "
				   "with options that select processes");
	if (o->output)
		return error_usage("-i cannot be used with --record");
	if (args->dump_map)
		return error_usage("-i cannot be used with --dump-map");
	if (o->sums_by == TRACE_SUMS_BY_CGROUP)
		return error_usage("-i cannot be used with --summary-mode cgroup: a recording "
				   "does not have the cgroups of calls");
	if (o->major_faults || o->minor_faults || o->runtime || o->no_calls)
		return error_usage("-i cannot be used with -F, --sched and --no-syscalls");
	return NULL;
}

/* Of trace_run_opts. */
static struct error *write_lines(void *ctx, const struct strbuf *lines, bool *closed)
{
	const struct trace_args *args = ctx;

	return cmd_write_fd(args->out_fd, lines->str, lines->len, closed);
}

static struct error *open_log(struct trace_args *args)
{
	/* what other programs read goes where they read it */
	if (args->log_file ? !strcmp(args->log_file, "-") : args->json || args->csv)
		args->out_fd = STDOUT_FILENO;
	if (!args->log_file || args->out_fd == STDOUT_FILENO)
		return NULL;
	return cmd_open_output(args->log_file, &args->out_fd);
}

/* ---- the end ---- */

/* What other programs read goes where the calls went: the summary, and as JSON the losses. */
static struct error *write_report(const struct trace_args *args, const struct trace_run *run,
				  const struct trace_stats *stats)
{
	const struct summary_opts opts = {
		.format = args->json  ? SUMMARY_JSON
			  : args->csv ? SUMMARY_CSV
				      : SUMMARY_TEXT,
		.errors = args->errno_summary,
		.histograms = args->histograms,
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	bool closed = false;

	if (args->json)
		trace_report_losses_json(stats, &out);
	TRY(trace_report_sums(run, &opts, &out));
	if (strbuf_failed(&out))
		return error_nomem();
	return out.len ? cmd_write_fd(args->out_fd, out.str, out.len, &closed) : NULL;
}

/* What the user reads. */
static void print_report(void (*report)(const struct trace_stats *stats, struct strbuf *out),
			 const struct trace_stats *stats)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	report(stats, &out);
	if (strbuf_failed(&out))
		cmd_say("perf-bpf: out of memory for the report\n");
	else
		cmd_say("%s", strbuf_str(&out));
}

static void print_written(const struct trace_args *args, const struct trace_stats *stats)
{
	const char *name = args->opts.output;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "[ perf-bpf trace: Wrote %.3f MB %s (%" PRIu64 " calls, %" PRIu64 " lost",
		    (double)stats->file_bytes / 1024 / 1024,
		    strcmp(name, "-") ? name : "to standard output", stats->lines, stats->lost);
	if (stats->events)
		strbuf_addf(&out, "; %" PRIu64 " events, %" PRIu64 "%s lost", stats->events,
			    stats->lost_events.samples,
			    stats->lost_events.accuracy == LOST_NOT_COUNTED ? " or more" : "");
	if (strbuf_failed(&out))
		cmd_say("[ perf-bpf trace: Wrote %" PRIu64 " calls, %" PRIu64 " lost ]\n",
			stats->lines, stats->lost);
	else
		cmd_say("%s) ]\n", strbuf_str(&out));
}

/* The command's status, as a shell has it; Ctrl-C is how to end the trace, and no failure. */
static int exit_status(const struct trace_run *run)
{
	int status;

	if (!trace_run_workload_status(run, &status))
		return 0;
	return workload_exit_status(status);
}

/* What perf trace looks like, as its users have set it. */
static struct error *configure(struct trace_args *args, const struct log *log)
{
	struct trace_run_opts *o = &args->opts;
	bool time, duration, names;

	TRY(config_load_compile(log, NULL, &args->config, &args->compile));
	const struct config *config = args->config;
	o->compile = &args->compile;
	o->confine_finder = privileges_of_finder;
	TRY(config_get_bool(config, "trace.show_timestamp", true, &time));
	TRY(config_get_bool(config, "trace.show_duration", true, &duration));
	TRY(config_get_bool(config, "trace.show_arg_names", true, &names));
	TRY(config_get_bool(config, "trace.show_prefix", false, &o->show_prefix));
	TRY(config_get_bool(config, "trace.show_zeros", false, &o->show_zeros));
	o->add_events = config_get(config, "trace.add_events");
	o->no_time = !time;
	o->no_duration = !duration;
	o->hide_names = !names;
	const char *alignment = config_get(config, "trace.args_alignment");
	uint64_t v = 70;
	if (alignment && !option_number(alignment, 1000, &v))
		return error_new(EINVAL,
				 "configuration: trace.args_alignment has the invalid value '%s'",
				 alignment);
	o->alignment = (unsigned)v;
	return NULL;
}

/* What follows the last line: what was lost, the sums, the map. */
static struct error *print_ending(const struct trace_args *args, struct trace_run *run,
				  struct map_dump *dump, int *status)
{
	struct trace_stats stats;

	trace_run_stats(run, &stats);
	TRY(write_report(args, run, &stats));
	print_report(trace_report_losses, &stats);
	if (dump)
		TRY(map_dump_write(dump, args->json ? STDOUT_FILENO : STDERR_FILENO));
	if (args->opts.output)
		print_written(args, &stats);
	if (args->tool_stats)
		print_report(trace_report_stats, &stats);
	*status = exit_status(run);
	return NULL;
}

static struct error *open_dump(const struct trace_args *args, struct map_dump **dump)
{
	int fd;

	if (!args->dump_map)
		return NULL;
	TRY(error_mark_usage(
		error_prefix(trace_run_map(args->run, args->dump_map, &fd), "--dump-map")));
	return map_dump_new(fd, args->json, dump);
}

/* Of trace_run_opts. */
static struct error *on_attached(void *ctx)
{
	const struct trace_args *args = ctx;

	return privileges_of_trace(trace_run_reads_processes(args->run),
				   trace_run_opens_events_later(args->run),
				   args->opts.workload != NULL, args->opts.log);
}

/* Whoever may not load the program asks the service for it, if there is one. */
static struct error *open_run(struct trace_args *args, struct trace_delegated *delegated,
			      struct trace_run **run)
{
	struct error *err = trace_run_new(&args->opts, run);

	if (!is_delegated(err))
		return delegated_advise(err);
	error_free(err);
	if (args->dump_map)
		return error_usage("--dump-map cannot be used without privileges: the service "
				   "passes no maps to be shown");
	return trace_delegated_new(&args->opts, delegated, run);
}

static struct error *trace(struct trace_args *args, struct trace_delegated *delegated,
			   struct log *log, int *status)
{
	_cleanup_(trace_run_freep) struct trace_run *run = NULL;
	struct trace_run_opts *o = &args->opts;
	_cleanup_(map_dump_freep) struct map_dump *dump = NULL;

	TRY(check_together(args));
	TRY(configure(args, log));
	o->log = log;
	o->calls = args->calls.v;
	o->n_calls = args->calls.n;
	o->lines = !args->summary_only && !o->output;
	o->summary = args->summary_only || args->with_summary;
	o->fd_paths = !args->strace || args->decode_fds;
	o->style = args->strace ? CALL_LINES_STRACE
		   : args->json ? CALL_LINES_JSON
				: CALL_LINES_PERF;
	o->write = write_lines;
	o->attached = on_attached;
	o->ctx = args;
	TRY(check_input(args));
	TRY(open_log(args));
	if (o->input)
		TRY(privileges_of_reader(NULL, 0, 0, log));
	TRY(open_run(args, delegated, &run));
	args->run = run;
	TRY(open_dump(args, &dump));
	/* The calls before the damage of a recording are still worth a summary. */
	struct error *damage = trace_run_loop(run);
	if (damage && damage->code != EBADMSG)
		return damage;
	TRY(error_either(print_ending(args, run, dump, status), damage));
	if (!*status && delegated->session.ended)
		*status = DETACHED;
	return NULL;
}

int cmd_trace(int argc, char **argv)
{
	struct trace_args args = {
		.opts = {.sz = sizeof(args.opts),
			 .string_size = 32,
			 .sums_by = TRACE_SUMS_BY_THREAD},
		.out_fd = STDERR_FILENO,
	};
	struct trace_delegated delegated = {.session = DELEGATED_INIT};
	int index = 0, status = 1;

	args.opts.argc = argc;
	args.opts.argv = (const char *const *)argv;
	if (argc > 1 && !strcmp(argv[1], "record")) { /* as perf trace record */
		args.records = true;
		args.opts.output = "perf.data";
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ARGS, &index, &args);
	if (index < argc)
		args.opts.workload = argv + index;
	struct log log = cmd_log(args.verbose);
	if (!args.opts.input) {
		job_begin();
		streams_begin();
		sys_bpf_bump_memlock();
	}
	struct error *err = trace(&args, &delegated, &log, &status);
	if (err) {
		status = err->code == ECHILD ? 255 : 0;
		const int failed = cmd_fail(err);
		status = status ? status : failed;
	}
	if (args.out_fd > STDERR_FILENO)
		close(args.out_fd);
	delegated_deinit(&delegated.session);
	vec_deinit(&args.calls);
	config_free(args.config);
	return status;
}
