// SPDX-License-Identifier: BSD-2-Clause
/* The order in which a session hands out records, and how a large file is read. */
#include "tests/unit/session_seen.h"

/*
 * The order of time, against the simplest thing that gives it: a list sorted
 * by insertion, from which each round takes what is due.
 */
static uint64_t order_seed;
static VEC(uint64_t) order_want;

static uint64_t next_random(void)
{
	order_seed = order_seed * 6364136223846793005ull + 1442695040888963407ull;
	return order_seed >> 33;
}

static void fill_rounds(struct image *im)
{
	VEC(uint64_t) list = {0};
	uint64_t limit = 0, max = 0, *slot;

	order_want.n = 0;
	for (unsigned int round = 0; round < 12; round++) {
		for (unsigned int ring = 0; ring < 3; ring++) {
			uint64_t t = 1000 + round * 50 + next_random() % 40;
			for (unsigned int n = (unsigned int)(next_random() % 8); n--;) {
				t += next_random() % 9; /* ties, too */
				if (next_random() % 16 == 0)
					t -= min_of(t - 1, (uint64_t)60); /* a late one */
				image_sample(im, 11 + next_random() % 2, 1, 1, t, 0);
				if (!list.n || t >= max)
					max = t;
				slot = vec_push(&list);
				assert_non_null(slot);
				size_t i = list.n - 1;
				for (; i > 0 && list.v[i - 1] > t; i--)
					list.v[i] = list.v[i - 1];
				list.v[i] = t;
			}
		}
		image_round(im);
		if (!list.n)
			continue;
		size_t due = 0;
		while (limit && due < list.n && list.v[due] <= limit) {
			slot = vec_push(&order_want);
			assert_non_null(slot);
			*slot = list.v[due++];
		}
		memmove(list.v, list.v + due, (list.n - due) * sizeof(*list.v));
		list.n -= due;
		limit = max;
	}
	for (size_t i = 0; i < list.n; i++) {
		slot = vec_push(&order_want);
		assert_non_null(slot);
		*slot = list.v[i];
	}
	vec_deinit(&list);
}

