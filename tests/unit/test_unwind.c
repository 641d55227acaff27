// SPDX-License-Identifier: BSD-2-Clause
/* Call frame information made by hand: its rows, and the steps that they lead to. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/util.h"
#include "perf/unwind/step.h"

#define TEXT 0x401000 /* the function: 0x40 bytes */
#define EH   0x500000 /* .eh_frame */

/* A function that pushes rbp and rbx, and pops both at its end. */
static const uint8_t eh_frame[] = {
	/* CIE: 20 bytes behind its length */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0,
	0, /* def_cfa rsp+8; ra at cfa-8 */
	/* FDE at 24: the CIE is 28 bytes before its second word */
	36, 0, 0, 0, 28, 0, 0, 0, 0xe0, 0x0f, 0xf0, 0xff, /* TEXT - (EH + 32) */
	0x40, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x86, 2,	  /* +1: cfa rsp+16, rbp at cfa-16 */
	0x44, 0x0d, 6, 0x83, 3,				  /* +5: cfa rbp+16, rbx at cfa-24 */
	0x02, 0x30, 0x0a, 0x0c, 7, 8, 0x0e, 8,		  /* +0x35: remember; cfa rsp+8 */
	0x41, 0x0b, 0, 0, 0,				  /* +0x36: restore */
	0, 0, 0, 0,					  /* the end of the list */
};

/* The header's table: one function. */
static const uint8_t eh_frame_hdr[] = {
	1,    0x1b, 3, 0x3b, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x10, 0xf0, 0xff, /* TEXT - EH_HDR */
	0x18, 0,    0, 0,						  /* EH + 24 - EH_HDR */
};

static struct cfi *cfi_of(const uint8_t *bytes, size_t size, bool with_header)
{
	struct cfi_input in = {.eh_frame = {bytes, size, EH}};
	struct cfi *cfi;

	if (with_header)
		in.eh_frame_hdr = (struct cfi_section){eh_frame_hdr, sizeof(eh_frame_hdr), EH};
	assert_null(cfi_new(&in, &cfi));
	return cfi;
}

static const struct cfi_rule *rule_of(const struct cfi_row *row, unsigned reg)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->rules[i].reg == reg)
			return &row->rules[i];
	return NULL;
}

static void check_rows(struct cfi *cfi)
{
	struct cfi_row row;

	assert_false(cfi_find(cfi, TEXT - 1, &row));
	assert_false(cfi_find(cfi, TEXT + 0x40, &row));

	assert_true(cfi_find(cfi, TEXT, &row));
	assert_int_equal(row.cfa.kind, CFI_IS_CFA);
	assert_int_equal(row.cfa.reg, X86_REG_SP);
	assert_int_equal(row.cfa.offset, 8);
	assert_int_equal(row.return_reg, 16);
	assert_int_equal(row.n, 1);
	assert_int_equal(rule_of(&row, 16)->offset, -8);

	assert_true(cfi_find(cfi, TEXT + 4, &row));
	assert_int_equal(row.cfa.offset, 16);
	assert_int_equal(rule_of(&row, X86_REG_BP)->offset, -16);

	assert_true(cfi_find(cfi, TEXT + 5, &row));
	assert_int_equal(row.cfa.reg, X86_REG_BP);
	assert_int_equal(rule_of(&row, 3)->offset, -24);

	assert_true(cfi_find(cfi, TEXT + 0x35, &row));
	assert_int_equal(row.cfa.reg, X86_REG_SP);
	assert_int_equal(row.cfa.offset, 8);

	assert_true(cfi_find(cfi, TEXT + 0x3f, &row));
	assert_int_equal(row.cfa.reg, X86_REG_BP);
	assert_int_equal(row.n, 3);
}

TEST(test_rows)
{
	for (int with_header = 0; with_header < 2; with_header++) {
		struct cfi *cfi = cfi_of(eh_frame, sizeof(eh_frame), with_header);

		check_rows(cfi);
		cfi_free(cfi);
	}
}

