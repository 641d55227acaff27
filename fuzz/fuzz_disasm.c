// SPDX-License-Identifier: BSD-2-Clause
/* Any bytes are code: each slot is shown once, in bounded text. */
#include <stdlib.h>

#include "disasm/disasm.h"

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
	return 0;
}
