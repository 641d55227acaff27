// SPDX-License-Identifier: BSD-2-Clause
/* Text that a thread writes: all of it, in order, and what went wrong. */
#include <errno.h>
#include <sched.h>

#include "lib/sys/thread.h"
#include "perf/print/text_writer.h"

#define N 200

struct sink {
	struct strbuf got;
	unsigned n, fails_at; /* 0: never */
	pthread_t caller;
	unsigned n_by_thread; /* not by the caller */
};

static struct error *write_text(void *ctx, const struct strbuf *text)
{
	struct sink *sink = ctx;

	sink->n_by_thread += !pthread_equal(pthread_self(), sink->caller);
	if (++sink->n == sink->fails_at)
		return error_new(ENOSPC, "the disk is full");
	strbuf_add(&sink->got, text->str, text->len);
	return NULL;
}

/* The i-th text; their sizes differ, so memory that is used again has to grow. */
static void make(struct strbuf *out, unsigned i)
{
	for (unsigned k = 0; k <= i * 7 % 50; k++)
		strbuf_addf(out, "text %u line %u\n", i, k);
}

/* How many could be put before one failed. */
static unsigned put_all(struct text_writer *w, struct error **err)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < N; i++) {
		make(&text, i);
		*err = text_writer_put(w, &text);
		assert_int_equal(text.len, 0);
		if (*err)
			return i;
	}
	return N;
}

static void check_order(struct sink *sink)
{
	_cleanup_strbuf_ struct strbuf expected = STRBUF_INIT;
	struct text_writer w;
	struct error *err;

	text_writer_init(&w, write_text, sink);
	assert_int_equal(put_all(&w, &err), N);
	assert_null(text_writer_wait(&w));
	text_writer_deinit(&w);
	assert_int_equal(sink->n, N);
	for (unsigned i = 0; i < N; i++)
		make(&expected, i);
	assert_string_equal(strbuf_str(&sink->got), strbuf_str(&expected));
	strbuf_deinit(&sink->got);
}

TEST(all_comes_in_order)
{
	for (int round = 0; round < 20; round++) {
		struct sink sink = {.caller = pthread_self()};

		check_order(&sink);
	}
}

TEST(one_cpu_needs_no_thread)
{
	struct sink sink = {.caller = pthread_self()};
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_order(&sink);
	assert_int_equal(sink.n_by_thread, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Of whatever text it is: it is told once, and nothing is written behind it. */
TEST(error_is_told)
{
	for (unsigned at = 1; at <= N; at += at < 5 ? 1 : 39) {
		struct sink sink = {.caller = pthread_self(), .fails_at = at};
		struct text_writer w;
		struct error *err;

		text_writer_init(&w, write_text, &sink);
		const unsigned n = put_all(&w, &err);
		if (!err)
			err = text_writer_wait(&w);
		assert_non_null(err);
		assert_int_equal(err->code, ENOSPC);
		error_free(err);
		assert_true(n + 1 == at || n == at);
		assert_int_equal(sink.n, at);
		assert_null(text_writer_wait(&w));
		text_writer_deinit(&w);
		strbuf_deinit(&sink.got);
	}
}

TEST(nothing_to_write)
{
	struct sink sink = {.caller = pthread_self()};
	struct text_writer w;

	text_writer_init(&w, write_text, &sink);
	assert_null(text_writer_wait(&w));
	text_writer_deinit(&w);
	assert_int_equal(sink.n, 0);
}
