// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf script: a recording, line by line, as perf script prints it, or as lines of JSON. */
#include <argp.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "cmd/event_dumps.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/script_named.h"
#include "cmd/script_python.h"
#include "perf/print/print_script.h"

struct script_options {
	struct recording_opts recording;
	struct script_opts script;
	struct field_choice fields;
	struct names chain_end;
	bool reltime, deltatime, event_dumps;
	/* the script, or with writes_python the one to be written; NULL: none */
	const char *python;
	bool writes_python;
	char **args; /* of the script, or what names one; ended by NULL */
	bool list;
	struct log log;
	int verbose;
};

enum {
	OPT_HEADER = 256,
	OPT_HEADER_ONLY,
	OPT_JSON,
	OPT_SHOW_TASK,
	OPT_SHOW_MMAP,
	OPT_SHOW_LOST,
	OPT_SHOW_BPF,
	OPT_SHOW_SWITCH,
	OPT_SHOW_CGROUP,
	OPT_SHOW_NAMESPACE,
	OPT_SHOW_ROUND,
	OPT_SHOW_TEXT_POKE,
	OPT_SHOW_KERNEL_PATH,
	OPT_NS,
	OPT_DSOS,
	OPT_UNWIND_STYLE,
	OPT_MERGE_CALLCHAINS,
	OPT_RELTIME,
	OPT_DELTATIME,
	OPT_STOP_BT,
	OPT_INLINE,
	OPT_NO_INLINE,
	OPT_FULL_SOURCE_PATH,
	OPT_MAX_BLOCKS,
	OPT_ADDR_RANGE,
	OPT_PER_EVENT_DUMP,
	OPT_FIREFOX,
	OPT_PERFETTO,
};

