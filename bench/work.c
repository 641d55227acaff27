// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload of the benchmarks: N writes of SIZE bytes to /dev/null, and on
 * the way 10 of 1234 bytes. Writes one line to FILE: how long it took by the
 * clock, and its own CPU time, in seconds.
 *
 *	work N SIZE FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static char buf[1 << 16];

	if (argc != 4)
		return 2;
	long n = atol(argv[1]), size = atol(argv[2]);
	int fd = open("/dev/null", O_WRONLY);
	if (fd < 0 || n < 10 || size < 0 || size > (long)sizeof(buf))
		return 2;
	double start = now();
	for (long i = 0; i < n; i++) {
		if (write(fd, buf, size) != size)
			return 1;
		if (i % (n / 10) == 0 && write(fd, buf, 1234) != 1234)
			return 1;
	}
	double end = now();
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	FILE *out = fopen(argv[3], "w");
	if (!out)
		return 1;
	fprintf(out, "%.6f %.6f\n", end - start,
		r.ru_utime.tv_sec + r.ru_stime.tv_sec +
			(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6);
	return fclose(out) != 0;
}
