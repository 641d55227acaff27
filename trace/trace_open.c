// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening a trace: what -e, -p, --cgroup and the others select, the programs and events for it, and
 * where its lines or records go.
 */
#include "trace/trace_run.h"

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "lib/sys/cgroup_paths.h"
#include "lib/sys/tracefs.h"
#include "perf/session/session.h"
#include "trace/augmenter.h"
#include "trace/bystanders.h"
#include "trace/call_body.h"
#include "trace/call_conditions.h"
#include "trace/call_recording.h"
#include "trace/event_exprs.h"
#include "trace/other_events.h"
#include "trace/record_sums.h"
#include "trace/record_where.h"
#include "trace/run_state.h"
#include "trace/source.h"
#include "trace/thread_counts.h"
#include "trace/waiting_calls.h"
#include "work/loop.h"
#include "work/tasks.h"
#include "work/user_ids.h"
#include "work/workload.h"

/* ---- selecting ---- */

/*
 * Several expressions are one list. That begins with "!" if all of them do: then they name what is
 * left out.
 */
static struct error *join_exprs(const struct names *exprs, struct strbuf *out)
{
	size_t negated = 0;

	for (size_t i = 0; i < exprs->n; i++)
		negated += exprs->v[i][0] == '!';
	if (negated && negated < exprs->n)
		return error_hint(
			error_usage("-e: '!' must be used with all of the lists, or none"),
			"'!' excludes calls from all calls: -e '!read,write'");
	if (negated)
		strbuf_addch(out, '!');
	for (size_t i = 0; i < exprs->n; i++)
		strbuf_addf(out, "%s%s", i ? "," : "", exprs->v[i] + !!negated);
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/* As in perf trace: -e without a system call traces none. */
static bool is_of_events_only(const struct trace_run *run)
{
	return run->opts.no_calls || (run->n_named_events && !run->call_exprs.n && !run->bodies.n);
}

static bool has_faults(const struct trace_run *run)
{
	return run->opts.major_faults || run->opts.minor_faults;
}

static bool has_events(const struct trace_run *run)
{
	return run->event_exprs.n || has_faults(run) || run->opts.runtime;
}

/* trace.add_events of the configuration: events besides those of -e. */
static struct error *select_configured(struct trace_run *run)
{
	_cleanup_names_ struct names calls = {0};

	if (!run->opts.add_events || run->opts.input)
		return NULL;
	TRY(event_exprs_split(run->opts.add_events, &calls, &run->event_exprs));
	if (calls.n)
		return error_new(EINVAL, "configuration: trace.add_events: '%s' is not an event",
				 calls.v[0]);
	return NULL;
}

/* Takes the first object that is an augmenter, and not an event, from the events. */
static struct error *find_augmenter(struct trace_run *run)
{
	struct names *exprs = &run->event_exprs;

	for (size_t i = 0; i < exprs->n && !run->augmenter && !run->opts.input; i++) {
		const char *dot = strrchr(exprs->v[i], '.');

		if (!dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".o") != 0))
			continue;
		TRY(augmenter_open(exprs->v[i], run->opts.compile, run->opts.log, &run->augmenter));
		if (!run->augmenter)
			continue;
		run->augmenter_path = exprs->v[i];
		memmove(&exprs->v[i], &exprs->v[i + 1], (exprs->n - i - 1) * sizeof(*exprs->v));
		exprs->n--;
		run->n_named_events -= i < run->n_named_events;
	}
	return NULL;
}

/* Lists, events and bodies of -e. */
static struct error *read_exprs(struct trace_run *run)
{
	for (size_t i = 0; i < run->opts.n_calls; i++) {
		_cleanup_free_ char *calls = NULL, *condition = NULL;
		const char *expr = run->opts.calls[i];

		if (!call_body_is(expr)) {
			TRY(event_exprs_split(expr, &run->call_exprs, &run->event_exprs));
			continue;
		}
		TRY(call_body_read(expr, &calls, &condition));
		if (!names_add(&run->body_calls, calls) || !names_add(&run->bodies, condition))
			return error_nomem();
	}
	return NULL;
}

static struct error *make_conditions(struct trace_run *run, const char *text, const char *option,
				     struct trace_call *calls)
{
	return error_prefix(call_conditions_make(text, run->table, calls, &run->conditions), "%s",
			    option);
}

