// SPDX-License-Identifier: BSD-2-Clause
/*
 * A ring of batches of samples. The thread that reads the recording fills them in order, and gets
 * them back in order, when they are unwound; between, any thread claims the next batch that is
 * full. When the ring is full, the reader claims batches as well, so it never waits for a thread
 * that has no CPU.
 *
 * What a walk reads must not change meanwhile. The maps of a process change by records: before one
 * is dealt with, the session has the tool settle, which gives the tool all samples that came
 * before. The bytes of the samples must stay where they are: those of a mapped file do, others
 * (from a pipe, or compressed) are not put off. Each thread has its own unwinder, with its own
 * tables of unwind information. So nothing is shared but the ring, and the tool sees what it would
 * see without threads.
 *
 * The first stacks are unwound by the reader: of a small recording all are.
 */
#include "perf/unwind/unwind_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/vec.h"
#include "lib/sys/thread.h"

#define BATCH	    32
#define MAX_WORKERS 7
#define FIRST	    256

struct stack_job {
	struct record rec; /* without .id, which samples do not have */
	struct sample sample;
	const struct session_event *event;
	struct thread *thread;
	size_t chain_at, chain_n; /* in the batch's chains */
	bool is_unwound, failed;
};

struct batch {
	struct stack_job jobs[BATCH];
	unsigned n;
	VEC(uint64_t) chains;
	bool is_done; /* below the lock */
};

struct worker {
	struct unwind_ahead *ahead;
	struct unwinder *unwinder;
	pthread_t thread;
};

struct unwind_ahead {
	struct session_tool tool;
	struct unwind_ahead_opts opts;
	struct session *session;
	struct unwinder *own; /* of the reader */
	struct worker workers[MAX_WORKERS];
	unsigned n_workers, n_running;
	unsigned n_seen; /* stacks, up to FIRST */
	bool has_failed; /* the tool, which gets nothing more */
	bool is_alone;	 /* no thread could be started */
	struct batch *ring;
	unsigned n_ring;
	uint64_t n_given; /* batches that the tool had */
	pthread_mutex_t lock;
	pthread_cond_t full, done;
	/* below the lock */
	uint64_t n_full, n_claimed; /* batches */
	bool has_ended;
};

bool unwind_ahead_helps(struct resolver *r)
{
	return !resolver_wants_lines(r) && session_has_stacks(resolver_session(r)) &&
	       thread_cpus() > 1;
}

static void unwind_batch(struct unwinder *u, struct batch *b)
{
	b->chains.n = 0;
	for (unsigned i = 0; i < b->n; i++) {
		struct stack_job *job = &b->jobs[i];
		const struct sample *sample =
			unwinder_sample(u, &job->sample, job->event, job->thread);

		job->failed = !sample;
		job->is_unwound = sample && sample->is_unwound;
		if (!job->is_unwound)
			continue;
		job->chain_at = b->chains.n;
		job->chain_n = sample->chain.n;
		if (!vec_reserve(&b->chains, b->chains.n + job->chain_n)) {
			job->failed = true;
			continue;
		}
		memcpy(b->chains.v + b->chains.n, sample->chain.bytes,
		       job->chain_n * sizeof(*b->chains.v));
		b->chains.n += job->chain_n;
	}
}