TEST(rounds_are_merged_as_a_sorted_list_would_be)
{
	for (unsigned int i = 0; i < 200; i++) {
		struct image im = {.swap = i & 1};
		struct seen seen = seen_new();

		order_seed = i + 1;
		seen.quiet = true;
		image_file(&im, fill_rounds);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(read_path(f.path, &seen));
		assert_int_equal(seen.times.n, order_want.n);
		assert_memory_equal(seen.times.v, order_want.v, seen.times.n * 8);
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
	vec_deinit(&order_want);
}

TEST(ties_keep_the_order_of_the_file)
{
	expect(fill_ties, "my-clock :1 1/1 10 -+0\n"
			  "page-faults:uhp :2 2/2 10 -+0\n"
			  "my-clock :1 1/1 20 -+0\n"
			  "my-clock :1 1/1 20 -+0\n"
			  "page-faults:uhp :2 2/2 20 -+0\n");
}

enum {
	BACKWARDS = 5000,
	MOST_RUNS = 100,
};

static void fill_backwards(struct image *im)
{
	for (unsigned int i = 0; i < BACKWARDS; i++)
		image_sample(im, 11, 1, 1, 10000 - i, 0);
}

/* Each record is a run. They are handed on when they are too many. */
TEST(runs_are_limited)
{
	for (unsigned int i = 0; i < 2; i++) {
		int warnings = 0;
		const struct log log = {LOG_WARN, count_warning, &warnings};
		const struct session_opts opts = {.sz = sizeof(opts), .log = &log};
		_cleanup_(session_freep) struct session *s = NULL;
		struct seen seen = seen_new();
		struct image im = {0};

		seen.tool.ctx = &seen;
		seen.quiet = true;
		image_file(&im, fill_backwards);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(session_open(f.path, &opts, &s));
		if (i)
			s->input.owned_max =
				MOST_RUNS * order_memory(&(struct time_order){.runs.n = 1});
		assert_null(session_process(s, &seen.tool));
		assert_int_equal(seen.times.n, BACKWARDS);
		/* The earliest of all, or of the first that are too many. */
		assert_int_equal(seen.times.v[0], i ? 10000 - MOST_RUNS : 10001 - BACKWARDS);
		assert_int_equal(warnings, i);
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
}

static void fill_two_packed(struct image *im)
{
	struct image inner = {.swap = im->swap};
	size_t at;

	fill_simple(&inner);
	/* One zstd stream; a record is cut between its two blocks. */
	for (unsigned int i = 0; i < 2; i++) {
		size_t from = i ? 200 : 0, n = i ? inner.sb.len - from : 200;
		uint32_t block = (uint32_t)n << 3 | i; /* raw; the second is the last */
		at = image_begin(im, RECORD_COMPRESSED, 0);
		if (!i)
			strbuf_add(&im->sb, "\x28\xb5\x2f\xfd\x00\x58", 6);
		image_u8(im, (uint8_t)block);
		image_u8(im, (uint8_t)(block >> 8));
		image_u8(im, (uint8_t)(block >> 16));
		strbuf_add(&im->sb, inner.sb.str + from, n);
		image_end(im, at);
	}
	strbuf_deinit(&inner.sb);
}

TEST(packed_records_may_be_cut_between_frames)
{
	expect(fill_two_packed, "my-clock alpha 100/100 1000 alpha+1123\n"
				"my-clock alpha 100/100 2000 alpha+10fff\n"
				"page-faults:uhp :101 100/101 3000 -+0\n");
}

TEST(unordered_is_the_order_of_the_file)
{
	struct image im = {0};
	struct seen seen = seen_new();

	seen.tool.unordered = true;
	image_file(&im, fill_simple);
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	assert_null(read_path(f.path, &seen));
	assert_int_equal(seen.times.v[0], 1000);
	assert_int_equal(seen.times.v[1], 3000);
	assert_int_equal(seen.times.v[2], 2000);
	close(f.fd);
	seen_deinit(&seen);
	strbuf_deinit(&im.sb);
}

/* More than the pieces that are read before the tool has to settle, in rounds. */
#define LARGE_SAMPLES 150000

static void fill_large(struct image *im)
{
	image_comm(im, 100, 100, "alpha", 0, 0);
	image_mmap2(im, 100, 0x400000, 0x10000, 0x1000, "/bin/alpha", 0);
	for (uint64_t i = 0; i < LARGE_SAMPLES; i++) {
		image_sample(im, 11, 100, 100, 1000 + (i ^ 7), 0x400000 + i % 0x10000);
		if (i % 1000 == 999)
			image_round(im);
	}
}

/* Sums of what a sample was when the tool got it, and where it is. */
struct put_off {
	const uint8_t *bytes;
	size_t size;
	uint64_t sum;
};

struct large {
	struct seen seen;
	size_t stop_at;
	bool puts_off;
	VEC(struct put_off) waiting;
	size_t n_settled, n_given; /* calls that gave samples; samples */
};

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
	uint64_t sum = size;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static struct error *on_large_sample(struct session_tool *tool, struct session *s,
				     const struct record *rec, const struct sample *sample,
				     const struct session_event *event, struct thread *thread)
{
	struct large *large = tool->ctx;
	struct session_tool seen = {.ctx = &large->seen};

	TRY(on_sample(&seen, s, rec, sample, event, thread));
	if (large->puts_off && rec->stays) {
		struct put_off *p = vec_push(&large->waiting);

		assert_non_null(p);
		*p = (struct put_off){rec->body.base, rec->body.size,
				      sum_of(rec->body.base, rec->body.size)};
	}
	return large->seen.samples == large->stop_at ? SESSION_STOP : NULL;
}

static struct error *settle_large(struct session_tool *tool)
{
	struct large *large = tool->ctx;
	const struct put_off *p;

	vec_for_each (p, &large->waiting)
		assert_int_equal(sum_of(p->bytes, p->size), p->sum);
	large->n_settled += !!large->waiting.n;
	large->n_given += large->waiting.n;
	large->waiting.n = 0;
	return NULL;
}

static void read_large(const char *path, struct large *large)
{
	struct session_tool tool = {.ctx = large, .sample = on_large_sample};
	_cleanup_(session_freep) struct session *s = NULL;

	large->seen.quiet = true;
	if (large->puts_off)
		tool.settle = settle_large;
	assert_null(session_open(path, NULL, &s));
	assert_null(session_process(s, &tool));
}

static void large_deinit(struct large *large)
{
	seen_deinit(&large->seen);
	vec_deinit(&large->waiting);
}

static void check_large(const struct large *large, size_t n)
{
	assert_int_equal(large->seen.samples, n);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(large->seen.times.v[i], 1000 + i);
}

TEST(a_large_file_is_read_in_pieces)
{
	struct image im = {0};

	image_file(&im, fill_large);
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	strbuf_deinit(&im.sb);
	struct large whole = {0}, stopped = {.stop_at = 1000}, put_off = {.puts_off = true};

	read_large(f.path, &whole);
	check_large(&whole, LARGE_SAMPLES);
	read_large(f.path, &stopped);
	check_large(&stopped, 1000);
	/* The bytes of samples stay until the tool settles, which it does not for each piece. */
	read_large(f.path, &put_off);
	check_large(&put_off, LARGE_SAMPLES);
	assert_int_equal(put_off.n_given, LARGE_SAMPLES);
	assert_in_range(put_off.n_settled, 2, 10);
	large_deinit(&whole);
	large_deinit(&stopped);
	large_deinit(&put_off);
	close(f.fd);
}

/* Larger than all pieces together, and all of it waits for the end. */
#define WAITING_SAMPLES 700000

static void fill_waiting(struct image *im)
{
	image_comm(im, 100, 100, "alpha", 0, 0);
	for (uint64_t i = 0; i < WAITING_SAMPLES; i++)
		image_sample(im, 11, 100, 100, 1000 + i, 0x400000);
}

/* What follows the record is larger than a piece. */
static void fill_auxtrace(struct image *im)
{
	const uint64_t extra = 400000;

	image_comm(im, 100, 100, "alpha", 0, 0);
	for (uint64_t i = 0; i < LARGE_SAMPLES; i++) {
		image_sample(im, 11, 100, 100, 1000 + i, 0x400000);
		if (i % 1000 == 999)
			image_round(im);
		if (i == LARGE_SAMPLES / 2) {
			const size_t at = image_begin(im, RECORD_AUXTRACE, 0);

			image_u64(im, extra);
			image_zeros(im, 32);
			image_end(im, at);
			image_zeros(im, extra);
		}
	}
}

TEST(what_is_too_large_for_pieces_is_read_where_it_is_mapped)
{
	static const struct {
		image_fill_fn fill;
		size_t n;
	} cases[] = {{fill_waiting, WAITING_SAMPLES}, {fill_auxtrace, LARGE_SAMPLES}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct large large = {.puts_off = true};
		struct image im = {0};

		image_file(&im, cases[i].fill);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		strbuf_deinit(&im.sb);
		read_large(f.path, &large);
		check_large(&large, cases[i].n);
		assert_int_equal(large.n_given, cases[i].n);
		large_deinit(&large);
		close(f.fd);
	}
}
