// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf record: the options, and what is said at the end. */
#include <argp.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/config.h"
#include "cmd/job.h"
#include "cmd/privileges.h"
#include "cmd/record_delegated.h"
#include "cmd/streams.h"
#include "cmd/typed_programs.h"
#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "perf/event/sample_regs.h"
#include "perf/record/record.h"
#include "sym/sym.h"

enum {
	OPT_FILTER = 256,
	OPT_OBJECT,
	OPT_CALL_GRAPH,
	OPT_USER_REGS,
	OPT_NO_BUFFERING,
	OPT_CLANG_OPT,
	OPT_MAX_SIZE,
	OPT_VMLINUX,
	OPT_ATTACH,
	OPT_BUILDID_MMAP,
	OPT_NO_BUILDID_MMAP,
	OPT_ALL_CGROUPS,
	OPT_CONTAINER,
	OPT_POD,
	OPT_NAMESPACES,
	OPT_PHYS_DATA,
	OPT_SAMPLE_CPU,
	OPT_SWITCH_EVENTS,
	OPT_LATENCY,
	OPT_STRICT_FREQ,
	OPT_PER_THREAD,
	OPT_ALL_USER,
	OPT_ALL_KERNEL,
	OPT_NO_BPF_EVENT,
	OPT_RUNNING_TIME,
	OPT_CODE_PAGE_SIZE,
	OPT_DATA_PAGE_SIZE,
	OPT_DATA_MMAP,
	OPT_TRANSACTION,
	OPT_SAMPLE_IDENTIFIER,
	OPT_USER_CALLCHAINS,
	OPT_KERNEL_CALLCHAINS,
	OPT_EXCLUDE_PERF,
	OPT_TIMESTAMP_BOUNDARY,
	OPT_CONTROL,
	OPT_TIMESTAMP_FILENAME,
	OPT_BUILDID_ALL,
	OPT_SWITCH_OUTPUT,
	OPT_SWITCH_MAX_FILES,
	OPT_OVERWRITE,
	OPT_TAIL_SYNTHESIZE,
	OPT_SWITCH_OUTPUT_EVENT,
	OPT_MMAP_FLUSH,
	OPT_SAMPLE_MEM_INFO,
	OPT_DRY_RUN,
	OPT_NUM_THREAD_SYNTHESIZE,
	OPT_SYNTH,
	OPT_THREADS,
	OPT_KCORE,
	OPT_OFF_CPU,
	OPT_OFF_CPU_THRESH,
};