/* The same in .debug_frame, where a CIE has other marks and an FDE has its offset. */
static const uint8_t debug_frame[] = {
	/* CIE of version 4: no augmentation, addresses of 8 bytes */
	16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1,
	/* FDE: the CIE at 0, TEXT, 0x40 bytes */
	44, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x40, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, /**/
	0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0d, 6, 0x83, 3, 0x02, 0x30, 0x0a, 0x0c, 7, 8, 0x0e, 8,
	0x41, 0x0b, 0, 0, 0, 0, /**/
};

TEST(test_rows_of_debug_frame)
{
	struct cfi_input in = {.debug_frame = {debug_frame, sizeof(debug_frame), 0}};
	struct cfi *cfi;
	struct cfi_row row;

	assert_null(cfi_new(&in, &cfi));
	check_rows(cfi);
	assert_true(cfi_find(cfi, TEXT, &row));
	assert_true(row.in_debug_frame);
	cfi_free(cfi);
}

/* Each prefix, in a block of its own, so that the sanitizers see what is read behind it. */
TEST(test_truncated)
{
	for (size_t size = 0; size < sizeof(eh_frame) - 4; size++) {
		uint8_t *copy = malloc(size + !size);
		struct cfi_row row;

		memcpy(copy, eh_frame, size);
		for (int with_header = 0; with_header < 2; with_header++) {
			struct cfi *cfi = cfi_of(copy, size, with_header);

			assert_false(cfi_find(cfi, TEXT + 0x35, &row));
			cfi_free(cfi);
		}
		free(copy);
	}
}

/* Instructions that no row may be made of. */
TEST(test_damaged)
{
	static const struct {
		const char *what;
		uint8_t bytes[5];
	} cases[] = {
		{"an unknown instruction", {0x3f}},
		{"restore without remember", {0x0b}},
		{"a CFA of a register that there is not", {0x0c, 0x50, 8}},
		{"an offset that does not end", {0x0e, 0x80, 0x80, 0x80, 0x80}},
		{"an expression that is longer than the program", {0x0f, 100}},
		{"a pointer authentication code", {0x2d}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t copy[sizeof(eh_frame)];
		struct cfi_row row;

		memcpy(copy, eh_frame, sizeof(copy));
		memset(copy + 41, 0, 23);
		memcpy(copy + (cases[i].bytes[1] == 0x80 ? 59 : 41), cases[i].bytes, 5);
		struct cfi *cfi = cfi_of(copy, sizeof(copy), true);
		if (cfi_find(cfi, TEXT + 0x10, &row))
			fail_msg("%s made a row", cases[i].what);
		cfi_free(cfi);
	}
}

struct walked {
	uint64_t words[16];
	struct stack_copy stack;
	struct frame_regs regs, next;
};

static void start(struct walked *w, uint64_t sp)
{
	*w = (struct walked){.stack = {.start = sp}};
	w->stack.bytes = cursor_make(w->words, sizeof(w->words), NULL);
	w->regs.value[X86_REG_SP] = sp;
	w->regs.known = 1u << X86_REG_SP;
	w->regs.pc = TEXT;
}

TEST(test_steps)
{
	struct cfi *cfi = cfi_of(eh_frame, sizeof(eh_frame), true);
	struct cfi_row row;
	struct walked w;
	uint64_t v;

	/* At the start the return address is on top. */
	start(&w, 0x7000);
	w.words[0] = 0x402000;
	assert_true(cfi_find(cfi, TEXT, &row));
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_CALLER);
	assert_int_equal(w.next.pc, 0x402000);
	assert_true(frame_reg(&w.next, X86_REG_SP, &v));
	assert_int_equal(v, 0x7008);

	/* In the body it is behind rbp, which is not known here. */
	assert_true(cfi_find(cfi, TEXT + 0x10, &row));
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_FAILED);
	assert_false(w.stack.missed);
	w.regs.value[X86_REG_BP] = 0x7010;
	w.regs.known |= 1u << X86_REG_BP;
	w.words[1] = 0xb; /* rbx */
	w.words[2] = 0x7100;
	w.words[3] = 0x403000;
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_CALLER);
	assert_int_equal(w.next.pc, 0x403000);
	assert_true(frame_reg(&w.next, 3, &v));
	assert_int_equal(v, 0xb);
	assert_true(frame_reg(&w.next, X86_REG_BP, &v));
	assert_int_equal(v, 0x7100);

	/* Behind the copy: cut. */
	w.regs.value[X86_REG_BP] = 0x7000 + sizeof(w.words) - 8;
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_FAILED);
	assert_true(w.stack.missed);
	/* Down the stack: the walk might never end. */
	w.regs.value[X86_REG_BP] = 0x6000;
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_FAILED);

	/* At the end rbp and rbx were popped: they are below the stack pointer. */
	start(&w, 0x7000);
	w.words[0] = 0x402000;
	w.regs.value[X86_REG_BP] = 0x7200;
	w.regs.known |= 1u << X86_REG_BP;
	assert_true(cfi_find(cfi, TEXT + 0x35, &row));
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_CALLER);
	assert_true(frame_reg(&w.next, X86_REG_BP, &v));
	assert_int_equal(v, 0x7200);
	/* No caller. */
	w.words[0] = 0;
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_OUTMOST);
	cfi_free(cfi);
}

