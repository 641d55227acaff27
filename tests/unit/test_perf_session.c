// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/vec.h"
#include "perf/session/internal.h"
#include "tests/unit/image.h"
#include "tests/unit/memfile.h"

/* What a reading saw. */
struct seen {
	struct session_tool tool;
	struct strbuf text;
	size_t samples, others;
	uint64_t sum; /* over everything the samples hold */
	VEC(uint64_t) times;
	bool quiet;
};

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct seen *seen = tool->ctx;
	const struct map *map = session_find_map(s, thread, sample->cpumode, sample->ip);

	seen->samples++;
	for (uint64_t i = 0; i < sample->chain.n; i++)
		seen->sum += u64_array_at(&sample->chain, i);
	for (uint32_t i = 0; i < sample->raw_size; i++)
		seen->sum += ((const uint8_t *)sample->raw)[i];
	seen->sum += strlen(thread->comm) + strlen(event->name);
	uint64_t *t = vec_push(&seen->times);
	assert_non_null(t);
	*t = sample->time;
	if (!seen->quiet)
		strbuf_addf(&seen->text, "%s %s %d/%d %llu %s+%llx\n", event->name, thread->comm,
			    thread->pid, thread->tid, (unsigned long long)sample->time,
			    map ? map->dso->short_name : "-",
			    map ? (unsigned long long)(sample->ip - map->start + map->pgoff) : 0);
	return NULL;
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	((struct seen *)tool->ctx)->others++;
	return NULL;
}

static struct seen seen_new(void)
{
	return (struct seen){.tool = {.sample = on_sample, .other = on_other}};
}

static void seen_deinit(struct seen *seen)
{
	strbuf_deinit(&seen->text);
	vec_deinit(&seen->times);
}

static struct error *read_path(const char *path, struct seen *seen)
{
	_cleanup_(session_freep) struct session *s = NULL;

	seen->tool.ctx = seen;
	TRY(session_open(path, NULL, &s));
	return session_process(s, &seen->tool);
}

static void expect(image_fill_fn fill, const char *text)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct seen seen = seen_new();

		image_file(&im, fill);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		struct error *err = read_path(f.path, &seen);
		if (err)
			print_message("%s: %s\n", err->where, err->msg);
		assert_null(err);
		assert_string_equal(strbuf_str(&seen.text), text);
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
}

static void fill_simple(struct image *im)
{
	image_comm(im, 100, 100, "alpha", 0, 0);
	image_mmap2(im, 100, 0x400000, 0x10000, 0x1000, "/bin/alpha", 0);
	image_sample(im, 11, 100, 100, 1000, 0x400123);
	image_sample(im, 12, 100, 101, 3000, 0x500000);
	image_round(im);
	image_sample(im, 11, 100, 100, 2000, 0x40ffff);
	image_round(im);
}

static void header_and_records_of_both_byte_orders(void **state)
{
	expect(fill_simple, "my-clock alpha 100/100 1000 alpha+1123\n"
			    "my-clock alpha 100/100 2000 alpha+10fff\n"
			    "page-faults:uhp :101 100/101 3000 -+0\n");
}

static void fill_future(struct image *im)
{
	static const uint32_t types[] = {0, PERF_RECORD_MAX, 63, RECORD_MAX, 1u << 31};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		const size_t at = image_begin(im, types[i], 0);

		for (unsigned int n = 0; n < 4; n++)
			image_u64(im, 500);
		image_end(im, at);
	}
	image_end(im, image_begin(im, PERF_RECORD_AUX_OUTPUT_HW_ID, 0));
	image_end(im, image_begin(im, RECORD_SCHEDSTAT_DOMAIN, 0));
	fill_simple(im);
}

