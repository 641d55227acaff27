// SPDX-License-Identifier: BSD-2-Clause
/*
 * disasm/: each kind of BPF instruction as the kernel's verifier writes it, and the machine code of
 * each machine. (tests/cmd/test_prog.sh lets the running kernel write the same instructions.)
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/disasm.h"
#include "lib/sys/uapi.h"

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}

struct expectation {
	struct bpf_insn insn[2];
	const char *text;
};

static const struct expectation expectations[] = {
	/* arithmetic */
	{{INSN(0xb7, 0, 0, 0, 0)}, "(b7) r0 = 0"},
	{{INSN(0xb4, 9, 0, 0, -1)}, "(b4) w9 = -1"},
	{{INSN(0xbf, 6, 1, 0, 0)}, "(bf) r6 = r1"},
	{{INSN(0xbc, 6, 1, 0, 0)}, "(bc) w6 = w1"},
	{{INSN(0xbf, 6, 1, 8, 0)}, "(bf) r6 = (s8)r1"},
	{{INSN(0xbf, 6, 1, 32, 0)}, "(bf) r6 = (s32)r1"},
	{{INSN(0xbc, 6, 1, 16, 0)}, "(bc) w6 = (s16)w1"},
	{{INSN(0xbf, 2, 1, 1, 1 << 16)}, "(bf) r2 = addr_space_cast(r1, 1, 0)"},
	{{INSN(0xbf, 2, 1, -1, 0)}, "(bf) r2 = &(void __percpu *)(r1)"},
	{{INSN(0x07, 2, 0, 0, -8)}, "(07) r2 += -8"},
	{{INSN(0x0f, 2, 3, 0, 0)}, "(0f) r2 += r3"},
	{{INSN(0x1c, 2, 3, 0, 0)}, "(1c) w2 -= w3"},
	{{INSN(0x27, 2, 0, 0, 7)}, "(27) r2 *= 7"},
	{{INSN(0x37, 2, 0, 0, 7)}, "(37) r2 /= 7"},
	{{INSN(0x3f, 2, 1, 1, 0)}, "(3f) r2 s/= r1"},
	{{INSN(0x94, 2, 0, 1, 10)}, "(94) w2 s%= 10"},
	{{INSN(0x97, 2, 0, 0, 10)}, "(97) r2 %= 10"},
	{{INSN(0x4f, 2, 1, 0, 0)}, "(4f) r2 |= r1"},
	{{INSN(0x57, 2, 0, 0, 255)}, "(57) r2 &= 255"},
	{{INSN(0x67, 2, 0, 0, 32)}, "(67) r2 <<= 32"},
	{{INSN(0x74, 2, 0, 0, 3)}, "(74) w2 >>= 3"},
	{{INSN(0xc7, 2, 0, 0, 32)}, "(c7) r2 s>>= 32"},
	{{INSN(0xa7, 2, 0, 0, 1)}, "(a7) r2 ^= 1"},
	{{INSN(0x87, 2, 0, 0, 0)}, "(87) r2 = -r2"},
	{{INSN(0x84, 2, 0, 0, 0)}, "(84) w2 = -w2"},
	{{INSN(0xdc, 2, 0, 0, 16)}, "(dc) r2 = be16 r2"},
	{{INSN(0xd4, 2, 0, 0, 64)}, "(d4) r2 = le64 r2"},
	{{INSN(0xd7, 2, 0, 0, 32)}, "(d7) r2 = bswap32 r2"},
	/* loads and stores */
	{{INSN(0x79, 2, 1, 8, 0)}, "(79) r2 = *(u64 *)(r1 +8)"},
	{{INSN(0x61, 2, 1, -4, 0)}, "(61) r2 = *(u32 *)(r1 -4)"},
	{{INSN(0x69, 2, 1, 0, 0)}, "(69) r2 = *(u16 *)(r1 +0)"},
	{{INSN(0x71, 2, 1, 1, 0)}, "(71) r2 = *(u8 *)(r1 +1)"},
	{{INSN(0x91, 2, 1, 1, 0)}, "(91) r2 = *(s8 *)(r1 +1)"},
	{{INSN(0x81, 2, 1, 4, 0)}, "(81) r2 = *(s32 *)(r1 +4)"},
	{{INSN(0x7b, 10, 2, -16, 0)}, "(7b) *(u64 *)(r10 -16) = r2"},
	{{INSN(0x73, 1, 2, 3, 0)}, "(73) *(u8 *)(r1 +3) = r2"},
	{{INSN(0x62, 10, 0, -4, 5)}, "(62) *(u32 *)(r10 -4) = 5"},
	{{INSN(0x30, 0, 0, 0, 12)}, "(30) r0 = *(u8 *)skb[12]"},
	{{INSN(0x48, 0, 6, 0, 14)}, "(48) r0 = *(u16 *)skb[r6 + 14]"},
	{{INSN(0x18, 1, 0, 0, 0x9abcdef0), INSN(0, 0, 0, 0, 0x12345678)},
	 "(18) r1 = 0x123456789abcdef0"},
	{{INSN(0xdb, 1, 2, 0, BPF_ADD)}, "(db) lock *(u64 *)(r1 +0) += r2"},
	{{INSN(0xc3, 1, 2, 4, BPF_XOR)}, "(c3) lock *(u32 *)(r1 +4) ^= r2"},
	{{INSN(0xdb, 1, 2, 0, BPF_ADD | BPF_FETCH)},
	 "(db) r2 = atomic64_fetch_add((u64 *)(r1 +0), r2)"},
	{{INSN(0xc3, 1, 2, 0, BPF_OR | BPF_FETCH)},
	 "(c3) r2 = atomic_fetch_or((u32 *)(r1 +0), r2)"},
	{{INSN(0xdb, 10, 2, -8, BPF_XCHG)}, "(db) r2 = atomic64_xchg((u64 *)(r10 -8), r2)"},
	{{INSN(0xc3, 10, 2, -8, BPF_CMPXCHG)}, "(c3) r0 = atomic_cmpxchg((u32 *)(r10 -8), r0, r2)"},
	{{INSN(0xd3, 2, 1, 0, 0x100)}, "(d3) r2 = load_acquire((u8 *)(r1 +0))"},
	{{INSN(0xdb, 1, 2, 0, 0x110)}, "(db) store_release((u64 *)(r1 +0), r2)"},
	{{INSN(0xc2, 0, 0, 0, 0)}, "(c2) nospec"},
	/* jumps and calls */
	{{INSN(0x05, 0, 0, 3, 0)}, "(05) goto pc+3"},
	{{INSN(0x05, 0, 0, -3, 0)}, "(05) goto pc-3"},
	{{INSN(0x06, 0, 0, 0, 70000)}, "(06) gotol pc+70000"},
	{{INSN(0xe5, 0, 0, 2, 0)}, "(e5) may_goto pc+2"},
	{{INSN(0x0d, 3, 0, 0, 0)}, "(0d) gotox r3"},
	{{INSN(0x15, 1, 0, 2, 0)}, "(15) if r1 == 0x0 goto pc+2"},
	{{INSN(0x55, 1, 0, 2, -1)}, "(55) if r1 != 0xffffffff goto pc+2"},
	{{INSN(0x2d, 1, 2, 2, 0)}, "(2d) if r1 > r2 goto pc+2"},
	{{INSN(0x3e, 1, 2, 2, 0)}, "(3e) if w1 >= w2 goto pc+2"},
	{{INSN(0xa6, 1, 0, 2, 9)}, "(a6) if w1 < 0x9 goto pc+2"},
	{{INSN(0xbd, 1, 2, -9, 0)}, "(bd) if r1 <= r2 goto pc-9"},
	{{INSN(0x65, 1, 0, 2, 9)}, "(65) if r1 s> 0x9 goto pc+2"},
	{{INSN(0x7d, 1, 2, 2, 0)}, "(7d) if r1 s>= r2 goto pc+2"},
	{{INSN(0xc5, 1, 0, 2, 0)}, "(c5) if r1 s< 0x0 goto pc+2"},
	{{INSN(0xde, 1, 2, 2, 0)}, "(de) if w1 s<= w2 goto pc+2"},
	{{INSN(0x45, 1, 0, 2, 4)}, "(45) if r1 & 0x4 goto pc+2"},
	{{INSN(0x85, 0, 0, 0, 1)}, "(85) call bpf_map_lookup_elem#1"},
	{{INSN(0x85, 0, 0, 0, 113)}, "(85) call bpf_probe_read_kernel#113"},
	{{INSN(0x85, 0, 0, 0, 211)}, "(85) call bpf_cgrp_storage_delete#211"},
	{{INSN(0x85, 0, 0, 0, 212)}, "(85) call unknown#212"},
	{{INSN(0x85, 0, 0, 0, -1)}, "(85) call unknown#-1"},
	{{INSN(0x85, 0, 1, 0, 5)}, "(85) call pc+5"},
	{{INSN(0x85, 0, 2, 0, 77)}, "(85) call kernel-function#77"},
	{{INSN(0x95, 0, 0, 0, 0)}, "(95) exit"},
	/* what no kernel runs is shown as it is */
	{{INSN(0x8f, 3, 1, 0, 5)}, "(8f) unknown instruction: dst 3 src 1 off 0 imm 5"},
	{{INSN(0xbf, 6, 1, 24, 0)}, "(bf) unknown instruction: dst 6 src 1 off 24 imm 0"},
	{{INSN(0x07, 6, 0, 1, 2)}, "(07) unknown instruction: dst 6 src 0 off 1 imm 2"},
	{{INSN(0xdc, 2, 0, 0, 17)}, "(dc) unknown instruction: dst 2 src 0 off 0 imm 17"},
	{{INSN(0xd3, 1, 2, 0, BPF_ADD)}, "(d3) unknown instruction: dst 1 src 2 off 0 imm 0"},
	{{INSN(0xf5, 15, 15, -1, 0)}, "(f5) unknown instruction: dst 15 src 15 off -1 imm 0"},
};