TEST(test_steps_without_rows)
{
	struct walked w;
	uint64_t v;

	start(&w, 0x7000);
	w.words[1] = 0x402000;
	assert_int_equal(step_at_entry(&w.stack, &w.regs, 1, &w.next), STEP_CALLER);
	assert_int_equal(w.next.pc, 0x402000);
	assert_true(frame_reg(&w.next, X86_REG_SP, &v));
	assert_int_equal(v, 0x7010);

	w.regs.known |= 1u << X86_REG_BP;
	w.regs.value[X86_REG_BP] = 0x7010;
	w.words[2] = 0x7040;
	w.words[3] = 0x403000;
	assert_int_equal(step_by_frame_pointer(&w.stack, &w.regs, &w.next), STEP_CALLER);
	assert_int_equal(w.next.pc, 0x403000);
	w.words[2] = 0x7010; /* it leads to itself */
	assert_int_equal(step_by_frame_pointer(&w.stack, &w.regs, &w.next), STEP_FAILED);
	w.regs.value[X86_REG_BP] = 0x6ff0;
	assert_int_equal(step_by_frame_pointer(&w.stack, &w.regs, &w.next), STEP_FAILED);
	w.regs.value[X86_REG_BP] = 0x7011;
	assert_int_equal(step_by_frame_pointer(&w.stack, &w.regs, &w.next), STEP_FAILED);
}

/* A function of arm64 that signs its return address and saves it with the frame pointer. */
static const uint8_t arm64_frame[] = {
	/* CIE: factors 4 and -8, the return address is x30 */
	16,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	'z',
	'R',
	0,
	4,
	0x78,
	30,
	1,
	0x1b,
	0x0c,
	31,
	0,
	/* FDE at 20 */
	28,
	0,
	0,
	0,
	24,
	0,
	0,
	0,
	0xe4,
	0x0f,
	0xf0,
	0xff, /* TEXT - (EH + 28) */
	0x40,
	0,
	0,
	0,
	0,
	0x41,
	0x2d, /* +4: signed */
	0x41,
	0x0e,
	32,
	0x9d,
	4,
	0x9e,
	3, /* +8: cfa sp+32, x29 at cfa-32, x30 at cfa-24 */
	0,
	0,
	0,
	0,
	0,
	0,
	0,
};

