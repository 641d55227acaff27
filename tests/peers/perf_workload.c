/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workloads of `perf test -w NAME ARGS` that perf's own tests record and search for by name and
 * line. Debian's perf is stripped, so theirs have neither:
 *
 *	noploop [SECONDS]
 *	thloop [SECONDS [THREADS]]	test_loop() is called by main(), in other threads by
 *thfunc() inlineloop [SECONDS]		lines 20 to 29 are inlined into a function with lines 30 to
 *39
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
#define INLINE	 inline __attribute__((always_inline))

static time_t end;
static volatile int sink;

NOINLINE static void test_loop(void)
{
	while (time(NULL) < end)
		sink++;
}

NOINLINE static void *thfunc(void *arg)
{
	test_loop();
	sink++; /* not a tail call */
	return NULL;
}

static void thloop(int n)
{
	pthread_t *threads = calloc(n + 1, sizeof(*threads));

	for (int i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, thfunc, NULL))
			exit(1);
	test_loop();
	for (int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

#line 20 "inlineloop.c"
static INLINE void leaf(int n)
{
	while (time(NULL) < end)
		for (int i = 0; i < 100000; i++)
			sink += n;
}

static INLINE void middle(int n)
{
	leaf(n);
}
#line 30
NOINLINE static void parent(int n)
{
	middle(n);
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 1);
	if (!strcmp(argv[1], "noploop"))
		test_loop();
	else if (!strcmp(argv[1], "thloop"))
		thloop(argc > 3 ? atoi(argv[3]) : 2);
	else if (!strcmp(argv[1], "inlineloop"))
		parent(3);
	else
		return 2;
	return 0;
}