static const struct argp_option options[] = {
	{"event", 'e', "EVENT", 0,
	 "Record this event: a tracepoint (SYSTEM:NAME, globs), a software, hardware or raw event, "
	 "a probe (probe:DEFINITION, see perf-bpf-probes(7)), or a BPF program (FILE.c, FILE.o); a "
	 "comma-separated list; may be repeated"},
	{"filter", OPT_FILTER, "FILTER", 0,
	 "Filter the events of the preceding -e: tracepoints by their fields, others by fields of "
	 "the sample ('period > 1000, cpu == 1')"},
	{"object", OPT_OBJECT, "FILE", 0,
	 "Load the BPF programs of FILE.c or FILE.o; may be repeated"},
	{"clang-opt", OPT_CLANG_OPT, "OPTIONS", 0, "Options for clang, which compiles FILE.c"},
	{"all-cpus", 'a', NULL, 0, "Record all processes on all CPUs"},
	{"cpu", 'C', "LIST", 0, "Record on these CPUs only: 0,2-3"},
	{"pid", 'p', "PID", 0, "Record these processes: comma-separated"},
	{"tid", 't', "TID", 0, "Record these threads: comma-separated"},
	{"uid", 'u', "USER", 0,
	 "Record the processes of these users, and their children: comma-separated"},
	{"count", 'c', "N", 0, "Take a sample every N events"},
	{"freq", 'F', "HZ", 0, "Take HZ samples per second; 'max' uses the limit of the kernel"},
	{"strict-freq", OPT_STRICT_FREQ, NULL, 0,
	 "Fail if the kernel does not allow the frequency of -F, instead of using its limit"},
	{NULL, 'g', NULL, 0, "Record call chains"},
	{"call-graph", OPT_CALL_GRAPH, "MODE", 0,
	 "Record call chains; MODE is fp (frame pointers), lbr (branch records of the CPU) or "
	 "dwarf[,BYTES] (copies of the stack, 8192 bytes by default)"},
	{"user-callchains", OPT_USER_CALLCHAINS, NULL, 0,
	 "Record call chains without the kernel's frames"},
	{"kernel-callchains", OPT_KERNEL_CALLCHAINS, NULL, 0,
	 "Record call chains without the user's frames"},
	{"data", 'd', NULL, 0, "Record the data addresses of samples, and mappings of data"},
	{"phys-data", OPT_PHYS_DATA, NULL, 0, "Record the physical addresses of the data"},
	{"weight", 'W', NULL, 0, "Record the weight (cost) of each sample"},
	{"sample-mem-info", OPT_SAMPLE_MEM_INFO, NULL, 0,
	 "Record the data source of each memory access; included in -d"},
	{"data-page-size", OPT_DATA_PAGE_SIZE, NULL, 0,
	 "Record the page size of each data address"},
	{"code-page-size", OPT_CODE_PAGE_SIZE, NULL, 0,
	 "Record the page size of each instruction address"},
	{"data-mmap", OPT_DATA_MMAP, NULL, 0, "Record mappings that are not executable"},
	{"transaction", OPT_TRANSACTION, NULL, 0, "Record the transaction flags of each sample"},
	{"raw-samples", 'R', NULL, 0, "Record the raw data of events that have them"},
	{"branch-any", 'b', NULL, 0,
	 "Record the last branches with each sample (branch stack), if the PMU supports it"},
	{"branch-filter", 'j', "NAME,...", 0,
	 "As -b, but only of these types: any, any_call, any_ret, ind_call, ind_jmp, cond, call, "
	 "stack, u, k, ..."},
	{"period", 'P', NULL, 0, "Record the period of each sample, even if it is fixed"},
	{"sample-cpu", OPT_SAMPLE_CPU, NULL, 0, "Record the CPU of each sample, also without -a"},
	{"timestamp", 'T', NULL, 0, "Record the time of each sample: always done"},
	{"timestamp-boundary", OPT_TIMESTAMP_BOUNDARY, NULL, 0,
	 "Record the times of the first and the last sample: always done"},
	{"clockid", 'k', "CLOCK", 0,
	 "Use this clock: monotonic, monotonic_raw, realtime, boottime, tai or a number"},
	{"sample-identifier", OPT_SAMPLE_IDENTIFIER, NULL, 0,
	 "Record the id of the event in each sample, even if there is only one event"},
	{"exclude-perf", OPT_EXCLUDE_PERF, NULL, 0,
	 "Do not record the tracepoints of perf-bpf itself: always done"},
	{"stat", 's', NULL, 0,
	 "Record the counts of each thread of the command when it ends, for report --threads"},
	{"running-time", OPT_RUNNING_TIME, NULL, 0,
	 "Record how long the events of :S groups were enabled and running"},
	{"latency", OPT_LATENCY, NULL, 0,
	 "Record the context switches of the command or processes, for report --latency"},
	{"switch-events", OPT_SWITCH_EVENTS, NULL, 0, "Record context switches"},
	{"off-cpu", OPT_OFF_CPU, NULL, 0,
	 "Also record how long tasks sleep, with call chains, as the event offcpu-time"},
	{"off-cpu-thresh", OPT_OFF_CPU_THRESH, "MS", 0,
	 "Write a sample for each sleep of at least MS milliseconds (500); shorter ones are "
	 "summed"},
	{"mmap-pages", 'm', "PAGES", 0, "Ring size in pages, or a size such as 512K or 4M"},
	{"mmap-flush", OPT_MMAP_FLUSH, "SIZE", 0,
	 "Read a ring only when it contains this many bytes; at most a quarter of the ring"},
	{"threads", OPT_THREADS, "SPEC", OPTION_ARG_OPTIONAL,
	 "Write a directory with one file per ring, with one thread per cpu (default), core, "
	 "package or numa node, or RINGS/RUNS:... (lists of CPUs)"},
	{"kcore", OPT_KCORE, NULL, 0,
	 "Write a directory that also has the kernel's symbols and code, for annotate"},
	{"overwrite", OPT_OVERWRITE, NULL, 0,
	 "Overwrite the oldest samples in the rings, and write the rings at the end or when "
	 "--switch-output starts a new file"},
	{"tail-synthesize", OPT_TAIL_SYNTHESIZE, NULL, 0,
	 "Record existing processes and mappings at the end of the file instead of at its "
	 "beginning"},
	{"output", 'o', "FILE", 0, "Write to FILE (perf.data); '-' is standard output"},
	{"timestamp-filename", OPT_TIMESTAMP_FILENAME, NULL, 0,
	 "Append the date and time at which the recording starts to the name of FILE"},
	{"realtime", 'r', "PRIORITY", 0,
	 "Read the rings as a realtime process (SCHED_FIFO) of this priority, 1 to 99"},
	{"delay", 'D', "MS", 0,
	 "Start recording MS milliseconds after the workload starts; -1 starts with events "
	 "disabled; START-END,... records only in these time ranges, in milliseconds"},
	{"control", OPT_CONTROL, "fifo:PATH[,ACK]|fd:N[,ACK]", 0,
	 "Read commands (enable, disable, evlist, ping, stop) from this FIFO or descriptor, and "
	 "write the answers to ACK"},
	{"per-thread", OPT_PER_THREAD, NULL, 0,
	 "Use a ring for each thread instead of each CPU; new threads and children are not "
	 "recorded"},
	{"no-samples", 'n', NULL, 0, "Take no samples"},
	{"synth", OPT_SYNTH, "TYPE,...", 0,
	 "Record these data of existing processes: task (names and threads), mmap (also mappings), "
	 "cgroup, all (default) or no"},
	{"num-thread-synthesize", OPT_NUM_THREAD_SYNTHESIZE, "N", 0,
	 "Accepted for compatibility with perf; has no effect"},
	{"dry-run", OPT_DRY_RUN, NULL, 0, "Check the options and events, and end"},
	{"all-user", OPT_ALL_USER, NULL, 0, "Record all events in user space only"},
	{"all-kernel", OPT_ALL_KERNEL, NULL, 0, "Record all events in the kernel only"},
	{"no-bpf-event", OPT_NO_BPF_EVENT, NULL, 0, "Do not record BPF programs and their code"},
	{"no-inherit", 'i', NULL, 0, "Do not record child tasks"},
	{"no-buffering", OPT_NO_BUFFERING, NULL, 0,
	 "Write each record immediately, without buffering"},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "Stop when the file reaches SIZE, such as 100M or 2G"},
	{"switch-output", OPT_SWITCH_OUTPUT, "signal|SIZE|TIME", OPTION_ARG_OPTIONAL,
	 "Split the recording: start a new file at SIGUSR2, at SIZE (100M) or after TIME (10s, "
	 "5m); finished files are named FILE.DATE"},
	{"switch-output-event", OPT_SWITCH_OUTPUT_EVENT, "EVENT", 0,
	 "Start a new file, as with --switch-output, when this event occurs; the event is not "
	 "recorded"},
	{"switch-max-files", OPT_SWITCH_MAX_FILES, "N", 0,
	 "With --switch-output, keep only the last N files"},
	{"compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL,
	 "Compress with zstd level LEVEL, 1 to 22 (default 1)"},
	{"no-buildid", 'B', NULL, 0, "Do not collect build ids"},
	{"no-buildid-cache", 'N', NULL, 0,
	 "Do not copy the files of samples to the build-id cache, ~/.debug"},
	{"buildid-all", OPT_BUILDID_ALL, NULL, 0,
	 "Collect the build ids of all code that is mapped, also without samples"},
	{"buildid-mmap", OPT_BUILDID_MMAP, NULL, 0,
	 "Record build ids only with the mappings, from the kernel"},
	{"no-buildid-mmap", OPT_NO_BUILDID_MMAP, NULL, 0,
	 "Do not record build ids with mappings; read them from the files at the end"},
	{"user-regs", OPT_USER_REGS, "REG,...", OPTION_ARG_OPTIONAL,
	 "Record these registers of user space (all); '?' lists them"},
	{"intr-regs", 'I', "REG,...", OPTION_ARG_OPTIONAL,
	 "Record these registers at the interrupt (all); '?' lists them"},
	{"cgroup", 'G', "PATH,...", 0,
	 "Record these cgroups and their descendants: one for all events, or one for each event"},
	{"container", OPT_CONTAINER, "ID", 0,
	 "Record these containers: ids or their first digits, comma-separated"},
	{"pod", OPT_POD, "UID", 0, "Record these pods: comma-separated"},
	{"all-cgroups", OPT_ALL_CGROUPS, NULL, 0,
	 "Record the cgroup of each sample, which also gives its container and pod"},
	{"namespaces", OPT_NAMESPACES, NULL, 0, "Record the namespaces of processes"},
	{"vmlinux", OPT_VMLINUX, "FILE", 0, "Kernel image with debug information, for probes"},
	{"attach", OPT_ATTACH, "METHOD", 0,
	 "Attach method of probes: fentry, kprobe.multi, uprobe.multi, kprobe or uprobe"},
	{"way", OPT_ATTACH, "METHOD", OPTION_HIDDEN, NULL, 0}, /* its name in 0.1.0 */
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)"},
	{"quiet", 'q', NULL, 0, "Print only errors"},
	{0},
};