/* With the lock, which is released meanwhile. */
static void do_next(struct unwind_ahead *a, struct unwinder *u)
{
	struct batch *b = &a->ring[a->n_claimed++ % a->n_ring];

	pthread_mutex_unlock(&a->lock);
	unwind_batch(u, b);
	pthread_mutex_lock(&a->lock);
	b->is_done = true;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct unwind_ahead *a = w->ahead;

	pthread_mutex_lock(&a->lock);
	while (!a->has_ended) {
		if (a->n_claimed == a->n_full) {
			pthread_cond_wait(&a->full, &a->lock);
			continue;
		}
		do_next(a, w->unwinder);
		pthread_cond_signal(&a->done);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static struct error *new_unwinder(const struct unwind_ahead *a, struct unwinder **out)
{
	return unwinder_new(a->opts.resolver, a->opts.max, a->opts.keeps_outermost, out);
}

static struct error *start(struct unwind_ahead *a)
{
	const unsigned n = min_of(thread_cpus() - 1, (unsigned)MAX_WORKERS);

	if (!n) {
		a->is_alone = true;
		return NULL;
	}
	a->n_ring = 4 * n + 4;
	a->ring = calloc(a->n_ring, sizeof(*a->ring));
	if (!a->ring)
		return error_nomem();
	TRY(new_unwinder(a, &a->own));
	for (unsigned i = 0; i < n; i++) {
		struct worker *w = &a->workers[i];

		w->ahead = a;
		TRY(new_unwinder(a, &w->unwinder));
		struct error *err = thread_start(worker_main, w, &w->thread);
		if (err) {
			error_free(err);
			unwinder_free(w->unwinder);
			w->unwinder = NULL;
			break;
		}
		a->n_running = ++a->n_workers;
	}
	a->is_alone = !a->n_workers;
	return NULL;
}

/* To the tool. */
static struct error *give(struct unwind_ahead *a, const struct batch *b,
			  const struct stack_job *job)
{
	struct sample sample;

	if (job->failed)
		return error_nomem();
	copy_block(&sample, &job->sample, sizeof(sample));
	if (job->is_unwound) {
		sample.is_unwound = true;
		sample.chain = (struct u64_array){
			.bytes = (const uint8_t *)(b->chains.v + job->chain_at),
			.n = job->chain_n,
		};
	}
	return a->opts.tool->sample(&a->tool, a->session, &job->rec, &sample, job->event,
				    job->thread);
}

static struct error *give_oldest(struct unwind_ahead *a)
{
	struct batch *b = &a->ring[a->n_given % a->n_ring];
	struct error *err = NULL;

	pthread_mutex_lock(&a->lock);
	while (!b->is_done) {
		if (a->n_claimed < a->n_full)
			do_next(a, a->own);
		else
			pthread_cond_wait(&a->done, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < b->n && !err; i++)
		err = give(a, b, &b->jobs[i]);
	b->n = 0;
	b->is_done = false;
	a->n_given++;
	a->has_failed = err;
	return err;
}

static struct batch *filling(struct unwind_ahead *a)
{
	return a->ring ? &a->ring[a->n_full % a->n_ring] : NULL;
}

static bool is_oldest_done(struct unwind_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	const bool is_done = a->ring[a->n_given % a->n_ring].is_done;
	pthread_mutex_unlock(&a->lock);
	return is_done;
}

static void hand_over(struct unwind_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->n_full++;
	pthread_cond_signal(&a->full);
	pthread_mutex_unlock(&a->lock);
}

static struct error *settle(struct session_tool *tool)
{
	struct unwind_ahead *a = container_of(tool, struct unwind_ahead, tool);
	const struct batch *b = filling(a);

	if (!b || a->has_failed)
		return NULL;
	if (b->n)
		hand_over(a);
	while (a->n_given < a->n_full)
		TRY(give_oldest(a));
	return NULL;
}

static struct error *pass(struct unwind_ahead *a, const struct record *rec,
			  const struct sample *sample, const struct session_event *event,
			  struct thread *thread)
{
	struct error *err = a->opts.tool->sample(&a->tool, a->session, rec, sample, event, thread);

	a->has_failed = err;
	return err;
}

static struct error *on_sample(struct session_tool *tool, struct session *session,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct unwind_ahead *a = container_of(tool, struct unwind_ahead, tool);
	struct batch *b = filling(a);

	a->session = session;
	if (rec->stays && !a->is_alone && !b && sample->has & PERF_SAMPLE_STACK_USER &&
	    ++a->n_seen > FIRST) {
		TRY(start(a));
		b = filling(a);
	}
	if (!rec->stays || a->is_alone || !b) {
		TRY(settle(tool));
		return pass(a, rec, sample, event, thread);
	}
	struct stack_job *job = &b->jobs[b->n++];
	job->rec.header = rec->header;
	job->rec.body = rec->body;
	job->rec.file_offset = rec->file_offset;
	job->rec.event = rec->event;
	job->rec.again = rec->again;
	job->rec.stays = rec->stays;
	copy_block(&job->sample, sample, sizeof(*sample));
	job->event = event;
	job->thread = thread;
	if (b->n < BATCH)
		return NULL;
	hand_over(a);
	/* One place stays free, to be filled. */
	while (a->n_given < a->n_full &&
	       (a->n_full - a->n_given >= a->n_ring - 1 || is_oldest_done(a)))
		TRY(give_oldest(a));
	return NULL;
}

struct error *unwind_ahead_new(const struct unwind_ahead_opts *opts, struct unwind_ahead **out)
{
	struct unwind_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return error_nomem();
	a->opts = *opts;
	a->tool = *opts->tool;
	a->tool.sample = on_sample;
	a->tool.settle = settle;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->full, NULL);
	pthread_cond_init(&a->done, NULL);
	*out = a;
	return NULL;
}

static void end_threads(struct unwind_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->has_ended = true;
	pthread_cond_broadcast(&a->full);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->n_running; i++)
		pthread_join(a->workers[i].thread, NULL);
	a->n_running = 0;
}

void unwind_ahead_free(struct unwind_ahead *a)
{
	if (!a)
		return;
	end_threads(a);
	for (unsigned i = 0; i < MAX_WORKERS; i++)
		unwinder_free(a->workers[i].unwinder);
	unwinder_free(a->own);
	for (unsigned i = 0; a->ring && i < a->n_ring; i++)
		vec_deinit(&a->ring[i].chains);
	free(a->ring);
	pthread_cond_destroy(&a->done);
	pthread_cond_destroy(&a->full);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

struct session_tool *unwind_ahead_tool(struct unwind_ahead *a)
{
	return &a->tool;
}

void unwind_ahead_end(struct unwind_ahead *a, struct unwinder *counts)
{
	end_threads(a);
	if (a->own)
		unwinder_add_counts(counts, a->own);
	for (unsigned i = 0; i < a->n_workers; i++)
		unwinder_add_counts(counts, a->workers[i].unwinder);
}

unsigned unwind_ahead_n_threads(const struct unwind_ahead *a)
{
	return a->n_workers;
}
