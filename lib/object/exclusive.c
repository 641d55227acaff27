// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exclusive maps (6.18): a map is created with the SHA-256 of the one program
 * that may use it. The kernel computes it over the instructions it is given at
 * load, with the descriptors of maps and the offsets into their values taken
 * for zero (kernel/bpf/core.c, bpf_prog_calc_tag()). Maps are created before
 * programs get their descriptors, so the program is patched in a copy, as it
 * will be.
 */
#include "lib/object/prepare.h"

#include <string.h>

static bool refers_to_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE);
}

struct error *exclusive_digest(struct bpf_program *prog, uint8_t digest[SHA256_BYTES])
{
	const size_t size = prog->n_insns * sizeof(*prog->insns);
	_cleanup_free_ struct bpf_insn *insns = malloc(size ? size : 1);

	if (!insns)
		return error_nomem();
	memcpy(insns, prog->insns, size);
	if (prog->owned_insns)
		TRY(program_error_at(prog, program_patch(prog, insns, true)));
	for (size_t i = 0; i + 1 < prog->n_insns; i++) {
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (refers_to_map(&insns[i]))
			insns[i].imm = insns[i + 1].imm = 0;
		i++; /* the other half */
	}
	sha256(insns, size, digest);
	return NULL;
}

int bpf_map__set_exclusive_program(struct bpf_map *map, struct bpf_program *prog)
{
	if (!map || map->fd >= 0 || (prog && prog->obj != map->obj))
		return edge_errno(EINVAL);
	map->exclusive = prog;
	return 0;
}

struct bpf_program *bpf_map__exclusive_program(struct bpf_map *map)
{
	return map->exclusive;
}