enum { MAX_SPANS = 64 };

struct record_args {
	struct record_opts opts;
	VEC(struct record_arg) list;
	const char *clang_opt;
	int verbose;
	bool dry_run;
	bool quiet, no_buildid_cache, timestamp_filename, latency;
	struct record_span spans[MAX_SPANS];
};

/* "100M" and the like; a bare number is bytes. */
static bool parse_size(const char *text, uint64_t *value)
{
	static const char units[] = "BKMG";
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || end == text || text[0] == '-' || !*value || *value > UINT64_MAX >> 31)
		return false;
	if (!*end)
		return true;
	const char *unit = strchr(units, toupper((unsigned char)*end));
	if (!unit || end[1])
		return false;
	*value <<= 10 * (unit - units);
	return true;
}

static void add_arg(struct argp_state *state, enum record_arg_kind kind, const char *text)
{
	struct record_args *args = state->input;
	struct record_arg *arg = vec_push(&args->list);

	if (!arg)
		argp_failure(state, 1, ENOMEM, "options");
	*arg = (struct record_arg){.kind = kind, .text = text};
}

static error_t parse_delay(struct argp_state *state, const char *text)
{
	struct record_args *args = state->input;
	uint64_t v;

	args->opts.n_spans = 0;
	if (!strcmp(text, "-1"))
		args->opts.delay_ms = -1;
	else if (*text != '-' && strchr(text, '-')) {
		struct error *err =
			record_spans_parse(text, args->spans, MAX_SPANS, &args->opts.n_spans);
		if (err)
			exit(cmd_fail(err));
		args->opts.spans = args->spans;
	} else if (option_number(text, INT32_MAX, &v))
		args->opts.delay_ms = v;
	else
		argp_error(state, "-D %s: expected milliseconds, -1 or START-END,...", text);
	return 0;
}