static const struct argp_option options[] = {
	{"fields", 'F', "[TYPE:][+-]FIELD,...", 0,
	 "Write these fields; +FIELD adds to the defaults, -FIELD removes from them, TYPE is hw, "
	 "sw, trace, raw or break",
	 0},
	{"json", OPT_JSON, NULL, 0, "Print one line of JSON per record", 0},
	{"script", 's', "FILE.py", 0,
	 "Run a Python script with perf's interface; the arguments after it are the script's", 0},
	{"gen-script", 'g', "python|FILE.py", 0,
	 "Write a template script for the events of the recording to FILE.py (perf-script.py)", 0},
	{"list", 'l', NULL, 0, "List perf's scripts, which can be run by name", 0},
	{"hide-call-graph", 'G', NULL, 0, "Do not print call chains", 0},
	{"firefox", OPT_FIREFOX, "FILE", 0,
	 "Write the samples to FILE for the Firefox profiler instead of printing them", 0},
	{"perfetto", OPT_PERFETTO, "FILE", 0,
	 "Write the samples to FILE as a trace for Perfetto instead of printing them", 0},
	{"per-event-dump", OPT_PER_EVENT_DUMP, NULL, 0,
	 "Write the samples of each event to a file of its own, RECORDING.EVENT.dump", 0},
	{"Latency", 'L', NULL, 0, "Print shorter names and CPUs", 0},
	{"ns", OPT_NS, NULL, 0, "Print times with nine digits", 0},
	{"reltime", OPT_RELTIME, NULL, 0, "Print times since the first line", 0},
	{"deltatime", OPT_DELTATIME, NULL, 0, "Print times since the previous line", 0},
	{"stop-bt", OPT_STOP_BT, "SYMBOL,...", 0,
	 "Print call chains up to the first of these functions", 0},
	{"inline", OPT_INLINE, NULL, 0,
	 "Show inlined functions in call chains, by debug information (default)", 0},
	{"no-inline", OPT_NO_INLINE, NULL, 0, "Do not show inlined functions", 0},
	{"full-source-path", OPT_FULL_SOURCE_PATH, NULL, 0,
	 "Print whole paths of source files with field srcline", 0},
	{"max-blocks", OPT_MAX_BLOCKS, "N", 0,
	 "Print the instructions of at most N blocks with field brstackinsn", 0},
	{"addr-range", OPT_ADDR_RANGE, "BYTES", 0,
	 "With an address in --symbols, select the samples in the BYTES bytes that start there", 0},
	{"dsos", OPT_DSOS, "DSO,...", 0, "Select samples in these binaries", 0},
	{"header", OPT_HEADER, NULL, 0, "Print the recording's header first", 0},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Print only the recording's header", 0},
	{"show-info", 'I', NULL, 0, "Print the machine's CPUs, caches and memory with the header",
	 0},
	{"show-task-events", OPT_SHOW_TASK, NULL, 0, "Also write COMM, FORK and EXIT records", 0},
	{"show-mmap-events", OPT_SHOW_MMAP, NULL, 0, "Also write MMAP and MMAP2 records", 0},
	{"show-lost-events", OPT_SHOW_LOST, NULL, 0, "Also write LOST records", 0},
	{"show-bpf-events", OPT_SHOW_BPF, NULL, 0, "Also write KSYMBOL and BPF_EVENT records", 0},
	{"show-switch-events", OPT_SHOW_SWITCH, NULL, 0, "Also write SWITCH records", 0},
	{"show-cgroup-events", OPT_SHOW_CGROUP, NULL, 0, "Also write CGROUP records", 0},
	{"show-namespace-events", OPT_SHOW_NAMESPACE, NULL, 0, "Also write NAMESPACES records", 0},
	{"show-round-events", OPT_SHOW_ROUND, NULL, 0, "Also write FINISHED_ROUND records", 0},
	{"show-text-poke-events", OPT_SHOW_TEXT_POKE, NULL, 0,
	 "Also write TEXT_POKE and KSYMBOL records: changes of the kernel's code", 0},
	{"show-kernel-path", OPT_SHOW_KERNEL_PATH, NULL, 0,
	 "Print the paths of the kernel image and modules", 0},
	{"unwind-style", OPT_UNWIND_STYLE, "STYLE", 0,
	 "libdw or libunwind: accepted for compatibility with perf; has no effect", 0},
	{"merge-callchains", OPT_MERGE_CALLCHAINS, NULL, 0,
	 "Accepted for compatibility with perf; has no effect", 0},
	{"dump-raw-trace", 'D', NULL, 0, "Print every record with its bytes", 0},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS('l', struct script_options, list),
	OPTION_SETS(OPT_JSON, struct script_options, script.json),
	OPTION_SETS('G', struct script_options, script.hide_chain),
	OPTION_SETS('L', struct script_options, script.short_start),
	OPTION_SETS(OPT_PER_EVENT_DUMP, struct script_options, event_dumps),
	OPTION_SETS(OPT_NS, struct script_options, script.ns),
	OPTION_SETS(OPT_RELTIME, struct script_options, reltime),
	OPTION_SETS(OPT_DELTATIME, struct script_options, deltatime),
	OPTION_SETS(OPT_INLINE, struct script_options, recording.inlines),
	OPTION_CLEARS(OPT_NO_INLINE, struct script_options, recording.inlines),
	OPTION_SETS(OPT_FULL_SOURCE_PATH, struct script_options, script.full_paths),
	OPTION_SETS(OPT_FIREFOX, struct script_options, recording.outputs[0]),
	OPTION_SETS(OPT_PERFETTO, struct script_options, recording.outputs[1]),
	OPTION_SETS(OPT_DSOS, struct script_options, recording.filter.dsos),
	OPTION_SETS(OPT_HEADER, struct script_options, script.header),
	OPTION_SETS('I', struct script_options, script.topology),
	OPTION_SETS(OPT_SHOW_TASK, struct script_options, script.show_task),
	OPTION_SETS(OPT_SHOW_MMAP, struct script_options, script.show_mmap),
	OPTION_SETS(OPT_SHOW_LOST, struct script_options, script.show_lost),
	OPTION_SETS(OPT_SHOW_BPF, struct script_options, script.show_bpf),
	OPTION_SETS(OPT_SHOW_SWITCH, struct script_options, script.show_switch),
	OPTION_SETS(OPT_SHOW_CGROUP, struct script_options, script.show_cgroups),
	OPTION_SETS(OPT_SHOW_NAMESPACE, struct script_options, script.show_namespaces),
	OPTION_SETS(OPT_SHOW_ROUND, struct script_options, script.show_rounds),
	OPTION_SETS(OPT_SHOW_TEXT_POKE, struct script_options, script.show_text_pokes),
	OPTION_SETS(OPT_SHOW_KERNEL_PATH, struct script_options, script.kernel_path),
	{0},
};

/* "main,start_thread" */
static struct error *add_functions(struct names *names, const char *list)
{
	for (const char *p = list, *end; *p || p == list; p = end + (*end == ',')) {
		end = strchrnul(p, ',');
		if (end == p)
			return error_new(EINVAL, "--stop-bt: '%s' has an empty name", list);
		if (!names_add_n(names, p, (size_t)(end - p)))
			return error_nomem();
	}
	return NULL;
}

