// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which instructions Linux refuses to put a uprobe on. It looks at the
 * instruction only when it maps the file into a process that runs (or if one
 * has it mapped already): until then attaching succeeds, and then the program
 * runs on without the probe, and no error says so. So the code in the file is
 * read here as the kernel reads it, before attaching.
 *
 * x86: arch/x86/kernel/uprobes.c, uprobe_init_insn() with is_prefix_bad(),
 * insn_masking_exception() and the tables good_insns_32 and good_insns_64, and
 * branch_setup_xol_ops(). Since the tables take 0x0f for good, the kernel never
 * asks its third table, of the opcodes of two bytes: ud2 can be probed. The
 * prefixes are those of arch/x86/lib/insn.c, insn_get_prefixes().
 * The files are the same in this in 6.1 and 7.2, but that 7.2 takes the nop of
 * 10 bytes "cs nopw 0x0(%rax,%rax,1)", which is padding.
 *
 * An instruction with a VEX or EVEX prefix (AVX) has one byte of opcode there,
 * and the kernel compares that byte with the one-byte opcodes of other
 * instructions. Some are refused for that: vpxor is 0xef, which is "out". With
 * others it is worse: vpcmpeqb is 0x74, "je"; the kernel emulates a jump, and
 * the comparison is never made. No probe may be put there.
 *
 * Nor on what the kernel would step wrongly, by the trap flag in a copy of the
 * instruction. A trap behind syscall comes only when the next instruction has
 * run as well, in the copy (the table of two bytes has a zero for it, which is never
 * asked). pushf saves the trap flag, which popf then sets: the program gets a
 * SIGTRAP. An instruction that is repeated (rep stosb) traps each time, and
 * then runs into the breakpoint again: each repetition would be a hit.
 * tests/cmd/probed_insns.c has the kernel show all that.
 *
 * arm64: arch/arm64/kernel/probes/decode-insn.c, arm_probe_decode_insn(), with
 * the masks of arch/arm64/include/asm/insn.h. 32-bit programs of ARM are not
 * probed at all (probes/uprobes.c).
 *
 * What the kernel's decoder does not know at all (instructions that are newer
 * than the kernel) is not noticed here.
 */
#include "lib/attach/uprobe_insn.h"

#include <elf.h>

#include "lib/base/cursor.h"
#include "lib/base/util.h"

struct byte_range {
	uint8_t first, last;
};

static bool is_in(const struct byte_range *ranges, size_t n, uint8_t byte)
{
	for (size_t i = 0; i < n; i++)
		if (byte >= ranges[i].first && byte <= ranges[i].last)
			return true;
	return false;
}

/* ---- x86 ---- */

/* The zeros of good_insns_64. */
static const struct byte_range bad_64[] = {
	{0x06, 0x07}, {0x0e, 0x0e}, {0x16, 0x17}, {0x1e, 0x1f}, {0x27, 0x27},
	{0x2f, 0x2f}, {0x37, 0x37}, {0x3f, 0x3f}, {0x60, 0x62}, {0x6c, 0x6f},
	{0x82, 0x82}, {0x9a, 0x9a}, {0xcd, 0xcf}, {0xd4, 0xd6}, {0xe4, 0xe7},
	{0xea, 0xea}, {0xec, 0xef}, {0xf1, 0xf1}, {0xf4, 0xf4}, {0xfa, 0xfb},
};

/* The zeros of good_insns_32. */
static const struct byte_range bad_32[] = {
	{0x07, 0x07}, {0x17, 0x17}, {0x1f, 0x1f}, {0x6c, 0x6f}, {0xcd, 0xcf},
	{0xe4, 0xe7}, {0xec, 0xef}, {0xf1, 0xf1}, {0xf4, 0xf4}, {0xfa, 0xfb},
};

/* Relative jumps and calls of one byte, which are emulated; and nop. */
static const struct byte_range branches[] = {{0x70, 0x7f}, {0xe8, 0xe9}, {0xeb, 0xeb}};

/*
 * Of VEX and EVEX what the kernel takes for something else and does not run: the above, nop; popf
 * (the trap flag stays set); and ret, after which the address is left as it is (vcmpps).
 */