static void parse_regs(const char *option, const char *text, uint64_t *regs)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	if (!strcmp(text, "?")) {
		sample_regs_list(&names);
		puts(strbuf_str(&names));
		exit(0);
	}
	struct error *err = sample_regs_parse(text, regs);
	if (err)
		exit(cmd_fail(error_mark_usage(error_at(err, "%s", option))));
}

static void parse_switch(struct record_opts *o, const char *text)
{
	const struct record_switch before = o->switch_output;
	struct error *err = record_switch_parse(text ? text : "signal", &o->switch_output);

	if (err)
		exit(cmd_fail(err));
	o->switch_output.max_files = before.max_files;
	o->switch_output.event = before.event;
	o->no_build_ids = true;
}

static const struct option_member members[] = {
	OPTION_SETS(OPT_CLANG_OPT, struct record_args, clang_opt),
	OPTION_SETS('a', struct record_args, opts.all_cpus),
	OPTION_SETS(OPT_KCORE, struct record_args, opts.kcore),
	OPTION_SETS('C', struct record_args, opts.cpus),
	OPTION_SETS('p', struct record_args, opts.pids),
	OPTION_SETS('t', struct record_args, opts.tids),
	OPTION_SETS('u', struct record_args, opts.users),
	OPTION_SETS('o', struct record_args, opts.output),
	OPTION_SETS('i', struct record_args, opts.no_inherit),
	OPTION_SETS(OPT_NO_BUFFERING, struct record_args, opts.no_buffering),
	OPTION_SETS(OPT_BUILDID_ALL, struct record_args, opts.all_build_ids),
	OPTION_SETS('B', struct record_args, opts.no_build_ids),
	OPTION_SETS('N', struct record_args, no_buildid_cache),
	OPTION_SETS(OPT_VMLINUX, struct record_args, opts.vmlinux),
	OPTION_SETS(OPT_CONTAINER, struct record_args, opts.cgroups.containers),
	OPTION_SETS(OPT_POD, struct record_args, opts.cgroups.pods),
	OPTION_SETS(OPT_ALL_CGROUPS, struct record_args, opts.all_cgroups),
	OPTION_SETS(OPT_NAMESPACES, struct record_args, opts.namespaces),
	OPTION_SETS(OPT_LATENCY, struct record_args, latency),
	OPTION_SETS(OPT_SWITCH_EVENTS, struct record_args, opts.switches),
	OPTION_SETS(OPT_OFF_CPU, struct record_args, opts.off_cpu),
	OPTION_SETS(OPT_STRICT_FREQ, struct record_args, opts.strict_freq),
	OPTION_SETS(OPT_PER_THREAD, struct record_args, opts.per_thread),
	OPTION_SETS(OPT_ALL_USER, struct record_args, opts.only_user),
	OPTION_SETS(OPT_ALL_KERNEL, struct record_args, opts.only_kernel),
	OPTION_SETS(OPT_NO_BPF_EVENT, struct record_args, opts.no_bpf_events),
	OPTION_SETS('s', struct record_args, opts.thread_counts),
	OPTION_SETS(OPT_TIMESTAMP_FILENAME, struct record_args, timestamp_filename),
	OPTION_SETS(OPT_CONTROL, struct record_args, opts.control),
	OPTION_SETS(OPT_DATA_MMAP, struct record_args, opts.data_maps),
	OPTION_SETS(OPT_SAMPLE_IDENTIFIER, struct record_args, opts.with_ids),
	OPTION_SETS(OPT_USER_CALLCHAINS, struct record_args, opts.no_kernel_chains),
	OPTION_SETS(OPT_KERNEL_CALLCHAINS, struct record_args, opts.no_user_chains),
	OPTION_SETS(OPT_RUNNING_TIME, struct record_args, opts.running_time),
	OPTION_SETS('n', struct record_args, opts.no_samples),
	OPTION_SETS(OPT_DRY_RUN, struct record_args, dry_run),
	OPTION_SETS(OPT_OVERWRITE, struct record_args, opts.overwrite),
	OPTION_SETS(OPT_TAIL_SYNTHESIZE, struct record_args, opts.tail_synthesize),
	OPTION_SETS('v', struct record_args, verbose),
	OPTION_SETS('q', struct record_args, quiet),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct record_args *args = state->input;
	struct record_opts *o = &args->opts;
	struct error *err;
	uint64_t v;

	switch (key) {
	case 'e':
		add_arg(state, RECORD_EVENTS, arg);
		return 0;
	case OPT_FILTER:
		add_arg(state, RECORD_FILTER, arg);
		return 0;
	case OPT_OBJECT:
		add_arg(state, RECORD_OBJECT, arg);
		return 0;
	case 'G':
		if (args->list.n)
			add_arg(state, RECORD_CGROUPS, arg);
		else
			o->cgroups.cgroups = arg;
		return 0;
	case 'c':
		o->period = option_period(state, arg);
		return 0;
	case 'F':
		o->freq = option_frequency(state, arg);
		return 0;
	case 'g':
	case OPT_CALL_GRAPH:
		err = select_callgraph_parse(arg, &o->callgraph, &o->stack_size);
		if (err)
			exit(cmd_fail(err));
		return 0;
	case 'd':
		o->data_addresses = true;
		o->sample_type |= PERF_SAMPLE_DATA_SRC;
		return 0;
	case OPT_SAMPLE_MEM_INFO:
		o->sample_type |= PERF_SAMPLE_DATA_SRC;
		return 0;
	case OPT_THREADS:
		o->threads = arg ? arg : "cpu";
		return 0;
	case OPT_SYNTH:
		err = record_synth_parse(arg, o);
		if (err)
			exit(cmd_fail(err));
		return 0;
	case OPT_NUM_THREAD_SYNTHESIZE: /* how many threads read /proc changes nothing in the file
					 */
		if (!option_number(arg, UINT16_MAX, &(uint64_t){0}))
			argp_error(state, "--num-thread-synthesize: '%s' is not a number", arg);
		return 0;
	case OPT_MMAP_FLUSH:
		if (!parse_size(arg, &o->mmap_flush))
			argp_error(state, "--mmap-flush %s: expected a size such as 64K", arg);
		return 0;
	case OPT_PHYS_DATA:
		o->sample_type |= PERF_SAMPLE_PHYS_ADDR;
		return 0;
	case 'W':
		o->sample_type |= PERF_SAMPLE_WEIGHT;
		return 0;
	case 'P':
		o->sample_type |= PERF_SAMPLE_PERIOD;
		return 0;
	case OPT_SAMPLE_CPU:
		o->sample_type |= PERF_SAMPLE_CPU;
		return 0;
	case 'T':
	case OPT_TIMESTAMP_BOUNDARY:
	case OPT_EXCLUDE_PERF:
		return 0;
	case OPT_USER_REGS:
		if (arg)
			parse_regs("--user-regs", arg, &o->user_regs);
		else
			o->user_regs = sample_regs_all();
		return 0;
	case 'I':
		if (arg)
			parse_regs("--intr-regs", arg, &o->intr_regs);
		else
			o->intr_regs = sample_regs_all();
		return 0;
	case 'k':
		err = select_clock_parse(arg, &o->clock);
		if (err)
			exit(cmd_fail(err));
		o->has_clock = true;
		return 0;
	case 'b':
		o->branches = PERF_SAMPLE_BRANCH_ANY;
		return 0;
	case 'j':
		err = select_branches_parse(arg, &o->branches);
		if (err)
			exit(cmd_fail(err));
		return 0;
	case OPT_CODE_PAGE_SIZE:
		o->sample_type |= PERF_SAMPLE_CODE_PAGE_SIZE;
		return 0;
	case OPT_DATA_PAGE_SIZE:
		o->sample_type |= PERF_SAMPLE_DATA_PAGE_SIZE;
		return 0;
	case OPT_TRANSACTION:
		o->sample_type |= PERF_SAMPLE_TRANSACTION;
		return 0;
	case 'R':
		o->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU;
		return 0;
	case 'm':
		option_check(state, "-m",
			     record_pages_parse(arg, sysconf(_SC_PAGESIZE), &o->mmap_pages));
		return 0;
	case 'D':
		return parse_delay(state, arg);
	case 'r':
		o->realtime = option_realtime(state, arg);
		return 0;
	case OPT_MAX_SIZE:
		if (!parse_size(arg, &o->max_size))
			argp_error(state, "--max-size %s: expected a size such as 100M", arg);
		return 0;
	case OPT_SWITCH_OUTPUT:
		parse_switch(o, arg);
		return 0;
	case OPT_SWITCH_OUTPUT_EVENT:
		o->switch_output.event = arg;
		if (!o->switch_output.by)
			parse_switch(o, NULL);
		return 0;
	case OPT_SWITCH_MAX_FILES:
		if (!option_number(arg, INT32_MAX, &v) || !v)
			argp_error(state, "--switch-max-files %s: expected a number of files", arg);
		o->switch_output.max_files = (unsigned)v;
		return 0;
	case OPT_OFF_CPU_THRESH:
		if (!option_number(arg, INT64_MAX / 1000000, &v))
			argp_error(state, "--off-cpu-thresh %s: expected milliseconds", arg);
		o->off_cpu_ns = v * 1000000;
		return 0;
	case 'z':
		if (arg && (!option_number(arg, 22, &v) || !v))
			argp_error(state, "-z %s: expected a level from 1 to 22", arg);
		o->zstd_level = arg ? v : 1;
		return 0;
	case OPT_BUILDID_MMAP:
		o->buildid_mmap = RECORD_BUILDID_MMAP_YES;
		o->no_build_ids = true;
		return 0;
	case OPT_NO_BUILDID_MMAP:
		o->buildid_mmap = RECORD_BUILDID_MMAP_NO;
		return 0;
	case OPT_ATTACH:
		option_check(state, "--attach", probe_way_parse(arg, &o->probe_way));
		return 0;
	}
	if (!option_set(members, key, arg, args))
		return ARGP_ERR_UNKNOWN;
	if (o->only_user && o->only_kernel)
		argp_error(state, "choose one of --all-user and --all-kernel");
	if (o->no_kernel_chains && o->no_user_chains)
		argp_error(state, "choose one of --user-callchains and --kernel-callchains");
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARGS]]",
	.doc = "Record events to a perf.data file, filtered by BPF programs.\vOptions can also "
	       "follow '--', as in perf bpf record of 2015:\n  perf-bpf record --object FILE.o -- "
	       "-a sleep 4",
};

