// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instructions that cannot have a uprobe. What the kernel makes of those of x86-64 is tested by
 * tests/cmd/test_probe_refused.sh; here are the others, and code that ends too early.
 */
#include <elf.h>
#include <string.h>

#include "lib/attach/uprobe_insn.h"
#include "lib/base/util.h"

struct sample {
	const char *code;
	size_t n;
	const char *why; /* a part of it; NULL: it can be probed */
};

#define CODE(bytes, why)                                                                           \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, why                                                      \
	}

static void check(uint16_t machine, const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		const char *why = uprobe_insn_obstacle(machine, (const uint8_t *)s->code, s->n);

		if (!why != !s->why || (why && !strstr(why, s->why)))
			fail_msg("machine %u, sample %zu (%02x %02x): %s", machine, i,
				 (uint8_t)s->code[0], s->n > 1 ? (uint8_t)s->code[1] : 0,
				 why ? why : "(none)");
	}
}

TEST(x86_64)
{
	static const struct sample samples[] = {
		CODE("\xf0\x48\xff\x07", "lock prefix"),      /* lock incq (%rdi) */
		CODE("\xf3\xf0\x48\xff\x07", "lock prefix"),  /* xrelease lock incq (%rdi) */
		CODE("\x3e\xff\xe0", "notrack"),	      /* notrack jmp *%rax */
		CODE("\x66\x2e\x0f\x1f\x84\x00", "segment"),  /* cs nopw */
		CODE("\x48\xff\x07", NULL),		      /* incq (%rdi) */
		CODE("\x48\x87\x07", NULL),		      /* xchg %rax, (%rdi) */
		CODE("\xf3\x0f\x1e\xfa", NULL),		      /* endbr64 */
		CODE("\x64\x48\x8b\x04\x25", NULL),	      /* mov %fs:…, %rax */
		CODE("\x0f\x05", "correctly"),		      /* syscall */
		CODE("\x0f\x0b", NULL),			      /* ud2 */
		CODE("\x66\x66\x48\xe8", "operand-size"),     /* the call of __tls_get_addr */
		CODE("\x66\x0f\x84", "operand-size"),	      /* je, 16 bits */
		CODE("\x66\x0f\x1f\x44\x00\x00", NULL),	      /* nopw */
		CODE("\x66\x0f\x38\x80\x00", NULL),	      /* invept: 0f 38 is no branch */
		CODE("\x9c", "correctly"),		      /* pushf */
		CODE("\x9d", NULL),			      /* popf */
		CODE("\xf3\xaa", "each repetition"),	      /* rep stosb */
		CODE("\xf3\x48\xa5", "each repetition"),      /* rep movsq */
		CODE("\xa5", NULL),			      /* movsl, once */
		CODE("\xf3\xc3", NULL),			      /* rep ret */
		CODE("\xcc", "breakpoint"),		      /* int3 */
		CODE("\xf4", "does not support"),	      /* hlt */
		CODE("\x06", "does not support"),	      /* push %es, of 32 bits */
		CODE("\x8e\xd0", "does not support"),	      /* mov %eax, %ss */
		CODE("\x8e\xd8", NULL),			      /* mov %eax, %ds */
		CODE("\x40\x8e\xd0", "does not support"),     /* the same behind a REX prefix */
		CODE("\xc5\xf9\xef\xc0", "does not support"), /* vpxor */
		CODE("\xc5\xf9\x74\xc1", "correctly"),	      /* vpcmpeqb */
		CODE("\xc4\xe2\x79\x9d\xc1", "correctly"),    /* vfnmadd132ss */
		CODE("\x62\xf1\x7c\x48\x58\xc1", NULL),	      /* vaddps, EVEX */
		CODE("\x62\xf1\x7d\x48\xef\xc1", "does not support"), /* vpxord */
		CODE("\xc5\xfc\x58\xc1", NULL),			      /* vaddps */
		CODE("\x66\x0f\x74\xc1", NULL),			      /* pcmpeqb */
		/* five different prefixes: the last one counts as the opcode */
		CODE("\x64\x65\x66\x67\xf2\xf1", NULL),
		CODE("\x66\x66\x66\x66\x66\x66\x90", NULL), /* the same one again */
		CODE("\xf0", "lock prefix"),
		CODE("\xc4", NULL),
		CODE("", NULL),
	};

	check(EM_X86_64, samples, ARRAY_SIZE(samples));
}

