// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/data/features.h"
#include "perf/data/writer.h"
#include "perf/print/print_header.h"
#include "perf/session/session.h"
#include "tests/unit/memfile.h"

/* ---- features ---- */

static struct error *decode(struct data_header *h, unsigned int feature, const struct strbuf *sb)
{
	return data_feature_decode(h, feature, cursor_make(sb->str, sb->len, "feature"));
}

/* CLOCKID and CLOCK_DATA, which record does not write. */
static void put_numbers(struct strbuf *sb, const uint64_t *v, size_t n)
{
	strbuf_add(sb, (const char *)v, n * sizeof(*v));
}

TEST(features_come_back_as_built)
{
	struct data_header h = {0};
	struct strbuf sb[12] = {0};
	const char *const argv[] = {"perf-bpf", "record", "-a"};

	feature_build_string(&sb[0], "some-host");
	assert_null(decode(&h, DATA_HOSTNAME, &sb[0]));
	assert_string_equal(h.hostname, "some-host");
	assert_int_equal(sb[0].len, 4 + 64); /* perf pads to 64 bytes */
	feature_build_nrcpus(&sb[1], 8, 6);
	assert_null(decode(&h, DATA_NRCPUS, &sb[1]));
	assert_int_equal(h.cpus_available, 8);
	assert_int_equal(h.cpus_online, 6);
	feature_build_total_mem(&sb[2], 1 << 20);
	assert_null(decode(&h, DATA_TOTAL_MEM, &sb[2]));
	assert_int_equal(h.total_mem, 1 << 20);
	feature_build_cmdline(&sb[3], 3, argv);
	assert_null(decode(&h, DATA_CMDLINE, &sb[3]));
	assert_int_equal(h.n_cmdline, 3);
	assert_string_equal(h.cmdline[2], "-a");
	feature_build_sample_time(&sb[4], 5, 6);
	assert_null(decode(&h, DATA_SAMPLE_TIME, &sb[4]));
	assert_int_equal(h.first_sample_time, 5);
	assert_int_equal(h.last_sample_time, 6);
	put_numbers(&sb[5], (uint64_t[]){1}, 1);
	assert_null(decode(&h, DATA_CLOCKID, &sb[5]));
	assert_int_equal(h.clockid_resolution, 1);
	put_numbers(&sb[6], (uint64_t[]){1ull << 32 | 1, 77, 78}, 3); /* clock 1, version 1 */
	assert_null(decode(&h, DATA_CLOCK_DATA, &sb[6]));
	assert_int_equal(h.clockid, 1);
	assert_int_equal(h.clock_wall_ns, 77);
	assert_int_equal(h.clock_ns, 78);
	feature_build_pmu_mappings(&sb[7], (uint32_t[]){1, 9}, (const char *[]){"software", "x"},
				   2);
	assert_null(decode(&h, DATA_PMU_MAPPINGS, &sb[7]));
	assert_int_equal(h.n_pmus, 2);
	assert_string_equal(h.pmus[1].name, "x");
	assert_int_equal(h.pmus[1].type, 9);
	const uint8_t id[20] = {0xab, 0xcd};
	feature_build_build_id(&sb[8], PERF_RECORD_MISC_KERNEL, -1, id, 20, "[kernel.kallsyms]");
	feature_build_build_id(&sb[8], PERF_RECORD_MISC_USER, -1, id, 16, "/bin/true");
	assert_null(decode(&h, DATA_BUILD_ID, &sb[8]));
	assert_int_equal(h.n_build_ids, 2);
	assert_int_equal(h.build_ids[1].size, 16);
	assert_int_equal(h.build_ids[0].misc, PERF_RECORD_MISC_KERNEL);
	assert_string_equal(h.build_ids[1].filename, "/bin/true");
	assert_memory_equal(h.build_ids[0].id, id, 20);
	feature_build_bpf_btf(&sb[9], (struct feature_btf[]){{3, "btf bytes", 9}, {4, "", 0}}, 2);
	assert_null(decode(&h, DATA_BPF_BTF, &sb[9]));
	assert_int_equal(h.n_btfs, 2);
	assert_int_equal(h.btfs[0].id, 3);
	assert_memory_equal(h.btfs[0].data.p, "btf bytes", 9);

	/* Every one of them, cut anywhere, is refused. */
	static const unsigned int bits[] = {DATA_HOSTNAME,   DATA_NRCPUS,      DATA_TOTAL_MEM,
					    DATA_CMDLINE,    DATA_SAMPLE_TIME, DATA_CLOCKID,
					    DATA_CLOCK_DATA, DATA_PMU_MAPPINGS};
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		for (size_t n = 0; n < sb[i].len; n++) {
			struct data_header cut = {0};
			struct strbuf part = {.str = sb[i].str, .len = n};
			struct error *err = decode(&cut, bits[i], &part);
			assert_non_null(err);
			assert_non_null(strstr(err->msg, data_feature_name(bits[i])));
			error_free(err);
			data_header_deinit(&cut);
		}
	}
	data_header_deinit(&h);
	for (size_t i = 0; i < ARRAY_SIZE(sb); i++)
		strbuf_deinit(&sb[i]);
}

