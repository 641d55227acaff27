// SPDX-License-Identifier: BSD-2-Clause
/*
 * script -F brstack,brstackoff,brstacksym,data_src, and its records of rounds and of changed code:
 * recordings as a PMU with them writes, made by hand.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/json_writer.h"
#include "perf/data/writer.h"
#include "perf/event/encode.h"
#include "perf/print/print.h"
#include "perf/print/sample_access.h"

#define ok(call) assert_null(call)

static const struct perf_event_attr attr = {
	.size = sizeof(attr),
	.type = PERF_TYPE_HARDWARE,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC,
	.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
	.sample_id_all = 1,
};

static const struct record_mmap map = {
	.pid = 7,
	.tid = 7,
	.addr = 0x400000,
	.len = 0x10000,
	.pgoff = 0x2000,
	.prot = 5,
	.filename = "/no/such/program",
};

/* A recording of one sample with these branches, three words each; the caller removes it. */
static char *write_recording(const uint64_t *words, uint64_t n_words, uint64_t data_src)
{
	char *path = strdup("/tmp/perf-bpf-access.XXXXXX");
	_cleanup_(data_writer_freep) struct data_writer *w = NULL;
	_cleanup_strbuf_ struct strbuf records = STRBUF_INIT;
	const uint64_t id = 1;
	struct sample sample = {
		.ip = 0x400010,
		.pid = 7,
		.tid = 7,
		.time = 1000,
		.branches = {(const uint8_t *)words, n_words},
		.data_src = data_src,
		.misc = PERF_RECORD_MISC_USER,
		.cpumode = PERF_RECORD_MISC_USER,
	};
	const struct record_text_poke poke = {.addr = 0xffffffff81000123,
					      .old_len = 5,
					      .new_len = 17,
					      .bytes = (const uint8_t *)"oldb?new bytes of code"};
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	ok(data_writer_open(path, NULL, &w));
	ok(data_writer_add_event(w, &attr, "cycles:u", &id, 1));
	ok(data_writer_start(w));
	record_encode_mmap2(&records, &attr, PERF_RECORD_MISC_USER, &map, NULL);
	record_encode_sample(&records, &attr, &sample);
	record_encode_text_poke(&records, &attr, &poke, &sample);
	ok(data_writer_records(w, strbuf_str(&records), records.len));
	ok(data_writer_finish(w));
	return path;
}

struct reader {
	struct field_choice fields;
	struct script_printer *printer;
	struct strbuf text;
	bool json;
};

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct reader *r = tool->ctx;

	if (r->json)
		print_sample_json(r->printer, rec, sample, event, thread, &r->text);
	else
		print_sample(r->printer, rec, sample, event, thread, &r->text);
	return NULL;
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	struct reader *r = tool->ctx;

	if (rec->header.type == PERF_RECORD_TEXT_POKE || rec->header.type == RECORD_FINISHED_ROUND)
		print_record(r->printer, rec, NULL, &r->text);
	return NULL;
}

/* What a recording is with these fields; the caller's. */
static char *text_of(const char *path, const char *fields, bool json, bool others)
{
	_cleanup_(session_freep) struct session *session = NULL;
	_cleanup_(resolver_freep) struct resolver *resolver = NULL;
	const struct session_opts opts = {.sz = sizeof(opts)};
	const struct resolver_opts resolver_opts = {.sz = sizeof(resolver_opts),
						    .no_symbols = true};
	struct reader r = {.json = json};
	struct session_tool tool = {.ctx = &r, .sample = on_sample};

	if (others)
		tool.other = on_other;
	field_choice_init(&r.fields);
	ok(field_choice_parse(&r.fields, fields, NULL));
	ok(session_open(path, &opts, &session));
	ok(resolver_new(session, &resolver_opts, &resolver));
	const struct printer_opts printer_opts = {
		.sz = sizeof(printer_opts),
		.session = session,
		.resolver = resolver,
		.fields = &r.fields,
		.json = json,
	};
	ok(printer_new(&printer_opts, &r.printer));
	ok(session_process(session, &tool));
	printer_free(r.printer);
	assert_false(strbuf_failed(&r.text));
	char *text = strdup(strbuf_str(&r.text));
	strbuf_deinit(&r.text);
	return text;
}

#define assert_text(path, fields, wanted)                                                          \
	do {                                                                                       \
		char *text_ = text_of(path, fields, false, false);                                 \
		assert_string_equal(text_, wanted);                                                \
		free(text_);                                                                       \
	} while (0)

