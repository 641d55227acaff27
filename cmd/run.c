// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf run: what is run, and for how long; cmd/run_output.c has how the results come out. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/demangling.h"
#include "cmd/options.h"
#include "cmd/config.h"
#include "cmd/job.h"
#include "cmd/privileges.h"
#include "cmd/run_delegated.h"
#include "cmd/run_output.h"
#include "cmd/streams.h"
#include "cmd/run_list.h"
#include "cmd/typed_programs.h"
#include "lib/base/vec.h"
#include "lib/sys/bpf_syscall.h"
#include "work/builtin.h"
#include "work/workload.h"
#include "run/run_session.h"

enum {
	OPT_TIMEOUT = 256,
	OPT_INTERVAL,
	OPT_CLEAR,
	OPT_MAP,
	OPT_TOP,
	OPT_SORT,
	OPT_PER_CPU,
	OPT_SET,
	OPT_CGROUP,
	OPT_CONTAINER,
	OPT_POD,
	OPT_COMMS,
	OPT_CLANG_OPT,
	OPT_MAP_ENTRIES,
	OPT_COST,
	OPT_MAX_OVERHEAD,
	OPT_LIST,
	OPT_SOURCE,
	OPT_PROBES,
	OPT_ATTACH,
	OPT_LABELS,
	OPT_CALL_GRAPH,
};

static const struct argp_option argp_options[] = {
	{"timeout", OPT_TIMEOUT, "TIME", 0, "Stop after TIME, such as 10, 1.5s, 200ms or 5m"},
	/* its name in 0.1.0; in trace --duration selects calls, as in perf trace */
	{"duration", OPT_TIMEOUT, "TIME", OPTION_HIDDEN, NULL},
	{"interval", OPT_INTERVAL, "TIME", 0,
	 "Show the maps every TIME instead of only at the end"},
	{"clear", OPT_CLEAR, NULL, 0, "Show the change since the last interval"},
	{"map", OPT_MAP, "NAME", 0, "Show only this map (a glob); can be repeated"},
	{"top", OPT_TOP, "N", 0,
	 "Show only the N largest rows of each map; 0: all. On a terminal, 10 are shown"},
	{"sort", OPT_SORT, "COLUMN", 0, "Sort tables by COLUMN, largest first"},
	{"labels", OPT_LABELS, "LABEL,...", 0,
	 "Also show the cgroup, unit, container or pod of each process or cgroup"},
	{"per-cpu", OPT_PER_CPU, NULL, 0, "Show the values of each CPU instead of their sum"},
	{"set", OPT_SET, "NAME=VALUE", 0, "Set a global variable of the program; can be repeated"},
	{"map-entries", OPT_MAP_ENTRIES, "NAME=N", 0,
	 "Set the size of a map to N entries, of a ring to N bytes; can be repeated"},
	{"pid", 'p', "PID", 0, "Trace only these processes: comma-separated pids"},
	{"tid", 't', "TID", 0, "Trace only these threads: comma-separated tids"},
	{"uid", 'u', "USER", 0, "Trace only these users: comma-separated names or uids"},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "Trace only these cgroups (v2) and their descendants: comma-separated"},
	{"container", OPT_CONTAINER, "ID", 0,
	 "Trace only these containers: ids or their first digits, comma-separated"},
	{"pod", OPT_POD, "UID", 0, "Trace only these pods: comma-separated"},
	{"comms", OPT_COMMS, "COMM,...", 0, "Trace only threads with these names"},
	{"comm", OPT_COMMS, "COMM,...", OPTION_HIDDEN, NULL}, /* its name in 0.1.0 */
	{"cost", OPT_COST, NULL, 0, "Show how often each program ran and its cost"},
	{"max-overhead", OPT_MAX_OVERHEAD, "PERCENT", 0,
	 "Detach a program that uses more than PERCENT of all CPUs' time: 2%, 0.5%"},
	{"event", 'e', "EVENT", 0,
	 "Event to sample for programs in SEC(\"perf_event\"), as for perf record (default "
	 "cycles)"},
	{"freq", 'F', "FREQ", 0, "Take FREQ samples per second (default 99)"},
	{"count", 'c', "COUNT", 0, "Take a sample every COUNT events"},
	{"call-graph", OPT_CALL_GRAPH, "MODE", 0,
	 "Unwind user stacks with fp (frame pointers, the default) or dwarf (unwind information)"},
	{"probes", OPT_PROBES, NULL, 0,
	 "Also show the probe points of probe definitions: attach method or why not attached, hits "
	 "and misses"},
	{"attach", OPT_ATTACH, "METHOD", 0,
	 "Attach method of probe definitions: fentry, kprobe.multi, kprobe, uprobe.multi or "
	 "uprobe"},
	{"probe-way", OPT_ATTACH, "METHOD", OPTION_HIDDEN, NULL, 0}, /* its name in 0.1.0 */
	{"clang-opt", OPT_CLANG_OPT, "OPTIONS", 0, "Options for clang, which compiles FILE.c"},
	{"list", OPT_LIST, NULL, 0, "List the built-in programs"},
	{"source", OPT_SOURCE, "NAME|PROGRAM", 0,
	 "Print the source of a built-in program, or the C file of a PROGRAM"},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)"},
	{"quiet", 'q', NULL, 0, "Print only errors"},
	{0},
};

