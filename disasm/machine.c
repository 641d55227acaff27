// SPDX-License-Identifier: BSD-2-Clause
/*
 * Machine code as text, by capstone. Its state and the room for one instruction
 * are made once.
 */
#include "disasm/disasm.h"

#ifdef HAVE_CAPSTONE
#define bpf_insn capstone_bpf_insn /* an enumeration of capstone 5 */
#include <capstone/capstone.h>
#undef bpf_insn
#include <stdio.h>
#include <stdlib.h>

struct disasm_machine {
	csh handle;
	cs_insn *insn; /* room for one */
	char byte[8];  /* of what is no instruction */
};

#if defined(__x86_64__)
#define MACHINE CS_ARCH_X86, CS_MODE_64
#define UNIT	1
#define TARGET(insn)                                                                               \
	((insn)->detail->x86.op_count == 1 && (insn)->detail->x86.operands[0].type == X86_OP_IMM   \
		 ? &(insn)->detail->x86.operands[0].imm                                            \
		 : NULL)
#elif defined(__aarch64__)
#define MACHINE CS_ARCH_ARM64, CS_MODE_ARM
#define UNIT	4
#define TARGET(insn)                                                                               \
	((insn)->detail->arm64.op_count &&                                                         \
			 (insn)->detail->arm64.operands[(insn)->detail->arm64.op_count - 1]        \
					 .type == ARM64_OP_IMM                                     \
		 ? &(insn)->detail->arm64.operands[(insn)->detail->arm64.op_count - 1].imm         \
		 : NULL)
#endif
#endif

#ifdef MACHINE

void disasm_machine_free(struct disasm_machine *m)
{
	if (!m)
		return;
	if (m->insn)
		cs_free(m->insn, 1);
	if (m->handle)
		cs_close(&m->handle);
	free(m);
}

struct error *disasm_machine_new(struct disasm_machine **out)
{
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return error_nomem();
	cs_err code = cs_open(MACHINE, &m->handle);
	if (code)
		return error_new(ENOTSUP, "capstone does not disassemble this machine's code: %s",
				 cs_strerror(code));
	/* other machines have one notation only */
	cs_option(m->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	cs_option(m->handle, CS_OPT_DETAIL, CS_OPT_ON);
	m->insn = cs_malloc(m->handle);
	if (!m->insn)
		return error_nomem();
	*out = steal_ptr(m);
	return NULL;
}

bool disasm_machine_next(struct disasm_machine *m, struct cursor *c, uint64_t addr,
			 struct disasm_machine_insn *insn)
{
	const uint8_t *at = c->base + c->pos;
	size_t left = cursor_left(c);

	if (!left)
		return false;
	*insn = (struct disasm_machine_insn){0};
	if (!cs_disasm_iter(m->handle, &at, &left, &addr, m->insn)) {
		const uint8_t *byte = cursor_bytes(c, 1);

		snprintf(m->byte, sizeof(m->byte), "0x%02x", *byte);
		insn->operation = ".byte";
		insn->operands = m->byte;
		return true;
	}
	cursor_skip(c, m->insn->size);
	insn->operation = m->insn->mnemonic;
	insn->operands = m->insn->op_str;
	const int64_t *target = TARGET(m->insn);
	if (target && (cs_insn_group(m->handle, m->insn, CS_GRP_JUMP) ||
		       cs_insn_group(m->handle, m->insn, CS_GRP_CALL))) {
		insn->has_target = true;
		insn->target = (uint64_t)*target;
	}
	return true;
}

#else

struct error *disasm_machine_new(struct disasm_machine **out)
{
#ifdef HAVE_CAPSTONE
	return error_hint(error_new(ENOTSUP,
				    "cannot disassemble machine code of this architecture"),
			  "write it to a file with 'file FILE'");
#else
	return error_hint(error_new(ENOTSUP, "this perf-bpf was built without capstone, so it "
					     "cannot disassemble machine code"),
			  "install libcapstone-dev and build again, or write the code to a file "
			  "with 'file FILE' and run: objdump -D -b binary -m i386:x86-64 FILE");
#endif
}

void disasm_machine_free(struct disasm_machine *m)
{
}

bool disasm_machine_next(struct disasm_machine *m, struct cursor *c, uint64_t addr,
			 struct disasm_machine_insn *insn)
{
	return false;
}

#endif
