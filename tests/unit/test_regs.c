// SPDX-License-Identifier: BSD-2-Clause
/* The registers: what the kernel's headers and the ABIs' documents say. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/util.h"
#include "probe/fetch/regs.h"

/* struct pt_regs of arch/x86/include/uapi/asm/ptrace.h, in its order. */
static const char *const x86_64_order[] = {
	"r15", "r14", "r13", "r12", "bp",      "bx", "r11", "r10",   "r9", "r8", "ax",
	"cx",  "dx",  "si",  "di",  "orig_ax", "ip", "cs",  "flags", "sp", "ss",
};

static void x86_64(void **state)
{
	static const char *const abi[] = {"ax",	 "dx",	"cx",  "bx",  "si",  "di",
					  "bp",	 "sp",	"r8",  "r9",  "r10", "r11",
					  "r12", "r13", "r14", "r15", "ip"};
	static const char *const params[] = {"di", "si", "dx", "cx", "r8", "r9"};
	const struct regs *regs = regs_of(EM_X86_64);
	uint16_t reg, off;

	assert_non_null(regs);
	for (size_t i = 0; i < ARRAY_SIZE(x86_64_order); i++) {
		if (!regs_by_name(regs, x86_64_order[i], &reg))
			continue; /* no number in DWARF */
		assert_true(regs_offset(regs, reg, &off));
		assert_int_equal(off, i * 8);
	}
	for (uint16_t i = 0; i < ARRAY_SIZE(abi); i++) {
		assert_string_equal(regs_name(regs, i), abi[i]);
		assert_true(regs_by_name(regs, abi[i], &reg));
		assert_int_equal(reg, i);
	}
	assert_null(regs_name(regs, 17));
	assert_false(regs_offset(regs, 17, &off)); /* xmm0 */
	for (size_t i = 0; i < ARRAY_SIZE(params); i++) {
		assert_true(regs_param(regs, i, &reg));
		assert_string_equal(regs_name(regs, reg), params[i]);
	}
	assert_false(regs_param(regs, 6, &reg));
	assert_int_equal(regs_param_on_stack(regs, 6), 8); /* above the return address */
	assert_int_equal(regs_param_on_stack(regs, 8), 24);
	assert_string_equal(regs_name(regs, regs_retval(regs)), "ax");
	assert_string_equal(regs_name(regs, regs_stack(regs)), "sp");
	assert_string_equal(regs_name(regs, regs_ip(regs)), "ip");
}

#ifdef __x86_64__
#include <asm/ptrace.h>
static void own_header(void **state)
{
#define AT(name, field)                                                                            \
	{                                                                                          \
		name, offsetof(struct pt_regs, field)                                              \
	}
	static const struct {
		const char *name;
		size_t offset;
	} known[] = {
		AT("%ax", rax),	 AT("%dx", rdx), AT("%cx", rcx),  AT("%bx", rbx),  AT("%si", rsi),
		AT("rdi", rdi),	 AT("bp", rbp),	 AT("esp", rsp),  AT("r8", r8),	   AT("r9d", r9),
		AT("%r10", r10), AT("r11", r11), AT("%r12", r12), AT("%r13", r13), AT("r14", r14),
		AT("r15", r15),	 AT("%ip", rip),
	};
	const struct regs *regs = regs_of(EM_NONE);
	uint16_t reg, off;

	assert_ptr_equal(regs, regs_of(EM_X86_64));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_true(regs_by_name(regs, known[i].name, &reg));
		assert_true(regs_offset(regs, reg, &off));
		assert_int_equal(off, known[i].offset);
	}
}
#elif defined(__aarch64__)
#include <asm/ptrace.h>
static void own_header(void **state)
{
	const struct regs *regs = regs_of(EM_NONE);
	uint16_t off;

	assert_ptr_equal(regs, regs_of(EM_AARCH64));
	for (uint16_t i = 0; i < 31; i++) {
		assert_true(regs_offset(regs, i, &off));
		assert_int_equal(off, offsetof(struct user_pt_regs, regs[i]));
	}
	assert_true(regs_offset(regs, regs_stack(regs), &off));
	assert_int_equal(off, offsetof(struct user_pt_regs, sp));
	assert_true(regs_offset(regs, regs_ip(regs), &off));
	assert_int_equal(off, offsetof(struct user_pt_regs, pc));
}
#else
static void own_header(void **state)
{
	assert_null(regs_of(EM_NONE));
}
#endif

/* struct user_pt_regs { __u64 regs[31]; __u64 sp; __u64 pc; __u64 pstate; } */
static void arm64(void **state)
{
	const struct regs *regs = regs_of(EM_AARCH64);
	uint16_t reg, off;
	char name[8];

	assert_non_null(regs);
	for (uint16_t i = 0; i < 31; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		assert_string_equal(regs_name(regs, i), name);
		name[0] = 'w';
		assert_true(regs_by_name(regs, name, &reg));
		assert_int_equal(reg, i);
		assert_true(regs_offset(regs, i, &off));
		assert_int_equal(off, i * 8);
	}
	for (size_t i = 0; i < 8; i++) {
		assert_true(regs_param(regs, i, &reg));
		assert_int_equal(reg, i);
	}
	assert_false(regs_param(regs, 8, &reg));
	assert_int_equal(regs_param_on_stack(regs, 8), 0);
	assert_int_equal(regs_param_on_stack(regs, 10), 16);
	assert_int_equal(regs_retval(regs), 0);
	assert_true(regs_offset(regs, regs_stack(regs), &off));
	assert_int_equal(off, 248);
	assert_true(regs_offset(regs, regs_ip(regs), &off));
	assert_int_equal(off, 256);
	assert_true(regs_by_name(regs, "lr", &reg));
	assert_int_equal(reg, 30);
	assert_true(regs_by_name(regs, "%fp", &reg));
	assert_int_equal(reg, 29);
	assert_false(regs_offset(regs, 64, &off)); /* v0 */
}

static void no_such(void **state)
{
	static const char *const bad[] = {"",	 "%", "r", "x",	   "x31",
					  "axx", "a", " ", "rax ", "ax rax"};
	uint16_t reg;

	assert_null(regs_of(EM_RISCV));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(regs_by_name(regs_of(EM_X86_64), bad[i], &reg));
		assert_false(regs_by_name(regs_of(EM_AARCH64), bad[i], &reg));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64),
		cmocka_unit_test(own_header),
		cmocka_unit_test(arm64),
		cmocka_unit_test(no_such),
	};

	return cmocka_run_group_tests_name("regs", tests, NULL, NULL);
}