/*
 * Reads options up to the command. What follows "--" is the command, unless it
 * begins with an option: then those are ours as well.
 */
static int parse_args(int argc, char **argv, struct record_args *args)
{
	int index = 0;

	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ARGS, &index, args);
	if (index < argc && argv[index][0] == '-' && argv[index][1]) {
		char *before = argv[index - 1];

		argv[index - 1] = argv[0];
		int again = 0;
		cmd_parse(&argp, argc - index + 1, argv + index - 1, ARGP_IN_ORDER | ARGP_NO_ARGS,
			  &again, args);
		argv[index - 1] = before;
		index += again - 1;
	}
	return index;
}

static void add_loss(const struct record_loss *loss, struct strbuf *out)
{
	unsigned long long n = loss->count;

	switch (loss->kind) {
	case LEDGER_RING_LOST:
		strbuf_addf(out, "%llu of %s, no room in the ring", n, loss->name);
		break;
	case LEDGER_BPF_OUTPUT_LOST:
		strbuf_addf(out, "%llu BPF outputs to %s", n, loss->name);
		break;
	case LEDGER_PROG_MISSED:
		strbuf_addf(out, "%llu runs of program %s skipped by the kernel", n, loss->name);
		break;
	case LEDGER_LOST_SAMPLES:
		strbuf_addf(out, "%llu samples of %s", n, loss->name);
		break;
	case LEDGER_SIDEBAND_LOST:
		strbuf_addf(out, "and %llu side-band records (comm, mmap, fork, exit)", n);
		break;
	case LEDGER_RECORDS_LOST:
		strbuf_addf(out, "%llu samples and side-band records, no room in the ring", n);
		break;
	case LEDGER_CPU_OFFLINE:
		strbuf_addf(out, "%s offline for %.3f s", loss->name, loss->count / 1e9);
		break;
	case LEDGER_OVERWRITTEN:
		strbuf_addf(out, "%llu bytes of older records overwritten", n);
		break;
	case LEDGER_PIPE: /* no loss */
		break;
	case LEDGER_FILTERED:
		strbuf_addf(out, "%s filtered by %llu BPF program%s of other processes", loss->name,
			    n, n > 1 ? "s" : "");
		break;
	}
}