/* u32, then padded strings as do_write_string() of perf has them. */
static void put_text(struct strbuf *sb, const char *text)
{
	const uint32_t size = 64;
	char padded[64] = "";

	strcpy(padded, text);
	strbuf_add(sb, (const char *)&size, sizeof(size));
	strbuf_add(sb, padded, size);
}

static void put_count(struct strbuf *sb, uint32_t n)
{
	strbuf_add(sb, (const char *)&n, sizeof(n));
}

TEST(capabilities_of_pmus)
{
	_cleanup_strbuf_ struct strbuf cpu = STRBUF_INIT, others = STRBUF_INIT, out = STRBUF_INIT;
	struct data_header h = {.pipe = true};

	put_count(&cpu, 2);
	put_text(&cpu, "max_precise");
	put_text(&cpu, "3");
	put_text(&cpu, "branches");
	put_text(&cpu, "32");
	assert_null(decode(&h, DATA_CPU_PMU_CAPS, &cpu));
	put_count(&others, 2);
	put_count(&others, 1);
	put_text(&others, "a");
	put_text(&others, "b");
	put_text(&others, "cpu_atom");
	put_count(&others, 0);
	put_text(&others, "cpu_core");
	assert_null(decode(&h, DATA_PMU_CAPS, &others));
	assert_int_equal(h.n_pmu_caps, 4);
	print_header(&h, "", false, &out);
	assert_non_null(strstr(strbuf_str(&out),
			       "# cpu pmu capabilities: max_precise=3, branches=32\n"
			       "# cpu_atom pmu capabilities: a=b\n"
			       "# cpu_core pmu capabilities: not available\n"));
	for (size_t n = 0; n < others.len; n++) {
		struct data_header cut = {0};
		struct strbuf part = {.str = others.str, .len = n};
		struct error *err = decode(&cut, DATA_PMU_CAPS, &part);

		assert_non_null(err);
		error_free(err);
		data_header_deinit(&cut);
	}
	data_header_deinit(&h);
}

TEST(groups_of_events)
{
	_cleanup_strbuf_ struct strbuf two = STRBUF_INIT, bad = STRBUF_INIT, out = STRBUF_INIT;
	const struct data_group groups[] = {{"", 1, 2}, {"mine", 3, 3}};
	struct data_header h = {.pipe = true}, damaged = {0};

	for (int i = 0; i < 5; i++) {
		struct data_event *ev = data_header_add_event(&h);

		ev->attr = (struct perf_event_attr){
			.type = PERF_TYPE_SOFTWARE, .config = i, .exclude_guest = 1};
		ev->name = i == 2 ? strdup("two") : NULL;
	}
	feature_build_group_desc(&two, groups, 2);
	/* As perf has it where the user gave no name. */
	assert_string_equal(two.str + 8, "{anon_group}");
	assert_null(decode(&h, DATA_GROUP_DESC, &two));
	assert_null(data_group_of(&h, 0));
	assert_int_equal(data_group_of(&h, 1)->leader, 1);
	assert_int_equal(data_group_of(&h, 2)->leader, 1);
	/* Its third member is not among the events. */
	assert_null(data_group_of(&h, 3));
	assert_null(data_group_of(&h, 5));
	data_header_add_event(&h);
	assert_string_equal(data_group_of(&h, 5)->name, "mine");
	h.events[5].name = strdup("five");
	print_header(&h, "", false, &out);
	assert_non_null(strstr(strbuf_str(&out), "\n# group: {task-clock,two}\n"
						 "# group: mine{context-switches,cpu-migrations,"
						 "five}\n"));

	feature_build_group_desc(&bad, (struct data_group[]){{"", 1, 2}, {"", 2, 2}}, 2);
	struct error *err = decode(&damaged, DATA_GROUP_DESC, &bad);
	assert_string_equal(err->msg, "feature GROUP_DESC: group 1 is empty or overlaps another");
	error_free(err);
	data_header_deinit(&damaged);
	data_header_deinit(&h);
}

