// SPDX-License-Identifier: BSD-2-Clause
/* A session that is given records while they happen. */
#include <malloc.h>
#include <stdio.h>

#include "perf/session/session.h"
#include "perf/unwind/unwind_images.h"

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_DUMMY,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
};

struct live {
	struct session_tool tool;
	struct session *s;
	struct strbuf records; /* of one ring, until they are pushed */
	struct strbuf text;    /* what the tool saw */
	uint64_t time;	       /* of the records that follow */
};

static struct error *on_comm(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_comm *comm)
{
	strbuf_addf(&((struct live *)tool->ctx)->text, "%s@%llu ", comm->comm,
		    (unsigned long long)rec->id.time);
	return NULL;
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	const struct map *map = session_find_map(s, thread, sample->cpumode, sample->ip);

	strbuf_addf(&((struct live *)tool->ctx)->text, "%s:%s:%s@%llu ", event->name, thread->comm,
		    map ? map->dso->path : "-", (unsigned long long)sample->time);
	return NULL;
}

static int setup(void **state)
{
	struct live *l = calloc(1, sizeof(*l));

	l->tool = (struct session_tool){.ctx = l, .comm = on_comm, .sample = on_sample};
	assert_null(session_new_live(NULL, &l->s));
	assert_null(session_add_event(l->s, &attr, "dummy", NULL, 0));
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct live *l = *state;

	session_free(l->s);
	strbuf_deinit(&l->records);
	strbuf_deinit(&l->text);
	free(l);
	return 0;
}

static struct sample id_of(const struct live *l, int32_t pid, int32_t tid)
{
	return (struct sample){.pid = pid, .tid = tid, .time = l->time};
}

static void add_mmap(struct live *l, int32_t pid, uint64_t from, uint64_t to, const char *path)
{
	struct sample id = id_of(l, pid, pid);
	struct record_mmap mmap = {.pid = pid,
				   .tid = pid,
				   .addr = from,
				   .len = to - from,
				   .prot = 4,
				   .filename = path};

	record_encode_mmap2(&l->records, &attr, PERF_RECORD_MISC_USER, &mmap, &id);
}

static void add_comm(struct live *l, int32_t pid, const char *comm)
{
	struct sample id = id_of(l, pid, pid);
	struct record_comm c = {.pid = pid, .tid = pid, .comm = comm};

	record_encode_comm(&l->records, &attr, 0, &c, &id);
}

static void add_exec(struct live *l, int32_t pid, const char *comm)
{
	struct sample id = id_of(l, pid, pid);
	struct record_comm c = {.pid = pid, .tid = pid, .comm = comm, .exec = true};

	record_encode_comm(&l->records, &attr, 0, &c, &id);
}

static void add_fork(struct live *l, int32_t pid, int32_t tid, int32_t parent)
{
	struct sample id = id_of(l, parent, parent);
	struct record_task f = {
		.pid = pid, .tid = tid, .ppid = parent, .ptid = parent, .time = l->time};

	record_encode_fork(&l->records, &attr, 0, &f, &id);
}

static void add_exit(struct live *l, int32_t pid, int32_t tid)
{
	struct sample id = id_of(l, pid, tid);
	struct record_task f = {.pid = pid, .tid = tid, .ppid = 1, .ptid = 1, .time = l->time};

	record_encode_exit(&l->records, &attr, 0, &f, &id);
}

static void add_sample(struct live *l, int32_t pid, uint64_t ip)
{
	struct sample sample = id_of(l, pid, pid);

	sample.has = attr.sample_type;
	sample.ip = ip;
	sample.cpumode = PERF_RECORD_MISC_USER;
	sample.misc = PERF_RECORD_MISC_USER;
	record_encode_sample(&l->records, &attr, &sample);
}

/* One ring's turn. */
static void push(struct live *l)
{
	struct iovec iov = {l->records.str, l->records.len};

	assert_null(session_push(l->s, &l->tool, &iov, 1));
	strbuf_reset(&l->records);
}

static void advance(struct live *l, uint64_t until)
{
	push(l);
	assert_null(session_advance(l->s, &l->tool, until));
}

static void expect_text(struct live *l, const char *want)
{
	assert_string_equal(strbuf_str(&l->text), want);
	strbuf_reset(&l->text);
}