TEST(test_each_instruction)
{
	for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
		const struct expectation *e = &expectations[i];
		const size_t slots = e->insn[0].code == 0x18 ? 2 : 1;
		struct cursor c = cursor_make(e->insn, sizeof(e->insn), "test");
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		assert_true(disasm_bpf(&c, NULL, &out));
		assert_string_equal(strbuf_str(&out), e->text);
		assert_int_equal(c.pos, slots * sizeof(struct bpf_insn));
	}
}

TEST(test_a_constant_that_is_cut)
{
	const struct bpf_insn insns[] = {INSN(0x18, 1, 0, 0, 7), INSN(0x95, 0, 0, 0, 0)};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	/* its second half is another instruction, which is shown too; or there is none */
	disasm_bpf_list(insns, 2, NULL, &out);
	disasm_bpf_list(insns, 1, NULL, &out);
	assert_string_equal(strbuf_str(&out),
			    "   0: (18) unknown instruction: dst 1 src 0 off 0 imm 7\n"
			    "   1: (95) exit\n"
			    "   0: (18) unknown instruction: dst 1 src 0 off 0 imm 7\n");
	struct cursor c = cursor_make(insns, 7, "test");
	assert_false(disasm_bpf(&c, NULL, &out));
	assert_int_equal(c.pos, 0);
}

