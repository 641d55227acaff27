// SPDX-License-Identifier: BSD-2-Clause
/* Calls a function COUNT times, and writes how many ns of CPU time a call takes to FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct order {
	long id;
	long items[4];
};

__attribute__((noinline)) void probed(struct order *order, int count, const char *note)
{
	__asm__ volatile("" : : "r"(order), "r"(count), "r"(note) : "memory");
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 100000;
	struct order order = {.id = 7};
	struct timespec a, b;
	FILE *out = argc > 2 ? fopen(argv[2], "w") : stdout;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (long i = 0; i < n; i++)
		probed(&order, (int)i, "note");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	fprintf(out, "%.1f\n",
		((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
			(double)n);
	return fclose(out) != 0;
}