TEST(bpf_programs_come_back_as_built)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct data_header h = {0};
	const uint64_t ksyms[2] = {0xffffffffc0000000, 0xffffffffc0000100};
	const uint32_t lens[2] = {0x40, 0x60};
	const uint8_t jited[13] = "jited insns.", lines[32] = {1, 2, 3};
	const struct bpf_prog_info info = {
		.type = BPF_PROG_TYPE_TRACEPOINT,
		.id = 1234,
		.btf_id = 9,
		.name = "on_write",
		.tag = "tagtagt",
		.nr_jited_ksyms = 2,
		.nr_jited_func_lens = 2,
		.jited_prog_len = 13,
		.jited_prog_insns = 0x12345678, /* a pointer of the recorder */
		.nr_line_info = 2,
		.line_info_rec_size = 16,
		.nr_map_ids = 3, /* not fetched */
	};
	const struct sys_prog_info whole = {
		.info = info,
		.len = sizeof(info),
		.arrays[SYS_PROG_JITED_KSYMS] = (void *)ksyms,
		.arrays[SYS_PROG_JITED_FUNC_LENS] = (void *)lens,
		.arrays[SYS_PROG_JITED_INSNS] = (void *)jited,
		.arrays[SYS_PROG_LINE_INFO] = (void *)lines,
	};
	const struct sys_prog_info part = {.info = info, .len = 40};

	feature_build_bpf_prog_info(&sb, (const struct sys_prog_info *[]){&whole, &part}, 2);
	assert_null(decode(&h, DATA_BPF_PROG_INFO, &sb));
	assert_int_equal(h.n_bpf_progs, 2);
	const struct data_bpf_prog *p = &h.bpf_progs[0];
	assert_int_equal(p->id, 1234);
	assert_int_equal(p->btf_id, 9);
	assert_string_equal(p->name, "on_write");
	assert_memory_equal(p->tag, "tagtagt", 8);
	assert_int_equal(p->arrays[SYS_PROG_JITED_KSYMS].size, 16);
	assert_memory_equal(p->arrays[SYS_PROG_JITED_KSYMS].p, ksyms, 16);
	assert_memory_equal(p->arrays[SYS_PROG_JITED_FUNC_LENS].p, lens, 8);
	assert_memory_equal(p->arrays[SYS_PROG_JITED_INSNS].p, jited, 13);
	assert_int_equal(p->arrays[SYS_PROG_LINE_INFO].size, 32);
	assert_int_equal(p->rec_size[SYS_PROG_LINE_INFO], 16);
	assert_null(p->arrays[SYS_PROG_MAP_IDS].p);
	assert_int_equal(h.bpf_progs[1].id, 1234);
	assert_string_equal(h.bpf_progs[1].name, "");
	data_header_deinit(&h);
}

