// SPDX-License-Identifier: BSD-2-Clause
/* Uses CPU time below functions without frame pointers, for tests of run --call-graph dwarf. */
#include <time.h>

#define SECONDS 3

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static volatile unsigned long sink;

NOINLINE static void inner(void)
{
	struct timespec t;

	do {
		for (int i = 0; i < 100000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec < SECONDS);
	sink++;
}

NOINLINE static int outer(int depth)
{
	if (depth)
		outer(depth - 1);
	else
		inner();
	sink++;
	return depth;
}

int main(void)
{
	return outer(10) - 10;
}