struct run_args {
	struct run_opts opts;
	VEC(const char *) files;
	VEC(const char *) typed; /* the same, as they were typed */
	VEC(const char *) maps;
	VEC(const char *) sets;
	VEC(const char *) entries;
	const char *clang_opt;
	struct run_output_opts output;
	const char *source; /* of --source */
	const char *labels;
	bool quiet, list;
	const char *probe_way;
	int verbose;
};

#define ADD(vec, arg)                                                                              \
	do {                                                                                       \
		const char **slot_ = vec_push(vec);                                                \
		if (!slot_)                                                                        \
			argp_failure(state, 1, ENOMEM, "options");                                 \
		*slot_ = (arg);                                                                    \
	} while (0)

static const struct option_member members[] = {
	OPTION_SETS(OPT_CLEAR, struct run_args, opts.collect.delta),
	OPTION_SETS(OPT_SORT, struct run_args, opts.collect.sort),
	OPTION_SETS(OPT_PER_CPU, struct run_args, opts.collect.per_cpu),
	OPTION_SETS('e', struct run_args, opts.events),
	OPTION_SETS('p', struct run_args, opts.filter.pids),
	OPTION_SETS('t', struct run_args, opts.filter.tids),
	OPTION_SETS('u', struct run_args, opts.filter.uids),
	OPTION_SETS(OPT_CGROUP, struct run_args, opts.filter.cgroups.cgroups),
	OPTION_SETS(OPT_CONTAINER, struct run_args, opts.filter.cgroups.containers),
	OPTION_SETS(OPT_POD, struct run_args, opts.filter.cgroups.pods),
	OPTION_SETS(OPT_COMMS, struct run_args, opts.filter.comms),
	OPTION_SETS(OPT_COST, struct run_args, opts.cost.show),
	OPTION_SETS(OPT_PROBES, struct run_args, opts.show_probes),
	OPTION_SETS(OPT_ATTACH, struct run_args, probe_way),
	OPTION_SETS(OPT_CLANG_OPT, struct run_args, clang_opt),
	OPTION_SETS(OPT_LIST, struct run_args, list),
	OPTION_SETS(OPT_SOURCE, struct run_args, source),
	OPTION_SETS(OPT_LABELS, struct run_args, labels),
	OPTION_SETS('v', struct run_args, verbose),
	OPTION_SETS('q', struct run_args, quiet),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct run_args *args = state->input;
	struct run_opts *o = &args->opts;
	uint64_t number;

	switch (key) {
	case OPT_TIMEOUT:
		option_time(state, "--timeout", arg, &o->duration_ms);
		return 0;
	case OPT_INTERVAL:
		option_time(state, "--interval", arg, &o->interval_ms);
		return 0;
	case OPT_MAP:
		ADD(&args->maps, arg);
		return 0;
	case OPT_TOP:
		if (!option_number(arg, SIZE_MAX, &number))
			argp_error(state, "--top %s: expected a number of rows, or 0 for all", arg);
		o->collect.top = number;
		args->output.top_given = true;
		return 0;
	case OPT_SET:
		ADD(&args->sets, arg);
		return 0;
	case OPT_MAP_ENTRIES:
		ADD(&args->entries, arg);
		return 0;
	case OPT_CALL_GRAPH:
		if (strcmp(arg, "fp") && strcmp(arg, "dwarf"))
			argp_error(state, "--call-graph %s: expected fp or dwarf", arg);
		o->unwinds = !strcmp(arg, "dwarf");
		return 0;
	case 'F':
	case 'c':
		if (!option_number(arg, UINT64_MAX, key == 'F' ? &o->freq : &o->period) ||
		    !(key == 'F' ? o->freq : o->period))
			argp_error(state, "-%c %s: expected a number of at least 1", key, arg);
		if (o->freq && o->period)
			argp_error(state, "-F and -c cannot be used together");
		return 0;
	case OPT_MAX_OVERHEAD:
		option_percent(state, "--max-overhead", arg, &o->cost.max_share);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->output;
		return 0;
	case ARGP_KEY_ARG:
		ADD(&args->files, arg);
		ADD(&args->typed, arg);
		return 0;
	}
	return option_set(members, key, arg, args) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{&run_output_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.options = argp_options,
	.children = children,
	.parser = parse_option,
	.args_doc = "FILE|NAME|PROGRAM... [-- COMMAND [ARGS]]\n--list\n--source=NAME|PROGRAM",
	.doc = "Run BPF programs and show their maps when COMMAND ends, after the timeout, or at "
	       "Ctrl-C.\vFILE is a BPF program in C (FILE.c, which is compiled) or an object "
	       "(FILE.o); NAME is a built-in program; PROGRAM is 'EVENT { BODY }', text that "
	       "becomes a "
	       "BPF program (or a file of such text, or '-' for stdin). Each program is attached "
	       "to the target that "
	       "its section names.",
};

/*
 * The command's status, as a shell has it; Ctrl-C is how to end it, and no failure. That a
 * program was detached shows where the command went well.
 */
static int exit_status(const struct run *run, bool ended)
{
	int status;

	if (!run_workload_status(run, &status))
		status = 0;
	status = workload_exit_status(status);
	return !status && (ended || run_n_detached(run)) ? DETACHED : status;
}

/* What runs, and how it ends, where the terminal would show nothing for a while. */
static void print_begun(const struct run_args *args)
{
	const struct run_opts *o = &args->opts;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "perf-bpf: tracing with ");
	for (size_t i = 0; i < o->n_files; i++) {
		const char *file = args->typed.v[i];
		const char *slash = strchr(file, '{') ? NULL : strrchr(file, '/');

		strbuf_addf(&out, "%s%s", i ? ", " : "", slash ? slash + 1 : file);
	}
	if (o->duration_ms)
		strbuf_addf(&out, " for %g s", o->duration_ms / 1000.0);
	const char *what = o->filter.pids ? o->filter.pids : o->filter.tids;
	if (o->workload)
		what = o->workload[0];
	if (what)
		strbuf_addf(&out, "%s until %s%s ends", o->duration_ms ? " or" : "",
			    o->workload	     ? ""
			    : o->filter.pids ? "process "
					     : "thread ",
			    what);
	if (strbuf_failed(&out))
		return;
	cmd_say("%s; press Ctrl-C to end%s\n", strbuf_str(&out),
		o->duration_ms || what ? " earlier" : "");
}