/* The calls of a body; taken: those of the bodies before it. */
static struct error *select_by_body(struct trace_run *run, size_t body, bool *taken)
{
	_cleanup_free_ struct trace_call *calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*calls));
	_cleanup_free_ bool *named = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*named));

	if (!calls || !named)
		return error_nomem();
	TRY(error_mark_usage(
		error_prefix(call_table_select(run->table, run->body_calls.v[body], calls), "-e")));
	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++) {
		const struct call *call =
			call_by_nr(run->table, (enum trace_abi)(i / TRACE_NRS), i % TRACE_NRS);

		named[i] = calls[i].traced;
		if (named[i] && taken[i])
			return error_usage("-e: %s has two bodies", call ? call->name : "a call");
		taken[i] |= named[i];
	}
	TRY(make_conditions(run, run->bodies.v[body], "-e", calls));
	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++)
		if (named[i])
			run->calls[i] = calls[i];
	return NULL;
}

static struct error *select_by_bodies(struct trace_run *run)
{
	_cleanup_free_ bool *taken = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*taken));

	if (!taken)
		return error_nomem();
	if (run->bodies.n && run->opts.where)
		return error_hint(error_usage("--where cannot be used with a body in -e"),
				  "put the condition into the body");
	for (size_t i = 0; i < run->bodies.n; i++)
		TRY(select_by_body(run, i, taken));
	return NULL;
}

static struct error *select_calls(struct trace_run *run)
{
	_cleanup_strbuf_ struct strbuf expr = STRBUF_INIT;
	_cleanup_free_ char *tracefs = NULL, *events = NULL;
	struct call_table_opts opts = {.sz = sizeof(opts), .log = run->opts.log};
	_cleanup_error_ struct error *no_tracefs = sys_tracefs_dir(NULL, &tracefs);

	if (!no_tracefs) {
		events = text_format("%s/events", tracefs);
		if (!events)
			return error_nomem();
	}
	/* who traces for us may have other rights: the kernel's types are the same for all */
	opts.tracefs_events = run->opts.ask ? NULL : events;
	run->vmlinux = btf__load_vmlinux_btf();
	opts.vmlinux = run->vmlinux;
	opts.prefer_btf = run->opts.prefer_btf;
	TRY(call_table_new(&opts, &run->table));
	run->calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*run->calls));
	if (!run->calls)
		return error_nomem();
	TRY(read_exprs(run));
	run->n_named_events = run->event_exprs.n;
	TRY(select_configured(run));
	TRY(find_augmenter(run));
	if (run->opts.no_calls && !has_events(run))
		return error_hint(error_usage("--no-syscalls: there is nothing else to trace"),
				  "page faults (-F) and events (-e) can be traced without calls");
	if (run->opts.no_calls && run->bodies.n)
		return error_usage("--no-syscalls: -e has a body for system calls");
	if (is_of_events_only(run))
		return run->opts.where ? error_usage("--where: -e selects no system calls") : NULL;
	TRY(join_exprs(&run->call_exprs, &expr));
	if (run->call_exprs.n || !run->bodies.n)
		TRY(error_mark_usage(error_prefix(
			call_table_select(run->table, expr.len ? strbuf_str(&expr) : "all",
					  run->calls),
			"-e")));
	TRY(select_by_bodies(run));
	if (run->opts.where)
		TRY(make_conditions(run, run->opts.where, "--where", run->calls));
	return run->opts.input ? error_prefix(record_where_check(&run->conditions),
					      run->bodies.n ? "-e" : "--where")
			       : NULL;
}

struct task_selection {
	VEC(pid_t) pids;
	VEC(pid_t) tids;
	struct user_ids uids;
};

static void task_selection_deinit(struct task_selection *s)
{
	vec_deinit(&s->pids);
	vec_deinit(&s->tids);
	vec_deinit(&s->uids);
}

static struct error *select_tasks(struct trace_run *run, struct task_selection *s)
{
	const struct trace_run_opts *o = &run->opts;
	const struct task *task;

	if (o->pids && o->tids)
		return error_usage("-p and -t cannot be used together");
	TRY(error_mark_usage(tasks_add(&run->tasks, NULL, o->pids, TASK_PROCESS)));
	TRY(error_mark_usage(tasks_add(&run->tasks, NULL, o->tids, TASK_THREAD)));
	vec_for_each (task, &run->tasks.list) {
		pid_t *slot = task->kind == TASK_PROCESS ? vec_push(&s->pids) : vec_push(&s->tids);

		if (!slot)
			return error_nomem();
		*slot = task->id;
	}
	if (o->users)
		TRY(error_mark_usage(user_ids_parse(o->users, &s->uids)));
	if (loop_workload(run->loop) && !o->everyone) {
		pid_t *slot = vec_push(&s->pids);

		if (!slot)
			return error_nomem();
		*slot = loop_workload(run->loop);
	}
	return NULL;
}