TEST(tracing_data_come_back_as_built)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char write[] = "name: sys_enter_write\nID: 710\nformat:\n",
		   fork[] = "name: f\nID: 5\n";
	const struct feature_tracepoint events[] = {
		{"syscalls", {write, sizeof(write) - 1}},
		{"sched", {fork, sizeof(fork) - 1}},
		{"syscalls", {"name: last\nID:99", 16}},
	};
	const struct feature_text ftrace = {"name: function\nID: 1\n", 21};
	const struct feature_tracing in = {
		.page_size = 16384,
		.header_page = {"page", 4},
		.header_event = {"event", 5},
		.ftrace = &ftrace,
		.n_ftrace = 1,
		.events = events,
		.n_events = 3,
		.printk_formats = {"0x1 : \"%d\"\n", 11},
		.cmdlines = {"1 init\n", 7},
	};
	struct data_tracing t;

	feature_build_tracing_data(&sb, &in);
	assert_null(data_tracing_decode(cursor_make(sb.str, sb.len, "t"), &t));
	assert_int_equal(t.n_events, 4);
	assert_int_equal(t.long_size, sizeof(long));
	assert_int_equal(t.page_size, 16384);
	const struct data_tracing_event *ev = data_tracing_find(&t, 710);
	assert_string_equal(ev->system, "syscalls");
	assert_int_equal(ev->name_size, 15);
	assert_memory_equal(ev->name, "sys_enter_write", 15);
	assert_string_equal(data_tracing_find(&t, 1)->system, "ftrace");
	assert_string_equal(data_tracing_find(&t, 99)->system, "syscalls");
	assert_null(data_tracing_find(&t, 6));
	assert_memory_equal(t.cmdlines.p, "1 init\n", 7);
	data_tracing_deinit(&t);
	for (size_t n = 0; n < sb.len - 15; n++) { /* the saved command lines may be missing */
		struct error *err = data_tracing_decode(cursor_make(sb.str, n, "t"), &t);
		assert_non_null(err);
		error_free(err);
	}
}

TEST(events_are_named_as_perf_names_them)
{
	static const struct {
		struct perf_event_attr attr;
		const char *name;
	} cases[] = {
		{{.type = PERF_TYPE_SOFTWARE, .config = 0}, "cpu-clock:HG"},
		{{.type = PERF_TYPE_SOFTWARE, .config = 0, .exclude_guest = 1}, "cpu-clock"},
		{{.type = PERF_TYPE_HARDWARE,
		  .config = 0,
		  .exclude_kernel = 1,
		  .exclude_hv = 1,
		  .exclude_guest = 1},
		 "cycles:uH"},
		{{.type = PERF_TYPE_HARDWARE, .config = 1, .precise_ip = 2, .exclude_guest = 1},
		 "instructions:ppH"},
		{{.type = PERF_TYPE_RAW, .config = 0x1a8, .exclude_guest = 1}, "raw 0x1a8"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x10000, .exclude_guest = 1},
		 "L1-dcache-load-misses"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x102, .exclude_guest = 1}, "LLC-stores"},
		{{.type = PERF_TYPE_TRACEPOINT, .config = 312}, "tracepoint 312"},
		{{.type = PERF_TYPE_BREAKPOINT,
		  .bp_addr = 0x1000,
		  .bp_type = 3,
		  .exclude_guest = 1},
		 "mem:0x1000:rw"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *name = data_event_name(&cases[i].attr);
		assert_string_equal(name, cases[i].name);
	}
}

/* ---- the writer ---- */

struct files {
	char dir[64], path[80], old[80], copy[80];
};

static int make_files(void **state)
{
	struct files *f = calloc(1, sizeof(*f));
	const char *tmp = getenv("TMPDIR");

	snprintf(f->dir, sizeof(f->dir), "%.32s/perf-bpf-data.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/perf.data", f->dir);
	snprintf(f->old, sizeof(f->old), "%s/perf.data.old", f->dir);
	snprintf(f->copy, sizeof(f->copy), "%s/copy", f->dir);
	*state = f;
	return 0;
}

static int remove_files(void **state)
{
	struct files *f = *state;

	unlink(f->path);
	unlink(f->old);
	unlink(f->copy);
	rmdir(f->dir);
	free(f);
	return 0;
}

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(attr),
	.config = PERF_COUNT_SW_BPF_OUTPUT,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
	.sample_id_all = 1,
};

static struct data_writer *writer_new(const char *path, const struct data_writer_opts *opts)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct data_writer *w;

	assert_null(data_writer_open(path, opts, &w));
	assert_null(data_writer_add_event(w, &attr, "my:event", (uint64_t[]){21, 22}, 2));
	assert_null(data_writer_add_event(w, &attr, "other:event", (uint64_t[]){31}, 1));
	feature_build_string(&sb, "the-host");
	assert_null(data_writer_feature(w, DATA_HOSTNAME, sb.str, sb.len));
	assert_null(data_writer_start(w));
	return w;
}

