// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload's pid is traced from before its exec, so that its execve is shown with arguments.
 * What it does until then is ours (work/workload.c: it waits for us, and looks for the file in
 * PATH), so its records are left out until an execve has succeeded.
 */
#include "trace/trace_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "perf/session/session.h"
#include "trace/augmenter.h"
#include "trace/call_recording.h"
#include "trace/call_replay.h"
#include "trace/call_stack.h"
#include "trace/other_events.h"
#include "trace/record_pieces.h"
#include "trace/record_sums.h"
#include "trace/record_where.h"
#include "trace/run_state.h"
#include "trace/source.h"
#include "trace/thread_counts.h"
#include "trace/waiting_calls.h"
#include "work/loop.h"
#include "work/tasks.h"
#include "work/workload.h"

enum {
	OUT_BYTES = 64 << 10,	/* lines are written when there are so many bytes */
	FORGET_NS = 1000000000, /* after so long, the record of a call chain was lost */
	ENTRY_NS = 1000000,	/* so much later at most, an augmenter has the entry of a call */
};

/* ---- records ---- */

void trace_run_end(struct trace_run *run)
{
	if (run->loop)
		loop_end(run->loop);
}

static struct error *flush(struct trace_run *run)
{
	if (!run->out.len)
		return NULL;
	TRY(run->opts.write(run->opts.ctx, &run->out, &run->closed));
	strbuf_reset(&run->out);
	if (run->closed)
		trace_run_end(run);
	return NULL;
}

/* Whether it is of the time before the workload's own program. */
static bool is_before_exec(struct trace_run *run, const struct trace_record *rec)
{
	if (run->began || !run->loop || (pid_t)rec->pid != loop_workload(run->loop))
		return false;
	/* a record's name is of the exit, and a successful execve changes it */
	run->began = strncmp(rec->comm, WORKLOAD_COMM, sizeof(rec->comm)) != 0;
	return !run->began;
}

static bool is_enough(const struct trace_run *run)
{
	return run->closed || (run->opts.max_lines && run->n_lines >= run->opts.max_lines);
}

static uint64_t end_of(const struct trace_record *rec)
{
	return rec->exit_ns ? rec->exit_ns : rec->enter_ns;
}

/* When all events are read that belong to the call. */
static uint64_t due_of(const struct trace_run *run, const struct trace_record *rec)
{
	return end_of(rec) + (run->augmenter && !rec->exit_ns ? ENTRY_NS : 0);
}

/* A call whose turn it is. */
static struct error *put_call(struct trace_run *run, const struct trace_record *rec,
			      const struct call_stack *stack)
{
	_cleanup_free_ struct trace_record *augmented = NULL;
	bool filtered = false;

	if (rec->flags & TRACE_EVENT) {
		if (!run->lines || is_enough(run) || is_before_exec(run, rec) ||
		    (run->opts.cpus && !sys_cpus_has(&run->cpus, rec->cpu)))
			return NULL;
		return call_lines_add(run->lines, rec, NULL, &run->out);
	}
	if (run->augmenter)
		TRY(augmenter_apply(run->augmenter, rec, &augmented, &filtered));
	if (augmented)
		rec = augmented;
	/* with -C, entries on the other CPUs are not known */
	if ((filtered && !run->opts.cpus) || is_enough(run) || is_before_exec(run, rec) ||
	    (run->opts.cpus && !sys_cpus_has(&run->cpus, rec->cpu)) ||
	    (run->opts.min_stack && (!stack || stack->n < run->opts.min_stack)))
		return NULL;
	if (run->recording)
		TRY(call_recording_add(run->recording, rec, stack));
	if (run->lines)
		TRY(call_lines_add(run->lines, rec, stack, &run->out));
	run->n_lines++;
	if (is_enough(run)) {
		trace_run_end(run);
		return run->opts.input ? SESSION_STOP : NULL;
	}
	return run->out.len >= OUT_BYTES ? flush(run) : NULL;
}

/* The call chain of a call, which is put where its chain is in the order of time. */
static struct error *on_stack(struct trace_run *run, struct other_event *event)
{
	_cleanup_free_ struct trace_record *rec = NULL;
	struct trace_stack_key key;