TEST(i386)
{
	static const struct sample samples[] = {
		CODE("\xf0\xff\x00", "lock prefix"),	 /* lock incl (%eax) */
		CODE("\x40", NULL),			 /* inc %eax; not a prefix */
		CODE("\x40\xf4", NULL),			 /* and what follows is another one */
		CODE("\x06", NULL),			 /* push %es */
		CODE("\x07", "does not support"),	 /* pop %es */
		CODE("\x17", "does not support"),	 /* pop %ss */
		CODE("\x60", NULL),			 /* pusha */
		CODE("\x9a\x00", NULL),			 /* lcall */
		CODE("\xcd\x80", "does not support"),	 /* int $0x80 */
		CODE("\x62\x04\x24", NULL),		 /* bound */
		CODE("\xc5\x00", NULL),			 /* lds */
		CODE("\xc5\xf9\xef\xc0", "not support"), /* vpxor */
		CODE("\xfa", "does not support"),	 /* cli */
		CODE("\x0f\x34", "correctly"),		 /* sysenter */
	};

	check(EM_386, samples, ARRAY_SIZE(samples));
}

TEST(arm64)
{
	static const struct sample samples[] = {
		CODE("\xfd\x7b\xbf\xa9", NULL),		      /* stp x29, x30, [sp, #-16]! */
		CODE("\x5f\x24\x03\xd5", NULL),		      /* bti c */
		CODE("\x3f\x23\x03\xd5", NULL),		      /* paciasp */
		CODE("\xbf\x23\x03\xd5", "does not support"), /* autiasp */
		CODE("\x1f\x20\x03\xd5", NULL),		      /* nop */
		CODE("\x3f\x20\x03\xd5", "does not support"), /* yield */
		CODE("\x00\x7c\x5f\x88", "exclusive"),	      /* ldxr w0, [x0] */
		CODE("\x20\xfc\x5f\xc8", "exclusive"),	      /* ldaxr x0, [x1] */
		CODE("\x00\xfc\xdf\x88", NULL),		      /* ldar w0, [x0] */
		CODE("\x20\x00\xa0\xb8", NULL),		      /* ldadda w0, w0, [x1] */
		CODE("\x00\x00\x00\x58", "does not support"), /* ldr x0, literal */
		CODE("\x00\x00\x00\x98", "does not support"), /* ldrsw x0, literal */
		CODE("\x00\x00\x00\x10", NULL),		      /* adr x0, . */
		CODE("\x00\x00\x00\x90", NULL),		      /* adrp x0, . */
		CODE("\x01\x00\x00\xd4", "does not support"), /* svc #0 */
		CODE("\x00\x00\x20\xd4", "does not support"), /* brk #0 */
		CODE("\x00\x00\x00\x14", NULL),		      /* b . */
		CODE("\x00\x00\x00\x94", NULL),		      /* bl . */
		CODE("\xc0\x03\x5f\xd6", NULL),		      /* ret */
		CODE("\xff\x0b\x5f\xd6", "does not support"), /* retaa */
		CODE("\x40\xd0\x3b\xd5", NULL),		      /* mrs x0, tpidr_el0 */
		CODE("\x20\x42\x3b\xd5", "does not support"), /* mrs x0, daif */
		CODE("\x40\xd0\x1b\xd5", "does not support"), /* msr tpidr_el0, x0 */
		CODE("\x00\x04\x01\x19", "does not support"), /* cpyfp [x0]!, [x1]!, x0! */
		CODE("\x01\x00\x00", NULL),
	};

	check(EM_AARCH64, samples, ARRAY_SIZE(samples));
}

TEST(others)
{
	assert_null(uprobe_insn_obstacle(EM_RISCV, (const uint8_t *)"\xf0\xf0\xf0\xf0", 4));
}
