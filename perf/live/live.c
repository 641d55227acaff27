// SPDX-License-Identifier: BSD-2-Clause
#include "perf/live/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "lib/ring/perf_ring.h"
#include "lib/sys/sys.h"
#include "perf/live/synth.h"

enum {
	RING_PAGES = 64,  /* for each CPU */
	MAX_ENDED = 4096, /* threads; and twice as many as are referred to */
};

struct live_ring {
	int fd;
	struct perf_ring ring;
};

struct live_source {
	const struct log *log;
	struct session *session;
	struct session_tool *tool;
	struct perf_event_attr attr;
	VEC(struct live_ring) rings;
	int epoll_fd;
	bool kernel_read;
	size_t max_ended;
	uint64_t lost; /* when live_source_forget() was called last */
};

void live_source_free(struct live_source *live)
{
	struct live_ring *ring;

	if (!live)
		return;
	vec_for_each (ring, &live->rings) {
		perf_ring_deinit(&ring->ring);
		closep(&ring->fd);
	}
	vec_deinit(&live->rings);
	closep(&live->epoll_fd);
	session_free(live->session);
	free(live);
}

struct session *live_source_session(struct live_source *live)
{
	return live->session;
}

int live_source_fd(const struct live_source *live)
{
	return live->epoll_fd;
}

/* Every ring in the list can be read. */
static struct error *add_ring(struct live_source *live, int fd)
{
	struct live_ring *ring = vec_push(&live->rings);
	struct epoll_event event = {.events = EPOLLIN};
	struct error *err;

	if (!ring) {
		close(fd);
		return error_nomem();
	}
	ring->fd = fd;
	err = perf_ring_init(&ring->ring, fd, RING_PAGES);
	if (!err && epoll_ctl(live->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		err = error_errno(errno, "cannot wait for process records");
	if (err) {
		perf_ring_deinit(&ring->ring);
		close(fd);
		live->rings.n--;
	}
	return err;
}

static struct error *listen_on(struct live_source *live, unsigned cpu)
{
	int fd = sys_perf_event_open(&live->attr, -1, (int)cpu, -1, 0);

	if (fd == -EINVAL && live->attr.read_format) {
		live->attr.read_format = 0; /* before 6.0 */
		fd = sys_perf_event_open(&live->attr, -1, (int)cpu, -1, 0);
	}
	if (fd == -EINVAL && live->attr.ksymbol && !live->attr.bpf_event) {
		live->attr.ksymbol = 0; /* before 5.1 */
		fd = sys_perf_event_open(&live->attr, -1, (int)cpu, -1, 0);
	}
	if (fd < 0) {
		struct sys_perf_attempt attempt = {.attr = &live->attr, .pid = -1, .cpu = cpu};

		return sys_perf_event_explain(NULL, &attempt, fd);
	}
	return add_ring(live, fd);
}

struct error *live_source_cpu_returned(struct live_source *live, unsigned cpu)
{
	return live->epoll_fd >= 0 ? listen_on(live, cpu) : NULL;
}

static struct error *listen_on_all(struct live_source *live)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};

	live->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (live->epoll_fd < 0)
		return error_errno(errno, "cannot wait for process records");
	TRY(sys_cpus_online(NULL, &cpus));
	for (size_t i = 0; i < cpus.n; i++)
		TRY(listen_on(live, cpus.v[i]));
	return NULL;
}

static struct error *push_records(void *ctx, const void *records, size_t size)
{
	struct iovec iov = {(void *)records, size};
	struct live_source *live = ctx;

	return session_push(live->session, live->tool, &iov, 1);
}

static struct error *read_system(struct live_source *live, bool processes)
{
	struct synth s = {
		.log = live->log, .attr = &live->attr, .write = push_records, .ctx = live};
	struct error *err = NULL;

	if (processes)
		err = synth_processes(&s);
	else
		synth_kernel(&s);
	if (!err)
		err = synth_flush(&s, true);
	strbuf_deinit(&s.out);
	return err;
}

