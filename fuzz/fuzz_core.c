// SPDX-License-Identifier: BSD-2-Clause
/*
 * CO-RE with both sides from the input: the size of the local BTF (2 bytes),
 * of the target's (2 bytes), relocations of 16 bytes until 'instructions'
 * begin: the count of relocations is the fifth byte. The rest is code. A count
 * above 127 says that the target has a module: the size of its split BTF is in
 * the next 2 bytes, its bytes behind the target's; the count is what is left.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/cursor.h"
#include "lib/base/strbuf.h"
#include "lib/core/core.h"

static struct error *give_module(void *ctx, struct core_modules *modules)
{
	static const char *const names[] = {"fuzzed"};

	*modules = (struct core_modules){.btfs = ctx, .names = names, .n = 1};
	return NULL;
}

static struct btf *take_btf(struct cursor *c, uint16_t size, struct btf *base)
{
	const void *data = cursor_bytes(c, size);

	return data ? btf__new_split(data, size, base) : NULL;
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
		if (core_explain(core, insns[i].imm)) {
			struct strbuf near = STRBUF_INIT;

			error_free(core_nearest(core, insns[i].imm, &near));
			strbuf_deinit(&near);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_make(data, size, "fuzz");
	uint16_t local_size, targ_size;
	uint16_t module_size = 0;
	uint8_t relos;

	if (!cursor_u16(&c, &local_size) || !cursor_u16(&c, &targ_size) || !cursor_u8(&c, &relos))
		return 0;
	if (relos & 0x80 && !cursor_u16(&c, &module_size))
		return 0;
	struct btf *local = take_btf(&c, local_size, NULL), *targ = take_btf(&c, targ_size, NULL);
	struct btf *module = targ && module_size ? take_btf(&c, module_size, targ) : NULL;
	if (local && targ) {
		struct core *core = NULL;

		error_free(core_new(local, targ, &core));
		if (core && module)
			core_set_modules(core, give_module, &module);
		if (core)
			relocate(&c, relos & 0x7f, core);
		core_free(core);
	}
	btf__free(module);
	btf__free(local);
	btf__free(targ);
	return 0;
}