static bool name_call(void *ctx, const struct bpf_insn *insn, struct strbuf *out)
{
	if (insn->src_reg != BPF_PSEUDO_CALL)
		return false;
	strbuf_addf(out, "%s#%d", (const char *)ctx, insn->imm);
	return true;
}

static bool name_constant(void *ctx, const struct bpf_insn *insn, uint64_t value,
			  struct strbuf *out)
{
	if (insn->src_reg != BPF_PSEUDO_MAP_FD)
		return false;
	strbuf_addf(out, "map[fd:%llu]", (unsigned long long)value);
	return true;
}

TEST(test_names)
{
	const struct disasm_names names = {name_call, name_constant, (char *)"sub"};
	const struct bpf_insn insns[] = {
		INSN(0x18, 1, BPF_PSEUDO_MAP_FD, 0, 7),
		INSN(0, 0, 0, 0, 0),
		INSN(0x18, 2, 0, 0, 7),
		INSN(0, 0, 0, 0, 0),
		INSN(0x85, 0, 1, 0, 2),
		INSN(0x85, 0, 0, 0, 2),
		INSN(0x95, 0, 0, 0, 0),
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	disasm_bpf_list(insns, ARRAY_SIZE(insns), &names, &out);
	assert_string_equal(strbuf_str(&out), "   0: (18) r1 = map[fd:7]\n"
					      "   2: (18) r2 = 0x7\n"
					      "   4: (85) call sub#2\n"
					      "   5: (85) call bpf_map_update_elem#2\n"
					      "   6: (95) exit\n");
}

/* ---- machine code ---- */

/* Code that runs at BASE, and each of its instructions: "ADDRESS OPERATION OPERANDS". */
#define BASE 0x401000

struct machine_expectation {
	struct disasm_machine_opts opts;
	const char *code; /* n bytes of it */
	size_t n;
	const char *text;
};

static const struct machine_expectation machine_expectations[] = {
	{{.machine = EM_X86_64},
	 "\x55\x48\x89\xe5\x48\x8b\x05\xf4\x2f\x00\x00\xc5\xfe\x6f\x07\xe8\xec\x0f\x00\x00\x74\xea"
	 "\x06"
	 "\xc3",
	 24,
	 "401000 pushq %rbp\n"
	 "401001 movq %rsp, %rbp\n"
	 "401004 movq 0x2ff4(%rip), %rax data 403fff\n"
	 "40100b vmovdqu (%rdi), %ymm0\n"
	 "40100f callq 0x402000 call target 402000\n"
	 "401014 je 0x401000 jump target 401000\n"
	 "401016 .byte 0x06\n"
	 "401017 retq  return\n"},
	{{.machine = EM_X86_64, .intel = true},
	 "\x48\x89\xe5\xe8\xf8\x0f\x00\x00",
	 8,
	 "401000 mov rbp, rsp\n"
	 "401003 call 0x402000 call target 402000\n"},
	/* the same bytes are other instructions with 32 bits */
	{{.machine = EM_386}, "\x48\x89\xe5", 3, "401000 decl %eax\n401001 movl %esp, %ebp\n"},
	{{.machine = EM_AARCH64},
	 "\xfd\x7b\xbf\xa9\xff\x03\x00\x94\xc0\xff\xff\x54\xff\xff\xff\xff\xc0\x03\x5f\xd6\x1f\x20",
	 22,
	 "401000 stp x29, x30, [sp, #-0x10]!\n"
	 "401004 bl #0x402000 call target 402000\n"
	 "401008 b.eq #0x401000 jump target 401000\n"
	 "40100c .inst 0xffffffff\n"
	 "401010 ret  return\n"
	 "401014 .byte 0x1f\n"
	 "401015 .byte 0x20\n"},
};

static void add_machine_insn(uint64_t at, const struct disasm_machine_insn *insn,
			     struct strbuf *out)
{
	static const char *const flows[] = {
		[DISASM_NEXT] = "",
		[DISASM_JUMP] = " jump",
		[DISASM_CALL] = " call",
		[DISASM_RETURN] = " return",
	};

	strbuf_addf(out, "%llx %s %s", (unsigned long long)at, insn->operation, insn->operands);
	strbuf_adds(out, flows[insn->flow]);
	if (insn->has_target)
		strbuf_addf(out, " target %llx", (unsigned long long)insn->target);
	if (insn->has_data)
		strbuf_addf(out, " data %llx", (unsigned long long)insn->data);
	strbuf_addch(out, '\n');
}

/* Whatever machine this is, capstone knows the others. */
TEST(test_machine_code)
{
	for (size_t i = 0; i < ARRAY_SIZE(machine_expectations); i++) {
		const struct machine_expectation *e = &machine_expectations[i];
		_cleanup_(disasm_machine_freep) struct disasm_machine *m = NULL;
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct cursor c = cursor_make(e->code, e->n, "test");
		struct disasm_machine_insn insn;

		_cleanup_error_ struct error *err = disasm_machine_new(&e->opts, &m);
		if (err && strstr(err->msg, "built without capstone")) {
			print_message("%s\n", err->msg);
			skip();
		}
		assert_null(err);
		for (uint64_t at = BASE; disasm_machine_next(m, &c, at, &insn); at = BASE + c.pos)
			add_machine_insn(at, &insn, &out);
		assert_string_equal(strbuf_str(&out), e->text);
	}
}

/* Capstone 4 does not know these of AVX-512; they are not read from their middle. */
TEST(test_instructions_that_capstone_may_not_know)
{
	/* vmovdqu64 (%rdi),%ymm17; vptestmb %ymm17,%ymm17,%k2; vpcmpeqb (%rsi),%ymm17,%k1{%k2}; ret
	 */
	static const uint8_t code[] = {0x62, 0xe1, 0xfe, 0x28, 0x6f, 0x0f, 0x62, 0xb2, 0x75, 0x20,
				       0x26, 0xd1, 0x62, 0xf3, 0x75, 0x22, 0x3f, 0x0e, 0x00, 0xc3};
	static const uint64_t starts[] = {0, 6, 12, 19};
	const struct disasm_machine_opts opts = {.machine = EM_X86_64};
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = NULL;
	struct cursor c = cursor_make(code, sizeof(code), "test");
	struct disasm_machine_insn insn;

	_cleanup_error_ struct error *err = disasm_machine_new(&opts, &m);
	if (err)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		assert_int_equal(c.pos, starts[i]);
		assert_true(disasm_machine_next(m, &c, BASE + c.pos, &insn));
		if (!strcmp(insn.operation, ".byte"))
			assert_int_equal(strlen(insn.operands), 6 * (c.pos - starts[i]) - 2);
	}
	assert_string_equal(insn.operation, "retq");
	assert_true(cursor_end(&c));
}