static void expect_map(struct live *l, int32_t pid, uint64_t time, uint64_t addr, const char *path)
{
	const struct map *map = session_find_map_at(l->s, pid, time, PERF_RECORD_MISC_USER, addr);

	if (!path) {
		assert_null(map);
		return;
	}
	assert_non_null(map);
	assert_string_equal(map->dso->path, path);
	assert_true(addr >= map->start && addr <= map->end - 1);
}

static bool keep_running(void *ctx, int32_t pid, uint64_t ended)
{
	return !ended;
}

/* Keeps what runs, and the process in ctx. */
static bool keep_one(void *ctx, int32_t pid, uint64_t ended)
{
	return !ended || pid == *(int32_t *)ctx;
}

TEST_WITH(records_of_several_rings_come_by_time, setup, teardown)
{
	struct live *l = *state;

	l->time = 30;
	add_comm(l, 3, "c");
	l->time = 50;
	add_comm(l, 3, "e");
	push(l);
	l->time = 10;
	add_comm(l, 1, "a");
	l->time = 40;
	add_comm(l, 1, "d");
	l->time = 60;
	add_comm(l, 1, "f");
	push(l);
	expect_text(l, "");
	advance(l, 45);
	expect_text(l, "a@10 c@30 d@40 ");
	/* without a time, at once; late, as soon as it can be */
	l->time = 0;
	add_comm(l, 9, "now");
	push(l);
	expect_text(l, "now@0 ");
	l->time = 20;
	add_comm(l, 4, "late");
	advance(l, 45);
	expect_text(l, "late@20 ");
	advance(l, UINT64_MAX);
	expect_text(l, "e@50 f@60 ");
}

TEST_WITH(samples_find_the_maps_of_their_moment, setup, teardown)
{
	struct live *l = *state;

	l->time = 20;
	add_sample(l, 7, 0x1500);
	l->time = 40;
	add_sample(l, 7, 0x1500);
	push(l);
	l->time = 10;
	add_comm(l, 7, "sh");
	add_mmap(l, 7, 0x1000, 0x2000, "/bin/sh");
	l->time = 30;
	add_comm(l, 7, "dd");
	add_mmap(l, 7, 0x1000, 0x1800, "/bin/dd");
	advance(l, 40);
	expect_text(l, "sh@10 dummy:sh:/bin/sh@20 dd@30 dummy:dd:/bin/dd@40 ");
}

TEST_WITH(a_record_may_go_around_the_end_of_its_ring, setup, teardown)
{
	struct live *l = *state;

	l->time = 1;
	add_comm(l, 1, "one");
	add_comm(l, 1, "two");
	for (size_t cut = 0; cut <= l->records.len; cut += 8) {
		struct iovec iov[2] = {{l->records.str, cut},
				       {l->records.str + cut, l->records.len - cut}};

		assert_null(session_push(l->s, &l->tool, iov, 2));
		assert_null(session_advance(l->s, &l->tool, 1));
		expect_text(l, "one@1 two@1 ");
	}
}

