// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording from beginning to end; internal.h lists its parts.
 *
 * Everything the recorder puts into the kernel hangs on its fds: events,
 * programs, maps and links go away with the process, however it ends. Nothing
 * is pinned. The file is readable up to the last round at every moment (see
 * perf/data/writer.h), and a round ends at least once a second.
 *
 * Signals are read from an fd, so that there is no handler and no global: they
 * end the loop at its one waiting place.
 */
#include "perf/record/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A round at least so often, for who reads along and for what a kill leaves. */
#define ROUND_MS 1000

#define EPOLL_SIGNAL UINT32_MAX

struct error *recording_new(const struct record_opts *opts, struct recording **out)
{
	struct recording *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return error_nomem();
	rec->opts = *opts;
	rec->roots = opts->roots;
	rec->log = opts->log;
	rec->self = getpid();
	rec->signal_fd = rec->epoll_fd = -1;
	rec->workload = (struct workload)WORKLOAD_INIT;
	rec->result.output = opts->output;
	*out = rec;
	return NULL;
}

static struct error *signals_begin(struct recording *rec)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &mask, &rec->old_mask))
		return error_errno(errno, "cannot block signals");
	sigaction(SIGPIPE, &ignore, &rec->old_pipe);
	rec->signals_changed = true;
	rec->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (rec->signal_fd < 0)
		return error_errno(errno, "cannot create a signalfd");
	return NULL;
}

static void signals_end(struct recording *rec)
{
	if (!rec->signals_changed)
		return;
	if (rec->signal_fd >= 0) {
		/* Those that asked us to end were answered. */
		struct signalfd_siginfo info;
		while (read(rec->signal_fd, &info, sizeof(info)) == sizeof(info))
			;
		close(rec->signal_fd);
	}
	sigaction(SIGPIPE, &rec->old_pipe, NULL);
	sigprocmask(SIG_SETMASK, &rec->old_mask, NULL);
}

static struct error *epoll_add(struct recording *rec, int fd, uint32_t key)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = key};

	if (epoll_ctl(rec->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return error_errno(errno, "cannot wait for events");
	return NULL;
}

static struct error *epoll_begin(struct recording *rec)
{
	rec->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rec->epoll_fd < 0)
		return error_errno(errno, "cannot wait for events");
	TRY(epoll_add(rec, rec->signal_fd, EPOLL_SIGNAL));
	for (size_t i = 0; i < rec->rings.n; i++) {
		TRY(epoll_add(rec, rec->rings.v[i].fds.v[0], i));
		rec->rings.v[i].polled = true;
	}
	return NULL;
}

/*
 * The thread of the fd we wait at has ended: wait at the next one that writes
 * to this ring. Without one, the ring has seen its last record.
 */
static void ring_hung_up(struct recording *rec, struct cpu_ring *ring)
{
	epoll_ctl(rec->epoll_fd, EPOLL_CTL_DEL, ring->fds.v[ring->polled_fd], NULL);
	while (++ring->polled_fd < ring->fds.n) {
		struct error *err =
			epoll_add(rec, ring->fds.v[ring->polled_fd], ring - rec->rings.v);

		if (!err)
			return;
		error_free(err);
	}
	ring->polled = false;
}

static void take_signals(struct recording *rec, bool *done)
{
	struct signalfd_siginfo info;

	while (read(rec->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			rec->result.signal = info.ssi_signo;
			*done = true;
			continue;
		}
		struct workload *w = &rec->workload;
		int status;
		if (w->pid && !w->reaped && waitpid(w->pid, &status, WNOHANG) == w->pid) {
			w->reaped = true;
			rec->result.workload_ended = true;
			rec->result.workload_status = status;
			*done = true;
		}
	}
}

static struct error *wait_for_events(struct recording *rec, int timeout_ms, bool *done)
{
	struct epoll_event events[64];
	int n = epoll_wait(rec->epoll_fd, events, ARRAY_SIZE(events), timeout_ms);