static void unknown_records_are_skipped_and_counted(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		_cleanup_(session_freep) struct session *s = NULL;
		struct seen seen = seen_new();
		struct image im = {.swap = swap};

		seen.tool.ctx = &seen;
		image_file(&im, fill_future);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(session_open(f.path, NULL, &s));
		assert_null(session_process(s, &seen.tool));
		assert_int_equal(seen.samples, 3);
		_cleanup_(error_freep) struct error *err = session_check_complete(s, f.path);
		assert_non_null(err);
		assert_string_equal(err->msg, "records of unknown types were skipped: 5");
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
}

static void header_features_are_decoded(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		_cleanup_(session_freep) struct session *s = NULL;
		struct image im = {.swap = swap};

		image_file(&im, fill_simple);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(session_open(f.path, NULL, &s));
		const struct data_header *h = session_header(s);
		assert_int_equal(h->swap, swap);
		assert_string_equal(h->hostname, "the-host");
		assert_int_equal(h->cpus_available, 4);
		assert_int_equal(h->cpus_online, 2);
		assert_int_equal(h->n_cmdline, 2);
		assert_string_equal(h->cmdline[1], "record");
		assert_null(h->osrelease);
		assert_int_equal(session_n_events(s), 2);
		const struct session_event *ev = session_event(s, 0);
		assert_int_equal(ev->attr.config, PERF_COUNT_SW_CPU_CLOCK);
		assert_int_equal(ev->attr.sample_type, IMAGE_SAMPLE_TYPE);
		assert_int_equal(ev->attr.disabled, 1);
		assert_int_equal(ev->attr.inherit, 0);
		assert_int_equal(ev->attr.exclude_kernel, 1);
		assert_int_equal(ev->attr.precise_ip, 1);
		assert_int_equal(ev->attr.sample_id_all, 1);
		assert_int_equal(ev->attr.wakeup_events, 1);
		assert_int_equal(ev->n_ids, 1);
		close(f.fd);
		strbuf_deinit(&im.sb);
	}
}

static void fill_tasks(struct image *im)
{
	image_comm(im, 10, 10, "parent", 0, 0);
	image_mmap2(im, 10, 0x1000, 0x3000, 0, "/bin/old", 0);
	image_fork(im, 20, 10, 20, 10, 100); /* a child: name and maps are its parent's */
	image_sample(im, 11, 20, 20, 110, 0x1800);
	image_comm(im, 20, 20, "child", PERF_RECORD_MISC_COMM_EXEC, 120);
	image_mmap2(im, 20, 0x2000, 0x1000, 0x500, "/bin/new", 130);
	image_sample(im, 11, 20, 20, 140, 0x1fff); /* what is left of the old map, left … */
	image_sample(im, 11, 20, 20, 150, 0x2000); /* … of the new one … */
	image_sample(im, 11, 20, 20, 160, 0x3000); /* … and right */
	image_sample(im, 11, 10, 10, 170, 0x2000); /* the parent's maps did not change */
	image_fork(im, 20, 20, 21, 20, 180);	   /* a thread shares the maps */
	image_mmap2(im, 20, 0x9000, 0x1000, 0, "/bin/late", 190);
	image_sample(im, 11, 20, 21, 200, 0x9000);
	image_fork(im, 20, 10, 20, 10, 300); /* the tid is used again */
	image_sample(im, 11, 20, 20, 310, 0x9000);
	image_comm(im, 20, 20, "a second", 0, 320);
	image_sample(im, 11, 20, 20, 330, 0x2000);
	image_sample(im, 11, 0, 0, 340, 0);
	image_round(im);
}

static void threads_and_maps_follow_fork_exec_and_reuse(void **state)
{
	expect(fill_tasks, "my-clock parent 20/20 110 old+800\n"
			   "my-clock child 20/20 140 old+fff\n"
			   "my-clock child 20/20 150 new+500\n"
			   "my-clock child 20/20 160 old+2000\n"
			   "my-clock parent 10/10 170 old+1000\n"
			   "my-clock child 20/21 200 late+0\n"
			   "my-clock parent 20/20 310 -+0\n"
			   "my-clock a second 20/20 330 old+1000\n"
			   "my-clock swapper 0/0 340 -+0\n");
}

