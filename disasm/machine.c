// SPDX-License-Identifier: BSD-2-Clause
/*
 * Machine code as text, by capstone. Its state and the room for one instruction
 * are made once.
 *
 * Capstone does not test all that it allocates: cs_open() for the registers, the first instruction
 * for a table of instructions, and aliases of arm64 for their text. It would end by a signal. So it
 * is given allocators, which take from a block that was allocated here before. They are given no
 * context: the call that is made is noted for its thread. What does not fit comes from malloc().
 */
#include "disasm/disasm.h"

#ifdef HAVE_CAPSTONE
#define bpf_insn capstone_bpf_insn /* an enumeration of capstone 5 */
#include <capstone/capstone.h>
#undef bpf_insn
#include <elf.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MEMORY = 64 << 10, /* capstone 4 takes 20 KiB */
	NOP_SIZE = 4,
};

/* How capstone reads the code of a machine. */
struct code_reader {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
	size_t unit; /* bytes of the shortest instruction */
	uint8_t nop[NOP_SIZE];
	void (*set_addresses)(const cs_insn *from, bool is_branch, struct disasm_machine_insn *to);
};

struct disasm_machine {
	const struct code_reader *reader;
	csh handle;
	cs_insn *insn;	    /* room for one */
	char bytes[96];	    /* of what is not an instruction */
	size_t used;	    /* of memory */
	size_t kept;	    /* of it, from one instruction to the next */
	size_t n_temporary; /* blocks behind that */
	alignas(max_align_t) unsigned char memory[MEMORY];
};

/* ---- capstone's memory ---- */

static __thread struct disasm_machine *working; /* whose call of capstone runs */

static bool is_in_memory(const struct disasm_machine *m, const void *p)
{
	return m && (const unsigned char *)p >= m->memory &&
	       (const unsigned char *)p < m->memory + MEMORY;
}

static void *take(size_t size)
{
	struct disasm_machine *m = working;

	if (!m || size >= MEMORY - m->used)
		return malloc(size);
	void *p = m->memory + m->used;
	m->used = min_of((size_t)round_up(m->used + size, alignof(max_align_t)), (size_t)MEMORY);
	m->n_temporary++;
	return p;
}

static void *take_zeros(size_t n, size_t size)
{
	size_t all;
	void *p = __builtin_mul_overflow(n, size, &all) ? NULL : take(all);

	return p ? memset(p, 0, all) : NULL;
}

static void give_back(void *p)
{
	struct disasm_machine *m = working;

	if (!is_in_memory(m, p))
		free(p);
	else if (m->n_temporary && !--m->n_temporary)
		m->used = m->kept;
}

static void *take_again(void *p, size_t size)
{
	struct disasm_machine *m = working;

	if (!is_in_memory(m, p))
		return realloc(p, size);
	void *to = take(size);
	if (to)
		memcpy(to, p, min_of(size, (size_t)(m->memory + MEMORY - (unsigned char *)p)));
	give_back(p);
	return to;
}

/* Of the process, and always the same. */
static void set_allocators(void)
{
	cs_opt_mem mem = {take, take_zeros, take_again, give_back, vsnprintf};

	cs_option(0, CS_OPT_MEM, (size_t)&mem);
}

/* ---- machines ---- */

static void set_target(struct disasm_machine_insn *insn, int64_t target)
{
	insn->has_target = true;
	insn->target = (uint64_t)target;
}

static void set_x86_addresses(const cs_insn *from, bool is_branch, struct disasm_machine_insn *to)
{
	const cs_x86 *x86 = &from->detail->x86;

	if (is_branch && x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM)
		set_target(to, x86->operands[0].imm);
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP || op->mem.index)
			continue;
		to->has_data = true;
		to->data = from->address + from->size + (uint64_t)op->mem.disp;
	}
}

static void set_arm64_addresses(const cs_insn *from, bool is_branch, struct disasm_machine_insn *to)
{
	const cs_arm64 *arm = &from->detail->arm64;
	const cs_arm64_op *last = arm->op_count ? &arm->operands[arm->op_count - 1] : NULL;

	if (is_branch && last && last->type == ARM64_OP_IMM)
		set_target(to, last->imm);
}

static const struct code_reader readers[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1, {0x90}, set_x86_addresses},
	{EM_386, CS_ARCH_X86, CS_MODE_32, 1, {0x90}, set_x86_addresses},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, 4, {0x1f, 0x20, 0x03, 0xd5}, set_arm64_addresses},
};

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#else
#define THIS_MACHINE EM_NONE
#endif

static const struct code_reader *find_reader(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (readers[i].machine == machine)
			return &readers[i];
	return NULL;
}

void disasm_machine_free(struct disasm_machine *m)
{
	if (!m)
		return;
	working = m;
	if (m->insn)
		cs_free(m->insn, 1);
	if (m->handle)
		cs_close(&m->handle);
	working = NULL;
	free(m);
}