/* n samples with times from first on; what they hold tells which they are. mine: an id of my:event
 */
static struct error *write_samples_of(struct data_writer *w, uint64_t mine, uint64_t first,
				      unsigned int n)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (uint64_t t = first; t < first + n; t++) {
		char text[64];
		struct sample s = {.id = t % 3 ? mine : 31,
				   .pid = 5,
				   .tid = 6,
				   .time = t,
				   .raw = text,
				   .raw_size = 12 + (uint32_t)(t % 5) * 8};
		memset(text, (int)('a' + t % 26), sizeof(text));
		record_encode_sample(&sb, &attr, &s);
	}
	/* As a ring gives it that wraps around, somewhere. */
	size_t cut = sb.len / 3;
	struct iovec iov[2] = {{sb.str, cut}, {sb.str + cut, sb.len - cut}};
	return data_writer_write(w, iov, 2);
}

static struct error *write_samples(struct data_writer *w, uint64_t first, unsigned int n)
{
	return write_samples_of(w, 21, first, n);
}

struct counts {
	struct session_tool tool;
	uint64_t next, wrong;
	uint64_t lost;
};

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct counts *c = tool->ctx;

	c->wrong += sample->time != c->next || sample->raw_size != 12 + c->next % 5 * 8 ||
		    *(const char *)sample->raw != (char)('a' + c->next % 26) ||
		    strcmp(event->name, c->next % 3 ? "my:event" : "other:event");
	c->next++;
	return NULL;
}

/* Reads the file; returns how many samples it had, which are 1, 2, 3, … */
static uint64_t read_samples(const char *path, bool unclean)
{
	_cleanup_(session_freep) struct session *s = NULL;
	struct counts c = {.tool = {.sample = on_sample}, .next = 1};

	c.tool.ctx = &c;
	struct error *err = session_open(path, NULL, &s);
	if (!err)
		err = session_process(s, &c.tool);
	if (err)
		print_message("%s: %s\n", err->where, err->msg);
	assert_null(err);
	assert_int_equal(c.wrong, 0);
	assert_string_equal(session_header(s)->hostname, "the-host");
	assert_int_equal(session_header(s)->unclean, unclean);
	return c.next - 1;
}

TEST_WITH(a_finished_file_holds_all, make_files, remove_files)
{
	struct files *f = *state;
	struct data_writer_opts opts = {.sz = sizeof(opts), .max_size = 20000};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct stat st;

	for (int round = 0; round < 2; round++) {
		struct data_writer *w = writer_new(f->path, &opts);
		assert_false(data_writer_is_full(w));
		assert_false(data_writer_is_pipe(w));
		for (uint64_t t = 1; t <= 900; t += 100) {
			assert_null(write_samples(w, t, 100));
			if (t != 401)
				assert_null(data_writer_round(w));
		}
		assert_true(data_writer_is_full(w));
		strbuf_reset(&sb);
		feature_build_sample_time(&sb, 1, 900);
		assert_null(data_writer_feature(w, DATA_SAMPLE_TIME, sb.str, sb.len));
		strbuf_reset(&sb);
		record_encode_ledger(&sb,
				     &(struct record_ledger){LEDGER_RING_LOST, 21, 8, "my:event"});
		assert_null(data_writer_records(w, sb.str, sb.len));
		assert_null(data_writer_finish(w));
		assert_null(data_writer_finish(w));
		assert_int_equal(stat(f->path, &st), 0);
		assert_int_equal(st.st_size, data_writer_bytes(w));
		assert_int_equal(st.st_mode & 0777, 0600);
		data_writer_free(w);
		assert_int_equal(read_samples(f->path, false), 900);
	}
	/* The first recording was kept. */
	assert_int_equal(read_samples(f->old, false), 900);

	_cleanup_(session_freep) struct session *s = NULL;
	struct session_tool tool = {0};
	assert_null(session_open(f->path, NULL, &s));
	assert_null(session_process(s, &tool));
	assert_int_equal(session_header(s)->last_sample_time, 900);
	struct session_losses losses = session_losses(s);
	assert_int_equal(losses.n_ledger, 1);
	assert_int_equal(losses.ledger[0].count, 8);
	assert_string_equal(losses.ledger[0].name, "my:event");
}

