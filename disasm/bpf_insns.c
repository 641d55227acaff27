// SPDX-License-Identifier: BSD-2-Clause
/*
 * BPF instructions as text, in the notation of the kernel's verifier: whoever
 * reads its logs reads this.
 *
 * An instruction is 8 bytes: an opcode, two registers of four bits, a 16-bit
 * offset, a 32-bit constant (RFC 9669). The opcode's low three bits are a class.
 * ALU and JMP classes have the operation in the high four bits and, in bit 3,
 * whether the second operand is a register. Load and store classes have the
 * width in bits 3 and 4, the mode in the high three.
 *
 * Later instructions were fitted into fields that had to be 0 before: a move
 * with an offset extends the sign, a division with one is signed, a call's
 * source register says what is called. A notation that left those out would show
 * another program than the one that runs, so everything that is not known
 * exactly is shown as unknown with all of its fields.
 */
#include "disasm/disasm.h"

#include "lib/sys/uapi.h"

enum {
	MODE_PROBE_ATOMIC = 0xe0,    /* the kernel's own: an atomic access of an arena */
	CODE_NOSPEC = BPF_ST | 0xc0, /* the kernel's own: BPF_NOSPEC, a barrier */
	SRC_ARENA_CAST = 1,	     /* off of a mov: BPF_ADDR_SPACE_CAST */
	SRC_PERCPU = -1,	     /* the same: the kernel's own, to this CPU's part (6.10) */
};

#define HELPER(name) [BPF_FUNC_##name] = "bpf_" #name,

const char *disasm_helper_name(int32_t id)
{
	static const char *const names[] = {BPF_HELPERS(HELPER)};

	return id > 0 && id < (int32_t)ARRAY_SIZE(names) ? names[id] : NULL;
}

static const char *const widths[] = {"u32", "u16", "u8", "u64"};
static const char *const signed_widths[] = {"s32", "s16", "s8", "s64"};

static const char *width_name(uint8_t code)
{
	return widths[BPF_SIZE(code) >> 3];
}

static void add_unknown(const struct bpf_insn *i, struct strbuf *out)
{
	strbuf_addf(out, "unknown instruction: dst %u src %u off %d imm %d", i->dst_reg, i->src_reg,
		    i->off, i->imm);
}

/* The second operand of an ALU instruction or of a jump's comparison. */
static void add_alu_operand(const struct bpf_insn *i, char bank, struct strbuf *out)
{
	if (BPF_SRC(i->code) == BPF_X)
		strbuf_addf(out, "%c%u", bank, i->src_reg);
	else
		strbuf_addf(out, "%d", i->imm);
}

/* Moves: plain, sign-extending from off bits, between address spaces, to a CPU's part. */
static bool add_move(const struct bpf_insn *i, char bank, struct strbuf *out)
{
	const bool wide = BPF_CLASS(i->code) == BPF_ALU64;

	if (BPF_SRC(i->code) == BPF_X && i->off == SRC_ARENA_CAST && wide) {
		strbuf_addf(out, "r%u = addr_space_cast(r%u, %u, %u)", i->dst_reg, i->src_reg,
			    (uint32_t)i->imm >> 16, (uint32_t)i->imm & 0xffff);
		return true;
	}
	if (BPF_SRC(i->code) == BPF_X && i->off == SRC_PERCPU && wide) {
		strbuf_addf(out, "r%u = &(void __percpu *)(r%u)", i->dst_reg, i->src_reg);
		return true;
	}
	if (!i->off) {
		strbuf_addf(out, "%c%u = ", bank, i->dst_reg);
		add_alu_operand(i, bank, out);
		return true;
	}
	if (BPF_SRC(i->code) != BPF_X || !(i->off == 8 || i->off == 16 || (i->off == 32 && wide)))
		return false;
	strbuf_addf(out, "%c%u = (s%d)%c%u", bank, i->dst_reg, i->off, bank, i->src_reg);
	return true;
}

