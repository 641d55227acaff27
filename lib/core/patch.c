// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writing a result into an instruction. The compiler put the local value
 * there: the immediate of a move or of arithmetic, the offset of a load or
 * store, or both halves of a 64-bit load. It must still be there, else the
 * record belongs to another instruction.
 *
 * A field that is wider or narrower in the target changes the width of its
 * load or store too. What cannot be done poisons the instruction.
 */
#include "lib/core/internal.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/base/insn.h"

#define POISONS_MAX 100000

static bool is_ld_imm64(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Becomes a call of a helper whose number tells why. */
static struct error *poison(struct core *core, const struct btf_core_relo *relo, const char *prog,
			    const char *reason, struct bpf_insn *insns, size_t n, size_t idx)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ struct core_spec *spec = malloc(sizeof(*spec));

	if (!spec)
		return error_nomem();
	TRY(core_spec_parse(core->local, relo->type_id, relo->kind,
			    btf__str_by_offset(core->local, relo->access_str_off), spec));
	if (prog)
		strbuf_addf(&sb, "program %s, ", prog);
	strbuf_addf(&sb, "instruction %zu: ", idx);
	core_spec_describe(spec, relo->kind, &sb);
	strbuf_addf(&sb, " %s", reason);

	const struct core_cands *cands = u64map_get(&core->cands, relo->type_id);
	const bool lacks_type = cands && cands->nowhere && core->has_modules;
	if (lacks_type) {
		strbuf_addf(&sb, " or its loaded modules (%zu with BTF", core->modules.n);
		if (core->modules.unread)
			strbuf_addf(&sb, "; the BTF of %zu could not be read",
				    core->modules.unread);
		strbuf_adds(&sb, ")");
	}

	struct core_poison *slot = core->poisons.n < POISONS_MAX ? vec_push(&core->poisons) : NULL;
	if (!slot)
		return error_nomem();
	slot->relo = *relo;
	slot->lacks_type = lacks_type;
	slot->why = strbuf_steal(&sb);
	if (!slot->why) {
		core->poisons.n--;
		return error_nomem();
	}
	const struct bpf_insn call = {
		.code = BPF_JMP | BPF_CALL,
		.imm = CORE_POISON_BASE + (int32_t)(core->poisons.n - 1),
	};
	if (is_ld_imm64(&insns[idx]) && idx + 1 < n)
		insns[idx + 1] = call;
	insns[idx] = call;
	return NULL;
}

const char *core_explain(const struct core *core, int32_t imm)
{
	int64_t i = (int64_t)imm - CORE_POISON_BASE;

	return i >= 0 && i < (int64_t)core->poisons.n ? core->poisons.v[i].why : NULL;
}

bool core_lacks_type(const struct core *core, int32_t imm)
{
	int64_t i = (int64_t)imm - CORE_POISON_BASE;

	return i >= 0 && i < (int64_t)core->poisons.n && core->poisons.v[i].lacks_type;
}

/* The size bits of a code; -1: there is no such load. */
static int size_code(uint32_t bytes)
{
	switch (bytes) {
	case 1:
		return BPF_B;
	case 2:
		return BPF_H;
	case 4:
		return BPF_W;
	case 8:
		return BPF_DW;
	default:
		return -1;
	}
}

static struct error *out_of_step(uint64_t got, uint64_t want)
{
	return error_hint(
		error_new(EINVAL,
			  "the instruction has the value %lld, but the relocation record says %llu",
			  (long long)got, (unsigned long long)want),
		"the object is damaged, or something changed its code after it was "
		"compiled");
}

static struct error *patch_imm(const struct core_result *res, struct bpf_insn *insn)
{
	int64_t new_val = (int64_t)res->new_val;

	if (BPF_SRC(insn->code) != BPF_K)
		return error_new(EINVAL, "the instruction has no immediate");
	/* a 32-bit value may have been written as negative */
	if (res->validate && (uint64_t)(int64_t)insn->imm != res->orig_val &&
	    (uint32_t)insn->imm != res->orig_val)
		return out_of_step(insn->imm, res->orig_val);
	if (new_val < INT32_MIN || new_val > UINT32_MAX)
		return error_new(ERANGE, "%lld does not fit into the instruction",
				 (long long)new_val);
	insn->imm = (int32_t)new_val;
	return NULL;
}

static struct error *patch_off(const struct core_result *res, struct bpf_insn *insn)
{
	if (res->validate && (uint64_t)(int64_t)insn->off != res->orig_val)
		return out_of_step(insn->off, res->orig_val);
	if (res->new_val > SHRT_MAX)
		return error_hint(
			error_new(ERANGE, "the field is at offset %llu; a load reaches at most %d",
				  (unsigned long long)res->new_val, SHRT_MAX),
			"read the field by BPF_CORE_READ(), which adds the offset first");
	if (res->orig_size) {
		int code = size_code(res->new_size);

		if (insn_access_bytes(insn) != res->orig_size)
			return error_new(EINVAL,
					 "the instruction loads %u bytes, but the field has %u",
					 insn_access_bytes(insn), res->orig_size);
		if (code < 0)
			return error_new(EINVAL,
					 "the field is %u bytes wide; BPF can load 1, 2, 4 or 8",
					 res->new_size);
		insn->code = BPF_MODE(insn->code) | code | BPF_CLASS(insn->code);
	}
	insn->off = (int16_t)res->new_val;
	return NULL;
}

static struct error *patch_imm64(const struct core_result *res, struct bpf_insn *insns, size_t n,
				 size_t idx)
{
	struct bpf_insn *insn = &insns[idx];

	if (!is_ld_imm64(insn) || idx + 1 >= n || insn[0].src_reg || insn[0].off || insn[1].code ||
	    insn[1].dst_reg || insn[1].src_reg || insn[1].off)
		return error_new(EINVAL, "the instruction does not load a plain 64-bit constant");
	uint64_t now = (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
	if (res->validate && now != res->orig_val)
		return out_of_step(now, res->orig_val);
	insn[0].imm = (int32_t)res->new_val;
	insn[1].imm = (int32_t)(res->new_val >> 32);
	return NULL;
}

static bool is_memory(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code);

	return class == BPF_LDX || class == BPF_ST || class == BPF_STX;
}

struct error *core_relocate(struct core *core, const struct btf_core_relo *relo, const char *prog,
			    struct bpf_insn *insns, size_t n, size_t idx)
{
	struct core_result res;
	struct error *err;

	if (idx >= n)
		return error_new(EINVAL, "CO-RE: instruction %zu of %zu", idx, n);
	TRY(core_resolve(core, relo, &res));
	struct bpf_insn *insn = &insns[idx];
	if (res.poison)
		return poison(core, relo, prog, "does not exist in the target kernel", insns, n,
			      idx);
	if (is_memory(insn) && res.resize_fails)
		return poison(core, relo, prog,
			      "has another size in the target kernel and is not an unsigned "
			      "integer or pointer; read it with BPF_CORE_READ_BITFIELD()",
			      insns, n, idx);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		err = patch_imm(&res, insn);
		break;
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		err = patch_off(&res, insn);
		break;
	case BPF_LD:
		err = patch_imm64(&res, insns, n, idx);
		break;
	default:
		err = error_new(EINVAL, "this instruction cannot be relocated (code 0x%02x)",
				insn->code);
	}
	return error_prefix(err, "CO-RE, %s, instruction %zu", core_kind_name(relo->kind), idx);
}