static const struct byte_range mistaken[] = {
	{0x70, 0x7f}, {0x90, 0x90}, {0x9d, 0x9d}, {0xc2, 0xc3},
	{0xca, 0xcb}, {0xe8, 0xe9}, {0xeb, 0xeb},
};

/* An instruction as far as the kernel asks. */
struct x86_insn {
	const char *bad_prefix;
	bool word_sized; /* prefix 0x66 */
	bool repeats;	 /* prefix 0xf2 or 0xf3 */
	bool is_vector;	 /* VEX or EVEX */
	uint8_t opcode;
	uint8_t second; /* the next byte: a second one of the opcode, or ModRM */
};

/* Whether the byte is a legacy prefix, which is noted. */
static bool take_prefix(uint8_t byte, struct x86_insn *insn)
{
	switch (byte) {
	case 0xf0:
		insn->bad_prefix = "it has a lock prefix";
		return true;
	case 0x3e:
		insn->bad_prefix = "it has the prefix notrack (or %ds)";
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
		insn->bad_prefix = "it has a segment prefix (%es, %cs or %ss)";
		return true;
	case 0x66:
		insn->word_sized = true;
		return true;
	case 0xf2:
	case 0xf3:
		insn->repeats = true;
		return true;
	case 0x64:
	case 0x65:
	case 0x67:
		return true;
	default:
		return false;
	}
}

static uint8_t peek(const struct cursor *c, size_t ahead)
{
	/* The kernel's copy is filled up with zeros. */
	return ahead < cursor_left(c) ? c->base[c->pos + ahead] : 0;
}

/* The length of the VEX or EVEX prefix here; 0: there is none. */
static size_t vector_prefix(const struct cursor *c, bool is_64)
{
	const uint8_t byte = peek(c, 0);
	const size_t len = byte == 0xc5 ? 2 : byte == 0xc4 ? 3 : byte == 0x62 ? 4 : 0;

	/* In 32-bit code these are lds, les and bound, unless what follows is not an address. */
	return is_64 || peek(c, 1) >> 6 == 3 ? len : 0;
}

static struct x86_insn read_x86(struct cursor *c, bool is_64)
{
	enum {
		PREFIXES_MOST = 4, /* different ones */
	};
	struct x86_insn insn = {0};
	uint8_t seen[PREFIXES_MOST] = {0};
	size_t n_seen = 0;

	while (!cursor_end(c)) {
		const uint8_t byte = peek(c, 0);
		struct x86_insn with = insn;

		if (!take_prefix(byte, &with))
			break;
		if (!memchr(seen, byte, n_seen)) {
			if (n_seen == PREFIXES_MOST)
				break;
			seen[n_seen++] = byte;
		}
		insn = with;
		cursor_skip(c, 1);
	}
	if (is_64 && peek(c, 0) >> 4 == 4) /* REX */
		cursor_skip(c, 1);
	const size_t vector = vector_prefix(c, is_64);
	insn.is_vector = vector;
	cursor_skip(c, vector);
	insn.opcode = peek(c, 0);
	insn.second = peek(c, 1);
	return insn;
}

static bool is_branch(const struct x86_insn *insn)
{
	if (insn->opcode == 0x0f)
		return insn->second >> 4 == 8;
	return is_in(branches, ARRAY_SIZE(branches), insn->opcode);
}

/* movs, cmps, stos, lods, scas */
static bool is_string(const struct x86_insn *insn)
{
	static const struct byte_range strings[] = {{0xa4, 0xa7}, {0xaa, 0xaf}};

	return is_in(strings, ARRAY_SIZE(strings), insn->opcode);
}

/* syscall, sysenter, pushf, and what is mistaken. */
static bool is_stepped_wrongly(const struct x86_insn *insn)
{
	if (insn->is_vector)
		return is_in(mistaken, ARRAY_SIZE(mistaken), insn->opcode);
	if (insn->opcode == 0x0f)
		return insn->second == 0x05 || insn->second == 0x34;
	return insn->opcode == 0x9c;
}