static bool add_swap(const struct bpf_insn *i, struct strbuf *out)
{
	const bool wide = BPF_CLASS(i->code) == BPF_ALU64; /* 6.6: whatever the byte order */
	const bool to_big = BPF_SRC(i->code) == BPF_TO_BE;

	if ((i->imm != 16 && i->imm != 32 && i->imm != 64) || (wide && to_big) || i->off)
		return false;
	strbuf_addf(out, "r%u = %s%d r%u", i->dst_reg,
		    wide     ? "bswap"
		    : to_big ? "be"
			     : "le",
		    i->imm, i->dst_reg);
	return true;
}

static bool add_alu(const struct bpf_insn *i, struct strbuf *out)
{
	static const char *const operations[16] = {
		[BPF_ADD >> 4] = "+=",	[BPF_SUB >> 4] = "-=",	  [BPF_MUL >> 4] = "*=",
		[BPF_DIV >> 4] = "/=",	[BPF_OR >> 4] = "|=",	  [BPF_AND >> 4] = "&=",
		[BPF_LSH >> 4] = "<<=", [BPF_RSH >> 4] = ">>=",	  [BPF_MOD >> 4] = "%=",
		[BPF_XOR >> 4] = "^=",	[BPF_ARSH >> 4] = "s>>=",
	};
	const char bank = BPF_CLASS(i->code) == BPF_ALU64 ? 'r' : 'w';
	const uint8_t op = BPF_OP(i->code);

	if (op == BPF_MOV)
		return add_move(i, bank, out);
	if (op == BPF_END)
		return add_swap(i, out);
	if (op == BPF_NEG) {
		strbuf_addf(out, "%c%u = -%c%u", bank, i->dst_reg, bank, i->dst_reg);
		return BPF_SRC(i->code) == BPF_K;
	}
	const bool has_sign = (op == BPF_DIV || op == BPF_MOD) && i->off == 1; /* 6.6 */
	const char *text = operations[op >> 4];
	if (!text || (i->off && !has_sign))
		return false;
	strbuf_addf(out, "%c%u %s%s ", bank, i->dst_reg, has_sign ? "s" : "", text);
	add_alu_operand(i, bank, out);
	return true;
}

static void add_call(const struct bpf_insn *i, const struct disasm_names *names, struct strbuf *out)
{
	const char *helper = i->src_reg ? NULL : disasm_helper_name(i->imm);

	strbuf_adds(out, "call ");
	if (names && names->call && names->call(names->ctx, i, out))
		return;
	if (i->src_reg == BPF_PSEUDO_CALL)
		strbuf_addf(out, "pc%+d", i->imm);
	else if (i->src_reg == BPF_PSEUDO_KFUNC_CALL)
		strbuf_addf(out, "kernel-function#%d", i->imm);
	else
		strbuf_addf(out, "%s#%d", helper ? helper : "unknown", i->imm);
}

static bool add_compare(const struct bpf_insn *i, const char *operation, struct strbuf *out)
{
	const char bank = BPF_CLASS(i->code) == BPF_JMP ? 'r' : 'w';

	strbuf_addf(out, "if %c%u %s ", bank, i->dst_reg, operation);
	if (BPF_SRC(i->code) == BPF_X)
		strbuf_addf(out, "%c%u", bank, i->src_reg);
	else
		strbuf_addf(out, "0x%x", (uint32_t)i->imm);
	strbuf_addf(out, " goto pc%+d", i->off);
	return true;
}

