// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls a function COUNT times, and writes how many ns of CPU time a call takes
 * to FILE: its own probed(), or with "write" the kernel's vfs_write(), by system
 * calls that write a byte to /dev/null. It is the median of a hundred parts: what
 * else ran meanwhile lengthens a few of them.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct order {
	long id;
	long items[4];
};

__attribute__((noinline)) void probed(struct order *order, int count, const char *note)
{
	__asm__ volatile("" : : "r"(order), "r"(count), "r"(note) : "memory");
}

static void call_probed(long n)
{
	struct order order = {.id = 7};

	for (long i = 0; i < n; i++)
		probed(&order, (int)i, "note");
}

static void call_write(int fd, long n)
{
	for (long i = 0; i < n; i++) {
		if (write(fd, "", 1) != 1) {
			perror("/dev/null");
			exit(1);
		}
	}
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	enum {
		PARTS = 100,
	};
	const long n = (argc > 1 ? atol(argv[1]) : 100000) / PARTS;
	FILE *out = argc > 2 ? fopen(argv[2], "w") : stdout;
	const int fd = open("/dev/null", O_WRONLY);
	const bool writes = argc > 3 && !strcmp(argv[3], "write");
	double parts[PARTS];

	if (!out || fd < 0 || n <= 0) {
		perror(argv[0]);
		return 1;
	}
	for (int i = 0; i < PARTS; i++) {
		const double start = now_ns();

		if (writes)
			call_write(fd, n);
		else
			call_probed(n);
		parts[i] = (now_ns() - start) / (double)n;
	}
	qsort(parts, PARTS, sizeof(*parts), by_size);
	fprintf(out, "%.1f\n", parts[PARTS / 2]);
	return fclose(out) != 0;
}
