// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf/annotate: the code of BPF programs out of BPF_PROG_INFO, of both byte orders and where it is
 * damaged; show/annotation: percentages and the text.
 */
#include <bpf/btf.h>
#include <byteswap.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>

#include "perf/resolve/bpf_code.h"
#include "show/annotation.h"

#define START 0xffffffffc0001000ull

/* ---- the code of BPF programs ---- */

/* A program of two functions, of 4 and 3 bytes, and three lines: two of the first function. */
struct fixture {
	uint8_t image[7];
	uint64_t ksyms[2];
	uint32_t lens[2];
	struct bpf_line_info lines[3];
	uint64_t jited_lines[3];
	struct data_bpf_prog prog;
	struct data_btf btf;
	struct btf *strings;
	struct data_header header;
};

static void set_array(struct fixture *f, enum sys_prog_array which, void *bytes, size_t size,
		      uint32_t rec_size)
{
	f->prog.arrays[which] = (struct data_bytes){bytes, size};
	f->prog.rec_size[which] = rec_size;
}

static void swap_all(struct fixture *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(f->ksyms); i++) {
		f->ksyms[i] = bswap_64(f->ksyms[i]);
		f->lens[i] = bswap_32(f->lens[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(f->lines); i++) {
		f->jited_lines[i] = bswap_64(f->jited_lines[i]);
		f->lines[i].insn_off = bswap_32(f->lines[i].insn_off);
		f->lines[i].line_col = bswap_32(f->lines[i].line_col);
	}
	f->header.swap = true;
}

static void setup(struct fixture *f, bool swap)
{
	__u32 size;

	*f = (struct fixture){
		.image = {1, 2, 3, 4, 5, 6, 7},
		.ksyms = {START, START + 64},
		.lens = {4, 3},
		.jited_lines = {START, START + 2, START + 64},
		.prog = {.id = 7, .btf_id = 9},
		.header = {.arch = "aarch64"},
	};
	f->strings = btf__new_empty();
	assert_non_null(f->strings);
	for (unsigned i = 0; i < 3; i++)
		f->lines[i] = (struct bpf_line_info){
			.insn_off = 2 * i,
			.file_name_off = (uint32_t)btf__add_str(f->strings, "heavy.bpf.c"),
			.line_off = (uint32_t)btf__add_str(f->strings, "\treturn 0;"),
			.line_col = (10 + i) << 10 | 3,
		};
	f->btf.id = 9;
	f->btf.data.p = btf__raw_data(f->strings, &size);
	f->btf.data.size = size;
	set_array(f, SYS_PROG_JITED_INSNS, f->image, sizeof(f->image), 1);
	set_array(f, SYS_PROG_JITED_KSYMS, f->ksyms, sizeof(f->ksyms), 8);
	set_array(f, SYS_PROG_JITED_FUNC_LENS, f->lens, sizeof(f->lens), 4);
	set_array(f, SYS_PROG_LINE_INFO, f->lines, sizeof(f->lines), sizeof(f->lines[0]));
	set_array(f, SYS_PROG_JITED_LINE_INFO, f->jited_lines, sizeof(f->jited_lines), 8);
	f->header.bpf_progs = &f->prog;
	f->header.n_bpf_progs = 1;
	f->header.btfs = &f->btf;
	f->header.n_btfs = 1;
	if (swap)
		swap_all(f);
}

TEST(test_functions_and_lines)
{
	for (int swap = 0; swap < 2; swap++) {
		struct bpf_code code = {0};
		struct bpf_code_line line;
		struct fixture f;

		setup(&f, swap);
		assert_null(bpf_code_find(&f.header, START + 66, &code));
		assert_int_equal(code.machine, EM_AARCH64);
		assert_int_equal(code.address, START + 64);
		assert_int_equal(code.size, 3);
		assert_memory_equal(code.bytes, f.image + 4, 3);
		assert_int_equal(code.n_lines, 3);
		assert_int_equal(bpf_code_function(&code, 1), START + 64);
		assert_int_equal(bpf_code_function(&code, 2), 0);
		assert_true(bpf_code_line(&code, 1, &line));
		assert_int_equal(line.address, START + 2);
		assert_int_equal(line.insn, 2);
		assert_int_equal(line.number, 11);
		/* BTF of the other byte order is not read */
		assert_string_equal(line.text, swap ? "" : "\treturn 0;");
		assert_string_equal(line.file, swap ? "" : "heavy.bpf.c");
		assert_false(bpf_code_line(&code, 3, &line));
		bpf_code_deinit(&code);
		btf__free(f.strings);
	}
}

static void expect_no_code(struct fixture *f, uint64_t address)
{
	struct bpf_code code = {0};
	_cleanup_error_ struct error *err = bpf_code_find(&f->header, address, &code);

	assert_non_null(err);
	assert_int_equal(err->code, ENODATA);
}

TEST(test_code_that_is_not_there)
{
	struct fixture f;

	setup(&f, false);
	expect_no_code(&f, START - 1);
	expect_no_code(&f, START + 4); /* between the functions */
	expect_no_code(&f, START + 67);
	f.lens[0] = UINT32_MAX; /* longer than all code */
	expect_no_code(&f, START);
	f.lens[0] = 4;
	f.prog.arrays[SYS_PROG_JITED_INSNS].size = 6; /* cut in the second */
	expect_no_code(&f, START + 64);
	f.prog.arrays[SYS_PROG_JITED_INSNS] = (struct data_bytes){0};
	expect_no_code(&f, START);
	btf__free(f.strings);
}

/* Tables of which one is shorter, or whose names are not in the BTF. */
TEST(test_lines_that_are_cut)
{
	struct bpf_code code = {0};
	struct bpf_code_line line;
	struct fixture f;

	setup(&f, false);
	f.prog.arrays[SYS_PROG_JITED_LINE_INFO].size = 15;
	f.lines[0].line_off = 1u << 30;
	f.prog.rec_size[SYS_PROG_XLATED_INSNS] = 0;
	assert_null(bpf_code_find(&f.header, START, &code));
	assert_int_equal(code.n_lines, 1);
	assert_true(bpf_code_line(&code, 0, &line));
	assert_string_equal(line.text, "");
	assert_false(bpf_code_line(&code, 1, &line));
	bpf_code_deinit(&code);
	btf__free(f.strings);
}

/* ---- the text ---- */

static void add_line(struct annotation *a, const struct annotation_line *line)
{
	struct annotation_line *slot = vec_push(&a->lines);

	assert_non_null(slot);
	*slot = *line;
}

/* A function with two events: of 4 samples of 12, and of 1 of 1. */
static void make_annotation(struct annotation *a, const struct annotation_event *events)
{
	static const struct annotation_count first[] = {{3, 30}, {0, 0}};
	static const struct annotation_count second[] = {{1, 10}, {1, 5}};

	*a = (struct annotation){
		.symbol = "hot",
		.dso = "/bin/work",
		.event = "cycles, faults",
		.events = events,
		.n_events = 2,
		.address = 0xffe,
	};
	add_line(a, &(struct annotation_line){
			    .kind = ANNOTATION_SOURCE, .text = "\tsum += \033[1m;", .number = 12});
	add_line(a, &(struct annotation_line){
			    .kind = ANNOTATION_BPF, .text = "(95) exit", .number = 3});
	add_line(a, &(struct annotation_line){.text = "nop",
					      .address = 0xffe,
					      .size = 2,
					      .counts = first,
					      .place = "/src/work.c:12"});
	add_line(a, &(struct annotation_line){.text = "retq",
					      .address = 0x1000,
					      .size = 1,
					      .counts = second,
					      .place = "/src/work.c:13"});
	add_line(a, &(struct annotation_line){
			    .text = "callq  0x2000 <a\033[1m>", .address = 0x1001, .size = 5});
}

static const struct annotation_event two_events[] = {
	{"cycles", {4, 40}, {12, 400}},
	{"faults", {1, 5}, {1, 5}},
};

TEST(test_text)
{
	const struct annotation_text_opts opts = {.places = true};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_annotation_ struct annotation a = {0};

	make_annotation(&a, two_events);
	annotation_text(&a, &opts, &out);
	assert_string_equal(strbuf_str(&out),
			    "\nSorted summary for file /bin/work\n"
			    "----------------------------------------------\n\n"
			    "   75.00    0.00 work.c:12\n"
			    "   25.00  100.00 work.c:13\n"
			    " Percent         |\tSource code & Disassembly of "
			    "work for cycles, faults (4 samples, "
			    "percent: local period)\n"
			    "----------------------------------------------------"
			    "-------------------------------"
			    "----------------------------\n"
			    "                 : 0000000000000ffe <hot>:\n"
			    "                 : 12   \tsum += \\x1b[1m;\n"
			    "                 :    3: (95) exit\n"
			    "   75.00    0.00 :    ffe: nop // work.c:12\n"
			    "   25.00  100.00 :   1000: retq // work.c:13\n"
			    "    0.00    0.00 :   1001: callq  0x2000 <a\\x1b[1m>\n");
}

TEST(test_percentages)
{
	const struct annotation_count count = {3, 30};
	const struct annotation_event nothing = {0};

#define SHARE(global, hits)                                                                        \
	annotation_share(&two_events[0], count, (struct annotation_percent){global, hits})
	assert_true(SHARE(false, false) == 75);
	assert_true(SHARE(false, true) == 75);
	assert_true(SHARE(true, false) == 7.5);
	assert_true(SHARE(true, true) == 25);
	assert_true(annotation_share(&nothing, count, (struct annotation_percent){0}) == 0);
}