static bool is_builtin(const char *word)
{
	const struct builtin *b = builtins;

	while (b->name && strcmp(b->name, word) != 0)
		b++;
	return b->name != NULL;
}

static bool is_command(const char *word)
{
	const char *path = getenv("PATH");

	for (const char *p = path; p && *p; p += strcspn(p, ":"), p += *p == ':') {
		_cleanup_free_ char *file = text_format("%.*s/%s", (int)strcspn(p, ":"), p, word);

		if (file && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* "run syscount sleep 1": a command's words were taken for programs to load. */
static struct error *check_files(const struct run_opts *o)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	size_t at = 1;

	while (at < o->n_files && (!builtin_is_name(o->files[at]) || is_builtin(o->files[at]) ||
				   !is_command(o->files[at])))
		at++;
	if (at >= o->n_files)
		return NULL;
	for (size_t i = 0; i < o->n_files; i++)
		strbuf_addf(&line, "%s%s", i == at ? " -- " : i ? " " : "", o->files[i]);
	return error_hint(error_new(EINVAL, "'%s' is not a BPF program", o->files[at]),
			  "write the command after '--': perf-bpf run %s", strbuf_str(&line));
}

/* What stands behind "--" is the command. */
static int split_command(int argc, char **argv, char ***command)
{
	*command = NULL;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		if (i + 1 < argc)
			*command = argv + i + 1;
		return i;
	}
	return argc;
}

static struct error *drop_privileges(const struct run_args *args, const struct run *run)
{
	return privileges_of_run(run_opens_events_later(run), run_finds_maps_later(run),
				 args->opts.log);
}

/* NULL: no memory; the page then lacks it. */
static char *command_line(int argc, char **argv)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	for (int i = 0; i < argc; i++)
		strbuf_addf(&line, "%s%s", i ? " " : "", argv[i]);
	return strbuf_steal(&line);
}

