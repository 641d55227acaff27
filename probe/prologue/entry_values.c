// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values at function entry. A second program, at the function's first instruction, keeps the
 * registers of its parameters in a map, by the process, the function and the frame's CFA. The CFA
 * is the same at every instruction of one call, and no two calls that are active have one in
 * common: recursion, threads and coroutines that change threads need no care. A later call with the
 * same CFA writes over what was kept. What is not there, because the function was entered before
 * the probe was attached, or its memory was taken for others, cannot be read.
 */
#include "probe/prologue/internal.h"

#include <errno.h>
#include <stddef.h>

/* r0 = the process's id */
static void emit_tgid(struct prologue_gen *g)
{
	emit_call(g, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(g, BPF_RSH, R0, 32);
}

static void emit_key(struct prologue_gen *g, uint64_t function)
{
	emit_tgid(g);
	emit_store(g, g->entry_key + (int32_t)offsetof(struct prologue_entry_key, tgid), R0, 4);
	emit_store_imm(g, g->entry_key + (int32_t)offsetof(struct prologue_entry_key, function),
		       (int32_t)(uint32_t)function, 4);
}

struct error *entry_value(struct prologue_gen *g, const struct fetch_insn *insn)
{
	TRY(stack_need(g, 1));
	const size_t i = g->depth - 1;

	if (insn->reg >= FETCH_ENTRY_REGS)
		return error_new(EINVAL, "its expression needs parameter %u", insn->reg + 1);
	emit_store(g, g->entry_key + (int32_t)offsetof(struct prologue_entry_key, cfa),
		   entry_read(g, i, R1), 8);
	emit_key(g, (uint64_t)insn->imm);
	emit_wide(g, R1, BPF_PSEUDO_MAP_FD, g->way->entries, 0);
	emit_stack_address(g, R2, g->entry_key);
	emit_call(g, BPF_FUNC_map_lookup_elem);
	emit_mov(g, R1, R0);
	emit_fail_if_zero(g, R1, ENOENT);
	emit_load(g, R1, R1, (int32_t)insn->reg * 8, 8);
	entry_write(g, i, R1);
	return NULL;
}

/* From the stack pointer to the CFA, at the first instruction: a call may push an address. */
static int32_t cfa_offset(const struct regs *regs)
{
	uint16_t param;
	size_t n = 0;

	while (regs_param(regs, n, &param))
		n++;
	return (int32_t)regs_param_on_stack(regs, n);
}

struct error *prologue_entry_program(const struct regs *regs, uint64_t address, int map_fd,
				     struct prologue *out)
{
	struct prologue_gen g = {
		.entry_key = -(int32_t)sizeof(struct prologue_entry_key),
	};
	const int32_t values = g.entry_key - (int32_t)sizeof(struct prologue_entry);
	uint16_t param, off;

	emit_mov(&g, CTX, R1);
	emit_key(&g, address);
	if (!regs_offset(regs, regs_stack(regs), &off))
		return error_new(EOPNOTSUPP, "the stack pointer is not known");
	emit_load(&g, R1, CTX, off, 8);
	emit_alu_imm(&g, BPF_ADD, R1, cfa_offset(regs));
	emit_store(&g, g.entry_key + (int32_t)offsetof(struct prologue_entry_key, cfa), R1, 8);
	for (size_t i = 0; i < FETCH_ENTRY_REGS; i++) {
		const int32_t at = values + (int32_t)i * 8;

		if (regs_param(regs, i, &param) && regs_offset(regs, param, &off)) {
			emit_load(&g, R1, CTX, off, 8);
			emit_store(&g, at, R1, 8);
		} else {
			emit_store_imm(&g, at, 0, 8);
		}
	}
	emit_wide(&g, R1, BPF_PSEUDO_MAP_FD, map_fd, 0);
	emit_stack_address(&g, R2, g.entry_key);
	emit_stack_address(&g, R3, values);
	emit_alu_imm(&g, BPF_MOV, R4, BPF_ANY);
	emit_call(&g, BPF_FUNC_map_update_elem);
	emit_alu_imm(&g, BPF_MOV, R0, 0);
	emit_insn(&g, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
	if (g.no_memory) {
		vec_deinit(&g.code);
		return error_nomem();
	}
	out->insns = g.code.v;
	out->n = g.code.n;
	return NULL;
}
