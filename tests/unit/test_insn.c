// SPDX-License-Identifier: BSD-2-Clause
/*
 * <bpf/bpf_insn.h> on the host: each macro against the bytes that
 * Documentation/bpf/standardization/instruction-set.rst gives. What it makes in
 * an object is run by tests/cmd/test_examples.sh (dropmon).
 */
#include <bpf/bpf_insn.h>
#include <stdio.h>
#include <string.h>

static void check(const struct bpf_insn *insns, size_t n, const char *want)
{
	char got[200] = "";

	for (size_t i = 0; i < n; i++)
		sprintf(got + strlen(got), "%s%02x %d %d %d %d", i ? ", " : "", insns[i].code,
			insns[i].dst_reg, insns[i].src_reg, insns[i].off, insns[i].imm);
	assert_string_equal(got, want);
}

/* code, dst, src, off, imm */
#define CHECK(want, ...)                                                                           \
	do {                                                                                       \
		struct bpf_insn insns_[] = {__VA_ARGS__};                                          \
		check(insns_, sizeof(insns_) / sizeof(*insns_), want);                             \
	} while (0)

TEST(test_arithmetic)
{
	CHECK("bf 1 2 0 0", BPF_MOV64_REG(BPF_REG_1, BPF_REG_2));
	CHECK("b7 0 0 0 -1", BPF_MOV64_IMM(BPF_REG_0, -1));
	CHECK("bc 1 2 0 0", BPF_MOV32_REG(BPF_REG_1, BPF_REG_2));
	CHECK("b4 3 0 0 7", BPF_MOV32_IMM(BPF_REG_3, 7));
	CHECK("0f 1 2 0 0", BPF_ALU64_REG(BPF_ADD, BPF_REG_1, BPF_REG_2));
	CHECK("07 10 0 0 -8", BPF_ALU64_IMM(BPF_ADD, BPF_REG_10, -8));
	CHECK("cc 4 5 0 0", BPF_ALU32_REG(BPF_ARSH, BPF_REG_4, BPF_REG_5));
	CHECK("54 4 0 0 255", BPF_ALU32_IMM(BPF_AND, BPF_REG_4, 255));
}

TEST(test_memory)
{
	CHECK("79 2 1 16 0", BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_1, 16));
	CHECK("71 2 1 -1 0", BPF_LDX_MEM(BPF_B, BPF_REG_2, BPF_REG_1, -1));
	CHECK("63 10 3 -4 0", BPF_STX_MEM(BPF_W, BPF_REG_10, BPF_REG_3, -4));
	CHECK("6a 10 0 -2 9", BPF_ST_MEM(BPF_H, BPF_REG_10, -2, 9));
	CHECK("db 0 1 8 0", BPF_ATOMIC_OP(BPF_DW, BPF_ADD, BPF_REG_0, BPF_REG_1, 8));
	CHECK("18 1 0 0 -1985229329, 00 0 0 0 19088743",
	      BPF_LD_IMM64(BPF_REG_1, 0x0123456789abcdef));
	CHECK("18 1 1 0 5, 00 0 0 0 0", BPF_LD_MAP_FD(BPF_REG_1, 5));
}

TEST(test_jumps)
{
	CHECK("1d 1 2 4 0", BPF_JMP_REG(BPF_JEQ, BPF_REG_1, BPF_REG_2, 4));
	CHECK("55 1 0 -4 1", BPF_JMP_IMM(BPF_JNE, BPF_REG_1, 1, -4));
	CHECK("ae 1 2 3 0", BPF_JMP32_REG(BPF_JLT, BPF_REG_1, BPF_REG_2, 3));
	CHECK("66 1 0 3 2", BPF_JMP32_IMM(BPF_JSGT, BPF_REG_1, 2, 3));
	CHECK("05 0 0 7 0", BPF_JMP_A(7));
	CHECK("85 0 0 0 1", BPF_EMIT_CALL(BPF_FUNC_map_lookup_elem));
	CHECK("95 0 0 0 0", BPF_EXIT_INSN());
}
