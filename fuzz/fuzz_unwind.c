// SPDX-License-Identifier: BSD-2-Clause
/*
 * A walk of a stack whose bytes, registers and call frame information are the input's: a head, the
 * words of the stack, .eh_frame_hdr, and the rest as .eh_frame or .debug_frame. A step to a caller
 * must lead up the stack, but behind a signal's trampoline. A rule of the table that is made of it
 * must be what the search for one address gives.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "perf/unwind/step.h"
#include "perf/unwind/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EH_FRAME 0x500000
#define EH_HDR	 0x600000
#define FRAMES	 127

enum { IS_ARM64 = 1, IS_SWAPPED = 2, IS_DEBUG_FRAME = 4, IS_ENTRY = 8 };

struct head {
	uint8_t flags;
	uint8_t n_words; /* of the stack */
	uint16_t hdr_size;
	uint32_t pc;
	uint64_t sp, fp, lr;
};

static void set(struct frame_regs *regs, unsigned reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1ull << reg;
}

static void walk(struct cfi *cfi, struct stack_copy *stack, struct frame_regs *regs,
		 const struct head *head)
{
	const unsigned sp_reg = stack->is_arm64 ? ARM64_REG_SP : X86_REG_SP;
	struct frame_regs next;
	struct cfi_row row;
	uint64_t sp = 0, next_sp = 0;

	for (unsigned i = 0; i < FRAMES; i++) {
		enum step_result result;
		bool is_signal = false;

		if (cfi_find(cfi, regs->pc, &row)) {
			is_signal = row.is_signal;
			result = step_by_row(cfi, &row, stack, regs, &next);
		} else if (head->flags & IS_ENTRY && !i) {
			result = step_at_entry(stack, regs, head->flags >> 6, &next);
		} else {
			result = step_by_frame_pointer(stack, regs, &next);
		}
		if (result != STEP_CALLER)
			return;
		if (!is_signal && frame_reg(regs, sp_reg, &sp) &&
		    (!frame_reg(&next, sp_reg, &next_sp) || next_sp < sp))
			__builtin_trap();
		*regs = next;
	}
}

static void check_row(struct cfi *cfi, bool is_arm64, const struct unwind_table *table,
		      const struct unwind_rules *rules, uint64_t addr)
{
	const uint32_t number = unwind_table_find(table, addr);
	struct perf_bpf_unwind_rule rule;
	struct cfi_row row;

	if (number &&
	    (!cfi_find(cfi, addr, &row) || !unwind_rule_of_row(cfi, &row, is_arm64, &rule) ||
	     memcmp(&rule, &rules->rules.v[number], sizeof(rule))))
		__builtin_trap();
}

static void make_table(struct cfi *cfi, bool is_arm64)
{
	struct unwind_rules *rules = NULL;
	struct unwind_table *table = NULL;
	struct error *err = unwind_rules_new(64, &rules);

	if (!err)
		err = unwind_table_of_cfi(cfi, is_arm64, rules, &table);
	for (size_t i = 0; table && i < table->rows.n; i++) {
		const uint64_t addr = table->base + table->rows.v[i].pc;

		if (i && table->rows.v[i].pc <= table->rows.v[i - 1].pc)
			__builtin_trap();
		check_row(cfi, is_arm64, table, rules, addr);
		if (i)
			check_row(cfi, is_arm64, table, rules, addr - 1);
	}
	error_free(err);
	unwind_table_free(table);
	unwind_rules_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_input in = {.swap = false};
	struct stack_copy stack = {0};
	struct frame_regs regs = {.known = 0};
	struct head head;
	struct cfi *cfi;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	size -= sizeof(head);
	const size_t stack_size = head.n_words * 8u, hdr_size = head.hdr_size;
	if (stack_size + hdr_size > size)
		return 0;
	const struct cfi_section frame = {data + stack_size + hdr_size,
					  size - stack_size - hdr_size, EH_FRAME};
	in.is_arm64 = stack.is_arm64 = head.flags & IS_ARM64;
	in.swap = stack.bytes.swap = head.flags & IS_SWAPPED;
	if (head.flags & IS_DEBUG_FRAME)
		in.debug_frame = frame;
	else
		in.eh_frame = frame;
	in.eh_frame_hdr = (struct cfi_section){data + stack_size, hdr_size, EH_HDR};
	stack.bytes.base = data;
	stack.bytes.size = stack_size;
	stack.start = head.sp;
	regs.pc = head.pc;
	set(&regs, stack.is_arm64 ? ARM64_REG_SP : X86_REG_SP, head.sp);
	set(&regs, stack.is_arm64 ? ARM64_REG_FP : X86_REG_BP, head.fp);
	if (stack.is_arm64)
		set(&regs, ARM64_REG_LR, head.lr);
	struct error *err = cfi_new(&in, &cfi);
	if (err) {
		error_free(err);
		return 0;
	}
	walk(cfi, &stack, &regs, &head);
	if (!hdr_size)
		make_table(cfi, in.is_arm64);
	cfi_free(cfi);
	return 0;
}
