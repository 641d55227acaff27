// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that has the pages of a mapped file ready before they are read, and gives back those
 * that are not needed any more. Of a large recording the kernel's part of this takes a third of the
 * time of a report.
 *
 * The reader never waits for the thread: a page that is not there yet comes by the reader's own
 * fault. So the thread changes no result. It looks at no byte of the file, takes no memory, and
 * stays within WINDOW of the reader. Without a thread (one CPU, a small file, a filter of system
 * calls that allows none) the reader gives pages back itself. A kernel before 5.14 cannot make
 * pages ready; then the thread only gives them back. Of a directory of files, whose records all
 * wait for each other, nothing is given back.
 */
#include <errno.h>
#include <sys/mman.h>

#include "lib/sys/thread.h"
#include "perf/session/internal.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* 5.14 */
#endif

#define WINDOW	   ((size_t)8 << 20)
#define PIECE	   ((size_t)1 << 20) /* at once: changes of the process's memory wait so long */
#define NOTE_EVERY ((size_t)256 << 10)
/* A file that is smaller is read before a thread would have helped. */
#define SMALLEST  ((size_t)4 << 20)
#define DROP_STEP ((size_t)8 << 20)

struct read_ahead {
	const uint8_t *base;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	/* below the lock */
	size_t end;	  /* of what is read */
	size_t reader;	  /* where the reader is */
	size_t keep_from; /* what is before it is not needed any more */
	size_t dropped;	  /* what is before it was given back, or is just now */
	bool has_ended;
	size_t ready; /* of the thread: up to here pages were made ready */
};

/* Whole pieces, but for the last. */
static size_t wanted(const struct read_ahead *ra)
{
	return min_of(ra->end, (ra->reader + WINDOW) & ~(PIECE - 1));
}

/* What is given back when the reader does not need what stands before to; *dropped goes on. */
static size_t claim_drop(size_t to, size_t *dropped)
{
	const size_t size = to > *dropped ? (to - *dropped) & ~(DROP_STEP - 1) : 0;

	*dropped += size;
	return size;
}

static void drop(const uint8_t *base, size_t dropped, size_t size)
{
	if (size)
		madvise((void *)(base + dropped - size), size, MADV_DONTNEED);
}

static void *thread_main(void *arg)
{
	struct read_ahead *ra = arg;

	pthread_mutex_lock(&ra->lock);
	while (!ra->has_ended) {
		const size_t from = max_of(ra->ready, ra->reader & ~(PIECE - 1));
		const size_t to = min_of(wanted(ra), from + PIECE);
		const size_t size = claim_drop(ra->keep_from, &ra->dropped);
		const size_t dropped = ra->dropped;

		if (to <= from && !size) {
			pthread_cond_wait(&ra->news, &ra->lock);
			continue;
		}
		pthread_mutex_unlock(&ra->lock);
		if (to > from &&
		    madvise((void *)(ra->base + from), to - from, MADV_POPULATE_READ) &&
		    errno != EINTR && errno != EAGAIN)
			ra->ready = SIZE_MAX; /* it cannot, or the file became shorter */
		else if (to > from)
			ra->ready = to;
		drop(ra->base, dropped, size);
		pthread_mutex_lock(&ra->lock);
	}
	pthread_mutex_unlock(&ra->lock);
	return NULL;
}

void read_ahead_start(struct session_input *in, size_t from, size_t end)
{
	struct read_ahead *ra = NULL;

	in->note_at = in->base + from;
	if (!in->mapped || in->parts.n || end - from < SMALLEST || thread_cpus() < 2)
		return;
	ra = calloc(1, sizeof(*ra));
	if (!ra)
		return;
	ra->base = in->base;
	ra->reader = from;
	ra->end = end;
	ra->dropped = in->dropped;
	pthread_mutex_init(&ra->lock, NULL);
	pthread_cond_init(&ra->news, NULL);
	struct error *err = thread_start(thread_main, ra, &ra->thread);
	if (!err) {
		in->ahead = ra;
		return;
	}
	error_free(err);
	pthread_cond_destroy(&ra->news);
	pthread_mutex_destroy(&ra->lock);
	free(ra);
}

void read_ahead_stop(struct session_input *in)
{
	struct read_ahead *ra = in->ahead;

	if (!ra)
		return;
	pthread_mutex_lock(&ra->lock);
	ra->has_ended = true;
	pthread_cond_signal(&ra->news);
	pthread_mutex_unlock(&ra->lock);
	pthread_join(ra->thread, NULL);
	in->dropped = ra->dropped;
	in->ahead = NULL;
	pthread_cond_destroy(&ra->news);
	pthread_mutex_destroy(&ra->lock);
	free(ra);
}

void read_ahead_note(struct session_input *in, const uint8_t *reader)
{
	struct read_ahead *ra = in->ahead;

	in->note_at = reader + NOTE_EVERY;
	if (!ra)
		return;
	pthread_mutex_lock(&ra->lock);
	ra->reader = (size_t)(reader - in->base);
	pthread_cond_signal(&ra->news);
	pthread_mutex_unlock(&ra->lock);
}

void read_ahead_give_back(struct session_input *in, const uint8_t *keep_from)
{
	struct read_ahead *ra = in->ahead;
	const size_t to = (size_t)(keep_from - in->base);
	size_t size = 0, dropped;

	if (!ra) {
		size = claim_drop(to, &in->dropped);
		drop(in->base, in->dropped, size);
		return;
	}
	pthread_mutex_lock(&ra->lock);
	ra->keep_from = to;
	/* The thread has no CPU: memory must not grow. */
	if (to > ra->dropped + 2 * DROP_STEP)
		size = claim_drop(to, &ra->dropped);
	dropped = ra->dropped;
	pthread_cond_signal(&ra->news);
	pthread_mutex_unlock(&ra->lock);
	drop(in->base, dropped, size);
}