/* Kernels before 6.0 do not count by event. */
static void add_lost(const struct record_result *r, struct strbuf *out)
{
	const unsigned long long n = r->lost_total;
	bool any = false;

	for (size_t i = 0; i < r->n_losses; i++)
		any |= r->losses[i].kind == LEDGER_OVERWRITTEN;
	/* Of what was overwritten, nobody knows how many samples it was. */
	if (any)
		strbuf_adds(out, "only the last part");
	if (any && !n)
		return;
	if (any)
		strbuf_adds(out, ", ");
	if (r->lost == LOST_NOT_COUNTED && n)
		strbuf_addf(out, "lost samples not counted: the kernel reports %llu or more", n);
	else if (r->lost == LOST_NOT_COUNTED)
		strbuf_adds(out, "lost samples not counted");
	else
		strbuf_addf(out, "%s%llu lost", r->lost == LOST_UP_TO && n ? "up to " : "", n);
}

/* The last line tells what was written and what was lost; losses are told even with -q. */
static void print_end(const struct record_result *r, bool quiet)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (quiet && !r->n_losses && !r->unwritten)
		return;
	if (!quiet)
		strbuf_addf(&out, "[ perf-bpf record: Woken up %llu times to write data ]\n",
			    (unsigned long long)r->wakeups);
	strbuf_addf(
		&out,
		"[ perf-bpf record: Captured and wrote %.3f MB %s%s (%llu samples, %llu bytes, ",
		r->bytes / 1024.0 / 1024.0,
		strcmp(r->output, "-") ? r->output : "to standard output",
		r->has_dates ? ".<timestamp>" : "", (unsigned long long)r->samples,
		(unsigned long long)r->bytes);
	add_lost(r, &out);
	for (size_t i = 0; i < r->n_losses; i++) {
		strbuf_adds(&out, i ? "; " : ": ");
		add_loss(&r->losses[i], &out);
	}
	if (r->unwritten)
		strbuf_addf(&out, "%s %llu not written", r->n_losses ? ";" : ":",
			    (unsigned long long)r->unwritten);
	strbuf_adds(&out, ") ]\n");
	if (!quiet && r->stacks_broken)
		strbuf_addf(&out,
			    "[ perf-bpf record: %llu of %llu user stacks end in code without frame "
			    "pointers; use --call-graph dwarf to unwind them ]\n",
			    (unsigned long long)r->stacks_broken,
			    (unsigned long long)r->stacks_examined);
	if (strbuf_failed(&out))
		cmd_say("[ perf-bpf record: Wrote %llu samples, %llu bytes to %s; out of memory "
			"while listing the losses ]\n",
			(unsigned long long)r->samples, (unsigned long long)r->bytes,
			strcmp(r->output, "-") ? r->output : "standard output");
	else
		cmd_say("%s", strbuf_str(&out));
}