int cmd_run(int argc, char **argv)
{
	struct run_args args = {0};
	struct compile_opts compile = {0};
	_cleanup_config_ struct config *config = NULL;
	_cleanup_typed_programs_ struct typed_programs programs = {0};
	_cleanup_(run_output_freep) struct run_output *output = NULL;
	struct run_delegated delegated = {.session = DELEGATED_INIT};
	_cleanup_(keeper_freep) struct keeper *keeper = NULL;
	_cleanup_(demangler_freep) struct demangler *demangler = NULL;
	_cleanup_(run_freep) struct run *run = NULL;
	/* Before argp sorts the words. */
	_cleanup_free_ char *line = command_line(argc, argv);
	char **command;

	argc = split_command(argc, argv, &command);
	argv[argc] = NULL;
	cmd_parse(&argp, argc, argv, 0, NULL, &args);
	if (args.list)
		return run_list(args.output.export.json);
	if (args.source)
		return run_source(args.source);
	job_begin();
	streams_begin();
	struct log log = cmd_log(args.verbose);
	struct run_opts *o = &args.opts;
	o->confine_finder = privileges_of_finder;
	o->files = args.files.v;
	o->n_files = args.files.n;
	o->maps = args.maps.v;
	o->n_maps = args.maps.n;
	o->sets = args.sets.v;
	o->n_sets = args.sets.n;
	o->entries = args.entries.v;
	o->n_entries = args.entries.n;
	o->workload = command;
	o->compile = &compile;
	o->log = args.quiet ? NULL : &log;
	if (args.output.live && !o->interval_ms)
		o->interval_ms = 1000;
	o->source_lines = args.output.export.pprof != NULL;
	args.output.interval = o->interval_ms != 0;
	args.output.files = args.typed.v;
	args.output.n_files = o->n_files;
	args.output.command = line;
	struct error *err = NULL;
	int status = 1;
	if (!o->n_files) {
		err = error_hint(error_new(EINVAL,
					   "the program is missing: give a FILE.c, FILE.o or NAME"),
				 "perf-bpf run FILE.bpf.c -- COMMAND; 'perf-bpf run --list' lists "
				 "the built-in programs");
		status = 2;
	}
	if (!err) {
		err = check_files(o);
		status = err ? 2 : 1;
	}
	if (!err)
		err = config_load_compile(o->log, args.clang_opt, &config, &compile);
	for (size_t i = 0; i < args.files.n && !err; i++)
		err = typed_program_add(&programs, &compile, &args.files.v[i]);
	typed_programs_listen(&programs, &compile);
	if (err && err->usage)
		status = 2;
	sys_bpf_bump_memlock();
	if (!err && args.probe_way)
		err = error_prefix(probe_way_parse(args.probe_way, &o->probe_way), "--attach");
	if (!err && args.labels)
		err = group_labels_parse(args.labels, &o->collect.labels);
	o->count_hits = args.verbose > 0 || o->show_probes;
	if (!err)
		err = run_output_new(&args.output, o, &output);
	if (!err)
		err = keeper_new(&keeper);
	if (!err)
		err = demangling_begin(keeper, o->log, &demangler);
	if (!err)
		err = keeper_start(keeper);
	o->demangler = demangler;
	if (!err) {
		err = run_new(o, &run);
		if (is_delegated(err)) {
			error_free(err);
			err = run_delegated_new(o, &delegated, &run);
		}
		err = typed_programs_explain(&programs, delegated_advise(err));
		status = err && err->usage ? 2 : 1;
	}
	if (!err)
		err = run_output_check(&args.output, run);
	if (!err)
		err = run_attach(run);
	if (!err && !args.quiet && run_is_silent(run) && isatty(STDERR_FILENO))
		print_begun(&args);
	if (!err)
		err = run_output_begin(output, run);
	if (!err)
		err = drop_privileges(&args, run);
	if (!err)
		err = run_loop(run, run_output_show, output);
	if (err) {
		if (err->code == ECHILD)
			status = 255;
		run_output_end(output);
		cmd_fail(err);
	} else {
		status = exit_status(run, delegated.session.ended);
	}
	fflush(stdout); /* signals end us once `run` has been freed */
	delegated_deinit(&delegated.session);
	vec_deinit(&args.files);
	vec_deinit(&args.typed);
	vec_deinit(&args.maps);
	vec_deinit(&args.sets);
	vec_deinit(&args.entries);
	return status;
}