TEST(test_machine_that_is_not_known)
{
	const struct disasm_machine_opts opts = {.machine = EM_S390};
	struct disasm_machine *m = NULL;
	_cleanup_error_ struct error *err = disasm_machine_new(&opts, &m);

	assert_non_null(err);
	assert_int_equal(err->code, ENOTSUP);
	assert_null(m);
}

/* Of each kind of map, prefix and operand; objdump has the same lengths. */
TEST(test_x86_lengths)
{
	static const struct {
		const char *bytes;
		uint8_t size, length; /* 0: not an instruction, or not whole */
		bool is_32_bit, branches;
	} cases[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
		{CODE("\x90"), 1, false, false},
		{CODE("\xf3\x0f\x1e\xfa"), 4, false, false},
		{CODE("\x74\x21"), 2, false, false},
		{CODE("\xeb\x21"), 2, false, true},
		{CODE("\xc3"), 1, false, true},
		{CODE("\xe8\x01\x02\x03\x04"), 5, false, true},
		{CODE("\x66\xe8\x01\x02\x03\x04"), 6, false, true},
		{CODE("\x66\xe8\x01\x02\x03\x04"), 4, true, true},
		{CODE("\x0f\x84\x01\x02\x03\x04"), 6, false, false},
		{CODE("\x0f\x05"), 2, false, true},
		{CODE("\xff\xe0"), 2, false, true},
		{CODE("\xff\x25\x01\x02\x03\x04"), 6, false, true},
		{CODE("\xff\xc1"), 2, false, false},
		{CODE("\x89\xdf"), 2, false, false},
		{CODE("\x8d\x04\xfd\0\0\0\0"), 7, false, false},
		{CODE("\x44\x89\xa5\xc0\0\0\0"), 7, false, false},
		{CODE("\x48\xb8\1\2\3\4\5\6\7\x8"), 10, false, false},
		{CODE("\x66\xb8\1\2"), 4, false, false},
		{CODE("\xf6\xc1\x01"), 3, false, false},
		{CODE("\xf7\xd0"), 2, false, false},
		{CODE("\x66\xf7\xc0\1\2"), 5, false, false},
		{CODE("\xa0\1\2\3\4\5\6\7\x8"), 9, false, false},
		{CODE("\xa0\1\2\3\4"), 5, true, false},
		{CODE("\x67\xa0\1\2"), 4, true, false},
		{CODE("\x67\x8b\x86\1\2"), 5, true, false},
		{CODE("\x67\x8b\x06\1\2"), 5, true, false},
		{CODE("\x62\xf3\x75\x22\x3f\x0e\0"), 7, false, false},
		{CODE("\x62\x01"), 2, true, false},
		{CODE("\x62"), 0, false, true},
		{CODE("\xc5\xf8\x77"), 3, false, false},
		{CODE("\xc5\xed\xef\xd9"), 4, false, false},
		{CODE("\xc4\xe3\x7d\x19\xc1\1"), 6, false, false},
		{CODE("\xc4\xe2\x7d\x18\x05\1\2\3\4"), 9, false, false},
		{CODE("\x66\x0f\x3a\x0f\xc1\x08"), 6, false, false},
		{CODE("\x66\x0f\x38\0\xc1"), 5, false, false},
		{CODE("\x9a\1\2\3\4\5\6"), 7, true, true},
		{CODE("\x9a\1\2\3\4\5\6"), 0, false, true},
		{CODE("\xc8\1\2\3"), 4, false, false},
		{CODE("\x48"), 0, false, true},
		{CODE("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"), 0, false,
		 true},
		{"", 0, 0, false, true},
#undef CODE
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
		const bool is_64_bit = !cases[i].is_32_bit;

		assert_int_equal(disasm_x86_length(bytes, cases[i].size, is_64_bit),
				 cases[i].length);
		assert_int_equal(disasm_x86_always_branches(bytes, cases[i].size, is_64_bit),
				 cases[i].branches);
		/* cut off: its last byte is needed */
		if (cases[i].length) {
			uint8_t *part = malloc(cases[i].length);

			memcpy(part, bytes, cases[i].length);
			assert_int_equal(disasm_x86_length(part, cases[i].length - 1u, is_64_bit),
					 0);
			free(part);
		}
	}
	/* any bytes: never more than there are */
	uint64_t v = 1;
	for (int i = 0; i < 300000; i++) {
		v = v * 6364136223846793005ull + 1442695040888963407ull;
		const uint64_t bytes[2] = {v ^ v >> 29, v ^ v << 17};
		const size_t size = v >> 60;

		assert_true(disasm_x86_length((const uint8_t *)bytes, size, i & 1) <= size);
	}
}