/* As perf record: the workload's status, or the signal that ended either. */
static int exit_status(const struct record_result *r)
{
	int sig = r->signal;

	if (r->workload_ended && WIFEXITED(r->workload_status) && !sig)
		return WEXITSTATUS(r->workload_status);
	if (r->workload_ended && WIFSIGNALED(r->workload_status) && !sig)
		sig = WTERMSIG(r->workload_status);
	return sig ? job_die(sig) : 0;
}

/* What the options leave open; *dir is the caller's. */
static struct error *configure_build_ids(struct record_args *args, const struct config *config,
					 char **dir)
{
	const char *value = config_get(config, "record.build-id");

	if (value && !strcmp(value, "skip"))
		args->opts.no_build_ids = true;
	else if (value && !strcmp(value, "no-cache"))
		args->no_buildid_cache = true;
	else if (value && strcmp(value, "cache"))
		return error_hint(error_new(EINVAL,
					    "configuration: record.build-id has the invalid value "
					    "'%s'",
					    value),
				  "use cache, no-cache or skip");
	if (args->opts.no_build_ids || args->no_buildid_cache)
		return NULL;
	*dir = buildid_cache_dir(config_get(config, "buildid.dir"));
	args->opts.buildid_dir = *dir;
	return NULL;
}

/* As perf writes it: the path of the program, its command, and the arguments. The caller's. */
static const char **command_line(int argc, char **argv, char path[PATH_MAX])
{
	const char **line = calloc((size_t)argc + 2, sizeof(*line));
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (!line)
		return NULL;
	if (n > 0)
		path[n] = 0;
	else
		snprintf(path, PATH_MAX, "perf-bpf");
	line[0] = path;
	line[1] = "record";
	for (int i = 1; i < argc; i++)
		line[i + 1] = argv[i];
	return line;
}

/* record_opts.enter; ctx: the options */
static struct error *enter(void *ctx, enum record_phase phase)
{
	const struct record_opts *o = ctx;

	return privileges_of_recorder(phase, o->buildid_dir, o->switch_output.by, o->log);
}

/* record_opts.confine_files; ctx: the options */
static struct error *confine_files(void *ctx)
{
	const struct record_opts *o = ctx;

	return privileges_of_file_series(o->output, o->log);
}

/* "perf.data.2026112314213307"; NULL: no memory. */
static char *dated_name(const char *name)
{
	char date[CLOCK_DATE_SIZE];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return clock_date(now, date) ? text_format("%s.%s", name, date) : NULL;
}