TEST_WITH(a_map_is_found_by_its_time, setup, teardown)
{
	struct live *l = *state;

	add_mmap(l, 10, 0x1000, 0x2000, "/bin/sh"); /* at 0: it was there before */
	l->time = 6;
	add_mmap(l, 10, 0x3000, 0x4000, "/lib/libc.so");
	l->time = 20; /* a child has what its parent had by then */
	add_fork(l, 11, 11, 10);
	l->time = 30;
	add_mmap(l, 10, 0x5000, 0x6000, "/lib/late.so");
	l->time = 40; /* an exec */
	add_mmap(l, 11, 0x1000, 0x1800, "/bin/dd");
	advance(l, 100);
	expect_map(l, 10, 0, 0x1000, "/bin/sh");
	expect_map(l, 10, 3, 0x1fff, "/bin/sh");
	expect_map(l, 10, 0, 0x2000, NULL);
	expect_map(l, 12, 0, 0x1000, NULL);
	expect_map(l, 11, 0, 0x3500, "/lib/libc.so");
	expect_map(l, 11, 0, 0x5000, NULL);
	expect_map(l, 10, 0, 0x5000, "/lib/late.so");
	expect_map(l, 11, 0, 0x1000, "/bin/dd");
	expect_map(l, 11, 40, 0x1000, "/bin/dd");
	expect_map(l, 11, 39, 0x1000, "/bin/sh");
	expect_map(l, 11, 39, 0x1900, "/bin/sh");
	/* what came before the exec is still known where nothing took its place */
	expect_map(l, 11, 0, 0x1900, "/bin/sh");

	/* a library that is unloaded, and another in its place, twice */
	l->time = 50;
	add_mmap(l, 10, 0x5000, 0x5800, "/lib/second.so");
	l->time = 60;
	add_mmap(l, 10, 0x4800, 0x7000, "/lib/third.so");
	advance(l, 100);
	expect_map(l, 10, 45, 0x5400, "/lib/late.so");
	expect_map(l, 10, 55, 0x5400, "/lib/second.so");
	expect_map(l, 10, 55, 0x5900, "/lib/late.so");
	expect_map(l, 10, 60, 0x5400, "/lib/third.so");
	expect_map(l, 10, 0, 0x5400, "/lib/third.so");

	/* the same again, as /proc and a record say it: it was there all the time */
	l->time = 70;
	add_mmap(l, 10, 0x1000, 0x2000, "/bin/sh");
	advance(l, 100);
	expect_map(l, 10, 3, 0x1000, "/bin/sh");
	/* what is older and comes late does not cut what is there */
	l->time = 35;
	add_mmap(l, 11, 0x1000, 0x1800, "/bin/old");
	advance(l, 100);
	expect_map(l, 11, 0, 0x1000, "/bin/dd");
	expect_map(l, 11, 40, 0x1000, "/bin/dd");
	expect_map(l, 11, 36, 0x1000, "/bin/old");
	/* the end of the address space */
	add_mmap(l, 13, UINT64_MAX - 10, UINT64_MAX, "/end");
	advance(l, 100);
	expect_map(l, 13, 0, UINT64_MAX - 5, "/end");
}

TEST_WITH(an_exec_sets_aside_what_was_mapped, setup, teardown)
{
	struct live *l = *state;

	add_mmap(l, 10, 0x1000, 0x3000, "/bin/sh");
	l->time = 20;
	add_fork(l, 11, 11, 10);
	l->time = 30; /* what the child cuts before its exec */
	add_mmap(l, 11, 0x2000, 0x2800, "/lib/cut.so");
	l->time = 40;
	add_exec(l, 11, "dd");
	l->time = 41;
	add_mmap(l, 11, 0x1000, 0x1800, "/bin/dd");
	advance(l, 100);
	expect_map(l, 11, 41, 0x1000, "/bin/dd");
	expect_map(l, 11, 39, 0x1000, "/bin/sh");
	expect_map(l, 11, 39, 0x2000, "/lib/cut.so");
	expect_map(l, 11, 29, 0x2000, "/bin/sh");
	expect_map(l, 11, 0, 0x1000, "/bin/dd");
	/* without a time, the newest that was there */
	expect_map(l, 11, 0, 0x2000, "/lib/cut.so");
	expect_map(l, 11, 0, 0x2900, "/bin/sh");
	expect_map(l, 10, 0, 0x2000, "/bin/sh");
	/* a record from before the exec that comes late */
	l->time = 35;
	add_mmap(l, 11, 0x5000, 0x6000, "/lib/late.so");
	advance(l, 100);
	expect_map(l, 11, 36, 0x5000, "/lib/late.so");
	l->time = 50;
	add_mmap(l, 11, 0x5000, 0x6000, "/lib/new.so");
	advance(l, 100);
	expect_map(l, 11, 36, 0x5000, "/lib/late.so");
	expect_map(l, 11, 50, 0x5000, "/lib/new.so");
	/* again and again: the newest are kept */
	for (int i = 6; i < 20; i++) {
		char path[24];

		l->time = i * 10;
		add_exec(l, 11, "dd");
		snprintf(path, sizeof(path), "/bin/%d", i);
		add_mmap(l, 11, 0x1000, 0x1800, path);
	}
	advance(l, 1000);
	expect_map(l, 11, 195, 0x1000, "/bin/19");
	expect_map(l, 11, 185, 0x1000, "/bin/18");
	expect_map(l, 11, 155, 0x1000, "/bin/15");
	expect_map(l, 10, 0, 0x1000, "/bin/sh");
}