	if (n < 0 && errno != EINTR)
		return error_errno(errno, "cannot wait for events");
	for (int i = 0; i < n; i++) {
		if (events[i].data.u32 == EPOLL_SIGNAL)
			take_signals(rec, done);
		else if (events[i].events & (EPOLLHUP | EPOLLERR))
			ring_hung_up(rec, &rec->rings.v[events[i].data.u32]);
	}
	bool any = false;
	for (size_t i = 0; i < rec->rings.n; i++)
		any |= rec->rings.v[i].polled;
	/* -p and -t: all that was to be recorded has ended. */
	if (!any && !rec->workload.pid)
		*done = true;
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static struct error *loop(struct recording *rec)
{
	uint64_t enable_at = rec->opts.delay_ms > 0 ? now_ms() + rec->opts.delay_ms : 0;
	bool done = false, any;

	while (!done) {
		int timeout = ROUND_MS;

		if (enable_at) {
			uint64_t now = now_ms();

			if (now >= enable_at) {
				TRY(events_enable(rec));
				enable_at = 0;
			} else {
				timeout = min_of((uint64_t)ROUND_MS, enable_at - now);
			}
		}
		TRY(wait_for_events(rec, timeout, &done));
		done = done || record_probes_ended(rec);
		TRY(rings_drain(rec, &any));
		if (data_writer_is_full(rec->writer)) {
			log_warn(rec->log,
				 "the file has reached --max-size: stopping the recording");
			done = true;
		}
	}
	events_disable(rec);
	return rings_drain(rec, &any);
}

static struct error *writer_begin(struct recording *rec)
{
	struct data_writer_opts opts = {
		.sz = sizeof(opts),
		.max_size = rec->opts.max_size,
		.zstd_level = rec->opts.zstd_level,
		.mmap_len = rec->mmap_pages * sys_page_size(),
	};
	struct event *event;

	TRY(data_writer_open(rec->opts.output, &opts, &rec->writer));
	vec_for_each (event, &rec->events) {
		_cleanup_free_ uint64_t *ids = calloc(event->fds.n, sizeof(*ids));

		if (!ids)
			return error_nomem();
		for (size_t i = 0; i < event->fds.n; i++)
			ids[i] = event->fds.v[i].id;
		struct perf_event_attr attr;
		event_file_attr(event, &attr);
		TRY(data_writer_add_event(rec->writer, &attr, event->name, ids, event->fds.n));
	}
	TRY(features_begin(rec));
	return data_writer_start(rec->writer);
}

/* Everything up to the moment when events count. */
static struct error *prepare(struct recording *rec)
{
	TRY(signals_begin(rec));
	TRY(events_select(rec));
	if (rec->opts.workload)
		TRY(workload_prepare(&rec->workload, rec->opts.workload, &rec->old_mask));
	TRY(target_init(rec));
	rec->drop_self = rec->target.system_wide;
	TRY(objects_load(rec));
	TRY(events_configure(rec));
	TRY(events_open(rec));
	TRY(rings_open(rec));
	TRY(events_attach(rec));
	TRY(writer_begin(rec));
	TRY(epoll_begin(rec));
	return synthesize(rec);
}

static struct error *record(struct recording *rec)
{
	TRY(objects_attach(rec));
	if (!rec->opts.delay_ms)
		TRY(events_enable(rec));
	rec->result.started = true;
	if (rec->workload.pid) {
		_cleanup_free_ char *doing = text_format("collect '%s' for", rec->events.v[0].name);

		TRY(workload_start(&rec->workload, rec->opts.workload[0], doing ? doing : "run"));
	}
	return loop(rec);
}

/* The file's end, whether or not recording went well. */
static struct error *finish(struct recording *rec)
{
	TRY(ledger_close(rec));
	TRY(record_probes_tell(rec));
	TRY(features_end(rec));
	if (!rec->opts.no_build_ids)
		TRY(build_ids_write(rec));
	return NULL;
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
		end = data_writer_finish(rec->writer);
		if (err)
			error_free(end);
		else
			err = end;
	}
	/* What we end ourselves says nothing of the workload. */
	int status;
	workload_end(&rec->workload, &status);
	rec->result.bytes = rec->writer ? data_writer_bytes(rec->writer) : 0;
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
	struct object *object;
	struct record_loss *loss;
	int status;

	if (!rec)
		return;
	workload_end(&rec->workload, &status);
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
	if (rec->epoll_fd >= 0)
		close(rec->epoll_fd);
	signals_end(rec);
	u64map_deinit(&rec->ids);
	vec_for_each (loss, &rec->losses)
		free(loss->name);
	vec_deinit(&rec->losses);
	free(rec);
}
