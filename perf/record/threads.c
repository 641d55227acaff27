// SPDX-License-Identifier: BSD-2-Clause
/*
 * --threads: each thread reads its rings into their files, and nobody else does while it runs.
 *
 * A thread looks at records through a copy of the recording, whose counters are its own; what they
 * have counted is added to sums, which the main thread takes over (threads_collect). All else that
 * the copy refers to is changed by the main thread alone, between threads_hold() and
 * threads_release(), when no thread is reading.
 *
 * The threads are started when the privileges are dropped: a thread has its own.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "perf/record/internal.h"

/* As the rounds of the main thread. */
#define PASS_MS 1000

struct counters {
	uint64_t samples, dropped_self, lost_records, wakeups, bytes;
	uint64_t first_time, last_time;
	bool user_hit, kernel_hit, programs_changed, cgroups_changed;
};

struct record_thread {
	struct recording *rec;
	pthread_t id;
	VEC(struct cpu_ring *) rings;
	struct sys_cpus runs;
	struct error *err;
};

struct record_threads {
	VEC(struct record_thread) v;
	size_t n_running;
	pthread_rwlock_t reading; /* held by each thread that reads; to write: by the main one */
	pthread_mutex_t sums_lock;
	struct counters sums;
	bool held;
	int stop_fd; /* the threads end when it is readable */
	int wake_fd; /* for the main thread: one has ended, or has nothing to wait for any more */
};