TEST_WITH(a_pid_that_is_used_again_is_found_by_time, setup, teardown)
{
	struct live *l = *state;

	for (int i = 1; i <= 3; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/bin/%d", i);
		l->time = i * 100;
		add_fork(l, 20, 20, 1);
		add_mmap(l, 20, 0x1000 * i, 0x1000 * i + 0x800, path);
		add_mmap(l, 20, 0x8000, 0x9000, path);
		l->time += 50;
		if (i != 2) /* whose end is lost */
			add_exit(l, 20, 20);
	}
	advance(l, 1000);
	expect_map(l, 20, 120, 0x8000, "/bin/1");
	expect_map(l, 20, 220, 0x8000, "/bin/2");
	expect_map(l, 20, 320, 0x8000, "/bin/3");
	expect_map(l, 20, 0, 0x8000, "/bin/3");
	expect_map(l, 20, 0, 0x1000, "/bin/1");
	expect_map(l, 20, 320, 0x1000, NULL);
	expect_map(l, 20, 99, 0x8000, NULL);
	assert_int_equal(session_n_ended(l->s), 3);
	session_forget(l->s, keep_one, &(int32_t){20});
	expect_map(l, 20, 120, 0x8000, "/bin/1");
	session_forget(l->s, NULL, NULL); /* those that run are kept */
	expect_map(l, 20, 0, 0x8000, NULL);
	assert_int_equal(session_n_ended(l->s), 0);
}

TEST_WITH(what_ended_stays_until_it_is_forgotten, setup, teardown)
{
	struct live *l = *state;
	uint64_t before = session_generation(l->s);

	for (int pid = 30; pid < 33; pid++) {
		l->time = pid;
		add_fork(l, pid, pid, 1);
		add_mmap(l, pid, 0x1000, 0x2000, "/bin/it");
	}
	l->time = 40;
	add_fork(l, 32, 35, 32); /* a thread, which goes on without the first */
	add_exit(l, 30, 30);
	add_exit(l, 31, 31);
	add_exit(l, 32, 32);
	advance(l, 100);
	expect_map(l, 30, 0, 0x1000, "/bin/it");
	assert_int_equal(session_n_ended(l->s), 3);
	const size_t n = session_n_threads(l->s);
	session_forget(l->s, keep_one, &(int32_t){31});
	assert_int_equal(session_n_threads(l->s), n - 1); /* 32 has one that runs */
	expect_map(l, 30, 0, 0x1000, NULL);
	expect_map(l, 31, 0, 0x1000, "/bin/it");
	expect_map(l, 32, 0, 0x1000, "/bin/it");
	assert_int_not_equal(session_generation(l->s), before);
	l->time = 50;
	add_exit(l, 32, 35);
	advance(l, 100);
	session_forget(l->s, keep_running, NULL);
	expect_map(l, 31, 0, 0x1000, NULL);
	expect_map(l, 32, 0, 0x1000, NULL);
	assert_int_equal(session_n_ended(l->s), 0);
}

/* The files of processes that have ended: their memory is used for others. */
TEST_WITH(unwind_information_is_of_files_that_are_mapped, setup, teardown)
{
	struct live *l = *state;
	const struct resolver_opts opts = {.sz = sizeof(opts)};
	struct unwind_images *images;
	struct resolver *r;

	assert_null(resolver_new(l->s, &opts, &r));
	assert_null(unwind_images_new(r, &images));
	for (int pid = 40; pid < 50; pid++) {
		char path[16];

		snprintf(path, sizeof(path), "/bin/%d", pid);
		l->time += 10;
		add_fork(l, pid, pid, 1);
		add_mmap(l, pid, 0x1000, 0x2000, path);
		add_exit(l, pid, pid);
		advance(l, l->time);
		const struct map *map =
			session_find_map_at(l->s, pid, 0, PERF_RECORD_MISC_USER, 0x1000);
		assert_non_null(map);
		assert_int_equal(unwind_images_find(images, map, 0x1000)->kind, CODE_UNKNOWN);
		assert_int_equal(unwind_images_count(images), 1);
		session_forget(l->s, NULL, NULL);
	}
	unwind_images_free(images);
	resolver_free(r);
}