static bool add_jump(const struct bpf_insn *i, const struct disasm_names *names, struct strbuf *out)
{
	static const char *const operations[16] = {
		[BPF_JEQ >> 4] = "==",	 [BPF_JGT >> 4] = ">",	  [BPF_JGE >> 4] = ">=",
		[BPF_JSET >> 4] = "&",	 [BPF_JNE >> 4] = "!=",	  [BPF_JSGT >> 4] = "s>",
		[BPF_JSGE >> 4] = "s>=", [BPF_JLT >> 4] = "<",	  [BPF_JLE >> 4] = "<=",
		[BPF_JSLT >> 4] = "s<",	 [BPF_JSLE >> 4] = "s<=",
	};
	const char *operation = operations[BPF_OP(i->code) >> 4];

	if (operation)
		return add_compare(i, operation, out);
	switch (i->code) {
	case BPF_JMP | BPF_JA:
		strbuf_addf(out, "goto pc%+d", i->off);
		return true;
	case BPF_JMP | BPF_JA | BPF_X: /* 6.19 */
		strbuf_addf(out, "gotox r%u", i->dst_reg);
		return true;
	case BPF_JMP32 | BPF_JA: /* 6.6 */
		strbuf_addf(out, "gotol pc%+d", i->imm);
		return true;
	case BPF_JMP | BPF_JCOND:
		strbuf_addf(out, "%s pc%+d", i->src_reg ? "goto_or_nop" : "may_goto", i->off);
		return true;
	case BPF_JMP | BPF_CALL:
		add_call(i, names, out);
		return true;
	case BPF_JMP | BPF_CALL | BPF_X: /* what the interpreter makes of a call */
		strbuf_addf(out, "callx r%u", i->imm ? (unsigned)i->imm : i->dst_reg);
		return true;
	case BPF_JMP | BPF_EXIT:
		strbuf_adds(out, "exit");
		return true;
	}
	return false;
}

/* "*(u64 *)(r10 -8)" */
static void add_place(const char *width, unsigned reg, int off, struct strbuf *out)
{
	strbuf_addf(out, "*(%s *)(r%u %+d)", width, reg, off);
}

static bool add_atomic(const struct bpf_insn *i, struct strbuf *out)
{
	static const struct {
		int32_t op;
		const char *sign, *name;
	} operations[] = {
		{BPF_ADD, "+=", "add"},
		{BPF_AND, "&=", "and"},
		{BPF_OR, "|=", "or"},
		{BPF_XOR, "^=", "xor"},
	};
	const char *width = width_name(i->code), *bits = BPF_SIZE(i->code) == BPF_DW ? "64" : "";
	const unsigned dst = i->dst_reg, src = i->src_reg;

	if (i->imm == BPF_LOAD_ACQ) {
		strbuf_addf(out, "r%u = load_acquire((%s *)(r%u %+d))", dst, width, src, i->off);
		return true;
	}
	if (i->imm == BPF_STORE_REL) {
		strbuf_addf(out, "store_release((%s *)(r%u %+d), r%u)", width, dst, i->off, src);
		return true;
	}
	if (BPF_SIZE(i->code) != BPF_DW && BPF_SIZE(i->code) != BPF_W)
		return false;
	for (size_t k = 0; k < ARRAY_SIZE(operations); k++) {
		if (i->imm == operations[k].op) {
			strbuf_adds(out, "lock ");
			add_place(width, dst, i->off, out);
			strbuf_addf(out, " %s r%u", operations[k].sign, src);
			return true;
		}
		if (i->imm == (operations[k].op | BPF_FETCH)) {
			strbuf_addf(out, "r%u = atomic%s_fetch_%s((%s *)(r%u %+d), r%u)", src, bits,
				    operations[k].name, width, dst, i->off, src);
			return true;
		}
	}
	if (i->imm == BPF_CMPXCHG)
		strbuf_addf(out, "r0 = atomic%s_cmpxchg((%s *)(r%u %+d), r0, r%u)", bits, width,
			    dst, i->off, src);
	else if (i->imm == BPF_XCHG)
		strbuf_addf(out, "r%u = atomic%s_xchg((%s *)(r%u %+d), r%u)", src, bits, width, dst,
			    i->off, src);
	else
		return false;
	return true;
}

static bool add_store(const struct bpf_insn *i, struct strbuf *out)
{
	const bool of_reg = BPF_CLASS(i->code) == BPF_STX;

	if (i->code == CODE_NOSPEC) {
		strbuf_adds(out, "nospec");
		return true;
	}
	if (of_reg && (BPF_MODE(i->code) == BPF_ATOMIC || BPF_MODE(i->code) == MODE_PROBE_ATOMIC))
		return add_atomic(i, out);
	/* 0xa0: PROBE_MEM32, how the kernel marks an arena's */
	if (BPF_MODE(i->code) != BPF_MEM && BPF_MODE(i->code) != 0xa0)
		return false;
	add_place(width_name(i->code), i->dst_reg, i->off, out);
	strbuf_addf(out, of_reg ? " = r%d" : " = %d", of_reg ? i->src_reg : i->imm);
	return true;
}