static bool makes_timeline(const struct script_options *o)
{
	return o->recording.outputs[0] || o->recording.outputs[1];
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct script_options *o = state->input;
	struct error *err;
	uint64_t number = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->recording;
		return 0;
	case 'F':
		err = field_choice_parse(&o->fields, arg, &o->log);
		if (err)
			exit(cmd_fail(error_mark_usage(err)));
		return 0;
	case OPT_HEADER_ONLY:
		o->script.header_only = o->script.header = true;
		return 0;
	case 'D':
		o->script.dump = DUMP_SCRIPT;
		return 0;
	case OPT_STOP_BT:
		err = add_functions(&o->chain_end, arg);
		if (err)
			exit(cmd_fail(error_mark_usage(err)));
		o->script.chain_end = &o->chain_end;
		return 0;
	case OPT_MAX_BLOCKS:
		if (!option_number(arg, INT_MAX, &number))
			argp_error(state, "--max-blocks: '%s' is not a number", arg);
		o->script.max_blocks = (unsigned)number;
		return 0;
	case OPT_ADDR_RANGE:
		if (strchr(arg, 'x') || !option_number(arg, INT_MAX, &number) || !number)
			argp_error(state, "--addr-range: '%s' is not a number of bytes", arg);
		o->recording.filter.addr_range = (uint32_t)number;
		return 0;
	case 's':
		err = script_python_path(arg, &o->python);
		if (err)
			exit(cmd_fail(err));
		o->script.python = true;
		return 0;
	case 'g':
		err = script_python_written(arg, &o->python);
		if (err)
			exit(cmd_fail(err));
		o->script.python = o->writes_python = true;
		return 0;
	case OPT_MERGE_CALLCHAINS:
		return 0;
	case OPT_UNWIND_STYLE:
		if (strcmp(arg, "libdw") && strcmp(arg, "libunwind"))
			argp_error(state, "--unwind-style: '%s' is neither libdw nor libunwind",
				   arg);
		return 0;
	case 'v':
		o->log = cmd_log(++o->verbose);
		return 0;
	case ARGP_KEY_END:
		if (o->reltime && o->deltatime)
			argp_error(state, "choose one of --reltime and --deltatime");
		if ((o->reltime || o->deltatime) && o->script.json)
			argp_error(state, "--reltime and --deltatime cannot be used with --json");
		if (o->script.json && o->script.header && !o->script.header_only)
			argp_error(state, "--header cannot be used with --json; --header-only "
					  "prints the header alone");
		if (makes_timeline(o) && (o->script.json || o->script.dump || o->script.python))
			argp_error(state, "--firefox and --perfetto cannot be used with %s",
				   o->script.json   ? "--json"
				   : o->script.dump ? "--dump-raw-trace"
						    : "-s and -g");
		if (o->event_dumps && (makes_timeline(o) || o->script.dump || o->script.python))
			argp_error(state, "--per-event-dump cannot be used with %s",
				   makes_timeline(o) ? "--firefox and --perfetto"
				   : o->script.dump  ? "--dump-raw-trace"
						     : "-s and -g");
		if (o->script.python && (o->script.json || o->script.dump || o->script.header))
			argp_error(state, "-s and -g cannot be used with %s",
				   o->script.json   ? "--json"
				   : o->script.dump ? "--dump-raw-trace"
						    : "--header");
		if (o->args && o->writes_python)
			argp_error(state, "'%s': -g takes no arguments", o->args[0]);
		return 0;
	case ARGP_KEY_ARGS:
		o->args = &state->argv[state->next];
		return 0;
	}
	return option_set(members, key, arg, o) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {RECORDING_CHILD, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.children = children,
	.args_doc = "[record|report] NAME [ARGUMENT...]\n[-s FILE.py ARGUMENT...]",
	.doc = "Print a recording, line by line, as perf script does.\v"
	       "See perf-bpf-script(1) for the fields, the conditions and the schema of --json.",
};

static struct error *
write_timeline(const struct timeline *t,
	       struct error *(*format)(const struct timeline *, struct strbuf *), const char *path)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (!path)
		return NULL;
	TRY(format(t, &out));
	return cmd_write_file(path, &out, true);
}

static struct error *run_timeline(struct script_options *o, const struct opened_recording *r)
{
	_cleanup_(timeline_freep) struct timeline *timeline = NULL;
	const struct timeline_opts opts = {
		.sz = sizeof(opts),
		.session = r->session,
		.resolver = r->resolver,
		.max_stack = o->recording.max_stack,
		.title = r->path,
	};