/* Whatever the size of its last feature: nothing stands behind it, so that a file that is cut is
 * found to be. */
TEST_WITH(a_file_without_its_last_byte_is_cut, make_files, remove_files)
{
	struct files *f = *state;
	/* one type description with the id 7, of 1 to 8 bytes */
	uint32_t btf[5] = {1, 7};

	for (btf[2] = 1; btf[2] <= 8; btf[2]++) {
		_cleanup_(session_freep) struct session *s = NULL;
		struct session_tool tool = {0};
		struct data_writer *w = writer_new(f->path, NULL);

		assert_null(write_samples(w, 1, 10));
		assert_null(data_writer_feature(w, DATA_BPF_BTF, btf, 3 * sizeof(*btf) + btf[2]));
		assert_null(data_writer_finish(w));
		assert_int_equal(truncate(f->path, (off_t)data_writer_bytes(w) - 1), 0);
		data_writer_free(w);
		assert_null(session_open(f->path, NULL, &s));
		assert_null(session_process(s, &tool));
		struct error *err = session_check_complete(s, "cut");
		assert_non_null(err);
		assert_non_null(strstr(err->msg, "the recording is truncated"));
		error_free(err);
	}
}

/* Also when the recorder is killed right after the round. */
TEST_WITH(ids_that_come_late, make_files, remove_files)
{
	struct files *f = *state;

	for (int i = 0; i < 4; i++) {
		const bool killed = i & 1;
		struct data_writer_opts opts = {.sz = sizeof(opts), .zstd_level = i / 2};
		struct data_writer *w = writer_new(f->path, &opts);

		assert_null(write_samples(w, 1, 100));
		assert_null(data_writer_add_ids(w, 0, (uint64_t[]){41}, 1));
		assert_null(data_writer_add_ids(w, 1, (uint64_t[]){42, 43}, 2));
		assert_null(write_samples_of(w, 41, 101, 100));
		assert_null(data_writer_add_ids(w, 0, (uint64_t[]){44}, 1));
		assert_null(write_samples_of(w, 44, 201, 100));
		assert_null(data_writer_round(w));
		if (!killed)
			assert_null(data_writer_finish(w));
		data_writer_free(w);
		assert_int_equal(read_samples(f->path, killed), 300);
	}
}

static void read_whole(const char *path, struct strbuf *sb)
{
	char buf[65536];
	_cleanup_close_ int fd = open(path, O_RDONLY);
	ssize_t n;

	strbuf_reset(sb);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(sb, buf, (size_t)n);
}

static void write_whole(const char *path, const char *bytes, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes, size), size);
}

/*
 * A recorder killed at any moment: after every write, and in the middle of
 * each, the file holds what it held at the end of the last round, or when it was saved last.
 */
TEST_WITH(a_kill_at_any_moment_leaves_the_last_round, make_files, remove_files)
{
	struct files *f = *state;

	for (int i = 0; i < 4; i++) {
		struct data_writer_opts opts = {.sz = sizeof(opts), .zstd_level = i / 2};
		struct error *(*const end_round)(struct data_writer *) =
			i & 1 ? data_writer_save : data_writer_round;
		_cleanup_strbuf_ struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
		struct data_writer *w = writer_new(f->path, &opts);
		uint64_t full = 0;

		assert_int_equal(read_samples(f->path, true), 0);
		for (uint64_t t = 1; t <= 40; t += 10) {
			read_whole(f->path, &before);
			assert_null(write_samples(w, t, 10));
			assert_int_equal(read_samples(f->path, true), full);
			read_whole(f->path, &after);
			for (size_t n = before.len; n <= after.len; n += 7) {
				write_whole(f->copy, after.str, n);
				assert_int_equal(read_samples(f->copy, true), full);
			}
			/* Of the round itself, only the last write moves the end. */
			read_whole(f->path, &before);
			assert_null(end_round(w));
			read_whole(f->path, &after);
			for (size_t n = before.len; n <= after.len; n += 7) {
				memcpy(after.str, before.str, before.len);
				write_whole(f->copy, after.str, n);
				assert_int_equal(read_samples(f->copy, true), full);
			}
			full += 10;
			assert_int_equal(read_samples(f->path, true), full);
			/* Without anything new there is nothing to write. */
			uint64_t bytes = data_writer_bytes(w);
			assert_null(end_round(w));
			assert_int_equal(data_writer_bytes(w), bytes);
		}
		data_writer_free(w); /* without finish */
		assert_int_equal(read_samples(f->path, true), 40);
	}
}