static void fill_builds(struct image *im)
{
	image_build_id(im, 0x77, "/lib/libc.so.6");
	image_build_id(im, 0x44, "/lib/one");
	image_build_id(im, 0x55, "/lib/two");
	image_build_id(im, 0x56, "/lib/two");
	image_build_id(im, 0x55, "/lib/two");
	image_mmap2_build_id(im, 10, 0x1000, 0x1000, 0xaa, "/lib/libc.so.6");
	image_mmap2_build_id(im, 20, 0x1000, 0x1000, 0xbb, "/lib/libc.so.6");
	image_mmap2_build_id(im, 30, 0x1000, 0x1000, 0xaa, "/lib/libc.so.6");
	image_mmap2(im, 40, 0x1000, 0x1000, 0, "/lib/one", 0);
	image_mmap2(im, 50, 0x1000, 0x1000, 0, "/lib/two", 0);
}

/* Processes in two mount namespaces: each has its own file at one path. */
static void builds_at_one_path_are_told_apart(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		_cleanup_(session_freep) struct session *s = NULL;
		struct session_tool tool = {0};
		struct image im = {.swap = swap};
		const struct dso *dso[6];

		image_file(&im, fill_builds);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(session_open(f.path, NULL, &s));
		assert_null(session_process(s, &tool));
		for (int i = 1; i < 6; i++) {
			const struct map *map =
				session_find_map(s, session_thread(s, i * 10, i * 10),
						 PERF_RECORD_MISC_USER, 0x1800);
			assert_non_null(map);
			dso[i] = map->dso;
		}
		/* The record's own id counts, not the header's. */
		assert_ptr_not_equal(dso[1], dso[2]);
		assert_ptr_equal(dso[1], dso[3]);
		assert_int_equal(dso[1]->build_id_size, 20);
		assert_int_equal(dso[1]->build_id[19], 0xaa);
		assert_int_equal(dso[2]->build_id[0], 0xbb);
		/* By the header's table; of two ids it is not known which. */
		assert_int_equal(dso[4]->build_id[0], 0x44);
		assert_false(dso[4]->build_id_unsure);
		assert_int_equal(dso[5]->build_id_size, 0);
		assert_true(dso[5]->build_id_unsure);
		close(f.fd);
		strbuf_deinit(&im.sb);
	}
}

static void image_lost(struct image *im, uint32_t type, uint64_t lost)
{
	size_t at = image_begin(im, type, 0);

	if (type == PERF_RECORD_LOST)
		image_u64(im, 11);
	image_u64(im, lost);
	image_sample_id(im, 10, 10, 0, 11);
	image_end(im, at);
}

static void fill_lost(struct image *im)
{
	image_lost(im, PERF_RECORD_LOST, 30);
	image_lost(im, PERF_RECORD_LOST, 7);
}

static void fill_lost_samples(struct image *im)
{
	fill_lost(im);
	image_lost(im, PERF_RECORD_LOST_SAMPLES, 40);
}

static uint64_t lost_of(image_fill_fn fill)
{
	_cleanup_(session_freep) struct session *s = NULL;
	struct session_tool tool = {0};
	struct image im = {0};

	image_file(&im, fill);
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	assert_null(session_open(f.path, NULL, &s));
	assert_null(session_process(s, &tool));
	close(f.fd);
	strbuf_deinit(&im.sb);
	return session_lost_samples(s);
}

/* What LOST records count is in LOST_SAMPLES too, where there are any. */
static void lost_samples_are_never_none_with_lost_records(void **state)
{
	assert_int_equal(lost_of(fill_simple), 0);
	assert_int_equal(lost_of(fill_lost), 37);
	assert_int_equal(lost_of(fill_lost_samples), 40);
}

static void count_warning(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	*(int *)ctx += level == LOG_WARN;
}