	TRY(timeline_new(&opts, &timeline));
	o->script.timeline = timeline;
	/* What could be read of a recording that is not whole is worth a file. */
	struct error *err = script_print(&o->script);
	struct error *late = write_timeline(timeline, timeline_firefox, o->recording.outputs[0]);
	if (!late)
		late = write_timeline(timeline, timeline_perfetto, o->recording.outputs[1]);
	return error_either(err, late);
}

static struct error *write_dump(void *ctx, const struct session_event *event,
				const struct strbuf *text, uint64_t n)
{
	return event_dumps_write(ctx, event->name, text, n);
}

/* likely: a name in the directory of the recording. */
static struct error *run_event_dumps(struct script_options *o, const char *path, const char *likely)
{
	_cleanup_(event_dumps_deinit) struct event_dumps dumps = {.out.dir_fd = -1};
	_cleanup_strbuf_ struct strbuf report = STRBUF_INIT;

	TRY(event_dumps_begin(&dumps, path, likely));
	o->script.write_event = write_dump;
	o->script.write_ctx = &dumps;
	/* What could be read of a recording that is not whole is worth its files. */
	struct error *err = script_print(&o->script);
	struct error *late = event_dumps_end(&dumps, &report);
	if (!late)
		late = cmd_print(&report);
	return error_either(err, late);
}

static bool is_of_this_machine(const struct opened_recording *r)
{
	const char *arch = session_header(r->session)->arch;
	struct utsname name;

	return !arch || (!uname(&name) && !strcmp(arch, name.machine));
}

static struct error *run(struct script_options *o)
{
	_cleanup_strbuf_ struct strbuf likely = STRBUF_INIT, path = STRBUF_INIT;

	if (o->list) {
		TRY(script_list(&path));
		return cmd_print(&path);
	}
	if (o->args && !o->python)
		return script_named_run(o->args, o->recording.input);
	if (o->python && !o->writes_python) {
		TRY(script_find(o->python, &path));
		o->python = path.str;
		/* What cannot be read is an error of script_python_start(), or a FIFO. */
		error_free(script_python_fields(o->python, &o->script.python_fields));
	}
	if (o->event_dumps) {
		strbuf_addf(&likely, "%s.dump", recording_path(&o->recording));
		if (strbuf_failed(&likely))
			return error_nomem();
		o->recording.outputs[0] = likely.str;
	}
	for (size_t i = 0; i < ARRAY_SIZE(o->recording.outputs); i++)
		if (o->recording.outputs[i])
			TRY(cmd_check_writable(o->recording.outputs[i]));
	_cleanup_recording_ struct opened_recording r = {0};

	if (o->script.python) {
		char *none[] = {NULL};
		const struct python_script script = {
			.path = o->python,
			.is_written = o->writes_python,
			.args = o->args ? o->args : none,
			.input_is_taken = recording_is_input(&o->recording),
		};

		TRY(script_python_start(&script));
	}
	o->recording.parameters = o->verbose > 0;
	o->recording.lines = field_choice_has(&o->fields, FIELD_SRCLINE | FIELD_SRCCODE) ||
			     o->script.python_fields & (FIELD_SRCLINE | FIELD_SRCCODE);
	TRY(recording_open(&o->recording, &o->log, &r));
	_cleanup_strbuf_ struct strbuf head = STRBUF_INIT;
	if (o->script.python && is_of_this_machine(&r)) {
		script_python_head(&head);
		o->script.head = strbuf_str(&head);
	}
	o->script.sz = sizeof(o->script);
	o->script.recording = &r;
	o->script.dump_features = o->script.header || o->script.topology;
	o->script.fields = &o->fields;
	o->script.max_stack = o->recording.max_stack;
	o->script.time_base = o->reltime     ? TIME_SINCE_FIRST
			      : o->deltatime ? TIME_SINCE_LAST
					     : TIME_RECORDED;
	o->script.write = recording_write_out;
	if (o->event_dumps && !o->script.header_only)
		return run_event_dumps(o, r.path, strbuf_str(&likely));
	if (makes_timeline(o))
		return run_timeline(o, &r);
	TRY(script_print(&o->script));
	if (o->script.python)
		script_python_end();
	return NULL;
}

int cmd_script(int argc, char **argv)
{
	struct script_options o = {
		.log = cmd_log(0),
		.recording.inlines = true,
		.recording.filter.switch_by_shown = true, /* as perf script, unlike its report */
	};
	char name[] = "perf-bpf script";

	field_choice_init(&o.fields);
	argv[0] = name;
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	signal(SIGPIPE, SIG_IGN);
	struct error *err = run(&o);
	names_deinit(&o.chain_end);
	return err ? cmd_fail(err) : 0;
}