/* record_opts.say: as perf, beside what is recorded */
static void say(void *ctx, const char *text)
{
	cmd_say("%s\n", text);
}

int cmd_record(int argc, char **argv)
{
	struct record_args args = {
		.opts = {.sz = sizeof(args.opts), .output = "perf.data", .off_cpu_ns = 500000000}};
	struct compile_opts compile = {0};
	_cleanup_typed_programs_ struct typed_programs programs = {0};
	_cleanup_config_ struct config *config = NULL;
	_cleanup_(recording_freep) struct recording *rec = NULL;
	struct record_delegated delegated = {.session = DELEGATED_INIT};
	struct error *err;

	int index = parse_args(argc, argv, &args);
	struct log log = cmd_log(args.verbose);
	struct record_opts *o = &args.opts;
	o->log = args.quiet ? NULL : &log;
	o->args = args.list.v;
	o->n_args = args.list.n;
	o->workload = index < argc ? argv + index : NULL;
	char path[PATH_MAX];
	_cleanup_free_ const char **line = command_line(argc, argv, path);
	o->argc = line ? argc + 1 : 0;
	o->argv = line;
	o->compile = &compile;
	o->confine_finder = privileges_of_finder;
	o->enter = enter;
	o->enter_ctx = o;
	o->confine_files = confine_files;
	o->confine_files_ctx = o;
	o->say = args.quiet ? NULL : say;
	if (o->switch_output.max_files && !o->switch_output.by)
		return cmd_fail(error_usage("--switch-max-files needs --switch-output"));
	if (o->kcore && (o->switch_output.by || args.timestamp_filename)) {
		vec_deinit(&args.list);
		return cmd_fail(error_usage("--kcore cannot be used with --switch-output or "
					    "--timestamp-filename"));
	}
	if (o->threads && (o->switch_output.by || o->per_thread || args.timestamp_filename)) {
		vec_deinit(&args.list);
		return cmd_fail(error_usage("--threads cannot be used with --switch-output, "
					    "--per-thread or --timestamp-filename"));
	}
	if (o->off_cpu && o->switch_output.by) {
		vec_deinit(&args.list);
		return cmd_fail(
			error_hint(error_usage("--off-cpu cannot be used with --switch-output"),
				   "its sums are written at the end, but the last file has no "
				   "records of tasks that ended before"));
	}
	if (args.latency && o->all_cpus)
		return cmd_fail(error_usage("--latency: the latency of a whole machine is not "
					    "defined; record a command or processes"));
	o->switches |= args.latency;
	if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO)) {
		err = error_new(EINVAL, "standard output is a terminal");
		err = error_hint(err, "pipe it to 'perf-bpf script -i -', or give a file with -o");
		vec_deinit(&args.list);
		return cmd_fail(err);
	}
	_cleanup_free_ char *dated =
		args.timestamp_filename && !o->switch_output.by && strcmp(o->output, "-")
			? dated_name(o->output)
			: NULL;
	if (dated)
		o->output = dated;
	job_begin();
	streams_begin();
	_cleanup_free_ char *buildid_dir = NULL;
	err = config_load_compile(o->log, args.clang_opt, &config, &compile);
	if (!err)
		err = config_get_bool(config, "record.compressed2", false, &o->compressed2);
	if (!err)
		err = configure_build_ids(&args, config, &buildid_dir);
	for (size_t i = 0; i < args.list.n && !err; i++)
		if (args.list.v[i].kind == RECORD_EVENTS)
			err = typed_filter_add(&programs, &compile, &args.list.v[i].text);
	typed_programs_listen(&programs, &compile);
	if (!err)
		err = recording_new(o, &rec);
	if (!err)
		err = args.dry_run ? recording_check(rec) : recording_run(rec);
	if (!err && args.dry_run) {
		vec_deinit(&args.list);
		return 0;
	}
	err = typed_programs_explain(&programs, err);
	const bool has_object = err && record_has_object(o);
	if (has_object)
		err = delegated_advise(err);
	if (rec && has_object && is_delegated(err) && !recording_result(rec)->started) {
		error_free(err);
		recording_free(steal_ptr(rec));
		err = record_delegated_new(o, &delegated, &rec);
		if (!err)
			err = recording_run(rec);
	}
	const struct record_result *result = rec ? recording_result(rec) : NULL;
	int status;
	if (err) {
		status = err->code == ECHILD ? 255 : err->usage ? 2 : 1;
		if (result && result->started && status == 1)
			print_end(result, args.quiet);
		cmd_fail(err);
	} else {
		print_end(result, args.quiet);
		struct record_result copy = *result;
		/* When a signal ends us, nothing of the recording is left. */
		recording_free(steal_ptr(rec));
		status = exit_status(&copy);
		if (!status && delegated.session.ended)
			status = DETACHED;
	}
	delegated_deinit(&delegated.session);
	vec_deinit(&args.list);
	return status;
}
