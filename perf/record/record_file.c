// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording from beginning to end; internal.h lists its parts.
 *
 * Everything the recorder puts into the kernel hangs on its fds: events,
 * programs, maps and links go away with the process, however it ends. Nothing
 * is pinned. The file is readable up to the last round at every moment (see
 * perf/data/writer.h), and a round ends at least once a second.
 */
#include "perf/record/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "perf/record/buildid_process.h"

/* A round at least so often, for who reads along and for what a kill leaves. */
#define ROUND_MS 1000

struct error *recording_new(const struct record_opts *opts, struct recording **out)
{
	struct recording *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return error_nomem();
	rec->opts = *opts;
	rec->roots = opts->roots;
	rec->log = opts->log;
	rec->self = getpid();
	rec->target.tasks = (struct tasks)TASKS_INIT;
	rec->result.output = opts->output;
	rec->result.has_dates = opts->switch_output.by;
	rec->control.fd = rec->control.ack_fd = -1;
	*out = rec;
	return NULL;
}

static struct error *on_ring(void *ctx, uint32_t events);

struct error *ring_watch(struct recording *rec, struct cpu_ring *ring, size_t fd)
{
	if (ring->polled)
		loop_unwatch(rec->loop, ring->fds.v[ring->polled_fd]);
	ring->polled = false;
	ring->rec = rec;
	ring->polled_fd = fd;
	TRY(loop_watch(rec->loop, ring->fds.v[fd], on_ring, ring));
	ring->polled = true;
	return NULL;
}

static struct error *watch_rings(struct recording *rec)
{
	struct cpu_ring *ring;

	vec_for_each (ring, &rec->rings)
		if (!ring->overwritten && !ring->is_threads)
			TRY(ring_watch(rec, ring, 0));
	return NULL;
}

/*
 * The thread of the fd we wait at has ended: wait at the next one that writes
 * to this ring. Without one, the ring has seen its last record.
 */
static void ring_hung_up(struct recording *rec, struct cpu_ring *ring)
{
	loop_unwatch(rec->loop, ring->fds.v[ring->polled_fd]);
	while (++ring->polled_fd < ring->fds.n) {
		struct error *err =
			loop_watch(rec->loop, ring->fds.v[ring->polled_fd], on_ring, ring);

		if (!err)
			return;
		error_free(err);
	}
	ring->polled = false;
}

/* What is in it is drained with the others when the turn is over. */
static struct error *on_ring(void *ctx, uint32_t events)
{
	struct cpu_ring *ring = ctx;

	ring->rec->is_ready = true;
	if (events & (EPOLLHUP | EPOLLERR))
		ring_hung_up(ring->rec, ring);
	return ring->rec->on_ready ? ring->rec->on_ready(ring->rec->on_ready_ctx, events) : NULL;
}

/* -p and -t: whether all that was to be recorded has ended. */
static bool target_ended(struct recording *rec)
{
	struct cpu_ring *ring;
	bool any = false;

	vec_for_each (ring, &rec->rings)
		any |= __atomic_load_n(&ring->polled, __ATOMIC_ACQUIRE);
	if (rec->target.system_wide) /* a CPU without a ring is offline */
		any = true;
	return (!any && !loop_workload(rec->loop)) || wanted_ended(rec);
}

/* Of all files. */
static bool is_full(const struct recording *rec)
{
	return rec->opts.max_size &&
	       data_writer_bytes(rec->writer) + rec->part_bytes >= rec->opts.max_size;
}

/* Not if only the rings were looked through: that is done more often than they are read. */
static bool round_is_due(struct recording *rec)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const bool looked = mapped_files_take_turn(rec), is_ready = rec->is_ready;

	rec->is_ready = false;
	if (looked && !is_ready && !loop_ended(rec->loop) && !switch_is_due(rec) &&
	    now - rec->last_round < (uint64_t)ROUND_MS * 1000000)
		return false;
	rec->last_round = now;
	return true;
}

static struct error *run_turns(struct recording *rec)
{
	bool any;

	while (!loop_ended(rec->loop)) {
		TRY(loop_turn(rec->loop, ROUND_MS));
		if (!round_is_due(rec))
			continue;
		if (loop_signal(rec->loop))
			data_writer_end_soon(rec->writer);
		if (!loop_ended(rec->loop) && target_ended(rec))
			loop_end(rec->loop);
		threads_collect(rec);
		rec->drain_least = rec->opts.mmap_flush;
		struct error *err = rings_drain(rec, &any);
		rec->drain_least = 0;
		TRY(err);
		TRY(switch_see_event(rec));
		strangers_find_if_due(rec);
		if (rec->target.cgroups.n)
			TRY(cgroups_find_new(rec));
		if (switch_is_due(rec) && !loop_ended(rec->loop))
			TRY(switch_output(rec));
		if (is_full(rec)) {
			log_warn(rec->log,
				 "the file has reached --max-size: stopping the recording");
			loop_end(rec->loop);
		}
	}
	return NULL;
}