static const char *x86_obstacle(struct cursor *c, bool is_64)
{
	/* Of the file: is_trap_insn(), kernel/events/uprobes.c. */
	if (peek(c, 0) == 0xcc)
		return "it is a breakpoint";
	const struct x86_insn insn = read_x86(c, is_64);
	const bool is_bad = is_64 ? is_in(bad_64, ARRAY_SIZE(bad_64), insn.opcode)
				  : is_in(bad_32, ARRAY_SIZE(bad_32), insn.opcode);
	if (insn.bad_prefix)
		return insn.bad_prefix;
	if (insn.opcode == 0x8e && (insn.second >> 3 & 7) == 2)
		return "the kernel does not support it";
	if (is_bad)
		return "the kernel does not support it";
	if (is_stepped_wrongly(&insn))
		return "the kernel does not run it correctly with a uprobe, which would break the "
		       "program";
	if (!insn.is_vector && insn.repeats && is_string(&insn))
		return "each repetition would be a hit";
	if (!insn.is_vector && insn.word_sized && is_branch(&insn))
		return "it is a jump or a call with an operand-size prefix";
	return NULL;
}

/* ---- arm64 ---- */

struct arm64_insn {
	uint32_t mask, value;
};

static bool is_one_of(const struct arm64_insn *insns, size_t n, uint32_t insn)
{
	for (size_t i = 0; i < n; i++)
		if ((insn & insns[i].mask) == insns[i].value)
			return true;
	return false;
}

/* Stepped nowhere, and not simulated. */
static const struct arm64_insn arm64_bad[] = {
	{0xff000000, 0xd4000000}, /* exceptions: svc, hvc, smc, brk, hlt */
	{0xfefff800, 0xd61f0800}, /* braa and the like */
	{0xfefff800, 0xd63f0800}, /* blraa and the like */
	{0xfffffbff, 0xd65f0bff}, /* retaa, retab */
	{0xffffffff, 0xd69f03e0}, /* eret */
	{0xfffffbff, 0xd69f0bff}, /* eretaa, eretab */
	{0xfff8f01f, 0xd500401f}, /* msr, immediate */
	{0xfff00000, 0xd5100000}, /* msr, register */
	{0xffffffe0, 0xd53b4220}, /* mrs daif */
	{0xbf000000, 0x18000000}, /* ldr, literal */
	{0xff000000, 0x98000000}, /* ldrsw, literal */
	{0xff000000, 0xd8000000}, /* prfm, literal */
};

/* ldxr, stxr and the like: the exception between them would make the store fail, each time. */
static const struct arm64_insn arm64_exclusive[] = {{0x3f800000, 0x08000000}};

/* cpyp, setp and the like, which belong together in threes. */
static const struct arm64_insn arm64_mops[] = {{0x3b200c00, 0x19000400}};

static bool is_steppable_hint(uint32_t insn)
{
	switch (insn >> 5 & 0x7f) {
	case 0x00: /* nop */
	case 0x07: /* xpaclri */
	case 0x08: /* pacia1716 */
	case 0x0a: /* pacib1716 */
	case 0x18: /* paciaz */
	case 0x19: /* paciasp */
	case 0x1a: /* pacibz */
	case 0x1b: /* pacibsp */
	case 0x20: /* bti */
	case 0x22: /* bti c */
	case 0x24: /* bti j */
	case 0x26: /* bti jc */
		return true;
	default:
		return false;
	}
}

static const char *arm64_obstacle(struct cursor *c)
{
	uint32_t insn;

	if (!cursor_u32(c, &insn))
		return NULL;
	if (is_one_of(arm64_exclusive, ARRAY_SIZE(arm64_exclusive), insn))
		return "it is an exclusive load or store";
	if (is_one_of(arm64_mops, ARRAY_SIZE(arm64_mops), insn) ||
	    is_one_of(arm64_bad, ARRAY_SIZE(arm64_bad), insn))
		return "the kernel does not support it";
	if ((insn & 0xfffff01f) == 0xd503201f && !is_steppable_hint(insn))
		return "the kernel does not support it";
	return NULL;
}

const char *uprobe_insn_obstacle(uint16_t machine, const uint8_t *code, size_t n)
{
	struct cursor c = cursor_make(code, n, "code");

	if (!n)
		return NULL;
	switch (machine) {
	case EM_X86_64:
		return x86_obstacle(&c, true);
	case EM_386:
		return x86_obstacle(&c, false);
	case EM_AARCH64:
		return arm64_obstacle(&c);
	default:
		return NULL;
	}
}