struct error *live_source_read_kernel(struct live_source *live)
{
	if (live->kernel_read)
		return NULL;
	live->kernel_read = true;
	return read_system(live, false);
}

struct error *live_source_new(const struct live_source_opts *opts, struct live_source **out)
{
	_cleanup_(live_source_freep) struct live_source *live = calloc(1, sizeof(*live));
	struct session_opts session_opts = {.sz = sizeof(session_opts), .log = opts->log};

	if (!live)
		return error_nomem();
	live->log = opts->log;
	live->epoll_fd = -1;
	live->max_ended = MAX_ENDED;
	live->tool = opts->tool;
	live->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(live->attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | (opts->programs ? PERF_SAMPLE_CPU : 0),
		.read_format = opts->programs ? PERF_FORMAT_LOST : 0,
		.sample_id_all = 1,
		.mmap = !opts->programs,
		.mmap2 = !opts->programs,
		.task = !opts->programs || opts->names,
		.comm = !opts->programs || opts->names,
		.comm_exec = !opts->programs || opts->names,
		.ksymbol = 1,
		.bpf_event = opts->programs,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark =
			opts->programs || opts->prompt ? 1 : RING_PAGES * sys_page_size() / 4,
	};
	TRY(session_new_live(&session_opts, &live->session));
	if (opts->programs)
		TRY(listen_on_all(live));
	if (opts->processes) {
		struct error *err = listen_on_all(live);
		if (err)
			log_warn(live->log,
				 "stacks of processes that end early may lack symbols: %s",
				 err->msg);
		error_free(err);
	}
	TRY(session_add_event(live->session, &live->attr, "dummy", NULL, 0));
	if (opts->processes)
		TRY(read_system(live, true));
	*out = steal_ptr(live);
	return NULL;
}

struct error *live_source_update(struct live_source *live)
{
	struct live_ring *ring;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	vec_for_each (ring, &live->rings) {
		struct iovec iov[2];
		int n = perf_ring_peek(&ring->ring, iov);

		if (!n)
			continue;
		TRY(session_push(live->session, live->tool, iov, n));
		perf_ring_consume(&ring->ring);
	}
	return session_advance(live->session, live->tool, now);
}

uint64_t live_source_lost(const struct live_source *live)
{
	const uint64_t told = session_losses(live->session).lost;
	const struct live_ring *ring;
	uint64_t counted = 0;

	if (!live->attr.read_format)
		return told;
	vec_for_each (ring, &live->rings) {
		uint64_t values[2]; /* the count, and what was lost */

		if (read(ring->fd, values, sizeof(values)) == sizeof(values))
			counted += values[1];
	}
	return max_of(told, counted);
}

bool live_source_is_full(const struct live_source *live)
{
	return session_n_ended(live->session) >= live->max_ended;
}

struct keeping {
	bool (*refers)(void *ctx, int32_t pid, uint64_t ended);
	void *ctx;
	bool lost; /* records: some ended without a word */
};

static bool keep(void *ctx, int32_t pid, uint64_t ended)
{
	struct keeping *k = ctx;
	char path[32];

	if (!ended && k->lost) {
		snprintf(path, sizeof(path), "/proc/%d", pid);
		if (pid && access(path, F_OK))
			return k->refers && k->refers(k->ctx, pid, 1);
	}
	return !ended || (k->refers && k->refers(k->ctx, pid, ended));
}

void live_source_forget(struct live_source *live,
			bool (*refers)(void *ctx, int32_t pid, uint64_t ended), void *ctx)
{
	uint64_t lost = session_losses(live->session).lost;
	struct keeping k = {.refers = refers, .ctx = ctx, .lost = lost != live->lost};

	live->lost = lost;
	session_forget(live->session, keep, &k);
	live->max_ended = max_of(2 * session_n_ended(live->session), (size_t)MAX_ENDED);
}
