// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/recording.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/config.h"
#include "cmd/demangling.h"
#include "cmd/kernel_code.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "cmd/process_files.h"
#include "cmd/recorded_kernel.h"

/* Above the keys of the commands' own options, which begin at 256. */
enum {
	OPT_PID = 2048,
	OPT_TID,
	OPT_TIME,
	OPT_WHERE,
	OPT_KALLSYMS,
	OPT_SYMFS,
	OPT_NO_DEMANGLE,
	OPT_DEMANGLE,
	OPT_DEMANGLE_KERNEL,
	OPT_MAX_STACK,
	OPT_CGROUP,
	OPT_CONTAINER,
	OPT_POD,
	OPT_SWITCH_ON,
	OPT_SWITCH_OFF,
	OPT_SHOW_ON_OFF,
};

static const struct argp_option own_options[] = {
	{"input", 'i', "FILE", 0, "Read FILE instead of perf.data; - is standard input", 0},
	{"comms", 'c', "COMM,...", 0, "Select samples of threads with these names", 0},
	{"cpu", 'C', "LIST", 0, "Select samples of these CPUs: 0,2-3", 0},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Show at most N entries of a call chain (127)", 0},
	{0},
};

static const struct argp_option options[] = {
	{"force", 'f', NULL, 0, "Read a file that belongs to another user", 0},
	{"pid", OPT_PID, "PID,...", 0, "Select samples of these processes", 0},
	{"tid", OPT_TID, "TID,...", 0, "Select samples of these threads", 0},
	{"symbols", 'S', "SYMBOL,...", 0,
	 "Select samples in these functions, or at these addresses (0x...)", 0},
	{"time", OPT_TIME, "SPANS", 0,
	 "Select samples in these time ranges: START,STOP in seconds (either can be empty), or "
	 "parts of the recording: 10%/2 (the second tenth), 10%-20%",
	 0},
	{"where", OPT_WHERE, "CONDITION", 0,
	 "Select samples by their fields: 'count > 4096 && comm == \"dd\"'", 0},
	{"cgroup", OPT_CGROUP, "PATH,...", 0,
	 "Select samples of these cgroups and their descendants", 0},
	{"container", OPT_CONTAINER, "ID,...", 0,
	 "Select samples of these containers; the first digits of the id are enough", 0},
	{"pod", OPT_POD, "UID,...", 0, "Select samples of these pods", 0},
	{"switch-on", OPT_SWITCH_ON, "EVENT", 0,
	 "Start selecting samples when this event occurs, also again after --switch-off", 0},
	{"switch-off", OPT_SWITCH_OFF, "EVENT", 0,
	 "Stop selecting samples when this event occurs, until --switch-on", 0},
	{"show-on-off-events", OPT_SHOW_ON_OFF, NULL, 0,
	 "Also select the samples of the --switch-on and --switch-off events", 0},
	{"kallsyms", OPT_KALLSYMS, "FILE", 0, "Read the kernel's symbols from FILE", 0},
	{"vmlinux", 'k', "FILE", 0, "Read the kernel's symbols from this image", 0},
	{"symfs", OPT_SYMFS, "DIR", 0, "Look for binaries below DIR", 0},
	{"demangle", OPT_DEMANGLE, NULL, 0, "Demangle C++ and Rust names (default)", 0},
	{"demangle-kernel", OPT_DEMANGLE_KERNEL, NULL, 0,
	 "Demangle C++ and Rust names of the kernel", 0},
	{"no-demangle", OPT_NO_DEMANGLE, NULL, 0, "Do not demangle C++ and Rust names", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS('i', struct recording_opts, input),
	OPTION_SETS('f', struct recording_opts, force),
	OPTION_SETS('c', struct recording_opts, filter.comms),
	OPTION_SETS(OPT_PID, struct recording_opts, filter.pids),
	OPTION_SETS(OPT_TID, struct recording_opts, filter.tids),
	OPTION_SETS('C', struct recording_opts, filter.cpus),
	OPTION_SETS('S', struct recording_opts, filter.symbols),
	OPTION_SETS(OPT_TIME, struct recording_opts, filter.time),
	OPTION_SETS(OPT_WHERE, struct recording_opts, filter.where),
	OPTION_SETS(OPT_CGROUP, struct recording_opts, filter.cgroups),
	OPTION_SETS(OPT_CONTAINER, struct recording_opts, filter.containers),
	OPTION_SETS(OPT_POD, struct recording_opts, filter.pods),
	OPTION_SETS(OPT_SWITCH_ON, struct recording_opts, filter.switch_on),
	OPTION_SETS(OPT_SWITCH_OFF, struct recording_opts, filter.switch_off),
	OPTION_SETS(OPT_SHOW_ON_OFF, struct recording_opts, filter.show_on_off),
	OPTION_SETS(OPT_KALLSYMS, struct recording_opts, kallsyms),
	OPTION_SETS('k', struct recording_opts, vmlinux),
	OPTION_SETS(OPT_SYMFS, struct recording_opts, symfs),
	OPTION_CLEARS(OPT_DEMANGLE, struct recording_opts, no_demangle),
	OPTION_SETS(OPT_DEMANGLE_KERNEL, struct recording_opts, demangle_kernel),
	OPTION_SETS(OPT_NO_DEMANGLE, struct recording_opts, no_demangle),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recording_opts *opts = state->input;
	uint64_t number;

	if (key == ARGP_KEY_INIT && state->child_inputs)
		state->child_inputs[0] = opts;
	if (key == OPT_MAX_STACK) {
		if (!option_number(arg, UINT_MAX, &number) || !number)
			argp_error(state, "--max-stack: '%s' is not a number of at least 1", arg);
		opts->max_stack = (unsigned)number;
		return 0;
	}
	return option_set(members, key, arg, opts) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp recording_filter_argp = {.options = options, .parser = parse_option};

static const struct argp_child own_children[] = {{&recording_filter_argp, 0, NULL, 0}, {0}};

const struct argp recording_argp = {
	.options = own_options, .parser = parse_option, .children = own_children};

/* As perf: a pipe on standard input is read when no file is named. */
const char *recording_path(const struct recording_opts *opts)
{
	struct stat st;

	if (opts->input && *opts->input)
		return opts->input;
	return !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

bool recording_is_input(const struct recording_opts *opts)
{
	return !strcmp(recording_path(opts), "-");
}

/*
 * Before that, the process is forked that starts those which read the kernel's code, demangle names
 * and open perf maps.
 */
static struct error *give_up_privileges(struct recording_opts *opts, const struct log *log,
					struct opened_recording *r)
{
	if (opts->confined)
		return NULL;
	opts->confined = true;
	TRY(keeper_new(&r->keeper));
	if (opts->code && !opts->vmlinux && !opts->kallsyms && !opts->symfs)
		TRY(kernel_code_new(r->keeper, log, &r->kernel_code));
	if (!opts->no_demangle || opts->demangle_kernel)
		TRY(demangling_begin(r->keeper, log, &r->demangler));
	if (!opts->symfs)
		TRY(process_files_new(r->keeper, log, &r->process_files));
	TRY(keeper_start(r->keeper));
	opts->demangler = r->demangler;
	opts->process_files = r->process_files;
	return privileges_of_reader(
		opts->outputs, ARRAY_SIZE(opts->outputs),
		(opts->interactive ? READER_WAITS : 0) | (opts->symfs ? 0 : READER_ASKS), log);
}

/* In ns since 1970, of the second that has begun; 0: not known. */
static uint64_t last_change(const char *path)
{
	struct stat st;

	return stat(path, &st) || !S_ISREG(st.st_mode) ? 0
						       : (uint64_t)(st.st_mtime + 1) * 1000000000;
}

struct error *recording_open(struct recording_opts *opts, const struct log *log,
			     struct opened_recording *r)
{
	const struct session_opts session_opts = {
		.sz = sizeof(session_opts), .log = log, .force = opts->force};
	_cleanup_config_ struct config *config = NULL;
	struct resolver_opts resolver_opts = {
		.sz = sizeof(resolver_opts),
		.log = log,
		.kallsyms = opts->kallsyms,
		.vmlinux = opts->vmlinux,
		.ignore_vmlinux = opts->ignore_vmlinux,
		.symfs = opts->symfs,
		.demangle = !opts->no_demangle,
		.demangle_kernel = opts->demangle_kernel,
		.parameters = opts->parameters,
		.lines = opts->lines,
		.inlines = opts->inlines,
	};

	TRY(config_load(log, &config));
	resolver_opts.buildid_dir = config_get(config, "buildid.dir");
	opts->filter.sz = sizeof(opts->filter);
	TRY(filter_new(&opts->filter, &r->filter));
	TRY(give_up_privileges(opts, log, r));
	resolver_opts.kernel_code = r->kernel_code ? kernel_code_read : NULL;
	resolver_opts.kernel_code_ctx = r->kernel_code;
	resolver_opts.demangler = opts->demangler;
	resolver_opts.perf_map = opts->process_files ? process_files_perf_map : NULL;
	resolver_opts.perf_map_ctx = opts->process_files;
	r->path = recording_path(opts);
	resolver_opts.recorded_until = last_change(r->path);
	r->log = log;
	struct error *err = session_open(r->path, &session_opts, &r->session);
	if (err && err->code == ENOENT)
		error_hint(err, "record one first: perf-bpf record -a -- sleep 4; or name another "
				"file with -i");
	TRY(err);
	TRY(filter_find_bounds(r->filter, r->session, r->path, &session_opts));
	if (session_kcore_dir(r->session) && !opts->kallsyms && !opts->vmlinux && !opts->symfs) {
		TRY(recorded_kernel_new(session_kcore_dir(r->session), opts->force,
					&r->recorded_kernel));
		recorded_kernel_use(r->recorded_kernel, &resolver_opts);
	}
	return resolver_new(r->session, &resolver_opts, &r->resolver);
}

struct error *recording_write_out(void *ctx, const struct strbuf *out)
{
	bool closed = false;

	TRY(cmd_write_out(out->str, out->len, &closed));
	return closed ? SESSION_STOP : NULL;
}

void recording_close(struct opened_recording *r)
{
	resolver_free(r->resolver);
	filter_free(r->filter);
	session_free(r->session);
	kernel_code_free(r->kernel_code);
	demangler_free(r->demangler);
	process_files_free(r->process_files);
	keeper_free(r->keeper);
	recorded_kernel_free(r->recorded_kernel);
	*r = (struct opened_recording){0};
}