static void wake(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* ---- a thread ---- */

static void add_counters(struct counters *to, const struct counters *from)
{
	to->samples += from->samples;
	to->dropped_self += from->dropped_self;
	to->lost_records += from->lost_records;
	to->wakeups += from->wakeups;
	to->bytes += from->bytes;
	if (from->first_time && (!to->first_time || from->first_time < to->first_time))
		to->first_time = from->first_time;
	to->last_time = max_of(to->last_time, from->last_time);
	to->user_hit |= from->user_hit;
	to->kernel_hit |= from->kernel_hit;
	to->programs_changed |= from->programs_changed;
	to->cgroups_changed |= from->cgroups_changed;
}

static struct error *read_ring(struct recording *view, struct cpu_ring *ring, struct counters *sums)
{
	const uint64_t samples = view->samples, bytes = data_writer_bytes(ring->part);
	bool any = false, left;

	view->writer = ring->part;
	struct error *err = cpu_ring_drain(view, ring, &any, &left);
	if (!err)
		err = data_writer_save(ring->part);
	if (err)
		view->samples = samples; /* they are in the ring still */
	sums->wakeups |= any;
	sums->bytes += data_writer_bytes(ring->part) - bytes;
	return err;
}

static struct error *read_rings(struct record_thread *t)
{
	struct record_threads *threads = t->rec->threads;
	struct counters sums = {0};
	struct error *err = NULL;
	struct cpu_ring **ring;

	pthread_rwlock_rdlock(&threads->reading);
	struct recording view = *t->rec;
	view.samples = view.dropped_self = view.lost_records = 0;
	view.first_time = view.last_time = 0;
	view.user_hit = view.kernel_hit = view.programs_changed = view.cgroups_changed = false;
	view.drain_least = view.opts.mmap_flush;
	vec_for_each (ring, &t->rings)
		if (!err)
			err = read_ring(&view, *ring, &sums);
	sums.samples = view.samples;
	sums.dropped_self = view.dropped_self;
	sums.lost_records = view.lost_records;
	sums.first_time = view.first_time;
	sums.last_time = view.last_time;
	sums.user_hit = view.user_hit;
	sums.kernel_hit = view.kernel_hit;
	sums.programs_changed = view.programs_changed;
	sums.cgroups_changed = view.cgroups_changed;
	pthread_rwlock_unlock(&threads->reading);
	pthread_mutex_lock(&threads->sums_lock);
	add_counters(&threads->sums, &sums);
	pthread_mutex_unlock(&threads->sums_lock);
	return err;
}

/* As ring_hung_up() of record_file.c. */
static void next_fd(struct record_threads *threads, struct cpu_ring *ring)
{
	if (++ring->polled_fd < ring->fds.n)
		return;
	__atomic_store_n(&ring->polled, false, __ATOMIC_RELEASE);
	wake(threads->wake_fd);
}

static struct error *wait_for_records(struct record_thread *t, struct pollfd *fds, bool *stop)
{
	struct record_threads *threads = t->rec->threads;

	fds[0] = (struct pollfd){.fd = threads->stop_fd, .events = POLLIN};
	pthread_rwlock_rdlock(&threads->reading);
	for (size_t i = 0; i < t->rings.n; i++) {
		const struct cpu_ring *ring = t->rings.v[i];

		fds[i + 1] = (struct pollfd){.fd = ring->polled ? ring->fds.v[ring->polled_fd] : -1,
					     .events = POLLIN};
	}
	pthread_rwlock_unlock(&threads->reading);
	if (poll(fds, t->rings.n + 1, PASS_MS) < 0 && errno != EINTR)
		return error_errno(errno, "poll");
	*stop = fds[0].revents;
	pthread_rwlock_rdlock(&threads->reading);
	for (size_t i = 0; i < t->rings.n; i++)
		if (fds[i + 1].revents & (POLLHUP | POLLERR))
			next_fd(threads, t->rings.v[i]);
	pthread_rwlock_unlock(&threads->reading);
	return NULL;
}

/* Its own alone: the filter of system calls lets no other process be moved. */
static struct error *go_to_cpus(const struct record_thread *t)
{
	const size_t n = (size_t)*vec_last(&t->runs) + 1, size = CPU_ALLOC_SIZE(n);
	cpu_set_t *set = CPU_ALLOC(n);

	if (!set)
		return error_nomem();
	CPU_ZERO_S(size, set);
	for (size_t i = 0; i < t->runs.n; i++)
		CPU_SET_S(t->runs.v[i], size, set);
	const int code = sched_setaffinity(0, size, set) ? errno : 0;
	CPU_FREE(set);
	return code ? error_errno(code, "--threads: cannot run on CPU %u", t->runs.v[0]) : NULL;
}

static struct error *run(struct record_thread *t)
{
	_cleanup_free_ struct pollfd *fds = calloc(t->rings.n + 1, sizeof(*fds));
	bool stop = false;

	if (!fds)
		return error_nomem();
	if (t->runs.n)
		TRY(go_to_cpus(t));
	while (!stop) {
		TRY(wait_for_records(t, fds, &stop));
		TRY(read_rings(t));
	}
	return NULL;
}

static void *thread_main(void *arg)
{
	struct record_thread *t = arg;

	t->err = run(t);
	if (t->err)
		wake(t->rec->threads->wake_fd);
	return NULL;
}

/* ---- the main thread ---- */

static struct error *assign(struct recording *rec, struct thread_spec *spec)
{
	struct record_thread *t = vec_push(&rec->threads->v);
	struct cpu_ring *ring;

	if (!t)
		return error_nomem();
	t->rec = rec;
	t->runs = spec->runs;
	spec->runs = (struct sys_cpus){0};
	vec_for_each (ring, &rec->rings) {
		if (ring->overwritten || ring->is_threads || ring->cpu < 0 ||
		    !sys_cpus_has(&spec->rings, (unsigned)ring->cpu))
			continue;
		struct cpu_ring **slot = vec_push(&t->rings);
		if (!slot)
			return error_nomem();
		*slot = ring;
		ring->is_threads = ring->polled = true;
		ring->rec = rec;
	}
	return NULL;
}

static struct error *on_wake(void *ctx, uint32_t events)
{
	struct recording *rec = ctx;
	uint64_t n;

	if (read(rec->threads->wake_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return error_errno(errno, "eventfd");
	for (size_t i = 0; i < rec->threads->n_running; i++)
		if (__atomic_load_n(&rec->threads->v.v[i].err, __ATOMIC_ACQUIRE))
			loop_end(rec->loop);
	return NULL;
}

struct error *threads_prepare(struct recording *rec)
{
	_cleanup_(thread_specs_deinit) struct thread_specs specs = {0};
	struct thread_spec *spec;

	if (!rec->opts.threads)
		return NULL;
	TRY(thread_specs_find(rec, &specs));
	rec->threads = calloc(1, sizeof(*rec->threads));
	if (!rec->threads)
		return error_nomem();
	pthread_rwlock_init(&rec->threads->reading, NULL);
	pthread_mutex_init(&rec->threads->sums_lock, NULL);
	rec->threads->stop_fd = eventfd(0, EFD_CLOEXEC);
	rec->threads->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rec->threads->stop_fd < 0 || rec->threads->wake_fd < 0)
		return error_errno(errno, "eventfd");
	vec_for_each (spec, &specs.v)
		TRY(assign(rec, spec));
	return loop_watch(rec->loop, rec->threads->wake_fd, on_wake, rec);
}

/* Signals are for the main thread. */
struct error *threads_start(struct recording *rec)
{
	struct record_threads *threads = rec->threads;
	struct error *err = NULL;
	sigset_t all, before;

	if (!threads)
		return NULL;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!err && threads->n_running < threads->v.n) {
		struct record_thread *t = &threads->v.v[threads->n_running];
		const int code = pthread_create(&t->id, NULL, thread_main, t);

		if (code)
			err = error_errno(code, "--threads: cannot start a thread");
		else
			threads->n_running++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

void threads_collect(struct recording *rec)
{
	struct counters sums = {0};

	if (!rec->threads)
		return;
	pthread_mutex_lock(&rec->threads->sums_lock);
	sums = rec->threads->sums;
	rec->threads->sums = (struct counters){0};
	pthread_mutex_unlock(&rec->threads->sums_lock);
	threads_hold(rec);
	rec->samples += sums.samples;
	rec->result.samples = rec->samples;
	rec->dropped_self += sums.dropped_self;
	rec->lost_records += sums.lost_records;
	rec->result.wakeups += sums.wakeups;
	rec->part_bytes += sums.bytes;
	if (sums.first_time && (!rec->first_time || sums.first_time < rec->first_time))
		rec->first_time = sums.first_time;
	rec->last_time = max_of(rec->last_time, sums.last_time);
	rec->user_hit |= sums.user_hit;
	rec->kernel_hit |= sums.kernel_hit;
	rec->programs_changed |= sums.programs_changed;
	rec->cgroups_changed |= sums.cgroups_changed;
	threads_release(rec);
}

struct error *threads_stop(struct recording *rec)
{
	struct record_threads *threads = rec->threads;
	struct error *first = NULL;

	if (!threads)
		return NULL;
	if (threads->n_running)
		wake(threads->stop_fd);
	while (threads->n_running) {
		struct record_thread *t = &threads->v.v[--threads->n_running];

		pthread_join(t->id, NULL);
		if (first)
			error_free(first);
		first = steal_ptr(t->err);
	}
	threads_collect(rec);
	return first;
}

void threads_free(struct record_threads *threads)
{
	struct record_thread *t;

	if (!threads)
		return;
	vec_for_each (t, &threads->v) {
		vec_deinit(&t->rings);
		sys_cpus_deinit(&t->runs);
	}
	vec_deinit(&threads->v);
	closep(&threads->stop_fd);
	closep(&threads->wake_fd);
	pthread_rwlock_destroy(&threads->reading);
	pthread_mutex_destroy(&threads->sums_lock);
	free(threads);
}

void threads_hold(struct recording *rec)
{
	if (!rec->threads)
		return;
	pthread_rwlock_wrlock(&rec->threads->reading);
	rec->threads->held = true;
}

void threads_release(struct recording *rec)
{
	if (!rec->threads)
		return;
	rec->threads->held = false;
	pthread_rwlock_unlock(&rec->threads->reading);
}

bool threads_read(const struct recording *rec, const struct cpu_ring *ring)
{
	return ring->is_threads && rec->threads->n_running && !rec->threads->held;
}