/* Who is left out: where everyone is traced, those who print what we print. */
static struct error *select_excluded(struct trace_run *run, const struct task_selection *s)
{
	struct tasks excluded = TASKS_INIT;
	const struct task *task;
	bool ok = true;

	if (!s->pids.n && !s->tids.n)
		TRY(bystanders_find(NULL, getpid(), run->opts.log, &run->exclude));
	struct error *err = tasks_add(&excluded, NULL, run->opts.exclude, TASK_PROCESS);
	vec_for_each (task, &excluded.list) {
		pid_t *slot = vec_push(&run->exclude);

		ok &= slot != NULL;
		if (slot)
			*slot = task->id;
	}
	tasks_deinit(&excluded);
	TRY(error_mark_usage(error_prefix(err, "--filter-pids")));
	return ok ? NULL : error_nomem();
}

static bool has_stacks(const struct trace_run *run)
{
	return run->opts.callgraph == SELECT_CALLGRAPH_FP ||
	       run->opts.callgraph == SELECT_CALLGRAPH_DWARF;
}

static struct error *record_other(void *ctx, const void *record, size_t size, uint64_t time)
{
	struct trace_run *run = ctx;

	if (run->recording)
		return call_recording_add_record(run->recording, record, size, time);
	strbuf_add(&run->existing, record, size);
	return NULL;
}

static struct error *record_ids(void *ctx, size_t event, const uint64_t *ids, size_t n)
{
	struct trace_run *run = ctx;

	if (!run->recording || event >= run->recorded.n || run->recorded.v[event] == SIZE_MAX)
		return NULL;
	return call_recording_add_ids(run->recording, run->recorded.v[event], ids, n);
}

/* Call chains of system calls come as other events do, but of all that the program selects. */
static struct error *open_others(struct trace_run *run)
{
	const struct trace_run_opts *o = &run->opts;

	if (!o->lines && !o->output && run->n_named_events)
		return error_hint(error_usage("-s: a summary has only system calls, and -e selects "
					      "other events"),
				  "-S also prints the other events");
	if (has_events(run) && (o->users || cgroup_choice_any(&o->cgroups)))
		return error_usage("-u, --cgroup, --container and --pod cannot be used with other "
				   "events than system "
				   "calls");
	const struct other_events_opts opts = {
		.log = o->log,
		.exprs = (const char *const *)run->event_exprs.v,
		.n_exprs = run->event_exprs.n,
		.workload = o->everyone ? NULL : o->workload,
		.pids = o->pids,
		.tids = o->tids,
		.cpus = o->cpus,
		.no_inherit = o->no_inherit,
		.delay_ms = o->delay_ms,
		.exclude = run->exclude.v,
		.n_exclude = run->exclude.n,
		.compile = o->compile,
		.confine_finder = o->confine_finder,
		.major_faults = o->major_faults,
		.minor_faults = o->minor_faults,
		.runtime = o->runtime,
		.callgraph = o->callgraph,
		.stack_size = o->stack_size,
		.max_stack = o->max_stack ? o->max_stack : TRACE_MAX_STACK,
		.kernel_frames = o->kernel_frames,
		.call_stacks = has_stacks(run) && !is_of_events_only(run),
		.augmented = run->augmenter,
		.ring_pages = o->ring_bytes / sys_page_size(),
		.record = o->output ? record_other : NULL,
		.record_ids = record_ids,
		.record_ctx = run,
	};
	return other_events_new(&opts, run->loop, &run->others);
}

/* The folder of the cgroup, the caller's; NULL: none is named. */
static struct error *select_cgroup(const struct trace_run_opts *o, char **path)
{
	__attribute__((cleanup(chosen_cgroups_deinit))) struct chosen_cgroups chosen = {0};
	_cleanup_free_ char *root = cgroup_root(NULL);

	if (!cgroup_choice_any(&o->cgroups))
		return NULL;
	TRY(cgroups_choose(&o->cgroups, root, &chosen));
	if (chosen.n > 1)
		return error_hint(error_new(E2BIG,
					    "%zu cgroups are named, and trace has room for "
					    "one",
					    chosen.n),
				  "name one that all of them are in");
	*path = steal_ptr(chosen.v[0].path);
	return NULL;
}

