// SPDX-License-Identifier: BSD-2-Clause
/* Stacks that other threads unwind: the tool sees what it sees without them. */
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/base/util.h"
#include "lib/sys/thread.h"
#include "perf/data/writer.h"
#include "perf/event/encode.h"
#include "perf/unwind/unwind_ahead.h"

#define N	  3000
#define SP	  0x7000
#define CODE	  0x100000
#define MAX_DEPTH 8

/* Code of a process is mapped, or data in its place, at a time. */
static void add_map(struct strbuf *out, const struct perf_event_attr *attr, uint32_t prot,
		    uint64_t time)
{
	const struct record_mmap map = {
		.pid = 10,
		.tid = 10,
		.addr = CODE,
		.len = 0x100000,
		.prot = prot,
		.flags = MAP_PRIVATE,
		.filename = "//anon",
	};
	const struct sample id = {.pid = 10, .tid = 10, .time = time};

	record_encode_mmap2(out, attr, PERF_RECORD_MISC_USER, &map, &id);
}

/* Frames that are linked by rbp, one to MAX_DEPTH; every seventh sample has no stack. */
static void add_sample(struct strbuf *out, const struct perf_event_attr *attr, uint64_t i)
{
	const uint64_t regs[] = {SP + 16, SP, CODE + i};
	const uint64_t depth = 1 + i % MAX_DEPTH, chain[] = {PERF_CONTEXT_KERNEL, i};
	uint64_t stack[2 + 2 * MAX_DEPTH] = {0};

	for (uint64_t at = 0; at < depth; at++) {
		stack[2 + 2 * at] = SP + 16 + 16 * (at + 1);
		stack[3 + 2 * at] = at + 1 < depth ? CODE + 0x1000 * at + i : 0;
	}
	const struct sample sample = {
		.misc = PERF_RECORD_MISC_USER,
		.pid = 10,
		.tid = 10 + (int32_t)(i / 500),
		.time = 1000 + i,
		.ip = CODE + i,
		.chain = {.bytes = (const uint8_t *)chain, .n = ARRAY_SIZE(chain)},
		.user_regs_abi = 2,
		.user_regs = {.bytes = (const uint8_t *)regs, .n = ARRAY_SIZE(regs)},
		.user_stack = stack,
		.user_stack_size = i % 7 ? sizeof(stack) : 0,
	};

	record_encode_sample(out, attr, &sample);
}

static void ok(struct error *err)
{
	if (err)
		print_message("%s\n", err->msg);
	assert_null(err);
}

/* The code is data from a third of the samples on, and code again from two thirds on. */
static int recording(void)
{
	static const struct {
		uint32_t size;
		char text[64];
	} arch = {64, "x86_64"};
	static const uint64_t id = 1;
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8,
		.sample_stack_user = sizeof(uint64_t) * (2 + 2 * MAX_DEPTH),
	};
	const int fd = memfd_create("recording", 0);
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_(data_writer_freep) struct data_writer *w = NULL;
	int own = dup(fd);

	add_map(&out, &attr, PROT_READ | PROT_EXEC, 1);
	for (uint64_t i = 0; i < N; i++) {
		if (i == N / 3 || i == 2 * N / 3)
			add_map(&out, &attr, i == N / 3 ? PROT_READ : PROT_READ | PROT_EXEC,
				1000 + i);
		add_sample(&out, &attr, i);
	}
	ok(data_writer_open_fd("recording", &own, NULL, &w));
	ok(data_writer_add_event(w, &attr, "cpu-clock", &id, 1));
	ok(data_writer_feature(w, DATA_ARCH, &arch, sizeof(arch)));
	ok(data_writer_start(w));
	ok(data_writer_records(w, strbuf_str(&out), out.len));
	ok(data_writer_finish(w));
	return fd;
}

