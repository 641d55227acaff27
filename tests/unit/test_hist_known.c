// SPDX-License-Identifier: BSD-2-Clause
/* Samples that are like others are summed up as if each was looked at. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/hist/internal.h"
#include "tests/unit/image.h"

#define BASE   0x10000
#define ROUNDS 12
#define MANY   100000

/*
 * Two processes run through the same addresses again and again, while one of them maps something
 * else there, changes its name, and starts a third one that shares its maps at first.
 */
static void fill(struct image *im)
{
	uint64_t time = 100;

	image_comm(im, 10, 10, "alpha", 0, 1);
	image_comm(im, 20, 20, "beta", 0, 2);
	image_mmap2(im, 10, BASE, 0x1000, 0, "/lib/one.so", 3);
	image_mmap2(im, 20, BASE, 0x1000, 0, "/lib/one.so", 4);
	for (int round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < 24; i++)
			image_sample(im, 11, i % 3 ? 10 : 20, i % 3 ? 10 + i % 2 : 20, ++time,
				     BASE + i % 5 * 8);
		if (round == 3)
			image_mmap2(im, 10, BASE, 0x1000, 0, "/lib/two.so", ++time);
		if (round == 5)
			image_comm(im, 10, 10, "gamma", 0, ++time);
		if (round == 6)
			image_fork(im, 30, 10, 30, 10, ++time);
		for (uint64_t i = 0; round > 6 && i < 4; i++)
			image_sample(im, 11, 30, 30, ++time, BASE + 8 * i);
		if (round == 8)
			image_mmap2(im, 30, BASE + 8, 8, 8, "/lib/three.so", ++time);
		if (round == 9)
			image_mmap2(im, 10, BASE + 0x100, 8, 0, "/lib/two.so", ++time);
	}
}

/* More of them than there are slots: they differ in the address, the process, or the chain. */
static void fill_many(struct image *im)
{
	image_comm(im, 10, 10, "alpha", 0, 1);
	image_comm(im, 20, 20, "beta", 0, 2);
	image_mmap2(im, 10, BASE, 0x1000000, 0, "/lib/one.so", 3);
	image_fork(im, 20, 10, 20, 10, 4);
	for (uint64_t i = 0; i < MANY; i++)
		image_sample(im, 11, i % 3 ? 10 : 20, i % 3 ? 10 : 20, 100 + i,
			     BASE + (i % 2 ? i * 7919 % 3001 : 0));
}

struct both {
	struct resolver *resolver;
	struct hist *looked_at, *known;
	uint64_t n, n_known;
};

/* Its chain is of one to three addresses; every 11th has none. */
static struct sample with_chain(const struct sample *from, uint64_t ips[4])
{
	const uint64_t n = from->time % 11 ? 2 + from->time % 3 : 0;
	struct sample sample = *from;

	ips[0] = PERF_CONTEXT_USER;
	for (uint64_t i = 1; i < 4; i++)
		ips[i] = from->ip + 8 * (i - 1) * (from->time > 1000 ? from->time % 977 : 32);
	sample.chain = (struct u64_array){.bytes = (const uint8_t *)ips, .n = n};
	sample.period = from->time;
	return sample;
}

/* What the compiler leaves unset in the next function's variables is not the same each time. */
__attribute__((noinline)) static void dirty_stack(uint64_t time)
{
	uint8_t area[1 << 15];

	memset(area, (int)(time * 17 & 0xff), sizeof(area));
	__asm__ volatile("" : : "r"(area) : "memory");
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *from,
			       const struct session_event *event, struct thread *thread)
{
	const struct hist_context context = {.parallelism = 1 + (unsigned)(from->time % 3)};
	struct both *both = tool->ctx;
	uint64_t ips[4];
	const struct sample sample = with_chain(from, ips);
	struct location leaf;

	resolve_addr(both->resolver, thread, sample.cpumode, sample.ip, &leaf);
	dirty_stack(0);
	assert_null(hist_add(both->looked_at, &sample, event, thread, &leaf, &context, false));
	dirty_stack(~sample.time);
	both->n++;
	if (hist_add_known(both->known, &sample, event, thread, &context))
		both->n_known++;
	else
		assert_null(hist_add(both->known, &sample, event, thread, &leaf, &context, false));
	return NULL;
}

static void check_same(const struct hist *a, const struct hist *b)
{
	size_t n_a, n_b;
	struct hist_stack *const *of_a = hist_stacks(a, &n_a), *const *of_b = hist_stacks(b, &n_b);

	assert_int_equal(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		const struct hist_stack *x = of_a[i], *y = of_b[i];

		assert_string_equal(x->comm, y->comm);
		assert_ptr_equal(x->thread, y->thread);
		assert_ptr_equal(x->leaf->dso, y->leaf->dso);
		assert_int_equal(x->depth, y->depth);
		for (size_t k = 0; k < x->depth; k++) {
			assert_string_equal(x->chain[k]->module ? x->chain[k]->module : "",
					    y->chain[k]->module ? y->chain[k]->module : "");
			assert_int_equal(x->chain[k]->addr, y->chain[k]->addr);
		}
		assert_int_equal(x->ip, y->ip);
		assert_int_equal(x->n, y->n);
		assert_int_equal(x->period, y->period);
		assert_int_equal(x->latency, y->latency);
	}
}

/* How many samples needed no look. */
static uint64_t compare(image_fill_fn what, const char *sort, bool use_chain)
{
	const struct hist_spec_opts opts = {.sz = sizeof(opts), .sort = sort};
	const struct resolver_opts resolver_opts = {.sz = sizeof(resolver_opts)};
	_cleanup_(session_freep) struct session *s = NULL;
	_cleanup_(resolver_freep) struct resolver *r = NULL;
	struct image im = {0};
	struct hist_spec spec;
	struct both both = {0};
	struct session_tool tool = {.ctx = &both, .sample = on_sample};
	char path[64];

	image_file(&im, what);
	const int fd = memfd_create("perf.data", 0);
	assert_int_equal(write(fd, im.sb.str, im.sb.len), im.sb.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_null(session_open(path, NULL, &s));
	assert_null(resolver_new(s, &resolver_opts, &r));
	assert_null(hist_spec_init(&spec, &opts));
	spec.use_chain = use_chain;
	spec.max_stack = 127;
	both.resolver = r;
	assert_null(hist_new(&spec, r, &both.looked_at));
	assert_null(hist_new(&spec, r, &both.known));
	assert_null(session_process(s, &tool));
	assert_int_equal(both.n, what == fill ? ROUNDS * 24 + 5 * 4 : MANY);
	check_same(both.looked_at, both.known);
	hist_free(both.looked_at);
	hist_free(both.known);
	close(fd);
	strbuf_deinit(&im.sb);
	return both.n_known;
}

TEST(the_same_as_looked_at)
{
	static const char *const keys[] = {"sym", "dso", "comm,dso,sym", "pid,sym", "tid", "comm"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_true(compare(fill, keys[i], false) > 150);
		assert_true(compare(fill, keys[i], true) > 100);
	}
}

TEST(slots_are_taken_by_others)
{
	assert_true(compare(fill_many, "comm,sym", false) > 100);
	assert_true(compare(fill_many, "pid", true) > 100);
}

/* A sample may be like another but for what these keys tell apart. */
TEST(other_keys_look)
{
	static const char *const keys[] = {"cpu",    "time,sym", "cgroup,sym",
					   "weight", "socket",	 "parallelism"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_int_equal(compare(fill, keys[i], true), 0);
}
