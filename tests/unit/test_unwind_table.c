// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables: of entries made by hand, and of whole binaries of this system, each row of which
 * must say what libdw reads from the same file.
 */
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "lib/base/util.h"
#include "perf/unwind/step.h"
#include "perf/unwind/unwind_table.h"

#define TEXT 0x401000
#define EH   0x500000

static const struct perf_bpf_unwind_rule *rule_at(const struct unwind_table *table,
						  const struct unwind_rules *rules, uint64_t addr)
{
	return &rules->rules.v[unwind_table_find(table, addr)];
}

/*
 * A function that aligns its stack, of 0x20 bytes, and behind a gap of 0x10 a trampoline of
 * signals; the CIE of each is before it.
 */
static const uint8_t made[] = {
	/* 0: CIE */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	/* 24: FDE of TEXT */
	36, 0, 0, 0, 28, 0, 0, 0, 0xe0, 0x0f, 0xf0, 0xff, 0x20, 0, 0, 0, 0, 0x44, 0x0c, 10,
	0,				 /* +4: the CFA is r10: unknown */
	0x44, 0x10, 6, 2, 0x76, 0,	 /* +8: rbp is at rbp + 0 */
	0x0f, 3, 0x76, 0x78, 0x06,	 /* the CFA is at rbp - 8 */
	0x48, 0x0c, 7, 8, 0xc6, 0, 0, 0, /* +16: as at the start */
	/* 64: CIE "zRS" */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0, 0, 0, 0,
	/* 88: FDE of TEXT + 0x30 */
	36, 0, 0, 0, 28, 0, 0, 0, 0xd0, 0x0f, 0xf0, 0xff, 0x10, 0, 0, 0, 0, 0x0f, 4, 0x77, 0xa0, 1,
	0x06,			    /* the CFA is at rsp + 160 */
	0x10, 6, 3, 0x77, 0xf8, 0,  /* rbp is at rsp + 120 */
	0x10, 16, 3, 0x77, 0xa8, 1, /* the caller's address is at rsp + 168 */
	0, 0, 0, 0, 0, 0, 0, 0, 0,  /* the end */
};

static struct unwind_table *made_table(struct unwind_rules *rules)
{
	const struct cfi_input in = {.eh_frame = {made, sizeof(made), EH}};
	struct unwind_table *table;
	struct cfi *cfi;

	assert_null(cfi_new(&in, &cfi));
	assert_null(unwind_table_of_cfi(cfi, false, rules, &table));
	cfi_free(cfi);
	return table;
}

TEST(test_rules)
{
	struct unwind_rules *rules;

	assert_null(unwind_rules_new(100, &rules));
	struct unwind_table *t = made_table(rules);

	assert_int_equal(t->base, TEXT);
	assert_int_equal(t->not_expressible, 1);
	assert_int_equal(unwind_table_find(t, TEXT - 1), 0);
	const struct perf_bpf_unwind_rule *first = rule_at(t, rules, TEXT);
	assert_int_equal(first->cfa, PERF_BPF_CFA_SP);
	assert_int_equal(first->cfa_offset, 8);
	assert_int_equal(first->ra, PERF_BPF_REG_AT_CFA);
	assert_int_equal(first->ra_offset, -8);
	assert_int_equal(first->fp, PERF_BPF_REG_SAME);
	assert_int_equal(unwind_table_find(t, TEXT + 4), 0);
	assert_int_equal(unwind_table_find(t, TEXT + 7), 0);
	const struct perf_bpf_unwind_rule *body = rule_at(t, rules, TEXT + 8);
	assert_int_equal(body->cfa, PERF_BPF_CFA_AT_FP);
	assert_int_equal(body->cfa_offset, -8);
	assert_int_equal(body->fp, PERF_BPF_REG_AT_FP);
	assert_int_equal(body->fp_offset, 0);
	assert_ptr_equal(rule_at(t, rules, TEXT + 16), first);
	assert_ptr_equal(rule_at(t, rules, TEXT + 31), first);
	assert_int_equal(unwind_table_find(t, TEXT + 32), 0);
	assert_int_equal(unwind_table_find(t, TEXT + 47), 0);
	const struct perf_bpf_unwind_rule *signal = rule_at(t, rules, TEXT + 48);
	assert_int_equal(signal->cfa, PERF_BPF_CFA_AT_SP);
	assert_int_equal(signal->cfa_offset, 160);
	assert_int_equal(signal->ra, PERF_BPF_REG_AT_SP);
	assert_int_equal(signal->ra_offset, 168);
	assert_int_equal(signal->fp, PERF_BPF_REG_AT_SP);
	assert_int_equal(signal->fp_offset, 120);
	assert_true(signal->is_signal);
	assert_int_equal(unwind_table_find(t, TEXT + 64), 0);
	assert_int_equal(unwind_table_find(t, UINT64_MAX), 0);
	unwind_table_free(t);
	unwind_rules_free(rules);
}