struct seen {
	struct unwinder *unwinder;
	struct strbuf text;
	uint64_t n, stop_at;
	struct error *end; /* what the tool returns then */
	struct unwind_counts counts;
	unsigned n_threads;
};

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct seen *seen = tool->ctx;

	if (!sample->is_unwound)
		sample = unwinder_sample(seen->unwinder, sample, event, thread);
	assert_non_null(sample);
	assert_ptr_equal(rec->event, event);
	strbuf_addf(&seen->text, "%llx %d %s:", (unsigned long long)rec->file_offset, thread->tid,
		    thread->comm);
	for (uint64_t i = 0; i < sample->chain.n; i++)
		strbuf_addf(&seen->text, " %llx",
			    (unsigned long long)u64_array_at(&sample->chain, i));
	strbuf_add(&seen->text, "\n", 1);
	return ++seen->n == seen->stop_at ? seen->end : NULL;
}

static struct error *on_mmap(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_mmap *mmap)
{
	struct seen *seen = tool->ctx;

	strbuf_addf(&seen->text, "mapped %x\n", mmap->prot);
	return NULL;
}

static struct error *read_it(int fd, bool ahead, struct seen *seen)
{
	struct session_tool tool = {.ctx = seen, .sample = on_sample, .mmap = on_mmap};
	const struct resolver_opts resolver_opts = {.sz = sizeof(resolver_opts)};
	_cleanup_(session_freep) struct session *s = NULL;
	_cleanup_(resolver_freep) struct resolver *r = NULL;
	_cleanup_(unwinder_freep) struct unwinder *u = NULL;
	_cleanup_(unwind_ahead_freep) struct unwind_ahead *a = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ok(session_open(path, NULL, &s));
	ok(resolver_new(s, &resolver_opts, &r));
	ok(unwinder_new(r, 0, false, &u));
	seen->unwinder = u;
	const struct unwind_ahead_opts opts = {.sz = sizeof(opts), .resolver = r, .tool = &tool};
	assert_int_equal(unwind_ahead_helps(r), thread_cpus() > 1);
	ok(unwind_ahead_new(&opts, &a));
	struct error *err = session_process(s, ahead ? unwind_ahead_tool(a) : &tool);
	unwind_ahead_end(a, u);
	seen->counts = unwinder_counts(u);
	seen->n_threads = unwind_ahead_n_threads(a);
	return err;
}

TEST(the_same_as_without_threads)
{
	const int fd = recording();
	struct seen alone = {.text = STRBUF_INIT}, ahead = {.text = STRBUF_INIT};

	ok(read_it(fd, false, &alone));
	ok(read_it(fd, true, &ahead));
	assert_int_equal(alone.n_threads, 0);
	assert_true(thread_cpus() == 1 || ahead.n_threads > 0);
	assert_int_equal(alone.n, N);
	assert_string_equal(strbuf_str(&ahead.text), strbuf_str(&alone.text));
	assert_memory_equal(&ahead.counts, &alone.counts, sizeof(alone.counts));
	/* A third was not code: what follows the first frame was not walked. */
	assert_int_equal(alone.counts.n, N - (N + 6) / 7);
	assert_true(alone.counts.ends[UNWIND_COMPLETE] > N / 2);
	assert_true(alone.counts.ends[UNWIND_NO_RULES] > N / 5);
	strbuf_deinit(&alone.text);
	strbuf_deinit(&ahead.text);
	close(fd);
}

TEST(one_cpu_needs_no_threads)
{
	const int fd = recording();
	struct seen seen = {.text = STRBUF_INIT};
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	struct error *err = read_it(fd, true, &seen);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	ok(err);
	assert_int_equal(seen.n_threads, 0);
	assert_int_equal(seen.n, N);
	strbuf_deinit(&seen.text);
	close(fd);
}

/* The end, and an error, reach the caller at once; nothing follows. */
TEST(the_tool_can_end_it)
{
	const int fd = recording();

	for (uint64_t at = 1; at < N; at += 311) {
		struct seen stopped = {.text = STRBUF_INIT, .stop_at = at, .end = SESSION_STOP};
		struct seen failed = {
			.text = STRBUF_INIT, .stop_at = at, .end = error_new(EIO, "tried")};

		ok(read_it(fd, true, &stopped));
		assert_int_equal(stopped.n, at);
		struct error *err = read_it(fd, true, &failed);
		assert_ptr_equal(err, failed.end);
		assert_int_equal(failed.n, at);
		error_free(err);
		strbuf_deinit(&stopped.text);
		strbuf_deinit(&failed.text);
	}
	close(fd);
}