static struct error *load_augmenter(struct trace_run *run)
{
	uint32_t entries;

	TRY(augmenter_load(run->augmenter, run->table, run->calls, run->exclude.v, run->exclude.n));
	const int map_fd = augmenter_map(run->augmenter, &entries);
	return other_events_fill_map(run->others, AUGMENTED_EVENT, map_fd, entries);
}

/* Lines between calls: signals, and the ends of threads. */
static bool has_lines_between(const struct trace_run_opts *o)
{
	return o->lines && o->style == CALL_LINES_STRACE && !o->input;
}

static struct error *open_source(struct trace_run *run)
{
	const struct trace_run_opts *o = &run->opts;
	__attribute__((cleanup(task_selection_deinit))) struct task_selection s = {0};

	TRY(select_tasks(run, &s));
	TRY(select_excluded(run, &s));
	_cleanup_free_ char *cgroup = NULL;
	TRY(select_cgroup(o, &cgroup));
	if (has_events(run) || has_stacks(run) || run->augmenter)
		TRY(open_others(run));
	if (run->augmenter)
		TRY(load_augmenter(run));
	if (run->opts.no_calls && run->bodies.n)
		return error_usage("--no-syscalls: -e has a body for system calls");
	if (is_of_events_only(run))
		return NULL;
	const struct trace_source_opts opts = {
		.sz = sizeof(opts),
		.log = o->log,
		.calls = run->calls,
		.pids = s.pids.v,
		.n_pids = s.pids.n,
		.tids = s.tids.v,
		.n_tids = s.tids.n,
		.uids = s.uids.v,
		.n_uids = s.uids.n,
		.cgroup = cgroup,
		.no_inherit = o->no_inherit,
		.exclude = run->exclude.v,
		.n_exclude = run->exclude.n,
		.where = &run->conditions,
		.failed_only = o->failed_only,
		.min_ns = o->min_ns,
		.string_size = o->string_size,
		.ring_bytes = o->ring_bytes,
		.events = o->lines || o->output,
		.fds = o->fd_paths,
		.signals = has_lines_between(o) ? o->signals : 0,
		.ends = has_lines_between(o),
		.stacks = has_stacks(run),
		.summary = o->summary,
		.sums_by = o->sums_by,
		.ask = o->ask,
		.ask_end = o->ask_end,
		.ask_ctx = o->ask_ctx,
	};
	TRY(trace_source_new(&opts, &run->source));
	if (!has_stacks(run))
		return NULL;
	uint32_t entries;
	const int map_fd = trace_source_stacks(run->source, &entries);
	return other_events_fill_map(run->others, STACKS_EVENT, map_fd, entries);
}

static struct error *add_recorded_event(void *ctx, const struct live_event *event)
{
	struct trace_run *run = ctx;
	size_t *slot = vec_push(&run->recorded);

	if (!slot)
		return error_nomem();
	*slot = SIZE_MAX;
	if (!strcmp(event->name, AUGMENTED_EVENT) || !strcmp(event->name, UNAUGMENTED_EVENT))
		return NULL; /* it is in the calls */
	if (strcmp(event->name, STACKS_EVENT) != 0) {
		*slot = run->n_recorded++;
		return call_recording_add_event(run->recording, event);
	}
	call_recording_add_stacks(run->recording, &event->attr);
	return NULL;
}

static struct error *open_recording(struct trace_run *run)
{
	const struct trace_run_opts *o = &run->opts;

	_cleanup_strbuf_ struct strbuf formats = STRBUF_INIT;

	if (o->ask)
		TRY(trace_source_formats(run->source, &formats));
	TRY(call_recording_new(o->output, NULL, &run->recording));
	if (o->ask)
		TRY(call_recording_use_formats(run->recording, formats.str, formats.len));
	if (run->others)
		TRY(other_events_each(run->others, add_recorded_event, run));
	TRY(call_recording_start(run->recording, o->argc, o->argv));
	if (strbuf_failed(&run->existing))
		return error_nomem();
	return call_recording_add_record(run->recording, run->existing.str, run->existing.len, 0);
}

/* The namespace of the socket; 0: interfaces have no names. */
static uint32_t open_net_socket(struct trace_run *run)
{
	struct stat st;

	if (run->opts.input || stat("/proc/self/ns/net", &st))
		return 0;
	run->net_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return run->net_socket < 0 ? 0 : (uint32_t)st.st_ino;
}

