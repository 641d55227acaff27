/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that another thread writes while the caller makes more, in order.
 *
 *	struct text_writer w;
 *	text_writer_init(&w, write, ctx);
 *	err = text_writer_put(&w, &text);	// each time that enough has gathered
 *	err = text_writer_wait(&w);
 *	text_writer_deinit(&w);
 */
#ifndef PB_PERF_PRINT_TEXT_WRITER_H
#define PB_PERF_PRINT_TEXT_WRITER_H

#include <pthread.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/* Called by one thread at a time; leaves out to the caller. */
typedef struct error *text_write_fn(void *ctx, const struct strbuf *text);

struct text_writer {
	text_write_fn *write;
	void *ctx;
	unsigned n_put; /* until there is a thread, or can be none */
	bool is_alone;	/* no thread can be started */
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news, done;
	/* below the lock */
	enum {
		TEXT_NONE,
		TEXT_WAITS,
		TEXT_IS_WRITTEN,
	} state;
	struct strbuf text;  /* unless the state is TEXT_NONE; else its memory is used again */
	struct error *error; /* of what was written last; NULL: none */
	bool has_ended;
};

void text_writer_init(struct text_writer *w, text_write_fn *write, void *ctx);
/* After text_writer_wait(), or before anything was put. */
void text_writer_deinit(struct text_writer *w);

/*
 * Takes a text, which is empty then. The error of this one or of an earlier one, which is returned
 * once.
 */
struct error *text_writer_put(struct text_writer *w, struct strbuf *text);
/* Until all is written. */
struct error *text_writer_wait(struct text_writer *w);

#endif