static struct error *run_loop(struct recording *rec)
{
	bool any;

	TRY(enable_times_begin(rec));
	TRY(control_begin(rec));
	TRY(switch_begin(rec));
	if (rec->programs)
		TRY(program_store_start(rec->programs));
	TRY(mapped_files_begin(rec));
	TRY(threads_start(rec));
	struct error *err = run_turns(rec), *stopped = threads_stop(rec);
	if (err)
		error_free(stopped);
	else
		err = stopped;
	TRY(err);
	rec->result.signal = loop_signal(rec->loop);
	rec->result.workload_ended = loop_workload_status(rec->loop, &rec->result.workload_status);
	strangers_find(rec);
	events_disable(rec);
	TRY(overwritten_drain(rec));
	TRY(rings_drain(rec, &any));
	return rec->opts.tail_synthesize ? synthesize_again(rec, rec->writer) : NULL;
}

/* With the ids of the tracking event, if this is the first one and that one is not listed. */
static struct error *add_event(struct recording *rec, const struct event *event)
{
	const struct event *tracking = vec_last(&rec->events);
	const bool both = event == rec->events.v && tracking->unlisted;
	const size_t n = event->fds.n + (both ? tracking->fds.n : 0);
	_cleanup_free_ uint64_t *ids = calloc(n, sizeof(*ids));
	struct perf_event_attr attr;

	if (!ids)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		ids[i] = i < event->fds.n ? event->fds.v[i].id
					  : tracking->fds.v[i - event->fds.n].id;
	event_file_attr(event, &attr);
	if (both) {
		event_set_tracking(rec, &attr);
		attr.build_id = tracking->attr.build_id;
	}
	return data_writer_add_event(rec->writer, &attr, event->name, ids, n);
}

struct error *writer_open(struct recording *rec, int *fd)
{
	const struct data_writer_opts opts = {
		.sz = sizeof(opts),
		.max_size = rec->opts.max_size,
		.zstd_level = rec->opts.zstd_level,
		.compressed2 = rec->opts.compressed2,
		.mmap_len = rec->mmap_pages * sys_page_size(),
	};

	return *fd < 0 ? data_writer_open(rec->opts.output, &opts, &rec->writer)
		       : data_writer_open_fd(rec->opts.output, fd, &opts, &rec->writer);
}

struct error *writer_start(struct recording *rec)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		if (!event->unlisted)
			TRY(add_event(rec, event));
	TRY(features_begin(rec));
	return data_writer_start(rec->writer);
}

static struct error *writer_begin(struct recording *rec)
{
	int none = -1;

	TRY(rec->opts.threads || rec->opts.kcore ? directory_begin(rec) : writer_open(rec, &none));
	return writer_start(rec);
}

/* Without the right to it the recording has no code of BPF programs, as with perf. */
static void programs_listen(struct recording *rec)
{
	struct error *err = NULL;

	if (!rec->opts.no_bpf_events)
		err = program_store_new(rec->log, &rec->programs);
	if (err)
		log_info(rec->log, "the recording will not have the code of BPF programs: %s",
			 err->msg);
	error_free(err);
}

/* The same for events that another process has opened, and that count already. */
static struct error *prepare_passed(struct recording *rec)
{
	TRY(passed_events_take(rec));
	if (rec->opts.workload)
		TRY(loop_prepare(rec->loop, rec->opts.workload));
	TRY(sys_cpus_online(rec->roots, &rec->target.cpus));
	rec->target.system_wide = true;
	rec->drop_self = true;
	loop_stay_busy(rec->loop);
	TRY(writer_begin(rec));
	TRY(watch_rings(rec));
	return synthesize(rec);
}