static struct error *open_lines(struct trace_run *run)
{
	const struct trace_run_opts *o = &run->opts;
	const uint32_t net_ns = open_net_socket(run);
	const struct call_lines_opts opts = {
		.table = run->table,
		.style = o->style,
		.text =
			{
				.raw = o->raw,
				.fd_paths = o->fd_paths,
				.net_ns = net_ns,
				.net_socket = run->net_socket,
				.full = o->full,
				.max_items = o->style == CALL_LINES_STRACE ? o->string_size : 0,
				.hex_strings = o->hex_strings,
				.constants = o->constants,
				.hide_names = o->hide_names,
				.show_prefix = o->show_prefix,
				.show_zeros = o->show_zeros,
			},
		.btf = run->vmlinux,
		.no_time = o->no_time,
		/* as perf: events have none */
		.no_duration = o->no_duration || (is_of_events_only(run) && !has_faults(run)),
		.alignment = o->alignment,
		.full_time = o->full_time,
		.ends = has_lines_between(o),
		.no_comm = o->no_comm,
		/* as perf: one thread whose children are not traced needs no name */
		.threads = !(o->no_inherit && o->tids && run->tasks.list.n == 1),
		.clock_diff = clock_ahead(CLOCK_REALTIME, CLOCK_MONOTONIC),
	};
	struct call_lines_opts with_comm = opts;

	if (run->others) {
		with_comm.comm = other_events_comm;
		with_comm.comm_ctx = run->others;
	}
	return call_lines_new(&with_comm, &run->lines);
}

struct error *trace_run_new(const struct trace_run_opts *opts, struct trace_run **out)
{
	_cleanup_(trace_run_freep) struct trace_run *run = calloc(1, sizeof(*run));

	if (!run)
		return error_nomem();
	run->opts = *opts;
	run->net_socket = -1;
	run->tasks = (struct tasks)TASKS_INIT;
	if (!opts->input) {
		TRY(loop_new(&run->loop));
		TRY(loop_end_if_busy(run->loop));
	}
	TRY(select_calls(run));
	if (opts->cpus)
		TRY(error_mark_usage(error_prefix(sys_cpus_parse(opts->cpus, &run->cpus), "-C")));
	if (opts->cpus && !opts->input)
		TRY(sys_cpus_check(NULL, &run->cpus, opts->cpus));
	if (opts->workload)
		TRY(loop_prepare(run->loop, opts->workload));
	if (!opts->input)
		TRY(open_source(run));
	if (opts->lines)
		TRY(open_lines(run));
	if (opts->output)
		TRY(open_recording(run));
	if (opts->summary)
		TRY(call_sums_new(run->table, opts->sums_by, &run->sums));
	run->counts.faults = has_faults(run);
	run->counts.runtime = opts->runtime;
	if (opts->summary && opts->input)
		TRY(record_sums_new(opts->sums_by == TRACE_SUMS_BY_THREAD, &run->replayed));
	if (!opts->workload && run->tasks.list.n)
		TRY(loop_tasks(run->loop, &run->tasks));
	*out = steal_ptr(run);
	return NULL;
}

void trace_run_free(struct trace_run *run)
{
	if (!run)
		return;
	struct trace_record **held;

	vec_for_each (held, &run->held)
		free(*held);
	vec_deinit(&run->held);
	waiting_calls_deinit(&run->waiting);
	thread_counts_deinit(&run->counts);
	augmenter_free(run->augmenter);
	free(run->augmenter_path);
	other_events_free(run->others);
	trace_source_free(run->source);
	call_lines_free(run->lines);
	call_sums_free(run->sums);
	record_sums_free(run->replayed);
	call_recording_free(run->recording);
	names_deinit(&run->call_exprs);
	names_deinit(&run->body_calls);
	names_deinit(&run->bodies);
	names_deinit(&run->event_exprs);
	free(run->seen_exprs);
	sys_pids_deinit(&run->exclude);
	tasks_deinit(&run->tasks);
	loop_free(run->loop);
	sys_cpus_deinit(&run->cpus);
	call_table_free(run->table);
	call_conditions_deinit(&run->conditions);
	btf__free(run->vmlinux);
	free(run->calls);
	vec_deinit(&run->losses);
	vec_deinit(&run->recorded);
	strbuf_deinit(&run->out);
	strbuf_deinit(&run->existing);
	closep(&run->net_socket);
	free(run);
}
