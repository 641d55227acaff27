// SPDX-License-Identifier: BSD-2-Clause
/*
 * To write text takes the kernel about as long as it takes to make it. So one text is written by a
 * thread while the next one is made; there are never more than two. If the thread has no CPU, the
 * caller writes what waits, so it waits for nothing but a write that has begun. The first texts are
 * written by the caller: little output needs no thread.
 */
#include "perf/print/text_writer.h"

#include "lib/base/cleanup.h"
#include "lib/sys/thread.h"

#define FIRST 2

void text_writer_init(struct text_writer *w, text_write_fn *write, void *ctx)
{
	*w = (struct text_writer){.write = write, .ctx = ctx};
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->news, NULL);
	pthread_cond_init(&w->done, NULL);
}

/* With the lock, which is released meanwhile. */
static void write_waiting(struct text_writer *w)
{
	w->state = TEXT_IS_WRITTEN;
	pthread_mutex_unlock(&w->lock);
	struct error *err = w->write(w->ctx, &w->text);
	pthread_mutex_lock(&w->lock);
	w->state = TEXT_NONE;
	w->error = err;
}

static void *thread_main(void *arg)
{
	struct text_writer *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->has_ended) {
		if (w->state != TEXT_WAITS) {
			pthread_cond_wait(&w->news, &w->lock);
			continue;
		}
		write_waiting(w);
		pthread_cond_signal(&w->done);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

void text_writer_deinit(struct text_writer *w)
{
	if (w->has_thread) {
		pthread_mutex_lock(&w->lock);
		w->has_ended = true;
		pthread_cond_signal(&w->news);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	pthread_cond_destroy(&w->done);
	pthread_cond_destroy(&w->news);
	pthread_mutex_destroy(&w->lock);
	strbuf_deinit(&w->text);
}

static void start(struct text_writer *w)
{
	if (w->has_thread || w->is_alone || w->n_put++ < FIRST)
		return;
	struct error *err =
		thread_cpus() > 1 ? thread_start(thread_main, w, &w->thread) : error_nomem();

	w->has_thread = !err;
	w->is_alone = err;
	error_free(err);
}

/* With the lock. */
static struct error *finish(struct text_writer *w)
{
	while (w->state != TEXT_NONE)
		if (w->state == TEXT_WAITS)
			write_waiting(w);
		else
			pthread_cond_wait(&w->done, &w->lock);
	return steal_ptr(w->error);
}

struct error *text_writer_put(struct text_writer *w, struct strbuf *text)
{
	start(w);
	if (!w->has_thread) {
		struct error *err = w->write(w->ctx, text);

		strbuf_reset(text);
		return err;
	}
	pthread_mutex_lock(&w->lock);
	struct error *err = finish(w);
	if (!err) {
		const struct strbuf next = w->text;

		w->text = *text;
		*text = next;
		w->state = TEXT_WAITS;
		pthread_cond_signal(&w->news);
	}
	pthread_mutex_unlock(&w->lock);
	strbuf_reset(text);
	return err;
}

struct error *text_writer_wait(struct text_writer *w)
{
	pthread_mutex_lock(&w->lock);
	struct error *err = finish(w);
	pthread_mutex_unlock(&w->lock);
	return err;
}