/* Everything up to the moment when events count. */
static struct error *prepare(struct recording *rec)
{
	TRY(loop_new(&rec->loop));
	TRY(loop_end_if_busy(rec->loop)); /* until the output begins */
	if (!strcmp(rec->opts.output, "-"))
		loop_keep_stdout(rec->loop);
	TRY(control_open(rec));
	TRY(switch_prepare(rec));
	if (rec->opts.adopt)
		return prepare_passed(rec);
	TRY(events_select(rec));
	if (rec->opts.workload)
		TRY(loop_prepare(rec->loop, rec->opts.workload));
	TRY(target_init(rec));
	TRY(probe_gates_set(rec));
	TRY(task_filter_choose(rec));
	rec->drop_self = rec->target.system_wide;
	TRY(switch_open_event(rec));
	TRY(objects_load(rec));
	TRY(events_configure(rec));
	TRY(events_open(rec));
	TRY(rings_open(rec));
	TRY(threads_prepare(rec));
	TRY(events_attach(rec));
	TRY(tasks_check(&rec->target.tasks));
	events_warn_of_several(rec);
	strangers_find(rec);
	loop_stay_busy(rec->loop);
	TRY(writer_begin(rec));
	TRY(watch_rings(rec));
	TRY(cpu_return_begin(rec));
	programs_listen(rec);
	if (!rec->opts.no_build_ids && !data_writer_is_pipe(rec->writer))
		TRY(mapped_files_new(rec));
	return synthesize(rec);
}

static struct error *enter(struct recording *rec, enum record_phase phase)
{
	return rec->opts.enter ? rec->opts.enter(rec->opts.enter_ctx, phase) : NULL;
}

/* The workload was forked before, and stays as it is. */
static struct error *record(struct recording *rec)
{
	build_ids_begin(rec);
	TRY(become_realtime(rec));
	TRY(objects_attach(rec));
	if (!rec->opts.adopt && enable_times_start_at_once(rec))
		TRY(events_enable(rec));
	if (rec->switching.event)
		TRY(live_events_start(rec->switching.event));
	rec->result.started = true;
	_cleanup_free_ char *doing = text_format("collect '%s' for", rec->events.v[0].name);
	TRY(loop_start(rec->loop, doing ? doing : "run"));
	TRY(enter(rec, RECORD_RUNNING));
	return run_loop(rec);
}

/* The file's end, whether or not recording went well. */
static struct error *finish(struct recording *rec)
{
	TRY(off_cpu_write_sums(rec));
	TRY(ledger_close(rec));
	TRY(record_probes_tell(rec));
	TRY(features_end(rec));
	TRY(enter(rec, RECORD_FINISHING));
	if (!rec->opts.no_build_ids)
		TRY(build_ids_write(rec));
	return NULL;
}

struct error *recording_check(struct recording *rec)
{
	return events_select(rec);
}

struct error *recording_run(struct recording *rec)
{
	struct error *err = prepare(rec);

	if (!err)
		err = record(rec);
	if (rec->result.started && (!err || err->code != ECHILD)) {
		struct error *end;

		events_disable(rec);
		if (!err) {
			err = finish(rec);
		} else {
			rings_count_unwritten(rec);
			error_free(ledger_close(
				rec)); /* for the last line; the file is closed to it */
		}
		if (err)
			data_writer_spoil(rec->writer);
		end = directory_end(rec, err);
		struct error *data = data_writer_finish(rec->writer);
		if (end)
			error_free(data);
		else
			end = data;
		if (!end)
			end = switch_end(rec);
		if (err)
			error_free(end);
		else
			err = end;
	}
	if (rec->loop)
		loop_kill(rec->loop);
	rec->result.bytes = rec->part_bytes + rec->switching.bytes +
			    (rec->writer ? data_writer_bytes(rec->writer) : 0);
	rec->result.losses = rec->losses.v;
	rec->result.n_losses = rec->losses.n;
	return err;
}

const struct record_result *recording_result(const struct recording *rec)
{
	return &rec->result;
}

void recording_free(struct recording *rec)
{
	struct event *event;
	struct record_object *object;
	struct record_loss *loss;

	if (!rec)
		return;
	if (rec->loop && !rec->is_live)
		loop_kill(rec->loop);
	error_free(threads_stop(rec));
	threads_free(rec->threads);
	cpu_watch_free(rec->cpu_watch);
	rings_close(rec);
	vec_for_each (event, &rec->events)
		event_deinit(event);
	vec_deinit(&rec->events);
	vec_for_each (object, &rec->objects)
		object_deinit(object);
	vec_deinit(&rec->objects);
	probe_finder_free(rec->finder);
	target_deinit(&rec->target);
	data_writer_free(rec->writer);
	program_store_free(rec->programs);
	buildid_process_free(rec->copier);
	mapped_files_free(rec);
	u64map_deinit(&rec->ids);
	free(rec->gate);
	control_close(&rec->control);
	switching_deinit(&rec->switching);
	free(rec->header_page);
	free(rec->header_event);
	vec_for_each (loss, &rec->losses)
		free(loss->name);
	vec_deinit(&rec->losses);
	if (!rec->is_live)
		loop_free(rec->loop); /* signals end us from here on */
	free(rec);
}