TEST(test_arm64)
{
	struct cfi_input in = {.eh_frame = {arm64_frame, sizeof(arm64_frame), EH},
			       .is_arm64 = true};
	struct cfi_row row;
	struct walked w;
	struct cfi *cfi;
	uint64_t v;

	assert_null(cfi_new(&in, &cfi));
	start(&w, 0x7000);
	w.stack.is_arm64 = true;
	w.regs.known = 1ull << ARM64_REG_SP | 1ull << ARM64_REG_FP | 1ull << ARM64_REG_LR;
	w.regs.value[ARM64_REG_SP] = 0x7000;
	w.regs.value[ARM64_REG_LR] = 0x402000;

	/* At the start and in a leaf it is in the link register; the stack pointer is the same. */
	assert_true(cfi_find(cfi, TEXT, &row));
	assert_false(row.is_signed);
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_CALLER);
	assert_int_equal(w.next.pc, 0x402000);
	/* But the caller must be another: a second leaf would lead to itself. */
	w.regs.pc = 0x402000;
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_FAILED);
	w.regs.pc = TEXT;

	/* In the body it is on the stack, with its authentication code. */
	w.words[0] = 0x7100;
	w.words[1] = 0x0035000000403000;
	assert_true(cfi_find(cfi, TEXT + 8, &row));
	assert_true(row.is_signed);
	assert_int_equal(step_by_row(cfi, &row, &w.stack, &w.regs, &w.next), STEP_CALLER);
	assert_int_equal(w.next.pc, 0x403000);
	assert_true(frame_reg(&w.next, ARM64_REG_FP, &v));
	assert_int_equal(v, 0x7100);
	assert_true(frame_reg(&w.next, ARM64_REG_SP, &v));
	assert_int_equal(v, 0x7020);
	cfi_free(cfi);
}

static bool evaluate(struct walked *w, const uint8_t *bytes, size_t size, uint64_t *v)
{
	const uint64_t cfa = 0x7020;

	return cfi_evaluate(cursor_make(bytes, size, NULL), &w->stack, &w->regs, &cfa, v);
}
#define EVALUATE(w, v, ...)                                                                        \
	evaluate(w, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), v)

TEST(test_expressions)
{
	struct walked w;
	uint64_t v;

	start(&w, 0x7000);
	w.words[4] = 0x1234567890;
	/* GNU ld's of the PLT: rsp + 8 + ((rip & 15) >= 11) * 8 */
	for (unsigned at = 0; at < 16; at++) {
		w.regs.pc = TEXT + at;
		assert_true(EVALUATE(&w, &v, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
				     0x22));
		assert_int_equal(v, at >= 11 ? 0x7010 : 0x7008);
	}
	assert_true(EVALUATE(&w, &v, 0x06)); /* what is at the CFA */
	assert_int_equal(v, 0x1234567890);
	assert_true(EVALUATE(&w, &v, 0x94, 2));
	assert_int_equal(v, 0x7890);
	assert_true(EVALUATE(&w, &v, 0x08, 7, 0x09, 0xfe, 0x1b)); /* 7 / -2 */
	assert_int_equal((int64_t)v, -3);
	assert_true(EVALUATE(&w, &v, 0x31, 0x28, 1, 0, 0x96, 0x12)); /* a jump over a nop */
	assert_int_equal(v, 0x7020);

	assert_false(EVALUATE(&w, &v, 0x2f, 0xfd, 0xff));	/* for ever */
	assert_false(EVALUATE(&w, &v, 0x2f, 0xf0, 0xff));	/* before its start */
	assert_false(EVALUATE(&w, &v, 0x30, 0x1b));		/* by zero */
	assert_false(EVALUATE(&w, &v, 0x13, 0x13));		/* of nothing */
	assert_false(EVALUATE(&w, &v, 0x12, 0x2f, 0xfc, 0xff)); /* too deep */
	assert_false(EVALUATE(&w, &v, 0x70, 0));		/* rax is not known */
	assert_false(EVALUATE(&w, &v, 0x30, 0x06));		/* not on the stack */
	assert_false(EVALUATE(&w, &v, 0x0e, 1, 2));		/* cut off */
}