/* A rule that has no room is unknown, and is counted. */
TEST(test_full)
{
	struct unwind_rules *rules;

	assert_null(unwind_rules_new(2, &rules));
	struct unwind_table *t = made_table(rules);
	assert_int_not_equal(unwind_table_find(t, TEXT), 0);
	assert_int_equal(unwind_table_find(t, TEXT + 8), 0);
	assert_int_equal(unwind_table_find(t, TEXT + 48), 0);
	assert_int_equal(rules->left_out, 2);
	unwind_table_free(t);
	unwind_rules_free(rules);
}

TEST(test_truncated)
{
	for (size_t size = 0; size <= sizeof(made); size++) {
		uint8_t *copy = malloc(size + !size);
		struct unwind_rules *rules;
		struct unwind_table *t;
		struct cfi *cfi;

		memcpy(copy, made, size);
		const struct cfi_input in = {.eh_frame = {copy, size, EH}};
		assert_null(unwind_rules_new(100, &rules));
		assert_null(cfi_new(&in, &cfi));
		assert_null(unwind_table_of_cfi(cfi, false, rules, &t));
		assert_true(size >= 128 || !unwind_table_find(t, TEXT + 48));
		unwind_table_free(t);
		cfi_free(cfi);
		unwind_rules_free(rules);
		free(copy);
	}
}

/* ---- beside libdw ---- */

#if defined(__aarch64__)
enum { SP = ARM64_REG_SP, FP = ARM64_REG_FP, RA = ARM64_REG_LR, MACHINE = EM_AARCH64 };
#else
enum { SP = X86_REG_SP, FP = X86_REG_BP, RA = 16, MACHINE = EM_X86_64 };
#endif

/* "REG + offset", "the word at REG + offset"; false: something else. */
static bool dw_location(const Dwarf_Op *ops, size_t n, unsigned *reg, int64_t *offset, bool *deref)
{
	if (!n || n > 2)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		*reg = (unsigned)ops[0].number;
		*offset = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		*reg = ops[0].atom - DW_OP_breg0;
		*offset = (int64_t)ops[0].number;
	} else {
		return false;
	}
	*deref = n == 2;
	return n == 1 || ops[1].atom == DW_OP_deref;
}

static enum perf_bpf_unwind_where dw_where(Dwarf_Frame *frame, int wanted, int64_t *offset,
					   bool *is_undefined)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t n = 0;
	unsigned reg;
	bool deref;

	*offset = 0;
	assert_int_equal(dwarf_frame_register(frame, wanted, mem, &ops, &n), 0);
	*is_undefined = !n && ops;
	if (!n)
		return ops ? PERF_BPF_REG_LOST : PERF_BPF_REG_SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa || ops[n - 1].atom == DW_OP_stack_value)
		return PERF_BPF_REG_LOST;
	if (n == 1)
		return PERF_BPF_REG_AT_CFA;
	if (n == 2 && ops[1].atom == DW_OP_plus_uconst) {
		*offset = (int64_t)ops[1].number;
		return PERF_BPF_REG_AT_CFA;
	}
	if (dw_location(ops + 1, n - 1, &reg, offset, &deref) && !deref && (reg == SP || reg == FP))
		return reg == SP ? PERF_BPF_REG_AT_SP : PERF_BPF_REG_AT_FP;
	*offset = 0;
	return PERF_BPF_REG_LOST;
}

/* What the table should have; false: a rule cannot express it. */
static bool dw_rule(Dwarf_Frame *frame, bool is_signal, struct perf_bpf_unwind_rule *rule)
{
	int64_t cfa = 0, ra, fp;
	Dwarf_Op *ops;
	unsigned reg;
	bool deref, is_outmost;
	size_t n;

	*rule = (struct perf_bpf_unwind_rule){.is_signal = is_signal};
	rule->fp = dw_where(frame, FP, &fp, &is_outmost);
	rule->ra = dw_where(frame, RA, &ra, &is_outmost);
	rule->ra_offset = (int32_t)ra;
	rule->fp_offset = (int32_t)fp;
	if (rule->ra == PERF_BPF_REG_LOST && !is_outmost)
		return false;
	if (is_outmost) {
		*rule = (struct perf_bpf_unwind_rule){.cfa = PERF_BPF_CFA_END};
		return true;
	}
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	if (n == 9 && ops[0].atom == DW_OP_breg7 && ops[5].atom == DW_OP_ge) {
		rule->cfa = PERF_BPF_CFA_PLT;
		rule->cfa_offset = (int32_t)ops[0].number;
		rule->fp_offset = ops[4].atom - DW_OP_lit0;
		return true;
	}
	if (n == 3 && ops[1].atom == DW_OP_deref && ops[2].atom == DW_OP_plus_uconst) {
		rule->cfa_more = (uint32_t)ops[2].number;
		n = 2;
	}
	if (!dw_location(ops, n, &reg, &cfa, &deref) || (reg != SP && reg != FP))
		return false;
	rule->cfa_offset = (int32_t)cfa;
	rule->cfa = reg == SP ? (deref ? PERF_BPF_CFA_AT_SP : PERF_BPF_CFA_SP)
			      : (deref ? PERF_BPF_CFA_AT_FP : PERF_BPF_CFA_FP);
	return true;
}

