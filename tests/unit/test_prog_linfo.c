// SPDX-License-Identifier: BSD-2-Clause
/* Source lines of loaded programs: what the kernel gives, searched. */
#include <errno.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#define AT(array) ((uint64_t)(uintptr_t)(array))

/* Two functions: lines at instructions 0, 3, 7 and at 10, 12. */
static const struct bpf_line_info lines[] = {
	{.insn_off = 0, .line_off = 1},	 {.insn_off = 3, .line_off = 2},
	{.insn_off = 7, .line_off = 3},	 {.insn_off = 10, .line_off = 4},
	{.insn_off = 12, .line_off = 5},
};
static uint64_t addrs[] = {0x1000, 0x1008, 0x1020, 0x5000, 0x5004};
static uint64_t starts[] = {0x1000, 0x5000};
static uint32_t lens[] = {0x40, 0x10};

static struct bpf_prog_info info(void)
{
	return (struct bpf_prog_info){
		.nr_line_info = 5,
		.line_info = AT(lines),
		.line_info_rec_size = sizeof(lines[0]),
		.nr_jited_line_info = 5,
		.jited_line_info = AT(addrs),
		.jited_line_info_rec_size = sizeof(addrs[0]),
		.nr_jited_ksyms = 2,
		.jited_ksyms = AT(starts),
		.nr_jited_func_lens = 2,
		.jited_func_lens = AT(lens),
	};
}

static uint32_t line(const struct bpf_line_info *found)
{
	return found ? found->line_off : 0;
}

TEST(test_finds_lines)
{
	struct bpf_prog_info i = info();
	struct bpf_prog_linfo *l = bpf_prog_linfo__new(&i);

	assert_non_null(l);
	assert_int_equal(line(bpf_prog_linfo__lfind(l, 0, 0)), 1);
	assert_int_equal(line(bpf_prog_linfo__lfind(l, 6, 0)), 2);
	assert_int_equal(line(bpf_prog_linfo__lfind(l, 7, 2)), 3);
	assert_int_equal(line(bpf_prog_linfo__lfind(l, 1000, 0)), 5);
	assert_null(bpf_prog_linfo__lfind(l, 6, 2)); /* it was skipped */
	assert_null(bpf_prog_linfo__lfind(l, 6, 5));
	assert_int_equal(line(bpf_prog_linfo__lfind_addr_func(l, 0x1000, 0, 0)), 1);
	assert_int_equal(line(bpf_prog_linfo__lfind_addr_func(l, 0x101f, 0, 0)), 2);
	assert_int_equal(line(bpf_prog_linfo__lfind_addr_func(l, 0x5003, 1, 0)), 4);
	assert_int_equal(line(bpf_prog_linfo__lfind_addr_func(l, 0x5008, 1, 1)), 5);
	assert_null(bpf_prog_linfo__lfind_addr_func(l, 0x4fff, 1, 0));
	assert_null(bpf_prog_linfo__lfind_addr_func(l, 0x5003, 1, 1));
	assert_null(bpf_prog_linfo__lfind_addr_func(l, 0x5000, 2, 0));
	assert_int_equal(errno, ENOENT);
	bpf_prog_linfo__free(l);
	bpf_prog_linfo__free(NULL);
}

TEST(test_without_machine_code)
{
	struct bpf_prog_info i = info();
	uint64_t hidden[5] = {0};

	/* what a process without CAP_SYSLOG sees */
	i.jited_line_info = AT(hidden);
	struct bpf_prog_linfo *l = bpf_prog_linfo__new(&i);
	assert_non_null(l);
	assert_int_equal(line(bpf_prog_linfo__lfind(l, 3, 0)), 2);
	assert_null(bpf_prog_linfo__lfind_addr_func(l, 0x1000, 0, 0));
	bpf_prog_linfo__free(l);
}

static void expect_refused(struct bpf_prog_info i)
{
	errno = 0;
	assert_null(bpf_prog_linfo__new(&i));
	assert_int_equal(errno, EINVAL);
}

TEST(test_arrays_that_do_not_fit)
{
	uint64_t descending[] = {0x1000, 0x1008, 0x1004, 0x5000, 0x5004};
	uint64_t astray[] = {0x1000, 0x1008, 0x1020, 0x4fff, 0x5004};
	struct bpf_prog_info i = info();

	i.nr_line_info = 0;
	expect_refused(i);
	i = info();
	i.line_info_rec_size = 8;
	expect_refused(i);
	i = info();
	i.nr_jited_line_info = 4;
	expect_refused(i);
	i = info();
	i.jited_line_info = AT(descending);
	expect_refused(i);
	i = info();
	i.jited_line_info = AT(astray);
	expect_refused(i);
	i = info();
	i.nr_jited_ksyms = i.nr_jited_func_lens = 1;
	expect_refused(i);
	assert_null(bpf_prog_linfo__new(NULL));
}
