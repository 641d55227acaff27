// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/thread.h"

#include <sched.h>
#include <signal.h>

#include "lib/base/util.h"

struct error *thread_start(void *(*fn)(void *arg), void *arg, pthread_t *out)
{
	static const int of_faults[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t blocked, before;

	sigfillset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(of_faults); i++)
		sigdelset(&blocked, of_faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	const int code = pthread_create(out, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code ? error_errno(code, "cannot start a thread") : NULL;
}

unsigned thread_cpus(void)
{
	cpu_set_t cpus;

	/* A machine with more CPUs than the set has bits has more than one. */
	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 2 : (unsigned)CPU_COUNT(&cpus);
}
