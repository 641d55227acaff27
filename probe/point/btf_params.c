// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the parameters of a kernel function are at its entry, told from its
 * prototype in BTF alone.
 *
 * x86-64 (System V ABI 1.0, 3.2.3): a number or pointer takes the next of six
 * registers; a struct of up to 16 bytes, or __int128, one for each 8 bytes, if
 * all of it fits in registers, else all of it goes to the stack, and later
 * parameters may still have registers; a larger struct is on the stack. Who
 * returns a larger struct is given its address before all else. The kernel has
 * no floating point.
 *
 * arm64 (AAPCS64, 6.8.2): eight registers; a struct of up to 16 bytes likewise,
 * but once something went to the stack all that follows does; a larger struct
 * is passed by its address; what is aligned to 16 bytes begins at an even
 * register. The address for a larger struct to be returned is in x8.
 *
 * fentry counts words in the order of the prototype, however they are passed
 * (bpf_trampoline: arch/x86/net/bpf_jit_comp.c, save_args). As long as words
 * and registers count alike, a parameter is FETCH_PARAM and both ways of
 * attaching will do; where they part, it is a register or a place on the stack
 * by its name. The stack of a fentry program is another one, so there these
 * are for kprobes alone; the kernel refuses fentry for most such functions.
 */
#include <elf.h>

#include "probe/point/internal.h"

/* How far the convention went through registers and stack. */
struct passing {
	const struct btf *btf;
	const struct regs *regs;
	uint16_t machine;
	size_t n_regs, reg;
	uint64_t stack;
	size_t word;
};

static size_t count_registers(const struct regs *regs)
{
	uint16_t dwarf;
	size_t n = 0;

	while (n < 16 && regs_param(regs, n, &dwarf))
		n++;
	return n;
}

/* The verifier lets a typed program read such a word from its context. */
static bool is_plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	if (btf_is_int(t) || btf_is_any_enum(t) || btf_is_composite(t))
		return true;
	if (!btf_is_ptr(t))
		return false;
	if (!t->type)
		return true;
	t = btf_skip_mods_and_typedefs(btf, t->type, NULL);
	return btf_is_int(t) || btf_is_composite(t) || btf_is_void(t);
}

static struct fetch_insn stack_address(const struct passing *p)
{
	/* The return address is above the stack pointer. */
	return (struct fetch_insn){.op = FETCH_REG,
				   .reg = regs_stack(p->regs),
				   .imm = (int64_t)p->stack + (p->machine == EM_X86_64 ? 8 : 0)};
}

static void on_stack(struct passing *p, uint32_t bytes, uint32_t align, struct param *param)
{
	const size_t n = (bytes + 7) / 8;

	p->stack = round_up(p->stack, align > 8 ? 16 : 8);
	if (n == 1 && p->n_regs + p->stack / 8 == p->word) {
		param->words[0].op = FETCH_PARAM;
		param->words[0].reg = (uint16_t)p->word;
		param->n_words = 1;
	} else {
		param->in_memory = true;
		param->words[0] = stack_address(p);
		param->n_words = 1;
	}
	p->stack += n * 8;
	p->word += n;
}

static void in_registers(struct passing *p, size_t n, bool plain, struct param *param)
{
	for (size_t i = 0; i < n; i++, p->reg++, p->word++) {
		struct fetch_insn *insn = &param->words[i];

		insn->op = FETCH_PARAM;
		insn->reg = (uint16_t)p->word;
		insn->typed = plain;
		if (p->reg != p->word) {
			insn->op = FETCH_REG;
			insn->typed = false;
			regs_param(p->regs, p->reg, &insn->reg);
		}
	}
	param->n_words = (uint8_t)n;
}

static void pass(struct passing *p, struct param *param)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(p->btf, param->type, NULL);
	const bool composite = btf_is_composite(t);
	const int64_t size = btf__resolve_size(p->btf, param->type);
	const int align = btf__align_of(p->btf, param->type);

	/* An array of its own is no parameter in C, nor is a number of more than two words. */
	if (size < 0 || size > 1 << 20 || btf_is_float(t) ||
	    (!composite && size > SPOT_MAX_WORDS * 8)) {
		param->obstacle = "how it is passed is not known";
		/* Nor are those after it. */
		p->reg = p->n_regs;
		p->word = SIZE_MAX / 2;
		return;
	}
	const size_t n = ((size_t)size + 7) / 8;
	const bool arm = p->machine == EM_AARCH64;

	if (!n)
		return;
	if (composite && size > 16) {
		if (!arm) {
			on_stack(p, (uint32_t)size, (uint32_t)max_of(align, 1), param);
			return;
		}
		/* Its address is passed in its place. */
		if (p->reg < p->n_regs)
			in_registers(p, 1, false, param);
		else
			on_stack(p, 8, 8, param);
		if (param->in_memory)
			param->obstacle = "its address is on the stack";
		param->in_memory = true;
		return;
	}
	if (arm && align > 8 && n == 2)
		p->reg = round_up(p->reg, 2);
	if (p->reg + n <= p->n_regs) {
		in_registers(p, n, is_plain(p->btf, param->type), param);
		return;
	}
	if (arm)
		p->reg = p->n_regs;
	on_stack(p, (uint32_t)size, (uint32_t)max_of(align, 1), param);
	if (!param->in_memory)
		param->words[0].typed = is_plain(p->btf, param->type);
}

static int64_t returned_struct(const struct btf *btf, const struct btf_type *proto)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, proto->type, NULL);

	return proto->type && btf_is_composite(t) ? btf__resolve_size(btf, proto->type) : 0;
}

struct error *params_place(const struct btf *btf, uint32_t proto, uint16_t machine,
			   struct params *params)
{
	const struct btf_type *t = btf__type_by_id(btf, proto);
	const struct btf_param *given = btf_params(t);
	struct passing p = {.btf = btf, .regs = regs_of(machine), .machine = machine};

	p.n_regs = count_registers(p.regs);
	if (machine == EM_X86_64 && returned_struct(btf, t) > 16)
		p.reg = 1;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		/* "..." */
		if (!given[i].type && !given[i].name_off)
			break;
		struct param *param = vec_push(&params->v);

		if (!param)
			return error_nomem();
		param->name = btf__name_by_offset(btf, given[i].name_off);
		param->type = given[i].type;
		if (!param->name)
			param->name = "";
		pass(&p, param);
	}
	params->n_words = (uint16_t)min_of(p.word, (size_t)UINT16_MAX);
	return NULL;
}

struct param params_returned(const struct btf *btf, uint32_t proto, uint16_t machine)
{
	const struct btf_type *t = btf__type_by_id(btf, proto);
	struct param param = {.name = "$retval", .type = t->type, .n_words = 1};
	const int64_t size = t->type ? btf__resolve_size(btf, t->type) : 0;

	param.words[0].op = FETCH_RETVAL;
	/* The second register is rdx, and x1: both have the number 1. */
	param.words[1] = (struct fetch_insn){.op = FETCH_REG, .reg = 1};
	if (!t->type)
		param.obstacle = "the function returns nothing";
	else if (size <= 0 || btf_is_float(btf_skip_mods_and_typedefs(btf, t->type, NULL)))
		param.obstacle = "how it is returned is not known";
	else if (size > 16 && machine != EM_X86_64)
		param.obstacle = "the address of the returned struct is not available any more";
	else if (size > 16)
		param.in_memory = true;
	else
		param.n_words = (uint8_t)((size + 7) / 8);
	return param;
}
