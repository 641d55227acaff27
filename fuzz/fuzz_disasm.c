// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes are code: each slot is shown once, in bounded text. As machine code of each machine,
 * each byte belongs to one instruction.
 */
#include <elf.h>
#include <stdlib.h>

#include "disasm/disasm.h"
#include "lib/attach/uprobe_insn.h"

static bool name_call(void *ctx, const struct bpf_insn *insn, struct strbuf *out)
{
	if (insn->imm & 1)
		return false;
	strbuf_adds(out, "named");
	return true;
}

static bool name_constant(void *ctx, const struct bpf_insn *insn, uint64_t value,
			  struct strbuf *out)
{
	if (value & 1)
		return false;
	strbuf_adds(out, "named");
	return true;
}

static void read_machine_code(const struct disasm_machine_opts *opts, const uint8_t *data,
			      size_t size)
{
	struct cursor c = cursor_make(data, size, "input");
	struct disasm_machine *m = NULL;
	struct disasm_machine_insn insn;
	size_t before = 0;

	for (size_t at = 0; at < size; at++)
		uprobe_insn_obstacle(opts->machine, data + at, size - at);
	struct error *err = disasm_machine_new(opts, &m);
	if (err) /* built without capstone */
		goto out;
	while (disasm_machine_next(m, &c, 0xffffffff81000000 + c.pos, &insn)) {
		if (c.pos <= before || strlen(insn.operation) + strlen(insn.operands) > 500)
			abort();
		before = c.pos;
	}
	if (!cursor_end(&c))
		abort();
out:
	error_free(err);
	disasm_machine_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct disasm_names names = {name_call, name_constant, NULL};
	struct cursor c = cursor_make(data, size, "input");
	struct strbuf out = STRBUF_INIT;
	size_t n = 0, before = 0;

	while (disasm_bpf(&c, n & 1 ? &names : NULL, &out)) {
		if (c.pos <= before || out.len > ++n * 100)
			abort();
		before = c.pos;
	}
	if (cursor_left(&c) >= 8)
		abort();
	strbuf_deinit(&out);
	for (size_t i = 0; i < size; i++)
		if (disasm_x86_length(data + i, size - i, i & 1) > size - i)
			abort();
	read_machine_code(&(struct disasm_machine_opts){.machine = EM_X86_64}, data, size);
	read_machine_code(&(struct disasm_machine_opts){.machine = EM_386, .intel = true}, data,
			  size);
	read_machine_code(&(struct disasm_machine_opts){.machine = EM_AARCH64}, data, size);
	return 0;
}