/* As 'perf inject' writes BUILD_ID when it reads a pipe. */
static void a_feature_that_the_events_overwrite_is_left_out(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		int warnings = 0;
		const struct log log = {LOG_WARN, count_warning, &warnings};
		const struct session_opts opts = {.sz = sizeof(opts), .log = &log};
		_cleanup_(session_freep) struct session *s = NULL;
		struct image im = {.swap = swap};
		uint64_t size;

		image_file(&im, fill_simple);
		memcpy(&size, im.sb.str + 48, sizeof(size));
		/* HOSTNAME, the first of the table, and the attrs from 120 on. */
		image_patch_u64(&im, 280 + (swap ? bswap_64(size) : size), 112);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(session_open(f.path, &opts, &s));
		assert_null(session_header(s)->hostname);
		assert_int_equal(session_header(s)->n_cmdline, 2);
		assert_int_equal(warnings, 0);
		close(f.fd);
		strbuf_deinit(&im.sb);
	}
}

/* Many maps, at random, over each other: against a plain array of pages. */
static char paint[256];
static void fill_maps(struct image *im)
{
	uint64_t seed = 3;
	char name[16];

	for (int i = 0; i < 300; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		unsigned int from = seed >> 33 & 255, n = 1 + (seed >> 45 & 31);
		n = min_of(n, 256 - from);
		snprintf(name, sizeof(name), "/m%c", 'A' + i % 26);
		image_mmap2(im, 1, from * 0x1000ull, n * 0x1000ull, from * 0x1000ull, name, 0);
		memset(paint + from, 'A' + i % 26, n);
	}
	for (uint64_t page = 0; page < 256; page++)
		image_sample(im, 11, 1, 1, 1000 + page, page * 0x1000 + 5);
}

static void overlapping_maps_cut_each_other(void **state)
{
	struct image im = {0};
	_cleanup_strbuf_ struct strbuf want = STRBUF_INIT;

	memset(paint, 0, sizeof(paint));
	image_file(&im, fill_maps);
	for (unsigned int page = 0; page < 256; page++) {
		if (paint[page])
			strbuf_addf(&want, "my-clock :1 1/1 %u m%c+%x\n", 1000 + page, paint[page],
				    page * 0x1000 + 5);
		else
			strbuf_addf(&want, "my-clock :1 1/1 %u -+0\n", 1000 + page);
	}
	expect(fill_maps, strbuf_str(&want));
	strbuf_deinit(&im.sb);
}

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

static void rounds_are_merged_as_a_sorted_list_would_be(void **state)
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

static void fill_ties(struct image *im)
{
	/* Two rings with the same times: the file's order decides. */
	image_sample(im, 11, 1, 1, 10, 0);
	image_sample(im, 11, 1, 1, 20, 0);
	image_sample(im, 11, 1, 1, 20, 0);
	image_sample(im, 12, 2, 2, 10, 0);
	image_sample(im, 12, 2, 2, 20, 0);
	image_round(im);
}

static void ties_keep_the_order_of_the_file(void **state)
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
static void runs_are_limited(void **state)
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

static void packed_records_may_be_cut_between_frames(void **state)
{
	expect(fill_two_packed, "my-clock alpha 100/100 1000 alpha+1123\n"
				"my-clock alpha 100/100 2000 alpha+10fff\n"
				"page-faults:uhp :101 100/101 3000 -+0\n");
}

static void unordered_is_the_order_of_the_file(void **state)
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