	if (event->raw_size < sizeof(key) || !event->stack)
		return NULL;
	memcpy(&key, event->raw, sizeof(key));
	TRY(waiting_calls_add_stack(&run->waiting, &key, &event->stack, &rec));
	return rec ? put_call(run, rec, event->stack) : NULL;
}

static struct error *on_event(void *ctx, struct other_event *event)
{
	struct trace_run *run = ctx;

	if (!event->name)
		return on_stack(run, event);
	if (event->augmented)
		return augmenter_note(run->augmenter, event->tid, event->time, event->raw,
				      event->raw_size);
	if (run->sums)
		TRY(thread_counts_add(&run->counts, event));
	run->n_events += run->recording != NULL;
	if (!run->lines || event->runtime_ns || is_enough(run) ||
	    (run->opts.input && run->opts.cpus && !sys_cpus_has(&run->cpus, event->cpu)) ||
	    (run->opts.min_stack && (!event->stack || event->stack->n < run->opts.min_stack)))
		return NULL;
	TRY(call_lines_add_event(run->lines, event, &run->out));
	run->n_lines++;
	if (is_enough(run)) {
		trace_run_end(run);
		return run->opts.input ? SESSION_STOP : NULL;
	}
	return run->out.len >= OUT_BYTES ? flush(run) : NULL;
}

static struct error *add_record(struct trace_run *run, const struct trace_record *rec)
{
	_cleanup_free_ struct call_stack *stack = NULL;

	if (rec->flags & TRACE_STACK && run->others) {
		TRY(waiting_calls_add(&run->waiting, rec, &stack));
		if (!stack)
			return NULL;
	}
	if (run->others)
		TRY(other_events_until(run->others, due_of(run, rec), on_event, run));
	return put_call(run, rec, stack);
}

/* The paths of descriptors in a record. */
static unsigned count_paths(const struct trace_record *rec)
{
	struct record_pieces pieces = record_pieces_of(rec);
	const struct trace_piece *piece;
	unsigned n = 0;

	while ((piece = record_pieces_next(&pieces)))
		n += piece->part == TRACE_PART_FD;
	return n;
}

static struct error *on_record(void *ctx, const struct trace_record *rec)
{
	struct trace_run *run = ctx;

	run->n_records++;
	run->n_bytes += rec->size;
	run->n_paths += count_paths(rec);
	if (!run->others || rec->flags & TRACE_STACK || due_of(run, rec) <= run->read_ns)
		return add_record(run, rec);
	/* events before it may have come since the rings were read */
	struct trace_record **slot = vec_push(&run->held);
	if (!slot)
		return error_nomem();
	*slot = malloc(rec->size);
	if (!*slot) {
		run->held.n--;
		return error_nomem();
	}
	memcpy(*slot, rec, rec->size);
	return NULL;
}

/* Reads the events, and adds the calls that waited for them. */
static struct error *read_others(struct trace_run *run)
{
	struct trace_record **held;

	run->read_ns = clock_ns(CLOCK_MONOTONIC);
	TRY(other_events_read(run->others));
	vec_for_each (held, &run->held)
		TRY(add_record(run, *held));
	vec_for_each (held, &run->held)
		free(*held);
	run->held.n = 0;
	return NULL;
}

static struct error *drain(struct trace_run *run)
{
	if (!run->lines && !run->recording && !run->others)
		return NULL;
	run->n_drains++;
	if (run->others)
		TRY(read_others(run));
	if (run->source)
		TRY(trace_source_drain(run->source, on_record, run));
	if (run->others)
		TRY(other_events_until(run->others, run->read_ns, on_event, run));
	waiting_calls_forget(&run->waiting, run->read_ns - FORGET_NS);
	if (run->recording)
		TRY(call_recording_save(run->recording));
	return flush(run);
}

static struct error *on_ring(void *ctx, uint32_t events)
{
	return drain(ctx);
}

