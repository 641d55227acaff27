// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload of guest/run-maps: 3 N calls of umask(2) by one way and N by
 * another (10), then so many page faults (0) in touch().
 *
 *	maps_work [N [FAULTS]]
 */
#include <stdlib.h>
#include <sys/mman.h>

static volatile char *at;

static __attribute__((noinline)) void leaf(int n)
{
	for (int i = 0; i < n; i++) {
#ifdef __x86_64__
		long ret = 95;

		__asm__ volatile("syscall" : "+a"(ret) : "D"(18L) : "rcx", "r11", "memory");
#else
		register long nr __asm__("x8") = 166;
		register long mask __asm__("x0") = 18;

		__asm__ volatile("svc 0" : "+r"(mask) : "r"(nr) : "memory");
#endif
	}
}

static __attribute__((noinline)) void left(void)
{
	leaf(3);
	__asm__ volatile("");
}

static __attribute__((noinline)) void right(void)
{
	leaf(1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void touch(int n)
{
	for (; n; n--, at += 4096)
		*at = 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, faults = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < n; i++) {
		left();
		right();
	}
	if (!faults)
		return 0;
	at = mmap(NULL, faults * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	if (at == MAP_FAILED)
		return 1;
	madvise((void *)at, faults * 4096ul, MADV_NOHUGEPAGE);
	touch(faults);
	return 0;
}
