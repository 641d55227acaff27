// SPDX-License-Identifier: BSD-2-Clause
/*
 * CO-RE with both sides from the input: the size of the local BTF (2 bytes),
 * of the target's (2 bytes), relocations of 16 bytes until 'instructions'
 * begin: the count of relocations is the fifth byte. The rest is code.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/cursor.h"
#include "lib/core/core.h"

static struct btf *take_btf(struct cursor *c, uint16_t size)
{
	const void *data = cursor_bytes(c, size);

	return data ? btf__new(data, size) : NULL;
}

static void relocate(struct cursor *c, uint8_t relos, struct core *core)
{
	struct btf_core_relo relo[16];
	struct bpf_insn insns[64];
	uint8_t n = 0;
	size_t n_insns = 0;

	while (n < relos && n < ARRAY_SIZE(relo) && cursor_copy(c, &relo[n], sizeof(relo[0])))
		n++;
	while (n_insns < ARRAY_SIZE(insns) && cursor_copy(c, &insns[n_insns], sizeof(insns[0])))
		n_insns++;
	for (uint8_t i = 0; i < n; i++) {
		struct core_result res;

		error_free(core_resolve(core, &relo[i], &res));
		error_free(core_relocate(core, &relo[i], "fuzz", insns, n_insns,
					 relo[i].insn_off / 8));
	}
	for (size_t i = 0; i < n_insns; i++)
		core_explain(core, insns[i].imm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_make(data, size, "fuzz");
	uint16_t local_size, targ_size;
	uint8_t relos;

	if (!cursor_u16(&c, &local_size) || !cursor_u16(&c, &targ_size) || !cursor_u8(&c, &relos))
		return 0;
	struct btf *local = take_btf(&c, local_size), *targ = take_btf(&c, targ_size);
	if (local && targ) {
		const struct btf *targets[] = {targ};
		struct core *core = NULL;

		error_free(core_new(local, targets, 1, &core));
		if (core)
			relocate(&c, relos, core);
		core_free(core);
	}
	btf__free(local);
	btf__free(targ);
	return 0;
}