static cs_err open_handle(struct disasm_machine *m, bool intel)
{
	const struct code_reader *reader = m->reader;
	const cs_err code = cs_open(reader->arch, reader->mode, &m->handle);

	if (code)
		return code;
	/* other machines have one notation only */
	if (!intel)
		cs_option(m->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	cs_option(m->handle, CS_OPT_DETAIL, CS_OPT_ON);
	m->insn = cs_malloc(m->handle);
	return m->insn ? CS_ERR_OK : CS_ERR_MEM;
}

static bool read_one(struct disasm_machine *m, const uint8_t *at, size_t left, uint64_t addr)
{
	working = m;
	const bool is_insn = cs_disasm_iter(m->handle, &at, &left, &addr, m->insn);
	working = NULL;
	return is_insn;
}

struct error *disasm_machine_new(const struct disasm_machine_opts *opts,
				 struct disasm_machine **out)
{
	const uint16_t machine = opts && opts->machine ? opts->machine : THIS_MACHINE;
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return error_nomem();
	m->reader = find_reader(machine);
	if (!m->reader)
		return error_new(ENOTSUP, "cannot disassemble machine code of this architecture");
	set_allocators();
	working = m;
	const cs_err code = open_handle(m, opts && opts->intel);
	working = NULL;
	if (code == CS_ERR_MEM)
		return error_nomem();
	if (code)
		return error_new(ENOTSUP, "capstone does not disassemble this machine's code: %s",
				 cs_strerror(code));
	read_one(m, m->reader->nop, NOP_SIZE, 0); /* has the table made */
	m->kept = m->used;
	m->n_temporary = 0;
	*out = steal_ptr(m);
	return NULL;
}

/*
 * Capstone 4 does not know AVX-512, which the functions of glibc for strings and memory use. Of x86
 * the length is known all the same, so what follows is not read from the middle of an instruction.
 */
static void set_bytes(struct disasm_machine *m, struct cursor *c)
{
	const uint16_t machine = m->reader->machine;
	size_t n = 0;

	if (machine == EM_X86_64 || machine == EM_386)
		n = disasm_x86_length(c->base + c->pos, cursor_left(c), machine == EM_X86_64);
	n = max_of(n, (size_t)1);
	const uint8_t *bytes = cursor_bytes(c, n);
	for (size_t i = 0; i < n; i++)
		snprintf(m->bytes + 6 * i, sizeof(m->bytes) - 6 * i,
			 i + 1 < n ? "0x%02x, " : "0x%02x", bytes[i]);
}

/* An instruction that capstone does not know, or the bytes that are left over. */
static void set_unknown(struct disasm_machine *m, struct cursor *c,
			struct disasm_machine_insn *insn)
{
	uint32_t word;

	if (m->reader->unit == sizeof(word) && cursor_u32(c, &word)) {
		insn->operation = ".inst";
		snprintf(m->bytes, sizeof(m->bytes), "0x%08x", word);
	} else {
		set_bytes(m, c);
		insn->operation = ".byte";
	}
	insn->operands = m->bytes;
}

static enum disasm_flow flow_of(const struct disasm_machine *m)
{
	const bool is_arm = m->reader->machine == EM_AARCH64;
	const char *name = m->insn->mnemonic;

	/* of calls of arm64, capstone 4 says that they are jumps; of "ret", nothing */
	if (is_arm && (!strcmp(name, "bl") || !strncmp(name, "blr", 3)))
		return DISASM_CALL;
	if (cs_insn_group(m->handle, m->insn, CS_GRP_RET) || (is_arm && !strncmp(name, "ret", 3)))
		return DISASM_RETURN;
	if (cs_insn_group(m->handle, m->insn, CS_GRP_CALL))
		return DISASM_CALL;
	return cs_insn_group(m->handle, m->insn, CS_GRP_JUMP) ? DISASM_JUMP : DISASM_NEXT;
}

bool disasm_machine_next(struct disasm_machine *m, struct cursor *c, uint64_t addr,
			 struct disasm_machine_insn *insn)
{
	if (cursor_end(c))
		return false;
	*insn = (struct disasm_machine_insn){0};
	if (!read_one(m, c->base + c->pos, cursor_left(c), addr)) {
		set_unknown(m, c, insn);
		return true;
	}
	cursor_skip(c, m->insn->size);
	insn->operation = m->insn->mnemonic;
	insn->operands = m->insn->op_str;
	insn->flow = flow_of(m);
	m->reader->set_addresses(m->insn, insn->flow == DISASM_JUMP || insn->flow == DISASM_CALL,
				 insn);
	return true;
}

#else

struct error *disasm_machine_new(const struct disasm_machine_opts *opts,
				 struct disasm_machine **out)
{
	return error_hint(error_new(ENOTSUP,
				    "this perf-bpf was built without capstone, so it cannot "
				    "disassemble machine code"),
			  "install libcapstone-dev and build again");
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