static struct error *start(struct trace_run *run)
{
	if (run->others)
		TRY(other_events_start(run->others));
	if (run->augmenter)
		TRY(augmenter_start(run->augmenter));
	if (run->source)
		TRY(trace_source_start(run->source));
	TRY(tasks_check(&run->tasks));
	run->started = true;
	if (run->opts.attached)
		TRY(run->opts.attached(run->opts.ctx));
	log_info(run->opts.log, "tracing has started");
	if (!run->lines && !run->recording && !run->others)
		return NULL;
	TRY(loop_timer(run->loop, on_ring, run, &run->drain_timer));
	TRY(loop_timer_set(run->drain_timer, trace_source_interval_ms(run->source) * 1000000ull,
			   true));
	if (run->others)
		TRY(other_events_watch(run->others, on_ring, run));
	return run->source ? loop_watch(run->loop, trace_source_fd(run->source), on_ring, run)
			   : NULL;
}

static struct error *on_delay(void *ctx, uint32_t events)
{
	struct trace_run *run = ctx;

	run->began = true;
	return start(run);
}

/* ---- the end ---- */

static void on_loss(void *ctx, const struct trace_loss *lost)
{
	struct trace_run *run = ctx;
	struct lost_calls *loss;

	if (run->opts.cpus && !sys_cpus_has(&run->cpus, lost->cpu))
		return;
	if (lost->kind == TRACE_LOST_RECORD || lost->kind == TRACE_LOST_THREAD)
		run->lost += lost->n;
	loss = vec_push(&run->losses);
	if (!loss) /* no memory: run->lost is right, but the call is not named */
		return;
	const struct call *call = call_by_nr(run->table, lost->abi, lost->nr);
	*loss = (struct lost_calls){
		.kind = lost->kind,
		.cpu = lost->cpu,
		.abi = lost->abi,
		.nr = lost->nr,
		.name = call ? call->name : NULL,
		.n = lost->n,
	};
}

/* Calls whose chains were not read for some reason: without them. */
static struct error *put_waiting(struct trace_run *run)
{
	for (;;) {
		_cleanup_free_ struct trace_record *rec = waiting_calls_take(&run->waiting);

		if (!rec)
			return NULL;
		TRY(put_call(run, rec, NULL));
	}
}

static struct error *finish(struct trace_run *run)
{
	if (run->source)
		TRY(trace_source_stop(run->source));
	if (run->augmenter)
		augmenter_stop(run->augmenter);
	if (run->others)
		other_events_stop(run->others);
	TRY(drain(run));
	if (run->others) {
		TRY(read_others(run)); /* for what was held */
		TRY(other_events_until(run->others, UINT64_MAX, on_event, run));
		other_events_warn_of_stacks(run->others);
		cpu_watch_warn(other_events_cpus(run->others), run->opts.log);
	}
	TRY(put_waiting(run));
	if (run->source)
		TRY(trace_source_losses(run->source, on_loss, run));
	if (run->recording)
		TRY(call_recording_finish(run->recording, run->lost));
	return run->sums && run->source ? trace_source_sums(run->source, call_sums_add,
							    call_sums_add_errno, run->sums)
					: NULL;
}

/* What the BPF program decides while it traces; the sums have all calls. */
static bool is_shown(const struct trace_run_opts *opts, const struct trace_record *rec)
{
	const bool ended = !(rec->flags & TRACE_NO_EXIT);

	if (opts->failed_only && (!ended || rec->ret >= 0 || rec->ret < -4095))
		return false;
	return !opts->min_ns ||
	       (ended && rec->enter_ns && rec->exit_ns - rec->enter_ns > opts->min_ns);
}

static struct error *on_replayed(void *ctx, const struct trace_record *rec,
				 struct call_stack *stack)
{
	struct trace_run *run = ctx;
	const struct trace_call *call = &run->calls[trace_nr_index(rec->abi, trace_record_nr(rec))];

	if (run->conditions.n_wheres && !record_where_selects(&run->conditions, call->where, rec))
		return NULL;
	if (run->replayed)
		TRY(record_sums_add(run->replayed, rec));
	if (!run->lines || !is_shown(&run->opts, rec))
		return NULL;
	run->n_records++;
	run->n_bytes += rec->size;
	return put_call(run, rec, stack);
}