static void fill_kernel(struct image *im)
{
	static const struct {
		uint64_t addr, len;
		const char *name;
	} maps[] = {
		{0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text"},
		{0xffffffffc0100000, 0x10000, "/lib/modules/6.1/kernel/fs/my-fs.ko.xz"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t at = image_begin(im, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
		image_u32(im, UINT32_MAX);
		image_u32(im, 0);
		image_u64(im, maps[i].addr);
		image_u64(im, maps[i].len);
		image_u64(im, 0);
		image_string(im, maps[i].name);
		image_sample_id(im, 0, 0, 0, 0);
		image_end(im, at);
	}
	for (unsigned int unregister = 0; unregister < 2; unregister++) {
		size_t at = image_begin(im, PERF_RECORD_KSYMBOL, 0);
		image_u64(im, 0xffffffffc0200000);
		image_u32(im, 0x80);
		image_u16(im, PERF_RECORD_KSYMBOL_TYPE_BPF);
		image_u16(im, (uint16_t)unregister);
		image_string(im, "bpf_prog_0011223344556677_f");
		image_sample_id(im, 0, 0, 100 + 100 * unregister, 11);
		image_end(im, at);
	}
	const uint64_t ips[] = {0xffffffff81000010, 0xffffffffc010ffff, 0xffffffffc0200040};
	for (unsigned int i = 0; i < 4; i++) {
		size_t at = im->sb.len;
		image_sample(im, 11, 1, 1, 150 + i * 30, ips[min_of(i, 2u)]);
		image_patch_u16(im, at + 4, PERF_RECORD_MISC_KERNEL);
	}
	image_round(im);
}

static void kernel_modules_and_bpf_programs_are_found(void **state)
{
	expect(fill_kernel, "my-clock :1 1/1 150 [kernel.kallsyms]+10\n"
			    "my-clock :1 1/1 180 [my_fs]+ffff\n"
			    "my-clock :1 1/1 210 -+0\n"
			    "my-clock :1 1/1 240 -+0\n");
}

/* ---- damaged files ---- */

static void fill_all(struct image *im)
{
	fill_simple(im);
	fill_kernel(im);
	fill_ties(im);
	size_t at = image_begin(im, RECORD_HEADER_TRACING_DATA, 0);
	image_u32(im, 16);
	image_u32(im, 0);
	image_end(im, at);
	image_zeros(im, 16);
	image_fork(im, 20, 10, 20, 10, 100);
}

static void fill_packed(struct image *im)
{
	size_t at = image_begin(im, RECORD_COMPRESSED, 0);

	/* A zstd frame: magic, descriptor, window, a raw block of 8 bytes: FINISHED_ROUND. */
	strbuf_add(&im->sb, "\x28\xb5\x2f\xfd\x00\x58\x41\x00\x00", 9);
	image_round(im);
	image_end(im, at);
}

static void sweep(image_fill_fn fill, bool flip)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		size_t ok = 0, failed = 0;

		image_file(&im, fill);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		size_t n = flip ? im.sb.len * 8 : im.sb.len;
		for (size_t i = 0; i < n; i++) {
			struct seen seen = seen_new();
			uint8_t byte = (uint8_t)im.sb.str[i / 8];

			seen.quiet = true;
			if (flip) {
				uint8_t flipped = byte ^ (uint8_t)(1 << i % 8);
				assert_int_equal(pwrite(f.fd, &flipped, 1, (off_t)(i / 8)), 1);
			} else {
				assert_int_equal(ftruncate(f.fd, (off_t)(im.sb.len - 1 - i)), 0);
			}
			struct error *err = read_path(f.path, &seen);
			if (err) {
				failed++;
				assert_non_null(err->where);
				assert_non_null(strstr(err->where, f.path));
			} else {
				ok++;
			}
			error_free(err);
			seen_deinit(&seen);
			if (flip)
				assert_int_equal(pwrite(f.fd, &byte, 1, (off_t)(i / 8)), 1);
		}
		/* Both happen: neither is everything refused nor anything accepted. */
		assert_true(ok > 20);
		assert_true(failed > 20);
		close(f.fd);
		strbuf_deinit(&im.sb);
	}
}

static void every_flipped_bit_is_survived(void **state)
{
	sweep(fill_all, true);
	sweep(fill_packed, true);
}

static void every_truncation_is_survived(void **state)
{
	sweep(fill_all, false);
	sweep(fill_packed, false);
}

static void a_file_cut_in_its_data_gives_what_is_there(void **state)
{
	struct image im = {0};
	struct seen seen = seen_new();

	image_file(&im, fill_simple);
	/* behind the second sample, in the middle of what follows */
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	struct image data = {0};
	fill_simple(&data);
	size_t start = 104 + 16 + 160;
	assert_int_equal(ftruncate(f.fd, (off_t)(start + data.sb.len - 50)), 0);
	assert_null(read_path(f.path, &seen));
	assert_int_equal(seen.samples, 2);
	close(f.fd);
	seen_deinit(&seen);
	strbuf_deinit(&im.sb);
	strbuf_deinit(&data.sb);
}

static void what_is_no_perf_data_is_told(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		int code;
		const char *part;
	} files[] = {
		{"", 0, ENODATA, "is empty"},
		{"PERF", 4, EBADMSG, "too short"},
		{"ELF and nothing else", 20, EBADMSG, "is not a perf.data file"},
		{"PERFFILE and more than that", 27, EBADMSG, "is not a perf.data file"},
		{"PERFILE2\x68\0\0\0\0\0\0\0", 16, EBADMSG, "truncated"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct memfile f = memfile_new(files[i].bytes, files[i].size);
		struct session *s = NULL;
		struct error *err = session_open(f.path, NULL, &s);

		assert_non_null(err);
		assert_int_equal(err->code, files[i].code);
		assert_non_null(strstr(err->msg, files[i].part));
		assert_non_null(strstr(err->where, f.path));
		assert_null(s);
		error_free(err);
		close(f.fd);
	}
	struct session *s;
	struct error *err = session_open("/proc/nonexistent/perf.data", NULL, &s);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
}

/* Its writer never ends: reading on to the end would take all time and memory. */
static void an_endless_stream_of_something_else_is_told(void **state)
{
	_cleanup_close_ int from = -1, to = -1;
	int ends[2];
	char path[32];
	struct session *s = NULL;

	assert_int_equal(pipe(ends), 0);
	from = ends[0];
	to = ends[1];
	assert_int_equal(write(to, "neither the one form nor the other", 34), 34);
	snprintf(path, sizeof(path), "/dev/fd/%d", from);
	alarm(120);
	struct error *err = session_open(path, NULL, &s);
	alarm(0);
	assert_non_null(err);
	assert_int_equal(err->code, EBADMSG);
	assert_non_null(strstr(err->msg, "is not a perf.data file"));
	assert_null(s);
	error_free(err);
}

static struct error *stop_at_once(struct session_tool *tool, struct session *s,
				  const struct record *rec, const struct sample *sample,
				  const struct session_event *event, struct thread *thread)
{
	((struct seen *)tool->ctx)->samples++;
	return tool->unordered ? error_new(EINTR, "enough") : SESSION_STOP;
}

static void a_callback_can_end_it(void **state)
{
	struct image im = {0};
	struct seen seen = seen_new();

	image_file(&im, fill_simple);
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	seen.tool.sample = stop_at_once;
	assert_null(read_path(f.path, &seen));
	assert_int_equal(seen.samples, 1);
	seen.tool.unordered = true;
	struct error *err = read_path(f.path, &seen);
	assert_int_equal(err->code, EINTR);
	assert_int_equal(seen.samples, 2);
	error_free(err);
	close(f.fd);
	seen_deinit(&seen);
	strbuf_deinit(&im.sb);
}

/* One sample that read a group of two counters, ids 11 and 12. */
static void push_read(struct session *s, struct session_tool *tool, int32_t tid, uint64_t time,
		      uint64_t first, uint64_t second)
{
	struct image im = {0};
	size_t at = image_begin(&im, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	image_u64(&im, 11);
	image_u32(&im, 100);
	image_u32(&im, (uint32_t)tid);
	image_u64(&im, time);
	image_u64(&im, 2);
	image_u64(&im, first);
	image_u64(&im, 11);
	image_u64(&im, second);
	image_u64(&im, 12);
	image_end(&im, at);
	const struct iovec iov = {im.sb.str, im.sb.len};
	assert_null(session_push(s, tool, &iov, 1));
	strbuf_deinit(&im.sb);
}

static struct error *on_period(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	strbuf_addf(tool->ctx, "%s %d %llu\n", event->name, thread->tid,
		    (unsigned long long)sample->period);
	return NULL;
}

/* What two threads and one that has the number of the first, after it ended, counted. */
static void read_counters(bool inherit, const char *text)
{
	_cleanup_(session_freep) struct session *s = NULL;
	struct strbuf out = STRBUF_INIT;
	struct session_tool tool = {.ctx = &out, .sample = on_period};
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP,
		.inherit = inherit,
	};
	struct image fork = {0};

	assert_null(session_new_live(NULL, &s));
	assert_null(session_add_event(s, &attr, "a", &(uint64_t){11}, 1));
	assert_null(session_add_event(s, &attr, "b", &(uint64_t){12}, 1));
	push_read(s, &tool, 100, 1000, 500, 50);
	push_read(s, &tool, 101, 2000, 900, 50);
	push_read(s, &tool, 100, 3000, 1000, 51);
	push_read(s, &tool, 101, 4000, 1100, 60);
	assert_null(session_advance(s, &tool, UINT64_MAX));
	size_t at = image_begin(&fork, PERF_RECORD_FORK, 0);
	image_u32(&fork, 100);
	image_u32(&fork, 100);
	image_u32(&fork, 101);
	image_u32(&fork, 100);
	image_u64(&fork, 5000);
	image_end(&fork, at);
	const struct iovec iov = {fork.sb.str, fork.sb.len};
	assert_null(session_push(s, &tool, &iov, 1));
	push_read(s, &tool, 101, 6000, 1200, 65);
	assert_null(session_advance(s, &tool, UINT64_MAX));
	assert_string_equal(strbuf_str(&out), text);
	strbuf_deinit(&out);
	strbuf_deinit(&fork.sb);
}

static void inherited_counters_count_by_thread(void **state)
{
	read_counters(true, "a 100 500\nb 100 50\na 101 900\nb 101 50\na 100 500\nb 100 1\n"
			    "a 101 200\nb 101 10\na 101 1200\nb 101 65\n");
	read_counters(false, "a 100 500\nb 100 50\na 101 400\na 100 100\nb 100 1\n"
			     "a 101 100\nb 101 9\na 101 100\nb 101 5\n");
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

static void a_large_file_is_read_in_pieces(void **state)
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

static void what_is_too_large_for_pieces_is_read_where_it_is_mapped(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_and_records_of_both_byte_orders),
		cmocka_unit_test(unknown_records_are_skipped_and_counted),
		cmocka_unit_test(header_features_are_decoded),
		cmocka_unit_test(threads_and_maps_follow_fork_exec_and_reuse),
		cmocka_unit_test(builds_at_one_path_are_told_apart),
		cmocka_unit_test(lost_samples_are_never_none_with_lost_records),
		cmocka_unit_test(a_feature_that_the_events_overwrite_is_left_out),
		cmocka_unit_test(overlapping_maps_cut_each_other),
		cmocka_unit_test(rounds_are_merged_as_a_sorted_list_would_be),
		cmocka_unit_test(ties_keep_the_order_of_the_file),
		cmocka_unit_test(runs_are_limited),
		cmocka_unit_test(packed_records_may_be_cut_between_frames),
		cmocka_unit_test(unordered_is_the_order_of_the_file),
		cmocka_unit_test(kernel_modules_and_bpf_programs_are_found),
		cmocka_unit_test(every_flipped_bit_is_survived),
		cmocka_unit_test(every_truncation_is_survived),
		cmocka_unit_test(a_file_cut_in_its_data_gives_what_is_there),
		cmocka_unit_test(what_is_no_perf_data_is_told),
		cmocka_unit_test(an_endless_stream_of_something_else_is_told),
		cmocka_unit_test(a_callback_can_end_it),
		cmocka_unit_test(inherited_counters_count_by_thread),
		cmocka_unit_test(a_large_file_is_read_in_pieces),
		cmocka_unit_test(what_is_too_large_for_pieces_is_read_where_it_is_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