static size_t memory_used(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Storms of processes, each with a file of its own: once there is memory for some, it is enough. */
TEST_WITH(memory_does_not_grow_with_the_processes, setup, teardown)
{
	struct live *l = *state;
	size_t used = 0;
	char name[32];

	add_mmap(l, 1, 0x1000, 0x2000, "/bin/sh");
	for (int i = 0; i < 40000; i++) {
		int32_t pid = 100 + i % 30000;

		l->time = 1000 + i * 10;
		add_fork(l, pid, pid, 1);
		snprintf(name, sizeof(name), "conftest%d", i);
		add_comm(l, pid, name);
		snprintf(name, sizeof(name), "/tmp/conftest%d", i);
		add_mmap(l, pid, 0x1000, 0x9000, name);
		for (uint64_t addr = 0x10000; addr < 0x18000; addr += 0x2000)
			add_mmap(l, pid, addr, addr + 0x1000, "/lib/libc.so");
		add_fork(l, pid, 50000 + i, pid);
		add_exit(l, pid, 50000 + i);
		add_exit(l, pid, pid);
		advance(l, l->time);
		strbuf_reset(&l->text);
		if (session_n_ended(l->s) >= 2000)
			session_forget(l->s, keep_one, &(int32_t){100});
		if (i == 10000)
			used = memory_used();
	}
	expect_map(l, 100, 0, 0x8000, "/tmp/conftest30000");
	expect_map(l, 100, 1001, 0x8000, "/tmp/conftest0");
	assert_true(memory_used() < used + 400000);
}

/* A build system, a browser: thousands of maps, and children that exec. */
TEST_WITH(children_do_not_copy_what_they_set_aside, setup, teardown)
{
	struct live *l = *state;
	char name[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/lib/%d.so", i);
		add_mmap(l, 1, 0x100000 + i * 0x2000, 0x101000 + i * 0x2000, name);
	}
	advance(l, 1);
	const size_t used = memory_used();
	for (int i = 0; i < 1000; i++) {
		l->time = 10 + i * 10;
		add_fork(l, 100 + i, 100 + i, 1);
		l->time++;
		add_exec(l, 100 + i, "cc");
		add_mmap(l, 100 + i, 0x1000, 0x2000, "/bin/cc");
		add_exit(l, 100 + i, 100 + i);
		advance(l, l->time);
	}
	expect_map(l, 500, 0, 0x1000, "/bin/cc");
	expect_map(l, 500, 4010, 0x100000, "/lib/0.so");
	assert_true(memory_used() < used + 2000 * 1000);
}

TEST_WITH(a_compiler_that_maps_again_and_again_has_its_bound, setup, teardown)
{
	struct live *l = *state;
	size_t used = 0;

	for (int i = 0; i < 20000; i++) {
		l->time = i + 1;
		add_mmap(l, 5, 0x1000 + i % 7 * 0x100, 0x5000 + i % 11 * 0x100,
			 i % 2 ? "//anon" : "/memfd:jit (deleted)");
		advance(l, l->time);
		if (i == 5000)
			used = memory_used();
	}
	expect_map(l, 5, 0, 0x4000, "/tmp/perf-5.map");
	assert_true(memory_used() < used + 100000);
}

TEST_WITH(losses_are_counted_and_damage_is_left_out, setup, teardown)
{
	struct live *l = *state;
	struct sample id = id_of(l, 1, 1);
	struct record_lost lost = {.lost = 3};

	id.time = 5;
	record_encode_lost(&l->records, &attr, &lost, &id);
	record_encode_lost(&l->records, &attr, &lost, &id);
	advance(l, 5);
	assert_int_equal(session_losses(l->s).lost, 6);

	/* a size of 4, a record that is cut off, a type that is unknown */
	push(l);
	assert_null(session_push(l->s, NULL, &(struct iovec){"\1\0\0\0\0\0\4\0", 8}, 1));
	assert_null(session_push(l->s, NULL, &(struct iovec){"\1\0\0\0\0\0\x40\0", 8}, 1));
	assert_null(session_push(l->s, NULL, &(struct iovec){"\x7f\1\0\0\0\0\x8\0", 8}, 1));
	l->time = 6;
	add_comm(l, 1, "on");
	advance(l, 6);
	expect_text(l, "on@6 ");
}

TEST_WITH(what_waits_is_bounded, setup, teardown)
{
	struct live *l = *state;

	while (l->records.len < 1 << 20) {
		l->time++;
		add_comm(l, 1, "x");
	}
	struct iovec iov = {l->records.str, l->records.len};
	size_t base = memory_used(), most = 0;
	if (!base) {
		print_message("the malloc of the sanitizers does not count\n");
		skip();
	}
	for (int i = 0; i < 200; i++) {
		assert_null(session_push(l->s, NULL, &iov, 1));
		most = max_of(most, memory_used());
	}
	assert_true(most - base < 80 << 20);
	assert_true(most - base > 40 << 20);
}