/* An event of a recording: without -e all of them, else those that it names, as live. */
static bool is_wanted_event(void *ctx, const char *name)
{
	struct trace_run *run = ctx;
	bool wanted = !run->opts.n_calls;

	for (size_t i = 0; i < run->event_exprs.n; i++)
		if (glob_match(run->event_exprs.v[i], name)) {
			run->seen_exprs[i] = true;
			wanted = true;
		}
	return wanted;
}

/* What -e names and the recording does not have. */
static struct error *check_seen(const struct trace_run *run)
{
	for (size_t i = 0; i < run->event_exprs.n; i++)
		if (!run->seen_exprs[i])
			return error_hint(error_new(ENOENT, "-e: %s has no event '%s'",
						    run->opts.input, run->event_exprs.v[i]),
					  "'perf-bpf script --header-only -i %s' lists its events",
					  run->opts.input);
	return NULL;
}

static struct error *replay(struct trace_run *run)
{
	const struct call_replay_opts opts = {
		.log = run->opts.log,
		.path = run->opts.input,
		.force = run->opts.force,
		.calls = run->calls,
		.max_stack = run->opts.max_stack ? run->opts.max_stack : TRACE_MAX_STACK,
		.call = on_replayed,
		.event = on_event,
		.wants = is_wanted_event,
		.ctx = run,
	};

	run->seen_exprs = calloc(run->event_exprs.n + 1, sizeof(*run->seen_exprs));
	if (!run->seen_exprs)
		return error_nomem();
	struct error *damage = call_replay(&opts);
	if (damage && damage->code != EBADMSG)
		return damage;
	struct error *err = flush(run);
	if (!err && !damage)
		err = check_seen(run);
	if (!err && run->replayed)
		err = record_sums_read(run->replayed, call_sums_add, call_sums_add_errno,
				       run->sums);
	return error_either(err, damage);
}

struct error *trace_run_loop(struct trace_run *run)
{
	if (run->opts.input)
		return replay(run);
	if (!run->opts.delay_ms) {
		TRY(start(run));
	} else {
		TRY(loop_timer(run->loop, on_delay, run, &run->delay_timer));
		TRY(loop_timer_set(run->delay_timer, run->opts.delay_ms * 1000000, false));
	}
	TRY(loop_start(run->loop, "trace"));
	while (!loop_ended(run->loop))
		TRY(loop_turn(run->loop, -1));
	return run->started ? finish(run) : NULL;
}

struct error *trace_run_watch(struct trace_run *run, int fd, loop_fn *fn, void *ctx)
{
	return loop_watch(run->loop, fd, fn, ctx);
}

void trace_run_unwatch(struct trace_run *run, int fd)
{
	loop_unwatch(run->loop, fd);
}

bool trace_run_reads_processes(const struct trace_run *run)
{
	return run->others || run->recording;
}

bool trace_run_opens_events_later(const struct trace_run *run)
{
	return run->others && other_events_open_later(run->others);
}

struct error *trace_run_map(const struct trace_run *run, const char *name, int *fd)
{
	if (!run->source)
		return error_new(ENOENT, "-e selects no system calls, so trace has no maps");
	return trace_source_map(run->source, name, fd);
}

const struct thread_counts *trace_run_counts(const struct trace_run *run)
{
	return &run->counts;
}

struct call_sums *trace_run_sums(const struct trace_run *run)
{
	return run->sums;
}

bool trace_run_workload_status(const struct trace_run *run, int *status)
{
	return run->loop && loop_workload_status(run->loop, status);
}

void trace_run_stats(const struct trace_run *run, struct trace_stats *stats)
{
	*stats = (struct trace_stats){
		.lines = run->n_lines,
		.events = run->n_events,
		.records = run->n_records,
		.record_bytes = run->n_bytes,
		.fd_paths = run->n_paths,
		.drains = run->n_drains,
		.lost = run->lost,
		.losses = run->losses.v,
		.n_losses = run->losses.n,
	};
	if (run->others)
		stats->lost_events = other_events_lost(run->others);
	if (run->recording)
		stats->file_bytes = call_recording_bytes(run->recording);
}