/*
 * Modes of the kernel's own, which a dump of a loaded program shows: PROBE_MEM
 * 0x20 and PROBE_MEMSX 0x40 read where a fault is caught, PROBE_MEM32 0xa0 and
 * PROBE_MEM32SX 0xc0 an arena.
 */
static bool add_load(const struct bpf_insn *i, struct strbuf *out)
{
	const uint8_t mode = BPF_MODE(i->code);
	const bool has_sign = mode == BPF_MEMSX || mode == 0x40 || mode == 0xc0;

	if (mode != BPF_MEM && mode != 0x20 && mode != 0xa0 && !has_sign)
		return false;
	strbuf_addf(out, "r%u = ", i->dst_reg);
	add_place((has_sign ? signed_widths : widths)[BPF_SIZE(i->code) >> 3], i->src_reg, i->off,
		  out);
	return true;
}

static bool add_constant(const struct bpf_insn *i, struct cursor *c,
			 const struct disasm_names *names, struct strbuf *out)
{
	struct cursor ahead = *c; /* what does not belong to it is shown by itself */
	struct bpf_insn second;

	if (!cursor_copy(&ahead, &second, sizeof(second)) || second.code || second.dst_reg ||
	    second.src_reg || second.off)
		return false;
	*c = ahead;
	const uint64_t value = (uint64_t)(uint32_t)second.imm << 32 | (uint32_t)i->imm;
	strbuf_addf(out, "r%u = ", i->dst_reg);
	if (!names || !names->constant || !names->constant(names->ctx, i, value, out))
		strbuf_addf(out, "0x%llx", (unsigned long long)value);
	return true;
}

/* Loads of the packet and of constants. */
static bool add_ld(const struct bpf_insn *i, struct cursor *c, const struct disasm_names *names,
		   struct strbuf *out)
{
	if (i->code == (BPF_LD | BPF_IMM | BPF_DW))
		return add_constant(i, c, names, out);
	if (BPF_SIZE(i->code) == BPF_DW)
		return false;
	if (BPF_MODE(i->code) == BPF_ABS)
		strbuf_addf(out, "r0 = *(%s *)skb[%d]", width_name(i->code), i->imm);
	else if (BPF_MODE(i->code) == BPF_IND)
		strbuf_addf(out, "r0 = *(%s *)skb[r%u + %d]", width_name(i->code), i->src_reg,
			    i->imm);
	else
		return false;
	return true;
}

static bool add_insn(const struct bpf_insn *i, struct cursor *c, const struct disasm_names *names,
		     struct strbuf *out)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return add_alu(i, out);
	case BPF_JMP:
	case BPF_JMP32:
		return add_jump(i, names, out);
	case BPF_ST:
	case BPF_STX:
		return add_store(i, out);
	case BPF_LDX:
		return add_load(i, out);
	case BPF_LD:
		return add_ld(i, c, names, out);
	}
	return false;
}

bool disasm_bpf(struct cursor *c, const struct disasm_names *names, struct strbuf *out)
{
	struct bpf_insn insn;

	if (!cursor_copy(c, &insn, sizeof(insn)))
		return false;
	strbuf_addf(out, "(%02x) ", insn.code);
	const size_t before = out->len;
	if (!add_insn(&insn, c, names, out)) {
		strbuf_cut(out, before); /* nothing is left of an attempt */
		add_unknown(&insn, out);
	}
	return true;
}

void disasm_bpf_list(const struct bpf_insn *insns, size_t n, const struct disasm_names *names,
		     struct strbuf *out)
{
	struct cursor c = cursor_make(insns, n * sizeof(*insns), "code");

	while (!cursor_end(&c)) {
		strbuf_addf(out, "%4zu: ", c.pos / sizeof(*insns));
		if (!disasm_bpf(&c, names, out))
			break;
		strbuf_addch(out, '\n');
	}
}
