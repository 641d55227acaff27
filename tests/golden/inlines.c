// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inlined functions, without the C library: leaf() is inlined everywhere, middle() in parent().
 * Each of them has lines of its own.
 */
#define NOINLINE __attribute__((noinline, noclone))
#define INLINE	 static inline __attribute__((always_inline))
static volatile unsigned long sink;
#line 101 "/src/leaf.h"
INLINE void leaf(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 31 + i;
}
#line 201 "/src/middle.c"
INLINE void middle(unsigned long n)
{
	leaf(n);
}
#line 301 "/src/parent.c"
NOINLINE static void parent(unsigned long n)
{
	middle(n);
	sink++;
}
#line 401 "/src/other.c"
NOINLINE static void other(unsigned long n)
{
	leaf(n);
	parent(n / 2);
	sink++;
}
#line 501 "/src/main.c"
__attribute__((used)) NOINLINE void begin(void)
{
	for (int i = 0; i < 100; i++) {
		other(100000);
		parent(50000);
	}
	__asm__ volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
}
__asm__(".globl _start\n.type _start,@function\n_start: .cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp,%ebp\nand $-16,%rsp\ncall begin\nhlt\n.cfi_endproc\n.size _start,.-_start\n");