TEST_WITH(compressed_records_come_back, make_files, remove_files)
{
	struct files *f = *state;

	for (int two = 0; two < 2; two++) {
		struct data_writer_opts opts = {
			.sz = sizeof(opts), .zstd_level = 1, .compressed2 = two};
		struct data_writer *w = writer_new(f->path, &opts);
		uint64_t t = 1;

		for (unsigned int n = 1; n <= 4096; n *= 4) {
			assert_null(write_samples(w, t, n));
			assert_null(data_writer_round(w));
			t += n;
		}
		assert_null(write_samples(w, t, 1));
		assert_null(data_writer_finish(w));
		data_writer_free(w);
		assert_int_equal(read_samples(f->path, false), t);

		_cleanup_(session_freep) struct session *s = NULL;
		struct session_tool tool = {0};
		assert_null(session_open(f->path, NULL, &s));
		const struct data_header *h = session_header(s);
		assert_int_equal(h->compressed.type, 1);
		assert_int_equal(h->compressed.level, 1);
		assert_true(h->compressed.ratio > 3);
		assert_true(h->compressed.mmap_len >= 60 << 10);
		assert_null(session_process(s, &tool));
		assert_int_equal(!session_n_compressed(s, RECORD_COMPRESSED), two);
		assert_int_equal(!session_n_compressed(s, RECORD_COMPRESSED2), !two);
	}
}

/* The records of a file without its header. */
static void write_part(const char *from, const char *to)
{
	_cleanup_(session_freep) struct session *s = NULL;
	_cleanup_fclose_ FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char bytes[65536];

	assert_null(session_open(from, NULL, &s));
	const size_t size = session_header(s)->data_size;
	assert_non_null(in);
	assert_non_null(out);
	assert_true(size < sizeof(bytes));
	assert_int_equal(fseek(in, (long)session_header(s)->data_offset, SEEK_SET), 0);
	assert_int_equal(fread(bytes, 1, size, in), size);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
}

/* Each file in an order of its own; rounds, which perf does not write there, mean nothing. */
TEST_WITH(a_directory_holds_all, make_files, remove_files)
{
	static const uint64_t version = 1;
	struct files *f = *state;
	char dir[320], path[340];

	snprintf(dir, sizeof(dir), "%s.dir", f->path);
	assert_int_equal(mkdir(dir, 0700), 0);
	for (int part = 0; part < 4; part++) {
		struct data_writer_opts opts = {.sz = sizeof(opts), .zstd_level = part & 1};
		struct data_writer *w = writer_new(f->path, &opts);

		for (uint64_t t = 1 + (uint64_t)part * 10; t < 400; t += 40) {
			assert_null(write_samples(w, t, 10));
			assert_null(data_writer_round(w));
		}
		assert_null(data_writer_finish(w));
		data_writer_free(w);
		snprintf(path, sizeof(path), "%s/data.%d", dir, part * 7);
		write_part(f->path, path);
	}
	snprintf(path, sizeof(path), "%s/data", dir);
	struct data_writer *w = writer_new(path, NULL);
	assert_null(data_writer_feature(w, DATA_DIR_FORMAT, &version, sizeof(version)));
	assert_null(data_writer_finish(w));
	data_writer_free(w);
	assert_int_equal(read_samples(dir, false), 400);
	for (int part = 0; part < 4; part++) {
		snprintf(path, sizeof(path), "%s/data.%d", dir, part * 7);
		unlink(path);
	}
	struct session *s = NULL;
	struct error *err = session_open(dir, NULL, &s);
	assert_int_equal(err->code, ENODATA);
	error_free(err);
	snprintf(path, sizeof(path), "%s/data", dir);
	unlink(path);
	rmdir(dir);
}

