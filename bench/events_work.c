// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload of bench_events: RATE calls of umask(2) a second for SECONDS, as
 * evenly as a sleep of a millisecond between them allows. Prints how many
 * there were, and the time they took.
 *
 *	events_work RATE SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	double rate = atof(argv[1]), seconds = atof(argv[2]), start = now(), at = 0;
	long n = 0, total = (long)(rate * seconds);

	while (n < total) {
		struct timespec pause = {.tv_nsec = 1000000};

		at = now() - start;
		for (long due = (long)(at * rate); n < due && n < total; n++)
			umask(18);
		nanosleep(&pause, NULL);
	}
	fprintf(stderr, "%ld %.3f\n", n, now() - start);
	return 0;
}
