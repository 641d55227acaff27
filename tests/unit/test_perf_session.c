// SPDX-License-Identifier: BSD-2-Clause
/* What a session makes of the records of a file: events, threads, maps, losses. */
#include "tests/unit/session_seen.h"

TEST(header_and_records_of_both_byte_orders)
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

TEST(unknown_records_are_skipped_and_counted)
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

TEST(header_features_are_decoded)
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

TEST(threads_and_maps_follow_fork_exec_and_reuse)
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
TEST(builds_at_one_path_are_told_apart)
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
TEST(lost_samples_are_never_none_with_lost_records)
{
	assert_int_equal(lost_of(fill_simple), 0);
	assert_int_equal(lost_of(fill_lost), 37);
	assert_int_equal(lost_of(fill_lost_samples), 40);
}

/* As 'perf inject' writes BUILD_ID when it reads a pipe. */
TEST(a_feature_that_the_events_overwrite_is_left_out)
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

TEST(overlapping_maps_cut_each_other)
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

TEST(kernel_modules_and_bpf_programs_are_found)
{
	expect(fill_kernel, "my-clock :1 1/1 150 [kernel.kallsyms]+10\n"
			    "my-clock :1 1/1 180 [my_fs]+ffff\n"
			    "my-clock :1 1/1 210 -+0\n"
			    "my-clock :1 1/1 240 -+0\n");
}

/* ---- records of BPF programs ---- */

/* The extra size of a record's header, whose bytes hold what was in the ring before. */
static void image_stale(struct image *im, size_t times)
{
	while (times--)
		image_sample_id(im, 7, 7, 1, 12);
}

static void image_ksymbol(struct image *im, const char *name, uint64_t time, uint64_t id,
			  size_t stale)
{
	const size_t at = image_begin(im, PERF_RECORD_KSYMBOL, 0);

	image_u64(im, 0xffffffffc0200000);
	image_u32(im, 0x80);
	image_u16(im, PERF_RECORD_KSYMBOL_TYPE_BPF);
	image_u16(im, 0);
	image_string(im, name);
	image_sample_id(im, 20, 21, time, id);
	image_stale(im, stale);
	image_end(im, at);
}

static void image_bpf_event(struct image *im, uint32_t program, uint64_t time, uint64_t id,
			    size_t stale)
{
	const size_t at = image_begin(im, PERF_RECORD_BPF_EVENT, 0);

	image_u16(im, PERF_BPF_EVENT_PROG_LOAD);
	image_u16(im, 0);
	image_u32(im, program);
	image_zeros(im, 8);
	image_sample_id(im, 20, 21, time, id);
	image_stale(im, stale);
	image_end(im, at);
}

/* Two names: one that ends at a multiple of 8, and is padded by as much, and one that does not. */
static void fill_too_large(struct image *im)
{
	image_sample(im, 11, 1, 1, 50, 0);
	image_ksymbol(im, "bpf_prog", 300, 11, 2);
	image_ksymbol(im, "bpf_prog_more", 200, 12, 3);
	image_ksymbol(im, "bpf_prog_right", 400, 11, 0);
	image_bpf_event(im, 5, 350, 12, 1);
	image_bpf_event(im, 6, 250, 11, 2);
	image_bpf_event(im, 7, 450, 11, 0);
	image_round(im);
}

static void note_record(struct session_tool *tool, const struct record *rec, const char *what)
{
	strbuf_addf(&((struct seen *)tool->ctx)->text, "%llu %d/%d %s %s\n",
		    (unsigned long long)rec->id.time, rec->id.pid, rec->id.tid,
		    rec->event ? rec->event->name : "-", what);
}

static struct error *on_ksymbol(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct record_ksymbol *ksymbol)
{
	note_record(tool, rec, ksymbol->name);
	return NULL;
}

static struct error *on_bpf_event(struct session_tool *tool, struct session *s,
				  const struct record *rec, const struct record_bpf_event *ev)
{
	char id[16];

	snprintf(id, sizeof(id), "program %u", ev->id);
	note_record(tool, rec, id);
	return NULL;
}

/*
 * Linux adds the size of the sample_id fields to that of these records once for each event that
 * gets them: they are behind the record's own fields, not at its end.
 */
TEST(records_of_bpf_programs_that_are_too_large)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct seen seen = seen_new();

		seen.tool.sample = NULL;
		seen.tool.ksymbol = on_ksymbol;
		seen.tool.bpf_event = on_bpf_event;
		image_file(&im, fill_too_large);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_null(read_path(f.path, &seen));
		assert_string_equal(strbuf_str(&seen.text),
				    "200 20/21 page-faults:uhp bpf_prog_more\n"
				    "250 20/21 my-clock program 6\n"
				    "300 20/21 my-clock bpf_prog\n"
				    "350 20/21 page-faults:uhp program 5\n"
				    "400 20/21 my-clock bpf_prog_right\n"
				    "450 20/21 my-clock program 7\n");
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
}

static struct error *stop_at_once(struct session_tool *tool, struct session *s,
				  const struct record *rec, const struct sample *sample,
				  const struct session_event *event, struct thread *thread)
{
	((struct seen *)tool->ctx)->samples++;
	return tool->unordered ? error_new(EINTR, "enough") : SESSION_STOP;
}

TEST(a_callback_can_end_it)
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

TEST(inherited_counters_count_by_thread)
{
	read_counters(true, "a 100 500\nb 100 50\na 101 900\nb 101 50\na 100 500\nb 100 1\n"
			    "a 101 200\nb 101 10\na 101 1200\nb 101 65\n");
	read_counters(false, "a 100 500\nb 100 50\na 101 400\na 100 100\nb 100 1\n"
			     "a 101 100\nb 101 9\na 101 100\nb 101 5\n");
}
