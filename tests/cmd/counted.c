// SPDX-License-Identifier: BSD-2-Clause
/*
 * A workload that counts for itself: getpriority(PRIO_PROCESS, WHO), a system
 * call that hardly anybody else makes, for WHO = 0 … CALLS - 1.
 *
 *	counted CALLS [PAUSE_US] [thread | fork | burn]
 *
 * thread, fork: another thread or a child does the same with WHO from 100000
 * on, in turn with the first; "TID PID" of both is printed first. burn: uses
 * CPU time in burn_cpu() instead of pausing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long calls, pause_us;
static int burn;

long burn_cpu(long n); /* not static: its name is looked for */

__attribute__((noinline)) long burn_cpu(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void work(long from)
{
	for (long i = 0; i < calls; i++) {
		syscall(SYS_getpriority, 0, from + i);
		if (burn)
			burn_cpu(pause_us * 100);
		else if (pause_us)
			usleep(pause_us);
	}
}

static void *thread(void *arg)
{
	printf("%ld %d\n", (long)syscall(SYS_gettid), getpid());
	fflush(stdout);
	work(100000);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	pthread_t other;

	if (argc < 2)
		return 2;
	calls = atol(argv[1]);
	pause_us = argc > 2 ? atol(argv[2]) : 0;
	burn = !strcmp(how, "burn");
	if (!strcmp(how, "thread"))
		pthread_create(&other, NULL, thread, NULL);
	pid_t child = !strcmp(how, "fork") ? fork() : -1;
	if (!child) {
		thread(NULL);
		return 0;
	}
	work(0);
	if (!strcmp(how, "thread"))
		pthread_join(other, NULL);
	if (child > 0)
		waitpid(child, NULL, 0);
	return 0;
}
