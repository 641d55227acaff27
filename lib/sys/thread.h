/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that help the one that has the loop. They start after privileges were dropped. */
#ifndef PB_SYS_THREAD_H
#define PB_SYS_THREAD_H

#include <pthread.h>

#include "lib/base/error.h"

/*
 * Starts a thread that gets no signals: they are for the one that has the loop. It gets those that
 * its own faults raise. Errors: the limit of threads was reached (EAGAIN), or the filter of system
 * calls does not allow any (lib/sys/confine.h).
 */
struct error *thread_start(void *(*fn)(void *arg), void *arg, pthread_t *out);

/* On how many CPUs the caller may run, from 1 on. */
unsigned thread_cpus(void);

#endif
