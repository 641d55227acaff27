// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls umask(2) COUNT times, each time with another mask, from two depths of calls in
 * turn, so that there are two user stacks.
 */
#include <stdlib.h>
#include <sys/stat.h>

static __attribute__((noinline)) void ask(int depth, int mask)
{
	if (depth)
		ask(depth - 1, mask);
	else
		umask((mode_t)mask);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < n; i++)
		ask(2 + i % 2, i);
	return 0;
}
