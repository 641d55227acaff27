/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workloads of `perf test -w NAME ARGS` that perf's own tests record and search for by name and
 * line. Debian's perf is stripped, so theirs have neither:
 *
 *	noploop [SECONDS]
 *	thloop [SECONDS [THREADS]]	main() and thfunc() of the other threads call test_loop()
 *	brstack [CALLS]			brstack() calls two functions in turn, 20 million times
 *	inlineloop [SECONDS]		lines 20 to 29 are inlined into a function with lines 30 to
 *39
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline))
#define INLINE	 inline __attribute__((always_inline))

static volatile sig_atomic_t done;
static volatile int sink;

static void end(int sig)
{
	done = sig;
}

/* SECONDS may be a fraction. Few interrupts end it, and no calls are in the loops. */
static void end_after(double seconds)
{
	const long us = (long)(seconds * 1e6);
	const struct itimerval timer = {.it_value = {us / 1000000, us % 1000000}};

	signal(SIGINT, end);
	signal(SIGALRM, end);
	if (setitimer(ITIMER_REAL, &timer, NULL))
		exit(1);
}

/* Not the code of test_loop(): the compiler would make one function of both. */
NOINLINE static void noploop(void)
{
	while (!done)
		sink += 2;
}

NOINLINE static void test_loop(void)
{
	while (!done)
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

NOINLINE static void even(int n)
{
	sink += n;
}

NOINLINE static void odd(int n)
{
	sink -= n;
}

NOINLINE static void brstack(long calls)
{
	for (long i = 0; i < calls; i++)
		if (i & 1)
			odd((int)i);
		else
			even((int)i);
}

#line 20 "inlineloop.c"
static INLINE void leaf(int n)
{
	while (!done)
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
	char name[16];

	if (argc < 2)
		return 2;
	snprintf(name, sizeof(name), "perf-%s", argv[1]);
	prctl(PR_SET_NAME, name); /* as perf's */
	if (strcmp(argv[1], "brstack"))
		end_after(argc > 2 ? strtod(argv[2], NULL) : 1);
	if (!strcmp(argv[1], "noploop"))
		noploop();
	else if (!strcmp(argv[1], "thloop"))
		thloop(argc > 3 ? atoi(argv[3]) : 2);
	else if (!strcmp(argv[1], "brstack"))
		brstack(argc > 2 ? atol(argv[2]) : 20000000);
	else if (!strcmp(argv[1], "inlineloop"))
		parent(3);
	else
		return 2;
	return 0;
}