static void check_rule(const char *path, uint64_t addr, const struct perf_bpf_unwind_rule *got,
		       const struct perf_bpf_unwind_rule *wanted)
{
	if (memcmp(got, wanted, sizeof(*got)))
		fail_msg("%s: %#llx: cfa %u%+d, ra %u%+d, fp %u%+d; libdw: cfa %u%+d, ra %u%+d, "
			 "fp %u%+d",
			 path, (unsigned long long)addr, got->cfa, got->cfa_offset, got->ra,
			 got->ra_offset, got->fp, got->fp_offset, wanted->cfa, wanted->cfa_offset,
			 wanted->ra, wanted->ra_offset, wanted->fp, wanted->fp_offset);
}

static size_t compare_with_libdw(const char *path, Dwarf_CFI *cfi, const struct unwind_table *t,
				 const struct unwind_rules *rules)
{
	static const struct perf_bpf_unwind_rule unknown;
	const uint64_t end = t->base + vec_last(&t->rows)->pc;
	size_t n = 0, not_expressible = 0;

	for (uint64_t addr = t->base; addr < end;) {
		Dwarf_Addr from, to;
		Dwarf_Frame *frame;
		struct perf_bpf_unwind_rule wanted;
		bool is_signal;

		if (dwarf_cfi_addrframe(cfi, addr, &frame)) {
			const size_t next =
				count_before(t->rows.n, i, t->base + t->rows.v[i].pc <= addr);

			if (unwind_table_find(t, addr))
				fail_msg("%s: %#llx has a rule, but not for libdw", path,
					 (unsigned long long)addr);
			addr = t->base + t->rows.v[next].pc;
			continue;
		}
		dwarf_frame_info(frame, &from, &to, &is_signal);
		if (!dw_rule(frame, is_signal, &wanted)) {
			wanted = unknown;
			not_expressible++;
		}
		check_rule(path, addr, rule_at(t, rules, addr), &wanted);
		check_rule(path, to - 1, rule_at(t, rules, to - 1), &wanted);
		free(frame);
		assert_true(to > addr);
		addr = to;
		n++;
	}
	assert_true(not_expressible >= t->not_expressible);
	assert_true(not_expressible * 50 < n);
	return n;
}

TEST(test_beside_libdw)
{
	static const char *const paths[] = {
		"/proc/self/exe",
		"/bin/bash",
		"/usr/bin/python3",
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/ld-linux-aarch64.so.1",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/aarch64-linux-gnu/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/aarch64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	};
	struct unwind_rules *rules;
	size_t n = 0;

	elf_version(EV_CURRENT);
	assert_null(unwind_rules_new(100000, &rules));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_(unwind_image_freep) struct unwind_image *image = NULL;
		_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
		struct elf_file *file;
		const int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		assert_null(pb_elf_file_open_parts(paths[i], unwind_image_wants, &file));
		if (pb_elf_file_machine(file) != MACHINE) { /* an emulator's host has those */
			pb_elf_file_free(file);
			close(fd);
			continue;
		}
		assert_null(unwind_image_of_file(file, &image));
		image->plt.n = 0; /* libdw does not know them */
		assert_null(unwind_table_new(image, rules, &table));
		Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
		assert_non_null(cfi);
		n += compare_with_libdw(paths[i], cfi, table, rules);
		dwarf_cfi_end(cfi);
		elf_end(elf);
		close(fd);
	}
	print_message("%zu rows, %zu rules\n", n, rules->rules.n);
	assert_true(n > 1000);
	assert_int_equal(rules->left_out, 0);
	unwind_rules_free(rules);
}

/* The PLTs of linkers that make no unwind information for them. */
TEST(test_plt)
{
	struct plt_range plts[] = {{TEXT - 0x60, 0x40, true}, {TEXT - 0x20, 0x20, false}};
	const struct cfi_input in = {.eh_frame = {made, sizeof(made), EH}};
	struct unwind_image image = {.plt = {plts, ARRAY_SIZE(plts), ARRAY_SIZE(plts)}};
	struct unwind_rules *rules;
	struct unwind_table *t;

	assert_null(unwind_rules_new(100, &rules));
	assert_null(cfi_new(&in, &image.cfi));
	assert_null(unwind_table_new(&image, rules, &t));
	assert_int_equal(t->base, TEXT - 0x60);
	for (uint64_t addr = TEXT - 0x60; addr < TEXT; addr++) {
		const struct perf_bpf_unwind_rule *rule = rule_at(t, rules, addr);
		uint8_t pushed;

		assert_true(unwind_image_plt(&image, addr, &pushed));
		uint64_t cfa = (uint64_t)rule->cfa_offset;
		if (rule->cfa == PERF_BPF_CFA_PLT)
			cfa += 8 * ((addr & 15) >= (uint64_t)rule->fp_offset);
		else
			assert_int_equal(rule->cfa, PERF_BPF_CFA_SP);
		assert_int_equal(cfa, 8 * (pushed + 1));
	}
	assert_int_equal(rule_at(t, rules, TEXT)->cfa_offset, 8);
	unwind_table_free(t);
	cfi_free(image.cfi);
	unwind_rules_free(rules);
}