TEST_WITH(a_full_disk_is_told_once_and_leaves_the_last_round, make_files, remove_files)
{
	struct files *f = *state;
	struct rlimit old, limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 30000; /* writes behind this fail, as on a full disk */
	struct data_writer *w = writer_new(f->path, NULL);
	uint64_t t = 1, full = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct error *err = NULL;
	while (!err) {
		err = write_samples(w, t, 10);
		if (!err)
			err = data_writer_round(w);
		if (!err)
			full += 10;
		t += 10;
	}
	assert_int_equal(err->code, EFBIG);
	assert_non_null(strstr(err->where, f->path));
	assert_non_null(err->hint);
	error_free(err);
	assert_true(full >= 100);
	assert_int_equal(read_samples(f->path, true), full);
	err = write_samples(w, t, 10); /* told again, nothing written */
	assert_int_equal(err->code, EFBIG);
	error_free(err);
	err = data_writer_round(w);
	assert_int_equal(err->code, EFBIG);
	error_free(err);
	error_free(data_writer_finish(w));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	data_writer_free(w);
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_true(st.st_size <= 30000);
	_cleanup_(session_freep) struct session *s = NULL;
	assert_null(session_open(f->path, NULL, &s));
	assert_int_equal(read_samples(f->path, session_header(s)->unclean), full);
}

/* A process that writes n samples to a FIFO in the pipe form. */
static pid_t write_to_fifo(const struct files *f, int level, uint64_t n)
{
	struct data_writer_opts opts = {.sz = sizeof(opts), .zstd_level = level};

	unlink(f->path);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	struct data_writer *w = writer_new(f->path, &opts);
	int bad = !data_writer_is_pipe(w);
	for (uint64_t t = 1; t <= n; t += n / 20) {
		const uint64_t id = t / (n / 20) == 7 ? 77 : 21;

		if (id == 77)
			bad |= data_writer_add_ids(w, 0, &id, 1) != NULL;
		bad |= write_samples_of(w, id, t, n / 20) != NULL;
		bad |= data_writer_round(w) != NULL;
	}
	bad |= data_writer_finish(w) != NULL;
	_exit(bad);
}

TEST_WITH(the_pipe_form_holds_all, make_files, remove_files)
{
	struct files *f = *state;

	for (int level = 0; level < 2; level++) {
		const pid_t pid = write_to_fifo(f, level, 20000);

		assert_int_equal(read_samples(f->path, false), 20000);
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	unlink(f->path);
}

/* Whether all of the recording is there, as far as it says. */
static bool is_whole(const char *path)
{
	_cleanup_(session_freep) struct session *s = NULL;
	struct session_tool tool = {0};
	_cleanup_error_ struct error *err = session_open(path, NULL, &s);

	if (!err)
		err = session_process(s, &tool);
	return !err && session_is_complete(s);
}

TEST_WITH(the_pipe_form_says_where_it_ends, make_files, remove_files)
{
	struct files *f = *state;

	for (int level = 0; level < 2; level++) {
		static char bytes[1 << 16];
		const pid_t pid = write_to_fifo(f, level, 200);
		FILE *in = fopen(f->path, "r");

		assert_non_null(in);
		const size_t size = fread(bytes, 1, sizeof(bytes), in);
		assert_in_range(size, 1000, sizeof(bytes) - 1);
		fclose(in);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		struct memfile whole = memfile_new(bytes, size);
		assert_true(is_whole(whole.path));
		/* Also where it ends between two records. */
		for (size_t n = 17; n < size; n++) {
			assert_int_equal(ftruncate(whole.fd, 0), 0);
			assert_int_equal(pwrite(whole.fd, bytes, n, 0), n);
			if (is_whole(whole.path))
				fail_msg("whole with %zu of %zu bytes", n, size);
		}
		close(whole.fd);
	}
	unlink(f->path);
}

TEST(what_cannot_be_opened_is_told)
{
	struct data_writer *w = NULL;
	struct error *err = data_writer_open("/proc/nonexistent/perf.data", NULL, &w);

	assert_int_equal(err->code, ENOENT);
	assert_non_null(strstr(err->msg, "cannot write '/proc/nonexistent/perf.data'"));
	assert_null(w);
	error_free(err);
}
