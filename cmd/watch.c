// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf watch: the BPF programs that are loaded and unloaded, as it happens. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/job.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "cmd/streams.h"
#include "watch/exec_queue.h"
#include "watch/program_lines.h"
#include "watch/program_watch.h"
#include "watch/tag_list.h"
#include "work/loop.h"
#include "work/workload.h"

enum {
	OPT_EXEC = 256,
	OPT_ALLOW,
	OPT_TIMEOUT,
	STATUS_NOT_ALLOWED = 3,
};

struct watch_args {
	bool json, quiet;
	const char *exec, *allow;
	uint64_t duration_ms;
	int verbose;
	char **command;
};

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "Print each event as a line of JSON", 0},
	{"exec", OPT_EXEC, "CMD", 0,
	 "Run CMD by the shell for each event, with the event in PERF_BPF_* variables", 0},
	{"allow", OPT_ALLOW, "FILE", 0,
	 "Mark programs whose tag is not in FILE, and exit with status 3 if there were any", 0},
	{"timeout", OPT_TIMEOUT, "TIME", 0, "Stop after TIME, such as 10, 1.5s, 200ms or 5m", 0},
	{"quiet", 'q', NULL, 0, "Do not print the heading and the counts", 0},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS('j', struct watch_args, json),
	OPTION_SETS(OPT_EXEC, struct watch_args, exec),
	OPTION_SETS(OPT_ALLOW, struct watch_args, allow),
	OPTION_SETS('q', struct watch_args, quiet),
	OPTION_SETS('v', struct watch_args, verbose),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct watch_args *args = state->input;

	switch (key) {
	case OPT_TIMEOUT:
		option_time(state, "--timeout", arg, &args->duration_ms);
		return 0;
	case ARGP_KEY_ARGS:
		args->command = state->argv + state->next;
		return 0;
	default:
		return option_set(members, key, arg, args) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARGS]]",
	.doc = "Show BPF programs as they are loaded and unloaded, until COMMAND ends, after the "
	       "timeout, or until Ctrl-C.",
};

struct watcher {
	const struct watch_args *args;
	struct loop *loop;
	struct program_watch *watch;
	struct tag_list *allowed; /* NULL: everything is */
	struct exec_queue *exec;  /* NULL: no command is run */
	struct strbuf out;
	uint64_t not_allowed;
};

static void watcher_deinit(struct watcher *w)
{
	exec_queue_free(w->exec);
	program_watch_free(w->watch);
	tag_list_free(w->allowed);
	strbuf_deinit(&w->out);
	loop_free(w->loop);
}

static struct error *on_program(void *ctx, const struct program_event *event)
{
	struct watcher *w = ctx;
	const bool not_allowed =
		event->loaded && w->allowed && !tag_list_has(w->allowed, event->tag);

	w->not_allowed += not_allowed;
	(w->args->json ? program_lines_json : program_lines_text)(event, not_allowed, &w->out);
	return w->exec ? exec_queue_add(w->exec, event) : NULL;
}

/* Lines are written when there are some, so that a pipe's reader has them at once. */
static struct error *print_lines(struct watcher *w)
{
	bool closed = false;

	if (strbuf_failed(&w->out))
		return error_nomem();
	if (!w->out.len)
		return NULL;
	TRY(cmd_write_out(w->out.str, w->out.len, &closed));
	strbuf_reset(&w->out);
	if (closed)
		loop_end(w->loop);
	return NULL;
}

static struct error *on_records(void *ctx, uint32_t events)
{
	struct watcher *w = ctx;

	TRY(program_watch_read(w->watch));
	return print_lines(w);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_counts(const struct watcher *w)
{
	const struct program_watch_counts counts = program_watch_counts(w->watch);

	if (counts.lost)
		cmd_say("perf-bpf: warning: %" PRIu64 " records were lost, of programs or of "
			"processes: loads and unloads may be missing\n",
			counts.lost);
	if (w->exec && (exec_queue_dropped(w->exec) || exec_queue_waiting(w->exec)))
		cmd_say("perf-bpf: warning: --exec: the command was not run for %" PRIu64
			" events\n",
			exec_queue_dropped(w->exec) + exec_queue_waiting(w->exec));
	if (w->args->quiet)
		return;
	cmd_say("[ perf-bpf watch: %" PRIu64 " load%s (%" PRIu64
		" gone before they could be read), %" PRIu64 " unload%s, %" PRIu64
		" record%s lost ]\n",
		counts.loads, plural(counts.loads), counts.gone, counts.unloads,
		plural(counts.unloads), counts.lost, plural(counts.lost));
}

static struct error *watch(struct watcher *w)
{
	const struct watch_args *args = w->args;
	const struct log log = cmd_log(args->verbose);
	const struct program_watch_opts opts = {
		.sz = sizeof(opts), .log = &log, .fn = on_program, .ctx = w};

	if (args->allow)
		TRY(tag_list_read(args->allow, &w->allowed));
	TRY(loop_new(&w->loop));
	TRY(loop_end_if_busy(w->loop));
	if (args->exec)
		TRY(exec_queue_new(args->exec, w->loop, &w->exec));
	TRY(program_watch_new(&opts, &w->watch));
	if (args->command)
		TRY(loop_prepare(w->loop, args->command));
	TRY(loop_duration(w->loop, args->duration_ms));
	TRY(loop_watch(w->loop, program_watch_fd(w->watch), on_records, w));
	if (!args->exec)
		TRY(privileges_of_watch(&log));
	if (!args->json && !args->quiet)
		program_lines_head(&w->out);
	TRY(print_lines(w));
	TRY(loop_start(w->loop, "watch"));
	while (!loop_ended(w->loop))
		TRY(loop_turn(w->loop, -1));
	/* what COMMAND did last may still be in the rings */
	TRY(on_records(w, 0));
	if (w->exec && !loop_signal(w->loop))
		TRY(exec_queue_finish(w->exec));
	print_counts(w);
	return NULL;
}

static int exit_status(const struct watcher *w)
{
	int status;

	if (w->not_allowed)
		return STATUS_NOT_ALLOWED;
	if (!loop_workload_status(w->loop, &status))
		return 0;
	return workload_exit_status(status);
}

int cmd_watch(int argc, char **argv)
{
	struct watch_args args = {0};
	__attribute__((cleanup(watcher_deinit))) struct watcher w = {.args = &args};

	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &args);
	job_begin();
	streams_begin();
	struct error *err = watch(&w);
	return err ? cmd_fail(err) : exit_status(&w);
}