TEST(test_branches)
{
	/* predicted conditional of 9 cycles; mispredicted call, aborted, to the kernel; unknown */
	const uint64_t words[] = {
		0x400100, 0x400200,	      1 << 1 | 9 << 4 | 1 << 20 | 3 << 24,
		0x400300, 0xffffffff81000000, 1 << 0 | 1 << 2 | 1 << 3 | 4 << 20 | 1 << 24,
		0x10,	  0x500000,	      0,
	};
	char *path = write_recording(words, ARRAY_SIZE(words), 0);

	assert_text(path, "brstack",
		    " 0x400100/0x400200/P/-/-/9/COND/SPEC_CORRECT_PATH "
		    " 0x400300/0xffffffff81000000/M/X/A/0/CALL/SPEC_WRONG_PATH "
		    " 0x10/0x500000/-/-/-/0//- \n");
	assert_text(path, "brstackoff",
		    " 0x2100/0x2200/P/-/-/9/COND/SPEC_CORRECT_PATH "
		    " 0x2300/0xffffffff81000000/M/X/A/0/CALL/SPEC_WRONG_PATH "
		    " 0x10/0x500000/-/-/-/0//- \n");
	assert_text(path, "brstacksym",
		    "[unknown]/[unknown]/P/-/-/9/COND/SPEC_CORRECT_PATH "
		    "[unknown]/[unknown]/M/X/A/0/CALL/SPEC_WRONG_PATH "
		    "[unknown]/[unknown]/-/-/-/0//- \n");
	/* the first of them, with the file */
	assert_text(path, "brstacksym,brstack,dso",
		    " 0x400100 (/no/such/program)/0x400200 (/no/such/program)/P/-/-/9/COND/"
		    "SPEC_CORRECT_PATH "
		    " 0x400300 (/no/such/program)/0xffffffff81000000 ([unknown])/M/X/A/0/CALL/"
		    "SPEC_WRONG_PATH "
		    " 0x10 ([unknown])/0x500000 ([unknown])/-/-/-/0//- \n");
	char *json = text_of(path, "brstack", true, false);
	assert_string_equal(
		json, "{\"type\":\"sample\",\"branches\":["
		      "{\"from\":\"0x400100\",\"to\":\"0x400200\",\"event\":\"P\",\"cycles\":9,"
		      "\"type\":\"COND\"},"
		      "{\"from\":\"0x400300\",\"to\":\"0xffffffff81000000\",\"event\":\"M\","
		      "\"cycles\":0,\"type\":\"CALL\"},"
		      "{\"from\":\"0x10\",\"to\":\"0x500000\",\"event\":\"-\",\"cycles\":0}]}\n");
	free(json);
	unlink(path);
	free(path);
	path = write_recording(NULL, 0, 0);
	assert_text(path, "brstack", "\n");
	assert_text(path, "ip,brstacksym", "           400010\n");
	unlink(path);
	free(path);
}

/* Each value of each member has a name, or none, and never one from elsewhere. */
TEST(test_all_kinds_of_branches)
{
	static const char *const wanted[] = {"",	 "COND", "UNCOND",  "IND",    "CALL",
					     "IND_CALL", "RET",	 "SYSCALL", "SYSRET", "COND_CALL",
					     "COND_RET", "ERET", "IRQ",	    "SERROR", "NO_TX"};

	for (uint64_t type = 0; type < 16; type++) {
		for (uint64_t more = 0; more < 16; more++) {
			const uint64_t words[] = {1, 2, type << 20 | more << 26};
			const struct sample sample = {.branches = {(const uint8_t *)words, 3}};
			const struct branch b = sample_branch(&sample, 0);

			if (type < ARRAY_SIZE(wanted))
				assert_string_equal(branch_type(&b), wanted[type]);
			else if (more == 0)
				assert_string_equal(branch_type(&b), "FAULT_ALGN");
			else if (more >= 8)
				assert_string_equal(branch_type(&b), "");
		}
	}
	for (uint64_t event = 0; event < 8; event++) {
		static const char *const events[] = {"-", "M", "P", "P", "MN", "MN", "PN", "PN"};
		const uint64_t words[] = {1, 2, (event & 3) | (event >> 2) << 33};
		const struct sample sample = {.branches = {(const uint8_t *)words, 3}};
		const struct branch b = sample_branch(&sample, 0);

		assert_string_equal(branch_event(&b), events[event]);
	}
}

TEST(test_sources_of_data)
{
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {
		{0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
		/* as perf 7.2 prints them */
		{0x68100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
		{0x6a100242, "|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A"},
		{0x5080021, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"},
		/* by the number of the level: a remote cache; blocked by both */
		{(uint64_t)11 << 33 | (uint64_t)1 << 37 | (uint64_t)1 << 43 | (uint64_t)6 << 40 |
			 1 << 6 | 4,
		 "|OP STORE|LVL Remote core, same node Any cache hit|SNP N/A|TLB N/A|LCK No|BLK  "
		 "Data Addr"},
		{(uint64_t)7 << 33, "|OP No|LVL Unknown level 7 |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
		{(uint64_t)3 << 38 | 1 << 23,
		 "|OP No|LVL N/A|SNP HitM or Fwd or Peer|TLB N/A|LCK No|BLK  N/A"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		data_src_text(cases[i].value, &out);
		assert_string_equal(strbuf_str(&out), cases[i].text);
	}
	/* any bits: no name is read from outside of its list */
	uint64_t v = 1;
	for (int i = 0; i < 200000; i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		v = v * 6364136223846793005ull + 1442695040888963407ull;
		data_src_text(v ^ v >> 29, &out);
		assert_true(out.len > 30);
	}
	char *path = write_recording(NULL, 0, 0x68100142);
	assert_text(path, "data_src,ip",
		    "        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
		    "           400010\n");
	unlink(path);
	free(path);
}

TEST(test_changed_code_and_rounds)
{
	char *path = write_recording(NULL, 0, 0);
	char *text = text_of(path, "ip", false, true);

	assert_string_equal(text,
			    "PERF_RECORD_FINISHED_ROUND\n"
			    "           400010\n"
			    "PERF_RECORD_TEXT_POKE ffffffff81000123  old len 5 new len 17\n"
			    "            Old bytes: 6f 6c 64 62 3f\n"
			    "            New bytes: 6e 65 77 20 62 79 74 65 73 20 6f 66 20 63 6f "
			    "64\n"
			    "            New bytes: 65\n");
	free(text);
	unlink(path);
	free(path);
}
